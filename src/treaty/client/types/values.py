"""Values of Python types to plain ones that a codec writes, and back: for Avro and for JSON."""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.client.types.errors import MisfitError
from treaty.client.types.kinds import is_typed_dict
from treaty.client.types.shapes import (
    ABSENT,
    AnyShape,
    Convert,
    DerivedType,
    EnumShape,
    FixedShape,
    LiteralShape,
    MapShape,
    RecordShape,
    RecordUse,
    ScalarShape,
    SequenceShape,
    Shape,
    TupleShape,
    UnionShape,
    list_distinct,
)

_WRONG = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
"""What constructors and conversions raise for values that they don't take."""


def as_is(value: Any) -> Any:
    """The value itself."""
    return value


@dataclass(frozen=True, slots=True)
class ValueConverters:
    """From a value of the class to a plain one, and back. Both raise `MisfitError`."""

    take: Convert
    make: Convert


@dataclass(frozen=True, slots=True)
class EncodingTraits:
    """What the formats do differently: scalars, symbols, bytes of one length, and how the branch of a union is found."""

    scalar: Callable[[ScalarShape], tuple[Convert | None, Convert | None]]
    symbol: Callable[[str, enum.Enum], Any]
    fixed: tuple[Convert, Convert]
    union: Callable[[tuple[Shape, ...], list[ValueConverters], Mapping[str, RecordShape]], ValueConverters]
    loose: bool = False
    """Objects may lack properties and carry the tag of their class, and items of an array have types of their own."""


class ConverterBuilder:
    """Makes the converters of shapes; those of a record once, so that recursion ends."""

    def __init__(self, derived: DerivedType, medium: EncodingTraits) -> None:
        """Take the records of a derived type."""
        self._records = derived.records
        self._medium = medium
        self._made: dict[str, ValueConverters] = {}

    def make_converters(self, shape: Shape) -> ValueConverters:
        """The converters of a shape."""
        match shape:
            case ScalarShape():
                take, make = self._medium.scalar(shape)
                return ValueConverters(take or as_is, make or as_is)
            case SequenceShape():
                return _sequence_converters(shape, self.make_converters(shape.item))
            case MapShape():
                return _map_converters(shape, self.make_converters(shape.value))
            case TupleShape():
                return self._row(shape)
            case UnionShape():
                converters = [self.make_converters(branch) for branch in shape.branches]
                return self._medium.union(shape.branches, converters, self._records)
            case LiteralShape():
                return _words(shape)
            case EnumShape():
                return self._symbols(shape)
            case FixedShape():
                return _fixed_converters(shape, *self._medium.fixed)
            case RecordUse():
                return self._record(shape.name)
            case AnyShape():
                return ValueConverters(as_is, as_is)

    def _record(self, name: str) -> ValueConverters:
        known_converters = self._made.get(name)
        if known_converters is not None:
            return known_converters
        inner: list[ValueConverters] = []

        def take(value: Any) -> Any:
            return inner[0].take(value)

        def make(plain: Any) -> Any:
            return inner[0].make(plain)

        self._made[name] = ValueConverters(take, make)
        record = self._records[name]
        ways = [(part, self.make_converters(part.shape)) for part in record.parts]
        takes = [
            (part.name, part.attribute, None if way.take is as_is else way.take, part.optional) for part, way in ways
        ]
        inner.append(ValueConverters(_taker(record, takes, loose=self._medium.loose), _maker(record, ways)))
        self._made[name] = inner[0]
        return self._made[name]

    def _symbols(self, shape: EnumShape) -> ValueConverters:
        plain_of = {member: self._medium.symbol(symbol, member) for symbol, member in shape.members}
        back = {plain: member for member, plain in plain_of.items()}
        return ValueConverters(_looked_up(plain_of, shape.kind.__name__), _looked_up(back, shape.kind.__name__))

    def _row(self, shape: TupleShape) -> ValueConverters:
        converters = [self.make_converters(item) for item in shape.items]
        kinds = list_distinct(shape.items)
        if not self._medium.loose and len(kinds) > 1:  # Avro: the items are of a union
            either = self.make_converters(UnionShape(kinds))
            converters = [either] * len(converters)

        def take(value: Any) -> list[Any]:
            if not isinstance(value, tuple) or len(value) != len(converters):
                raise MisfitError(f"{_shorten_value(value)} is no tuple of {len(converters)}")
            return [way.take(item) for way, item in zip(converters, value, strict=True)]

        def make(plain: Any) -> tuple[Any, ...]:
            if not isinstance(plain, list) or len(plain) != len(converters):
                raise MisfitError(f"{_shorten_value(plain)} is no array of {len(converters)}")
            return tuple(way.make(item) for way, item in zip(converters, plain, strict=True))

        return ValueConverters(take, make)


def _taker(record: RecordShape, parts: list[tuple[str, str, Convert | None, bool]], *, loose: bool) -> Convert:
    get, of = record.get, record.of
    typed_dict = is_typed_dict(record.kind)  # there a key that is missing and one of None are two things
    first = dict([record.tag]) if loose and record.tag else {}

    def take(value: Any) -> dict[str, Any]:
        if not of(value):
            raise MisfitError(f"{_shorten_value(value)} is a {type(value).__name__}, not a {record.name}")
        out: dict[str, Any] = first.copy()
        name = ""
        try:
            for name, attribute, convert, optional in parts:
                part = get(value, attribute)
                if part is None and optional and loose and not typed_dict:
                    continue
                if part is not ABSENT:
                    out[name] = part if convert is None or part is None else convert(part)
                elif not loose:
                    out[name] = None
        except MisfitError as error:
            raise error.under(name) from None
        except _WRONG as error:
            raise MisfitError(str(error), name) from error
        return out

    return take


def _maker(record: RecordShape, parts: list[tuple[Any, ValueConverters]]) -> Convert:
    build = record.make
    direct = all(way.make is as_is and part.name == part.argument and not part.optional for part, way in parts)
    names = frozenset(part.name for part, _ in parts)
    rows = [
        (part.name, part.argument, None if way.make is as_is else way.make, part.optional, part.defaulted)
        for part, way in parts
    ]

    def fill_arguments(plain: dict[str, Any]) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for name, argument, convert, optional, defaulted in rows:
            value = plain.get(name, ABSENT)
            if value is ABSENT:
                if not defaulted:
                    raise MisfitError("missing", name)
            elif value is None and optional:
                continue
            elif convert is None:
                arguments[argument] = value
            else:
                try:
                    arguments[argument] = convert(value)
                except MisfitError as error:
                    raise error.under(name) from None
        return arguments

    def make(plain: Any) -> Any:
        if not isinstance(plain, dict):
            raise MisfitError(f"{_shorten_value(plain)} is no {record.name}")
        arguments = plain if direct and plain.keys() == names else fill_arguments(plain)
        try:
            return build(arguments)
        except _WRONG as error:
            raise MisfitError(f"{record.name} does not take it: {error}") from error

    return make


def _sequence_converters(shape: SequenceShape, item: ValueConverters) -> ValueConverters:
    ordered = shape.make not in {set, frozenset}

    def take(value: Any) -> list[Any]:
        if isinstance(value, (str, bytes, dict)):
            raise MisfitError(f"{_shorten_value(value)} is a {type(value).__name__}, not a {shape.make.__name__}")
        items = value if ordered else sorted(value, key=repr)
        return list(items) if item.take is as_is else _convert_each(items, item.take)

    def make(plain: Any) -> Any:
        if not isinstance(plain, list):
            raise MisfitError(f"{_shorten_value(plain)} is no array")
        items = plain if item.make is as_is else _convert_each(plain, item.make)
        return items if shape.make is list else shape.make(items)

    return ValueConverters(take, make)


def _convert_each(items: Any, convert: Convert) -> list[Any]:
    converted: list[Any] = []
    try:
        for item in items:
            converted.append(convert(item))
    except MisfitError as error:
        raise error.under(f"[{len(converted)}]") from None
    return converted


def _map_converters(shape: MapShape, value: ValueConverters) -> ValueConverters:
    def take(mapping: Any) -> dict[str, Any]:
        converted: dict[str, Any] = {}
        for key, item in mapping.items():
            text = shape.text(key)
            try:
                converted[text] = value.take(item)
            except MisfitError as error:
                raise error.under(f"[{text}]") from None
        return converted

    def make(plain: Any) -> dict[Any, Any]:
        if not isinstance(plain, dict):
            raise MisfitError(f"{_shorten_value(plain)} is no map")
        return {_key(shape, key): value.make(each) for key, each in plain.items()}

    return ValueConverters(take, make)


def _key(shape: MapShape, text: str) -> Any:
    try:
        return shape.key(text)
    except (ValueError, KeyError) as error:
        raise MisfitError(f"{text!r:.60} is no key") from error


def _words(shape: LiteralShape) -> ValueConverters:
    def check(value: Any) -> Any:
        if value not in shape.values or type(value) is not shape.scalar.kind:
            raise MisfitError(f"{_shorten_value(value)} is none of {', '.join(map(repr, shape.values))}")
        return value

    return ValueConverters(check, check)


def _fixed_converters(shape: FixedShape, forth: Convert, back: Convert) -> ValueConverters:
    def take(value: Any) -> Any:
        if not isinstance(value, bytes) or len(value) != shape.size:
            raise MisfitError(f"{_shorten_value(value)} is not {shape.size} bytes")
        return forth(value)

    def make(plain: Any) -> bytes:
        value = back(plain)
        if not isinstance(value, bytes) or len(value) != shape.size:
            raise MisfitError(f"{_shorten_value(value)} is not {shape.size} bytes")
        return value

    return ValueConverters(take, make)


def _looked_up(table: Mapping[Any, Any], name: str) -> Convert:
    def find(value: Any) -> Any:
        try:
            return table[value]
        except (KeyError, TypeError):
            raise MisfitError(f"{_shorten_value(value)} is no {name}") from None

    return find


def _shorten_value(value: Any) -> str:
    return f"{value!r:.60}"

"""What Avro and JSON do differently with values, above all with unions: how the branch of a value is found."""

import base64
import datetime as dt
import enum
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from treaty.client.compiled.names import branch_of
from treaty.client.types.errors import MisfitError
from treaty.client.types.shapes import (
    AnyShape,
    Convert,
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
)
from treaty.client.types.values import EncodingTraits, ValueConverters, as_is

Fits = Callable[[Any], bool]
Branch = tuple[Fits, str, Convert]
"""A test of values, the branch's name, and what takes values."""


_ALIKE: Mapping[type, tuple[type, ...]] = {
    list: (list, tuple, deque),
    set: (set, frozenset),
    frozenset: (set, frozenset),
}


def fits(shape: Shape, records: Mapping[str, RecordShape]) -> Fits:
    """Return the test whether a value is of a shape. It looks at the value's own type, not at its parts."""
    match shape:
        case ScalarShape():
            return _scalar(shape.kind)
        case SequenceShape():
            kinds = _ALIKE.get(shape.make, (shape.make,))
            return lambda value: isinstance(value, kinds)
        case TupleShape():
            return lambda value: isinstance(value, tuple) and len(value) == len(shape.items)
        case MapShape():
            return lambda value: isinstance(value, dict)
        case EnumShape():
            return lambda value: isinstance(value, shape.kind)
        case FixedShape():
            return lambda value: isinstance(value, bytes) and len(value) == shape.size
        case LiteralShape():
            return lambda value: type(value) is shape.scalar.kind and value in shape.values
        case RecordUse():
            return records[shape.name].of
        case UnionShape():
            tests = [fits(branch, records) for branch in shape.branches]
            return lambda value: any(test(value) for test in tests)
        case AnyShape():
            return lambda value: True


def _scalar(kind: type) -> Fits:
    """Exactly the type, or one derived from it; but a bool is no int, a datetime no date, an enum's member no text."""
    excluded = tuple(each for each in (bool, enum.Enum, dt.datetime) if not issubclass(kind, each))
    return lambda value: type(value) is kind or (isinstance(value, kind) and not isinstance(value, excluded))


def branch_name(shape: Shape) -> str:
    """What Avro's codec calls this branch of a union."""
    match shape:
        case ScalarShape():
            return branch_of(shape.avro)
        case LiteralShape():
            return branch_of(shape.scalar.avro)
        case EnumShape() | FixedShape() | RecordUse():
            return shape.name
        case MapShape():
            return "map"
        case _:
            return "array"


PLAIN: Mapping[str, type] = {
    "null": type(None),
    "boolean": bool,
    "int": int,
    "long": int,
    "float": float,
    "double": float,
    "bytes": bytes,
    "string": str,
}
"""What the codec makes of Avro's primitive types."""


def _plain_type(shape: Shape) -> type:
    """The type that the codec gives values of this branch."""
    match shape:
        case ScalarShape():
            if not isinstance(shape.avro, dict):
                return PLAIN[shape.avro]
            return shape.kind if shape.makes_avro is None else PLAIN[shape.avro["type"]]
        case LiteralShape():
            return shape.scalar.kind
        case EnumShape():
            return str
        case FixedShape():
            return bytes
        case MapShape() | RecordUse():
            return dict
        case _:
            return list


def _choose_branch(value: Any, tests: list[Branch], real: Convert | None) -> tuple[str, Any]:
    """The branch and the plain value. A whole number is a real one where nothing else takes it."""
    for test, name, convert in tests:
        if test(value):
            return name, convert(value)
    if type(value) is int and real is not None:
        return "double", real(value)
    message = f"{value!r:.60} is a {type(value).__name__}; allowed are {', '.join(name for _, name, _ in tests)}"
    raise MisfitError(message)


def _avro_union(
    shapes: tuple[Shape, ...], ways: list[ValueConverters], records: Mapping[str, RecordShape]
) -> ValueConverters:
    """Values carry the name of their branch where more than one could be meant."""
    tests: list[Branch] = []
    by_name: dict[str, Convert] = {}
    by_type: dict[type, Convert] = {}
    for shape, way in zip(shapes, ways, strict=True):
        name = branch_name(shape)
        if name != "null":
            tests.append((fits(shape, records), name, way.take))
            by_name[name] = way.make
            by_name.setdefault(name.rpartition(".")[2], way.make)
            by_type.setdefault(_plain_type(shape), way.make)
    only = ways[[branch_name(shape) for shape in shapes].index(tests[0][1])] if len(tests) == 1 else None
    nullable = len(tests) < len(shapes)
    real = next((take for _, name, take in tests if name == "double"), None)

    if nullable and only == ValueConverters(as_is, as_is) and all(isinstance(shape, ScalarShape) for shape in shapes):
        return only

    def take(value: Any) -> Any:
        if value is None and nullable:
            return None
        return only.take(value) if only is not None else _choose_branch(value, tests, real)

    def make(plain: Any) -> Any:
        if plain is None and nullable:
            return None
        if isinstance(plain, tuple):
            name, plain = plain
            make_branch = by_name.get(name) or by_name.get(name.rpartition(".")[2])
            if make_branch is not None:
                return make_branch(plain)
        if only is not None:
            return only.make(plain)
        make_branch = by_type.get(type(plain)) or (by_type.get(float) if type(plain) is int else None)
        if make_branch is None:
            raise MisfitError(f"{plain!r:.60} is of no branch of the union")
        return make_branch(plain)

    return ValueConverters(take, make)


AVRO = EncodingTraits(
    lambda scalar: (scalar.takes_avro, scalar.makes_avro), lambda symbol, _: symbol, (as_is, as_is), _avro_union
)
"""Plain values as fastavro has them."""


def _json_type(shape: Shape) -> tuple[type, ...]:
    """What JSON's parser gives for values of this branch."""
    match shape:
        case ScalarShape() | LiteralShape():
            return _WORDS[(shape.scalar if isinstance(shape, LiteralShape) else shape).json["type"]]
        case EnumShape():
            return tuple({type(member.value) for _, member in shape.members})
        case MapShape() | RecordUse():
            return (dict,)
        case FixedShape():
            return (str,)
        case AnyShape():
            return (type(None), bool, int, float, str, list, dict)
        case _:
            return (list,)


_WORDS: Mapping[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (float, int),
    "string": (str,),
}


def _json_union(
    shapes: tuple[Shape, ...], ways: list[ValueConverters], records: Mapping[str, RecordShape]
) -> ValueConverters:
    """The first branch that a value fits; objects go to the class that knows most of their properties."""
    tests = [(fits(shape, records), branch_word(shape), way.take) for shape, way in zip(shapes, ways, strict=True)]
    real = next((take for _, name, take in tests if name == "float"), None)
    order = sorted(range(len(shapes)), key=lambda at: _rank_branch(shapes[at]))
    property_names = [
        frozenset(part.name for part in records[shape.name].parts) if isinstance(shape, RecordUse) else None
        for shape in shapes
    ]

    def take(value: Any) -> Any:
        return _choose_branch(value, tests, real)[1]

    def make(plain: Any) -> Any:
        misfit = MisfitError(f"{plain!r:.60} is of no branch of the union")
        places = order
        if isinstance(plain, dict):
            tagged = [at for at in order if _has_tag(shapes[at], plain, records)]
            places = tagged or sorted(order, key=lambda at: -_overlap(property_names[at], plain))
        for at in places:
            if type(plain) in _json_type(shapes[at]):
                try:
                    return ways[at].make(plain)
                except MisfitError as error:
                    misfit = error
        raise misfit

    return ValueConverters(take, make)


def _rank_branch(shape: Shape) -> int:
    """Any text is a str and any value an Any, so these are tried last; a float takes what no int took."""
    if isinstance(shape, AnyShape):
        return 3
    return {str: 2, float: 1}.get(shape.kind, 0) if isinstance(shape, ScalarShape) else 0


def _overlap(names: frozenset[str] | None, plain: dict[str, Any]) -> int:
    """How many properties a class knows, those that it doesn't know taken off."""
    return 0 if names is None else 2 * len(names & plain.keys()) - len(plain) - len(names)


def _has_tag(shape: Shape, plain: dict[str, Any], records: Mapping[str, RecordShape]) -> bool:
    tag = records[shape.name].tag if isinstance(shape, RecordUse) else None
    return tag is not None and plain.get(tag[0]) == tag[1]


_BRANCH_WORDS: Mapping[type, str] = {
    SequenceShape: "sequence",
    TupleShape: "tuple",
    MapShape: "map",
    LiteralShape: "literal",
    UnionShape: "union",
    AnyShape: "any value",
}


def branch_word(shape: Shape) -> str:
    """What people call this branch of a union."""
    if isinstance(shape, ScalarShape):
        return shape.kind.__name__
    return branch_name(shape) if isinstance(shape, EnumShape | FixedShape | RecordUse) else _BRANCH_WORDS[type(shape)]


def _unbase(text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, TypeError) as error:
        raise MisfitError(f"{text!r:.60} is no base64") from error


def _json_scalar(scalar: ScalarShape) -> tuple[Convert | None, Convert | None]:
    """Checks the type of a value that JSON represents directly."""
    kinds = _WORDS[scalar.json["type"]]
    convert = scalar.makes_json

    def make(plain: Any) -> Any:
        if type(plain) not in kinds:
            if int in kinds and isinstance(plain, float) and plain.is_integer():
                return int(plain)
            raise MisfitError(f"{plain!r:.60} is a {type(plain).__name__}, not a {scalar.kind.__name__}")
        return plain if convert is None else convert(plain)

    return scalar.takes_json, make


JSON = EncodingTraits(
    _json_scalar,
    lambda _, member: member.value,
    (lambda value: base64.b64encode(value).decode(), _unbase),
    _json_union,
    loose=True,
)
"""Plain values as the json module has them."""

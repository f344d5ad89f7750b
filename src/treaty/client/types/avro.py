"""A shape becomes an Avro schema, with its defaults."""

import json
from collections.abc import Mapping
from typing import Any

from fastavro.write import LOGICAL_WRITERS

from treaty.client.compiled.names import logical_of
from treaty.client.types.errors import MisfitError, NoSchemaError
from treaty.client.types.shapes import (
    ABSENT,
    AnyShape,
    DerivedType,
    EnumShape,
    FieldShape,
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
from treaty.client.types.unions import fits

_FLOATS = ("double", "float")


def avro_schema(derived: DerivedType) -> Any:
    """Return the Avro schema of a shape, as parsed JSON. Raises `NoSchemaError` for what Avro can't say."""
    return _Printer(derived).print_shape(derived.shape, "value")


def branches(shape: UnionShape | TupleShape) -> tuple[Shape, ...]:
    """The branches of a union as Avro has them: whole numbers before others, so that they stay whole."""
    flat = shape.branches if isinstance(shape, UnionShape) else list_distinct(shape.items)
    return tuple(sorted(flat, key=lambda one: isinstance(one, ScalarShape) and one.avro in _FLOATS))


class _Printer:
    """Prints shapes; a named type is spelled out once and named after that."""

    def __init__(self, derived: DerivedType) -> None:
        self._records: Mapping[str, RecordShape] = derived.records
        self._named_before: set[str] = set()

    def print_shape(self, shape: Shape, path: str) -> Any:
        """The schema of a shape."""
        match shape:
            case ScalarShape():
                if shape.avro is None:
                    message = "Avro stores a Decimal with a number of digits; Annotated[Decimal, DecimalDigits(9, 2)] would do"
                    raise NoSchemaError(path, message)
                return dict(shape.avro) if isinstance(shape.avro, dict) else shape.avro
            case SequenceShape():
                return {"type": "array", "items": self.print_shape(shape.item, f"{path}[]")}
            case MapShape():
                return {"type": "map", "values": self.print_shape(shape.value, f"{path}{{}}")}
            case TupleShape():
                items = branches(shape)
                inner = self.print_shape(items[0], f"{path}[]") if len(items) == 1 else self._union(items, f"{path}[]")
                return {"type": "array", "items": inner}
            case UnionShape():
                return self._union(branches(shape), path)
            case LiteralShape():
                return self.print_shape(shape.scalar, path)
            case EnumShape() | FixedShape() | RecordUse():
                return self._print_named(shape, path)
            case AnyShape():
                raise NoSchemaError(path, "Avro has no type for any value; name the types that may stand here")

    def _print_named(self, shape: EnumShape | FixedShape | RecordUse, path: str) -> Any:
        if shape.name in self._named_before:
            return shape.name
        self._named_before.add(shape.name)
        if isinstance(shape, FixedShape):
            return {"type": "fixed", "name": shape.name, "size": shape.size}
        if isinstance(shape, EnumShape):
            printed: dict[str, Any] = {
                "type": "enum",
                "name": shape.name,
                "symbols": [symbol for symbol, _ in shape.members],
            }
            return {**printed, "doc": shape.doc} if shape.doc else printed
        record = self._records[shape.name]
        printed = {"type": "record", "name": shape.name}
        if record.doc:
            printed["doc"] = record.doc
        short = record.name.rpartition(".")[2]
        printed["fields"] = [self._field(part, f"{short}.{part.name}") for part in record.parts]
        return printed

    def _field(self, part: FieldShape, path: str) -> dict[str, Any]:
        shape = part.shape
        printed: dict[str, Any] = {"name": part.name, "type": None}
        if part.doc:
            printed["doc"] = part.doc
        if part.aliases:
            printed["aliases"] = list(part.aliases)
        if part.default is ABSENT:
            return {**printed, "type": self.print_shape(shape, path)}
        default = self._default(shape, part.default, path)
        if isinstance(shape, UnionShape):
            branch_shapes = branches(shape)
            first = find_branch(branch_shapes, part.default, self._records)
            return {
                **printed,
                "type": self._union((branch_shapes[first], *branch_shapes[:first], *branch_shapes[first + 1 :]), path),
                "default": default,
            }
        return {**printed, "type": self.print_shape(shape, path), "default": default}

    def _union(self, shapes: tuple[Shape, ...], path: str) -> Any:
        branches_printed = [self.print_shape(shape, path) for shape in shapes]
        flat: list[Any] = []
        for branch in branches_printed:
            flat += branch if isinstance(branch, list) else [branch]
        kinds: dict[str, Any] = {}
        for branch in flat:
            kind = _kind(branch)
            if kinds.setdefault(kind, branch) != branch:
                message = (
                    f"a union with two types that Avro both stores as {kind}; wrap one of them in a class of its own"
                )
                raise NoSchemaError(path, message)
        return list(kinds.values())

    def _default(self, shape: Shape, value: Any, path: str) -> Any:
        try:
            default = avro_default(shape, value, self._records)
            json.dumps(default, allow_nan=False)
        except (MisfitError, KeyError, TypeError, ValueError) as error:
            raise NoSchemaError(path, f"the default {value!r:.60} has no form in the schema: {error}") from error
        return default


def _kind(schema: Any) -> str:
    """The key by which Avro distinguishes branches: the name of a named type, else the type without its logical type."""
    if isinstance(schema, dict) and "name" in schema:
        return str(schema["name"])
    return str(schema["type"]) if isinstance(schema, dict) else str(schema)


def find_branch(shapes: tuple[Shape, ...], value: Any, records: Mapping[str, RecordShape]) -> int:
    """Which branch of a union a default is of. Raises `MisfitError`."""
    for at, shape in enumerate(shapes):
        if fits(shape, records)(value):
            return at
    for at, shape in enumerate(shapes):
        if isinstance(shape, ScalarShape) and shape.kind is float and type(value) is int:
            return at
    raise MisfitError(f"{value!r:.60} is of no branch of the union")


def avro_default(shape: Shape, value: Any, records: Mapping[str, RecordShape]) -> Any:
    """A value of a shape as JSON. Raises `MisfitError` where it is not of the shape."""
    match shape:
        case ScalarShape():
            return _scalar(shape, value)
        case LiteralShape():
            return _scalar(shape.scalar, value)
        case SequenceShape():
            items = sorted(value, key=repr) if shape.make in {set, frozenset} else value
            return [avro_default(shape.item, each, records) for each in items]
        case TupleShape():
            return [avro_default(item, each, records) for item, each in zip(shape.items, value, strict=True)]
        case MapShape():
            return {shape.text(key): avro_default(shape.value, each, records) for key, each in value.items()}
        case UnionShape():
            return avro_default(shape.branches[find_branch(shape.branches, value, records)], value, records)
        case EnumShape():
            return {member: symbol for symbol, member in shape.members}[value]
        case FixedShape():
            return value.decode("latin-1")
        case RecordUse():
            record = records[shape.name]
            parts = ((part, record.get(value, part.attribute)) for part in record.parts)
            return {part.name: avro_default(part.shape, each, records) for part, each in parts}
        case AnyShape():
            raise MisfitError("no schema, no default")


def _scalar(shape: ScalarShape, value: Any) -> Any:
    if not fits(shape, {})(value) and not (shape.kind is float and type(value) is int):
        raise MisfitError(f"{value!r:.60} is a {type(value).__name__}, not a {shape.kind.__name__}")
    plain = value if shape.takes_avro is None else shape.takes_avro(value)
    prepare = LOGICAL_WRITERS.get(logical_of(shape.avro))
    plain = plain if prepare is None else prepare(plain, shape.avro)
    return plain.decode("latin-1") if isinstance(plain, bytes) else plain

"""What fastavro reads, as Arrow takes it: the judge of Treaty's own reader; and that reader with the names that tests need."""

from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from typing import Any

from treaty.arrow.avro.rows import make_decoder
from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroType,
    AvroUnion,
    NamedType,
    is_null,
)
from treaty.plan.avro.logical_types import find_column_logical
from treaty.plan.value import DecodePlan

Shape = Callable[[Any], Any]
DIGITS = Context(prec=80)
PYTHON: Mapping[str, type] = {
    "boolean": bool, "int": int, "long": int, "float": float, "double": float, "string": str, "enum": str,
    "bytes": bytes, "fixed": bytes, "array": list, "map": dict, "record": dict,
}  # fmt: skip


def envelope_of(plan: DecodePlan) -> Callable[[bytes], Any]:
    """A function from a frame to its envelope; None where the row is bad or of another plan."""
    decode = make_decoder(plan)

    def envelope(value: bytes) -> Any:
        found = decode(value)
        return found[0] if found else None

    return envelope


def shape_of(node: AvroType, names: Mapping[str, NamedType]) -> Shape:
    """What makes fastavro's value of a type (read without logical types) into the value that Arrow takes."""
    match node:
        case AvroRecord():
            # A default is to fastavro what stands in JSON, so members that it leaves out are not there.
            parts = [(one.name, shape_of(one.type, names), one.default) for one in node.fields]
            return lambda value: {name: shape(value.get(name, default)) for name, shape, default in parts}
        case AvroArray():
            item = shape_of(node.items, names)
            return lambda value: [item(one) for one in value]
        case AvroMap():
            inside = shape_of(node.values, names)
            return lambda value: [(key, inside(one)) for key, one in value.items()]
        case AvroUnion():
            return _union(node, names)
        case AvroPrimitive() | AvroFixed():
            return _leaf(node)
        case AvroEnum():
            return _same
    return shape_of(names[node.full], names)


def _same(value: Any) -> Any:
    return value


def _bytes(value: bytes | str) -> bytes:
    """Bytes; a default of bytes is text to fastavro, a sign for each byte."""
    return value.encode("latin-1") if isinstance(value, str) else value


_PLAIN: Mapping[str, Shape] = {"float": float, "double": float, "bytes": _bytes, "fixed": _bytes}


def _leaf(node: AvroPrimitive | AvroFixed) -> Shape:
    logical = find_column_logical(node)
    if logical is None:
        return _PLAIN.get(node.kind, _same)
    if logical.name == "decimal":
        return lambda value: Decimal(int.from_bytes(_bytes(value), "big", signed=True)).scaleb(-logical.scale, DIGITS)
    if logical.name.endswith("timestamp-millis"):
        return lambda value: value * 1000
    return _same


def _union(node: AvroUnion, names: Mapping[str, NamedType]) -> Shape:
    parts = [names[one.full] if not hasattr(one, "kind") else one for one in node.branches if not is_null(one)]
    if len(parts) < 2 or _one_column(parts):
        shape = shape_of(parts[-1], names) if parts else _same
        return lambda value: None if value is None else shape(value)
    choices = [(PYTHON[one.kind], f"member{place}", shape_of(one, names)) for place, one in enumerate(parts)]

    def choose(value: Any) -> Any:
        if value is None:
            return None
        found = next(((name, shape) for kind, name, shape in choices if type(value) is kind), None)
        if found is None:  # the default of bytes, which is text
            found = next((name, shape) for kind, name, shape in choices if kind is bytes)
        return {name: found[1](value) if name == found[0] else None for _, name, _ in choices}

    return choose


def _one_column(parts: list[Any]) -> bool:
    return {one.kind for one in parts} in ({"int", "long"}, {"float", "double"})

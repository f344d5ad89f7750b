"""Leaves, members of unions and defaults of Avro become values that Arrow takes, or are wrong: decimals with too many digits, times
beyond 64 bits.
"""

from collections.abc import Callable, Iterator, Mapping
from decimal import Context, Decimal
from typing import Any

from treaty.arrow.avro.primitives import WrongBytesError
from treaty.formats.avro.model import (
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroSchema,
    AvroType,
    AvroUnion,
    NamedType,
    is_null,
)
from treaty.formats.avro.resolution import AvroSide
from treaty.plan.avro.columns import has_one_column, members
from treaty.plan.avro.defaults import choose_branch
from treaty.plan.avro.logical_types import AvroLogicalType, find_column_logical

DIGITS = Context(prec=80)
MOST = (2**63 - 1) // 1000
"""Numbers beyond this have no thousandfold of 64 bits."""


MEMBERS = 8
"""Members that are written out; a struct of more is a copy of one, or the text would grow with the square of their number."""


def write_conversion(
    old: AvroPrimitive | AvroFixed, new: AvroPrimitive | AvroFixed, constant: Callable[[Any], str]
) -> Iterator[str]:
    """The lines that make a raw value (``@``) of one leaf the value of the other; `constant` names what they use."""
    if new.kind == "string":
        yield '@ = str(@, "utf-8")'
    elif old.kind in {"int", "long"} and new.kind in {"float", "double"}:
        yield "@ = single(@)" if new.kind == "float" else "@ = float(@)"
    logical = find_column_logical(new)
    if logical is not None and logical.name == "decimal":
        yield f"@ = {constant(decimal_reader(logical))}(@)"
    elif logical is not None and logical.name.endswith("timestamp-millis"):
        yield f"@ = {constant(count_thousands)}(@)"


def decimal_reader(logical: AvroLogicalType) -> Callable[[bytes], Decimal]:
    """What makes the bytes of a decimal its number; bytes that hold more digits, or none at all, are wrong."""
    limit, scale = 10**logical.precision, -logical.scale

    def read_decimal(value: bytes) -> Decimal:
        number = int.from_bytes(value, "big", signed=True)
        if not value or not -limit < number < limit:
            raise WrongBytesError
        return Decimal(number).scaleb(scale, DIGITS)

    return read_decimal


def count_thousands(number: int) -> int:
    """Milliseconds as microseconds, or microseconds as nanoseconds, where 64 bits hold them."""
    if not -MOST <= number <= MOST:
        raise WrongBytesError
    return number * 1000


class MemberWriter:
    """Writes the words for values of one union as its column has them."""

    def __init__(self, union: AvroUnion, names: Mapping[str, NamedType], constant: Callable[[Any], str]) -> None:
        """Take the union of a schema with these types; `constant` names what the words use."""
        names_of_members = members(union, names)
        places = (at for at, one in enumerate(union.branches) if not is_null(one))
        self._members = dict(zip(places, names_of_members or (), strict=False))
        self._empty = constant(dict.fromkeys(self._members.values())) if len(self._members) > MEMBERS else ""

    def write(self, place: int, value: str) -> str:
        """A struct with the members; nothing where it is the value itself."""
        member = self._members.get(place)
        if member is None:
            return ""
        if self._empty:
            return f"{{**{self._empty}, {member!r}: {value}}}"
        return "{" + ", ".join(f"{one!r}: {value if one == member else None}" for one in self._members.values()) + "}"


def convert_default(node: AvroType, value: Any, schema: AvroSchema) -> Any:
    """A default as Arrow takes it."""
    resolved = schema.resolve(node)
    if isinstance(resolved, AvroUnion):
        part = choose_branch(AvroSide(schema, node), value)
        if isinstance(part, AvroPrimitive) and has_one_column(resolved, schema.names):
            part = AvroPrimitive(part.kind)
        converted, names = convert_default(part, value, schema), members(resolved, schema.names)
        if names is None or is_null(part):
            return converted
        place = [one for one in resolved.branches if not is_null(one)].index(part)
        return {name: converted if at == place else None for at, name in enumerate(names)}
    match resolved:
        case AvroRecord():
            values = {field.name: value.get(field.name, field.default) for field in resolved.fields}
            return {field.name: convert_default(field.type, values[field.name], schema) for field in resolved.fields}
        case AvroArray():
            return [convert_default(resolved.items, item, schema) for item in value]
        case AvroMap():
            return [(key, convert_default(resolved.values, item, schema)) for key, item in value.items()]
        case AvroEnum():
            return value
    return _leaf(resolved, value)


def _leaf(leaf: AvroPrimitive | AvroFixed, value: Any) -> Any:
    logical = find_column_logical(leaf)
    if leaf.kind in {"bytes", "fixed"}:
        raw = value.encode("latin-1")
        return decimal_reader(logical)(raw) if logical else raw
    if logical is not None and logical.name.endswith("timestamp-millis"):
        return count_thousands(value)
    return float(value) if leaf.kind in {"float", "double"} else value

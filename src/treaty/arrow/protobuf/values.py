"""From Protobuf messages to the values that Arrow takes, along the columns of a plan."""

import datetime as dt
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from treaty.formats.protobuf.protojson import print_protojson

Shape = Callable[[Any], Any]
DIGITS = Context(prec=80)
DECIMAL_BYTES = 32
"""The longest unscaled number that is looked at; columns hold 16 bytes."""
MICROS = 1_000_000
SECONDS = 9_223_372_036_852
"""Seconds on either side of 1970 whose microseconds fit into 64 bits, whatever nanoseconds of 32 bits are added."""
WRAPPERS = frozenset(
    f"google.protobuf.{name}Value"
    for name in ("Bool", "Int32", "Int64", "UInt32", "UInt64", "Float", "Double", "String", "Bytes")
) | {"google.type.Decimal"}


class UnreadableValueError(ValueError):
    """A value that its column can't hold; the sentence names the field."""


def record_of(descriptor: Descriptor, kind: pa.StructType, *, defaults: bool = False) -> Shape:
    """What makes a message into a dictionary with the fields of `kind`.

    A field that knows that it is not set is None, or its default where `defaults` are wanted.
    """
    names, values = [column.name for column in kind], _values_of(descriptor, kind, defaults=defaults)
    return lambda message: dict(zip(names, values(message), strict=True))


def _values_of(descriptor: Descriptor, kind: pa.StructType, *, defaults: bool) -> Shape:
    """What makes a message into the values of the fields of `kind`, in their order.

    It looks at the fields that are set alone: a message of two bytes may have thousands that are not. All messages without
    any share one tuple.
    """
    parts: dict[int, tuple[int, Shape]] = {}
    unset: list[Any] = []
    empty: Any = GetMessageClass(descriptor)()
    for place in range(kind.num_fields):
        column = kind.field(place)
        field = descriptor.fields_by_name[column.name]
        shape = _field(field, column.type, defaults=defaults)
        parts[field.number] = place, shape
        asks = field.has_presence and not (defaults and field.message_type is None)
        unset.append(None if asks else shape(getattr(empty, field.name)))
    nothing = tuple(unset)

    def values(message: Message) -> tuple[Any, ...]:
        set_fields = message.ListFields()
        if not set_fields:
            return nothing
        cells = unset.copy()
        for field, value in set_fields:
            part = parts.get(field.number)
            if part is not None:
                cells[part[0]] = part[1](value)
        return tuple(cells)

    return values


def _field(field: FieldDescriptor, kind: pa.DataType, *, defaults: bool) -> Shape:
    if not field.is_repeated:
        return _value(field, kind, defaults=defaults)
    inner = field.message_type
    if inner is not None and inner.GetOptions().map_entry:
        key = _value(inner.fields_by_name["key"], kind.key_type, defaults=defaults)
        value = _value(inner.fields_by_name["value"], kind.item_type, defaults=defaults)
        return lambda entries: [(key(one), value(entries[one])) for one in entries]
    item = _value(field, kind.value_type, defaults=defaults)
    return lambda items: [item(one) for one in items]


def _value(field: FieldDescriptor, kind: pa.DataType, *, defaults: bool) -> Shape:
    if field.enum_type is not None:
        return _symbol(field.enum_type)
    if field.message_type is None:
        return Decimal if pa.types.is_decimal(kind) else _as_is
    full = field.message_type.full_name
    if full in WRAPPERS:
        inside = Decimal if pa.types.is_decimal(kind) else _as_is
        return lambda message: inside(message.value)
    if full in KNOWN and not pa.types.is_struct(kind):
        return KNOWN[full](field, kind)
    if pa.types.is_struct(kind):
        return _values_of(field.message_type, kind, defaults=defaults)
    return lambda message: message.SerializeToString(deterministic=True)


def _as_is(value: Any) -> Any:
    return value


def _symbol(enum: EnumDescriptor) -> Shape:
    # `items()` has every alias of a number, and the last one would win; a look-up has the first, as ProtoJSON and Java have.
    names = {number: enum.values_by_number[number].name for number in enum.values_by_number}
    return lambda number: names.get(number) or str(number)


def _timestamp(field: FieldDescriptor, kind: pa.DataType) -> Shape:
    del kind

    def instant(message: Any) -> int:
        if not -SECONDS <= message.seconds <= SECONDS:
            raise UnreadableValueError(
                f"{field.full_name} is {message.seconds} seconds from 1970, beyond 64 bits of us"
            )
        return int(message.seconds) * MICROS + int(message.nanos) // 1000

    return instant


def _date(field: FieldDescriptor, kind: pa.DataType) -> Shape:
    del field, kind

    def day(message: Any) -> dt.date | None:
        try:
            return dt.date(message.year, message.month, message.day)
        except ValueError:
            return None

    return day


def _json(field: FieldDescriptor, kind: pa.DataType) -> Shape:
    del kind

    def text(message: Message) -> str:
        try:
            return print_protojson(message)
        except (RecursionError, TypeError, ValueError) as error:
            raise UnreadableValueError(f"{field.full_name} can't be written as JSON: {error}") from error

    return text


def _decimal(field: FieldDescriptor, kind: pa.DataType) -> Shape:
    limit = 10 ** (kind.precision - kind.scale)

    def number(message: Any) -> Decimal:
        if len(message.value) > DECIMAL_BYTES or not 0 <= message.scale <= DIGITS.prec:
            raise UnreadableValueError(
                f"{field.full_name} has {len(message.value)} bytes and a scale of {message.scale}"
            )
        number_value = Decimal(int.from_bytes(message.value, "big", signed=True)).scaleb(-message.scale, DIGITS)
        if number_value.copy_abs() >= limit:  # `abs` would round it
            raise UnreadableValueError(f"{field.full_name} is {number_value}, more than {kind.precision} digits hold")
        rounded = number_value.quantize(Decimal(1).scaleb(-kind.scale), context=DIGITS)
        if rounded != number_value:
            raise UnreadableValueError(
                f"{field.full_name} is {number_value}, with more than {kind.scale} digits after the point"
            )
        return rounded

    return number


KNOWN: Mapping[str, Callable[[FieldDescriptor, pa.DataType], Shape]] = {
    "google.protobuf.Timestamp": _timestamp,
    "google.type.Date": _date,
    "google.protobuf.Any": _json,
    "google.protobuf.Struct": _json,
    "google.protobuf.Value": _json,
    "google.protobuf.ListValue": _json,
    "confluent.type.Decimal": _decimal,
}
"""Messages with a column type of their own (see `treaty.formats.protobuf.columns`), and what reads them."""

"""Protobuf by its own runtime, row by row: rows come as its constructors take them, so most of it runs in C."""

import base64
import json
import math
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import Parse, ParseError
from google.protobuf.message import DecodeError, EncodeError
from google.protobuf.message_factory import GetMessageClass

from treaty.formats.protobuf.columns import DECIMAL, KNOWN
from treaty.plan.encoding.value import EncodePlan

Shape = Callable[[Any], Any]
Row = Callable[[Any], tuple[bytes | None, str | None]]
"""From a row to its payload, or to what is wrong with it."""
DIGITS = Context(prec=80)
JSON = frozenset(KNOWN) - {"google.protobuf.Timestamp", "google.type.Date"}
"""Messages whose columns are JSON text."""
DOUBLES = frozenset({"google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue"})
"""Messages that hold any JSON, each number as a double."""
REFUSED = (TypeError, ValueError, EncodeError, DecodeError, ParseError, OverflowError, RecursionError)
INT32 = range(-(2**31), 2**31)


class UnwritableValueError(ValueError):
    """A value that its field can't hold; the sentence names the place."""


def find_descriptor(plan: EncodePlan) -> Descriptor:
    """The message that a plan writes, from the files that it holds."""
    pool = DescriptorPool()
    for text in plan.files:
        pool.Add(FileDescriptorProto.FromString(base64.b64decode(text)))
    return pool.FindMessageTypeByName(plan.message)


def make_row_encoder(plan: EncodePlan, kind: pa.DataType) -> Row:
    """A function from a row, as Arrow gives it, to its payload or to what is wrong with it."""
    descriptor = find_descriptor(plan)
    message_class, shape = GetMessageClass(descriptor), _message(descriptor, kind, "", careful=False)
    careful = _message(descriptor, kind, "", careful=True)
    assert careful is not None

    def encode(row: Any) -> tuple[bytes | None, str | None]:
        if row is None:
            return None, None
        try:
            return message_class(**(shape(row) if shape else row)).SerializeToString(deterministic=True), None
        except REFUSED:
            pass
        try:  # what the constructor does not take by itself, and what it refuses, with its place
            return message_class(**careful(row)).SerializeToString(deterministic=True), None
        except REFUSED as error:
            return None, str(error)

    return encode


def _message(descriptor: Descriptor, kind: pa.DataType, path: str, *, careful: bool) -> Shape | None:
    """What changes a row where its message's constructor would not take it; None where nothing is to be changed."""
    shapes = {}
    for at in range(kind.num_fields):
        column = kind.field(at)
        field = descriptor.fields_by_name[column.name]
        shape = _field(field, column.type, f"{path}/{column.name}", careful=careful)
        if shape is not None:
            shapes[column.name] = shape
    if not shapes:
        return None

    def change(row: Mapping[str, Any]) -> dict[str, Any]:
        return {name: shapes[name](one) if name in shapes else one for name, one in row.items() if one is not None}

    return change


def _field(field: FieldDescriptor, kind: pa.DataType, path: str, *, careful: bool) -> Shape | None:
    entry = field.message_type
    if entry is not None and entry.GetOptions().map_entry:
        value = _value(entry.fields_by_name["value"], kind.item_type, f"{path}/{{}}", careful=careful)
        key = _value(entry.fields_by_name["key"], kind.key_type, f"{path}/{{key}}", careful=careful)
        if value is None and key is None and entry.fields_by_name["value"].message_type is None:
            return None  # the constructor takes pairs, but not of messages
        first, second = key or _as_is, value or _as_is
        return lambda entries: {first(one): second(other) for one, other in entries}
    if not field.is_repeated:
        return _value(field, kind, path, careful=careful)
    item = _value(field, kind.value_type, f"{path}/[]", careful=careful)
    return None if item is None else lambda items: [item(one) for one in items]


def _value(field: FieldDescriptor, kind: pa.DataType, path: str, *, careful: bool) -> Shape | None:
    plain = _single_value(field, kind, path, careful=careful)
    if not careful:
        return plain
    assert field.containing_type is not None, "fields of messages, not extensions"
    shape, target = plain or _as_is, GetMessageClass(field.containing_type)

    def change_value(value: Any) -> Any:
        try:
            changed = shape(value)
            probe = [changed] if field.is_repeated else changed
            target(**{field.name: probe})
        except UnwritableValueError:
            raise
        except REFUSED as error:
            raise UnwritableValueError(f"{path}: {error}") from error
        return changed

    return change_value


def _single_value(field: FieldDescriptor, kind: pa.DataType, path: str, *, careful: bool) -> Shape | None:
    inner = field.message_type
    if inner is None:
        if field.enum_type is not None:
            names = {one.name: one.number for one in field.enum_type.values}
            return (lambda text: read_symbol(names, text)) if careful else None
        return int if pa.types.is_decimal(kind) else None
    if inner.full_name == DECIMAL and pa.types.is_decimal(kind):
        return lambda number: _decimal(number, kind)
    if inner.full_name in JSON and not pa.types.is_struct(kind):
        return make_message_reader(inner)
    if pa.types.is_struct(kind):
        wrapped = kind.num_fields == 1 and pa.types.is_decimal(kind.field(0).type) and inner.full_name != DECIMAL
        return _message(inner, kind, path, careful=careful and not wrapped)
    raw = GetMessageClass(inner)
    return lambda data: raw.FromString(data)  # noqa: PLW0108 - the method of a class that mypy knows too little about


def _as_is(value: Any) -> Any:
    return value


def make_message_reader(inner: Descriptor) -> Shape:
    """Return what reads a well-known message from JSON text. Numbers of a ``Struct`` are doubles and lose no digits."""
    message_class, exact = GetMessageClass(inner), inner.full_name in DOUBLES

    def read(text: str) -> Any:
        if exact:
            json.loads(text, parse_int=_double, parse_float=_double)
        return Parse(text, message_class(), descriptor_pool=inner.file.pool)

    return read


def _double(text: str) -> float:
    """A number of JSON as a double."""
    number = float(text)
    if math.isinf(number) or Decimal(text) != Decimal(repr(number)):
        raise ValueError(f"{text:.60} would lose digits as a double")
    return number


def read_symbol(names: Mapping[str, int], text: str) -> int:
    """A value of an enum by its name, or its number."""
    if text in names:
        return names[text]
    if (number := int(text)) not in INT32:
        raise ValueError(f"{text} is no value of 32 bits")
    return number


def _decimal(number: Decimal, kind: pa.DataType) -> dict[str, Any]:
    unscaled = int(number.scaleb(kind.scale, DIGITS))
    size = unscaled.bit_length() // 8 + 1
    return {"value": unscaled.to_bytes(size, "big", signed=True), "precision": kind.precision, "scale": kind.scale}

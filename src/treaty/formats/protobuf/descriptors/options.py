"""Options of a descriptor become options of the model."""

from collections.abc import Callable, Iterator
from math import copysign, inf, isnan
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import UninterpretedOption
from google.protobuf.message import Message

from treaty.formats.protobuf.descriptors.defaults import round_to_float
from treaty.formats.protobuf.descriptors.names import check_dotted_name, check_text, descriptor_error
from treaty.formats.protobuf.descriptors.names import check_name as legal
from treaty.formats.protobuf.model import AggregateValue, Constant, IdentifierValue, ProtoOption
from treaty.formats.protobuf.syntax.cursor import TokenCursor
from treaty.formats.protobuf.syntax.options import read_value

Unpack = Callable[[Message], tuple[str, Message] | None]
"""The address and the message that an ``Any`` holds, where a text may name its type; None where it may not."""
_ANY = "google.protobuf.Any"


def read_options(message: Message, unpack: Unpack | None = None) -> tuple[ProtoOption, ...]:
    """Every option that is set, in the order of their numbers; those that this program does not know are left out.

    What is packed into an ``Any`` is read with `unpack`; without it the bytes stay bytes.
    """
    left = tuple(_read_uninterpreted(one) for one in getattr(message, "uninterpreted_option", ()))
    names = {one.name for one in left}
    return (*_options(message, names, unpack), *left)


def _options(message: Message, replaced: set[tuple[str, ...]], unpack: Unpack | None) -> Iterator[ProtoOption]:
    """The options that are interpreted, without single ones that are `replaced` by others which are not."""
    for field, value in message.ListFields():
        if field.name == "uninterpreted_option" or (not field.is_repeated and (field.name,) in replaced):
            continue
        name = f"({field.full_name})" if field.is_extension else field.name
        if field.is_repeated:
            for item in _values(field, value, unpack):
                yield ProtoOption((name,), item)
        elif name == "features":
            for inner, item in value.ListFields():
                part = f"({inner.full_name})" if inner.is_extension else inner.name
                yield ProtoOption((name, part), _constant(inner, item, unpack))
        else:
            yield ProtoOption((name,), _constant(field, value, unpack))


def _read_uninterpreted(option: UninterpretedOption) -> ProtoOption:
    """An option as a parser leaves it that knows no other file."""
    check_text(option)
    if not option.name:
        raise descriptor_error("an option without a name", "a name")
    parts = ((part.is_extension, part.name_part) for part in option.name)
    name = tuple(f"({check_dotted_name(part)})" if extension else legal(part) for extension, part in parts)
    if option.HasField("identifier_value"):
        value: Constant = IdentifierValue(legal(option.identifier_value))
    elif option.HasField("string_value"):
        value = option.string_value
    elif option.HasField("aggregate_value"):
        cursor = TokenCursor(f"{{{option.aggregate_value}}}")
        value = read_value(cursor)
        cursor.expect("")
    elif option.HasField("double_value"):
        value = option.double_value
    elif option.HasField("negative_int_value"):
        value = option.negative_int_value
    else:
        value = option.positive_int_value
    return ProtoOption(name, value)


def _values(field: FieldDescriptor, content: Any, unpack: Unpack | None) -> Iterator[Constant]:
    """The values of a field; entries of a map in the order of their keys."""
    if not field.is_repeated:
        yield _constant(field, content, unpack)
    elif field.message_type is not None and field.message_type.GetOptions().map_entry:
        key, value = field.message_type.fields
        for name in sorted(content):
            item = _constant(value, content[name], unpack)
            yield AggregateValue((("key", _constant(key, name, unpack)), ("value", item)))
    else:
        for item in content:
            yield _constant(field, item, unpack)


def _constant(field: FieldDescriptor, value: object, unpack: Unpack | None) -> Constant:
    """A value of a field that is not repeated, or one of its values."""
    if isinstance(value, Message):
        return _aggregate(value, unpack)
    if field.enum_type is not None and isinstance(value, int):
        enum_value = field.enum_type.values_by_number.get(value)
        return IdentifierValue(enum_value.name) if enum_value is not None else value
    if isinstance(value, bool):
        return IdentifierValue("true" if value else "false")
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape")
    if isinstance(value, bytes | int):
        return value
    assert isinstance(value, float)
    return _spell_float(value, single=field.type == FieldDescriptor.TYPE_FLOAT)


def _aggregate(message: Message, unpack: Unpack | None) -> Constant:
    """A message as a constant; one that is packed stands under its address."""
    packed = unpack(message) if unpack is not None and message.DESCRIPTOR.full_name == _ANY else None
    if packed is not None:
        address, inside = packed
        return AggregateValue(((f"[{address}]", _aggregate(inside, unpack)),))
    members: list[tuple[str, Constant]] = []
    for inner, item in message.ListFields():
        name = f"[{inner.full_name}]" if inner.is_extension else inner.name
        members += ((name, one) for one in _values(inner, item, unpack))
    return AggregateValue(tuple(members))


def _spell_float(value: float, *, single: bool) -> Constant:
    """A number as a text has it: those that are none are words where they have no sign, others are as short as can be."""
    if value == inf:
        return IdentifierValue("inf")
    if isnan(value) and copysign(1.0, value) > 0:
        return IdentifierValue("nan")
    return round_to_float(value) if single else value

"""Options of a descriptor to options of the model."""

from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import UninterpretedOption
from google.protobuf.message import Message

from treaty.formats.protobuf.descriptors.names import check_dotted_name, check_text, descriptor_error
from treaty.formats.protobuf.descriptors.names import check_name as legal
from treaty.formats.protobuf.model import AggregateValue, Constant, IdentifierValue, ProtoOption
from treaty.formats.protobuf.syntax.cursor import TokenCursor
from treaty.formats.protobuf.syntax.options import read_value


def read_options(message: Message) -> tuple[ProtoOption, ...]:
    """Every option that is set, in the order of their numbers; those that this program does not know are left out."""
    left = tuple(_read_uninterpreted(one) for one in getattr(message, "uninterpreted_option", ()))
    names = {one.name for one in left}
    return (*_options(message, names), *left)


def _options(message: Message, replaced: set[tuple[str, ...]]) -> Iterator[ProtoOption]:
    """The options that are interpreted, without single ones that are `replaced` by others which are not."""
    for field, found in message.ListFields():
        if field.name == "uninterpreted_option" or (not field.is_repeated and (field.name,) in replaced):
            continue
        name = f"({field.full_name})" if field.is_extension else field.name
        if field.is_repeated:
            for item in _values(field, found):
                yield ProtoOption((name,), item)
        elif name == "features":
            for inner, item in found.ListFields():
                part = f"({inner.full_name})" if inner.is_extension else inner.name
                yield ProtoOption((name, part), _constant(inner, item))
        else:
            yield ProtoOption((name,), _constant(field, found))


def _read_uninterpreted(option: UninterpretedOption) -> ProtoOption:
    """An option as a parser leaves it that knows no other file."""
    check_text(option)
    if not option.name:
        raise descriptor_error("an option without a name", "a name")
    parts = ((part.is_extension, part.name_part) for part in option.name)
    name = tuple(f"({check_dotted_name(part)})" if extension else legal(part) for extension, part in parts)
    if option.HasField("identifier_value"):
        found: Constant = IdentifierValue(option.identifier_value)
    elif option.HasField("string_value"):
        found = option.string_value
    elif option.HasField("aggregate_value"):
        found = read_value(TokenCursor(f"{{{option.aggregate_value}}}"))
    elif option.HasField("double_value"):
        found = option.double_value
    elif option.HasField("negative_int_value"):
        found = option.negative_int_value
    else:
        found = option.positive_int_value
    return ProtoOption(name, found)


def _values(field: FieldDescriptor, found: Any) -> Iterator[Constant]:
    """The values of a field; entries of a map in the order of their keys."""
    if not field.is_repeated:
        yield _constant(field, found)
    elif field.message_type is not None and field.message_type.GetOptions().map_entry:
        key, value = field.message_type.fields
        for name in sorted(found):
            yield AggregateValue((("key", _constant(key, name)), ("value", _constant(value, found[name]))))
    else:
        for item in found:
            yield _constant(field, item)


def _constant(field: FieldDescriptor, found: object) -> Constant:
    """A value of a field that is not repeated, or one of its values."""
    if isinstance(found, Message):
        members: list[tuple[str, Constant]] = []
        for inner, item in found.ListFields():
            name = f"[{inner.full_name}]" if inner.is_extension else inner.name
            members += ((name, one) for one in _values(inner, item))
        return AggregateValue(tuple(members))
    if field.enum_type is not None and isinstance(found, int):
        known = field.enum_type.values_by_number.get(found)
        return IdentifierValue(known.name) if known is not None else found
    if isinstance(found, bool):
        return IdentifierValue("true" if found else "false")
    if isinstance(found, str):
        return found.encode("utf-8", "surrogateescape")
    if isinstance(found, bytes | int):
        return found
    assert isinstance(found, float)
    return found

"""Messages read from their text, with their fields, maps, groups and oneofs, and extensions of other messages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from treaty.core.limits import SCHEMA_MEMBERS
from treaty.formats.protobuf.model import (
    Enum,
    ExtendStatement,
    ExtensionsStatement,
    Field,
    IdentifierValue,
    Message,
    NumberRange,
    OneOf,
    ProtoOption,
    ReservedStatement,
    SourceLocation,
)
from treaty.formats.protobuf.syntax import options, ranges
from treaty.formats.protobuf.syntax.cursor import INT32, MESSAGE_DEPTH, TokenCursor
from treaty.formats.protobuf.syntax.enums import read_enum
from treaty.formats.protobuf.syntax.literals import LETTERS

_NUMBERS = ("int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64")
SCALARS = frozenset(("double", "float", *_NUMBERS, "bool", "string", "bytes"))
"""Types that need no definition."""
_LABELS = frozenset(("optional", "required", "repeated"))


@dataclass(slots=True)
class _Body:
    """What has been read of a message so far."""

    fields: list[Field] = field(default_factory=list)
    oneofs: list[OneOf] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    extends: list[ExtendStatement] = field(default_factory=list)
    extensions: list[ExtensionsStatement] = field(default_factory=list)
    reserved: list[ReservedStatement] = field(default_factory=list)
    options: list[ProtoOption] = field(default_factory=list)


def read_message(cursor: TokenCursor, begin: int, visibility: str = "") -> Message:
    """A message, with the cursor after its first word; `begin` is where the definition begins."""
    name = cursor.name("the name of a message")
    return _message(cursor, name, visibility, cursor.doc(begin), cursor.place(begin))


def _message(cursor: TokenCursor, name: str, visibility: str, doc: str, place: SourceLocation) -> Message:
    cursor.descend(MESSAGE_DEPTH)
    cursor.expect("{")
    body = _Body()
    words = cursor.tokens
    while True:
        word = words[cursor.at]
        if word == "}":
            break
        read = _STATEMENTS.get(word)
        if read is not None:
            cursor.at += 1
            read(cursor, body)
        elif word in ("export", "local") and cursor.dialect >= "2024" and cursor.editions:
            cursor.at += 1
            add_visible(cursor, body)
        elif not word:
            raise cursor.unexpected_token('"}" at the end of the message')
        else:
            body.fields.append(read_field(cursor))
        if len(body.fields) > SCHEMA_MEMBERS or len(body.messages) > SCHEMA_MEMBERS:
            limit = f"more members than the limit SCHEMA_MEMBERS of {SCHEMA_MEMBERS}"
            raise cursor.fault("TOO_MANY", limit, f"at most {SCHEMA_MEMBERS} in one message")
    cursor.at += 1
    cursor.ascend()
    top = _max_number(body.options)
    return Message(
        name,
        tuple(body.fields),
        tuple(body.oneofs),
        tuple(body.messages),
        tuple(body.enums),
        tuple(body.extends),
        tuple(ExtensionsStatement(_close_ranges(one.ranges, top), one.options, one.place) for one in body.extensions),
        tuple(ReservedStatement(_close_ranges(one.ranges, top), one.names, one.place) for one in body.reserved),
        tuple(body.options),
        visibility,
        doc,
        place,
    )


def _max_number(option_list: list[ProtoOption]) -> int:
    """The number that ``max`` means: message sets have room for more."""
    for option in option_list:
        if option.name == ("message_set_wire_format",) and option.value == IdentifierValue("true"):
            return INT32 - 1
    return ranges.MAX_NUMBER


def _close_ranges(spans: tuple[NumberRange, ...], top: int) -> tuple[NumberRange, ...]:
    return tuple(NumberRange(one.start, top) if one.end == ranges.MAX else one for one in spans)


class DefinitionScope(Protocol):
    """What has been read of a file or of a message: the definitions that both may have."""

    messages: list[Message]
    enums: list[Enum]
    extends: list[ExtendStatement]
    options: list[ProtoOption]


def add_visible(cursor: TokenCursor, body: DefinitionScope) -> None:
    """A definition after ``export`` or ``local``, which has been read."""
    begin = cursor.at - 1
    visibility = cursor.tokens[begin]
    if cursor.accept("message"):
        body.messages.append(read_message(cursor, begin, visibility))
    elif cursor.accept("enum"):
        body.enums.append(read_enum(cursor, begin, visibility))
    else:
        raise cursor.unexpected_token("message or enum")


def _add_message(cursor: TokenCursor, body: DefinitionScope) -> None:
    body.messages.append(read_message(cursor, cursor.at - 1))


def _add_enum(cursor: TokenCursor, body: DefinitionScope) -> None:
    body.enums.append(read_enum(cursor, cursor.at - 1))


def _add_extend(cursor: TokenCursor, body: DefinitionScope) -> None:
    body.extends.append(read_extend(cursor, cursor.at - 1))


def _add_option(cursor: TokenCursor, body: DefinitionScope) -> None:
    body.options.append(options.read_statement(cursor))


def _skip_empty(cursor: TokenCursor, body: DefinitionScope) -> None:
    """An empty statement."""


COMMON: Mapping[str, Callable[[TokenCursor, DefinitionScope], None]] = {
    ";": _skip_empty,
    "message": _add_message,
    "enum": _add_enum,
    "extend": _add_extend,
    "option": _add_option,
}
"""Statements of files and of messages, by the word that they begin with, which has been read."""


def _add_oneof(cursor: TokenCursor, body: _Body) -> None:
    body.oneofs.append(_oneof(cursor, cursor.at - 1))


def _add_extensions(cursor: TokenCursor, body: _Body) -> None:
    body.extensions.append(ranges.read_extensions(cursor, cursor.place(cursor.at - 1)))


def _add_reserved(cursor: TokenCursor, body: _Body) -> None:
    body.reserved.append(ranges.read_reserved(cursor, cursor.place(cursor.at - 1)))


_STATEMENTS: Mapping[str, Callable[[TokenCursor, _Body], None]] = {
    **COMMON,
    "oneof": _add_oneof,
    "extensions": _add_extensions,
    "reserved": _add_reserved,
}


def read_field(cursor: TokenCursor, *, alone: bool = True) -> Field:
    """A field with its label, unless it is in a oneof and is not `alone`: there is none then."""
    begin = cursor.at
    label = cursor.tokens[begin]
    if label not in _LABELS:
        label = ""
    elif not alone:
        raise cursor.unexpected_token("a type: fields of a oneof have no label")
    elif cursor.editions and label != "repeated":
        feature = "features.field_presence = LEGACY_REQUIRED" if label == "required" else "features.field_presence"
        raise cursor.fault("LABEL_OF_OTHER_SYNTAX", f"the label {label!r}", f"no label, or the feature {feature}")
    else:
        cursor.at += 1
    if cursor.tokens[cursor.at] == "map" and cursor.tokens[cursor.at + 1] == "<":
        if label or not alone:
            where = "with a label" if label else "in a oneof"
            raise cursor.fault("MAP_MISPLACED", f"a map {where}", "a field of its own, without a label")
        return _map(cursor, begin)
    if not label and alone and cursor.dialect == "proto2":
        raise cursor.fault(
            "LABEL_MISSING", f"{cursor.tokens[cursor.at]!r} without a label", "optional, required, repeated"
        )
    if cursor.tokens[cursor.at] == "group":
        return _group(cursor, label, begin)
    type_ = cursor.dotted_name("a type")
    name = cursor.name("the name of a field")
    number, option_list = _read_number(cursor)
    cursor.expect(";")
    return Field(name, number, type_, label, "", option_list, None, cursor.doc(begin), cursor.place(begin))


def _read_number(cursor: TokenCursor) -> tuple[int, tuple[ProtoOption, ...]]:
    cursor.expect("=")
    number = cursor.number("a field number")
    return number, options.read_brackets(cursor) if cursor.tokens[cursor.at] == "[" else ()


def _map(cursor: TokenCursor, begin: int) -> Field:
    cursor.at += 2
    key = cursor.dotted_name("the type of the keys")
    cursor.expect(",")
    value = cursor.dotted_name("the type of the values")
    if "group" in (key, value):
        raise cursor.unexpected_token("types other than groups")
    cursor.expect(">")
    name = cursor.name("the name of a field")
    number, option_list = _read_number(cursor)
    cursor.expect(";")
    return Field(name, number, value, "", key, option_list, None, cursor.doc(begin), cursor.place(begin))


def _group(cursor: TokenCursor, label: str, begin: int) -> Field:
    cursor.at += 1
    at = cursor.at
    name = cursor.name("the name of a group")
    number, option_list = _read_number(cursor)
    if cursor.editions:
        allowed = "a message, and the feature features.message_encoding = DELIMITED"
        raise cursor.fault("GROUP_NOT_ALLOWED", f"the group {name!r}", allowed, at)
    if not "A" <= name[0] <= "Z":
        raise cursor.fault("GROUP_NAME", f"the group {name!r}", "a name that begins with a capital letter", at)
    place, doc = cursor.place(begin), cursor.doc(begin)
    body = _message(cursor, name, "", doc, place)
    return Field(name.lower(), number, name, label, "", option_list, body, doc, place)


def _oneof(cursor: TokenCursor, begin: int) -> OneOf:
    name = cursor.name("the name of a oneof")
    cursor.expect("{")
    fields: list[Field] = []
    option_list: list[ProtoOption] = []
    while True:
        if cursor.accept("option"):
            option_list.append(options.read_statement(cursor))
        else:
            fields.append(read_field(cursor, alone=False))
        if cursor.accept("}"):
            break
        if len(fields) > SCHEMA_MEMBERS:
            limit = f"more fields than the limit SCHEMA_MEMBERS of {SCHEMA_MEMBERS}"
            raise cursor.fault("TOO_MANY", limit, f"at most {SCHEMA_MEMBERS} in one oneof")
    return OneOf(name, tuple(fields), tuple(option_list), cursor.doc(begin), cursor.place(begin))


def read_extend(cursor: TokenCursor, begin: int) -> ExtendStatement:
    """``extend name { ... }``, with the cursor after the first word."""
    place = cursor.place(begin)
    if cursor.tokens[cursor.at] in SCALARS or cursor.tokens[cursor.at][:1] not in LETTERS | {"."}:
        raise cursor.unexpected_token("the name of a message")
    extendee = cursor.dotted_name("the name of a message")
    cursor.expect("{")
    fields = [_extension(cursor)]
    while not cursor.accept("}"):
        fields.append(_extension(cursor))
        if len(fields) > SCHEMA_MEMBERS:
            limit = f"more fields than the limit SCHEMA_MEMBERS of {SCHEMA_MEMBERS}"
            raise cursor.fault("TOO_MANY", limit, f"at most {SCHEMA_MEMBERS} in one extension")
    return ExtendStatement(extendee, tuple(fields), place)


def _extension(cursor: TokenCursor) -> Field:
    at = cursor.at
    field = read_field(cursor)
    if field.key:
        raise cursor.fault("MAP_MISPLACED", "a map as an extension", "a repeated message with a key and a value", at)
    return field

"""A file as canonical text, in the order and spelling of Confluent's printer (source: its 8.x behaviour, see the docs)."""

from collections.abc import Iterable, Sequence

from treaty.formats.protobuf.model import (
    Enum,
    EnumValue,
    ExtendStatement,
    ExtensionsStatement,
    Field,
    IdentifierValue,
    Message,
    NumberRange,
    OneOf,
    ProtoFile,
    ProtoOption,
    ReservedStatement,
    RpcMethod,
    RpcService,
)
from treaty.formats.protobuf.syntax.constants import print_assignment, print_brackets, quote_bytes

MAX_NUMBER = 2**29 - 1
"""The highest field number, which is printed as ``max``."""
MAX_OF_SET = 2**31 - 2
"""The highest field number of a message set."""
MAX_OF_ENUM = 2**31 - 1
"""The highest number of an enum."""

_LATE = frozenset((("default",), ("json_name",)))


def print_file(file: ProtoFile) -> str:
    """The canonical text: sections in a fixed order with an empty line before each, no comments."""
    out: list[str] = []
    if file.edition:
        out.append(f'edition = "{file.edition}";')
    elif file.syntax:
        out.append(f'syntax = "{file.syntax}";')
    if file.package:
        out.append(f"package {file.package};")
    if file.imports:
        out.append("")
        for kind in ("", "weak", "public", "option"):
            out += (f"import {kind and f'{kind} '}{_path(one.path)};" for one in file.imports if one.kind == kind)
    if file.options:
        out.append("")
        out += (f"option {print_assignment(one, '')};" for one in file.options)
    if file.messages or file.enums:
        out.append("")
        _types(out, file.messages, file.enums, "", file.edition)
    if file.extends:
        out.append("")
        for extend in file.extends:
            _extend(out, extend, "", file.edition)
    if file.services:
        out.append("")
        for service in file.services:
            _service(out, service)
    out.append("")
    return "\n".join(out)


def _path(path: str) -> str:
    return quote_bytes(path.encode())


def _types(out: list[str], messages: Iterable[Message], enums: Iterable[Enum], pad: str, edition: str) -> None:
    for message in messages:
        _message(out, message, f"{pad}{_print_visibility(message.visibility)}message {message.name}", pad, edition)
    for enum in enums:
        _enum(out, enum, pad, edition)


def _print_visibility(visibility: str) -> str:
    return f"{visibility} " if visibility else ""


def _close(out: list[str], begin: int, pad: str) -> None:
    """Finish what began with the line `begin`: on one line if nothing came after it.

    The first section has no empty line before it; every other one has, indented as the definition itself.
    """
    if len(out) == begin + 1:
        out[begin] += "}"
    else:
        del out[begin + 1]
        out.append(f"{pad}}}")


def _message(out: list[str], message: Message, head: str, pad: str, edition: str) -> None:
    begin = len(out)
    out.append(f"{head} {{")
    inner = f"{pad}  "
    if message.reserved:
        out.append(pad)
        top = _max_number(message)
        out += (_print_reserved(one, inner, top, edition) for one in message.reserved)
    if message.options:
        out.append(pad)
        out += (f"{inner}option {print_assignment(one, inner)};" for one in message.options)
    groups = [one for one in message.fields if one.group is not None]
    if len(groups) < len(message.fields):
        out.append(pad)
        out += [_field(one, inner) for one in message.fields if one.group is None]
    if message.oneofs:
        out.append(pad)
        for oneof in message.oneofs:
            _oneof(out, oneof, inner, edition)
    if groups:
        out.append(pad)
        for group in groups:
            _group(out, group, inner, edition)
    if message.extensions:
        out.append(pad)
        top = _max_number(message)
        out += (_extensions(one, inner, top) for one in message.extensions)
    if message.extends:
        out.append(pad)
        for extend in message.extends:
            _extend(out, extend, inner, edition)
    if message.messages or message.enums:
        out.append(pad)
        _types(out, message.messages, message.enums, inner, edition)
    _close(out, begin, pad)


def _max_number(message: Message) -> int:
    sets = any(
        option.name == ("message_set_wire_format",) and option.value == IdentifierValue("true")
        for option in message.options
    )
    return MAX_OF_SET if sets else MAX_NUMBER


def _field(field: Field, pad: str) -> str:
    label = f"{field.label} " if field.label else ""
    kind = f"map<{field.key}, {field.type}>" if field.key else field.type
    return f"{pad}{label}{kind} {field.name} = {field.number}{_brackets(field.options, pad)};"


def _brackets(options: Sequence[ProtoOption], pad: str) -> str:
    """Options of a field: the default and the name in JSON come last."""
    if len(options) > 1 and any(one.name in _LATE for one in options):
        options = sorted(options, key=lambda one: one.name in _LATE and (2 if one.name == ("json_name",) else 1))
    return print_brackets(options, pad)


def _group(out: list[str], field: Field, pad: str, edition: str) -> None:
    assert field.group is not None
    label = f"{field.label} " if field.label else ""
    head = f"{pad}{label}group {field.type} = {field.number}{_brackets(field.options, pad)}"
    _message(out, field.group, head, pad, edition)


def _fields(out: list[str], fields: Sequence[Field], pad: str, edition: str) -> None:
    """Fields of a oneof or an extension, groups last."""
    inner = f"{pad}  "
    plain = [_field(one, inner) for one in fields if one.group is None]
    if plain:
        out.append(pad)
        out += plain
    if len(plain) < len(fields):
        out.append(pad)
        for field in fields:
            if field.group is not None:
                _group(out, field, inner, edition)


def _oneof(out: list[str], oneof: OneOf, pad: str, edition: str) -> None:
    begin = len(out)
    out.append(f"{pad}oneof {oneof.name} {{")
    if oneof.options:
        out.append(pad)
        out += (f"{pad}  option {print_assignment(one, f'{pad}  ')};" for one in oneof.options)
    _fields(out, oneof.fields, pad, edition)
    _close(out, begin, pad)


def _extend(out: list[str], extend: ExtendStatement, pad: str, edition: str) -> None:
    begin = len(out)
    out.append(f"{pad}extend {extend.extendee} {{")
    _fields(out, extend.fields, pad, edition)
    _close(out, begin, pad)


def _ranges(ranges: Iterable[NumberRange], top: int) -> str:
    return ", ".join(
        str(span.start) if span.start == span.end else f"{span.start} to {'max' if span.end == top else span.end}"
        for span in ranges
    )


def _print_reserved(reserved: ReservedStatement, pad: str, top: int, edition: str) -> str:
    if reserved.ranges:
        return f"{pad}reserved {_ranges(reserved.ranges, top)};"
    names = reserved.names if edition else map(_path, reserved.names)
    return f"{pad}reserved {', '.join(names)};"


def _extensions(extensions: ExtensionsStatement, pad: str, top: int) -> str:
    return f"{pad}extensions {_ranges(extensions.ranges, top)}{print_brackets(extensions.options, pad)};"


def _enum(out: list[str], enum: Enum, pad: str, edition: str) -> None:
    begin = len(out)
    inner = f"{pad}  "
    out.append(f"{pad}{_print_visibility(enum.visibility)}enum {enum.name} {{")
    if enum.reserved or enum.options or enum.values:
        out.append(pad)
    out += (_print_reserved(one, inner, MAX_OF_ENUM, edition) for one in enum.reserved)
    out += (f"{inner}option {print_assignment(one, inner)};" for one in enum.options)
    out += (_value(one, inner) for one in enum.values)
    _close(out, begin, pad)


def _value(value: EnumValue, pad: str) -> str:
    return f"{pad}{value.name} = {value.number}{print_brackets(value.options, pad)};"


def _service(out: list[str], service: RpcService) -> None:
    begin = len(out)
    out.append(f"service {service.name} {{")
    if service.options:
        out.append("")
        out += (f"  option {print_assignment(one, '  ')};" for one in service.options)
    if service.methods:
        out.append("")
        for method in service.methods:
            _method(out, method)
    _close(out, begin, "")


def _method(out: list[str], method: RpcMethod) -> None:
    takes = f"{'stream ' if method.client_streams else ''}{method.takes}"
    returns = f"{'stream ' if method.server_streams else ''}{method.returns}"
    head = f"  rpc {method.name} ({takes}) returns ({returns})"
    if not method.options:
        out.append(f"{head};")
        return
    out.append(f"{head} {{")
    out += (f"    option {print_assignment(one, '    ')};" for one in method.options)
    out.append("  };")

"""The full names that a file defines, by which its types are found; a name that is defined twice is refused."""

from collections.abc import Iterable
from dataclasses import dataclass

from treaty.core.finding import Diagnostic
from treaty.core.limits import FULL_NAME
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.descriptors.names import get_entry_name
from treaty.formats.protobuf.linker.diagnostics import DiagnosticList
from treaty.formats.protobuf.model import (
    Enum,
    ExtendStatement,
    Field,
    IdentifierValue,
    Message,
    ProtoFile,
    ProtoOption,
    ProtoSymbol,
    RpcService,
    SourceLocation,
)

_ENTRY_OPTIONS = (ProtoOption(("map_entry",), IdentifierValue("true")),)


@dataclass(slots=True)
class _SymbolTable:
    """The names found so far; a name that is there already is a fault, where faults are counted."""

    path: str
    names: dict[str, ProtoSymbol]
    faults: DiagnosticList | None

    def add(self, symbol: ProtoSymbol, place: SourceLocation) -> None:
        """Add a name."""
        full = symbol.full
        if full in self.names:
            if self.faults is not None:
                holder = self.names[full]
                message = f"the name {full!r} of this {symbol.kind} is that of a {holder.kind} too"
                if symbol.kind == "value":
                    message += " (values stand beside their enum, not inside it)"
                self.faults.add("NAME_DUPLICATE", full, message, place)
            return
        self.names[full] = symbol


def collect_symbols(file: ProtoFile, path: str, faults: DiagnosticList | None) -> dict[str, ProtoSymbol]:
    """The names of a file by their full names, the packages around it included."""
    names: dict[str, ProtoSymbol] = {}
    table = _SymbolTable(path, names, faults)
    scope = ""
    if file.package:
        for part in file.package.split("."):
            scope = f"{scope}.{part}" if scope else part
            names[scope] = ProtoSymbol(scope, "package", path)
    prefix = f"{scope}." if scope else ""
    for message in file.messages:
        _message(table, message, prefix)
    for enum in file.enums:
        _enum(table, enum, prefix)
    for extend in file.extends:
        _extend(table, extend, prefix)
    for service in file.services:
        _service(table, service, prefix)
    return names


def _message(table: _SymbolTable, message: Message, prefix: str) -> None:
    full = prefix + message.name
    path = table.path
    if len(full) > FULL_NAME:
        limit = f"a name of {len(full)} characters with all around it, more than the limit FULL_NAME of {FULL_NAME}"
        fault = Diagnostic("NAME_TOO_LONG", "", limit, f"at most {FULL_NAME} characters", *get_position(message.place))
        raise InvalidSchemaError((fault,))
    table.add(ProtoSymbol(full, "message", path, message), message.place)
    inner = f"{full}."
    _fields(table, message.fields, inner)
    for oneof in message.oneofs:
        table.add(ProtoSymbol(inner + oneof.name, "oneof", path, oneof), oneof.place)
        _fields(table, oneof.fields, inner)
    for nested in message.messages:
        _message(table, nested, inner)
    for enum in message.enums:
        _enum(table, enum, inner)
    for extend in message.extends:
        _extend(table, extend, inner)


def get_position(location: SourceLocation) -> tuple[int, int]:
    """Line and column for a fault; none where the model was made from a descriptor."""
    return (location.line, location.column) if location.line else (0, 0)


def _fields(table: _SymbolTable, fields: Iterable[Field], inner: str) -> None:
    names = table.names
    path = table.path
    for field in fields:
        full = inner + field.name
        symbol = ProtoSymbol(full, "field", path, field)
        if full in names:
            table.add(symbol, field.place)
        else:
            names[full] = symbol
        if field.key:
            entry = Message(
                get_entry_name(field.name),
                (Field("key", 1, field.key, "optional"), Field("value", 2, field.type, "optional")),
                options=_ENTRY_OPTIONS,
                place=field.place,
            )
            table.add(ProtoSymbol(inner + entry.name, "message", path, entry), field.place)
        elif field.group is not None:
            _message(table, field.group, inner)


def _enum(table: _SymbolTable, enum: Enum, prefix: str) -> None:
    table.add(ProtoSymbol(prefix + enum.name, "enum", table.path, enum), enum.place)
    for value in enum.values:
        table.add(ProtoSymbol(prefix + value.name, "value", table.path, value), value.place)


def _extend(table: _SymbolTable, extend: ExtendStatement, prefix: str) -> None:
    for field in extend.fields:
        table.add(ProtoSymbol(prefix + field.name, "extension", table.path, field, extend.extendee), field.place)
        if field.group is not None:
            _message(table, field.group, prefix)


def _service(table: _SymbolTable, service: RpcService, prefix: str) -> None:
    full = prefix + service.name
    table.add(ProtoSymbol(full, "service", table.path, service), service.place)
    for method in service.methods:
        table.add(ProtoSymbol(f"{full}.{method.name}", "method", table.path, method), method.place)

"""Rules of extensions: which messages take them, under which numbers, and as what they were declared."""

import re
from bisect import bisect_right

from treaty.formats.protobuf.linker.diagnostics import DiagnosticList
from treaty.formats.protobuf.model import (
    AggregateValue,
    Constant,
    Enum,
    EnumValue,
    ExtensionsStatement,
    Field,
    IdentifierValue,
    Message,
    ProtoFile,
    ProtoOption,
    ProtoSchema,
    ProtoSymbol,
)
from treaty.formats.protobuf.syntax.messages import SCALARS
from treaty.formats.protobuf.validation.fields import FieldContext
from treaty.formats.protobuf.validation.messages import KEPT, MAX_IN_SET, is_enabled

_OPTIONS = frozenset(
    f"google.protobuf.{kind}Options"
    for kind in ("File", "Message", "Field", "Oneof", "ExtensionRange", "Enum", "EnumValue", "Service", "Method")
)
"""What proto3 may extend."""
_FULL = re.compile(r"(?:\.\w+)+", re.ASCII)
"""A full name as protoc takes it in a declaration: its parts may begin with a digit, and belong to nothing then."""
_DECLARABLE = frozenset(SCALARS) | {"enum"}
"""Types that a declaration names without a leading point. No extension is of the type ``enum``: each has one by name."""


def is_lite(file: ProtoFile) -> bool:
    """Whether a file is made for the small runtime."""
    return any(one.name == ("optimize_for",) and one.value == IdentifierValue("LITE_RUNTIME") for one in file.options)


class ExtensionRanges:
    """The numbers that messages leave to extensions, sorted once for each message."""

    def __init__(self) -> None:
        """Start without any."""
        self._spans: dict[str, list[tuple[int, int, int]]] = {}

    def find_statement(self, extended: ProtoSymbol, number: int) -> ExtensionsStatement | None:
        """The statement of a message that leaves a number to extensions, or None."""
        node = extended.node
        assert isinstance(node, Message)
        spans = self._spans.get(extended.full)
        if spans is None:
            spans = sorted((one.start, one.end, at) for at, kept in enumerate(node.extensions) for one in kept.ranges)
            self._spans[extended.full] = spans
        index = bisect_right(spans, number, key=lambda span: span[0])
        return node.extensions[spans[index - 1][2]] if index and spans[index - 1][1] >= number else None


def check_extension(
    field: Field, context: FieldContext, schema: ProtoSchema, ranges: ExtensionRanges, faults: DiagnosticList
) -> None:
    """An extension against the message that it extends."""
    full, extended, held = context.full, context.extends, context.type
    assert extended is not None
    node = extended.node
    assert isinstance(node, Message)
    if schema.file.dialect == "proto3" and extended.full not in _OPTIONS:
        faults.add("EXTENSION_NOT_ALLOWED", full, f"{extended.full!r} is extended in proto3", field.place)
    if not 1 <= field.number <= MAX_IN_SET or field.number in KEPT:
        faults.add("NUMBER_ILLEGAL", full, f"the number {field.number}", field.place)
    home = ranges.find_statement(extended, field.number)
    if home is None:
        message = f"{extended.full!r} does not leave the number {field.number} to extensions"
        faults.add("EXTENSION_NUMBER", full, message, field.place)
        return
    in_set = is_enabled(node.options, "message_set_wire_format")
    optional = field.label not in ("repeated", "required")
    if in_set and not (optional and held is not None and held.kind == "message" and field.group is None):
        faults.add("MESSAGE_SET", full, f"{field.name!r} in the message set {extended.full!r}", field.place)
    origin = schema.files.get(extended.path)
    if origin is not None and is_lite(schema.file) and not is_lite(origin.file):
        message = f"a file for the small runtime extends {extended.full!r}, which is none of it"
        faults.add("LITE_CONFLICT", full, message, field.place)
    if extended.full not in _OPTIONS:
        _check_declared(field, full, held, home, faults)


def _check_declared(
    field: Field, full: str, held: ProtoSymbol | None, home: ExtensionsStatement, faults: DiagnosticList
) -> None:
    """An extension against the declarations of its range."""
    declarations = list_declarations(home)
    closed = any(one.name == ("verification",) and one.value == IdentifierValue("DECLARATION") for one in home.options)
    if not declarations and not closed:
        return
    declaration = next((one for one in declarations if one.get("number") == field.number), None)
    if declaration is None:
        faults.add("EXTENSION_UNDECLARED", full, f"the number {field.number} is not declared", field.place)
        return
    if declaration.get("reserved") == IdentifierValue("true"):
        faults.add("EXTENSION_UNDECLARED", full, f"the number {field.number} is declared as reserved", field.place)
        return
    kind = field.type if held is None else f".{held.full}"
    repeated = field.label == "repeated"
    declared = (
        _text(declaration.get("full_name")),
        _qualify_type(_text(declaration.get("type"))),
        declaration.get("repeated") == IdentifierValue("true"),
    )
    if declared != (f".{full}", kind, repeated):
        name, type_, many = declared
        expected = f"{name} of the type {type_}, {'repeated' if many else 'optional'}"
        message = f".{full} of the type {kind}, {'repeated' if repeated else 'optional'}"
        faults.add("EXTENSION_UNDECLARED", full, message, field.place, expected)


def _qualify_type(name: str) -> str:
    return name if name in _DECLARABLE or name.startswith(".") else f".{name}"


def _text(value: Constant | None) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""


def list_declarations(statement: ExtensionsStatement) -> list[dict[str, Constant]]:
    """What an extensions statement declares about single numbers."""
    return [
        dict(option.value.members)
        for option in statement.options
        if _declares(option) and isinstance(option.value, AggregateValue)
    ]


def _declares(option: ProtoOption) -> bool:
    return option.name == ("declaration",)


def check_declarations(message: Message, full: str, faults: DiagnosticList) -> None:
    """The declarations of a message: numbers inside their range, names once, both name and type."""
    names: set[str] = set()
    for statement in message.extensions:
        declarations = list_declarations(statement)
        if not declarations:
            continue
        if any(
            option.name == ("verification",) and option.value == IdentifierValue("UNVERIFIED")
            for option in statement.options
        ):
            faults.add("DECLARATION_INVALID", full, "declarations in a range that is UNVERIFIED", statement.place)
            continue
        for span in statement.ranges:
            numbers: set[Constant] = set()
            for declaration in declarations:
                number = declaration.get("number", 0)
                inside = isinstance(number, int) and span.start <= number <= span.end
                if not inside or number in numbers:
                    problem = f"the declared number {number!r} is not in the range, or there twice"
                    faults.add("DECLARATION_INVALID", full, problem, statement.place)
                numbers.add(number)
                _check_declared_names(declaration, names, full, statement, faults)


def _check_declared_names(
    declaration: dict[str, Constant], names: set[str], full: str, statement: ExtensionsStatement, faults: DiagnosticList
) -> None:
    name, type_ = _text(declaration.get("full_name")), _text(declaration.get("type"))
    if "full_name" not in declaration or "type" not in declaration:
        if ("full_name" in declaration) != ("type" in declaration) or declaration.get("reserved") != IdentifierValue(
            "true"
        ):
            faults.add("DECLARATION_INVALID", full, "a declaration without full_name and type", statement.place)
        return
    if name in names:
        faults.add("DECLARATION_INVALID", full, f"{name!r} is declared twice", statement.place)
    names.add(name)
    if not _FULL.fullmatch(name) or (type_ not in _DECLARABLE and not _FULL.fullmatch(type_)):
        faults.add("DECLARATION_INVALID", full, f"{name!r} of the type {type_!r}", statement.place)


def check_option_imports(schema: ProtoSchema, faults: DiagnosticList) -> None:
    """No option that ``import option`` brings has an enum with values to be redacted: at run time it is not there."""
    for statement in schema.file.imports:
        home = schema.imports.get(statement.path) if statement.kind == "option" else None
        for symbol in home.symbols.values() if home is not None else ():
            if symbol.kind == "extension" and home is not None and _leads_to_redacted(symbol, home):
                message = f"the option {symbol.full!r} of {statement.path!r} has an enum with debug_redact"
                faults.add("OPTION_REDACTED", statement.path, message, statement.place)
                break


def _leads_to_redacted(symbol: ProtoSymbol, home: ProtoSchema) -> bool:
    """Whether an extension holds an enum with values to be redacted, itself or in the messages inside."""
    assert isinstance(symbol.node, Field)
    waiting = [(symbol.node, symbol.scope, home)]
    visited: set[str] = set()
    while waiting:
        field, scope, file = waiting.pop()
        type_symbol = file.resolve(scope, field.type)
        if type_symbol is None or type_symbol.full in visited:
            continue
        visited.add(type_symbol.full)
        if isinstance(type_symbol.node, Enum) and any(_is_redacted(value) for value in type_symbol.node.values):
            return True
        if isinstance(type_symbol.node, Message):
            type_file = file.files.get(type_symbol.path, file)
            waiting += ((inner, type_symbol.full, type_file) for inner in type_symbol.node.all_fields)
    return False


def _is_redacted(value: EnumValue) -> bool:
    return any(one.name == ("debug_redact",) and one.value == IdentifierValue("true") for one in value.options)

"""Advice about Protobuf schemas; a registration is held to a lint that its policy names, and `treaty lint` reports those of `lint_settings`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from treaty.core.finding import Diagnostic
from treaty.core.limits import FAULTS
from treaty.formats.protobuf.elements import NamedDefinition, Node, list_definitions
from treaty.formats.protobuf.linker.features import read_features
from treaty.formats.protobuf.model import (
    Enum,
    Field,
    Message,
    OneOf,
    ProtoOption,
    ProtoSchema,
    RpcMethod,
    SourceLocation,
)
from treaty.formats.protobuf.validation.options import is_unknown
from treaty.formats.rule import LintRule

Advice = Iterable[tuple[NamedDefinition, str]]
"""What stands there."""

_PASCAL = re.compile(r"[A-Z][A-Za-z0-9]*")
_SNAKE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_UPPER = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*")
_PACKAGE = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

SMALL = 15
"""The highest number whose tag takes one byte."""
HIGH = 19_000
"""Where the numbers begin that Protobuf keeps for itself."""


def _make_finder(
    rule: str, expected: str, find: Callable[[ProtoSchema], Advice]
) -> Callable[[ProtoSchema], tuple[Diagnostic, ...]]:
    def faults(schema: ProtoSchema) -> tuple[Diagnostic, ...]:
        diagnostics: list[Diagnostic] = []
        for definition, message in find(schema):
            place = definition.node.place
            diagnostics.append(
                Diagnostic(rule, definition.full, message, expected, place.line, place.column if place.line else 0)
            )
            if len(diagnostics) == FAULTS:
                break
        return tuple(diagnostics)

    return faults


def _of_file(
    rule: str, expected: str, says: Callable[[ProtoSchema], str]
) -> Callable[[ProtoSchema], tuple[Diagnostic, ...]]:
    """A lint about the file as a whole."""

    def faults(schema: ProtoSchema) -> tuple[Diagnostic, ...]:
        message = says(schema)
        return (Diagnostic(rule, schema.file.package, message, expected),) if message else ()

    return faults


def _find_undocumented(*kinds: str) -> Callable[[ProtoSchema], Advice]:
    def find(schema: ProtoSchema) -> Advice:
        for definition in list_definitions(schema):
            if definition.kind in kinds and not isinstance(definition.node, OneOf) and not definition.node.doc.strip():
                yield definition, f"the {definition.kind} {definition.node.name!r} has no comment"

    return find


def _find_other_style(pattern: re.Pattern[str], *kinds: str) -> Callable[[ProtoSchema], Advice]:
    def find(schema: ProtoSchema) -> Advice:
        for definition in list_definitions(schema):
            if definition.kind in kinds and not _fits(pattern, definition.node):
                yield definition, f"the {definition.kind} {definition.node.name!r}"

    return find


def _fits(pattern: re.Pattern[str], node: Node) -> bool:
    return pattern.fullmatch(node.name) is not None or (isinstance(node, Field) and node.group is not None)


def _zero(schema: ProtoSchema) -> Advice:
    for definition in list_definitions(schema):
        if isinstance(definition.node, Enum):
            zero = next((value for value in definition.node.values if value.number == 0), None)
            if zero is None or not zero.name.endswith("_UNSPECIFIED"):
                yield definition, f"zero is {zero.name!r}" if zero else f"the enum {definition.node.name!r} has no zero"


def _find_unprefixed(schema: ProtoSchema) -> Advice:
    for definition in list_definitions(schema):
        if isinstance(definition.node, Enum):
            prefix = f"{_HUMP.sub('_', definition.node.name).upper()}_"
            scope = definition.full.rpartition(".")[0]
            for value in definition.node.values:
                if not value.name.startswith(prefix):
                    full = f"{scope}.{value.name}" if scope else value.name
                    yield NamedDefinition(full, value), f"the value {value.name!r} does not begin with {prefix!r}"


def _high(schema: ProtoSchema) -> Advice:
    for definition in list_definitions(schema):
        if isinstance(definition.node, Field) and definition.node.number >= HIGH:
            yield definition, f"the number {definition.node.number}"


def _find_required(schema: ProtoSchema) -> Advice:
    for definition in list_definitions(schema):
        if isinstance(definition.node, Field):
            legacy = read_features(definition.node.options).get("field_presence") == "LEGACY_REQUIRED"
            if definition.node.label == "required" or legacy:
                yield definition, f"the field {definition.node.name!r} is required"


def _groups(schema: ProtoSchema) -> Advice:
    for definition in list_definitions(schema):
        if isinstance(definition.node, Field) and definition.node.group is not None:
            yield definition, f"the group {definition.node.type!r}"


def _find_wasted_numbers(schema: ProtoSchema) -> Advice:
    """Messages whose fields would all fit into one byte and don't."""
    for definition in list_definitions(schema):
        if isinstance(definition.node, Message):
            numbers = {field.number for field in definition.node.all_fields}
            reserved = {
                number
                for statement in definition.node.reserved
                for span in statement.ranges
                for number in range(span.start, min(span.end, SMALL) + 1)
            }
            free = SMALL - len({n for n in numbers | reserved if n <= SMALL})
            large = sorted(n for n in numbers if n > SMALL)
            if large and free:
                first = next(n for n in range(1, SMALL + 1) if n not in numbers | reserved)
                yield definition, f"{len(large)} fields have numbers from {large[0]} on, and {first} is free"


def _find_unused_imports(schema: ProtoSchema) -> tuple[Diagnostic, ...]:
    """Imports of which nothing is used: no type, no extended message, no option."""
    used = {schema.visible[full].path for full in _names(schema) if full in schema.visible}
    faults = [
        Diagnostic(
            "IMPORT_UNUSED",
            statement.path,
            f"{statement.path!r} is imported and not used",
            "imports that are used",
            *_line_and_column(statement.place),
        )
        for statement in schema.file.imports
        if statement.kind == ""
        and statement.path in schema.imports
        and used.isdisjoint(_list_offered_paths(schema.imports[statement.path]))
    ]
    return tuple(faults[:FAULTS])


def _list_offered_paths(home: ProtoSchema) -> set[str]:
    """Paths of the files whose names an import brings: its own, and those that it imports publicly."""
    paths: set[str] = set()
    waiting = [home]
    while waiting:
        file = waiting.pop()
        if file.path not in paths:
            paths.add(file.path)
            waiting += (
                file.imports[statement.path]
                for statement in file.file.imports
                if statement.kind == "public" and statement.path in file.imports
            )
    return paths


def _line_and_column(place: SourceLocation) -> tuple[int, int]:
    return (place.line, place.column) if place.line else (0, 0)


def _names(schema: ProtoSchema) -> Iterator[str]:
    """Full names that a file uses."""
    written: list[tuple[str, str]] = [(schema.file.package, one.extendee) for one in schema.file.extends]
    options = list(schema.file.options)
    for definition in list_definitions(schema):
        scope = definition.full.rpartition(".")[0]
        options += definition.node.options
        match definition.node:
            case Field():
                written.append((scope, definition.node.type))
            case RpcMethod():
                written += ((scope, definition.node.takes), (scope, definition.node.returns))
            case Message():
                written += ((definition.full, extend.extendee) for extend in definition.node.extends)
                options += (option for extension in definition.node.extensions for option in extension.options)
    for scope, name in written:
        symbol = schema.resolve(scope, name)
        if symbol is not None:
            yield symbol.full
    last = {part[1:-1].rpartition(".")[2] for option in options for part in option.name if part.startswith("(")}
    yield from (
        full
        for full, symbol in schema.visible.items()
        if symbol.kind == "extension" and full.rpartition(".")[2] in last
    )


def _unknown_options(schema: ProtoSchema) -> tuple[Diagnostic, ...]:
    """Custom options that no imported file defines; what they mean no reader of the file knows."""
    faults = [
        Diagnostic(
            "CUSTOM_OPTION_UNKNOWN",
            full,
            f"no imported file defines the option {'.'.join(option.name)}"[:200],
            "an import of the file that defines the option",
            *_line_and_column(option.place),
        )
        for full, options in _options(schema)
        for option in options
        if is_unknown(schema, option, full)
    ]
    return tuple(faults[:FAULTS])


def _options(schema: ProtoSchema) -> Iterator[tuple[str, Iterable[ProtoOption]]]:
    """The options of each definition, by its full name."""
    yield "", schema.file.options
    for definition in list_definitions(schema):
        yield definition.full, definition.node.options
        if isinstance(definition.node, Message):
            yield from ((definition.full, statement.options) for statement in definition.node.extensions)


def _no_package(schema: ProtoSchema) -> str:
    return "" if schema.file.package else "the file has no package"


def _package_style(schema: ProtoSchema) -> str:
    package = schema.file.package
    return f"the package {package!r}" if package and not _PACKAGE.fullmatch(package) else ""


def _no_syntax(schema: ProtoSchema) -> str:
    return "" if schema.file.syntax or schema.file.edition else "the file names neither syntax nor edition"


_Find = Callable[[ProtoSchema], Advice]
_ROWS: tuple[tuple[str, str, str, _Find], ...] = (
    (
        "DOC_MISSING",
        "Messages, enums, services and methods have a comment.",
        "a comment directly above it",
        _find_undocumented("message", "enum", "service", "method"),
    ),
    ("FIELD_DOC_MISSING", "Fields have a comment.", "a comment directly above it", _find_undocumented("field")),
    (
        "TYPE_NAME_STYLE",
        "Messages, enums, services and methods have names in PascalCase.",
        "a name like OrderLine",
        _find_other_style(_PASCAL, "message", "enum", "service", "method"),
    ),
    (
        "FIELD_NAME_STYLE",
        "Fields and oneofs have names in lower_snake_case.",
        "a name like order_line",
        _find_other_style(_SNAKE, "field", "oneof"),
    ),
    (
        "ENUM_VALUE_STYLE",
        "Values of enums have names in UPPER_SNAKE_CASE.",
        "a name like ORDER_OPEN",
        _find_other_style(_UPPER, "value"),
    ),
    (
        "ENUM_ZERO_UNSPECIFIED",
        "The value 0 of an enum says that nothing was said.",
        "a value 0 whose name ends with _UNSPECIFIED",
        _zero,
    ),
    (
        "ENUM_VALUE_PREFIX",
        "Values begin with the name of their enum, because they stand beside it and not inside.",
        "a name that begins with the enum's in UPPER_SNAKE_CASE",
        _find_unprefixed,
    ),
    (
        "FIELD_NUMBER_RESERVED_RANGE",
        "Numbers of fields stay below 19000, where those that Protobuf keeps for itself begin.",
        "a number below 19000",
        _high,
    ),
    ("REQUIRED_USED", "No field is required: that can never be undone.", "an optional field", _find_required),
    ("GROUP_USED", "No field is a group, which newer syntaxes do not have.", "a message of its own", _groups),
    (
        "FIELD_NUMBERS_WASTED",
        "Fields use the numbers 1 to 15, whose tags take one byte, before they use larger ones.",
        "the free numbers up to 15 for new fields, or reserved if they were used once",
        _find_wasted_numbers,
    ),
)

_LINTS: tuple[LintRule[ProtoSchema], ...] = (
    *(LintRule(id_, purpose, _make_finder(id_, expected, find)) for id_, purpose, expected, find in _ROWS),
    LintRule(
        "PACKAGE_MISSING",
        "A file has a package, so that its names are unique.",
        _of_file("PACKAGE_MISSING", "a package statement", _no_package),
    ),
    LintRule(
        "PACKAGE_STYLE",
        "A package has parts in lower_snake_case.",
        _of_file("PACKAGE_STYLE", "a name like acme.orders", _package_style),
    ),
    LintRule(
        "SYNTAX_MISSING",
        "A file says which syntax or edition it is written in; without a word it is proto2.",
        _of_file("SYNTAX_MISSING", 'a statement like syntax = "proto3"', _no_syntax),
    ),
    LintRule("IMPORT_UNUSED", "A file uses what it imports.", _find_unused_imports),
    LintRule(
        "CUSTOM_OPTION_UNKNOWN",
        "A file imports what defines its custom options; others are kept as they were written, and not checked.",
        _unknown_options,
    ),
)

LINTS: Mapping[str, LintRule[ProtoSchema]] = {lint.id: lint for lint in _LINTS}
"""All lints by their ids."""

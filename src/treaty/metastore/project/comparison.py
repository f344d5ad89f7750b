"""What a statement of a project says beside what the metastore has: both as printed statements, compared line by line."""

from collections.abc import Iterator
from dataclasses import replace
from difflib import SequenceMatcher

from treaty.core.column_types import print_column_type
from treaty.core.messages.metastore.sources import CreateSource
from treaty.core.messages.registration import Register
from treaty.core.names import Subject
from treaty.core.registry import Exchange
from treaty.core.schema import Pairs
from treaty.core.sources import SchemaPin, Source, SourcePart, StoredType
from treaty.metastore.columns.sides import SUBJECT_PROPERTIES
from treaty.metastore.definitions import DEFINED, connector_of, define_source, place_of, source_column
from treaty.metastore.execution.source_printer import print_source, properties_of, statement_of
from treaty.metastore.project.order import side_subject
from treaty.metastore.sql.printer import print_statement
from treaty.metastore.sql.properties import LABEL, PROPERTIES
from treaty.metastore.sql.statements import CreateSourceStatement, CreateTypeStatement

SIDES = ("key", "value")


def with_label(statement: CreateSourceStatement, label: str) -> CreateSourceStatement:
    """Return a statement whose source has a label, unless it names one itself."""
    if not label or statement.property(LABEL):
        return statement
    return replace(statement, properties=(*statement.properties, (LABEL, label)))


def with_type_label(statement: CreateTypeStatement, label: str) -> CreateTypeStatement:
    """Return a statement whose type has a label, unless it names one itself."""
    return replace(statement, label=statement.label or label)


def find_new_print(
    statement: CreateSourceStatement, text: str, row: Source | None
) -> Exchange[tuple[str, CreateSource | None, tuple[str, ...]]]:
    """Return how the source of a statement would be printed, the command that makes it so, and notes of it.

    What the statement leaves to a schema is as the row has it: later versions of the subject change no source. Without a
    command the print is that of the row, or the source has a query, which a planner has to plan. Raises what is wrong with the statement,
    and `NotFound` for a type or schema that is missing.
    """
    if statement.body:
        return print_statement(complete_statement(statement, row)), None, ()
    if row is not None and row.query is None and is_unchanged(statement, row):
        return print_source(row), None, ()
    request, notes = yield from define_source(statement if row is None else pin_sides(statement, row), text)
    return print_source(row_of(request)), request, notes


def complete_statement(statement: CreateSourceStatement, row: Source | None) -> CreateSourceStatement:
    """Return a statement as its row would print it, with what the row has and the statement leaves to defaults."""
    properties = dict(statement.properties)
    if row is not None and (row.query is not None or not statement.body):
        properties = {name: text for name, text in properties_of(row) if name in DEFINED} | properties
    columns = () if statement.body else statement.columns
    return replace(
        statement, properties=tuple(sorted(properties.items())), columns=columns, or_replace=False, if_not_exists=False
    )


def print_planned_query(statement: CreateSourceStatement, planned: Source) -> str:
    """Return a statement with a query as the source will be printed that a planner has planned: with its topic and formats."""
    complete = replace(statement, properties=properties_of(planned))
    return print_statement(complete_statement(complete, None))


def is_unchanged(statement: CreateSourceStatement, row: Source) -> bool:
    """Whether a statement without a query says what the row has, without a look at any schema."""
    parts = [_part_says(statement, row, side) for side in SIDES]
    declared = [source_column(column) for column in statement.columns]
    columns = [
        column
        for side in (*SIDES, "header")
        for column in (declared if _is_declared(statement, side) else row.columns)
        if column.role == side
    ]
    described = replace(
        row, name=statement.name, kind=statement.kind, comment=statement.comment, columns=tuple(columns),
        connector=connector_of(statement), cluster=statement.property("CLUSTER", "main"), place=place_of(statement),
        timestamp=statement.property("TIMESTAMP"), properties=kept_properties(statement),
    )  # fmt: skip
    return all(parts) and described == row


def kept_properties(statement: CreateSourceStatement) -> Pairs:
    """Return the properties of a statement that its row keeps as they are."""
    return tuple(sorted((name, text) for name, text in statement.properties if name not in DEFINED))


def _is_declared(statement: CreateSourceStatement, side: str) -> bool:
    roles = {"headers", "header"} if side == "header" else {side}
    return side == "header" or any(column.role in roles for column in statement.columns)


def _part_says(statement: CreateSourceStatement, row: Source, side: str) -> bool:
    """Whether a statement says of a key or a value what the row has: format, framing, subject, and the schema in it."""
    part: SourcePart | None = row.key if side == "key" else row.value
    word = side.upper()
    naming = (f"{word}_FORMAT", f"{word}_SCHEMA_ID", SUBJECT_PROPERTIES["key" if side == "key" else "value"])
    named = [name for name in naming if statement.property(name)]
    if part is None:
        return not named and not any(column.role == side for column in statement.columns)
    if part.format != statement.property(f"{word}_FORMAT", part.format):
        return False
    if part.full_name != statement.property(f"{word}_SCHEMA_FULL_NAME"):
        return False
    if part.pin is None:
        return part.format == "KAFKA" and _is_declared(statement, side)
    pin = part.pin
    return (
        part.framing == statement.property("FRAMING", "prefix")
        and Subject(pin.context, pin.subject) == side_subject(statement, side)
        and statement.property(f"{word}_SCHEMA_ID", str(pin.schema_id)) == str(pin.schema_id)
    )


def list_other_schemas(statement: CreateSourceStatement, row: Source | None) -> tuple[str, ...]:
    """Return the lines of the schema ids that a statement names and that its source is not bound to; columns may be the same."""
    parts = () if row is None or statement.body else ((row.key, "KEY"), (row.value, "VALUE"))
    lines: list[str] = []
    for part, word in parts:
        name = f"{word}_SCHEMA_ID"
        own, named = "" if part is None or part.pin is None else str(part.pin.schema_id), statement.property(name)
        if own and named and own != named:
            lines += (f"- {name} = '{own}'", f"+ {name} = '{named}'")
    return tuple(lines)


def pin_sides(statement: CreateSourceStatement, row: Source) -> CreateSourceStatement:
    """Return a statement that names the schemas which its source is bound to, where it names none itself.

    One with a query is as it is: its schemas are made of the columns that come out.
    """
    if statement.body:
        return statement
    properties = dict(statement.properties)
    for side, part in zip(SIDES, (row.key, row.value), strict=True):
        name = f"{side.upper()}_SCHEMA_ID"
        if part is None or part.pin is None or name in properties or _is_declared(statement, side):
            continue
        if Subject(part.pin.context, part.pin.subject) == side_subject(statement, side):
            properties[name] = str(part.pin.schema_id)
    return replace(statement, properties=tuple(properties.items()))


def row_of(request: CreateSource) -> Source:
    """Return the row that a command would make, as far as prints show it."""
    defined = request.definition
    return Source(
        defined.kind, defined.name, defined.statement, defined.columns, 0,
        _pin_registered(defined.key, request.key_schema), _pin_registered(defined.value, request.value_schema),
        defined.connector, defined.cluster, defined.place, defined.timestamp, defined.properties, defined.comment,
    )  # fmt: skip


def _pin_registered(part: SourcePart | None, schema: Register | None) -> SourcePart | None:
    if part is None or schema is None:
        return part
    return replace(part, pin=SchemaPin(schema.subject.context, schema.subject.name, 0, 0, 0))


def is_same_query(statement: CreateSourceStatement, row: Source) -> bool:
    """Whether a statement with a query says what the row has: kind, name, comment, body, and every property that it names."""
    if row.query is None or not statement.body:
        return False
    stored = statement_of(row)
    properties = dict(stored.properties)
    stated = (statement.name, statement.kind, statement.comment, statement.body, statement.final)
    return (
        stated == (stored.name, stored.kind, stored.comment, stored.body, stored.final)
        and kept_properties(statement) == row.properties
        and all(properties.get(name) == text for name, text in statement.properties if name in DEFINED)
    )


def find_property_changes(statement: CreateSourceStatement, row: Source) -> Pairs:
    """Return the properties that ALTER … SET has to change where a statement with a query differs in nothing else; else none."""
    if not is_same_query(replace(statement, properties=_with_kept(statement, row.properties)), row):
        return ()
    old, new = dict(row.properties), dict(kept_properties(statement))
    changes = tuple(
        (name, new.get(name, "")) for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)
    )
    return changes if all(PROPERTIES[name].alterable and text for name, text in changes) else ()


def _with_kept(statement: CreateSourceStatement, kept_properties: Pairs) -> Pairs:
    return (*((name, text) for name, text in statement.properties if name in DEFINED), *kept_properties)


def print_type_statement(statement: CreateTypeStatement) -> str:
    """Return a type as the metastore prints it."""
    return print_statement(replace(statement, if_not_exists=False))


def is_same_type(statement: CreateTypeStatement, row: StoredType) -> bool:
    """Whether a statement says what the row of a type has. A label is given when a type is created, and is no difference later."""
    stated = (statement.name, print_column_type(statement.type), statement.comment)
    return stated == (row.name, row.definition, row.comment)


def list_differences(old: str, new: str) -> tuple[str, ...]:
    """Return the lines of two prints: those of the old one alone begin with ``-``, of the new one alone with ``+``, of both with
    a blank.
    """
    return tuple(_walk_differences(old.splitlines(), new.splitlines()))


def _walk_differences(old: list[str], new: list[str]) -> Iterator[str]:
    for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (f"  {line}" for line in old[first:last])
            continue
        yield from (f"- {line}" for line in old[first:last])
        yield from (f"+ {line}" for line in new[start:end])

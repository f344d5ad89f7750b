"""CREATE as a request: what a statement says of a source, with columns from schemas and schemas from columns."""

from collections.abc import Mapping
from dataclasses import replace

from treaty.core.column_types import ColumnTypeError, SqlType, list_type_names, print_column_type
from treaty.core.handlers.metastore.names import source_exists
from treaty.core.messages.metastore.sources import (
    CreateSource,
    DescribeSource,
    ExpectedSource,
    SourceDefinition,
    SourceStored,
)
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.refusals import Invalid, NotFound, SubjectNotFound
from treaty.core.registry import Exchange, request_answer
from treaty.core.schema import Pairs
from treaty.core.sources import BACKFILL, CASCADE, EMPTY, QueryPlan, Source, SourceColumn, SourcePart
from treaty.core.state.columns import Column
from treaty.metastore.columns.from_schema import Side
from treaty.metastore.columns.sides import (
    HEADER_TYPES,
    SUBJECT_PROPERTIES,
    SettledSide,
    SideRequest,
    choose_key_format,
    refuse_bad_headers,
    refuse_shared_names,
    settle_side,
)
from treaty.metastore.columns.source_refresh import pin_version, read_user_types
from treaty.metastore.columns.sql_types import print_sql_type, read_sql_type
from treaty.metastore.sql.properties import NONE
from treaty.metastore.sql.statements import CreateSourceStatement
from treaty.metastore.sql.values import HeadColumn

DEFINED = frozenset((
    "CONNECTOR", "KAFKA_TOPIC", "PATH", "CLUSTER", "TIMESTAMP", "KEY_FORMAT", "VALUE_FORMAT", "FRAMING", "SUBJECT", "KEY_SUBJECT",
    "KEY_SCHEMA_ID", "VALUE_SCHEMA_ID", "KEY_SCHEMA_FULL_NAME", "VALUE_SCHEMA_FULL_NAME", "ON_CHANGE",
))  # fmt: skip
"""Properties that are members of a source, or of the request that creates it; the others are kept as they are."""
TABLES = frozenset(("delta", "iceberg"))
"""Connectors of lake tables, whose rows are columns and no records."""
ON_CHANGE = {"refuse": "", "empty": EMPTY, "backfill": BACKFILL, "cascade": CASCADE}
"""By value of the property, what a CREATE OR REPLACE asks for."""
WORDS = {"true": True, "false": False}


def create_source(
    statement: CreateSourceStatement, text: str, *, dry_run: bool = False, expected: ExpectedSource | None = None
) -> Exchange[tuple[SourceStored, tuple[str, ...]]]:
    """Create what a statement without a query says; returns the answer with notes about what the schema does not keep.

    IF NOT EXISTS is decided before anything else is read, and a name that is taken is reported before what else is wrong.
    """
    existing = yield from find_existing(statement)
    if existing is not None:
        return existing, ()
    try:
        return (yield from _create(statement, text, dry_run=dry_run, expected=expected))
    except Invalid as refused:
        if refused.reason.rule == "COMMAND_ID_USED":
            raise
        source = None if statement.or_replace else (yield from _find_source(statement.name))
        if source is None:
            raise
        raise source_exists(statement.name, source) from None


def find_existing(statement: CreateSourceStatement) -> Exchange[SourceStored | None]:
    """Return the answer of CREATE … IF NOT EXISTS where the source exists; None for all other statements."""
    existing = (yield from _find_source(statement.name)) if statement.if_not_exists else None
    if existing is None:
        return None
    note = (f"There is a {existing.kind.lower()} {existing.name} already",)
    return SourceStored(existing.name, existing.kind, existing.generation, existing.revision, notes=note)


def _create(
    statement: CreateSourceStatement, text: str, *, dry_run: bool, expected: ExpectedSource | None
) -> Exchange[tuple[SourceStored, tuple[str, ...]]]:
    request, notes = yield from define_source(statement, text)
    if dry_run or expected is not None:
        request = replace(request, expected=expected, dry_run=dry_run)
    return (yield from request_answer(request)), notes


def define_source(
    statement: CreateSourceStatement, text: str, plan: QueryPlan | None = None
) -> Exchange[tuple[CreateSource, tuple[str, ...]]]:
    """Return the command of a CREATE, with notes about what the schema does not keep; nothing is written. `plan` is that of its query.

    Raises `Invalid` for what does not go together, and `NotFound` for a type or a schema that is missing.
    """
    refuse_misplaced(statement)
    types = yield from read_user_types(column.type for column in statement.columns)
    sides = yield from _settle_sides(statement, types.expanded)
    definition = _definition(statement, text, sides, plan)
    request = CreateSource(
        definition, _registration(sides.get("key")), _registration(sides.get("value")),
        if_not_exists=statement.if_not_exists, replace=statement.or_replace, types=types.expected,
        on_change=ON_CHANGE[statement.property("ON_CHANGE", "refuse")],
    )  # fmt: skip
    return request, tuple(note for side in sides.values() for note in side.notes)


def planned_request(
    statement: CreateSourceStatement, text: str, columns: tuple[HeadColumn, ...], plan: QueryPlan
) -> Exchange[tuple[CreateSource, tuple[str, ...]]]:
    """Return the request that creates a source by a query with these columns, and notes about what the schema does not keep.

    Without a topic it stands over the one of its name, and without a format of its values it has that of the first source that
    it reads.
    """
    properties = dict(statement.properties)
    if connector_of(statement) == "kafka":
        properties.setdefault("KAFKA_TOPIC", statement.name)
    if connector_of(statement) not in TABLES and "VALUE_FORMAT" not in properties:
        upstream = (yield from _find_source(plan.reads[0].source)) if plan.reads else None
        properties["VALUE_FORMAT"] = "AVRO" if upstream is None or upstream.value is None else upstream.value.format
    planned = replace(statement, columns=columns, properties=tuple(properties.items()))
    return (yield from define_source(planned, text, plan))


def _find_source(name: str) -> Exchange[Source | None]:
    try:
        return (yield from request_answer(DescribeSource(name))).source
    except NotFound:
        return None


def _registration(side: SettledSide | None) -> Register | None:
    if side is None or side.draft is None or side.subject is None:
        return None
    return Register(side.subject, side.draft)


def _settle_sides(statement: CreateSourceStatement, types: Mapping[str, SqlType]) -> Exchange[dict[Side, SettledSide]]:
    """Return key and value as the source has them; none of a lake table, whose rows are columns."""
    if connector_of(statement) in TABLES:
        return {}
    value = yield from _settle_value(statement, types)
    key = side_request(statement, "key", types)
    named = key.schema_id >= 0 or bool(statement.property("KEY_SUBJECT"))
    format_ = choose_key_format(key.format, key.columns, names_schema=named)
    settled = yield from settle_side(key if format_ == key.format else replace(key, format=format_))
    headers = [(head_column(one, types), one.role) for one in statement.columns if one.role in HEADER_TYPES]
    refuse_bad_headers(headers)
    refuse_shared_names(settled, value, [column for column, _ in headers])
    return {"key": settled, "value": value}


def _settle_value(statement: CreateSourceStatement, types: Mapping[str, SqlType]) -> Exchange[SettledSide]:
    request = side_request(statement, "value", types)
    try:
        return (yield from settle_side(request))
    except SubjectNotFound as missing:
        if not statement.columns:
            raise
        raise SubjectNotFound.of(
            "SUBJECT_NOT_FOUND",
            f"{statement.name} has no column of the value: those that it has belong to keys and headers. So the columns of the value come from a schema, "
            f"and {request.subject} has none here",
            subject=str(request.subject),
            allowed=f"a column that is no key and no header; or a schema in {request.subject}",
        ) from missing


def side_request(statement: CreateSourceStatement, side: Side, types: Mapping[str, SqlType]) -> SideRequest:
    """Return what a statement says of the key or the value. Raises `Invalid` for a column whose type can't be."""
    word = side.upper()
    subject = statement.property(SUBJECT_PROPERTIES[side]) or f"{place_of(statement)}-{side}"
    declared = [column for column in statement.columns if column.role == side]
    return SideRequest(
        side,
        statement.property(f"{word}_FORMAT"),
        subject_of(subject),
        tuple(head_column(column, types) for column in declared),
        int(statement.property(f"{word}_SCHEMA_ID", "-1")),
        statement.property(f"{word}_SCHEMA_FULL_NAME"),
        WORDS.get(statement.property("WRAP_SINGLE_VALUE")) if side == "value" else None,
        statement.property(f"{word}_PROTOBUF_NULLABLE_REPRESENTATION") == "WRAPPER",
        statement.property("FRAMING", "prefix"),
    )


def head_column(column: HeadColumn, types: Mapping[str, SqlType]) -> Column:
    """Return a column of a head with its type written out. Raises `Invalid` for a type that no column has."""
    try:
        kind = read_sql_type(column.type, types.get)
    except ColumnTypeError as error:
        raise Invalid.of(error.code, error.message, path="/sql", new=column.name, allowed=error.hint) from None
    return Column(column.name, kind, column.nullable, column.comment)


# ------------------------------------------------------------------------------------------------------ definitions


def connector_of(statement: CreateSourceStatement) -> str:
    """Return where the data of a source is: what the statement says, files with a PATH, else kafka."""
    return statement.property("CONNECTOR") or (
        "files" if statement.property("PATH") and not statement.property("KAFKA_TOPIC") else "kafka"
    )


NOT_OF: Mapping[str, tuple[str, ...]] = {
    "kafka": ("PATH",),
    "files": ("KAFKA_TOPIC", "PARTITIONS", "REPLICAS", "RETENTION_MS", "CLEANUP_POLICY"),
    **dict.fromkeys(TABLES, ("KAFKA_TOPIC", "PARTITIONS", "REPLICAS", "RETENTION_MS", "CLEANUP_POLICY", "KEY_FORMAT", "VALUE_FORMAT",
                             "FRAMING", "SUBJECT", "KEY_SUBJECT", "KEY_SCHEMA_ID", "VALUE_SCHEMA_ID")),
}  # fmt: skip
"""By connector, properties that have no meaning for it."""


def refuse_misplaced(statement: CreateSourceStatement) -> None:
    """Raise `Invalid` for a property that the connector of a source does not take."""
    connector = connector_of(statement)
    for name, value in statement.properties:
        if name in NOT_OF.get(connector, ()):
            raise Invalid.of(
                "PROPERTY_MISPLACED", f"{name} has no meaning for CONNECTOR = '{connector}'", path="/sql", new=value,
                allowed="leave it out, or say another CONNECTOR",
            )  # fmt: skip


def place_of(statement: CreateSourceStatement) -> str:
    """Return the topic or path of a source. Raises `Invalid` where the statement has none."""
    name = "KAFKA_TOPIC" if connector_of(statement) == "kafka" else "PATH"
    place = statement.property(name)
    if not place:
        message = f"{statement.name} stands nowhere: WITH has no {name}"
        raise Invalid.of("PROPERTY_MISSING", message, path="/sql", allowed=f"WITH ({name} = '…')")
    return place


def _definition(
    statement: CreateSourceStatement, text: str, sides: Mapping[Side, SettledSide], plan: QueryPlan | None
) -> SourceDefinition:
    return SourceDefinition(
        statement.name,
        statement.kind or "STREAM",
        text,
        tuple(_columns(statement, sides)),
        part_of(sides.get("key")),
        part_of(sides.get("value")),
        connector_of(statement),
        cluster_of(statement),
        place_of(statement),
        statement.property("TIMESTAMP"),
        own_properties(statement),
        statement.comment,
        query=plan,
        bad_rows=has_bad_rows(statement),
    )


def cluster_of(statement: CreateSourceStatement) -> str:
    """Return the name of the cluster of a source."""
    return statement.property("CLUSTER", "main")


def has_bad_rows(statement: CreateSourceStatement) -> bool:
    """Return whether a source has a stream of its bad rows."""
    return statement.property("BAD_ROWS") == "true"


def own_properties(statement: CreateSourceStatement) -> Pairs:
    """Return the properties that the row of a source keeps as they are, sorted."""
    return tuple(sorted((name, word) for name, word in statement.properties if name not in DEFINED))


def part_of(side: SettledSide | None) -> SourcePart | None:
    """Return the key or value of a source; None for keys that are not read."""
    if side is None or side.format == NONE:
        return None
    return SourcePart(side.format, side.framing, None if side.pin is None else pin_version(side.pin), side.full_name)


def _columns(statement: CreateSourceStatement, sides: Mapping[Side, SettledSide]) -> list[SourceColumn]:
    """Return the columns of the row: keys, values, headers; declared ones keep the names of user types."""
    if not sides:
        return [source_column(column) for column in statement.columns]
    named = {
        (column.role, column.name): print_column_type(column.type)
        for column in statement.columns
        if list_type_names(column.type)
    }
    columns = []
    for side, settled in sides.items():
        for column in settled.columns:
            kind = named.get((side, column.name)) or print_sql_type(column.type)
            columns.append(SourceColumn(column.name, kind, column.nullable, side, comment=column.doc))
    return columns + [source_column(column) for column in statement.columns if column.role in HEADER_TYPES]


def source_column(column: HeadColumn) -> SourceColumn:
    """Return a column of a head as a column of a row."""
    role = "header" if column.role == "headers" else column.role
    kind = print_column_type(column.type)
    return SourceColumn(column.name, kind, column.nullable, role, column.header, column.comment)

"""REFRESH SCHEMA of a source: its subjects are read again, and the effect on readers is known before anything is written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from treaty.client.references import resolve_schema
from treaty.core.column_types import SqlType, list_type_names, lower_name, parse_column_type
from treaty.core.column_types.leaf_paths import list_leaves, print_path
from treaty.core.handlers.metastore.names import refuse_other_kind
from treaty.core.messages.metastore.sources import (
    ChangeSource,
    DescribeSource,
    DescribeType,
    ExpectedSource,
    ExpectedType,
    SourceColumnChange,
    SourceStored,
)
from treaty.core.messages.schemas import GetSchema
from treaty.core.names import Subject
from treaty.core.refusals import NotFound, NotPermitted, TypeNotFound
from treaty.core.registry import Exchange, request_answer
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.sources import TABLE_KIND, SchemaPin, Source, SourceColumn, SourcePart
from treaty.core.state.columns import Column
from treaty.metastore.columns.declared import refresh_columns
from treaty.metastore.columns.from_schema import Side
from treaty.metastore.columns.pins import PinnedVersion, find_pinned_version
from treaty.metastore.columns.plan_functions import list_renames
from treaty.metastore.columns.refresh import ColumnRead, RefreshEffect, find_refresh_effect, refuse_refresh
from treaty.metastore.columns.sides import SideRequest, settle_pinned
from treaty.metastore.columns.sql_types import print_sql_type, read_sql_type
from treaty.metastore.sql.diagnostics import MissingTypesError

COLUMN_PROPERTIES = ("DEDUPLICATE",)
"""Properties that name columns, with commas between."""


@dataclass(frozen=True, slots=True)
class SourceRefresh:
    """What a refresh of a source comes to: its effect, and the change that makes it; None where the schemas are the same."""

    source: Source
    effect: RefreshEffect
    change: ChangeSource | None = None


@dataclass(frozen=True, slots=True)
class UserTypes:
    """User types that columns name: what they are, by key, and the generations that this holds for."""

    expanded: Mapping[str, SqlType]
    expected: tuple[ExpectedType, ...] = ()


@dataclass(frozen=True, slots=True)
class _RefreshedSide:
    """A half of a record with its columns before and after; `part` has the new pin, and is None where it is the old one."""

    old: tuple[Column, ...] = ()
    new: tuple[Column, ...] = ()
    part: SourcePart | None = None
    renames: tuple[tuple[str, str], ...] = ()


def refresh_source(
    name: str, statement: str = "", *, dry_run: bool = False, kind: str = ""
) -> Exchange[tuple[SourceStored, RefreshEffect]]:
    """Refresh the schemas of a source, which is of this `kind` unless it is empty, or with `dry_run` say what would come of it.

    Raises `SourceUsed` where readers would lose a column or its type, with their names, before anything is written; and the
    refusals of `ChangeSource`, which knows also of readers that the caller may not see.
    """
    planned = yield from plan_refresh(name)
    refuse_other_kind(planned.source, kind, "ALTER")
    refuse_refresh(planned.source.name, planned.effect)
    source = planned.source
    if planned.change is None:
        return SourceStored(source.name, source.kind, source.generation, source.revision), planned.effect
    change = replace(planned.change, statement=statement, dry_run=dry_run)
    return (yield from request_answer(change)), planned.effect


def plan_refresh(name: str) -> Exchange[SourceRefresh]:
    """The effect of a refresh and the change that makes it; nothing is written.

    Raises `NotFound` for a source or a subject that is not there, `NotPermitted` for a source with a query, whose columns are
    those of the query, and `Unavailable`.
    """
    described = yield from request_answer(DescribeSource(name))
    source = described.source
    if source.query is not None:
        raise NotPermitted.of(
            "QUERY_COLUMNS",
            f"the columns of {source.name} are those of its query: replace the query by CREATE OR REPLACE",
            path=source.name,
            allowed="a source without a query",
        )
    types = yield from read_user_types(parse_column_type(column.type) for column in source.columns)
    key = yield from _refresh_side("key", source.key, source.columns, types.expanded)
    value = yield from _refresh_side("value", source.value, source.columns, types.expanded)
    reads = [*_list_own_reads(source)]
    for reader in described.readers:
        reads += yield from _list_reads(reader, source)
    effect = find_refresh_effect((*key.old, *value.old), (*key.new, *value.new), reads, (*key.renames, *value.renames))
    if key.part is None and value.part is None:
        return SourceRefresh(source, effect)
    columns = (*_list_changes("key", key, source.columns), *_list_changes("value", value, source.columns))
    expected = ExpectedSource(source.generation, source.revision)
    change = ChangeSource(
        source.name, columns=columns, key=key.part, value=value.part, expected=expected, types=types.expected
    )
    return SourceRefresh(source, effect, change)


def _refresh_side(
    side: Side, part: SourcePart | None, columns: Iterable[SourceColumn], types: Mapping[str, SqlType]
) -> Exchange[_RefreshedSide]:
    side_columns = [column for column in columns if column.role == side]
    old = tuple(
        Column(column.name, read_sql_type(parse_column_type(column.type), types.get), column.nullable, column.comment)
        for column in side_columns
    )
    if part is None or part.pin is None:
        return _RefreshedSide(old, old)
    subject = Subject(part.pin.context, part.pin.subject)
    latest = yield from find_pinned_version(subject)
    pin = pin_version(latest)
    if pin == part.pin:
        return _RefreshedSide(old, old)
    request = SideRequest(side, part.format, subject, full_name=part.full_name, framing=part.framing)
    decoded = settle_pinned(request, latest).decoded
    new_columns = decoded.columns
    if decoded.whole and len(old) == 1:
        new_columns = (replace(new_columns[0], name=old[0].name),)
    new = refresh_columns(old, new_columns, part.format)
    message = part.full_name if part.format == "PROTOBUF" else ""
    before = yield from _find_schema(part.pin)
    renames = list_renames(before, latest.schema, message=message) if before else ()
    return _RefreshedSide(old, new, replace(part, pin=pin), renames)


def pin_version(version: PinnedVersion) -> SchemaPin:
    """The pin of a version as rows have it."""
    return SchemaPin(*version.subject, version.generation, version.ordinal, version.schema_id)


def _find_schema(pin: SchemaPin) -> Exchange[ResolvedSchema | None]:
    """The schema that a pin means, also where its version is deleted; None where the registry has it no more."""
    within = Subject(pin.context, "")
    try:
        schema = yield from request_answer(GetSchema(pin.schema_id, within))
        return (
            yield from resolve_schema(schema.format, schema.text, schema.references, within, imports=schema.imports)
        )
    except NotFound:
        return None


def read_user_types(kinds: Iterable[SqlType]) -> Exchange[UserTypes]:
    """The user types that types of columns name, written out. Raises `MissingTypesError` for all that are not there.

    Types inside of them stay while they are used, so that the generations of the named ones say all.
    """
    expanded: dict[str, SqlType] = {}
    expected: list[ExpectedType] = []
    missing: list[TypeNotFound] = []
    for name in dict.fromkeys(name for kind in kinds for name in list_type_names(kind)):
        try:
            described = yield from request_answer(DescribeType(name))
        except TypeNotFound as error:
            missing.append(error)
            continue
        expanded[name] = parse_column_type(described.expanded)
        expected.append(ExpectedType(name, described.type.generation))
    if missing:
        raise MissingTypesError.by(missing)
    return UserTypes(expanded, tuple(expected))


def _list_reads(reader: str, source: Source) -> Exchange[list[ColumnRead]]:
    """What a reader reads of the source; a read without leaf columns reads them all."""
    try:
        reading = (yield from request_answer(DescribeSource(reader))).source
    except NotFound:  # dropped meanwhile
        return []
    every = [(one.name, parse_column_type(one.type)) for one in source.columns]
    paths: list[str] = []
    for read in reading.query.plan.reads if reading.query else ():
        if lower_name(read.source) == lower_name(source.name):
            paths += read.columns or (print_path(path) for path, _ in list_leaves(every))
    return [ColumnRead(reading.name, path) for path in dict.fromkeys(paths)]


def _list_own_reads(source: Source) -> Iterable[ColumnRead]:
    """The columns that the source itself needs: the key of a table, and those that properties name."""
    if source.kind == TABLE_KIND:
        yield from (ColumnRead("PRIMARY KEY", print_path((one.name,))) for one in source.columns if one.role == "key")
    if source.timestamp:
        yield ColumnRead("TIMESTAMP", print_path((source.timestamp,)))
    names = {one.name.lower(): one.name for one in source.columns}
    for word, text in source.properties:
        listed = (
            text.split(",") if word in COLUMN_PROPERTIES else [text.split(" DELAY ")[0]] if word == "WATERMARK" else []
        )
        for name in (one.strip().strip("`") for one in listed):
            if name.lower() in names:
                yield ColumnRead(word, print_path((names[name.lower()],)))


def _list_changes(
    side: Side, refreshed: _RefreshedSide, columns: Iterable[SourceColumn]
) -> Iterable[SourceColumnChange]:
    """The changes of a row's columns: those that go, that are other ones now, and that are new."""
    rows = {one.name.lower(): one for one in columns if one.role == side}
    before = {one.name.lower(): one for one in refreshed.old}
    after = {one.name.lower() for one in refreshed.new}
    for name, row in rows.items():
        if name not in after:
            yield SourceColumnChange("drop", row)
    for column in refreshed.new:
        old_row = rows.get(column.name.lower())
        if old_row is None:
            yield SourceColumnChange("add", _make_row(column, side))
        elif column != before[column.name.lower()]:
            same_type = print_sql_type(column.type) == print_sql_type(before[column.name.lower()].type)
            new_row = _make_row(column, side)
            yield SourceColumnChange("set", replace(new_row, type=old_row.type) if same_type else new_row)


def _make_row(column: Column, side: Side) -> SourceColumn:
    return SourceColumn(column.name, print_sql_type(column.type), column.nullable, side, comment=column.doc)

"""Queries that are run once into a source, beside the one that fills it: INSERT INTO ONCE."""

from dataclasses import replace

from treaty.core import limits
from treaty.core.column_types.tokens import print_name
from treaty.core.command import Command, Decision
from treaty.core.handlers.metastore.checkpoints.table_columns import print_bare_type
from treaty.core.handlers.metastore.names import find_source, refuse_other_kind
from treaty.core.handlers.metastore.places.topics import expired_rows
from treaty.core.handlers.metastore.replacement import refuse_cycle
from treaty.core.messages.metastore.sources import CreateSource, SourceDefinition, SourceStored
from treaty.core.refusals import InvalidSource, NotPermitted, TooLarge
from treaty.core.schema_engine import SchemaEngine
from treaty.core.sources import OnceQuery, Source, SourceColumn
from treaty.core.state.metastore.keys import key_of_name
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.rows import make_row
from treaty.core.state.view import View


def add_once_query(view: View, command: Command[CreateSource], engine: SchemaEngine) -> Decision[SourceStored]:
    """Want a query to be run once into a source that a query fills; what it reads was looked at before."""
    request = command.request
    defined, plan = request.definition, request.definition.query
    key, stored = find_source(view, defined.name, "/definition/name")
    refuse_other_kind(stored, defined.kind, "INSERT INTO ONCE")
    if stored.query is None or plan is None:
        raise InvalidSource.of(
            "QUERY_NONE", f"{stored.name if plan else 'INSERT INTO ONCE'} has no query", path="/definition/query", new=defined.name,
            allowed="a stream or table that was made with AS, and a query; records come into others by INSERT INTO … VALUES",
        )  # fmt: skip
    _refuse_other_definition(stored, request)
    refuse_cycle(view, key, replace(stored, query=replace(stored.query, plan=plan)))
    _refuse_other_columns(stored, defined)
    once = OnceQuery(view.sequence + 1, plan, defined.statement, command.principal, command.time)
    former = stored.once if len(stored.once) < limits.ONCE_QUERIES else _list_recent(stored, command.time)
    source = replace(
        stored, once=(once, *former), revision=stored.revision + 1, changed_by=command.principal, changed=command.time
    )
    rows = (make_row(SOURCE, key, source), *expired_rows(view, command.time))
    answer = SourceStored(source.name, source.kind, source.generation, source.revision, replaced=True)
    return Decision(rows, answer, rehearsal=request.dry_run)


def _refuse_other_definition(stored: Source, request: CreateSource) -> None:
    """Raise `InvalidSource` where the request says more of the source than the query and its columns, or other things than its row."""
    defined = request.definition
    alone = CreateSource(
        SourceDefinition(
            defined.name, stored.kind, defined.statement, defined.columns, stored.key, stored.value, stored.connector, stored.cluster,
            stored.place, query=defined.query,
        ),
        replace=True, once=True,
    )  # fmt: skip
    if replace(request, expected=None, dry_run=False, types=(), if_not_exists=False) != alone:
        raise InvalidSource.of(
            "ONCE_ALONE", f"A query that is run once changes nothing of {stored.name}", path="/once", new=defined.name,
            allowed="its kind, connector, cluster, place, key and value as they are, and nothing else",
        )  # fmt: skip


def _refuse_other_columns(stored: Source, defined: SourceDefinition) -> None:
    """Raise `NotPermitted` for a column that the source has not, or has as another type, and where one that it needs is missing.

    Comments of fields are no part of a type here.
    """
    own_columns = {key_of_name(column.name): column for column in stored.columns}
    names = {key_of_name(column.name) for column in defined.columns}
    for place, column in enumerate(defined.columns):
        own = own_columns.get(key_of_name(column.name))
        query_type, own_type = print_bare_type(column), "" if own is None else print_bare_type(own)
        if query_type != own_type:
            raise NotPermitted.of(
                "ONCE_COLUMNS",
                f"The query gives {column.name} {query_type}, and {stored.name} has {'no such column' if own is None else f'{own.name} {own_type}'}",
                path=f"/definition/columns/{place}",
                old="" if own is None else f"{own.name} {own_type}",
                new=f"{column.name} {query_type}",
                allowed=f"columns of {stored.name}: {', '.join(column.name for column in stored.columns)[:1000]}" if own is None else
                _describe_type_remedy(column, own),
            )  # fmt: skip
    for own in stored.columns:
        if key_of_name(own.name) not in names and (own.role == "key" or not own.nullable):
            raise NotPermitted.of(
                "ONCE_COLUMNS",
                f"The query gives no {own.name}, which {'is the key' if own.role == 'key' else 'is never null'} in {stored.name}",
                path="/definition/columns",
                old=f"{own.name} {own.type}",
                allowed=f"{print_name(own.name)} in SELECT; columns that may be null can be left out",
            )


def _describe_type_remedy(column: SourceColumn, own: SourceColumn) -> str:
    """Return what gives a column the type that the source has: a cast, which can't make a field one that is never null."""
    own_type = print_bare_type(own)
    is_other = print_bare_type(column, not_null=False) != print_bare_type(own, not_null=False)
    if is_other or "NOT NULL" not in own_type:
        return f"CAST({print_name(column.name)} AS {own_type}) AS {print_name(own.name)}"
    return f"fields of {own.name} that are never null where {own.name} has NOT NULL, and may be null elsewhere, such as named_struct('a', coalesce(x.a, 0))"


def _list_recent(stored: Source, time: int) -> tuple[OnceQuery, ...]:
    """Return those of the queries that were asked for within DROP_GRACE. Raises `TooLarge` where that are too many."""
    recent = tuple(query for query in stored.once if query.time + limits.DROP_GRACE >= time)
    if len(recent) >= limits.ONCE_QUERIES:
        days = limits.DROP_GRACE // 86_400_000
        raise TooLarge.of(
            "ONCE_QUERIES", f"{stored.name} has too many queries that are run once", path="/once", new=str(len(recent) + 1),
            allowed=f"{limits.ONCE_QUERIES} within {days} days (DROP_GRACE); one query with UNION ALL",
        )  # fmt: skip
    return recent

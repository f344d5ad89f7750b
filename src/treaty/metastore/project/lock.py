"""The lock of a project: columns and ids of the sources, schemas and types that it takes from a registry, as a readable text."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from treaty.core.column_types import list_type_names
from treaty.core.messages.metastore.sources import DescribeSource, DescribeType
from treaty.core.refusals import NotFound
from treaty.core.registry import Exchange, request_answer
from treaty.core.sources import Source, SourceColumn
from treaty.core.state.columns import Column
from treaty.core.state.metastore.indexes import pins_of
from treaty.metastore.columns.from_schema import Side
from treaty.metastore.columns.sides import SettledSide, settle_side
from treaty.metastore.columns.sql_types import print_sql_type
from treaty.metastore.definitions import side_request
from treaty.metastore.execution.source_printer import print_columns
from treaty.metastore.project.comparison import pin_sides
from treaty.metastore.project.objects import ObjectKey, ProjectObject, SqlProject
from treaty.metastore.project.order import (
    list_inferred_sides,
    list_read_names,
    list_written_subjects,
    side_subject,
    types_of,
)
from treaty.metastore.sql.statements import CreateSourceStatement

LOCK_FILE = "treaty.lock"
LOCK_FORMAT = 1
READ_PROPERTIES = ("DEDUPLICATE", "MATERIALIZE", "WATERMARK")
"""Properties of a source that queries over it depend on."""
HEAD = """# Written by `treaty lock`: what the files beside it take from the registry. Keep it under version control;
# `treaty compile` checks the files against it without a registry."""


@dataclass(frozen=True, slots=True)
class LockedObject:
    """A source, subject or type as it was: its facts by name, and its columns as SQL has them.

    `table` is source, subject or type. A subject that is read as a key, or by a message inside, has that in its name.
    """

    table: str
    name: str
    facts: tuple[tuple[str, str | int], ...]
    columns: tuple[str, ...] = ()

    def fact(self, name: str) -> str | int:
        """Return a fact; the empty text without it."""
        return dict(self.facts).get(name, "")


@dataclass(frozen=True, slots=True)
class ProjectLock:
    """What a project takes from a registry, by table and name."""

    objects: tuple[LockedObject, ...] = ()

    def find(self, table: str, name: str) -> LockedObject | None:
        """Return an object; None without it."""
        return next((one for one in self.objects if (one.table, one.name) == (table, name)), None)


@dataclass(frozen=True, slots=True)
class MovedObject:
    """What is another one now than the lock says: what it was, and what it is; one of the two is empty where it was not there."""

    table: str
    name: str
    old: str
    new: str

    def __str__(self) -> str:
        was, now = self.old or "not in the lock", self.new or "not there"
        return f"{self.table} {self.name} has moved: it was {was}, and is {now}"


# --------------------------------------------------------------------------------------------------- what is needed


def list_outer_sources(project: SqlProject) -> list[str]:
    """Return the keys of sources that bodies of a project read and that no file creates."""
    keys = {described.key for described in project.objects}
    names = {name for _, statement in list_sources_of(project) for name in list_read_names(statement.body)}
    return sorted(name for name in names if ("source", name) not in keys)


def list_outer_types(project: SqlProject) -> list[str]:
    """Return the keys of types that a project names and that no file creates."""
    keys: set[ObjectKey] = {described.key for described in project.objects}
    names = {name for one in project.objects for kind in types_of(one.statement) for name in list_type_names(kind)}
    return sorted(name for name in names if ("type", name) not in keys)


def list_outer_sides(project: SqlProject) -> Iterator[tuple[ProjectObject, CreateSourceStatement, Side]]:
    """Yield which sources take their key or value from a schema that no file of the project makes."""
    written = {subject for _, statement in list_sources_of(project) for subject in list_written_subjects(statement)}
    for described, statement in list_sources_of(project):
        for side in list_inferred_sides(statement):
            if side_subject(statement, side) not in written:
                yield described, statement, side


def list_sources_of(project: SqlProject) -> Iterator[tuple[ProjectObject, CreateSourceStatement]]:
    """Yield the sources of a project with their statements."""
    for described in project.objects:
        if isinstance(described.statement, CreateSourceStatement):
            yield described, described.statement


def name_locked_subject(statement: CreateSourceStatement, side: Side) -> str:
    """Return the name of a subject in the lock: with how it is read, where that is not as a whole value."""
    message = statement.property(f"{side.upper()}_SCHEMA_FULL_NAME")
    return f"{side_subject(statement, side)}{' as key' * (side == 'key')}{f' message {message}' * bool(message)}"


# ------------------------------------------------------------------------------------------------------------ read


def read_lock(project: SqlProject) -> Exchange[ProjectLock]:
    """Return the lock of a project over a registry. What is missing there is left out; `treaty compile` names it.

    A source that is there is locked to the schemas that it is bound to, another one to the latest version of its subject.
    """
    objects: dict[tuple[str, str], LockedObject] = {}
    created = {key for table, key in (described.key for described in project.objects) if table == "type"}
    types = set(list_outer_types(project))
    for name in list_outer_sources(project):
        row = yield from _find_source(name)
        if row is not None:
            objects["source", name] = _lock_source(name, row)
            types |= {*row.types} - created
    for name in sorted(types):
        try:
            stored_type = yield from request_answer(DescribeType(name))
        except NotFound:
            continue
        facts = (("generation", stored_type.type.generation), ("definition", stored_type.expanded))
        objects["type", name] = LockedObject("type", name, facts)
    for described, statement, side in list_outer_sides(project):
        row = yield from _find_source(described.name)
        pinned = statement if row is None else pin_sides(statement, row)
        name = name_locked_subject(statement, side)
        try:
            settled = yield from settle_side(replace(side_request(pinned, side, {}), format=""))
        except NotFound:
            continue
        objects["subject", name] = _lock_subject(name, settled)
    return ProjectLock(tuple(objects[key] for key in sorted(objects)))


def _find_source(name: str) -> Exchange[Source | None]:
    try:
        return (yield from request_answer(DescribeSource(name))).source
    except NotFound:
        return None


def _lock_source(name: str, row: Source) -> LockedObject:
    pins = [f"{pin.subject} id {pin.schema_id}" for pin in pins_of(row)]
    facts: tuple[tuple[str, str | int], ...] = (
        ("kind", row.kind),
        ("generation", row.generation),
        ("revision", row.revision),
        ("pins", ", ".join(pins)),
    )
    facts += tuple((name.lower(), text) for name, text in row.properties if name in READ_PROPERTIES)
    return LockedObject("source", name, facts, print_columns(row.kind, row.columns))


def _lock_subject(name: str, settled: SettledSide) -> LockedObject:
    assert settled.pin is not None, "a side that comes from a schema has a pin"
    pin = settled.pin
    facts = (
        ("format", settled.format), ("version", pin.number), ("schema_id", pin.schema_id), ("generation", pin.generation),
        ("ordinal", pin.ordinal), ("guid", pin.guid),
    )  # fmt: skip
    columns = (schema_column(column, settled.side) for column in settled.columns)
    return LockedObject("subject", name, facts, print_columns("STREAM", columns))


def schema_column(column: Column, side: Side) -> SourceColumn:
    """Return a column of a schema as a source that takes its columns from the schema has it."""
    return SourceColumn(column.name, print_sql_type(column.type), column.nullable, side, comment=column.doc)


# ------------------------------------------------------------------------------------------------------------ text


def print_lock(lock: ProjectLock) -> str:
    """Return the text of a lock, in TOML: objects by table and name, one line a fact and a column."""
    lines = [HEAD, f"format = {LOCK_FORMAT}"]
    for locked in lock.objects:
        lines += ["", f"[{locked.table}.{_quote(locked.name)}]"]
        lines += [f"{name} = {_quote(fact) if isinstance(fact, str) else fact}" for name, fact in locked.facts]
        if locked.columns:
            lines += ["columns = [", *(f"  {_quote(column)}," for column in locked.columns), "]"]
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def compare_locks(old: ProjectLock, new: ProjectLock) -> tuple[MovedObject, ...]:
    """Return what is another one in the new lock, by table and name."""
    keys = sorted({(one.table, one.name) for one in (*old.objects, *new.objects)})
    pairs = [(key, old.find(*key), new.find(*key)) for key in keys]
    return tuple(MovedObject(*key, _describe(was), _describe(now)) for key, was, now in pairs if was != now)


def _describe(locked: LockedObject | None) -> str:
    """Return the ids of an object, and its columns: what another one would differ in."""
    if locked is None:
        return ""
    names: Sequence[str] = ("version", "schema_id", "generation", "revision", "definition")
    facts: Iterable[str] = (
        f"{name.replace('_', ' ')} {locked.fact(name)}" for name in names if locked.fact(name) != ""
    )
    columns = f" ({', '.join(locked.columns)})" if locked.columns else ""
    return f"{', '.join(facts)}{columns}"

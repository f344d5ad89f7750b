"""The columns of a project's sources, found without a registry: what a body is typed over."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from treaty.core.column_types import ColumnTypeError, SqlType, expand_type, parse_column_type, print_column_type
from treaty.core.sources import SourceColumn
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.definitions import source_column
from treaty.metastore.project.lock import READ_PROPERTIES, LockedObject, ProjectLock
from treaty.metastore.project.order import list_inferred_sides, list_written_subjects, side_subject
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import CreateSourceStatement


@dataclass(frozen=True, slots=True)
class TypedSource:
    """A source with its columns, their types written out, and the properties that queries over it depend on, by name."""

    name: str
    kind: str
    columns: tuple[SourceColumn, ...]
    properties: Mapping[str, str]


PlanBody = Callable[[CreateSourceStatement, tuple[TypedSource, ...]], tuple[SourceColumn, ...]]
"""Returns the columns that come out of the query of a statement over these sources. Raises a `Refusal`."""


class TypedSources:
    """The sources of a project and of its lock that have columns so far, by key."""

    def __init__(self, lock: ProjectLock, types: Mapping[str, SqlType]) -> None:
        self._types = types
        self._written: dict[object, TypedSource] = {}
        self.found: dict[str, TypedSource] = {}
        for locked in lock.objects:
            if locked.table == "source":
                kind = str(locked.fact("kind"))
                properties = {name: str(locked.fact(name.lower())) for name in READ_PROPERTIES}
                with suppress(ColumnTypeError):  # a lock without a type of its source: who wrote it knows
                    columns = self._write_out(list_locked_columns(kind, locked))
                    self.found[locked.name] = TypedSource(locked.name, kind, columns, properties)

    def add(self, statement: CreateSourceStatement, columns: Iterable[SourceColumn]) -> None:
        """Note the columns of a source; what it takes from a source before it comes to them."""
        side_columns = [column for side in list_inferred_sides(statement) for column in self._take(statement, side)]
        properties = {name: statement.property(name) for name in READ_PROPERTIES}
        everything = self._write_out([*columns, *side_columns])
        typed = TypedSource(statement.name, statement.kind, everything, properties)
        self.found[key_of_name(statement.name)] = typed
        for subject in list_written_subjects(statement):
            self._written.setdefault(subject, typed)

    def _take(self, statement: CreateSourceStatement, side: str) -> Iterable[SourceColumn]:
        writer = self._written.get(side_subject(statement, side))
        return () if writer is None else (column for column in writer.columns if column.role == side)

    def _write_out(self, columns: Iterable[SourceColumn]) -> tuple[SourceColumn, ...]:
        kinds = ((column, expand_type(parse_column_type(column.type), self._types.get)) for column in columns)
        return tuple(replace(column, type=print_column_type(kind)) for column, kind in kinds)


def list_locked_columns(kind: str, locked: LockedObject) -> tuple[SourceColumn, ...]:
    """Return the columns that a lock has of a source or a subject; none where they are no columns of a CREATE."""
    listed = ",\n".join(locked.columns)
    statements = parse_script(f"CREATE {kind} x (\n{listed}\n) WITH (KAFKA_TOPIC = 'x')").statements
    if not locked.columns or len(statements) != 1:
        return ()
    (parsed,) = statements
    assert isinstance(parsed.value, CreateSourceStatement)
    return tuple(map(source_column, parsed.value.columns))

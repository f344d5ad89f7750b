"""The columns of the sources of a test, as the files of its folder and the lock beside them say."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from treaty.core.column_types import ColumnTypeError, SqlType, expand_type, parse_column_type, print_column_type
from treaty.core.sources import SourceColumn
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.definitions import source_column
from treaty.metastore.project.compilation import list_locked_types
from treaty.metastore.project.lock import ProjectLock, name_locked_subject
from treaty.metastore.project.order import list_inferred_sides
from treaty.metastore.project.typed_sources import TypedSource, TypedSources, list_locked_columns
from treaty.metastore.sql.statements import CreateSourceStatement
from treaty.spark.planner.questions import ReadableSource
from treaty.spark.sql_tests.files import CaseFolder, InvalidCaseError


class DeclaredSources:
    """Finds columns without a registry: in statements, and in a lock. Types of the files count before those of the lock."""

    def __init__(self, folder: CaseFolder) -> None:
        """Take a folder of tests."""
        self._lock: ProjectLock = folder.lock
        self._types: Mapping[str, SqlType] = {**dict(list_locked_types(folder.lock)), **folder.types}
        self._locked = TypedSources(folder.lock, self._types).found

    def list_columns(self, statement: CreateSourceStatement) -> tuple[SourceColumn, ...]:
        """Return the columns that a statement declares, and those of its locked schemas. Raises `InvalidCaseError` for a type that is nowhere."""
        try:
            return tuple(
                replace(column, type=print_column_type(expand_type(parse_column_type(column.type), self._types.get)))
                for column in self._list_all(statement)
            )
        except ColumnTypeError as error:
            message = f"{statement.name}: {error}: CREATE TYPE in a file of this folder, or `treaty lock` where the registry has it"
            raise InvalidCaseError(message) from error

    def _list_all(self, statement: CreateSourceStatement) -> Iterator[SourceColumn]:
        yield from map(source_column, statement.columns)
        for side in list_inferred_sides(statement):
            locked = self._lock.find("subject", name_locked_subject(statement, side))
            if locked is not None:
                yield from (replace(one, role=side) for one in list_locked_columns("STREAM", locked))

    def find(self, name: str) -> ReadableSource | None:
        """Return a source that no file creates and the lock has; None without it."""
        locked = self._locked.get(key_of_name(name))
        return None if locked is None else _make_readable(locked)


def _make_readable(source: TypedSource) -> ReadableSource:
    deduplicate = tuple(name.strip().strip("`") for name in source.properties["DEDUPLICATE"].split(",") if name.strip())
    return ReadableSource(
        source.name, source.kind, 0, source.columns, source.properties["WATERMARK"], deduplicate, has_records=True
    )

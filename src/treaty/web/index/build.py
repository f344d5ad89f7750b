"""Building an index from all rows, for a process that does nothing else.

Rows are read in the order in which they lie, and names of fields are sorted before they are put: an update reads the rows of
one subject after the other, and looks for each name. In the end the pieces of each full-text table become one: whether a schema
fits a broad search is then found out twenty times as fast. The file is built beside its place, and renamed.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

from treaty.core.names import Subject
from treaty.core.state.state_tables import SCHEMA, SUBJECT, VERSION, VERSION_BY_NUMBER, NumberEntry
from treaty.core.state.table import K, Table, V
from treaty.core.state.view import Tables
from treaty.web.index.entries import as_indexed, text_to_read
from treaty.web.index.extraction import extract
from treaty.web.index.storage import GROWING, MANY, MANY_BYTES, create_index, pair_tokens, remove_index, set_full_text
from treaty.web.index.update import SHOWN, mark_of, put_recent_from, put_sources, put_stamp

READ = """CREATE TEMP TABLE row (context TEXT, schema INTEGER, subject INTEGER, number INTEGER, state TEXT)"""
VERSIONS = """INSERT INTO version SELECT schema.id, row.subject, row.number, row.state,
  row.state = 'live' AND row.number = latest.number
  FROM row JOIN schema ON schema.context = row.context AND schema.number = row.schema
  LEFT JOIN (SELECT subject, max(number) AS number FROM row WHERE state = 'live' GROUP BY subject) AS latest
  ON latest.subject = row.subject WHERE true ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING"""
TERMS = "CREATE VIRTUAL TABLE temp.term USING fts5vocab(main, posting, row)"
NAMES = """INSERT INTO part (name) SELECT term FROM temp.term
  WHERE term NOT GLOB '*|*' AND term NOT GLOB '[~#=]*'"""
NAMES_LIKE = "INSERT INTO part_like (rowid, name) SELECT id, name FROM part"
SUBJECTS_LIKE = "INSERT INTO subject_like (rowid, name) SELECT id, name FROM subject"


class ReadTables(Tables, Protocol):
    """Tables whose rows can be read one after the other."""

    def items(self, table: Table[K, V]) -> Iterator[tuple[K, V]]:
        """Return all keys of a table with what a search needs of their values, in no order."""
        ...


def build_index(path: Path, tables: ReadTables, progress: Callable[[int], None] = lambda count: None) -> int:
    """Build the index of tables that do not change meanwhile, and return the number of its schemas.

    Only one process may build at a time. `progress` hears how many schemas were read. Raises `OSError`; an index that was there then stays.
    """
    half = path.with_name(f"{path.name}.part")
    try:
        connection = create_index(half)
        try:
            connection.execute("BEGIN")
            count = _IndexBuild(connection, tables, progress).run()
            connection.commit()
        finally:
            connection.close()
        remove_index(path)
        half.replace(path)
    except sqlite3.Error as error:
        raise OSError(f"{half}: {error}") from error
    finally:
        remove_index(half)
    return count


class _IndexBuild:
    """One building of an index, in one transaction."""

    def __init__(self, connection: sqlite3.Connection, tables: ReadTables, progress: Callable[[int], None]) -> None:
        self._do = connection.execute
        self._put_all = connection.executemany
        self._connection = connection
        self._tables = tables
        self._progress = progress

    def run(self) -> int:
        """Put everything; return the number of schemas."""
        self._do(READ)
        numbers = self._put_subjects()
        self._put_all("INSERT INTO temp.row VALUES (?, ?, ?, ?, ?)", self._list_versions(numbers))
        count = self._put_schemas()
        self._do(VERSIONS)
        self._join_pieces("posting")
        for statement in (TERMS, NAMES, NAMES_LIKE, SUBJECTS_LIKE):
            self._do(statement)
        for table in ("part_like", "subject_like", "subject_pair"):
            self._join_pieces(table)
        set_full_text(self._connection, GROWING)
        put_sources(self._connection, self._tables)
        put_stamp(self._connection, self._tables.position)
        put_recent_from(self._connection, self._tables.position.sequence)
        return count

    def _join_pieces(self, table: str) -> None:
        """Make one piece of those in which a full-text table was written."""
        self._do(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608 (names of the module)

    def _put_subjects(self) -> dict[Subject, int]:
        """Put all subjects; return their numbers."""
        numbers: dict[Subject, int] = {}
        by_state = [_Entries(self._tables, state) for state in SHOWN]

        def rows() -> Iterator[tuple[Any, ...]]:
            values = dict(self._tables.items(SUBJECT))  # to look for each takes longer
            for number, subject in enumerate(sorted(values), 1):
                row = values.pop(subject)
                entries = [entry for entries in by_state for entry in entries.of(subject)]
                numbers[subject] = number
                yield number, *subject, row.private, row.origin, mark_of(row, entries)

        self._put_all(
            "INSERT INTO subject (id, context, name, private, origin, mark) VALUES (?, ?, ?, ?, ?, ?)", rows()
        )
        pairs = ((number, pair_tokens(subject.name)) for subject, number in numbers.items())
        self._put_all("INSERT INTO subject_pair (rowid, tokens) VALUES (?, ?)", pairs)
        return numbers

    def _list_versions(self, numbers: dict[Subject, int]) -> Iterator[tuple[Any, ...]]:
        """Yield the versions that are searched."""
        for key, version in self._tables.items(VERSION):
            number = numbers.get(Subject(key[0], key[1]))
            if number is not None and version.state in SHOWN:
                yield key.context, version.schema_id, number, version.number, version.state

    def _put_schemas(self) -> int:
        """Put all schemas, the oldest ones first; return their number."""
        count = 0
        for count, (key, row) in enumerate(self._tables.items(SCHEMA), 1):
            text = text_to_read(self._tables, key.context, row)
            if text is None:
                continue
            entry = as_indexed(row, extract(text))
            values = (count, *key, entry.format, entry.owner, entry.joined_names)
            self._do("INSERT INTO schema VALUES (?, ?, ?, ?, ?, ?)", values)
            self._do("INSERT INTO posting (rowid, tokens) VALUES (?, ?)", (count, entry.tokens))
            if entry.tags:
                self._put_all("INSERT INTO tag VALUES (?, ?)", ((count, tag) for tag in entry.tags))
            if count == MANY:
                set_full_text(self._connection, {"hashsize": MANY_BYTES})
            self._progress(count)
        return count


class _Entries:
    """Entries of versions in one state, asked for one subject after the other in their order."""

    def __init__(self, tables: Tables, state: str) -> None:
        walked: Iterable[NumberEntry] = tables.walk(VERSION_BY_NUMBER, (state,), (f"{state}\0",))
        self._groups = groupby(walked, lambda entry: Subject(entry[1], entry[2]))
        self._at: Subject | None = None
        self._entries: Iterator[NumberEntry] = iter(())
        self._advance()

    def _advance(self) -> None:
        self._at, self._entries = next(self._groups, (None, iter(())))

    def of(self, subject: Subject) -> list[NumberEntry]:
        """Return the entries of a subject."""
        while self._at is not None and self._at < subject:
            self._advance()
        return list(self._entries) if self._at == subject else []

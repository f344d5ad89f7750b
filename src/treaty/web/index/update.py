"""Bringing an index up to date with the tables of a node, in small steps.

What has not changed is not read again: of each subject the index keeps a mark of its versions, and a schema never changes.
Where the tables know which subjects have changed, only these are looked at.
"""

import sqlite3
from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

from treaty.core.handlers.versions import rows_of
from treaty.core.names import Subject
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.commit import Position
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.state_tables import SCHEMA, SUBJECT, VERSION, VERSION_BY_NUMBER, NumberEntry, SchemaKey
from treaty.core.state.values import SubjectValue
from treaty.core.state.view import ALL_KEYS, Tables, after, subject_span
from treaty.node.segment.layered import LayeredTables
from treaty.web.index.contents import SchemaContents
from treaty.web.index.entries import as_indexed, text_to_read
from treaty.web.index.extraction import extract
from treaty.web.index.storage import as_token, is_of_format, pair_tokens

PAGE = 200
"""Subjects that are looked at before the tables may change."""
FOLLOWED = 20_000
"""Subjects that an update looks at alone; where more have changed since the segment it looks at all."""
SHOWN = ("live", "soft")
"""States of versions that the index has."""
FOUND = "SELECT id, mark, private FROM subject WHERE context = ? AND name = ?"
LISTED = "SELECT context, name FROM subject WHERE (context, name) > (?, ?) ORDER BY context, name LIMIT ?"
RECENT = "SELECT context, name FROM recent JOIN subject ON subject.id = recent.subject LIMIT ?"


@dataclass(frozen=True, slots=True)
class ExtractionWork:
    """Work on one schema, which may be done on a thread."""

    schema: ResolvedSchema

    @property
    def size(self) -> int:
        """Characters of its text."""
        return len(self.schema.text)

    def do(self) -> SchemaContents:
        """Return what the schema says."""
        return extract(self.schema)


Steps = Generator[ExtractionWork, SchemaContents, None]
"""Yields work on one schema after the other, and is sent what came of it."""


class IndexUpdate:
    """One update of an index, in one transaction."""

    def __init__(
        self, connection: sqlite3.Connection, tables: Tables, changed: Collection[Subject] | None = None
    ) -> None:
        """Look at the subjects that have changed; at all of them where these are not known."""
        self._do = connection.execute
        self._connection = connection
        self._tables = tables
        self._changed = changed
        self._parts: set[str] = set()
        """Names of fields that the index has, as far as this update met them."""

    def run(self) -> Steps:
        """Bring the index to the position at which this begins; what comes later is for another update."""
        position = self._tables.position
        is_cleared = stamp_of(self._connection)[0] != position.identity.hex()
        if is_cleared:
            self._clear()
        if self._changed is None or is_cleared:
            yield from self._put_all()
        else:
            for subject in self._changed:
                yield from self._put_subject(subject)
                self._remove_if_gone(subject)
        put_sources(self._connection, self._tables)
        put_stamp(self._connection, position)
        self._connection.commit()

    def _put_all(self) -> Steps:
        for subject in self._subjects():
            yield from self._put_subject(subject)
        after_subject = ("", "")
        while True:  # some at a time, since the walk goes on after a pause
            page = self._do(LISTED, (*after_subject, PAGE)).fetchall()
            for context, name in page:
                self._remove_if_gone(Subject(context, name))
            if len(page) < PAGE:
                return
            after_subject = page[-1]

    def _clear(self) -> None:
        for table in ("subject", "schema", "version", "part", "source", "tag", "recent"):
            self._do(f"DELETE FROM {table}")  # noqa: S608 (names of the module)
        for table in ("posting", "subject_pair"):
            self._do(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")  # noqa: S608 (names of the module)
        for table in ("subject_like", "part_like"):
            self._do(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")  # noqa: S608
        self._do("DELETE FROM meta WHERE name = 'recent'")
        self._forget_readable()

    def _forget_readable(self) -> None:
        """Say that what is known of readable subjects no longer holds: a number may become that of another subject."""
        number = int(subjects_stamp(self._connection)) + 1
        self._do("INSERT OR REPLACE INTO meta VALUES ('subjects', ?)", (str(number),))

    def _subjects(self) -> Iterator[Subject]:
        low, high = ALL_KEYS
        while True:
            page = list(islice(self._tables.walk(SUBJECT, low, high), PAGE))
            yield from page
            if len(page) < PAGE:
                return
            low = after(page[-1])

    # ------------------------------------------------------------------------------------------------------ subjects

    def _put_subject(self, subject: Subject) -> Steps:
        spans = (subject_span(state, *subject) for state in SHOWN)
        entries = [entry for span in spans for entry in self._tables.walk(VERSION_BY_NUMBER, *span)]
        row = self._tables.get(SUBJECT, subject)
        if row is None:
            return
        mark = mark_of(row, entries)
        indexed = self._find_subject(subject)
        if indexed is not None and indexed[1] == mark:
            return
        number = self._name_subject(subject, row, mark)
        self._do("INSERT OR REPLACE INTO recent VALUES (?, ?)", (number, self._tables.position.sequence))
        self._do("DELETE FROM version WHERE subject = ?", (number,))
        versions = [(key, value) for key, value in rows_of(self._tables, iter(entries))]
        latest = max((value.number for _, value in versions if value.state == "live"), default=0)
        for key, value in versions:
            schema = yield from self._put_schema(key.context, value.schema_id)
            if schema is not None:
                is_latest = value.state == "live" and value.number == latest
                values = (schema, number, value.number, value.state, is_latest)
                self._do("INSERT OR REPLACE INTO version VALUES (?, ?, ?, ?, ?)", values)

    def _find_subject(self, subject: Subject) -> tuple[int, int, bool] | None:
        """Return the number of a subject in the index, its mark, and whether it is private there; None without it."""
        row: tuple[int, int, bool] | None = self._do(FOUND, subject).fetchone()
        return row

    def _name_subject(self, subject: Subject, row: SubjectValue, mark: int) -> int:
        """Put the row of a subject, and return its number."""
        indexed = self._find_subject(subject)
        if indexed is not None:
            if row.private != indexed[2]:
                self._forget_readable()
            self._do(
                "UPDATE subject SET private = ?, origin = ?, mark = ? WHERE id = ?",
                (row.private, row.origin, mark, indexed[0]),
            )
            return indexed[0]
        values = (*subject, row.private, row.origin, mark)
        inserted = self._do("INSERT INTO subject (context, name, private, origin, mark) VALUES (?, ?, ?, ?, ?)", values)
        number = int(inserted.lastrowid or 0)
        self._do("INSERT INTO subject_like (rowid, name) VALUES (?, ?)", (number, subject.name))
        self._do("INSERT INTO subject_pair (rowid, tokens) VALUES (?, ?)", (number, pair_tokens(subject.name)))
        return number

    def _remove_if_gone(self, subject: Subject) -> None:
        indexed = None if self._tables.has(SUBJECT, subject) else self._find_subject(subject)
        if indexed is None:
            return
        number = indexed[0]
        self._forget_readable()
        for query in ("version WHERE subject", "recent WHERE subject", "subject WHERE id"):
            self._do(f"DELETE FROM {query} = ?", (number,))  # noqa: S608 (names of the module)
        self._do("INSERT INTO subject_like (subject_like, rowid, name) VALUES ('delete', ?, ?)", (number, subject.name))
        values = (number, pair_tokens(subject.name))
        self._do("INSERT INTO subject_pair (subject_pair, rowid, tokens) VALUES ('delete', ?, ?)", values)

    # ------------------------------------------------------------------------------------------------------- schemas

    def _put_schema(self, context: str, schema_id: int) -> Generator[ExtractionWork, SchemaContents, int | None]:
        indexed = self._do("SELECT id FROM schema WHERE context = ? AND number = ?", (context, schema_id)).fetchone()
        if indexed is not None:
            return int(indexed[0])
        row = self._tables.get(SCHEMA, SchemaKey(context, schema_id))
        text = None if row is None else text_to_read(self._tables, context, row)
        if row is None or text is None:
            return None
        entry = as_indexed(row, (yield ExtractionWork(text)))
        inserted = self._do(
            "INSERT INTO schema (context, number, format, owner, names) VALUES (?, ?, ?, ?, ?)",
            (context, schema_id, entry.format, entry.owner, entry.joined_names),
        )
        number = int(inserted.lastrowid or 0)
        self._do("INSERT INTO posting (rowid, tokens) VALUES (?, ?)", (number, entry.tokens))
        for tag in entry.tags:
            self._do("INSERT OR IGNORE INTO tag VALUES (?, ?)", (number, tag))
        for name in entry.names - self._parts:
            self._parts.add(name)
            added = self._do("INSERT OR IGNORE INTO part (name) VALUES (?) RETURNING id", (name,)).fetchone()
            if added is not None:
                self._do("INSERT INTO part_like (rowid, name) VALUES (?, ?)", (added[0], name))
        return number


class ChangedSubjects:
    """The subjects that have changed since the segment on which tables stand, for one update of an index after the other."""

    def __init__(self, tables: LayeredTables) -> None:
        """Ask the tables, and the index."""
        self._tables = tables

    def find(self, connection: sqlite3.Connection) -> set[Subject] | None:
        """Return the subjects that may have changed since an index was brought up to date; None where that is not known.

        The tables don't name what came after the segment and is gone again: the index knows what was written into it since.
        """
        base = self._tables.base_sequence
        if base < 0 or stamp_of(connection)[1] < base or base < _read_recent_from(connection):
            return None
        connection.execute("DELETE FROM recent WHERE sequence <= ?", (base,))
        put_recent_from(connection, base)
        changed = self._tables.changed_keys(SUBJECT)
        changed |= {Subject(key.context, key.subject) for key in self._tables.changed_keys(VERSION)}
        changed |= {Subject(*row) for row in connection.execute(RECENT, (FOLLOWED + 1,))}
        return changed if len(changed) <= FOLLOWED else None


def mark_of(row: SubjectValue, entries: list[NumberEntry]) -> int:
    """Return what is another number once a subject or its versions have changed."""
    return crc32(repr((row.generation, row.private, row.origin, entries)).encode("utf-8", "backslashreplace"))


def put_sources(connection: sqlite3.Connection, tables: Tables) -> None:
    """Put all sources and queries in place of those that an index has."""
    connection.execute("DELETE FROM source")
    for key in list(tables.walk(SOURCE, *ALL_KEYS)):
        source = tables.get(SOURCE, key)
        if source is not None:
            kind = "source" if source.query is None else "query"
            columns = " ".join(as_token(column.name) for column in source.columns)
            connection.execute("INSERT INTO source VALUES (?, ?, ?, ?)", (key.name, source.name, kind, columns))


def put_stamp(connection: sqlite3.Connection, position: Position) -> None:
    """Say which position of a log an index is of."""
    values = [("identity", position.identity.hex()), ("sequence", str(position.sequence))]
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)


def put_recent_from(connection: sqlite3.Connection, sequence: int) -> None:
    """Say behind which sequence of the log an index names all subjects that were written into it; before, it may name none."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('recent', ?)", (str(sequence),))


def _read_recent_from(connection: sqlite3.Connection) -> int:
    """Return that sequence; -1 for an index that names all of them."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'recent'").fetchone()
    return int(row[0]) if row else -1


def subjects_stamp(connection: sqlite3.Connection) -> str:
    """Return what is another one once a number is that of another subject, or one becomes private or public."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'subjects'").fetchone()
    return row[0] if row else "0"


def stamp_of(connection: sqlite3.Connection) -> tuple[str, int]:
    """Return the identity of the log, in hex, and the sequence that an index is of; empty and -1 for a new one."""
    members: dict[str, Any] = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    return members.get("identity", ""), int(members.get("sequence", -1))


def count_schemas(path: Path, identity: bytes) -> int:
    """Return how many schemas of a log the index in a file has; 0 where it is not whole, or is of no use."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            log, sequence = stamp_of(connection)
            if not is_of_format(connection) or log != identity.hex() or sequence < 0:
                return 0
            return int(connection.execute("SELECT count(*) FROM schema").fetchone()[0])
    except sqlite3.Error:
        return 0

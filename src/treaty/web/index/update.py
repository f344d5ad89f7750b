"""Bringing an index up to date with the tables of a node, in small steps.

What has not changed is not read again: of each subject the index keeps a mark of its versions, and a schema never changes.
"""

import sqlite3
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any
from zlib import crc32

from treaty.core.handlers.drafts.schemas import resolve_schema
from treaty.core.handlers.versions import rows_of
from treaty.core.large_texts import LargeTextError
from treaty.core.names import Subject
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.commit import Position
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.state_tables import SCHEMA, SUBJECT, VERSION_BY_NUMBER, SchemaKey
from treaty.core.state.values import Schema, SubjectValue
from treaty.core.state.view import ALL_KEYS, Tables, after, subject_span
from treaty.web.index.extraction import SchemaContents, extract
from treaty.web.index.storage import as_token, posting_tokens

PAGE = 200
"""Subjects that are looked at before the tables may change."""
OWNER = "owner"
"""The property of the metadata that says who owns a schema."""
SHOWN = ("live", "soft")
"""States of versions that the index has."""


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

    def __init__(self, connection: sqlite3.Connection, tables: Tables) -> None:
        """Read what the index has."""
        self._do = connection.execute
        self._connection = connection
        self._tables = tables
        self._parts: set[str] = set()
        """Names of fields that the index has, as far as this update met them."""
        self._known = {
            Subject(context, name): (number, mark)
            for number, context, name, mark in self._do("SELECT id, context, name, mark FROM subject")
        }

    def run(self) -> Steps:
        """Bring the index to the position at which this begins; what comes later is for another update."""
        position = self._tables.position
        if stamp_of(self._connection)[0] != position.identity.hex():
            self._clear()
        seen: set[Subject] = set()
        for subject in self._subjects():
            seen.add(subject)
            yield from self._put_subject(subject)
        for gone in self._known.keys() - seen:
            self._remove(self._known[gone][0], gone)
        self._put_sources()
        self._stamp(position)
        self._connection.commit()

    def _clear(self) -> None:
        for table in ("subject", "schema", "version", "part", "source", "tag"):
            self._do(f"DELETE FROM {table}")  # noqa: S608 (names of the module)
        self._do("INSERT INTO posting (posting) VALUES ('delete-all')")
        for table in ("subject_like", "part_like"):
            self._do(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")  # noqa: S608
        self._known = {}
        self._forget_readable()

    def _forget_readable(self) -> None:
        """Say that what is known of readable subjects no longer holds: a number may become that of another subject."""
        number = int(subjects_stamp(self._connection)) + 1
        self._do("INSERT OR REPLACE INTO meta VALUES ('subjects', ?)", (str(number),))

    def _stamp(self, position: Position) -> None:
        values = [("identity", position.identity.hex()), ("sequence", str(position.sequence))]
        self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values)

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
        entries = [
            one for state in SHOWN for one in self._tables.walk(VERSION_BY_NUMBER, *subject_span(state, *subject))
        ]
        row = self._tables.get(SUBJECT, subject)
        if row is None:
            return
        mark = crc32(repr((row.generation, row.private, row.origin, entries)).encode("utf-8", "backslashreplace"))
        known = self._known.get(subject)
        if known is not None and known[1] == mark:
            return
        number = self._name_subject(subject, row, mark)
        self._do("DELETE FROM version WHERE subject = ?", (number,))
        versions = [(key, value) for key, value in rows_of(self._tables, iter(entries))]
        latest = max((value.number for _, value in versions if value.state == "live"), default=0)
        for key, value in versions:
            schema = yield from self._put_schema(key.context, value.schema_id)
            if schema is not None:
                is_latest = value.state == "live" and value.number == latest
                values = (schema, number, value.number, value.state, is_latest)
                self._do("INSERT OR REPLACE INTO version VALUES (?, ?, ?, ?, ?)", values)

    def _name_subject(self, subject: Subject, row: SubjectValue, mark: int) -> int:
        """Put the row of a subject, and return its number."""
        known = self._known.get(subject)
        if known is not None:
            if (row.private,) != self._do("SELECT private FROM subject WHERE id = ?", (known[0],)).fetchone():
                self._forget_readable()
            self._do(
                "UPDATE subject SET private = ?, origin = ?, mark = ? WHERE id = ?",
                (row.private, row.origin, mark, known[0]),
            )
            return int(known[0])
        values = (*subject, row.private, row.origin, mark)
        inserted = self._do("INSERT INTO subject (context, name, private, origin, mark) VALUES (?, ?, ?, ?, ?)", values)
        number = int(inserted.lastrowid or 0)
        self._do("INSERT INTO subject_like (rowid, name) VALUES (?, ?)", (number, subject.name))
        return number

    def _remove(self, number: int, subject: Subject) -> None:
        self._forget_readable()
        self._do("DELETE FROM version WHERE subject = ?", (number,))
        self._do("DELETE FROM subject WHERE id = ?", (number,))
        self._do("INSERT INTO subject_like (subject_like, rowid, name) VALUES ('delete', ?, ?)", (number, subject.name))

    # ------------------------------------------------------------------------------------------------------- schemas

    def _put_schema(self, context: str, schema_id: int) -> Generator[ExtractionWork, SchemaContents, int | None]:
        found = self._do("SELECT id FROM schema WHERE context = ? AND number = ?", (context, schema_id)).fetchone()
        if found is not None:
            return int(found[0])
        row = self._tables.get(SCHEMA, SchemaKey(context, schema_id))
        if row is None:
            return None
        try:
            meaning = resolve_schema(self._tables, context, row)
        except LargeTextError:
            return None
        contents = yield ExtractionWork(meaning)
        inserted = self._do(
            "INSERT INTO schema (context, number, format, owner) VALUES (?, ?, ?, ?)",
            (context, schema_id, row.format, _owner_of(row)),
        )
        number = int(inserted.lastrowid or 0)
        tokens, names = posting_tokens(contents.fields)
        self._do(
            "INSERT INTO posting (rowid, path, doc, tag) VALUES (?, ?, ?, ?)",
            (number, " ".join(tokens), contents.words, " ".join(_tag_tokens(row, contents))),
        )
        for tag in _tags_of(row, contents):
            self._do("INSERT OR IGNORE INTO tag VALUES (?, ?)", (number, tag))
        for name in names - self._parts:
            self._parts.add(name)
            added = self._do("INSERT OR IGNORE INTO part (name) VALUES (?) RETURNING id", (name,)).fetchone()
            if added is not None:
                self._do("INSERT INTO part_like (rowid, name) VALUES (?, ?)", (added[0], name))
        return number

    # ------------------------------------------------------------------------------------------------------- sources

    def _put_sources(self) -> None:
        self._do("DELETE FROM source")
        for key in list(self._tables.walk(SOURCE, *ALL_KEYS)):
            source = self._tables.get(SOURCE, key)
            if source is not None:
                kind = "source" if source.query is None else "query"
                columns = " ".join(as_token(one.name) for one in source.columns)
                self._do("INSERT INTO source VALUES (?, ?, ?, ?)", (key.name, source.name, kind, columns))


def _tags_of(row: Schema, contents: SchemaContents) -> Iterator[str]:
    """Tags inside the text and of the metadata."""
    yield from contents.tags
    if row.metadata is not None:
        yield from (tag for _, tags in row.metadata.tags for tag in tags)


def _owner_of(row: Schema) -> str:
    """The property owner of the metadata; empty without one, and where it is sensitive."""
    if row.metadata is None or OWNER in row.metadata.sensitive:
        return ""
    return next((value for name, value in row.metadata.properties if name == OWNER), "")


def _tag_tokens(row: Schema, contents: SchemaContents) -> Iterator[str]:
    """Tokens of the tags, and of the properties of the metadata."""
    yield from map(as_token, _tags_of(row, contents))
    if row.metadata is not None:
        sensitive = row.metadata.sensitive
        yield from (
            f"{as_token(name)}={as_token(value)}" for name, value in row.metadata.properties if name not in sensitive
        )


def subjects_stamp(connection: sqlite3.Connection) -> str:
    """Return what is another one once a number is that of another subject, or one becomes private or public."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'subjects'").fetchone()
    return row[0] if row else "0"


def stamp_of(connection: sqlite3.Connection) -> tuple[str, int]:
    """Return the identity of the log, in hex, and the sequence that an index is of; empty and -1 for a new one."""
    found: dict[str, Any] = dict(connection.execute("SELECT name, value FROM meta").fetchall())
    return found.get("identity", ""), int(found.get("sequence", -1))

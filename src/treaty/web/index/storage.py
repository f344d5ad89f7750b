"""The SQLite file of the index: its tables, and how texts become tokens.

- ``posting``: a contentless FTS5 row for each schema, with the tokens ``path``, ``path|type`` and ``|type`` of its fields, words of its
  documentation, and its tags. Its rowid is that of ``schema``.
- ``subject`` and ``part``: distinct names of subjects and of fields, each with a trigram table for parts of names.
- ``version``: which subject has which schema under which number; ``latest`` marks the newest live one.
- ``tag``: tags of schemas as they are written, for counts of them.
- ``source``: sources and queries. ``meta``: the position of the log that the rest is of.
"""

import re
import sqlite3
from collections.abc import Iterable
from pathlib import Path

FORMAT = "2"
NEEDED = (3, 35, 0)
"""The first SQLite with all that is used: trigrams came with 3.34, RETURNING with 3.35."""
_ODD = re.compile(r"[^\w.|=]|[\u0300-\u036f]")

TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS subject (
  id INTEGER PRIMARY KEY, context TEXT NOT NULL, name TEXT NOT NULL, private INTEGER NOT NULL, origin TEXT NOT NULL,
  mark INTEGER NOT NULL, UNIQUE (context, name));
CREATE VIRTUAL TABLE IF NOT EXISTS subject_like USING fts5(name, content='subject', content_rowid='id', tokenize='trigram', detail=none);
CREATE TABLE IF NOT EXISTS schema (
  id INTEGER PRIMARY KEY, context TEXT NOT NULL, number INTEGER NOT NULL, format TEXT NOT NULL, owner TEXT NOT NULL,
  UNIQUE (context, number));
CREATE TABLE IF NOT EXISTS tag (schema INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (schema, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS version (
  schema INTEGER NOT NULL, subject INTEGER NOT NULL, number INTEGER NOT NULL, state TEXT NOT NULL, latest INTEGER NOT NULL,
  PRIMARY KEY (schema, subject, number, state)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS version_latest ON version (schema) WHERE latest = 1;
CREATE INDEX IF NOT EXISTS version_subject ON version (subject);
CREATE VIRTUAL TABLE IF NOT EXISTS posting USING fts5(
  path, doc, tag, content='', detail=column, tokenize="unicode61 remove_diacritics 0 tokenchars '._|='");
CREATE TABLE IF NOT EXISTS part (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE IF NOT EXISTS part_like USING fts5(name, content='part', content_rowid='id', tokenize='trigram', detail=none);
CREATE TABLE IF NOT EXISTS source (key TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, columns TEXT NOT NULL) WITHOUT ROWID;
"""


def is_supported() -> bool:
    """Return whether the SQLite of this Python has all that is needed."""
    return sqlite3.sqlite_version_info >= NEEDED


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open the file of an index, or make it; a damaged one, and one of another format, is made again. Raises `sqlite3.Error`."""
    try:
        connection = _connect(path)
        try:
            if connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone() == (FORMAT,):
                return connection
        except sqlite3.DatabaseError:
            connection.close()
            raise
        connection.close()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError) and "no such table" not in str(error):
            raise
    remove_index(path)
    connection = _connect(path)
    connection.executescript(TABLES)
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('format', ?)", (FORMAT,))
    connection.commit()
    return connection


def remove_index(path: Path) -> None:
    """Remove the file of an index."""
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").unlink(missing_ok=True)


def _connect(path: Path) -> sqlite3.Connection:
    path.touch(mode=0o600)  # SQLite gives its other files the same mode
    connection = sqlite3.connect(path, check_same_thread=False, timeout=10)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = OFF")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def as_token(text: str) -> str:
    """Return a text as one token: what the tokenizer would split at is written as its code."""
    if text.isascii() and text.isidentifier():
        return text.lower()
    return _ODD.sub(lambda mark: f"_{ord(mark[0]):x}_", text.casefold())


def posting_tokens(fields: Iterable[tuple[str, tuple[str, ...]]]) -> tuple[list[str], set[str]]:
    """Return the tokens of fields, and the names among them.

    A field has its path and its last name, each alone and with each of its types; each type is there alone too.
    """
    tokens: list[str] = []
    names: set[str] = set()
    kinds: set[str] = set()
    for path, types in fields:
        whole = as_token(path)
        names.add(whole)
        for kind in types:
            word = as_token(kind)
            kinds.add(word)
            tokens.append(f"{whole}|{word}")
        if "." in path:
            last = whole.rpartition(".")[2]
            names.add(last)
            tokens += (f"{last}|{as_token(kind)}" for kind in types)
    tokens += names
    tokens += (f"|{word}" for word in kinds)
    return tokens, names

"""The SQLite file of the index: its tables, and how texts become tokens.

- ``posting``: a contentless FTS5 row for each schema, with the tokens ``path``, ``path|type`` and ``|type`` of its fields, ``~word`` of its
  documentation, ``#tag`` of its tags, ``#name=value`` of the properties of its metadata, and ``=format``. Its rowid is that of ``schema``.
- ``subject`` and ``part``: distinct names of subjects and of fields, each with a trigram table for parts of names. ``subject_pair`` leads
  from one or two letters to the subjects whose names have them.
- ``schema``: each with the names of its fields, as tokens with spaces between them.
- ``version``: which subject has which schema under which number; ``latest`` marks the newest live one.
- ``tag``: tags of schemas as they are written, for counts of them.
- ``recent``: subjects whose rows an update has written, with the sequence of the log that they are of.
- ``source``: sources and queries. ``meta``: the position of the log that the rest is of, and
  from where on ``recent`` is whole.
"""

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, product
from pathlib import Path

FORMAT = "7"
NEEDED = (3, 35, 0)
"""The first SQLite with all that is used: trigrams came with 3.34, RETURNING with 3.35."""
_ODD = re.compile(r"[^\w.]|[\u0300-\u036f]")
_WORDS = re.compile(r"\w+")
PAIRS = 4_096
"""Pairs of characters whose tokens are remembered: names of subjects have few different ones."""
SEGMENTS = 16
"""Pieces of a full-text index that SQLite lets stand side by side before it merges them: twice as fast to write as with 4, and as fast to search."""
CACHE_BYTES = 32 << 20
"""Pages of a file that are kept in memory while it is built."""
GROWING = {"hashsize": 1 << 20, "automerge": SEGMENTS, "crisismerge": SEGMENTS}
"""Settings of the full-text tables: bytes that are gathered in memory before a piece is written, and pieces that may stand side by side."""
BUILDING = {"hashsize": 1 << 20, "automerge": 0, "crisismerge": 1_999}
"""The same while a file is built: pieces are merged once, in the end. What is gathered fits a processor's cache, where it is sorted."""
MANY = 250_000
"""Schemas from which on a file gathers `MANY_BYTES`: with so many pieces, joining them takes longer than sorting larger ones."""
MANY_BYTES = 2 << 20
"""Bytes that are gathered in memory before a piece is written, in a file of many schemas."""
FULL_TEXT = ("posting", "part_like", "subject_like", "subject_pair")
"""Tables of full text."""
TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS subject (
  id INTEGER PRIMARY KEY, context TEXT NOT NULL, name TEXT NOT NULL, private INTEGER NOT NULL, origin TEXT NOT NULL,
  mark INTEGER NOT NULL, UNIQUE (context, name));
CREATE INDEX IF NOT EXISTS subject_origin ON subject (origin);
CREATE VIRTUAL TABLE IF NOT EXISTS subject_like USING fts5(name, content='subject', content_rowid='id', columnsize=0, tokenize='trigram', detail=none);
CREATE VIRTUAL TABLE IF NOT EXISTS subject_pair USING fts5(tokens, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '_'");
CREATE TABLE IF NOT EXISTS schema (
  id INTEGER PRIMARY KEY, context TEXT NOT NULL, number INTEGER NOT NULL, format TEXT NOT NULL, owner TEXT NOT NULL,
  names TEXT NOT NULL, UNIQUE (context, number));
CREATE TABLE IF NOT EXISTS tag (schema INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (schema, name)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS version (
  schema INTEGER NOT NULL, subject INTEGER NOT NULL, number INTEGER NOT NULL, state TEXT NOT NULL, latest INTEGER NOT NULL,
  PRIMARY KEY (schema, subject, number, state)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS version_latest ON version (schema DESC, subject) WHERE latest = 1;
CREATE INDEX IF NOT EXISTS version_soft ON version (schema DESC, subject) WHERE state = 'soft';
CREATE INDEX IF NOT EXISTS version_subject ON version (subject);
CREATE INDEX IF NOT EXISTS version_latest_of ON version (subject) WHERE latest = 1;
CREATE VIRTUAL TABLE IF NOT EXISTS posting USING fts5(
  tokens, content='', columnsize=0, detail=none, tokenize="ascii tokenchars '._|=~#'");
CREATE TABLE IF NOT EXISTS part (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE IF NOT EXISTS part_like USING fts5(name, content='part', content_rowid='id', columnsize=0, tokenize='trigram', detail=none);
CREATE TABLE IF NOT EXISTS recent (subject INTEGER PRIMARY KEY, sequence INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS source (key TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, columns TEXT NOT NULL) WITHOUT ROWID;
"""


SUBJECTS = (1 << 24) - 1
"""The highest number of a subject in a place."""
TOP = 1 << 62
"""A place above all others."""
PLACE = f"(version.schema << 24) | (~version.subject & {SUBJECTS})"
"""The place of a version: the number of its schema, and that of its subject below it. Places descend in an answer."""


def place_of(schema: int, subject: int) -> int:
    """Return the place of the version of a subject that has a schema, by their numbers."""
    return schema << 24 | SUBJECTS - subject


def schema_of(place: int) -> int:
    """Return the number of the schema in a place."""
    return place >> 24


def subject_of(place: int) -> int:
    """Return the number of the subject in a place."""
    return SUBJECTS - (place & SUBJECTS)


def is_supported() -> bool:
    """Return whether the SQLite of this Python has all that is needed."""
    return sqlite3.sqlite_version_info >= NEEDED


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open the file of an index, or make it; a damaged one, and one of another format, is made again. Raises `sqlite3.Error`."""
    try:
        connection = _connect(path)
        try:
            if is_of_format(connection):
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
    _make_tables(connection)
    return connection


def create_index(path: Path) -> sqlite3.Connection:
    """Make a file that no process reads yet, and that is of no use before everything is in it. Raises `sqlite3.Error`."""
    remove_index(path)
    path.touch(mode=0o600)
    connection = sqlite3.connect(path, isolation_level=None)
    for setting in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "temp_store = FILE"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute(f"PRAGMA cache_size = -{CACHE_BYTES // 1024}")
    _make_tables(connection)
    set_full_text(connection, BUILDING)
    return connection


def set_full_text(connection: sqlite3.Connection, settings: Mapping[str, int]) -> None:
    """Give the full-text tables settings, which the file keeps."""
    for table, (name, value) in product(FULL_TEXT, settings.items()):
        connection.execute(f"INSERT INTO {table} ({table}, rank) VALUES (?, ?)", (name, value))  # noqa: S608 (names of the module)


def _make_tables(connection: sqlite3.Connection) -> None:
    connection.executescript(TABLES)
    set_full_text(connection, GROWING)
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('format', ?)", (FORMAT,))
    connection.commit()


def is_of_format(connection: sqlite3.Connection) -> bool:
    """Return whether a file has the tables of this version. Raises `sqlite3.Error`."""
    row: tuple[str] | None = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
    return row == (FORMAT,)


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


def field_tokens(fields: Iterable[tuple[str, tuple[str, ...]]]) -> tuple[list[str], set[str]]:
    """Return the tokens of fields, and the names among them.

    A field has its path and its last name, each alone and with each of its types; each type is there alone too.
    """
    tokens: list[str] = []
    names: set[str] = set()
    kinds: dict[str, str] = {}
    for path, types in fields:
        name = path.lower() if path.isascii() and path.isidentifier() else as_token(path)  # as most are
        names.add(name)
        last = name.rpartition(".")[2] if "." in name else ""
        if last:
            names.add(last)
        for kind in types:
            word = kinds.get(kind)
            if word is None:
                word = kinds[kind] = f"|{as_token(kind)}"
            tokens.append(name + word)
            if last:
                tokens.append(last + word)
    tokens += names
    tokens += kinds.values()
    return tokens, names


def pair_token(text: str) -> str:
    """Return the token of one or two characters of a name. As LIKE does, it takes A-Z for a-z."""
    return _pair_token(_lower_ascii(text))


def pair_tokens(name: str) -> str:
    """Return the tokens of all characters of a name, and of all pairs of neighbours, with spaces between them."""
    letters = _lower_ascii(name)
    return " ".join(map(_pair_token, {*letters, *map("".join, pairwise(letters))}))


@lru_cache(PAIRS)
def _pair_token(letters: str) -> str:
    return "_".join([f"{ord(character):x}" for character in letters])


def _lower_ascii(text: str) -> str:
    if text.isascii():
        return text.lower()
    return text.encode("utf-8", "surrogatepass").lower().decode("utf-8", "surrogatepass")


def doc_token(word: str) -> str:
    """Return the token of a word of documentation."""
    return f"~{as_token(word)}"


def doc_tokens(docs: Sequence[str]) -> str:
    """Return the tokens of the words of documentation, with spaces between them."""
    text = " ".join(docs)
    if text.isascii() and "  " not in text and text.replace(" ", "").isalnum():  # as most is
        return f"~{text.strip().replace(' ', ' ~')}"  # SQLite makes letters of ASCII small
    return " ".join(map(doc_token, set(_WORDS.findall(text))))


def tag_token(tag: str) -> str:
    """Return the token of a tag."""
    return f"#{as_token(tag)}"


def format_token(name: str) -> str:
    """Return the token of a format."""
    return f"={as_token(name)}"


def property_token(name: str, value: str) -> str:
    """Return the token of a property of the metadata."""
    return f"#{as_token(name)}={as_token(value)}"

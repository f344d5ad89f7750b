"""Stores of format 1, as versions before this one made them, and the statements that nodes of these versions run."""

import sqlite3
from contextlib import closing
from pathlib import Path

import asyncpg

from treaty.log.sqlite.layout import APPLICATION, BACKUP

SQLITE_1 = """
create table entry (kind text not null, key text not null, value text, sequence integer not null, primary key (kind, key));
create index entry_by_sequence on entry (sequence);
create index tombstone on entry (sequence) where value is null;
create table append (last integer primary key, first integer not null, identity blob not null, attempt blob not null,
  digest blob not null);
insert into entry values ('context', '["."]', '{"v":1}', 1);
insert into append values (1, 1, zeroblob(16), zeroblob(16), zeroblob(32));
pragma user_version = 1;
"""
SQLITE_2 = f"""
{SQLITE_1}
create table dictionary (number integer primary key, data blob not null);
pragma user_version = 2;
"""
POSTGRES_1 = """
create table entry (kind bytea not null, key bytea not null, value bytea, sequence bigint not null, primary key (kind, key));
create index entry_by_sequence on entry (sequence);
create index tombstone on entry (sequence) where value is null;
create table append (last bigint primary key, first bigint not null, identity bytea not null, attempt bytea not null,
  digest bytea not null);
insert into entry values ('context', '["."]', '{"v":1}', 1);
insert into append values (1, 1, repeat('0', 16)::bytea, repeat('0', 16)::bytea, repeat('0', 32)::bytea);
"""
STATEMENTS = (
    "select identity, last, digest from append order by last desc limit 1",
    "select kind, key, value from entry where sequence > 0",
    "insert into append (last, first, identity, attempt, digest) values (9, 9, '', '', '')",
    "insert into entry (kind, key, value, sequence) values ('mode', '[]', '{}', 9)",
    "delete from append where last < 9",
)
"""What a node of format 1 that has the store open runs, in the words of both databases."""


def old_file(path: Path, script: str = SQLITE_2, *, backup: bool = False) -> None:
    """Make a SQLite file of an older layout."""
    with closing(sqlite3.connect(path)) as file:
        file.executescript(script)
        file.executescript(f"pragma application_id = {BACKUP if backup else APPLICATION}")
        file.executescript("pragma journal_mode = delete" if backup else "pragma journal_mode = wal")


async def old_schema(dsn: str, name: str) -> None:
    """Make a PostgreSQL schema of an older layout."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute(f'create schema "{name}"; set search_path = "{name}"; {POSTGRES_1}')
        await connection.execute(f"comment on schema \"{name}\" is 'treaty log, layout 1'")
    finally:
        await connection.close()

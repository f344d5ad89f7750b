"""A hand in the database of a SQL log: runs statements beside the nodes, as somebody does who mends or harms it."""

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Protocol

import asyncpg

from tests.behaviours.logs.backends import BACKENDS, Node
from tests.servers import postgres
from treaty.log.postgres.log import PostgresLog
from treaty.log.sql import encode_text
from treaty.log.sqlite.log import SqliteLog

Value = str | bytes | int

_CAST = re.compile(r"text\((\$\d)\)")
"""Bytes that stand where the log has texts: SQLite tells the two apart."""


class Hand(Protocol):
    """Runs one statement in the words of both databases, with ``$1`` to ``$9`` for values; texts are bound as the log's are."""

    async def run(self, statement: str, *values: Value) -> int:
        """Return how many rows it changed."""
        ...


class SqliteHand:
    """A hand in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def run(self, statement: str, *values: Value) -> int:
        with closing(sqlite3.connect(self._path)) as file, file:
            bound = {str(place): value for place, value in enumerate(values, 1)}
            return file.execute(_CAST.sub(r"cast(\1 as text)", statement), bound).rowcount


class PostgresHand:
    """A hand in a schema."""

    def __init__(self, schema: str) -> None:
        self._schema = schema

    async def run(self, statement: str, *values: Value) -> int:
        connection = await asyncpg.connect(postgres.shared().url)
        try:
            await connection.execute("select set_config('search_path', quote_ident($1), false)", self._schema)
            bound = [encode_text(value) if isinstance(value, str) else value for value in values]
            done: str = await connection.execute(_CAST.sub(r"\1", statement), *bound)
            return int(done.rpartition(" ")[2])
        finally:
            await connection.close()


def _sqlite(folder: Path) -> tuple[Node, Hand]:
    return BACKENDS["sqlite"](folder), SqliteHand(folder / "log.db")


def _postgres(folder: Path) -> tuple[Node, Hand]:
    schema = f"hands {folder.name}"
    url = f"{postgres.shared().url}?schema={schema.replace(' ', '%20')}"

    async def node() -> PostgresLog:
        return await PostgresLog.open(url, poll=0.05)

    return node, PostgresHand(schema)


SQL: dict[str, Callable[[Path], tuple[Node, Hand]]] = {"sqlite": _sqlite, "postgres": _postgres}
"""Logs in SQL: how a node opens one, and a hand in its database."""

SqlLog = SqliteLog | PostgresLog

"""The log of format 1 that an older Treaty has written (see `record.py`), in each of its forms."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import zstandard

DATA = Path(__file__).parent / "data"
MOST = 1 << 26

Record = tuple[int, bytes | None, bytes | None]
"""Offset, key and value."""


def unpacked(name: str) -> bytes:
    """What was recorded, as it was."""
    return zstandard.ZstdDecompressor().decompress((DATA / f"{name}.zst").read_bytes(), max_output_size=MOST)


def a_log(folder: Path) -> Path:
    """The file of a SQLite log."""
    path = folder / "old.db"
    path.write_bytes(unpacked("log.db"))
    return path


def a_backup(folder: Path) -> Path:
    """What `treaty log backup` made of it: the same, but for what its head says."""
    path = folder / "backup.db"
    path.write_bytes(unpacked("log.db"))
    with closing(sqlite3.connect(path)) as file:
        file.execute("pragma application_id = 0x54525442")
    return path


def a_dump(folder: Path) -> Path:
    """What `treaty log dump` made of it."""
    path = folder / "old.dump"
    path.write_bytes(unpacked("log.dump"))
    return path


def records(writers: str) -> list[Record]:
    """What lies in its topic."""
    lines: Iterable[list[Any]] = map(json.loads, unpacked(writers).splitlines())
    return [(at, _bytes(key), _bytes(value)) for at, key, value in lines]


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("latin-1")


@cache
def answers() -> tuple[dict[str, Any], ...]:
    """What the older registry said to every question that lists something."""
    return tuple(map(json.loads, unpacked("answers.jsonl").splitlines()))

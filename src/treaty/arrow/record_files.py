"""Records as files of a folder: Parquet with the columns ``value``, ``key``, ``headers`` and ``timestamp``, as Spark's Kafka source names them.

A file is written under another name and renamed when it is whole, so that a reader sees all of it or nothing. Names that begin with
``_`` or ``.`` are passed over by Spark and by Hadoop's tools.
"""

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

Headers = Sequence[tuple[str, bytes]]
SCHEMA = pa.schema(
    [
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        pa.field("timestamp", pa.timestamp("us", "UTC"), nullable=False),
    ]
)
"""Columns of a file of records."""
LATEST = (2**63 - 1) // 1_000
"""The largest time of a record, in ms since the epoch, and its negative the smallest."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A record of a file; `time` is in ms since the epoch."""

    key: bytes | None
    value: bytes | None
    headers: Headers
    time: int


def write_records(folder: Path, records: Sequence[FileRecord]) -> Path:
    """Write a new file of records into a folder, which is made if it is missing, and return its path. Raises `OSError`."""
    rows = [
        {
            "key": record.key,
            "value": record.value,
            "headers": [{"key": name, "value": content} for name, content in record.headers] or None,
            "timestamp": record.time * 1_000,
        }
        for record in records
    ]
    table = pa.Table.from_pylist(rows, SCHEMA)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return write_whole(folder, f"part-{uuid.uuid4()}.parquet", sink.getvalue().to_pybytes())


def write_lines(folder: Path, values: Sequence[bytes]) -> Path:
    """Write values as a new file of JSON lines into a folder, and return its path. Raises `OSError`."""
    return write_whole(folder, f"part-{uuid.uuid4()}.jsonl", b"".join(value + b"\n" for value in values))


def write_whole(folder: Path, name: str, content: bytes) -> Path:
    """Write a file that is there whole, and on the disk, or not at all. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    path, draft = folder / name, folder / f"_{name}.tmp"
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)
    return path

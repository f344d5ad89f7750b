"""Dumps as files: plain, or compressed where the name ends in .zst or .gz; a file is written completely or not at all."""

import gzip
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from treaty.core.limits import DUMP_LINE_BYTES
from treaty.core.state.commit import roots_of
from treaty.core.state.rows import EncodedRow
from treaty.log.maintenance.backup import is_backup, read_backup
from treaty.log.maintenance.dump import (
    DumpHead,
    compress_lines,
    decompress_lines,
    read_head,
    read_rows,
    refuse_root_mismatch,
)


def is_dump(text: str) -> bool:
    """Return whether an argument names a file; otherwise it is the URL of a log."""
    return ":" not in text or Path(text).exists()


@contextmanager
def open_dump_file(path: str, *, lenient: bool = False) -> Iterator[tuple[DumpHead, Iterator[EncodedRow]]]:
    """Return the head of a dump or backup, and an iterator over its rows. After the last row the rows are compared with
    the head, unless the caller is `lenient` and compares them itself; raises `DumpError`.
    """
    if is_backup(Path(path)):
        head, rows = read_backup(Path(path))
        if not lenient:
            refuse_root_mismatch(head, roots_of(rows), f"the rows of the backup {path} do not match its head")
        yield head, iter(rows)
        return
    with open_lines(path) as lines:
        yield read_dump(lines, lenient=lenient)


def read_dump(lines: Iterator[bytes], *, lenient: bool = False) -> tuple[DumpHead, Iterator[EncodedRow]]:
    """Return the head of a dump, and an iterator over its rows."""
    first = next(lines, b"")
    head = read_head(first)
    return head, read_rows(head, first, lines, lenient=lenient)


@contextmanager
def open_lines(path: str) -> Iterator[Iterator[bytes]]:
    """Yield the lines of a dump, decompressed."""
    with Path(path).open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        if magic[:2] == b"\x1f\x8b":
            yield _read_lines(gzip.GzipFile(fileobj=file))
        else:
            yield decompress_lines(file) if magic == b"\x28\xb5\x2f\xfd" else _read_lines(file)


def _read_lines(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    """Yield lines, each cut one byte past the limit."""
    return iter(lambda: file.readline(DUMP_LINE_BYTES + 1), b"")


def write_dump_file(path: Path, lines: Iterable[bytes]) -> int:
    """Write a dump and return its size in bytes. An older file of that name is replaced when the new one is complete."""
    half = path.with_name(f"{path.name}.part")
    try:
        half.unlink(missing_ok=True)
        half.touch(mode=0o600)  # as the file of a log: what stands in it is for who may read the log
        with half.open("wb") as plain:
            _write_lines(path.suffix, plain, lines)
            plain.flush()
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)
    return path.stat().st_size


def _write_lines(suffix: str, plain: IO[bytes], lines: Iterable[bytes]) -> None:
    if suffix == ".gz":
        with gzip.GzipFile(fileobj=plain, mode="wb", mtime=0) as file:
            file.writelines(lines)
    elif suffix == ".zst":
        plain.writelines(compress_lines(lines))
    else:
        plain.writelines(lines)

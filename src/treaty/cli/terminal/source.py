"""Reads schema texts from files and standard input, and detects their format."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from treaty.cli.terminal.errors import ReportedError
from treaty.core import limits
from treaty.light_dataclass import dataclass

if TYPE_CHECKING:
    from treaty.formats.format import Format
    from treaty.formats.registry import FormatRegistry

STDIN = "-"


class UnusableError(ReportedError):
    """The input is unusable: a file cannot be read, or the format of a text is unknown."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class SchemaSource:
    """A schema text, where it came from, and its format."""

    path: str
    text: str
    format: str

    @property
    def name(self) -> str:
        """The name in messages."""
        return display_path(self.path)


def display_path(path: str) -> str:
    """Return the name of a file for messages."""
    return "<stdin>" if path == STDIN else path


def read_text(path: str, limit: str = "SCHEMA_BYTES") -> str:
    """Return the text of a file, or of standard input for ``-``; raises `UnusableError` if it exceeds the limit."""
    with _open_file(path) as file:
        return decode_text(display_path(path), file.read(getattr(limits, limit) + 1), limit)


def read_lines(path: str, limit: str) -> Iterator[str]:
    """Yield the lines of a file or of standard input; raises `UnusableError` for a line that exceeds the limit."""
    with _open_file(path) as file:
        number = 0
        while line := file.readline(getattr(limits, limit) + 2):
            number += 1
            yield decode_text(f"{display_path(path)}:{number}", line.rstrip(b"\r\n"), limit)


@contextmanager
def _open_file(path: str) -> Iterator[BinaryIO]:
    try:
        if path == STDIN:
            yield sys.stdin.buffer
        else:
            with Path(path).open("rb") as file:
                yield file
    except OSError as error:
        raise UnusableError(f"{path} cannot be read: {error.strerror}; give a file, or - for standard input") from error


def decode_text(name: str, data: bytes, limit: str = "SCHEMA_BYTES") -> str:
    """Decode bytes; raises `UnusableError` if they exceed the limit or are not UTF-8."""
    allowed = getattr(limits, limit)
    if len(data) > allowed:
        raise UnusableError(f"{name} is larger than {allowed:,} bytes, the limit {limit}; cut it into smaller ones")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        place = f"byte {error.start} is {data[error.start]:#04x}"
        raise UnusableError(f"{name} is not UTF-8: {place}; save it as UTF-8, without a byte order mark") from error


def refuse_second_stdin(paths: Sequence[str]) -> None:
    """Refuse to read standard input twice."""
    if list(paths).count(STDIN) > 1:
        raise click.UsageError("only one of the files can be - (standard input)")


def read_sources(
    paths: Sequence[str], format_: str | None, formats: "FormatRegistry", likely: str | None = None
) -> list[SchemaSource]:
    """Read files. The format is found by the name, by the text, by the other files, or is the `likely` one."""
    refuse_second_stdin(paths)
    texts = [(path, read_text(path)) for path in paths]
    if format_ is not None:
        return [SchemaSource(path, text, check_format_name(format_, formats)) for path, text in texts]
    named = [guess_format_by_name(path, formats) for path in paths]
    common = next((name for name in named if name is not None), likely)
    sources = []
    for (path, text), name in zip(texts, named, strict=True):
        guessed = name or (common if path == STDIN else None) or guess_format_by_content(text, formats) or common
        if guessed is None:
            raise UnusableError(f"the format of {display_path(path)} is unknown; add --format {_list_formats(formats)}")
        sources.append(SchemaSource(path, text, check_format_name(guessed, formats)))
    return sources


def check_format_name(name: str, formats: "FormatRegistry") -> str:
    """Return the name of a format in the table; raises for an unknown one."""
    if name.upper() not in formats.names:
        raise UnusableError(f"unknown format {name!r}; known are {', '.join(formats.names)}")
    return name.upper()


def _list_formats(formats: "FormatRegistry") -> str:
    return " or ".join(formats.names)


def find_format(name: str, formats: "FormatRegistry") -> "Format[Any]":
    """Return a format of the table; raises `UnusableError` if its package is broken."""
    try:
        format_ = formats.find(name)
    except ImportError as error:
        raise UnusableError(f"the package of the format {name} cannot be loaded: {error}; install it again") from error
    assert format_ is not None
    return format_


def guess_format_by_name(path: str, formats: "FormatRegistry") -> str | None:
    """Return the format by the suffix of a file; None for ``.json``, which Avro schemas use too."""
    for name in formats.names if path != STDIN else ():
        for suffix in find_format(name, formats).suffixes:
            if suffix != ".json" and path.endswith(suffix):
                return name
    return None


def guess_format_by_content(text: str, formats: "FormatRegistry") -> str | None:
    """Guess the format of a text, valid or not; None if it may be more than one."""
    from treaty.formats.registry import BUILT_IN  # noqa: PLC0415 (commands without schemas need no format)

    for name in sorted(formats.names, key=lambda one: one not in BUILT_IN):
        recognize = find_format(name, formats).recognize
        if recognize is not None and recognize(text):
            return name
    return None

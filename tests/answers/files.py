"""All files that recorded answers have."""

from collections.abc import Iterator
from pathlib import Path

from tests.answers.calls.everything import CALLS, PLACE
from tests.answers.tables.everything import WORLDS, records


def list_files() -> Iterator[Path]:
    """The files of worlds, of operations and of single functions."""
    yield from (world.file for world in WORLDS)
    yield from (file for _, _, file in records().values())
    yield from (PLACE / f"{name}.txt" for name in CALLS)

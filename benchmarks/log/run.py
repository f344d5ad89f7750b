"""All figures of this benchmark, log by log."""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.log import contend, durable, start
from benchmarks.log.places import PLACES, opened
from benchmarks.row import Row

SIZES = (10_000, 100_000)
PARTS = ("durable", "contend", "start")


def run(size: Sequence[int] = SIZES, only: Sequence[str] = tuple(PLACES), part: Sequence[str] = PARTS) -> list[Row]:
    """Measure the logs that are asked for, and of them some parts; nodes are started on logs of these sizes."""
    unknown = sorted(set(only) - set(PLACES))
    if unknown:
        sys.exit(f"no log is called {', '.join(unknown)}; there are {', '.join(PLACES)}")
    figures = []
    for name in only:
        for row in _of(name, size, part):
            print(f"   {row.name}: {row.value:.4g} {row.unit}", file=sys.stderr, flush=True)
            figures.append(row)
    return figures


def _of(name: str, sizes: Sequence[int], parts: Sequence[str]) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="treaty-log-") as folder, opened(name, Path(folder)) as place:
        if "durable" in parts:
            yield from durable.rows(place, Path(folder))
        if place.shared and "contend" in parts:
            yield from contend.rows(place)
        if place.shared and "start" in parts:
            yield from start.rows(place, Path(folder), sizes)

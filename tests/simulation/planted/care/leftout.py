"""Planted: a dump leaves the settings out."""

from collections.abc import Iterable, Iterator

from tests.simulation.events import restoring
from treaty.core.rows import Encoded
from treaty.log.care.dump import Head, head_of
from treaty.log.care.dump import write_dump as original
from treaty.log.log import LogDelta

LAWS = {"log"}
EVENTS = {"restored"}
PLACE, NAME = restoring, "write_dump"


def planted(head: Head, rows: Iterable[Encoded]) -> Iterator[bytes]:
    kept = tuple(row for row in rows if row.table != "outcome")
    return original(head_of(LogDelta(head.position, kept), head.place, head.time), kept)

"""Planted: a dump leaves the settings out."""

from collections.abc import Iterable, Iterator

from tests.simulation.events import restoring
from treaty.core.state.rows import EncodedRow
from treaty.log.log import LogDelta
from treaty.log.maintenance.dump import DumpHead, make_head
from treaty.log.maintenance.dump import write_dump as original

LAWS = {"log"}
EVENTS = {"restored"}
PLACE, NAME = restoring, "write_dump"


def planted(head: DumpHead, rows: Iterable[EncodedRow]) -> Iterator[bytes]:
    kept = tuple(row for row in rows if row.table != "outcome")
    return original(make_head(LogDelta(head.position, kept), head.log_url, head.time), kept)

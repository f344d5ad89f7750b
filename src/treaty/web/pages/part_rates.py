"""Numbers that pages ask of running runners, of how many of them, and how many reasons of bad rows are shown: rows, bad rows, lag, the last batch."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from treaty.core.messages.metastore.query_feed import FedRunner
from treaty.web.pages.page import PageRequest
from treaty.web.pages.templates import plural, status_link

RUNNERS_ASKED = 8
"""Runners that a page asks, all at the same time."""
REASONS = 10
"""Reasons of bad rows that are shown, the most frequent ones."""
READS = 100
"""Sources of one query whose rows are read from the status of a runner."""


@dataclass(frozen=True, slots=True)
class ReadCount:
    """How many rows of a source, by its generation, a query has read since its runner took it, and when the last one.

    `rows` is None where the runner does not count them; `time` is in milliseconds since 1970, 0: it has read none.
    """

    generation: int
    rows: int | None
    time: int

    def __add__(self, other: "ReadCount") -> "ReadCount":
        """Return the rows of both, and the later time."""
        rows = None if self.rows is None or other.rows is None else self.rows + other.rows
        return ReadCount(self.generation, rows, max(self.time, other.time))


@dataclass(frozen=True, slots=True)
class PartRates:
    """Numbers of a part since its runner took it. `lag` is None where it is unknown; `batch_ms` is the time of the last batch."""

    rows_in: int
    rows_out: int
    lag: int | None
    batches: int
    batch_ms: int
    bad: tuple[tuple[str, int], ...]
    """Bad rows by reason, the most frequent first."""
    reads: tuple[ReadCount, ...] = ()
    """The sources that it reads."""

    @property
    def words(self) -> str:
        """The numbers as a sentence."""
        parts = [f"{plural(self.rows_in, 'row')} in", f"{self.rows_out:,} out"]
        if self.lag is not None:
            parts.append(f"{self.lag:,} behind")
        if self.batches:
            parts.append(f"last batch {self.batch_ms / 1_000:.1f} s")
        return f"{', '.join(parts)}."

    @property
    def bad_words(self) -> str:
        """Bad rows by reason as a sentence; empty without any."""
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.bad)
        return f"Bad rows: {reasons}." if reasons else ""


Rates = Mapping[tuple[int, str], PartRates]
"""Numbers by generation of a source and part."""


async def ask_rates(request: PageRequest, runners: Iterable[FedRunner]) -> Rates:
    """Return what runners say; nothing of one without an address, of one that does not answer, and past RUNNERS_ASKED."""
    ask = request.server.runner_status
    addresses = list(dict.fromkeys(filter(None, (status_link(runner.address) for runner in runners))))
    if ask is None or not addresses:
        return {}
    bodies = await asyncio.gather(*map(ask, addresses[:RUNNERS_ASKED]))
    return {key: rates for body in bodies if body is not None for key, rates in read_rates(body)}


def read_rates(body: bytes) -> Iterator[tuple[tuple[int, str], PartRates]]:
    """Yield the numbers of a status by generation and part; what is not as a runner writes it is left out."""
    try:
        status = json.loads(body)
    except (ValueError, RecursionError):
        return
    parts = status.get("queries") if isinstance(status, dict) else None
    for part in parts if isinstance(parts, list) else ():
        if not isinstance(part, dict) or not isinstance(part.get("part"), str):
            continue
        bad = part.get("bad")
        counts = {name: _count(bad, name) or 0 for name in bad} if isinstance(bad, dict) else {}
        reasons = [(name, count) for name, count in counts.items() if count]
        reasons.sort(key=lambda pair: (-pair[1], pair[0]))
        names = ("generation", "rows_in", "rows_out", "batches", "batch_ms")
        generation, rows_in, rows_out, batches, batch_ms = (_count(part, name) or 0 for name in names)
        lag = _count(part, "lag_records")
        rates = PartRates(rows_in, rows_out, lag, batches, batch_ms, tuple(reasons[:REASONS]), _read_reads(part))
        yield (generation, part["part"]), rates


def _read_reads(part: Mapping[str, Any]) -> tuple[ReadCount, ...]:
    """Return what a part says of the sources that it reads, at most READS of them."""
    reads = part.get("reads")
    listed = [read for read in (reads[:READS] if isinstance(reads, list) else ()) if isinstance(read, dict)]
    return tuple(
        ReadCount(generation, _count(read, "rows"), _count(read, "time") or 0)
        for read in listed
        if (generation := _count(read, "generation")) is not None
    )


def _count(members: Mapping[str, Any], name: str) -> int | None:
    """Return a number that a runner can have counted; None for anything else."""
    value = members.get(name)
    return value if type(value) is int and 0 <= value < 1 << 63 else None

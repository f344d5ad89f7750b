"""What is known of a part while it runs: its state, its rows, and what went wrong, as a frozen value."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql.streaming.query import StreamingQuery

from treaty.core.sources import CHANGES, Source
from treaty.core.state.metastore.keys import key_of_name
from treaty.spark.pipelines.reports.lag import count_behind, parse_offsets
from treaty.spark.runner.query_end import OUT
from treaty.spark.runner.service.states import STARTING, STATES
from treaty.spark.runner.source_frames import BAD_OF, name_counts


@dataclass(frozen=True, slots=True)
class FieldReads:
    """What a part reads of a source: the paths of its leaf columns (none: all), the rows that it has read, and when it last read one (ms since 1970, 0: never).

    `rows` is None where they are not counted: of a table that is joined, and of several Delta tables.
    """

    source: str
    generation: int
    columns: tuple[str, ...] = ()
    rows: int | None = 0
    time: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the members of the status."""
        return {"source": self.source, "generation": self.generation, "columns": [*self.columns], "rows": self.rows, "time": self.time}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PartStatus:
    """A part of a source as its runner sees it.

    Rows are counted since the runner took it; `bad` is by code. `lag` is the number of records of topics that were not read, None where
    that is unknown. `batch_ms` is the time of the last batch, `state_rows` and `state_bytes` what it keeps. Times are ms since 1970.
    """

    name: str
    part: str
    generation: int
    began: int
    state: str = STARTING
    since: int = 0
    reason: str = ""
    remedy: str = ""
    attempts: int = 0
    next_attempt: int = 0
    rows_in: int = 0
    rows_out: int = 0
    bad: tuple[tuple[str, int], ...] = ()
    batches: int = 0
    batch: int = -1
    batch_ms: int = 0
    batch_time: int = 0
    lag: int | None = None
    state_rows: int = 0
    state_bytes: int = 0
    last_error: str = ""
    last_error_time: int = 0
    reads: tuple[FieldReads, ...] = ()

    @property
    def command(self) -> str:
        """The command that leads out of the state."""
        return STATES[self.state].print_command(self.name)

    def to_json(self) -> dict[str, Any]:
        """Return the members of the status."""
        return {
            "name": self.name, "part": self.part, "generation": self.generation, "incarnation": self.began, "state": self.state,
            "since": self.since, "reason": self.reason, "remedy": self.remedy or STATES[self.state].way_out, "command": self.command,
            "attempts": self.attempts, "next_attempt": self.next_attempt, "rows_in": self.rows_in, "rows_out": self.rows_out,
            "bad": dict(self.bad), "bad_rows": sum(count for _, count in self.bad), "batches": self.batches, "batch": self.batch,
            "batch_ms": self.batch_ms, "batch_time": self.batch_time, "lag_records": self.lag, "state_rows": self.state_rows,
            "state_bytes": self.state_bytes, "last_error": self.last_error, "last_error_time": self.last_error_time,
            "reads": [one.to_json() for one in self.reads],
        }  # fmt: skip


def add_progress(status: PartStatus, progress: Mapping[str, Any], now: int) -> PartStatus:
    """Return the status with what Spark says of a batch."""
    observed: Mapping[str, Mapping[str, Any]] = progress.get("observedMetrics") or {}
    bad = dict(status.bad)
    for name, counts in observed.items():
        if name == OUT:
            continue
        for code, count in counts.items():
            if code.startswith(BAD_OF) and count:
                word = code.removeprefix(BAD_OF)
                bad[word] = bad.get(word, 0) + int(count)
    rows = int(progress.get("numInputRows") or 0)
    operators = progress.get("stateOperators") or []
    return replace(
        status,
        rows_in=status.rows_in + rows,
        rows_out=status.rows_out + int((observed.get(OUT) or {}).get("rows") or 0),
        bad=tuple(sorted(bad.items())),
        batches=status.batches + 1,
        batch=int(progress.get("batchId", status.batch)),
        batch_ms=int((progress.get("durationMs") or {}).get("triggerExecution") or 0),
        batch_time=now,
        lag=_count_lag(progress.get("sources") or []),
        state_rows=sum(int(one.get("numRowsTotal") or 0) for one in operators),
        state_bytes=sum(int(one.get("memoryUsedBytes") or 0) for one in operators),
        reads=tuple(_count_reads(one, len(status.reads), observed, rows, now) for one in status.reads),
    )


def _count_reads(
    read: FieldReads, reads: int, observed: Mapping[str, Mapping[str, Any]], rows: int, now: int
) -> FieldReads:
    """A read with the rows of a batch, which are counted for each source over records, and for the whole query."""
    counts = observed.get(name_counts(read.generation))
    number = int(counts.get("rows") or 0) if counts is not None else rows if reads == 1 else None
    if number is None or read.rows is None:
        return replace(read, rows=None, time=now if rows else read.time)
    return replace(read, rows=read.rows + number, time=now if number else read.time)


def list_reads(source: Source, upstreams: Sequence[Source]) -> tuple[FieldReads, ...]:
    """Return what a source's query reads, or what is decoded for its bad rows, before any row is read."""
    if source.query is None:
        return tuple(FieldReads(upstream.name, upstream.generation) for upstream in upstreams)
    upstreams_by_key = {key_of_name(upstream.name): upstream for upstream in upstreams}
    reads = ((upstreams_by_key.get(key_of_name(read.source)), read) for read in source.query.plan.reads)
    return tuple(
        FieldReads(
            upstream.name if upstream is not None else read.source,
            upstream.generation if upstream is not None else read.generation,
            read.columns,
            0 if read.mode == CHANGES else None,
        )
        for upstream, read in reads
    )


def add_bad(status: PartStatus, code: str, rows: int) -> PartStatus:
    """Return the status with rows that a batch has left out."""
    bad = dict(status.bad)
    return replace(status, bad=tuple(sorted((bad | {code: bad.get(code, 0) + rows}).items())))


def _count_lag(sources: Sequence[Mapping[str, Any]]) -> int | None:
    """The records of all topics that were not read; None where one of the sources is no topic."""
    ends = [parse_offsets(source.get("latestOffset")) for source in sources]
    if not ends or not all(ends):
        return None
    return sum(
        count_behind(parse_offsets(source.get("endOffset")), end).lag for source, end in zip(sources, ends, strict=True)
    )


def read_progress(query: StreamingQuery, batch: int) -> list[dict[str, Any]]:
    """Return what Spark says of the batches after this one, as far as it remembers them; batches without rows are left out."""
    last = query._jsq.lastProgress()  # noqa: SLF001 (its JSON is one call; Python's copy asks for each member)
    if last is None:
        return []
    newest: dict[str, Any] = json.loads(last.json())
    number = int(newest["batchId"])
    if number <= batch:
        return []
    listed = [newest]
    if number > batch + 1:
        listed = [json.loads(one.json()) for one in query._jsq.recentProgress()]  # noqa: SLF001 - as above
    return [one for one in listed if int(one["batchId"]) > batch and "addBatch" in (one.get("durationMs") or {})]

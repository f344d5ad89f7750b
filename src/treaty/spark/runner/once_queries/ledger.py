"""The queries that are run once into a source: which of them it has already, by the ledger beside its checkpoints.

`once/N` beside the checkpoints of a source are events, in their order: a query was written, all rows were exchanged, or the table went back to
a version. They say which of these queries the table has now, so that each is in it once, whatever became of the rows since.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import SparkSession

from treaty.core.sources import OnceQuery, Source
from treaty.spark.lake import delta
from treaty.spark.lake.table import LakeTable, WriteId
from treaty.spark.runner.checkpoint_files import CheckpointFiles
from treaty.spark.runner.sinks import LAKES

EVENTS = "once"
NO_TABLE = -1
"""The version of a table that is not there."""
WRITTEN, EXCHANGED, RESTORED = "written", "exchanged", "restored"


@dataclass(frozen=True, slots=True)
class OnceEvent:
    """What became of the rows: a query was WRITTEN (`number` is where it began), all were EXCHANGED by the commit of this number, or the commit
    had them RESTORED to the version `to`. `version` is the one of the table after it.
    """

    kind: str
    number: int
    version: int
    to: int = 0


@dataclass(frozen=True, slots=True)
class OnceLedger:
    """Which queries that are run once the table of a source has. `table` is None for a topic, which keeps all that is written."""

    spark: SparkSession
    files: CheckpointFiles
    table: LakeTable | None

    def list_missing(self, source: Source) -> Iterator[OnceQuery]:
        """Yield the queries that are to be run, in the order of their commits."""
        contained = find_contained(self._read())
        for once in reversed(source.once):
            if once.began not in contained:
                yield once

    def settle(self, source: Source, version: int) -> None:
        """Note what was written before a runner was killed that had not noted it; `version` is the one of the table."""
        for once in source.once:
            if self.table is not None and LAKES[self.table.format].has_written(
                self.spark, self.table, WriteId(self.name_writer(once), 0)
            ):
                self._add(OnceEvent(WRITTEN, once.began, version))

    def name_writer(self, once: OnceQuery) -> str:
        """Return the name of the next write of a query: one that was written and has gone with all rows is written under another name."""
        times = sum(1 for event in self._read() if (event.kind, event.number) == (WRITTEN, once.began))
        return f"treaty-once-{once.began}-{times}"

    def note_written(self, once: OnceQuery, version: int) -> None:
        """Note that a query is in the table."""
        self._add(OnceEvent(WRITTEN, once.began, version))

    def note_exchanged(self, number: int, version: int) -> None:
        """Note that all rows were exchanged; twice is as once."""
        self._add_new(OnceEvent(EXCHANGED, number, version))

    def note_restored(self, number: int, version: int, to: int) -> None:
        """Note that the table has the rows of a former version again; twice is as once."""
        self._add_new(OnceEvent(RESTORED, number, version, to))

    def _add_new(self, event: OnceEvent) -> None:
        events = self._read()
        has_written = any(earlier.kind == WRITTEN for earlier in events)
        if has_written and not any((earlier.kind, earlier.number) == (event.kind, event.number) for earlier in events):
            self._add(event)

    def _add(self, event: OnceEvent) -> None:
        number = max(self.files.list_numbers(EVENTS), default=-1) + 1
        self.files.write(f"{EVENTS}/{number}", json.dumps([event.kind, event.number, event.version, event.to]))

    def _read(self) -> list[OnceEvent]:
        texts = (self.files.read(f"{EVENTS}/{number}") for number in self.files.list_numbers(EVENTS))
        return [OnceEvent(*json.loads(text)) for text in texts]


def find_contained(events: Sequence[OnceEvent]) -> set[int]:
    """Return where the queries began whose rows a table has after these events."""
    contained: set[int] = set()
    for at, event in enumerate(events):
        if event.kind == WRITTEN:
            contained.add(event.number)
        elif event.kind == EXCHANGED:
            contained = set()
        else:
            contained = find_contained([earlier for earlier in events[:at] if earlier.version <= event.to])
    return contained


def find_version(spark: SparkSession, table: LakeTable) -> int:
    """Return the version of a Delta table, `NO_TABLE` where there is none."""
    if delta.schema(spark, table) is None:
        return NO_TABLE  # a driver that is killed while it makes a table leaves a folder without one
    return int(spark.sql(f"DESCRIBE HISTORY {delta.name(spark, table)} LIMIT 1").collect()[0]["version"])

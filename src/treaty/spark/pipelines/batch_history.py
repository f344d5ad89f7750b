"""What the last batches did, in files beside the checkpoint: for `status`, and for totals that survive a restart."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from treaty.spark.lake.table import is_missing
from treaty.spark.pipelines.counts import Counts, RowTotals, add_counts, sum_counts

BATCHES = "treaty-batches"
"""The folder in the checkpoint."""
KEPT = 100
"""Batches that are remembered; each is written over the one that is so many batches older."""
ByTopic = Mapping[str, Counts]
"""Counts by topic; the topic is "" where a pipeline has one subject."""


@dataclass(frozen=True, slots=True)
class BatchReport:
    """A batch: when it ended (seconds since 1970), how long it took, its rows and those of all batches so far."""

    batch: int
    ended: float
    seconds: float
    rows: ByTopic = field(default_factory=dict)
    total: ByTopic = field(default_factory=dict)

    def to_json(self) -> str:
        """The stored form."""
        parts = {"rows": list_counts(self.rows), "total": list_counts(self.total)}
        return json.dumps({"batch": self.batch, "ended": self.ended, "seconds": self.seconds, **parts})

    @staticmethod
    def from_json(text: str) -> "BatchReport":
        """Read the stored form."""
        stored = json.loads(text)
        rows, total = _by_topic(stored["rows"]), _by_topic(stored["total"])
        return BatchReport(stored["batch"], stored["ended"], stored["seconds"], rows, total)


def list_counts(counts: ByTopic) -> list[dict[str, object]]:
    """Counts as JSON members: topic, id, code, rows."""
    return [
        {"topic": topic, "id": number, "code": code, "rows": rows}
        for topic, some in sorted(counts.items())
        for (number, code), rows in sorted(some.items())
    ]


def sum_topics(counts: ByTopic) -> RowTotals:
    """What the counts of all topics say together."""
    return sum_counts(add_counts(*counts.values()))


def _by_topic(members: list[dict[str, object]]) -> dict[str, Counts]:
    by_topic: dict[str, Counts] = {}
    for member in members:
        number, code, rows = member["id"], member["code"], member["rows"]
        assert isinstance(number, int)
        assert isinstance(rows, int)
        by_topic.setdefault(str(member["topic"]), {})[number, str(code)] = rows
    return by_topic


@dataclass(slots=True)
class BatchHistory:
    """The reports of one stream; `load` first."""

    spark: SparkSession
    checkpoint: str
    reports: dict[int, BatchReport] = field(default_factory=dict)

    def load(self) -> None:
        """Read what was kept; a stream that never ran has nothing."""
        if is_missing(self.spark, f"{self.checkpoint}/{BATCHES}"):
            return
        try:
            stored = self.spark.read.schema("report STRING").json(f"{self.checkpoint}/{BATCHES}").collect()
        except AnalysisException as missing:
            if missing.getCondition() != "PATH_NOT_FOUND":
                raise
            return
        reports = (BatchReport.from_json(row["report"]) for row in stored if row["report"])
        self.reports = {one.batch: one for one in reports}

    @property
    def last(self) -> BatchReport | None:
        """The newest report."""
        return self.reports[max(self.reports)] if self.reports else None

    def keep(self, batch: int, ended: float, seconds: float, rows: ByTopic) -> BatchReport:
        """Write down a batch; one that runs again is written over."""
        report = BatchReport(batch, ended, seconds, rows, self.sum_until(batch, rows))
        row = self.spark.range(1).select(F.lit(report.to_json()).alias("report")).coalesce(1)
        row.write.mode("overwrite").json(f"{self.checkpoint}/{BATCHES}/slot={batch % KEPT:03}")
        self.reports = {one: kept for one, kept in self.reports.items() if one > batch - KEPT} | {batch: report}
        return report

    def sum_until(self, batch: int, rows: ByTopic) -> ByTopic:
        """The counts of all batches before this one, and of its rows."""
        before = max((number for number in self.reports if number < batch), default=None)
        sums = dict(self.reports[before].total) if before is not None else {}
        return {topic: add_counts(sums.get(topic, {}), rows.get(topic, {})) for topic in {*sums, *rows}}

"""`Pipeline`: where frames come from, how they are read, and where rows go, as a frozen value."""

from collections.abc import Callable
from dataclasses import dataclass

from treaty.core.limits import REGISTRY_TRIES
from treaty.plan.value import DecodePlan
from treaty.spark.keyed.options import KeyedTableOptions
from treaty.spark.keyed.upsert import require_merge
from treaty.spark.lake.table import LakeTable
from treaty.spark.pipelines.source import KafkaSource, Source
from treaty.spark.pipelines.trigger import StreamTrigger

AT_ONCE = StreamTrigger()
TOPIC = "{topic}"
"""Placeholder in the name of a table for the topic of its rows."""
PARTS = ("value", "key")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Where rows come from and go to.

    `column` holds the frames (left out: the one that is called as the `part` is) and `keep` names further columns of
    the source that both tables get. A table that is only a path is a Delta table; the plans lie under the checkpoint,
    which is a path too. `with_id` and `with_version` name columns of the good table for the schema id and version of a
    row, empty for none. Delete markers (null values) are counted in the steps; a table that is only appended to has no
    place for them. `message` names a Protobuf message. `evolution` says what may happen to the table of good rows (see
    `treaty.spark.lake.tables.EVOLUTIONS`). A batch with more than `most_bad` bad rows, or where bad rows are
    a larger share of all than `worst_share` (0 to 1; 1 allows any), ends the stream once they are written; topics with subjects of
    their own are counted each by itself.

    `source` is opened by `run`; `start` takes any frame instead. Without a `subject` each topic has its own,
    ``topic-value`` or ``topic-key`` by the `part` that is read, and with several topics ``{topic}`` is part of the good
    table's place; a table of bad rows for all of them needs ``topic`` in `keep`. `framing`, `depth`, `lossy`,
    `defaults` and `encoding` are those of `make_plan`. A registry that does not answer is asked `tries` times; one that does not know
    an id yet is asked again for `patience` seconds before its rows are bad.
    """

    subject: str
    good: str | LakeTable
    bad: str | LakeTable
    checkpoint: str
    reader: str | int = "union"
    column: str = ""
    keep: tuple[str, ...] = ()
    with_id: str = ""
    with_version: str = ""
    message: str = ""
    evolution: str = "widen"
    most_bad: int | None = None
    worst_share: float = 1.0
    source: Source | None = None
    trigger: StreamTrigger = AT_ONCE
    part: str = "value"
    framing: str = "prefix"
    depth: int = 3
    lossy: str = "refuse"
    defaults: bool = False
    encoding: str = ""
    tries: int = REGISTRY_TRIES
    patience: float = 0.0
    keyed: KeyedTableOptions | None = None
    """One row per key (Delta and Iceberg): rows replace and delete; None: rows are appended."""

    def __post_init__(self) -> None:
        """Refuse what can't run: no subject without topics, topics that share a table of good rows."""
        if self.part not in PARTS:
            raise PipelineError(f"{self.part!r} is no part of a record; there are {', '.join(PARTS)}")
        if self.keyed is not None:
            require_merge(self.good_table)
        if self.subject:
            return
        if not isinstance(self.source, KafkaSource):
            raise PipelineError(
                "a pipeline without a subject reads topics of Kafka, whose subjects are named after them"
            )
        if self.source.many and TOPIC not in self.good_table.place:
            raise PipelineError(f"several topics need a table each: put {TOPIC} into the place of the good table")
        if self.source.many and TOPIC not in self.bad_table.place and "topic" not in self.keep:
            raise PipelineError(
                f"several topics that share a table of bad rows need 'topic' in keep, or {TOPIC} in its place"
            )

    @property
    def good_table(self) -> LakeTable:
        """Where good rows go."""
        return _table(self.good)

    @property
    def bad_table(self) -> LakeTable:
        """Where bad rows go."""
        return _table(self.bad)

    @property
    def frames(self) -> str:
        """The column that holds the frames."""
        return self.column or self.part

    @property
    def by_topic(self) -> bool:
        """Whether each topic has a subject of its own."""
        return not self.subject

    @property
    def headers(self) -> bool:
        """Whether rows are read with the headers of their records."""
        return self.framing == "header"


def _table(place: str | LakeTable) -> LakeTable:
    if isinstance(place, LakeTable):
        return place
    return LakeTable(place if "/" in place else f"./{place}")


class PipelineError(ValueError):
    """A pipeline that can't run as it is described; says what would be allowed."""


class TooManyBadRowsError(RuntimeError):
    """A batch has more bad rows than the pipeline lets pass; they are in the table of bad rows, with their reasons."""


@dataclass(frozen=True, slots=True)
class BatchEvent:
    """What a batch has just done: ``planned``, ``good``, ``extended``, ``late``, ``bad``, ``done``; counts where they
    are known.
    """

    batch: int
    name: str
    counts: tuple[tuple[str, int], ...] = ()
    seconds: float = 0.0
    plan: DecodePlan | None = None
    topic: str = ""


OnEvent = Callable[[BatchEvent], None]
"""Called after every step of a batch, in the stream's own thread."""

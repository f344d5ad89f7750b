"""A query takes over from the one before: on a checkpoint without state, with all rows made again, or back on its own checkpoint.

What a takeover does is done before the query starts, and each step may be interrupted and done again. `takeovers/N` beside the
checkpoints of a source has the version of the table before the takeover of the commit N, and `takeovers/N.done` says that it is over.
"""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from treaty.core.column_types.tokens import print_name
from treaty.core.sources import CASCADE, CHANGES, EMPTY, EXCHANGES, TABLE_KIND, Incarnation, QueryPlan, Source
from treaty.spark.lake import delta
from treaty.spark.lake.table import LakeTable, WriteId, is_missing, make_empty_frame
from treaty.spark.planner.analyzed_check import list_views
from treaty.spark.planner.trees import read_analyzed
from treaty.spark.runner.checkpoint_files import CheckpointFiles
from treaty.spark.runner.decode_ledger import DecodeLedger
from treaty.spark.runner.kafka_source import SourceNotRunnableError
from treaty.spark.runner.once_queries.ledger import NO_TABLE, OnceLedger, find_version
from treaty.spark.runner.query_end import is_left
from treaty.spark.runner.sinks import CHANGE_FEED
from treaty.spark.runner.source_frames import UNKNOWN

TAKEOVERS = "takeovers"
NONE = "-"
"""What an offset log has for a source that has no offset."""


@dataclass(frozen=True, slots=True)
class QueryTakeover:
    """What a takeover works with: the table of a source, its checkpoints, and how a query is opened and run once.

    `open` gives the result of a query, `finish` works off the batch that a query has begun and not ended, `skip` runs a batch that reads
    and writes nothing, and `fill` works off everything into another folder.
    """

    spark: SparkSession
    files: CheckpointFiles
    folder: str
    """The folder of the table; empty for a topic, whose records stay as they are."""
    open: Callable[[Source], DataFrame]
    finish: Callable[[Source], None]
    skip: Callable[[Source], None]
    fill: Callable[[Source, str], None]

    @property
    def once(self) -> OnceLedger:
        """Which queries that are run once the table has."""
        return OnceLedger(self.spark, self.files, LakeTable(self.folder) if self.folder else None)

    def run(self, source: Source) -> None:
        """Do what the query of a source needs before it starts; nothing where it was done before, or is the first one.

        First the rows of the query before are settled: what was run once, a rollback, a batch that was begun. Then those of this query
        are made or its offsets set. The file `.done` comes last: whatever ends the process before it, all steps are run again.
        """
        query = source.query
        if query is None or not (query.start or query.resumed):
            return
        number = max(query.began, query.resumed)
        if self._is_done(number):
            return
        begins = bool(query.start) and not self._is_done(query.began)
        if source.once and self.folder:
            self.once.settle(source, self._find_version())
        carried_out = self._find_carried_out(source, query.after)
        if begins:
            self._restore_former(source, carried_out)
        if begins and query.start == EMPTY:
            self._finish_former(source, carried_out)
        self._note_version(number)
        if begins and query.start in EXCHANGES:
            self._backfill(source, query)
        elif query.resumed:
            self._restore(source, query)
        if begins and query.start == EMPTY:
            self._begin_empty(source, query, carried_out)
        for takeover in {query.began, number}:
            self.files.write(f"{TAKEOVERS}/{takeover}.done", "")

    def _is_done(self, number: int) -> bool:
        return self.files.has(f"{TAKEOVERS}/{number}.done")

    def _note_version(self, number: int) -> None:
        name = f"{TAKEOVERS}/{number}"
        if not self.files.has(name):
            self.files.write(name, str(self._find_version()))

    def _find_version(self) -> int:
        return find_version(self.spark, LakeTable(self.folder)) if self.folder else NO_TABLE

    # ---------------------------------------------------------------------------------------------------- without state

    def _find_carried_out(self, source: Source, began: int) -> int:
        """Return where the query began whose rows the table has: one that was replaced before its own takeover was over has none there."""
        newest = {incarnation.began: incarnation for incarnation in reversed(source.previous)}
        while (
            (incarnation := newest.get(began)) is not None
            and incarnation.start in {EMPTY, *EXCHANGES}
            and not self._is_over(began)
        ):
            _refuse_exchanged(source, incarnation)
            began = incarnation.after
        return began

    def _is_over(self, began: int) -> bool:
        return self._is_done(began) or (
            bool(self.folder) and delta.has_written(self.spark, LakeTable(self.folder), _exchange_of(began))
        )

    def _restore_former(self, source: Source, began: int) -> None:
        """Go back to the rows of the query before where that was rolled back to, and replaced before any runner saw it."""
        at = next((at for at, one in enumerate(source.previous) if one.began == began), None)
        former = None if at is None else source.previous[at]
        if at is None or former is None or not former.resumed or self._is_done(former.resumed):
            return
        self._restore(replace(source, previous=source.previous[at:]), former)
        self.files.write(f"{TAKEOVERS}/{former.resumed}.done", "")

    def _finish_former(self, source: Source, began: int) -> None:
        """Work off the batch that the query before has begun and not ended.

        Where it fails, as it may have for long, the batch is the new query's: it begins behind the last one that has ended.
        """
        former = _find_former(source, began)
        begun, ended = (self.files.list_numbers(f"{began}/{log}")[-1:] for log in ("offsets", "commits"))
        if former is None or begun == ended:
            return
        try:
            self.finish(former)
        except PySparkException as error:
            batch = WriteId(f"treaty-{began}", begun[0])
            is_written = bool(self.folder) and delta.has_written(self.spark, LakeTable(self.folder), batch)
            if is_written or is_left(error) or UNKNOWN in str(error):
                raise

    def _begin_empty(self, source: Source, query: Incarnation, after: int) -> None:
        """Make a checkpoint whose first batch is over: it has the offsets of the former one, and no state."""
        place, before = str(query.began), str(after)
        former, ended = _find_former(source, after), self.files.list_numbers(f"{before}/commits")
        if self.files.has(f"{place}/commits/0") or not ended:
            return
        if former is None or former.query is None:
            message = f"{source.name} is to begin at the offsets of a query that its row no longer knows"
            raise SourceNotRunnableError(
                f"{message}: RESET CHECKPOINT {print_name(source.name)} KEEP DATA begins with the first row"
            )
        draft = f"{place}.draft"
        self.files.remove(draft)
        self.files.remove(place)
        entry = _read_offsets(self.files.read(f"{before}/offsets/{ended[-1]}"))
        former_streams = list_streams(self.open(former), former.query.plan)
        streams = list_streams(self.open(source), query.plan)
        generations = {read.source: read.generation for read in former.query.plan.reads}
        same = {read.source for read in query.plan.reads if generations.get(read.source) == read.generation}
        places = _pair_streams(former_streams, streams, same)
        lines = [NONE if at is None or at >= len(entry.offsets) else entry.offsets[at] for at in places]
        for at, stream, line in zip(places, streams, lines, strict=True):
            copied = "" if at is None or line == NONE else f"{before}/sources/{former_streams[at].folder}"
            if copied and self.files.has(copied) and not self.files.has(f"{draft}/sources/{stream.folder}"):
                self.files.copy(copied, f"{draft}/sources/{stream.folder}")
        DecodeLedger(self.files, before).copy_to(draft, places)
        self.files.write(f"{draft}/metadata", json.dumps({"id": str(uuid4())}))
        state = entry.metadata if former_streams == streams else {**entry.metadata, "batchWatermarkMs": 0}
        self.files.write(f"{draft}/offsets/0", "\n".join((entry.version, json.dumps(state), *lines)))
        self.files.move(draft, place)
        self.skip(source)

    # --------------------------------------------------------------------------------------------- all rows, and the way back

    def _backfill(self, source: Source, query: Incarnation) -> None:
        """Make all rows in a table beside, and put them in the place of those that are there, in one commit."""
        rows = f"{query.began}.rows"
        folder = self.files.place(rows)
        over = _exchange_of(query.began)
        if delta.has_written(self.spark, LakeTable(self.folder), over):
            self._note_exchanged(source, query)
            return  # what came since is read into the table, and not beside it
        self.fill(source, folder)
        filled = delta.read(self.spark, LakeTable(folder)) if self.files.has(rows) else None
        if filled is None:
            filled = make_empty_frame(self.spark, self.open(source).schema)
        options = {"txnAppId": over.writer, "txnVersion": str(over.number), "overwriteSchema": "true"}
        if source.kind == TABLE_KIND:
            options[CHANGE_FEED] = "true"  # of a table that is made here
        filled.write.format("delta").mode("overwrite").options(**options).save(self.folder)
        self._note_exchanged(source, query)
        self.files.write(f"{TAKEOVERS}/{query.began}.done", "")
        self.files.remove(rows)

    def _note_exchanged(self, source: Source, query: Incarnation) -> None:
        if source.once:
            self.once.note_exchanged(query.began, self._find_version())

    def _restore(self, source: Source, query: Incarnation) -> None:
        """Put the rows back that the table had before the query that is left had written any."""
        left = next((one for one in source.previous if one.began != query.began), None)
        text = "" if left is None else self.files.read(f"{TAKEOVERS}/{max(left.began, left.resumed)}")
        if not text or is_missing(self.spark, self.folder):
            return
        table = delta.name(self.spark, LakeTable(self.folder))
        if int(text) == NO_TABLE:
            self.spark.sql(f"DELETE FROM {table}")  # noqa: S608 (the name is quoted)
        else:
            self.spark.sql(f"RESTORE TABLE {table} TO VERSION AS OF {int(text)}")
        if source.once:
            self.once.note_restored(query.resumed, self._find_version(), int(text))


RELATIONS = ("StreamingRelation", "StreamingRelationV2")
"""Nodes of plans that Spark reads a stream by: of its first interface for sources, and of its second."""


@dataclass(frozen=True, slots=True)
class _KnownOffsets:
    """An entry of an offset log: its version, its metadata, and the offset of each source."""

    version: str
    metadata: dict[str, object]
    offsets: Sequence[str]


def is_over(files: CheckpointFiles, query: Incarnation) -> bool:
    """Return whether a query has done what it needs before it starts; a first one needs nothing."""
    needed = bool(query.start or query.resumed)
    return not needed or files.has(f"{TAKEOVERS}/{max(query.began, query.resumed)}.done")


def _refuse_exchanged(source: Source, left: Incarnation) -> None:
    """Raise `SourceNotRunnableError` where a query is to begin at offsets of rows that were exchanged before it had read all again."""
    if left.start == CASCADE and source.query is not None and source.query.start == EMPTY:
        message = f"{source.name} was replaced before it had read all again, and the rows that it follows are others than those of its offsets"
        raise SourceNotRunnableError(f"{message}: REFRESH {source.name} FULL reads all again")


def _exchange_of(began: int) -> WriteId:
    """The write that puts all rows of a query in the place of those that were there."""
    return WriteId(f"treaty-takeover-{began}", 0)


def _read_offsets(text: str) -> _KnownOffsets:
    version, metadata, *offsets = text.split("\n")
    return _KnownOffsets(version, json.loads(metadata), offsets)


def _find_former(source: Source, began: int) -> Source | None:
    """A source as it was while the query that began at a commit filled it; None where its row does not know it any more."""
    query = next((one for one in source.previous if one.began == began), None)
    if query is None or query.definition is None:
        return None
    was = query.definition
    return replace(
        source, columns=was.columns, key=was.key, value=was.value, timestamp=was.timestamp, properties=was.properties,
        query=replace(query, start="", resumed=0),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class FollowedStream:
    """A source that a query follows. Spark keeps what it has read of it in the folder of this number; two reads of one relation share it."""

    source: str
    folder: int


def _pair_streams(
    former: Sequence[FollowedStream], streams: Sequence[FollowedStream], same: Collection[str]
) -> list[int | None]:
    """Return for each stream the place of the former one at whose offsets it begins: of its source, where that is the `same`.

    Of a source that was read less often, the last one stands for all that are more.
    """
    former_places: dict[str, list[int]] = {}
    for at, stream in enumerate(former):
        former_places.setdefault(stream.source, []).append(at)
    places: list[int | None] = []
    for stream in streams:
        left = former_places.get(stream.source, []) if stream.source in same else []
        places.append((left.pop(0) if len(left) > 1 else left[0]) if left else None)
    return places


def list_streams(frame: DataFrame, plan: QueryPlan) -> list[FollowedStream]:
    """Return the streams that a result follows, in the order in which Spark keeps their offsets; a source that is read twice is there twice.

    Spark numbers the folders of what it has read by relation, in the order in which the plan first has each of them.
    """
    sources = {(read.spelling or read.source).lower(): read.source for read in plan.reads if read.mode == CHANGES}
    folders: dict[str, int] = {}  # by the output of a relation, which tells it from the others
    streams = []
    for name, view in list_views(read_analyzed(frame)):
        if name in sources:
            relation = next(str(node.members.get("output")) for node in view.walk() if node.kind in RELATIONS)
            streams.append(FollowedStream(sources[name], folders.setdefault(relation, len(folders))))
    return streams

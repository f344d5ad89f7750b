"""`BatchDecoder`: decoding in a `foreachBatch` of one's own, which learns schema ids as a pipeline does."""

from typing import Unpack

from pyspark.sql import DataFrame, SparkSession

from treaty.core.messages.listings import ListVersions
from treaty.core.names import subject_of
from treaty.core.refusals import NotFound, Unavailable
from treaty.core.registry import Registry
from treaty.plan.addresses import open_registry
from treaty.plan.decode_plans import extend, make_plan
from treaty.plan.errors import PlanError
from treaty.plan.heads import MAGICS
from treaty.plan.options import DecodeChoices
from treaty.plan.rows import NAMES, Names
from treaty.plan.value import DecodePlan
from treaty.spark.decode import decode, ids_of
from treaty.spark.lake.table import LakeTable
from treaty.spark.pipelines.plan_store import FIRST, LATE, PLANS, PlanStore, query_id
from treaty.spark.session_engines import fit_to_session


class BatchDecoder:
    """Decodes the batches of one stream, each with a plan that is stored before its rows are written.

    A batch begins with the plan of the batch before, renewed where the subject has other versions. Schema ids that it brings and the plan lacks are
    looked up. A batch that runs again after a crash gets the plan that it had, so that it becomes the same rows. Plans are
    kept below the checkpoint of the stream, as those of a `Pipeline`. What each row is written to, and whether it is written once, is the caller's.

    On Spark Connect a batch runs in the server's Python: give the address of a registry, which that process opens itself.
    """

    def __init__(
        self,
        registry: Registry | str,
        subject: str,
        checkpoint: str,
        *,
        reader: str | int = "union",
        column: str = "value",
        framing: str = "prefix",
        **choices: Unpack[DecodeChoices],
    ) -> None:
        """Note what to decode; `checkpoint` is the stream's own option ``checkpointLocation``, and the rest is as in `make_plan`."""
        self._registry = registry
        self._subject = subject
        self._checkpoint = checkpoint
        self._reader = reader
        self._column = column
        self._framing = framing
        self._choices = choices
        self._store: PlanStore | None = None
        self._versions: tuple[int, ...] | None = None
        self._last: int | None = None

    def decode(
        self, frame: DataFrame, batch: int, *, names: Names = NAMES, flatten: bool = False, headers: str = "headers"
    ) -> DataFrame:
        """The batch with its decoded rows, as `treaty.spark.decode` gives them. Raises what `plan` raises."""
        plan = self.plan(frame, batch)
        return decode(frame, plan, column=self._column, names=names, flatten=flatten, headers=headers)

    def plan(self, frame: DataFrame, batch: int) -> DecodePlan:
        """The plan of a batch, stored under its number. To find ids, the batch is read once: persist it where reading is dear.

        Raises what `make_plan` raises, `Unavailable` where a new id can't be looked up now, and `NeverRanError` where `checkpoint` is not the stream's.
        """
        store = self._open(frame.sparkSession)
        late = store.find_own(batch, LATE)
        if late is not None:
            self._last = batch
            return late
        first = self._find_first(store, frame.sparkSession, batch)
        self._last = batch
        if store.is_settled(batch) or first.framing.name not in MAGICS:
            return first
        ids = ids_of(frame, self._column, besides=first.known, framing=first.framing.name)
        if not ids:
            return first
        longer = extend(first, self._registry, ids)
        if longer.known == first.known:
            store.settle(batch)
            return first
        store.store(batch, LATE, longer)
        return longer

    def _open(self, spark: SparkSession) -> PlanStore:
        if self._store is None:
            table = LakeTable(f"{self._checkpoint}/{PLANS}", "parquet")
            self._store = PlanStore(spark, table, query_id(spark, self._checkpoint))
            self._store.load()
        return self._store

    def _find_first(self, store: PlanStore, spark: SparkSession, batch: int) -> DecodePlan:
        """The plan with which a batch begins; one that may have run before begins with the plan that it had."""
        before = store.find_first(batch)
        may_be_written = self._last is None or batch <= self._last
        if before is not None and store.is_bound(batch, may_be_written=may_be_written):
            return before
        with open_registry(self._registry) as registry:
            new_plan = self._make_plan(registry, before)
        if new_plan is before:
            return new_plan
        fitted = fit_to_session(new_plan, spark)
        if fitted != before:
            store.store(batch, FIRST, fitted)
        return fitted

    def _make_plan(self, registry: Registry, before: DecodePlan | None) -> DecodePlan:
        """A plan of the subject's versions as they are now; the one before where there is nothing new, or the registry can't say now."""
        try:
            listed = registry.ask(ListVersions(subject_of(self._subject), visible="all")).answer.numbers
            if before is not None and tuple(listed) == self._versions:
                return before
            plan = make_plan(
                registry,
                self._subject,
                reader=self._reader,
                ids=before.known if before else (),
                framing=self._framing,
                before=before,
                **self._choices,
            )
        except (Unavailable, NotFound, PlanError):
            if before is None:
                raise
            return before
        self._versions = tuple(listed)
        return plan

"""Numbers of replays: one that is cut short is completed under its number, whatever other topics did since. No Spark runs here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from treaty.assemble import connect
from treaty.plan.decode_plans import make_plan
from treaty.plan.rows import BadRowFilter
from treaty.plan.value import DecodePlan
from treaty.spark import KafkaSource, LakeTable, Pipeline
from treaty.spark.pipelines.plan_store import PlanStore
from treaty.spark.pipelines.planner import RoutePlanner
from treaty.spark.pipelines.replay import EVERY, ReplayReport, _RouteReplay, remaining_bad_rows, replay
from treaty.spark.pipelines.route import make_route

TOPICS = ("a", "b", "c")
BY_TOPIC = Pipeline("", "lake/{topic}", "lake/bad", "c", source=KafkaSource("h:1", TOPICS), keep=("topic",))
STEPS = ("plan", "good rows", "marks")
"""What a replay of a topic writes, one after the other."""


class NumberStore(PlanStore):
    """Plans that are stored nowhere else."""

    def store(self, batch: int, part: int, plan: DecodePlan, topic: str = "") -> None:
        self.plans[topic, batch, part] = plan


@dataclass(frozen=True, slots=True)
class NumberedReplay(_RouteReplay):
    """A replay of a topic without rows; `marks` has the number of the last finished one of each topic."""

    marks: dict[str, int] = field(default_factory=dict)

    def _last_numbers(self) -> tuple[int, int]:
        return max(self.marks.values(), default=0), self.marks.get(self.route.topic, 0)

    def _last_batch(self) -> int:
        return 3

    def _newest_plan(self) -> DecodePlan | None:
        return None

    def _store_filter(self, number: int) -> None:
        pass

    def _read_filter(self, number: int) -> BadRowFilter:
        return EVERY


@dataclass(frozen=True, slots=True)
class FilteredReplay(NumberedReplay):
    """A replay that keeps what it meant, and notes the filters of its runs instead of running."""

    filters: dict[int, BadRowFilter] = field(default_factory=dict)
    runs: list[tuple[int, int, BadRowFilter]] = field(default_factory=list)

    def _store_filter(self, number: int) -> None:
        self.filters[number] = self.row_filter

    def _read_filter(self, number: int) -> BadRowFilter:
        return self.filters[number]

    def _run(self, number: int, bound: int, plan: DecodePlan, row_filter: BadRowFilter) -> ReplayReport:
        self.runs.append((number, bound, row_filter))
        self.marks[self.route.topic] = number
        return self._report(number, {"": 2, "TRAILING": 1, "MALFORMED": 3})


@pytest.fixture(autouse=True, scope="module")
def plan() -> DecodePlan:
    with connect("memory:") as registry:
        registry.register("s", '"int"')
        return make_plan(registry, "s")


def run_replays(plan: DecodePlan, cuts: Sequence[tuple[str, str] | None]) -> None:
    """Replay all topics in turn once for each cut: after a step of a topic, or not at all."""
    store = NumberStore(None, LakeTable("plans"), "w", {}, set())  # type: ignore[arg-type]  # nothing is stored there
    marks: dict[str, int] = {}
    open_numbers: dict[str, int] = {}
    numbers = set[int]()
    for cut in cuts:
        for topic in TOPICS:
            route = make_route(BY_TOPIC, topic)
            replay = NumberedReplay(route, None, None, store, store, marks=marks)  # type: ignore[arg-type]  # none is asked
            number = replay._intent()[0]
            if topic in open_numbers:
                assert number == open_numbers[topic], "its good rows may be there under that number"
            else:
                assert number not in numbers
                assert number > marks.get(topic, 0)
            numbers.add(number)
            open_numbers[topic] = number
            if cut is not None and cut[0] == topic and cut[1] != "marks":
                break
            marks[topic] = open_numbers.pop(topic)
            if cut == (topic, "marks"):
                break


@given(st.lists(st.none() | st.tuples(st.sampled_from(TOPICS), st.sampled_from(STEPS)), max_size=8))
@example([("b", "good rows"), None])
@example([None, ("b", "plan"), ("a", "marks"), None])
def test_a_replay_that_was_cut_short_is_completed_under_its_number(
    plan: DecodePlan, cuts: list[tuple[str, str] | None]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RoutePlanner, "make_fitting", lambda *_: plan)
        run_replays(plan, cuts)


@pytest.mark.parametrize("own", [EVERY, BadRowFilter(("TRAILING",)), BadRowFilter((), 7)], ids=str)
@pytest.mark.parametrize("cut", [None, EVERY, BadRowFilter(("TRAILING",))], ids=str)
def test_a_replay_that_was_cut_short_is_completed_with_the_rows_that_it_meant_before_others(
    plan: DecodePlan, cut: BadRowFilter | None, own: BadRowFilter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RoutePlanner, "make_fitting", lambda *_: plan)
    store = NumberStore(None, LakeTable("plans"), "w", {}, set())  # type: ignore[arg-type]  # nothing is stored there
    filters: dict[int, BadRowFilter] = {}
    runs: list[tuple[int, int, BadRowFilter]] = []
    marks: dict[str, int] = {}

    def begin(row_filter: BadRowFilter) -> FilteredReplay:
        route = make_route(BY_TOPIC, "a")
        return FilteredReplay(route, None, None, store, store, row_filter, marks, filters, runs)  # type: ignore[arg-type]  # none is asked

    if cut is not None:
        begin(cut)._intent()
    report = begin(own).replay(dry_run=False)
    meant = [own] if cut in {None, own} else [cut, own]
    assert runs == [(number, 3, one) for number, one in enumerate(meant, 1)]
    assert report == ReplayReport(len(meant), 6, 2, (("MALFORMED", 3), ("TRAILING", 1)), "a")
    assert begin(own).replay(dry_run=False).number == len(meant) + 1


def test_a_filter_by_time_is_refused_where_rows_have_none() -> None:
    nobody: Any = None
    since = BadRowFilter(since=datetime.now(UTC))
    for dry_run in (False, True):
        with pytest.raises(ValueError, match="does not say when a row was found"):
            replay(BY_TOPIC, nobody, nobody, since, dry_run=dry_run)
    with pytest.raises(ValueError, match="does not say when a row was found"):
        remaining_bad_rows(nobody, BY_TOPIC.bad_table, since)

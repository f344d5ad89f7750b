"""Numbers of replays: one that is cut short is completed under its number, whatever other topics did since. No Spark runs here."""

from collections.abc import Sequence
from dataclasses import dataclass, field

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
from treaty.spark.pipelines.replay import EVERY, _RouteReplay
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

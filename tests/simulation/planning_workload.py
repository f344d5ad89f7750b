"""What clients and planners ask about statements that wait for their plans, beside what is asked of sources and types."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.simulation import metastore_workload as sources
from tests.simulation.asker import Asker
from tests.simulation.judging.model.metastore.state import leases, planning, unwanted
from tests.simulation.metastore_workload import Made, SourceAsker, create_source
from treaty.core.messages.associations import EntryRefusal
from treaty.core.messages.metastore import plans as p
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.deleted_topics import LeaseTopics, ListDeletedTopics
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.request import Request
from treaty.core.messages.versions import DeleteVersion
from treaty.core.refusals import Reason
from treaty.core.sources import PlanningJob

PLANNERS = ("p1", "p1", "p2", "")


def request_plan(ask: SourceAsker) -> Request[Any]:
    """A statement that waits for its plan, not long."""
    name = ask.name()
    return p.RequestPlan(
        name, "CREATE AS", (("RETENTION", "1"),) if ask.often(0.2) else (), ask.chance.choice(["", "t1"]),
        ask.often(0.4), ask.often(0.2), ask.expected(name), ask.often(0.05), ask.chance.choice([1, 2, 5, 60, 60, 0]),
    )  # fmt: skip


def job(ask: SourceAsker) -> tuple[str, PlanningJob]:
    """A statement that waits, or did."""
    there = planning(ask.past())
    if not there or ask.often(0.05):
        return ask.name(), PlanningJob("")
    return ask.chance.choice(list(there.items()))


def take_planning_job(ask: SourceAsker) -> Request[Any]:
    name, waiting = job(ask)
    return p.TakePlanningJob(name, ask.chance.choice(PLANNERS), waiting.epoch if ask.often(0.2) else 0)


def finish_planning_job(ask: SourceAsker) -> Request[Any]:
    """The answer of who has the job, mostly."""
    name, waiting = job(ask)
    planner = waiting.planner or ask.chance.choice(PLANNERS)
    if ask.often(0.03):
        planner, waiting = "other", replace(waiting, epoch=waiting.epoch + 1)
    if ask.often(0.25):
        refusal = EntryRefusal("invalid", Reason("QUERY_REFUSED", "no"))
        asked = (ask.name(),) if ask.often(0.5) else ()
        return p.FinishPlanningJob(name, planner, waiting.epoch, refusal=refusal, sources=asked)
    made = create_source(ask)
    while not isinstance(made, m.CreateSource):
        made = create_source(ask)
    planned = replace(
        made.definition, name=name if ask.often(0.97) else "else", query=ask.plan(made.definition.columns)
    )
    return p.FinishPlanningJob(name, planner, waiting.epoch, replace(made, definition=planned))


def of_a_statement(ask: SourceAsker, kind: type) -> Request[Any]:
    name, waiting = job(ask)
    asked: Request[Any] = kind(name, waiting.command or "none")
    return asked


def lease_topics(ask: SourceAsker) -> Request[Any]:
    """Who has the lease mostly, about topics that are to go."""
    there, going = leases(ask.past()), list(unwanted(ask.past()))
    cluster = ask.chance.choice([place[0] for place in going] or ["main", ""])
    names = [place[1] for place in going if place[0] == cluster] or ["t1"]
    lease = there.get(cluster)
    holder = lease.holder if lease is not None and ask.often(0.7) else ask.chance.choice(PLANNERS)
    epoch = 0 if lease is None or ask.often(0.1) else lease.epoch
    begin, gone = ((tuple(names[:2]) if ask.often(0.5) else ()) for _ in range(2))
    return LeaseTopics(cluster, holder, epoch, begin, gone, ask.often(0.3))


COMMANDS: Sequence[tuple[float, type, Made]] = (
    *sources.COMMANDS,
    (3, p.RequestPlan, request_plan),
    (3, p.TakePlanningJob, take_planning_job),
    (4, p.FinishPlanningJob, finish_planning_job),
    (2, LeaseTopics, lease_topics),
    (0.5, p.WithdrawPlan, lambda a: of_a_statement(a, p.WithdrawPlan)),
)
"""What writes: how often, and what."""
QUERIES: Sequence[tuple[float, type, Made]] = (
    *sources.QUERIES,
    (
        1,
        ListQueries,
        lambda a: ListQueries("", 0, a.chance.choice(["", "", "a", "b"]), a.chance.choice([0, 1, 2, 1_000])),
    ),
    (0.5, ListDeletedTopics, lambda _: ListDeletedTopics()),
    (1, p.GetPlan, lambda a: of_a_statement(a, p.GetPlan)),
    (1, p.ListPlanningJobs, lambda a: p.ListPlanningJobs(a.often(0.5), a.chance.choice([0, 1, 3]))),
)


def _generator(make: Made) -> Callable[[Asker], Any]:
    return lambda ask: make(SourceAsker(ask.chance))


GENERATORS: Mapping[type, Callable[[Asker], Any]] = {
    kind: _generator(make) for _, kind, make in (*reversed(COMMANDS), *QUERIES) if kind is not DeleteVersion
}
"""Kinds of requests of sources and types, for who knows nothing of what is there."""

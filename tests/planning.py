"""A planner for tests: it takes the jobs of a registry, and plans one form of query, ``SELECT columns FROM STREAM source``."""

import re
import threading
from dataclasses import dataclass, field
from typing import Self

from treaty.core.column_types import parse_column_type
from treaty.core.messages.metastore.plans import ListPlanningJobs, PlanOutcome, TakePlanningJob
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.refusals import RegistryError
from treaty.core.registry import Exchange, Registry, request_answer, run_exchange
from treaty.core.sources import QueryPlan, SourceRead
from treaty.metastore.execution.planner import PlannedQuery, answer_job
from treaty.metastore.execution.results import InvalidStatementError
from treaty.metastore.sql.diagnostics import SqlDiagnostic
from treaty.metastore.sql.statements import CreateSourceStatement
from treaty.metastore.sql.values import HeadColumn

QUERY = re.compile(r"SELECT ([\w, ]+) FROM STREAM (\w+)")


class SelectPlanner:
    """Plans ``SELECT columns FROM STREAM source``; `planned` counts the plans."""

    def __init__(self) -> None:
        self.planned = 0

    def plan(self, statement: CreateSourceStatement) -> Exchange[PlannedQuery]:
        self.planned += 1
        found = QUERY.fullmatch(statement.body)
        if found is None:
            wrong = SqlDiagnostic("QUERY_REFUSED", "this query is not of the form that is planned", 0, 6, 1, 1)
            raise InvalidStatementError.by([wrong])
        there = (yield from request_answer(DescribeSource(found[2]))).source
        names = tuple(name.strip() for name in found[1].split(","))
        columns = {column.name: column for column in there.columns}
        value = None if there.value is None else there.value.pin
        read = SourceRead(
            found[2].lower(), there.generation, found[2], columns=names, value=value, revision=there.revision
        )
        chosen = (columns[name] for name in names)
        heads = tuple(HeadColumn(one.name, parse_column_type(one.type), nullable=one.nullable) for one in chosen)
        return PlannedQuery(QueryPlan(statement.body, (read,), engine="test"), heads, ("planned by hand",))


def plan_once(registry: Registry, planner: SelectPlanner, name: str = "p1", wait: int = 0) -> PlanOutcome | None:
    """Take the first free job, if there is one, and answer it."""
    for job in registry.ask(ListPlanningJobs(wait=wait)).answer.jobs:
        taken = registry.ask(TakePlanningJob(job.name, name)).answer
        return registry.ask(run_exchange(registry, answer_job(planner, job, taken))).answer
    return None


@dataclass
class PlannerThread:
    """A planner that works until it is stopped, as a context manager."""

    registry: Registry
    planner: SelectPlanner = field(default_factory=SelectPlanner)
    name: str = "p1"
    outcomes: list[PlanOutcome] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._work, name=self.name)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        assert self._thread is not None
        self._thread.join()

    def _work(self) -> None:
        while not self._ended.is_set():
            try:
                outcome = plan_once(self.registry, self.planner, self.name, wait=1)
            except RegistryError:
                continue
            if outcome is not None:
                self.outcomes.append(outcome)

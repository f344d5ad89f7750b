"""The work of a planner on the statements that wait in a registry: take one, say that it is worked on, answer it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from treaty.core.messages.metastore.plans import (
    ListPlanningJobs,
    PlanningJobTaken,
    PlanOutcome,
    TakePlanningJob,
    WaitingStatement,
)
from treaty.core.refusals import NotFound, NotLatest, OutcomeUnknown, RegistryError, Unavailable
from treaty.core.registry import Registry, run_exchange
from treaty.metastore.execution.planner import Planner, answer_job

WAIT_SECONDS = 5
"""Seconds of one wait for a statement; the jobs of a silent planner are looked for again after it."""
ALIVE_SECONDS = 3
"""Seconds after which a planner says again that it works on a statement."""
RETRY_SECONDS = 2
"""Seconds after which a registry that could not be reached is asked again."""
ANSWERS = 3
"""How often an answer is sent whose outcome is not known; the command is the same each time."""


class PlanningLoop:
    """Works on statements until it is to end.

    `on_outcome` gets what became of each statement; None: it was taken by another planner, withdrawn or too late. `on_unreachable` gets why the
    registry could not be asked.
    """

    def __init__(
        self,
        registry: Registry,
        planner: Planner,
        name: str,
        *,
        on_outcome: Callable[[WaitingStatement, PlanOutcome | None], None],
        on_unreachable: Callable[[str], None],
    ) -> None:
        """Work as the planner of this name; each process has its own."""
        self._registry = registry
        self._planner = planner
        self._name = name
        self._on_outcome = on_outcome
        self._on_unreachable = on_unreachable

    def run(self, ending: Event, *, once: bool = False) -> None:
        """Work until `ending` is set; with `once` until no statement waits. A registry that can't be reached is asked again."""
        while not ending.is_set():
            try:
                jobs = self._registry.ask(ListPlanningJobs(wait=0 if once else WAIT_SECONDS)).answer.jobs
                for job in jobs:
                    self._on_outcome(job, self._work(job, ending))
            except (Unavailable, OutcomeUnknown) as error:
                if once:
                    raise
                self._on_unreachable(str(error))
                ending.wait(RETRY_SECONDS)
                continue
            if once and not jobs:
                return

    def _work(self, job: WaitingStatement, ending: Event) -> PlanOutcome | None:
        """What became of a statement; None where it is no longer this planner's. Raises `Unavailable` where it could not be planned now."""
        try:
            claim = self._registry.ask(TakePlanningJob(job.name, self._name)).answer
            with self._keep_alive(claim):
                answer = run_exchange(self._registry, answer_job(self._planner, job, claim))
            if ending.is_set():
                return None
            for attempt in range(ANSWERS):
                try:
                    return self._registry.ask(answer).answer
                except OutcomeUnknown:
                    if attempt == ANSWERS - 1:
                        raise
        except (NotFound, NotLatest):
            return None
        return None

    @contextmanager
    def _keep_alive(self, claim: PlanningJobTaken) -> Iterator[None]:
        """Say every few seconds that the work continues, for as long as the block runs."""
        ended = Event()

        def say() -> None:
            while not ended.wait(ALIVE_SECONDS):
                try:
                    self._registry.ask(TakePlanningJob(claim.name, claim.planner, claim.epoch))
                except RegistryError:
                    continue  # the answer will say whose job it is

        thread = Thread(target=say, name="planner alive", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

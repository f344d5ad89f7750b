"""The requests by which a statement asks for the plan of its query and a planner takes the job and answers: their members, defaults and answers;
decided in `planning_jobs.py` and `planners.py` of `core/handlers/metastore`.
"""

from dataclasses import dataclass
from typing import Literal

from treaty.core.limits import PLANNING_SECONDS
from treaty.core.messages.associations import EntryRefusal
from treaty.core.messages.metastore.sources import CreateSource, ExpectedSource, SourceStored
from treaty.core.messages.request import Request
from treaty.core.schema import Pairs
from treaty.core.sources import QueryPlan, SourceColumn

PLAN_OUTCOME = "plan-outcome"
"""What the answer `PlanOutcome` is called among the outcomes of commands."""
PlanState = Literal["waiting", "stored", "refused", "expired"]
"""What became of a statement: a planner has it to do, its source is written, it was refused, or no plan came in time."""


@dataclass(frozen=True, slots=True)
class StatementFault:
    """An error in a statement: offsets in code points of its text, line and column from 1, what is expected there, and a hint."""

    code: str
    message: str
    start: int = 0
    end: int = 0
    line: int = 1
    column: int = 1
    expected: tuple[str, ...] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True)
class PlannedSource:
    """What a statement would create: the kind, the columns that come out, and the query with its plan."""

    kind: str
    columns: tuple[SourceColumn, ...]
    query: QueryPlan | None = None


@dataclass(frozen=True, slots=True)
class PlanOutcome:
    """What became of a statement with a query.

    `command` is the id of the command by which it was sent, `deadline` the end of the wait in ms since the epoch. `stored` is
    the source of the state "stored", `refusal` the reason of "refused", with all errors of the text as `faults`. `planner` works on
    one that is "waiting"; `attempts` is how often a plan for it came too late. `planned` is what a dry run would have written.
    """

    state: PlanState
    name: str
    command: str = ""
    deadline: int = 0
    planner: str = ""
    attempts: int = 0
    stored: SourceStored | None = None
    refusal: EntryRefusal | None = None
    faults: tuple[StatementFault, ...] = ()
    planned: PlannedSource | None = None


@dataclass(frozen=True, slots=True)
class WaitingStatement:
    """A statement that waits for its plan; the members are those of `PlanningJob`. `is_free`: a planner may take it now."""

    name: str
    statement: str
    properties: Pairs
    deadline: int
    is_free: bool
    planner: str = ""
    attempts: int = 0
    replace: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class PlanningJobs:
    """Statements that wait for their plans, those with the nearest deadline first."""

    jobs: tuple[WaitingStatement, ...]


@dataclass(frozen=True, slots=True)
class PlanningJobTaken:
    """A planner has a job: the epoch that its answer names, and the end of the wait (ms since the epoch)."""

    name: str
    planner: str
    epoch: int
    deadline: int


# ------------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class RequestPlan(Request[PlanOutcome]):
    """Ask for the plan of a statement that creates a source by a query, and for the source to be written with it.

    `name` is the name of the source, `statement` the whole statement with its variables replaced, and `properties` are those that
    the statement has with the defaults of its script. `place` is the topic, if it is one, whose rights are needed. A source that
    exists is refused, or with `if_not_exists` answered as it is, before anything is planned. The wait ends after `seconds`.
    """

    name: str
    statement: str
    properties: Pairs = ()
    place: str = ""
    replace: bool = False
    if_not_exists: bool = False
    expected: ExpectedSource | None = None
    dry_run: bool = False
    seconds: int = PLANNING_SECONDS


@dataclass(frozen=True, slots=True)
class TakePlanningJob(Request[PlanningJobTaken]):
    """Take the planning of a statement, as the planner of this name; or (`epoch`) say that the work on it continues.

    A planner that is silent for PLANNER_SILENT_SECONDS loses the job to the next planner that takes it.
    """

    name: str
    planner: str
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class FinishPlanningJob(Request[PlanOutcome]):
    """Answer a job that this planner took at this epoch: with the source and its plan, or with a refusal.

    The source is written as a CREATE of the sender would write it, with the sender's rights, and the job ends in the same commit.
    The text of a refusal is for a sender who may read all that it can name; any other one learns which permission is missing. A
    plan that comes too late for what it reads is planned again, PLANNING_ATTEMPTS times at most.
    """

    name: str
    planner: str
    epoch: int
    create: CreateSource | None = None
    refusal: EntryRefusal | None = None
    faults: tuple[StatementFault, ...] = ()
    notes: tuple[str, ...] = ()
    """Warnings for the sender of the statement; limits.WARNINGS of them count."""
    sources: tuple[str, ...] = ()
    """Names of the sources that the planner asked about. The sender of a refused statement learns why only with `query` on them."""
    subjects: tuple[str, ...] = ()
    """Subjects (qualified) whose schemas the planner read, or named to the sender: these need `read`."""


@dataclass(frozen=True, slots=True)
class WithdrawPlan(Request[PlanOutcome]):
    """End the wait of a statement that this principal sent by a command; answers what became of it, if it has ended already."""

    name: str
    command: str


# -------------------------------------------------------------------------------------------------------- queries


@dataclass(frozen=True, slots=True)
class GetPlan(Request[PlanOutcome]):
    """What became of a statement that this principal sent by a command; waits up to `wait` seconds while it is "waiting"."""

    name: str
    command: str
    wait: int = 0


@dataclass(frozen=True, slots=True)
class ListPlanningJobs(Request[PlanningJobs]):
    """Statements that wait for their plans: those that are free, or (`taken`) all of them.

    Waits up to `wait` seconds while there is none.
    """

    taken: bool = False
    limit: int = 1
    wait: int = 0

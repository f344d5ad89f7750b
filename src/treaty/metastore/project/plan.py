"""The plan of a project: what would be created, changed and dropped, each step with its difference and what refuses it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from treaty.core.messages.metastore.sources import ExpectedSource
from treaty.core.refusals import Reason
from treaty.metastore.project.objects import ProjectObject
from treaty.metastore.sql.statements import SqlStatement

CREATE, CHANGE, DROP, KEEP = "create", "change", "drop", "unchanged"
ACTIONS = (CREATE, CHANGE, DROP, KEEP)
REFUSED, HELD = "refused", "waiting"
OUTCOMES = (*ACTIONS, REFUSED, HELD)
"""What a plan counts: a step that would be refused, or that waits for a planner, does nothing of its action."""
WAITING = "PLANNER_MISSING"
"""The rule of a query that waits for a planner."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A statement that a plan would carry out, in its place of the order; of an object that stays as it is none.

    `action` is one of `ACTIONS`, `kind` STREAM, TABLE or TYPE. `differences` are the lines of the old and the new print.
    `expected` is the state of the source that the step was planned on. `closure` are the sources that go along with a drop, or that read
    what is changed. `is_checked` says that the registry has carried the statement out dry; the others need what earlier steps create.
    `refusal_place` are line and column of what is refused, where it is known better than that of the statement. `columns` are those
    that come out of a query, as SQL has them, where a planner has said them.
    """

    action: str
    kind: str
    name: str
    file: str = ""
    line: int = 0
    differences: tuple[str, ...] = ()
    statement: SqlStatement | None = None
    text: str = ""
    expected: ExpectedSource | None = None
    closure: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refusal: Reason | None = None
    is_checked: bool = True
    column: int = 0
    refusal_place: tuple[int, int] = (0, 0)
    columns: tuple[str, ...] = ()

    @property
    def is_waiting(self) -> bool:
        """Whether only a planner is missing."""
        return self.refusal is not None and self.refusal.rule == WAITING

    @property
    def found_place(self) -> tuple[int, int]:
        """Line and column of what is refused, else of the statement."""
        return self.refusal_place if self.refusal_place[0] else (self.line, self.column)

    @property
    def outcome(self) -> str:
        """What becomes of the step, one of `OUTCOMES`."""
        return HELD if self.is_waiting else self.action if self.refusal is None else REFUSED

    def refuse(self, refusal: Reason) -> "PlannedStep":
        """Return the step with what refuses it; nothing goes along with a drop that is refused."""
        return replace(self, refusal=refusal, closure=() if self.action == DROP else self.closure)

    @property
    def place(self) -> str:
        """The file and line, for messages; empty for what no file describes."""
        return f"{self.file}:{self.line}" if self.file else ""


@dataclass(frozen=True, slots=True)
class ProjectPlan:
    """The steps of a plan in their order, notes about what it leaves alone, and how many steps have each of `OUTCOMES`."""

    steps: tuple[PlannedStep, ...]
    label: str = ""
    notes: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        """Count the steps by what becomes of them."""
        counts = {outcome: sum(step.outcome == outcome for step in self.steps) for outcome in OUTCOMES}
        object.__setattr__(self, "counts", counts)

    @property
    def changes(self) -> tuple[PlannedStep, ...]:
        """The steps that change something."""
        return tuple(step for step in self.steps if step.action != KEEP)

    @property
    def refused(self) -> tuple[PlannedStep, ...]:
        """The steps that would be refused; those that wait for a planner alone are not among them."""
        return tuple(step for step in self.steps if step.refusal is not None and not step.is_waiting)

    @property
    def waiting(self) -> tuple[PlannedStep, ...]:
        """The steps that wait for a planner, and those after them that need what they create."""
        return tuple(step for step in self.steps if step.is_waiting)


def kind_of_object(described: ProjectObject) -> str:
    """Return STREAM, TABLE or TYPE."""
    return "TYPE" if described.key[0] == "type" else getattr(described.statement, "kind", "STREAM")


def describe_refusals(plan: ProjectPlan) -> Iterator[str]:
    """Yield what is refused, with its difference."""
    for step in plan.refused:
        assert step.refusal is not None, "the step is refused"
        place = f" ({step.place})" if step.place else ""
        yield f"{step.kind} {step.name}{place}: {step.refusal.rule} {step.refusal.message}"
        if step.refusal.allowed not in step.refusal.message:  # errors of a text have it in both
            yield f"    allowed: {step.refusal.allowed}"
        yield from (f"    {line}" for line in step.differences)

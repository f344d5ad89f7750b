"""What `decide` is given and what comes out: a `Command`, a `Decision` of rows and an answer, or `OpenQuestions` for the schema
service.
"""

from collections.abc import Generator, Iterable
from dataclasses import field
from typing import Any, Generic, TypeVar

from treaty.core.access.rights import Access
from treaty.core.messages.request import Request
from treaty.core.schema_engine import Question, SchemaEngine
from treaty.core.state.rows import Row
from treaty.core.state.state_tables import TABLES, OutcomeKey
from treaty.core.state.table import Key
from treaty.core.state.view import Overlay, View
from treaty.light_dataclass import dataclass

A = TypeVar("A")
R = TypeVar("R", bound=Request[Any], covariant=True)


@dataclass(frozen=True, slots=True)
class Command(Generic[R]):
    """A request with its circumstances.

    `command_id` is the idempotency key; `time` (ms since the epoch) and `principal` are inputs, because handlers have
    neither clock nor authentication. `access` limits what is done and shown (None: no rights are configured).
    """

    request: R
    command_id: str
    time: int
    principal: str = ""
    access: Access | None = None
    again: bool = False
    """Whether another node may be executing it too."""
    log_topics: tuple[str, ...] = ()
    """Topics that the log itself is in, which no statement writes to. The node that decides adds them."""

    @property
    def outcome_key(self) -> OutcomeKey:
        """The key of its outcome; command ids are separate for each principal."""
        return OutcomeKey(self.principal, self.command_id)


@dataclass(frozen=True, slots=True)
class Decision(Generic[A]):
    """A request is accepted: the rows of the commit (empty: nothing to write), and the answer, valid once they are
    durable.

    `repeated`: the answer is from the `outcome` table, because the command was decided before. `settles` are earlier commands whose
    answers are final by this one, with these answers. `rehearsal`: a dry run, whose rows are checked as if they were written.
    """

    rows: tuple[Row, ...]
    answer: A
    repeated: bool = False
    settles: tuple[tuple[OutcomeKey, Any], ...] = ()
    rehearsal: bool = False


@dataclass(frozen=True, slots=True)
class OpenQuestions:
    """A decision needs answers to these questions first; then decide again."""

    questions: tuple[Question, ...]


class UnansweredError(Exception):
    """The engine can't answer these questions at once; `decide` turns this into `OpenQuestions`."""

    def __init__(self, questions: tuple[Question, ...]) -> None:
        """Keep the questions."""
        super().__init__(len(questions))
        self.questions = questions


PausingWork = Generator[None, None, A]
"""Long work as a generator with pauses; what it reads must not change before it returns."""


def finish_work(work: PausingWork[A]) -> A:
    """Run work to its end without pauses."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: A = end.value
            return result


@dataclass(slots=True)
class StagedView:
    """A view with the rows that a command has come to so far."""

    base: View
    command: Command[Any]
    engine: SchemaEngine
    operation: str
    """The name of the command's operation."""
    rehearsal: bool = False
    """Whether nothing of it is to be written."""
    view: Overlay = field(init=False)
    rows_by_key: dict[tuple[str, Key], Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Show just the base."""
        self.view = Overlay(self.base)

    def put(self, rows: Iterable[Row]) -> None:
        """Add rows; the last one with a key counts."""
        rows = tuple(rows)
        self.view.put(rows, 0)
        for row in rows:
            self.rows_by_key.pop((row.table, row.key), None)
            self.rows_by_key[row.table, row.key] = row

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows; what came and went again is not among them."""
        is_below = self.base.get
        rows = self.rows_by_key.values()
        return tuple([row for row in rows if row.value is not None or is_below(TABLES[row.table], row.key) is not None])

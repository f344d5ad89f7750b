"""What is asked about a body, and what is answered: its text with the sources that it may read, and a plan or a refusal.

The planner knows no registry: what it needs is part of the question.
"""

from dataclasses import dataclass

from treaty.core.sources import QueryPlan, SchemaPin, SourceColumn


@dataclass(frozen=True, slots=True)
class ReadableSource:
    """A source that a body may read, as its row says.

    `columns` have their types written out. `watermark` is the property (``ts DELAY OF INTERVAL 10 seconds``), `deduplicate` its
    columns. `is_joinable` says whether the newest rows of a table can be read beside a stream: it is kept as Delta.
    """

    name: str
    kind: str
    generation: int
    columns: tuple[SourceColumn, ...]
    watermark: str = ""
    deduplicate: tuple[str, ...] = ()
    is_joinable: bool = False
    key: SchemaPin | None = None
    value: SchemaPin | None = None
    revision: int = 1
    """Of the row: a plan over another one is refused."""
    has_records: bool = False
    """Whether its rows are records, with pseudo-columns: those of topics and files are."""


@dataclass(frozen=True, slots=True)
class QueryBody:
    """The body of a CREATE … AS: the name and kind of the source that it fills, the text, and what it may read.

    `key` are the columns that the head declares as the key. `is_final`: EMIT FINAL. `is_unbounded`: ALLOW_UNBOUNDED_STATE.
    """

    name: str
    kind: str
    text: str
    sources: tuple[ReadableSource, ...] = ()
    key: tuple[str, ...] = ()
    is_final: bool = False
    is_unbounded: bool = False


@dataclass(frozen=True, slots=True)
class BodyPlan:
    """What a body is planned to: the plan of the row, the columns that come out (the key's have the role key), and notes for the
    user.
    """

    plan: QueryPlan
    columns: tuple[SourceColumn, ...]
    notes: tuple[str, ...] = ()


class BodyRefusedError(Exception):
    """A body is refused. `start` and `end` are offsets in code points of the body, -1 where Spark has none; `hint` is the way round."""

    def __init__(self, code: str, message: str, hint: str = "", start: int = -1, end: int = -1) -> None:
        """Keep the parts."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.start = start
        self.end = end


class PlannerEndedError(Exception):
    """A planner does not start, or has ended without an answer; the message has the remedy."""

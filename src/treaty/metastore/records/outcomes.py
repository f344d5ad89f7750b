"""What statements that write records came to, for the audit log of a server: one value for each, accepted or not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import time
from typing import Protocol

from treaty.core.sources import Source
from treaty.metastore.sql.statements import DeleteStatement, InsertStatement, UpdateStatement

WRITES = (InsertStatement, UpdateStatement, DeleteStatement)
"""Statements that write records."""
KINDS = {InsertStatement: "insert-records", UpdateStatement: "update-records", DeleteStatement: "delete-records"}
"""What the audit log calls them, beside the names of operations."""


@dataclass(frozen=True, slots=True)
class RecordsOutcome:
    """A statement that writes records has ended, or its client has gone.

    `records` is how many it has. `source` is the source as the registry answered it; None where it did not. `began` is the time at which the
    statement began, in seconds since the epoch. `failure` is why nothing was written, or why that is unknown; None: all records were.
    """

    kind: str
    name: str
    records: int
    source: Source | None
    dry_run: bool
    began: float
    command: str = ""
    sequence: int = 0
    failure: BaseException | None = None


ReportRecords = Callable[[RecordsOutcome], None]
"""Takes what a statement that writes records came to."""


class SeenAnswers(Protocol):
    """What a registry has answered to a statement."""

    source: Source | None
    """The source that records go to; None before the registry has named it."""

    @property
    def sequence(self) -> int:
        """The sequence of the last answer."""
        ...


@contextmanager
def reported_records(
    report: ReportRecords | None, statement: object, answers: SeenAnswers, command: str, *, dry_run: bool
) -> Iterator[None]:
    """Report what a statement came to that runs in the block, also where its client is gone; none that writes no records."""
    if report is None or not isinstance(statement, WRITES):
        yield
        return
    records = len(statement.rows) if isinstance(statement, InsertStatement) else 1
    outcome = RecordsOutcome(KINDS[type(statement)], statement.name, records, None, dry_run, time(), command)
    try:
        yield
    except BaseException as failure:
        report(replace(outcome, source=answers.source, sequence=answers.sequence, failure=failure))
        raise
    report(replace(outcome, source=answers.source, sequence=answers.sequence))

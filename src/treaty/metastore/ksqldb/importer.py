"""The import of a command topic: statements carried out one after the other, and a report of what was taken and what was not."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from treaty.core.messages.metastore import DescribeSource, DescribeType
from treaty.core.refusals import NotFound, Refusal
from treaty.metastore.ksqldb.commands import CommandState, PassedRecord
from treaty.metastore.ksqldb.statements import MARK, ImportedObject, ImportedQuery, list_objects, list_queries, quote
from treaty.metastore.metastore import Metastore

TAKEN, UNCHANGED, DROPPED, LEFT = "taken", "unchanged", "dropped", "not taken"
"""What became of an object."""


@dataclass(frozen=True, slots=True)
class ImportLine:
    """An object, what became of it, and why where it was not taken; `notes` are what its schema does not keep."""

    kind: str
    name: str
    outcome: str
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class ImportReport:
    """What an import came to."""

    records: int = 0
    lines: list[ImportLine] = field(default_factory=list)
    queries: list[ImportedQuery] = field(default_factory=list)
    passed: list[PassedRecord] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether every record was read and every object is taken."""
        return not self.passed and all(line.outcome != LEFT for line in self.lines)


def import_state(metastore: Metastore, state: CommandState, *, dry_run: bool = False) -> ImportReport:
    """Make sources and types what the commands come to. What is the same already is not written; what no import has made stays.

    Raises `Unavailable` where the registry does not answer.
    """
    report = ImportReport(state.count, passed=list(state.passed), queries=list(list_queries(state)))
    report.lines.extend(_drop(metastore, state, dry_run=dry_run))
    report.lines.extend(_take(metastore, one, dry_run=dry_run) for one in list_objects(state))
    return report


def _drop(metastore: Metastore, state: CommandState, *, dry_run: bool) -> Iterator[ImportLine]:
    """Drop what an import has made and ksqlDB has not any more; readers before what they read, as far as two rounds go."""
    for name, kind in reversed(state.gone.items()):
        if not _is_own(metastore, kind, name):
            continue
        try:
            if not (dry_run and kind == "TYPE"):
                metastore.run_one(f"DROP {kind} {quote(name)}", dry_run=dry_run)
        except Refusal as no:
            yield ImportLine(kind, name, LEFT, str(no))
        else:
            yield ImportLine(kind, name, DROPPED)


def _take(metastore: Metastore, one: ImportedObject, *, dry_run: bool) -> ImportLine:
    if one.reason:
        return ImportLine(one.kind, one.name, LEFT, one.reason)
    try:
        if _is_foreign(metastore, one):
            return ImportLine(one.kind, one.name, LEFT, "there is one of this name here, which no import has made")
        if dry_run and one.kind == "TYPE":
            return ImportLine(one.kind, one.name, TAKEN)
        result = metastore.run_one(one.statement, dry_run=dry_run)
    except Refusal as no:
        allowed = f"; allowed: {no.reason.allowed}" if no.reason.allowed else ""
        return ImportLine(one.kind, one.name, LEFT, f"{no}{allowed}")
    outcome = UNCHANGED if result.message.endswith("unchanged") else TAKEN
    return ImportLine(one.kind, one.name, outcome, notes=result.warnings if outcome == TAKEN else ())


def _is_own(metastore: Metastore, kind: str, name: str) -> bool:
    return _comment_of(metastore, kind, name) == MARK


def _is_foreign(metastore: Metastore, one: ImportedObject) -> bool:
    return _comment_of(metastore, one.kind, one.name) not in {None, MARK}


def _comment_of(metastore: Metastore, kind: str, name: str) -> str | None:
    """Return the comment of a source or type; None where there is none of the name."""
    try:
        if kind == "TYPE":
            return metastore.registry.ask(DescribeType(name), metastore.call).answer.type.comment
        return metastore.registry.ask(DescribeSource(name), metastore.call).answer.source.comment
    except NotFound:
        return None

"""The import of a command topic: statements carried out one after the other, and a report of what was taken and what was not. What is left
of the topic's records is decided in `commands`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from treaty.core.messages.metastore.sources import (
    CreateSource,
    CreateType,
    DescribeSource,
    DescribeType,
    DropSource,
    DropType,
)
from treaty.core.messages.request import Request
from treaty.core.refusals import NotFound, Refusal
from treaty.core.registry import CALL, CallOptions, Registry, Reply
from treaty.core.sources import ImportedQuery
from treaty.metastore.ksqldb.commands import CommandState, PassedRecord
from treaty.metastore.ksqldb.statements import MARK, ImportedObject, list_objects
from treaty.metastore.ksqldb.suggestions import quote
from treaty.metastore.metastore import Metastore

TAKEN, CHANGED, UNCHANGED, DROPPED, PORTED, LEFT = "taken", "changed", "unchanged", "dropped", "ported", "not taken"
"""What became of an object; ported: its query is planned here, and an import leaves it alone."""
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class ImportLine:
    """An object, what became of it, and why where it was not taken; `notes` are what its schema does not keep."""

    kind: str
    name: str
    outcome: str
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReportedQuery:
    """A query of ksqlDB: its source, its ids and text, a statement to begin with, and `state`: PAUSED, ported or not taken."""

    name: str
    query_id: str
    original: str
    suggestion: str
    notes: tuple[str, ...] = ()
    state: str = "PAUSED"


@dataclass(slots=True)
class ImportReport:
    """What an import came to."""

    records: int = 0
    lines: list[ImportLine] = field(default_factory=list)
    queries: list[ReportedQuery] = field(default_factory=list)
    passed: list[PassedRecord] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether every record was read and every object is taken."""
        return not self.passed and all(line.outcome != LEFT for line in self.lines)


@dataclass(frozen=True, slots=True)
class ImportingRegistry:
    """A registry that marks what changes sources and types as sent by an import, and a source with its query in ksqlDB."""

    registry: Registry
    imported: ImportedQuery | None = None

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request."""
        marked: Any = request
        if isinstance(request, CreateSource):
            definition = replace(request.definition, imported=self.imported)
            marked = replace(request, definition=definition, importer=True)
        elif isinstance(request, CreateType | DropSource | DropType):
            marked = replace(request, importer=True)
        return self.registry.ask(cast("Request[A]", marked), call)

    def close(self) -> None:
        """Close the registry."""
        self.registry.close()


@dataclass(slots=True)
class CommandImport:
    """An import that is carried out again as commands come: what is settled and as it was is not asked about again."""

    metastore: Metastore
    dry_run: bool = False
    _settled: dict[tuple[str, str], tuple[ImportedObject, str]] = field(default_factory=dict)
    """Objects that are here as ksqlDB has them, and what they are to the next report."""
    _gone: set[str] = field(default_factory=set)
    """Names that were dropped, and need not be looked for again."""

    def run(self, state: CommandState) -> ImportReport:
        """Make sources and types what the commands come to. Raises `Unavailable` where the registry does not answer."""
        report = ImportReport(state.count, passed=list(state.passed))
        report.lines.extend(self._drop(state))
        for imported in list_objects(state):
            line = self._line(imported)
            report.lines.append(line)
            if (query := imported.query) is not None:
                left = {PORTED: PORTED, LEFT: LEFT}.get(line.outcome, "PAUSED")
                report.queries.append(
                    ReportedQuery(imported.name, query.id, query.original, query.suggestion, query.notes, left)
                )
        return report

    def _line(self, imported: ImportedObject) -> ImportLine:
        key = (imported.kind, imported.name)
        settled, outcome = self._settled.get(key, (None, ""))
        if settled == imported:
            return ImportLine(*key, outcome)
        line = _take(_wrap_metastore(self.metastore, imported.query), imported, dry_run=self.dry_run)
        if line.outcome != LEFT:
            self._settled[key] = (imported, PORTED if line.outcome == PORTED else UNCHANGED)
        return line

    def _drop(self, state: CommandState) -> Iterator[ImportLine]:
        """Drop what an import has made and ksqlDB has not any more; readers before what they read, as far as two rounds go."""
        self._gone &= state.gone.keys()
        metastore = _wrap_metastore(self.metastore)
        for name, kind in reversed(state.gone.items()):
            if name in self._gone:
                continue
            self._settled = {key: value for key, value in self._settled.items() if key[1] != name}
            line = _drop_one(metastore, kind, name, dry_run=self.dry_run)
            if line is None or line.outcome != LEFT:
                self._gone.add(name)
            if line is not None:
                yield line


def import_state(metastore: Metastore, state: CommandState, *, dry_run: bool = False) -> ImportReport:
    """Make sources and types what the commands come to. What is the same already is not written; what no import has made stays.

    Raises `Unavailable` where the registry does not answer.
    """
    return CommandImport(metastore, dry_run).run(state)


def _wrap_metastore(metastore: Metastore, query: ImportedQuery | None = None) -> Metastore:
    return Metastore(ImportingRegistry(metastore.registry, query), metastore.call)


def _drop_one(metastore: Metastore, kind: str, name: str, *, dry_run: bool) -> ImportLine | None:
    """Drop a source or type; None where there is none that an import has made."""
    if _find_comment(metastore, kind, name) != MARK:
        return None
    try:
        metastore.run_one(f"DROP {kind} {quote(name)}", dry_run=dry_run)
    except Refusal as no:
        return ImportLine(kind, name, LEFT, str(no))
    return ImportLine(kind, name, DROPPED)


def _take(metastore: Metastore, imported: ImportedObject, *, dry_run: bool) -> ImportLine:
    if imported.reason:
        return ImportLine(imported.kind, imported.name, LEFT, imported.reason)
    try:
        if imported.query is not None and _has_plan(metastore, imported.name):
            return ImportLine(imported.kind, imported.name, PORTED, "its query is planned here")
        if _find_comment(metastore, imported.kind, imported.name) not in {None, MARK}:
            return ImportLine(
                imported.kind, imported.name, LEFT, "there is one of this name here, which no import has made"
            )
        if imported.definition and _has_other_type(metastore, imported):
            return _replace_type(metastore, imported, dry_run=dry_run)
        result = metastore.run_one(imported.statement, dry_run=dry_run)
    except Refusal as no:
        allowed = f"; allowed: {no.reason.allowed}" if no.reason.allowed else ""
        return ImportLine(imported.kind, imported.name, LEFT, f"{no}{allowed}")
    word = result.message.removesuffix(f" {imported.name}").split()[-1]
    outcome = {UNCHANGED: UNCHANGED, CHANGED: CHANGED}.get(word, TAKEN)
    notes = (*imported.notes, *result.warnings) if outcome != UNCHANGED else ()
    return ImportLine(imported.kind, imported.name, outcome, notes=notes)


def _has_other_type(metastore: Metastore, imported: ImportedObject) -> bool:
    """Return whether there is a type of the name with another definition: it was dropped and created again since the last import."""
    try:
        stored = metastore.registry.ask(DescribeType(imported.name), metastore.call).answer.type
    except NotFound:
        return False
    return stored.definition != imported.definition


def _replace_type(metastore: Metastore, imported: ImportedObject, *, dry_run: bool) -> ImportLine:
    """Drop a type and create it again. Raises the refusal where something uses it."""
    metastore.run_one(f"DROP TYPE {quote(imported.name)}", dry_run=dry_run)
    if not dry_run:
        metastore.run_one(imported.statement)
    return ImportLine(imported.kind, imported.name, CHANGED)


def _has_plan(metastore: Metastore, name: str) -> bool:
    """Return whether there is a source of the name whose query is planned."""
    try:
        return metastore.registry.ask(DescribeSource(name), metastore.call).answer.source.query is not None
    except NotFound:
        return False


def _find_comment(metastore: Metastore, kind: str, name: str) -> str | None:
    """Return the comment of a source or type; None where there is none of the name."""
    try:
        if kind == "TYPE":
            return metastore.registry.ask(DescribeType(name), metastore.call).answer.type.comment
        return metastore.registry.ask(DescribeSource(name), metastore.call).answer.source.comment
    except NotFound:
        return None

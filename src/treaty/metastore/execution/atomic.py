"""A script as one commit: its statements are read one after the other, and their commands become one `RunScript`. Statements that can't be part
of one are refused here.

What a statement reads is answered as if the commands before it had been carried out; so a column is added to a stream that the
same script creates.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from treaty.core.handlers.metastore.scripts import place_of_refusal
from treaty.core.limits import SCRIPT_ATTEMPTS, SCRIPT_REPLAYED
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.scripts import PreviewScript, RunScript, SchemaAssertion, ScriptDone, ScriptMember
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetSchema
from treaty.core.refusals import NotFound, Refusal, RegistryError, TooLarge
from treaty.core.registry import Exchange, request_answer
from treaty.core.state.metastore.keys import key_of_name
from treaty.metastore.execution.answers import Answer, describe_answer, describe_held
from treaty.metastore.execution.context import StatementContext
from treaty.metastore.execution.listings import add_nearest_name
from treaty.metastore.execution.memory import recall_done
from treaty.metastore.execution.prefix import QUESTION_NAMES, list_needed, names_in
from treaty.metastore.execution.results import InvalidStatementError, StatementResult
from treaty.metastore.execution.statements import EXECUTORS, cells_of, kind_of
from treaty.metastore.sql import statements as s
from treaty.metastore.sql.diagnostics import SqlDiagnostic
from treaty.metastore.sql.script import ParsedStatement, StatementScript

A = TypeVar("A")
ExpectedSources = Sequence[m.ExpectedSource | None]
MEMBER_NAMES: dict[type, str] = {
    m.CreateSource: "create",
    m.ChangeSource: "change",
    m.SetSourceState: "state",
    m.DropSource: "drop",
    m.UndropSource: "undrop",
    m.CreateType: "create_type",
    m.DropType: "drop_type",
}
"""By class of command, its member of `ScriptMember`."""
OUTRUN = frozenset({
    "SOURCE_EXPECTED", "TYPE_GENERATION", "PIN_NOT_LIVE", "SOURCE_NOT_FOUND", "TYPE_NOT_FOUND", "SUBJECT_NOT_FOUND",
})  # fmt: skip
"""Rules of refusals that a script meets where what it was read from has changed since: it is read again."""
_SILENT = (s.DefineStatement, s.UndefineStatement, s.SetStatement, s.UnsetStatement)
_REFUSED: dict[type, tuple[str, str]] = {
    s.InsertStatement: ("writes records, which are in no commit", "it after the script"),
    s.UpdateStatement: ("writes records, which are in no commit", "it after the script"),
    s.DeleteStatement: ("writes records, which are in no commit", "it after the script"),
    s.AssertTopicStatement: ("asks Kafka, which is in no commit", "it before the script"),
}
_WAIT = s.AssertSchemaStatement().timeout


class AtomicScriptError(Exception):
    """A statement of a script is refused, and nothing of the script was carried out. `place` counts from 0, -1 is the whole script."""

    def __init__(self, place: int, error: RegistryError) -> None:
        """Keep the place and the error."""
        super().__init__(str(error))
        self.place = place
        self.error = error


@dataclass(slots=True)
class _Reading:
    """The statements of a script as far as they are read."""

    members: list[ScriptMember] = field(default_factory=list)
    names: list[frozenset[str]] = field(default_factory=list)
    """By member, what it may change and what it needs."""
    owners: list[int] = field(default_factory=list)
    """By member, the place of its statement."""
    waiting: dict[int, Generator[Request[Any], Any, Answer]] = field(default_factory=dict)
    """By member, the statement that waits for the answer of its command."""
    answers: dict[int, Answer] = field(default_factory=dict)
    """By place, answers that are known already."""
    replayed: int = 0
    """Commands that previews have decided so far."""
    own: set[str] = field(default_factory=set)
    """Sources and types that the script itself creates."""

    def add(self, place: int, command: Any) -> int:
        """Add a command of a statement, and return its place among the commands."""
        name = "assertion" if isinstance(command, SchemaAssertion) else MEMBER_NAMES[type(command)]
        members: dict[str, Any] = {name: _without_own(command, self.own)}
        self.members.append(ScriptMember(**members))
        self.names.append(names_in(self.members[-1]))
        self.owners.append(place)
        return len(self.members) - 1


def run_atomic(
    script: StatementScript, command_id: str = "", *, dry_run: bool = False, expected: ExpectedSources = ()
) -> Exchange[list[StatementResult]]:
    """Carry out the statements of a script in one commit, all or none; returns their results.

    `expected` has what the source of each statement must be, in their order; those after its end expect nothing.
    Raises `InvalidStatementError` for statements that can't be part of one, and `AtomicScriptError` with the refusal of the first
    statement that can't be carried out. What came to be by the same command id is answered as it was.
    """
    _refuse_unfit(script)
    digest = m.digest_statement(";".join(one.text for one in script.statements))
    if command_id and not dry_run:
        recalled = yield from recall_done(command_id)
        if isinstance(recalled, ScriptDone) and recalled.statement == digest:
            return list(_describe_recalled(script, recalled))
    try:
        return (yield from _repeat(lambda: _run_once(script, digest, dry_run=dry_run, expected=expected)))
    except AtomicScriptError as failed:
        if not isinstance(failed.error, NotFound):
            raise
        raise AtomicScriptError(failed.place, (yield from add_nearest_name(failed.error))) from failed


def preview_statements(script: StatementScript, expected: ExpectedSources = ()) -> Exchange[None]:
    """Check the statements of a script, one after the other on one state; nothing is written. Raises as `run_atomic` does."""
    _refuse_unfit(script)
    yield from _repeat(lambda: _preview_once(script, expected))


def _preview_once(script: StatementScript, expected: ExpectedSources) -> Exchange[None]:
    reading = yield from _read_all(script, expected, dry_run=True)
    try:
        yield from request_answer(PreviewScript(tuple(reading.members)))
    except Refusal as refused:
        raise _failure(refused, reading, -1) from refused


def _repeat(attempt: Callable[[], Exchange[A]]) -> Exchange[A]:
    """Read and carry out a script, again where what it was read from has changed meanwhile."""
    for last in (*(False,) * (SCRIPT_ATTEMPTS - 1), True):
        try:
            return (yield from attempt())
        except AtomicScriptError as failed:
            refused = failed.error
            if last or not isinstance(refused, Refusal) or refused.reason.rule not in OUTRUN:
                raise
    raise AssertionError("the last attempt raises or returns")


def _refuse_unfit(script: StatementScript) -> None:
    unfit = [found for one in script.statements if (found := _find_unfit(one)) is not None]
    if unfit:
        raise InvalidStatementError.by(unfit)


def _find_unfit(parsed: ParsedStatement) -> SqlDiagnostic | None:
    value = parsed.value
    why = _REFUSED.get(type(value), ("reads", "it after the script"))
    match value:
        case s.CreateSourceStatement(body=body) if body:
            why = ("… AS waits for a planner", "CREATE … AS after the script")
        case s.OnceStatement():
            why = ("waits for a planner", "it after the script")
        case s.AssertSchemaStatement(timeout=timeout) if timeout != _WAIT:
            why = ("with a TIMEOUT waits", "ASSERT without TIMEOUT, which is checked in the commit")
        case s.AssertSchemaStatement():
            return None
        case _ if isinstance(value, _SILENT) or type(value) in WRITING:
            return None
    message = f"{kind_of(value)} {why[0]}, so it is no part of one commit"
    return SqlDiagnostic(
        "ATOMIC_STATEMENT", message, parsed.start, parsed.end, parsed.line, parsed.column, hint=f"send {why[1]}"
    )


WRITING = frozenset({
    s.CreateSourceStatement, s.DropSourceStatement, s.UndropStatement, s.CreateTypeStatement, s.DropTypeStatement,
    s.AddColumnsStatement, s.RenameStatement, s.SwapStatement, s.SetPropertiesStatement, s.ProtectStatement, s.CommentStatement,
    s.RefreshSchemaStatement, s.PauseStatement, s.ResumeStatement, s.RestartStatement,
})  # fmt: skip
"""Statements that are one command each."""


def _read_all(script: StatementScript, expected: ExpectedSources, *, dry_run: bool) -> Exchange[_Reading]:
    reading = _Reading()
    for place, parsed in enumerate(script.statements):
        expected_source = expected[place] if place < len(expected) else None
        try:
            yield from _read_statement(reading, place, parsed, StatementContext(parsed.text, dry_run, expected_source))
        except RegistryError as refused:
            raise _failure(refused, reading, place) from refused
    return reading


def _run_once(
    script: StatementScript, digest: str, *, dry_run: bool, expected: ExpectedSources
) -> Exchange[list[StatementResult]]:
    reading = yield from _read_all(script, expected, dry_run=dry_run)
    if reading.members:
        try:
            script_done = yield from request_answer(RunScript(tuple(reading.members), dry_run, digest))
        except Refusal as refused:
            raise _failure(refused, reading, -1) from refused
        for member, statement in reading.waiting.items():
            answer = script_done.answers[member].answer
            reading.answers[reading.owners[member]] = yield from _finish(statement, answer)
    return [_result(parsed, reading.answers[place]) for place, parsed in enumerate(script.statements)]


def _failure(refused: RegistryError, reading: _Reading, place: int) -> AtomicScriptError:
    """Return the failure of the statement that a refusal is about."""
    if isinstance(refused, Refusal):
        member, path = place_of_refusal(refused.reason.path)
        if 0 <= member < len(reading.owners):
            refused = type(refused)(replace(refused.reason, path=path))
            return AtomicScriptError(reading.owners[member], refused)
    return AtomicScriptError(place, refused)


def _read_statement(
    reading: _Reading, place: int, parsed: ParsedStatement, context: StatementContext
) -> Exchange[None]:
    """Read a statement up to its command, which is added to the script."""
    value = parsed.value
    if isinstance(value, s.AssertSchemaStatement):
        reading.add(place, SchemaAssertion(value.subject, value.schema_id, value.exists))
        reading.answers[place] = describe_held(value)
        return
    statement = EXECUTORS[type(value)][1](value, context)
    try:
        request = next(statement)
        while type(request) not in MEMBER_NAMES:
            try:
                answer = yield from _answer(reading, request)
            except RegistryError as refused:
                request = statement.throw(refused)
            else:
                request = statement.send(answer)
    except StopIteration as ended:
        reading.answers[place] = ended.value
        if not isinstance(value, _SILENT):
            yield from _keep_unchanged(reading, place, ended.value[0])
        return
    member = reading.add(place, replace(request, dry_run=False))  # type: ignore[type-var]  # a request is frozen
    reading.waiting[member] = statement


def _keep_unchanged(reading: _Reading, place: int, name: str) -> Exchange[None]:
    """A statement that finds a source as it is to be: in the commit too it must be the one that was seen."""
    source = (yield from _answer(reading, m.DescribeSource(name))).source
    expected = m.ExpectedSource(source.generation, source.revision)
    reading.add(place, m.ChangeSource(name, expected=expected))


def _finish(statement: Generator[Request[Any], Any, Answer], answer: Any) -> Exchange[Answer]:
    """Let a statement describe the answer of its command."""
    try:
        request = statement.send(answer)
        while True:
            request = statement.send((yield request))
    except StopIteration as ended:
        answered: Answer = ended.value
        return answered


def _answer(reading: _Reading, question: Request[Any]) -> Exchange[Any]:
    """Answer what a statement reads, after the commands that it depends on."""
    name = QUESTION_NAMES.get(type(question))
    places = list_needed(reading.names, question)
    if name is None or not (places or isinstance(question, GetSchema)):
        return (yield from request_answer(question))
    if isinstance(question, GetSchema):
        try:
            return (yield from request_answer(question))
        except NotFound:
            places = tuple(range(len(reading.members)))
    try:
        return (yield from _preview(reading, places, name, question))
    except Refusal as refused:
        if place_of_refusal(refused.reason.path)[0] < 0:
            raise
    return (yield from _preview(reading, tuple(range(len(reading.members))), name, question))


def _preview(reading: _Reading, places: tuple[int, ...], name: str, question: Request[Any]) -> Exchange[Any]:
    question_member: dict[str, Any] = {name: question}
    reading.replayed += len(places)
    if reading.replayed > SCRIPT_REPLAYED:
        raise TooLarge.of(
            "SCRIPT_REPLAYED",
            "Too many statements of the script depend on each other",
            path="/sql",
            new=str(reading.replayed),
            allowed=f"at most {SCRIPT_REPLAYED} commands that are decided again; several columns in one ALTER, or several scripts",
        )
    members = tuple(reading.members[place] for place in places)
    preview = yield from request_answer(PreviewScript(members, **question_member))
    if preview.created and preview.source is not None:
        reading.own.add(f"source {key_of_name(preview.source.source.name)}")
    if preview.created and preview.type is not None:
        reading.own.add(f"type {key_of_name(preview.type.type.name)}")
    return getattr(preview, name)


def _without_own(command: Any, own: set[str]) -> Any:
    """Return a command that expects nothing of what the script itself creates: its generation is known in the commit alone."""
    if isinstance(command, m.CreateSource | m.ChangeSource):
        types = tuple(one for one in command.types if f"type {key_of_name(one.name)}" not in own)
        command = replace(command, types=types)
    if isinstance(command, m.ChangeSource) and f"source {key_of_name(command.name)}" in own:
        command = replace(command, expected=None)
    return command


def _describe_recalled(script: StatementScript, recalled: ScriptDone) -> list[StatementResult]:
    """Describe what a script came to before; a statement with a command has one of the answers, in order."""
    answers = iter(recalled.answers)
    results = []
    for parsed in script.statements:
        answer = None if isinstance(parsed.value, _SILENT) else next(answers).answer
        results.append(_result(parsed, describe_answer(parsed.value, answer, StatementContext(parsed.text))))
    return results


def _result(parsed: ParsedStatement, answer: Answer) -> StatementResult:
    name, message, listing, warnings = answer
    columns, rows = cells_of(listing)
    return StatementResult(parsed.text, kind_of(parsed.value), name, message, columns, rows, warnings=warnings)

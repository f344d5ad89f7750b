"""`Metastore`: statements of SQL over any registry, embedded or behind HTTP; `AsyncMetastore` is the same for asyncio."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from treaty.client.async_connection import run_exchange_async
from treaty.client.connection import run_exchange
from treaty.client.exchanges import Exchange
from treaty.core.limits import COMMAND_ID
from treaty.core.messages.metastore import ExpectedSource
from treaty.core.messages.plans import WithdrawPlan
from treaty.core.operations import is_command
from treaty.core.refusals import Invalid, RegistryError
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Registry, Reply
from treaty.core.requests import Request
from treaty.metastore.execution.planned import ASK_PLANNERS, PlanningOptions
from treaty.metastore.execution.results import InvalidStatementError, ScriptOutcome, StatementResult
from treaty.metastore.execution.statements import EXECUTORS, EXPECTING, StatementContext, cells_of, kind_of
from treaty.metastore.sql.diagnostics import SqlDiagnostic
from treaty.metastore.sql.script import ParsedStatement, StatementScript, parse_script

A = TypeVar("A")


class Metastore:
    """The metastore of a registry."""

    def __init__(
        self, registry: Registry, call: CallOptions = CALL, *, planning: PlanningOptions = ASK_PLANNERS
    ) -> None:
        """Carry statements out with the requests of `registry`; `planning` says how queries are planned."""
        self.registry = registry
        self.call = call
        self.planning = planning

    def run(
        self, sql: str, *, dry_run: bool = False, variables: Mapping[str, str] | None = None
    ) -> tuple[StatementResult, ...]:
        """Carry out the statements of a text, one commit each, up to the first error, which is raised.

        With `dry_run` everything is checked and nothing is written. Raises `InvalidStatementError` with all errors of the text before
        anything is carried out.
        """
        outcome = self.run_script(sql, dry_run=dry_run, variables=variables)
        if outcome.error is not None:
            raise outcome.error
        return outcome.results

    def run_script(
        self,
        sql: str,
        *,
        dry_run: bool = False,
        variables: Mapping[str, str] | None = None,
        expected: ExpectedSource | None = None,
    ) -> ScriptOutcome:
        """Carry out the statements of a text, and return the results with the first error.

        `expected` is what the source of a single statement must be.
        """
        script = parse_statements(sql, variables or {}, expected)
        results: list[StatementResult] = []
        for place, parsed in enumerate(script.statements):
            try:
                result = run_parsed(self, parsed, dry_run=dry_run, expected=expected, place=place)
            except RegistryError as error:
                return ScriptOutcome(tuple(results), error, parsed.text)
            results.append(with_warnings(result, script, parsed))
        return ScriptOutcome(tuple(results))


class AsyncMetastore:
    """The metastore of an asynchronous registry."""

    def __init__(
        self, registry: AsyncRegistry, call: CallOptions = CALL, *, planning: PlanningOptions = ASK_PLANNERS
    ) -> None:
        """Carry statements out with the requests of `registry`; `planning` says how queries are planned."""
        self.registry = registry
        self.call = call
        self.planning = planning

    async def run(
        self, sql: str, *, dry_run: bool = False, variables: Mapping[str, str] | None = None
    ) -> tuple[StatementResult, ...]:
        """Carry out the statements of a text, as `Metastore.run` does."""
        outcome = await self.run_script(sql, dry_run=dry_run, variables=variables)
        if outcome.error is not None:
            raise outcome.error
        return outcome.results

    async def run_script(
        self,
        sql: str,
        *,
        dry_run: bool = False,
        variables: Mapping[str, str] | None = None,
        expected: ExpectedSource | None = None,
    ) -> ScriptOutcome:
        """Carry out the statements of a text, and return the results with the first error.

        `expected` is what the source of a single statement must be.
        """
        script = parse_statements(sql, variables or {}, expected)
        return await self.run_parsed_script(script, dry_run=dry_run, expected=expected)

    async def run_parsed_script(
        self, script: StatementScript, *, dry_run: bool = False, expected: ExpectedSource | None = None
    ) -> ScriptOutcome:
        """Carry out the statements of a script that `parse_statements` has returned."""
        results: list[StatementResult] = []
        for place, parsed in enumerate(script.statements):
            recorder = _AsyncSequenceRecorder(self.registry, place)
            statement = run_statement(parsed, StatementContext(parsed.text, dry_run, expected, self.planning))
            try:
                result = await run_exchange_async(recorder, statement, self.call)
            except RegistryError as error:
                return ScriptOutcome(tuple(results), error, parsed.text)
            results.append(with_warnings(replace(result, sequence=recorder.sequence), script, parsed))
        return ScriptOutcome(tuple(results))


def with_warnings(result: StatementResult, script: StatementScript, parsed: ParsedStatement) -> StatementResult:
    """Return a result with the warnings of the parser about its statement."""
    own = tuple(str(one) for one in script.warnings if parsed.start <= one.start <= parsed.end)
    return replace(result, warnings=(*result.warnings, *own))


def statement_call(call: CallOptions, request: Request[Any], place: int) -> CallOptions:
    """Return the options of a request of the statement at a place of its script, from 0.

    The command of the first statement has the command id of the script, that of a later one has its place behind it, so that a
    script that comes again is the same commands. Raises `Invalid` for an id without room for the place.
    """
    if not call.command_id:
        return call
    if not is_command(request) or isinstance(request, WithdrawPlan):
        return replace(call, command_id="")
    suffix = f".{place}" if place else ""
    if len(call.command_id) + len(suffix) > COMMAND_ID:
        raise Invalid.of(
            "COMMAND_ID",
            f"The command id of a script needs room for the place of a statement, {suffix}",
            path="Treaty-Command",
            new=call.command_id,
            allowed=f"at most {COMMAND_ID - len(suffix)} characters",
        )
    return replace(call, command_id=f"{call.command_id}{suffix}")


class _SequenceRecorder:
    """A registry that remembers the sequence of its last answer, for the statement at a place of its script."""

    def __init__(self, registry: Registry, place: int) -> None:
        self.registry = registry
        self.place = place
        self.sequence = 0

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        reply = self.registry.ask(request, statement_call(call, request, self.place))
        self.sequence = reply.token.sequence
        return reply

    def close(self) -> None:
        self.registry.close()


class _AsyncSequenceRecorder:
    """An asynchronous registry that remembers the sequence of its last answer, as `_SequenceRecorder` does."""

    def __init__(self, registry: AsyncRegistry, place: int) -> None:
        self.registry = registry
        self.place = place
        self.sequence = 0

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        reply = await self.registry.ask(request, statement_call(call, request, self.place))
        self.sequence = reply.token.sequence
        return reply

    async def close(self) -> None:
        await self.registry.close()


def run_parsed(
    metastore: Metastore,
    parsed: ParsedStatement,
    *,
    dry_run: bool = False,
    expected: ExpectedSource | None = None,
    place: int = 0,
) -> StatementResult:
    """Carry out one statement of a script, at a place from 0. Raises what the registry refuses."""
    recorder = _SequenceRecorder(metastore.registry, place)
    context = StatementContext(parsed.text, dry_run, expected, metastore.planning)
    result = run_exchange(recorder, run_statement(parsed, context), metastore.call)
    return replace(result, sequence=recorder.sequence)


def parse_statements(sql: str, variables: Mapping[str, str], expected: ExpectedSource | None = None) -> StatementScript:
    """Return the statements of a text; raises `InvalidStatementError` with all of its errors, and `Invalid` where something is
    expected of the source of several statements.
    """
    script = parse_script(sql, variables)
    if script.diagnostics:
        raise InvalidStatementError.by(script.diagnostics)
    if expected is not None and len(script.statements) != 1:
        raise Invalid.of(
            "IF_MATCH",
            f"What a source is expected to be is about one statement, and there are {len(script.statements)}",
            path="If-Match",
            allowed="one statement",
        )
    if expected is not None and not isinstance(script.statements[0].value, EXPECTING):
        raise Invalid.of(
            "IF_MATCH",
            f"{kind_of(script.statements[0].value)} can't expect a source to be of a revision",
            path="If-Match",
            allowed="CREATE, ALTER or DROP of a source, REFRESH SCHEMA aside",
        )
    return script


def run_statement(parsed: ParsedStatement, context: StatementContext) -> Exchange[StatementResult]:
    """Carry out one statement; the result has no sequence yet. Errors that a planner found have their places in the script."""
    _, executor = EXECUTORS[type(parsed.value)]
    try:
        name, message, listing, warnings = yield from executor(parsed.value, context)
    except InvalidStatementError as wrong:
        if not wrong.diagnostics:
            raise
        raise InvalidStatementError.by([_in_script(one, parsed) for one in wrong.diagnostics]) from None
    columns, rows = cells_of(listing)
    return StatementResult(parsed.text, kind_of(parsed.value), name, message, columns, rows, warnings=warnings)


def _in_script(one: SqlDiagnostic, parsed: ParsedStatement) -> SqlDiagnostic:
    """Return an error of a statement with the place that it has in the script; the whole statement where it has variables."""
    if len(parsed.text) != parsed.end - parsed.start:
        return replace(one, start=parsed.start, end=parsed.end, line=parsed.line, column=parsed.column)
    column = one.column + (parsed.column - 1 if one.line == 1 else 0)
    start, end = one.start + parsed.start, one.end + parsed.start
    return replace(one, start=start, end=end, line=one.line + parsed.line - 1, column=column)

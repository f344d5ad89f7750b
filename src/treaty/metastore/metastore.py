"""`Metastore`: statements of SQL over any registry, embedded or behind HTTP; `AsyncMetastore` is the same for asyncio."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from treaty.client.async_connection import run_exchange_async
from treaty.client.connection import run_exchange
from treaty.client.exchanges import Exchange
from treaty.core.messages.metastore import ExpectedSource
from treaty.core.refusals import Invalid, RegistryError
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Registry, Reply
from treaty.core.requests import Request
from treaty.metastore.execution.results import InvalidStatementError, ScriptOutcome, StatementResult
from treaty.metastore.execution.statements import EXECUTORS, StatementContext, cells_of, kind_of
from treaty.metastore.sql.script import ParsedStatement, StatementScript, parse_script

A = TypeVar("A")


class Metastore:
    """The metastore of a registry."""

    def __init__(self, registry: Registry, call: CallOptions = CALL) -> None:
        """Carry statements out with the requests of `registry`."""
        self.registry = registry
        self.call = call

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
        results: list[StatementResult] = []
        for parsed in parse_statements(sql, variables or {}, expected).statements:
            try:
                results.append(run_parsed(self, parsed, dry_run=dry_run, expected=expected))
            except RegistryError as error:
                return ScriptOutcome(tuple(results), error, parsed.text)
        return ScriptOutcome(tuple(results))


class AsyncMetastore:
    """The metastore of an asynchronous registry."""

    def __init__(self, registry: AsyncRegistry, call: CallOptions = CALL) -> None:
        """Carry statements out with the requests of `registry`."""
        self.registry = registry
        self.call = call

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
        results: list[StatementResult] = []
        for parsed in parse_statements(sql, variables or {}, expected).statements:
            recorder = _AsyncSequenceRecorder(self.registry)
            try:
                result = await run_exchange_async(
                    recorder, run_statement(parsed, StatementContext(parsed.text, dry_run, expected)), self.call
                )
                results.append(replace(result, sequence=recorder.sequence))
            except RegistryError as error:
                return ScriptOutcome(tuple(results), error, parsed.text)
        return ScriptOutcome(tuple(results))


class _SequenceRecorder:
    """A registry that remembers the sequence of its last answer."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.sequence = 0

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        reply = self.registry.ask(request, call)
        self.sequence = reply.token.sequence
        return reply

    def close(self) -> None:
        self.registry.close()


class _AsyncSequenceRecorder:
    """An asynchronous registry that remembers the sequence of its last answer."""

    def __init__(self, registry: AsyncRegistry) -> None:
        self.registry = registry
        self.sequence = 0

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        reply = await self.registry.ask(request, call)
        self.sequence = reply.token.sequence
        return reply

    async def close(self) -> None:
        await self.registry.close()


def run_parsed(
    metastore: Metastore, parsed: ParsedStatement, *, dry_run: bool = False, expected: ExpectedSource | None = None
) -> StatementResult:
    """Carry out one statement of a script. Raises what the registry refuses."""
    recorder = _SequenceRecorder(metastore.registry)
    context = StatementContext(parsed.text, dry_run, expected)
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
    return script


def run_statement(parsed: ParsedStatement, context: StatementContext) -> Exchange[StatementResult]:
    """Carry out one statement; the result has no sequence yet."""
    _, executor = EXECUTORS[type(parsed.value)]
    name, message, listing, warnings = yield from executor(parsed.value, context)
    columns, rows = cells_of(listing)
    return StatementResult(parsed.text, kind_of(parsed.value), name, message, columns, rows, warnings=warnings)

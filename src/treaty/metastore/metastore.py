"""`Metastore`: statements of SQL over any registry, embedded or behind HTTP; `AsyncMetastore` is the same for asyncio."""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from treaty.client.async_connection import run_exchange_async
from treaty.core.messages.metastore.sources import ExpectedSource
from treaty.core.refusals import Invalid, RegistryError
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Exchange, Registry, method_signature, run_exchange
from treaty.metastore import calls
from treaty.metastore.execution.atomic import AtomicScriptError, run_atomic
from treaty.metastore.execution.context import ASK_PLANNERS, PlanningOptions, StatementContext
from treaty.metastore.execution.recorders import AsyncSequenceRecorder, command_id_at
from treaty.metastore.execution.results import ScriptOutcome, StatementResult
from treaty.metastore.records import tables
from treaty.metastore.records.destinations import RecordDestinations
from treaty.metastore.records.outcomes import ReportRecords, reported_records
from treaty.metastore.records.steps import RecordDestination
from treaty.metastore.script_run import (
    atomic_failure,
    atomic_outcome,
    parse_statements,
    run_parsed,
    run_parsed_atomic,
    run_statement,
    with_warnings,
)
from treaty.metastore.sql.script import StatementScript

A = TypeVar("A")
P = ParamSpec("P")


def _make_method(exchange: Callable[P, Exchange[A]]) -> Callable[Concatenate["Metastore", P], A]:
    """Make a method that runs the exchange and returns its value."""

    @wraps(exchange)
    def method(self: "Metastore", /, *args: P.args, **kwargs: P.kwargs) -> A:
        return run_exchange(self.registry, exchange(*args, **kwargs), self.call)

    method.__signature__ = method_signature(exchange)  # type: ignore[attr-defined]
    return method


def _as_coroutine(
    exchange: Callable[P, Exchange[A]],
) -> Callable[Concatenate["AsyncMetastore", P], Coroutine[Any, Any, A]]:
    """Make a coroutine method that runs the exchange and returns its value."""

    @wraps(exchange)
    async def method(self: "AsyncMetastore", /, *args: P.args, **kwargs: P.kwargs) -> A:
        return await run_exchange_async(self.registry, exchange(*args, **kwargs), self.call)

    method.__signature__ = method_signature(exchange)  # type: ignore[attr-defined]
    return method


class Metastore:
    """The metastore of a registry."""

    def __init__(
        self,
        registry: Registry,
        call: CallOptions = CALL,
        destination: RecordDestination | None = None,
        *,
        planning: PlanningOptions = ASK_PLANNERS,
    ) -> None:
        """Carry statements out with the requests of `registry`; `destination` takes the records of INSERT, UPDATE and DELETE, and
        `planning` says how queries are planned.
        """
        self.registry = registry
        self.call = call
        self.destination: RecordDestination = destination or RecordDestinations()
        self.planning = planning

    def run(
        self, sql: str, *, dry_run: bool = False, variables: Mapping[str, str] | None = None, atomic: bool = False
    ) -> tuple[StatementResult, ...]:
        """Carry out the statements of a text, one commit each, up to the first error, which is raised.

        With `dry_run` everything is checked and nothing is written. With `atomic` all statements are one commit: either each of
        them is carried out or none is, and each sees what those before it did. Raises `InvalidStatementError` with all errors of the text before
        anything is carried out.
        """
        outcome = self.run_script(sql, dry_run=dry_run, variables=variables, atomic=atomic)
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
        atomic: bool = False,
    ) -> ScriptOutcome:
        """Carry out the statements of a text, and return the results with the first error.

        `expected` is what the source of a single statement must be.
        """
        script = parse_statements(sql, variables or {}, expected)
        if atomic:
            return run_parsed_atomic(self, script, dry_run=dry_run, expected=expected)
        results: list[StatementResult] = []
        for place, parsed in enumerate(script.statements):
            try:
                result = run_parsed(self, parsed, dry_run=dry_run, expected=expected, place=place)
            except RegistryError as error:
                return ScriptOutcome(tuple(results), error, parsed.text)
            results.append(with_warnings(result, script, parsed))
        return ScriptOutcome(tuple(results))

    def run_one(
        self, sql: str, *, dry_run: bool = False, variables: Mapping[str, str] | None = None
    ) -> StatementResult:
        """Carry out one statement. Raises `Invalid` for a text with none or several, of which none is carried out."""
        return self.run(_refuse_several(sql, variables or {}), dry_run=dry_run, variables=variables)[0]

    create_stream = _make_method(calls.create_stream)
    create_table = _make_method(calls.create_table)
    create_type = _make_method(calls.create_type)
    add_columns = _make_method(calls.add_columns)
    rename = _make_method(calls.rename)
    set_properties = _make_method(calls.set_properties)
    set_comment = _make_method(calls.set_comment)
    protect = _make_method(calls.protect)
    refresh_schema = _make_method(calls.refresh_schema)
    drop = _make_method(calls.drop)
    undrop = _make_method(calls.undrop)
    drop_type = _make_method(calls.drop_type)
    pause = _make_method(calls.pause)
    resume = _make_method(calls.resume)
    rollback = _make_method(calls.rollback)
    reset_checkpoint = _make_method(calls.reset_checkpoint)
    refresh = _make_method(calls.refresh)
    describe = _make_method(calls.describe)
    describe_type = _make_method(calls.describe_type)
    sources = _make_method(calls.sources)
    queries = _make_method(calls.queries)
    types = _make_method(calls.types)
    dependencies = _make_method(calls.dependencies)
    read_table = _make_method(tables.read_table)


class AsyncMetastore:
    """The metastore of an asynchronous registry."""

    def __init__(
        self,
        registry: AsyncRegistry,
        call: CallOptions = CALL,
        destination: RecordDestination | None = None,
        *,
        planning: PlanningOptions = ASK_PLANNERS,
        on_records: ReportRecords | None = None,
    ) -> None:
        """Carry statements out with the requests of `registry`; `destination` takes the records of INSERT, UPDATE and DELETE,
        `on_records` gets what these statements came to, and `planning` says how queries are planned.
        """
        self.registry = registry
        self.call = call
        self.destination: RecordDestination = destination or RecordDestinations()
        self.planning = planning
        self.on_records = on_records

    async def run(
        self, sql: str, *, dry_run: bool = False, variables: Mapping[str, str] | None = None, atomic: bool = False
    ) -> tuple[StatementResult, ...]:
        """Carry out the statements of a text, as `Metastore.run` does."""
        outcome = await self.run_script(sql, dry_run=dry_run, variables=variables, atomic=atomic)
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
        atomic: bool = False,
    ) -> ScriptOutcome:
        """Carry out the statements of a text, and return the results with the first error.

        `expected` is what the source of a single statement must be.
        """
        script = parse_statements(sql, variables or {}, expected)
        return await self.run_parsed_script(script, dry_run=dry_run, expected=expected, atomic=atomic)

    async def run_parsed_script(
        self,
        script: StatementScript,
        *,
        dry_run: bool = False,
        expected: ExpectedSource | None = None,
        atomic: bool = False,
        first: int = 0,
    ) -> ScriptOutcome:
        """Carry out the statements of a script that `parse_statements` has returned; `first` is the place of the first one, from 0."""
        if atomic:
            recorder = AsyncSequenceRecorder(self.registry, 0, self.destination)
            work = run_atomic(script, self.call.command_id, dry_run=dry_run, expected=(expected,))
            try:
                answers = await run_exchange_async(recorder, work, self.call)
            except AtomicScriptError as failed:
                return atomic_failure(script, failed)
            return atomic_outcome(script, answers, recorder.sequence)
        results: list[StatementResult] = []
        for place, parsed in enumerate(script.statements, first):
            recorder = AsyncSequenceRecorder(self.registry, place, self.destination)
            context = StatementContext(parsed.text, dry_run, expected, self.planning)
            reported = reported_records(self.on_records, parsed.value, recorder, self.call.command_id, dry_run=dry_run)
            statement = run_statement(parsed, context, command_id_at(self.call, place))
            try:
                with reported:
                    result = await run_exchange_async(recorder, statement, self.call)
            except RegistryError as error:
                return ScriptOutcome(tuple(results), error, parsed.text)
            results.append(with_warnings(replace(result, sequence=recorder.sequence), script, parsed))
        return ScriptOutcome(tuple(results))

    async def run_one(
        self, sql: str, *, dry_run: bool = False, variables: Mapping[str, str] | None = None
    ) -> StatementResult:
        """Carry out one statement. Raises `Invalid` for a text with none or several, of which none is carried out."""
        return (await self.run(_refuse_several(sql, variables or {}), dry_run=dry_run, variables=variables))[0]

    create_stream = _as_coroutine(calls.create_stream)
    create_table = _as_coroutine(calls.create_table)
    create_type = _as_coroutine(calls.create_type)
    add_columns = _as_coroutine(calls.add_columns)
    rename = _as_coroutine(calls.rename)
    set_properties = _as_coroutine(calls.set_properties)
    set_comment = _as_coroutine(calls.set_comment)
    protect = _as_coroutine(calls.protect)
    refresh_schema = _as_coroutine(calls.refresh_schema)
    drop = _as_coroutine(calls.drop)
    undrop = _as_coroutine(calls.undrop)
    drop_type = _as_coroutine(calls.drop_type)
    pause = _as_coroutine(calls.pause)
    resume = _as_coroutine(calls.resume)
    rollback = _as_coroutine(calls.rollback)
    reset_checkpoint = _as_coroutine(calls.reset_checkpoint)
    refresh = _as_coroutine(calls.refresh)
    describe = _as_coroutine(calls.describe)
    describe_type = _as_coroutine(calls.describe_type)
    sources = _as_coroutine(calls.sources)
    queries = _as_coroutine(calls.queries)
    types = _as_coroutine(calls.types)
    dependencies = _as_coroutine(calls.dependencies)
    read_table = _as_coroutine(tables.read_table)


def _refuse_several(sql: str, variables: Mapping[str, str]) -> str:
    """Return a text of one statement. Raises `Invalid` for another number of them, and `InvalidStatementError`."""
    count = len(parse_statements(sql, variables).statements)
    if count != 1:
        message = f"one statement is expected here, and the text has {count}"
        raise Invalid.of("ONE_STATEMENT", message, path="/sql", new=str(count), allowed="run, for several statements")
    return sql

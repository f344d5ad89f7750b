"""Scripts of statements are carried out with the requests of a registry, each statement in a commit of its own or all in one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from treaty.core.messages.metastore.sources import ExpectedSource
from treaty.core.refusals import Invalid, SourceNotFound, TypeNotFound
from treaty.core.registry import CallOptions, Exchange, Registry, run_exchange
from treaty.metastore.execution.context import PlanningOptions, StatementContext
from treaty.metastore.execution.listings import add_nearest_name, add_nearest_types
from treaty.metastore.execution.memory import recall_statement
from treaty.metastore.execution.recorders import SequenceRecorder, command_id_at
from treaty.metastore.execution.results import FailedStatement, InvalidStatementError, ScriptOutcome, StatementResult
from treaty.metastore.execution.statements import EXECUTORS, EXPECTING, cells_of, kind_of
from treaty.metastore.records.steps import RecordDestination
from treaty.metastore.sql.diagnostics import MissingTypesError, SqlDiagnostic
from treaty.metastore.sql.script import ParsedStatement, StatementScript, parse_script

if TYPE_CHECKING:
    from treaty.metastore.execution.atomic import AtomicScriptError


class StatementTarget(Protocol):
    """Where statements are carried out: the registry and how it is asked, who writes their records, and how queries are planned."""

    registry: Registry
    call: CallOptions
    destination: RecordDestination
    planning: PlanningOptions


def with_warnings(result: StatementResult, script: StatementScript, parsed: ParsedStatement) -> StatementResult:
    """Return a result with the warnings of the parser about its statement."""
    own = tuple(str(one) for one in script.warnings if parsed.start <= one.start <= parsed.end)
    return replace(result, warnings=(*result.warnings, *own)) if own else result


def run_parsed(
    target: StatementTarget,
    parsed: ParsedStatement,
    *,
    dry_run: bool = False,
    expected: ExpectedSource | None = None,
    place: int = 0,
) -> StatementResult:
    """Carry out one statement of a script, at a place from 0. Raises what the registry refuses."""
    recorder = SequenceRecorder(target.registry, place, target.destination)
    context = StatementContext(parsed.text, dry_run, expected, target.planning)
    statement = run_statement(parsed, context, command_id_at(target.call, place))
    result = run_exchange(recorder, statement, target.call)
    return replace(result, sequence=recorder.sequence)


def run_parsed_atomic(
    target: StatementTarget, script: StatementScript, *, dry_run: bool = False, expected: ExpectedSource | None = None
) -> ScriptOutcome:
    """Carry out all statements of a script in one commit, or none. Raises `InvalidStatementError` for what is no part of one."""
    from treaty.metastore.execution.atomic import AtomicScriptError, run_atomic  # noqa: PLC0415 (few scripts are one commit)

    recorder = SequenceRecorder(target.registry, 0, target.destination)
    work = run_atomic(script, target.call.command_id, dry_run=dry_run, expected=(expected,))
    try:
        answers = run_exchange(recorder, work, target.call)
    except AtomicScriptError as failed:
        return atomic_failure(script, failed)
    return atomic_outcome(script, answers, recorder.sequence)


def atomic_outcome(script: StatementScript, results: Sequence[StatementResult], sequence: int) -> ScriptOutcome:
    """Return the outcome of a script of one commit, at a sequence."""
    pairs = zip(results, script.statements, strict=True)
    return ScriptOutcome(tuple(with_warnings(replace(one, sequence=sequence), script, parsed) for one, parsed in pairs))


def atomic_failure(script: StatementScript, failed: "AtomicScriptError") -> ScriptOutcome:
    """Return the outcome of a script whose statement was refused, so that none was carried out."""
    if failed.place < 0:
        return ScriptOutcome((), failed.error)
    parsed = script.statements[failed.place]
    place = FailedStatement(failed.place, parsed.start, parsed.end, parsed.line, parsed.column)
    return ScriptOutcome((), failed.error, parsed.text, place)


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


def run_statement(
    parsed: ParsedStatement, context: StatementContext, command_id: str = ""
) -> Exchange[StatementResult]:
    """Carry out one statement; the result has no sequence yet. Errors that a planner found have their places in the script.

    What the same statement came to by this command id is answered again, whatever became of its source since.
    """
    _, executor = EXECUTORS[type(parsed.value)]
    try:
        recalled = yield from recall_statement(parsed, command_id, context)
        name, message, listing, warnings = recalled or (yield from executor(parsed.value, context))
    except InvalidStatementError as error:
        if not error.diagnostics:
            raise
        raise InvalidStatementError.by([_in_script(one, parsed) for one in error.diagnostics]) from None
    except MissingTypesError as missing:
        raise _place_missing((yield from add_nearest_types(missing)), parsed) from missing
    except (SourceNotFound, TypeNotFound) as missing:
        raise (yield from add_nearest_name(missing)) from missing
    columns, rows = cells_of(listing)
    return StatementResult(parsed.text, kind_of(parsed.value), name, message, columns, rows, warnings=warnings)


def _place_missing(missing: MissingTypesError, parsed: ParsedStatement) -> MissingTypesError:
    """Return the error of types that are missing with their places in the script."""
    from treaty.metastore.sql.missing_types import place_types  # noqa: PLC0415 (few statements have such types)

    placed = place_types(missing, parsed.head)
    return MissingTypesError(placed.reason, placed.missing, [_in_script(one, parsed) for one in placed.diagnostics])


def _in_script(diagnostic: SqlDiagnostic, parsed: ParsedStatement) -> SqlDiagnostic:
    """Return an error of a statement with the place that it has in the script; the whole statement where it has variables."""
    if len(parsed.text) != parsed.end - parsed.start:
        return replace(diagnostic, start=parsed.start, end=parsed.end, line=parsed.line, column=parsed.column)
    column = diagnostic.column + (parsed.column - 1 if diagnostic.line == 1 else 0)
    start, end = diagnostic.start + parsed.start, diagnostic.end + parsed.start
    return replace(diagnostic, start=start, end=end, line=diagnostic.line + parsed.line - 1, column=column)

"""Printing the results and the errors of statements: lines, tables, and a caret below the place of an error."""

import re
from collections.abc import Iterator, Sequence

import click
import msgspec

from treaty.cli.terminal import screen
from treaty.cli.terminal.errors import ReportedError, describe_error
from treaty.wire.statements import DiagnosticBody, MetastoreErrorBody, StatementResultBody

TIME_COLUMNS = frozenset({"time", "created"})
"""Columns of listings and system tables whose cells are milliseconds since 1970; JSON has them as they are."""
_SYSTEM_TABLE = re.compile(r"\bfrom\s+`?treaty`?\s*\.", re.IGNORECASE)
_CHANGES = frozenset({"CREATE", "ALTER", "DROP", "UNDROP"})
UNAVAILABLE = 500
"""Statuses from this on say nothing about the statement: its exit code is 2."""


class FailedScriptError(ReportedError):
    """A script was refused: each error of its text at its line with a caret, or a sentence and the remedy."""

    exit_code = 1

    def __init__(self, text: str, body: MetastoreErrorBody) -> None:
        """Print the error of a script; `text` is what its places are of."""
        self.body = body
        lines = [line for one in body.diagnostics for line in caret_lines(text, one)]
        listed = [msgspec.to_builtins(one) for one in body.diagnostics]
        at = body.place
        where = f"statement {at.index + 1}, line {at.line}: " if at is not None else ""
        message = "\n".join(lines or [f"{where}{body.message}", *(f"  {one}" for one in body.details)])
        allowed = "" if lines else body.allowed
        if allowed and allowed not in message:
            message = f"{message}\nallowed: {allowed}"
        if at is not None:
            message = f"{message}\nNothing of the script was carried out."
        facts = {"allowed": body.allowed, "details": body.details, "failed": body.failed, "diagnostics": listed}
        facts |= {"place": msgspec.to_builtins(at)} if at is not None else {}
        super().__init__(message, body.code, **facts)


class UnavailableScriptError(FailedScriptError):
    """A script could not be carried out now, whatever it says."""

    exit_code = 2


class UnfinishedScriptError(ReportedError):
    """A script ended with an error after some of its statements were carried out: their results are a member of its JSON form."""

    exit_code = 1

    def __init__(self, error: click.ClickException, results: Sequence[StatementResultBody]) -> None:
        """Say what the error says."""
        members = describe_error(error)
        rule, message = members.pop("rule"), members.pop("message")
        super().__init__(message, rule, **members, results=msgspec.to_builtins(results))


class UnansweredScriptError(UnfinishedScriptError):
    """The registry did not answer after some statements were carried out, or the rest can't be used."""

    exit_code = 2


def describe_unfinished(error: click.ClickException, results: Sequence[StatementResultBody]) -> UnfinishedScriptError:
    """Return an error with the results of the statements before it."""
    unfinished = UnfinishedScriptError if error.exit_code == UnfinishedScriptError.exit_code else UnansweredScriptError
    return unfinished(error, results)


def describe_failure(text: str, body: MetastoreErrorBody, status: int) -> FailedScriptError:
    """Return the error of a script that was answered with a status."""
    return UnavailableScriptError(text, body) if status >= UNAVAILABLE else FailedScriptError(text, body)


def caret_lines(text: str, diagnostic: DiagnosticBody) -> Iterator[str]:
    """Yield an error of a text: what is wrong, its line, and carets below the words that it is about."""
    remedy = f"; {diagnostic.hint}" if diagnostic.hint else ""
    yield f"line {diagnostic.line}, column {diagnostic.column}: {diagnostic.message}{remedy}"
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if 0 < diagnostic.line <= len(lines):
        line = lines[diagnostic.line - 1]
        width = max(1, min(diagnostic.end - diagnostic.start, len(line) - diagnostic.column + 1))
        yield f"  {screen.escape_line(line)}"
        yield f"  {' ' * len(screen.escape_line(line[: diagnostic.column - 1]))}{'^' * width}"


def say_result(result: StatementResultBody) -> None:
    """Print what a statement came to: notes and a message as lines, a listing as a table."""
    for warning in result.warnings:
        screen.say(f"note: {warning}", err=True)
    if result.message:
        screen.say(result.message, "green" if result.kind.partition(" ")[0] in _CHANGES else None)
    if result.columns == ["statement"]:
        for (statement,) in result.rows:
            screen.say(f"{statement};")
    elif result.rows:
        times = _list_time_places(result)
        cells = (
            [time_text(cell) if place in times else cell_text(cell) for place, cell in enumerate(row)]
            for row in result.rows
        )
        screen.say_rows(result.columns, [*cells])
    elif result.columns and not result.message:
        screen.say("nothing to show", err=True)


def _list_time_places(result: StatementResultBody) -> set[int]:
    """Return which columns of a listing are times in milliseconds; rows of a table have columns of any name."""
    if result.kind == "SELECT" and not _SYSTEM_TABLE.search(result.statement):
        return set()
    return {place for place, name in enumerate(result.columns) if name in TIME_COLUMNS}


def time_text(cell: object) -> str:
    """Return a time of a listing in ISO 8601 and UTC; any other cell as `cell_text` does."""
    if not isinstance(cell, int) or isinstance(cell, bool):
        return cell_text(cell)
    from treaty.metastore.sql.values import format_time  # noqa: PLC0415 (most statements list no times)

    return format_time(cell)


def cell_text(cell: object) -> str:
    """Return a cell of a listing as people read it; nothing for null, true and false in lower case as in SQL."""
    if cell is None:
        return ""
    return str(cell).lower() if isinstance(cell, bool) else str(cell)

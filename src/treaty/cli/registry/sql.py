"""`treaty sql`: statements of the metastore, from the command line, a file or standard input."""

import sys
from collections.abc import Iterator
from dataclasses import asdict, replace

import click

from treaty.cli.registry import connection
from treaty.cli.registry.connection import RefusedError
from treaty.cli.terminal import screen
from treaty.cli.terminal.errors import ReportedError
from treaty.cli.terminal.options import parse_pairs
from treaty.cli.terminal.source import read_text
from treaty.core.messages.metastore import DropSource, SourcesDropped
from treaty.core.refusals import Refusal
from treaty.metastore.execution.results import InvalidStatementError, StatementResult
from treaty.metastore.metastore import Metastore, parse_statements, run_parsed
from treaty.metastore.sql.diagnostics import SqlDiagnostic
from treaty.metastore.sql.printer import print_statement
from treaty.metastore.sql.script import ParsedStatement
from treaty.metastore.sql.statements import DropSourceStatement


class InvalidScriptError(ReportedError):
    """A text has errors: each is shown at its line, with a caret."""

    exit_code = connection.REFUSED

    def __init__(self, text: str, wrong: InvalidStatementError) -> None:
        """Print all errors of the text."""
        lines = [line for one in wrong.diagnostics for line in _caret_lines(text, one)]
        listed = [asdict(one) for one in wrong.diagnostics]
        super().__init__("\n".join(lines), wrong.reason.rule, diagnostics=listed)


def _caret_lines(text: str, one: SqlDiagnostic) -> Iterator[str]:
    yield str(one)
    lines = text.split("\n")
    if one.line <= len(lines):
        line = lines[one.line - 1]
        width = max(1, min(one.end - one.start, len(line) - one.column + 1))
        yield f"  {screen.escape_line(line)}"
        blanks = "".join("\t" if char == "\t" else " " for char in line[: one.column - 1])
        yield f"  {screen.escape_line(blanks)}{'^' * width}"


@click.command("sql")
@click.option("-e", "--execute", "texts", multiple=True, metavar="SQL", help="Statements. Repeatable.")
@click.option(
    "-f",
    "--file",
    "paths",
    multiple=True,
    metavar="FILE",
    help="A file of statements. Repeatable; - is standard input.",
)
@click.option("--var", "variables", multiple=True, metavar="NAME=VALUE", help="Replaces ${NAME}. Repeatable.")
@click.option("--dry-run", is_flag=True, help="Check everything and write nothing.")
@connection.yes
@connection.registry
@connection.as_json
def command(
    texts: tuple[str, ...],
    paths: tuple[str, ...],
    *,
    variables: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    registry: str,
    as_json: bool,
) -> None:
    """Describe streams, tables and types in SQL, and list what is there.

    Each statement is one commit. The first error ends the program with exit code 1; what was done before stays. A DROP with
    CASCADE shows what would go along, and asks.

    \b
    Examples:
      treaty sql -e "SHOW STREAMS"
      treaty sql -f streams.sql --var env=test
      treaty sql -e "DROP STREAM flights CASCADE" --yes
      treaty sql -e "SELECT name, place FROM treaty.sources" --json
    """  # noqa: D301 - click wants the control character
    scripts = [*texts, *(read_text(path, "REQUEST_BYTES") for path in paths)]
    if not scripts and not sys.stdin.isatty():
        scripts = [read_text("-", "REQUEST_BYTES")]
    if not scripts:
        raise click.UsageError('nothing to do: give statements with -e "…", a file with -f, or standard input')
    results: list[StatementResult] = []
    with connection.open_registry(registry, "create") as found:
        metastore = Metastore(found.registry)
        try:
            for text in scripts:
                for result in _run(metastore, text, dict(parse_pairs(variables)), dry_run=dry_run, yes=yes):
                    results.append(result)
                    if not as_json:
                        _say(result)
        finally:  # what was done before an error stays, and is printed
            if as_json and results:
                screen.say_json([asdict(result) for result in results])
    if as_json and not results:
        screen.say_json([])


def _run(
    metastore: Metastore, text: str, variables: dict[str, str], *, dry_run: bool, yes: bool
) -> Iterator[StatementResult]:
    try:
        script = parse_statements(text, variables)
    except InvalidStatementError as wrong:
        raise InvalidScriptError(text, wrong) from None
    for warning in script.warnings:
        screen.say(f"warning: {warning}", "yellow", err=True)
    for place, parsed in enumerate(script.statements):
        try:
            if isinstance(parsed.value, DropSourceStatement) and not dry_run:
                parsed = _confirm(metastore, parsed, parsed.value, yes=yes)  # noqa: PLW2901 (the same with its digest)
            yield run_parsed(metastore, parsed, dry_run=dry_run, place=place)
        except Refusal as no:
            raise RefusedError(no) from no


def _confirm(metastore: Metastore, parsed: ParsedStatement, drop: DropSourceStatement, *, yes: bool) -> ParsedStatement:
    """Return a DROP with the digest of what goes along, after the user has seen it."""
    if not drop.cascade or drop.digest:
        return parsed
    request = DropSource(drop.name, drop.kind, drop.if_exists, cascade=True, dry_run=True)
    going: SourcesDropped = metastore.registry.ask(request, metastore.call).answer
    if not going.names:
        return parsed
    if not yes:
        screen.say(f"CASCADE drops: {', '.join(going.names)}", err=True)
        click.confirm("Drop them?", abort=True, err=True)
    confirmed = replace(drop, digest=going.digest)
    return replace(parsed, value=confirmed, head=print_statement(confirmed))


def _say(result: StatementResult) -> None:
    for warning in result.warnings:
        screen.say(f"note: {warning}", err=True)
    if result.message:
        screen.say(result.message, "green" if result.kind.split()[0] in {"CREATE", "ALTER", "DROP"} else None)
    if result.columns == ("statement",):
        for (statement,) in result.rows:
            screen.say(f"{statement};")
    elif result.rows:
        screen.say_rows(result.columns, [["" if cell is None else str(cell) for cell in row] for row in result.rows])
    elif result.columns and not result.message:
        screen.say("nothing to show", err=True)

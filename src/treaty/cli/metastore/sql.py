"""`treaty sql`: statements of the metastore, from the command line, a file, standard input, or typed one after the other."""

import gc
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import msgspec

from treaty.cli.cluster_options import add_cluster_options
from treaty.cli.metastore.planner_choice import (
    AUTO,
    LOCAL,
    PlannerChoice,
    add_planner_option,
    is_server,
    read_planner_choice,
)
from treaty.cli.metastore.result_printer import describe_unfinished, say_result
from treaty.cli.metastore.statement_session import open_session
from treaty.cli.metastore.topics.record_session import (
    ARROW,
    LINES,
    NO_BATCH,
    BatchNumber,
    RecordSession,
    RecordSettings,
    StartPlace,
)
from treaty.cli.metastore.wait_notice import READS_TABLE, show_wait
from treaty.cli.terminal import options, screen
from treaty.cli.terminal.errors import StoppedError
from treaty.cli.terminal.options import parse_pairs
from treaty.cli.terminal.source import read_text
from treaty.client.kafka.offsets import StartOffset
from treaty.light_dataclass import dataclass
from treaty.wire.statements import StatementResultBody

LOADED_OBJECTS = 100_000
"""New objects after which garbage is looked for: most of what a statement makes is what is loaded for it, which stays."""


@dataclass(frozen=True, slots=True)
class SqlOptions:
    """How scripts are carried out and what is printed."""

    variables: Mapping[str, str]
    dry_run: bool = False
    yes: bool = False
    atomic: bool = False
    as_json: bool = False
    planner: PlannerChoice = AUTO
    """What plans queries."""

    def confirm(self, names: Sequence[str], before: Callable[[], None] = lambda: None) -> None:
        """Show what a CASCADE drops and ask for it, unless --yes, which is required without a terminal; `before` takes a line
        that is drawn away.
        """
        if self.yes:
            return
        from treaty.cli.terminal.confirmation import confirm  # noqa: PLC0415 (loaded where something is dropped)

        before()
        screen.say(f"CASCADE drops: {', '.join(names)}", err=True)
        confirm("Drop them?", yes=False)


_KEPT = "treaty.sql."


def _keep(context: click.Context, option: click.Parameter, value: Any) -> None:
    """Keep the value of an option where `_read_kept` finds it."""
    context.meta[f"{_KEPT}{option.name}"] = value


def _read_kept(name: str) -> Any:
    return click.get_current_context().meta.get(f"{_KEPT}{name}")


class SqlCommand(click.Command):
    """`treaty sql`, where a statement without -e is answered with the form that carries it out."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options. Raises `click.UsageError`."""
        remaining = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            text = next((one for one in remaining if " " in one and not one.startswith("-")), "")
            if "unexpected extra argument" not in error.message or not text:
                raise
            raise click.UsageError(f"statements are given with -e: treaty sql -e {shlex.quote(text)}", ctx) from None


@click.command("sql", cls=SqlCommand)
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
@add_planner_option
@click.option("--dry-run", is_flag=True, help="Check everything and write nothing.")
@click.option(
    "--atomic",
    is_flag=True,
    expose_value=False,
    callback=_keep,
    help="All statements are one commit: each is carried out, or none.",
)
@click.option("--from", "start", type=StartPlace(), default=None, metavar="PLACE", help="Where PRINT and SELECT … FROM STREAM begin: earliest, latest, or a time such as 2026-02-28T10:00Z (default: latest for PRINT, earliest for SELECT).")  # fmt: skip
@click.option("--batch", type=BatchNumber(), default=None, expose_value=False, callback=_keep, metavar="N",
              help="SELECT … FROM TABLE gives the rows alone that this batch of the query has written: a number, or latest.")  # fmt: skip
@click.option("--rows-as", type=click.Choice([LINES, ARROW]), default=None, expose_value=False, callback=_keep,
              help="SELECT … FROM TABLE writes its rows to stdout, all of them unless LIMIT says less: an object of JSON for each line, or an Arrow IPC stream.")  # fmt: skip
@add_cluster_options
@options.yes
@options.registry
@options.as_json
def command(
    texts: tuple[str, ...],
    paths: tuple[str, ...],
    *,
    variables: tuple[str, ...],
    dry_run: bool,
    start: StartOffset | None,
    clusters: tuple[str, ...],
    files: Path | None,
    yes: bool,
    registry: str,
    as_json: bool,
) -> None:
    """Describe streams, tables and types in SQL, and list what is there.

    Without -e and -f statements are read from standard input; on a terminal they are typed, each up to its semicolon, with
    completion by the tabulator key and a history. Each statement is one commit, or all are with --atomic. The first error ends a script with exit code
    1, or 2 where the registry does not answer; what was done before stays. --json prints the results as a list; after an
    error it prints an object instead, whose member error has the results before it. A DROP with CASCADE shows what would go along, and asks;
    without a terminal --yes is needed.

    \b
    Examples:
      treaty sql
      treaty sql -e "SHOW STREAMS"
      treaty sql -f streams.sql --var env=test
      treaty sql -f change.sql --atomic --dry-run
      treaty sql -e "DROP STREAM flights CASCADE" --yes
      treaty sql -e "SELECT name, place FROM treaty.sources" --json
      treaty sql --files . -e "INSERT INTO orders VALUES (1, 9.99)"
      treaty sql -e "PRINT flights LIMIT 5" --cluster main=main.properties
      treaty sql --files /data -e "SELECT * FROM TABLE delays LIMIT 5"
      treaty sql --files /data --batch latest -e "SELECT * FROM TABLE delays"
      treaty sql --rows-as arrow -e "SELECT * FROM TABLE delays" > delays.arrows
      treaty sql --planner local --files /data -f replace.sql
    """  # noqa: D301 - click wants the control character
    gc.set_threshold(LOADED_OBJECTS)
    atomic, planner = bool(_read_kept("atomic")), read_planner_choice()
    settings = SqlOptions(dict(parse_pairs(variables)), dry_run, yes, as_json=as_json, atomic=atomic, planner=planner)
    scripts = [*texts, *(read_text(path, "REQUEST_BYTES") for path in paths)]
    is_typed = not scripts and sys.stdin.isatty()
    if not scripts and not is_typed:
        scripts = [read_text("-", "REQUEST_BYTES")]
    if atomic and is_typed:
        raise click.UsageError("--atomic needs all statements at once: give them with -e or -f, or on standard input")
    if atomic:
        scripts = [";\n".join(scripts)]
    batch = NO_BATCH if _read_kept("batch") is None else _read_kept("batch")
    records = RecordSettings(registry, clusters, files, start, as_json, batch, _read_kept("rows_as") or "")
    has_clusters = is_server(registry)  # of its own, to which it writes records
    reads_files = planner == LOCAL or any(READS_TABLE.search(text) for text in scripts)
    sent = None if has_clusters and reads_files else files
    root, topics = (files, clusters) if planner == LOCAL else (None, ())
    statements = open_session(
        registry, () if has_clusters else clusters, sent, planner=planner, root=root, topics=topics
    )
    session = RecordSession(statements, records)
    try:
        if is_typed:
            import_module("treaty.cli.metastore.shell").SqlShell(session, settings, registry).run()
        else:
            run_scripts(session, scripts, settings)
    finally:
        session.close()


def run_scripts(session: RecordSession, scripts: Sequence[str], settings: SqlOptions) -> None:
    """Carry out scripts and print their results; as JSON they are one list. What was done before an error is printed, as JSON within the error."""
    results: list[StatementResultBody] = []
    try:
        for text in scripts:
            with show_wait(text, planner=settings.planner) as notice:
                confirm = partial(settings.confirm, before=notice.stop)
                for result in session.run(
                    text, settings.variables, confirm, dry_run=settings.dry_run, atomic=settings.atomic
                ):
                    notice.stop()
                    results.append(result)
                    if not settings.as_json:
                        say_result(result)
    except click.ClickException as error:
        if not settings.as_json or not results:
            raise
        raise describe_unfinished(error, results) from error
    except (click.Abort, KeyboardInterrupt) as stop:
        if not settings.as_json or not results:
            raise
        cause = stop if isinstance(stop, KeyboardInterrupt) else stop.__cause__
        raise StoppedError(results=msgspec.to_builtins(results)) from cause
    if settings.as_json and (results or not session.has_printed):
        screen.say_json(msgspec.to_builtins(results))

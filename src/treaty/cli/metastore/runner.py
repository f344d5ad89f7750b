"""`treaty runner`: carries out the queries of a registry on Spark."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from treaty.cli.registry import connection
from treaty.cli.spark import is_verbose, needs_jvm, needs_spark, verbose
from treaty.cli.terminal import screen
from treaty.cli.terminal.errors import ReportedError

if TYPE_CHECKING:
    from treaty.spark.runner.once import QueryReport

CHECKPOINTS = "_checkpoints"
"""The folder of checkpoints below the root, where none is named. Spark passes over names that begin with an underscore."""


class QueriesFailedError(ReportedError):
    """Queries failed; their reasons are printed before."""

    exit_code = 1


@click.command("runner", epilog="Exit code 0: all queries were worked off. 1: some failed. 2: unusable input.")
@click.option("--once", is_flag=True, required=True, help="Work off what is there, and end.")
@click.option("--files", required=True, metavar="ROOT", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="The root of the folders that PATH names: of files and Delta tables.")  # fmt: skip
@click.option("--checkpoints", metavar="DIR", type=click.Path(file_okay=False, path_type=Path),
              help=f"The folder of the checkpoints; {CHECKPOINTS} below the root without it.")  # fmt: skip
@click.option("--query", "names", multiple=True, metavar="NAME", help="Only this query. Repeatable.")
@verbose
@connection.registry
@connection.as_json
def command(
    *, once: bool, files: Path, checkpoints: Path | None, names: tuple[str, ...], registry: str, as_json: bool
) -> None:
    """Work off the queries of a registry over files, into Delta tables.

    Each query reads what is there since its last run and has not been read, writes it exactly once, and ends; queries that read the
    results of others run after them. Rows that can't be decoded are left out and counted; of a source with BAD_ROWS they are written into the
    table of its stream NAME_bad, below the root in the folder _bad.

    \b
    Examples:
      treaty runner --once --files /data --registry http://127.0.0.1:8081
      treaty runner --once --files /data --query delays --json
    """  # noqa: D301 - click wants the control character
    del once  # the one way to run so far
    with needs_spark():
        from treaty.spark.runner.once import OnceRunner, list_queries  # noqa: PLC0415 (these load Spark, which --help must not need)
        from treaty.spark.session import session  # noqa: PLC0415

    reports: list[QueryReport] = []

    def add(report: "QueryReport") -> None:
        reports.append(report)
        if not as_json:
            _say_report(report)

    with connection.open_registry(registry) as found:
        if not list_queries(found.registry):
            screen.say_json([]) if as_json else screen.say("no query to run: CREATE … AS makes one", err=True)
            return
        with needs_jvm():
            spark = session("treaty runner", delta=True, verbose=is_verbose())
        if not is_verbose():
            spark.sparkContext.setLogLevel("ERROR")
        fine = OnceRunner(spark, found.registry, files, checkpoints or files / CHECKPOINTS).run(add, names)
    if as_json:
        screen.say_json(
            [
                {
                    "name": one.name,
                    "rows": one.rows,
                    "bad": one.bad,
                    "written": one.written,
                    "batches": one.batches,
                    "error": one.error,
                    "note": one.note,
                }
                for one in reports
            ]
        )
    if not fine:
        failed = ", ".join(one.name for one in reports if one.error)
        raise QueriesFailedError(f"queries failed: {failed}", "QUERIES_FAILED")


def _say_report(report: "QueryReport") -> None:
    if report.error:
        screen.say(f"{report.name} failed: {report.error}", "red", err=True)
        return
    if report.note:
        screen.say(f"{report.name}: nothing to read: {report.note}", "yellow")
        return
    bad = f", {report.bad:,} of them bad and left out" if report.bad else ""
    screen.say(f"{report.name}: {report.rows:,} rows read{bad}, {report.written:,} written", "green")

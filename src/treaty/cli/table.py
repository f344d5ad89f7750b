"""`treaty table …`: creates, evolves and compares lake tables of subjects."""

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from treaty.cli.pipeline.reports import say_suspects
from treaty.cli.registry import connection
from treaty.cli.spark import conf, needs_spark, start_spark, verbose
from treaty.cli.terminal import screen
from treaty.cli.terminal.options import SubcommandGroup
from treaty.cli.terminal.source import UnusableError

if TYPE_CHECKING:
    from treaty.plan.value import DecodePlan
    from treaty.spark.lake.table import LakeTable

FINE, DRIFT = 0, 1
FORMATS = ("delta", "iceberg", "parquet")


def add_table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of all three commands."""
    options = (
        connection.subject,
        click.option(
            "--table",
            "place",
            required=True,
            metavar="PLACE",
            help="Table: a path, or a name in a catalog (Delta, Iceberg).",
        ),
        click.option("--format", "format_", type=click.Choice(FORMATS), default="delta", show_default=True),
        click.option(
            "--message",
            default="",
            metavar="NAME",
            help="Full name of the Protobuf message (default: the first of the file).",
        ),
        click.option("--sql", "as_sql", is_flag=True, help="Print the SQL statements and change nothing."),
        conf,
        verbose,
        connection.registry,
        connection.as_json,
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group("table", cls=SubcommandGroup)
def command() -> None:
    """Create, evolve and compare lake tables (Delta, Iceberg, Parquet) for all versions of a subject."""


@command.command("create", epilog="Exit code 0: the table exists. 1: no table can hold the subject. 2: unusable input.")
@add_table_options
@click.option("--partition", "partitions", multiple=True, metavar="COLUMN", help="Column to partition by. Repeatable.")
def create(*, partitions: tuple[str, ...], as_sql: bool, as_json: bool, **where: Any) -> None:
    """Create a table for SUBJECT with the columns of all its versions; comments are the docs of the schemas.

    --sql only prints the statement and does not start Spark.

    \b
    Examples:
      treaty table create orders-value --table s3a://lake/orders --sql
      treaty table create orders-value --format iceberg --table /lake/orders \\
        --partition day
    """  # noqa: D301 - click wants the control character
    plan, table = _plan_table(where, partitions)
    from treaty.spark.lake import subjects  # noqa: PLC0415

    statements = subjects.print_create_statements(plan, table)
    if not as_sql:
        with _start_spark(table, where["conf"]) as spark:
            subjects.create(spark, plan, table)
    sentence = f"{table.place} has the columns of {where['subject']}."
    _say_done(where["subject"], table, statements, as_json=as_json, as_sql=as_sql, sentence=sentence)


@command.command(
    "evolve", epilog="Exit code 0: the table fits. 1: the change is not possible. 2: unusable input, or no table."
)
@add_table_options
def evolve(*, as_sql: bool, as_json: bool, **where: Any) -> None:
    """Change a table to fit all versions of SUBJECT: add columns, widen types, update comments. Nothing is dropped.

    \b
    Examples:
      treaty table evolve orders-value --table /lake/orders
      treaty table evolve orders-value --table /lake/orders --sql
    """  # noqa: D301 - click wants the control character
    plan, table = _plan_table(where)
    from treaty.spark.lake import subjects  # noqa: PLC0415

    with _start_spark(table, where["conf"]) as spark:
        drift = subjects.find_drift(spark, plan, table)
        if drift.missing:
            raise UnusableError(
                f"there is no {table.format} table at {table.place}; create it with treaty table create"
            )
        statements = subjects.print_evolve_statements(spark, table, drift)
        if not as_sql:
            _refuse_invalid(lambda: subjects.evolve(spark, plan, table))
    news = [one for one in drift.changes if one.kind in {"add", "widen", "comment"}]
    sentence = "\n".join(map(str, news)) or f"{table.place} fits {where['subject']}."
    _say_done(where["subject"], table, statements, as_json=as_json, as_sql=as_sql, sentence=sentence)


@command.command("diff", epilog="Exit code 0: no differences. 1: differences, or no table. 2: unusable input.")
@add_table_options
@click.option(
    "--extra-column",
    "also",
    multiple=True,
    metavar="COLUMN",
    help="Additional column that the table may have, such as offset. Repeatable.",
)
def diff(*, also: tuple[str, ...], as_sql: bool, as_json: bool, **where: Any) -> None:
    """Show the differences of a table and the versions of SUBJECT: columns, types, comments.

    \b
    Example:
      treaty table diff orders-value --table /lake/orders --extra-column offset \\
        --json
    """  # noqa: D301 - click wants the control character
    plan, table = _plan_table(where)
    from treaty.spark.lake import subjects  # noqa: PLC0415
    from treaty.spark.pipelines.reports.suspect_queries import list_suspect_queries  # noqa: PLC0415

    with _start_spark(table, where["conf"]) as spark:
        drift = subjects.find_drift(spark, plan, table, also)
        statements = subjects.print_evolve_statements(spark, table, drift)
        suspect = () if drift.missing else list_suspect_queries(plan, table)
    changes = [
        {
            "kind": change.kind,
            "column": ".".join(change.path),
            "old": change.old,
            "new": change.new,
            "sentence": str(change),
        }
        for change in drift.changes
    ]
    if as_json:
        members = {"subject": where["subject"], "table": table.place, "format": table.format, "drift": drift.any}
        members["suspect_rows"] = [asdict(one) for one in suspect]
        screen.say_json({**members, "missing": drift.missing, "changes": changes, "statements": list(statements)})
    elif as_sql:
        _print_statements(statements)
    elif drift.missing:
        screen.say(f"there is no {table.format} table at {table.place}", "red")
    else:
        for change in changes:
            screen.say(change["sentence"], "yellow")
        screen.say(f"{screen.format_count(len(changes), 'difference')}." if changes else "They agree.", bold=True)
        say_suspects(suspect)
    sys.exit(DRIFT if drift.any else FINE)


def _plan_table(where: dict[str, Any], partitions: tuple[str, ...] = ()) -> "tuple[DecodePlan, LakeTable]":
    """Return the plan of the subject's versions, and the table."""
    with needs_spark():
        from treaty.plan.decode_plans import make_plan  # noqa: PLC0415
        from treaty.spark.lake.table import LakeTable  # noqa: PLC0415 (pyspark is large, and may not be there)
    try:
        table = LakeTable(where["place"], where["format_"], partitions)
    except ValueError as error:
        raise UnusableError(str(error)) from error
    with connection.open_registry(where["registry"]) as client:
        plan = _refuse_invalid(
            lambda: make_plan(client, where["subject"], reader="union", message=where["message"], case_sensitive=False)
        )
    return plan, table


def _refuse_invalid(act: Callable[[], Any]) -> Any:
    """Apply the changes; an impossible change ends the program with exit code 1 and the reason."""
    try:
        return act()
    except ValueError as error:  # a plan that can't be made, a table that can't be brought there
        raise click.ClickException(str(error)) from error


def _start_spark(table: Any, settings: tuple[str, ...]) -> AbstractContextManager[Any]:
    """Start a Spark session for the table format."""
    return start_spark(
        f"table {table.place}", settings, delta=table.format == "delta", iceberg=table.format == "iceberg"
    )


def _say_done(
    subject: str, table: Any, statements: tuple[str, ...], *, as_json: bool, as_sql: bool, sentence: str
) -> None:
    if as_json:
        members = {"subject": subject, "table": table.place, "format": table.format, "changed": not as_sql}
        screen.say_json({**members, "statements": list(statements)})
    elif as_sql:
        _print_statements(statements)
    else:
        screen.say(sentence, "green")


def _print_statements(statements: tuple[str, ...]) -> None:
    for statement in statements:
        screen.say(f"{statement};")

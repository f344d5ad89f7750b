"""`treaty bad list`: how many bad rows there are by reason and schema id, and the rows with their places, without a JVM."""

import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from treaty.cli.metastore.bad.tables import (
    FILTERS,
    ROOT_OPTIONS,
    add_options,
    describe_pipeline,
    find_root,
    find_tables,
    is_pipeline,
    make_filter,
)
from treaty.cli.registry import connection
from treaty.cli.terminal import screen
from treaty.plan.rows import OPEN

LISTED = 20
"""Rows that are listed where no number is named."""
REGISTRY_HELP = "http(s)://[user@]host:port, or the URL of a log such as sqlite:///path.db. A pipeline needs none."


@click.command("list", epilog="Exit code 0: the rows are listed, also where there are none. 2: unusable input.")
@click.argument("name", metavar="[SOURCE|TABLE|PIPELINE.toml]", default="")
@add_options(*FILTERS)
@click.option("--since", default="", metavar="TIME", help="Only rows that were found bad at this time or later (ISO 8601); of a pipeline, whose records are of that time.")  # fmt: skip
@click.option("--limit", default=LISTED, show_default=True, type=click.IntRange(min=0), metavar="N", help="Rows that are listed at most, of each table; the newest come first.")  # fmt: skip
@click.option("--all", "with_replayed", is_flag=True, help="Also rows that a replay has brought into their tables.")
@add_options(*ROOT_OPTIONS)
@click.option("--registry", default="", envvar="TREATY_REGISTRY", show_envvar=True, metavar="URL", help=REGISTRY_HELP)
@connection.as_json
def list_(
    *, name: str, reasons: tuple[str, ...], schema_id: int | None, since: str, limit: int, with_replayed: bool,
    files: Path | None, root: Path | None, registry: str, as_json: bool,
) -> None:  # fmt: skip
    """Show the bad rows of a source, of all that a query reads, or of a pipeline: counts by reason and schema id, then rows.

    Without a name, those of every source with BAD_ROWS. The tables are read without a JVM, as they are at this time; runners are not
    disturbed. A row that a replay looked at has its newest reason; --json has the first one too.

    \b
    Examples:
      treaty bad list --files /data
      treaty bad list flights --files /data --reason UNKNOWN_ID
      treaty bad list orders.toml --limit 5 --json
    """  # noqa: D301 - click wants the control character
    row_filter = make_filter(reasons, schema_id, since)
    reading: Any = import_module("treaty.cli.metastore.bad.bad_report")  # needs the extra arrow, which --help does not
    with ExitStack() as resources:
        if is_pipeline(name):
            tables = [describe_pipeline(name)]
        else:
            if not registry:
                raise click.UsageError(
                    "a source is described by a registry: name it by --registry, or in TREATY_REGISTRY"
                )
            place = find_root(files, root)
            client = resources.enter_context(connection.open_registry(registry))
            tables = find_tables(client, name, place)
        reports = [reading.read_report(one, row_filter, limit, with_replayed=with_replayed) for one in tables]
    if as_json:
        screen.say_json(reports)
        return
    if not reports:
        screen.say("no source keeps its bad rows: CREATE … WITH (BAD_ROWS = true)", err=True)
    for report in reports:
        _say_report(report, limit)


def _say_report(report: dict[str, Any], limit: int) -> None:
    screen.say(f"{report['name']}, the bad rows of {report['origin']}", bold=True)
    if not report["counts"]:
        screen.say("  none\n")
        return
    counts = [(one["state"], one["code"], _text(one["schema_id"]), f"{one['rows']:,}") for one in report["counts"]]
    screen.say_rows(("state", "reason", "schema id", "rows"), counts)
    screen.say("")
    rows: Sequence[dict[str, Any]] = report["rows"]
    if rows:
        places = [word for word in rows[0] if word not in _OTHERS]
        heads = (*places, "found" if rows[0]["found"] else "time", "reason", "message")
        cells = [(*(_text(one[word]) for word in places), one["found"] or one["time"] or "", one["code"], one["message"] or "") for one in rows]  # fmt: skip
        screen.say_rows(heads, cells)
        screen.say("")
    if report["unfinished"]:
        screen.say(
            f"a replay was cut short: `treaty bad replay {shlex.quote(report['origin'])}` completes it", "yellow"
        )
    left = sum(one["rows"] for one in report["counts"] if one["state"] == OPEN)
    if left > len(rows) and limit:
        screen.say(f"{len(rows)} of {left:,} are listed: --limit N, --reason CODE or --schema-id N", err=True)
    if left:
        screen.say(f"after a mend, `treaty bad replay {shlex.quote(report['origin'])}` decodes them again", err=True)


_OTHERS = frozenset(
    ("bad_id", "code", "message", "schema_id", "state", "first_code", "first_message", "replay", "time", "found", "replayed_at")
)  # fmt: skip


def _text(value: object) -> str:
    return "" if value is None else str(value)

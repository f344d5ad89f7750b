"""`treaty pipeline replay FILE.toml`: decodes bad rows again, after a fix."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treaty.cli.pipeline import context
from treaty.cli.spark import verbose
from treaty.cli.terminal import screen
from treaty.cli.terminal.options import as_json
from treaty.cli.terminal.source import UnusableError
from treaty.core.refusals import RegistryError
from treaty.plan.rows import BadRowFilter

if TYPE_CHECKING:
    from treaty.spark.pipelines.replay import ReplayReport


@click.command("replay", epilog="Exit code 0: no bad rows are left. 1: some are. 2: unusable input.")
@context.file
@context.registry
@verbose
@as_json
def replay(file: Path, *, registry: str, as_json: bool) -> None:
    """Decode the bad rows of a pipeline again, and write those that pass to the table of good rows, exactly once.

    Run it after a missing schema was registered or a rule changed. Bad rows stay in their table; each is marked as
    replayed, or gets its new error. A running stream is not affected. An interrupted replay is completed by the next
    one.

    \b
    Example:
      treaty pipeline replay orders.toml
    """  # noqa: D301 - click wants the control character
    sys.exit(run_replay(file, registry, BadRowFilter(), dry_run=False, as_json=as_json))


def run_replay(file: Path, registry: str, row_filter: BadRowFilter, *, dry_run: bool, as_json: bool) -> int:
    """Decode the bad rows of a pipeline that are meant, and print what came of it; return the exit code. Raises `UnusableError`."""
    from treaty.plan.errors import PlanError  # noqa: PLC0415 (these load Spark, which --help must not need)
    from treaty.spark.lake.changes import EvolutionError  # noqa: PLC0415
    from treaty.spark.pipelines.plan_store import NeverRanError  # noqa: PLC0415
    from treaty.spark.pipelines.replay import replay as again  # noqa: PLC0415
    from treaty.spark.pipelines.replay_lock import ReplayRunsError  # noqa: PLC0415

    with context.open_pipeline(file, registry) as (described, spark, client):
        try:
            report = again(described.pipeline, client, spark, row_filter, dry_run=dry_run)
        except (NeverRanError, ReplayRunsError, PlanError, EvolutionError, RegistryError) as error:
            raise UnusableError(str(error)) from error
    if as_json:
        members = _replay_members(report)
        screen.say_json({"name": described.name, **members, "topics": [_replay_members(one) for one in report.topics]})
    else:
        for topic_report in report.topics or (report,):
            _say_replay(topic_report)
    return context.FINE if report.rows == report.passed else context.FAILED


def _replay_members(report: "ReplayReport") -> dict[str, Any]:
    reasons = dict(report.reasons)
    return {
        "replay": report.number,
        "topic": report.topic,
        "rows": report.rows,
        "passed": report.passed,
        "reasons": reasons,
    }


def _say_replay(report: "ReplayReport") -> None:
    where = f" of {report.topic}" if report.topic else ""
    left = report.rows - report.passed
    screen.say(
        f"{f'Replay {report.number}' if report.number else 'A replay would find'}{where}: {screen.format_count(report.rows, 'bad row')}, {report.passed:,} are good now, {left:,} are not.",
        "yellow" if left else "green",
    )
    for code, rows in report.reasons:
        screen.say(f"  {code}: {rows:,}")

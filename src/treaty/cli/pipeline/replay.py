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
    from treaty.plan.errors import PlanError  # noqa: PLC0415 (these load Spark, which --help must not need)
    from treaty.spark.lake.changes import EvolutionError  # noqa: PLC0415
    from treaty.spark.pipelines.plan_store import NeverRanError  # noqa: PLC0415
    from treaty.spark.pipelines.replay import replay as again  # noqa: PLC0415

    with context.open_pipeline(file, registry) as (described, spark, found):
        try:
            done = again(described.pipeline, found, spark)
        except (NeverRanError, PlanError, EvolutionError, RegistryError) as error:
            raise UnusableError(str(error)) from error
    if as_json:
        members = _replay_members(done)
        screen.say_json({"name": described.name, **members, "topics": [_replay_members(one) for one in done.topics]})
    else:
        for one in done.topics or (done,):
            _say_replay(one)
    sys.exit(context.FINE if done.rows == done.passed else context.FAILED)


def _replay_members(done: "ReplayReport") -> dict[str, Any]:
    reasons = dict(done.reasons)
    return {"replay": done.number, "topic": done.topic, "rows": done.rows, "passed": done.passed, "reasons": reasons}


def _say_replay(done: "ReplayReport") -> None:
    where = f" of {done.topic}" if done.topic else ""
    left = done.rows - done.passed
    screen.say(
        f"Replay {done.number}{where}: {screen.format_count(done.rows, 'bad row')}, {done.passed:,} are good now, {left:,} are not.",
        "yellow" if left else "green",
    )
    for code, rows in done.reasons:
        screen.say(f"  {code}: {rows:,}")

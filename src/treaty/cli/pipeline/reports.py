"""`treaty pipeline plan` and `treaty pipeline status`: what a pipeline would do, and what it did."""

import sys
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treaty.cli.pipeline import context
from treaty.cli.spark import verbose
from treaty.cli.terminal import screen
from treaty.cli.terminal.options import as_json
from treaty.cli.terminal.registry_url import describe_failure
from treaty.cli.terminal.source import UnusableError
from treaty.core.refusals import RegistryError

if TYPE_CHECKING:
    from treaty.spark.pipelines.reports.preview import PipelinePreview
    from treaty.spark.pipelines.reports.status import PipelineStatus
    from treaty.spark.pipelines.reports.suspect_queries import SuspectQuery


@click.command(
    "plan",
    epilog="Exit code 0: the rows of every known schema would be good. 1: something would be refused. 2: unusable input.",
)
@context.file
@context.registry
@click.option("--topic", "topics", multiple=True, help="A topic to plan for, if the source is a pattern. Repeatable.")
@verbose
@as_json
def plan(file: Path, *, registry: str, topics: tuple[str, ...], as_json: bool) -> None:
    """Show what `treaty pipeline run FILE.toml` would do now. Nothing is written.

    It opens the source, and prints the decode plan of each subject, the columns to add, the types to widen, the schemas
    whose rows would be bad, and errors that would stop the stream. Brokers are not asked.

    \b
    Example:
      treaty pipeline plan orders.toml --json
    """  # noqa: D301 - click wants the control character
    from treaty.spark.pipelines.reports.preview import preview  # noqa: PLC0415 (loads Spark, which --help must not need)

    with context.open_pipeline(file, registry) as (described, spark, client):
        try:
            previews = preview(described.pipeline, client, spark, topics)
        except RegistryError as error:
            raise UnusableError(describe_failure(error)) from error
    fine = all(one.fine for one in previews)
    if as_json:
        screen.say_json({"name": described.name, "fine": fine, "subjects": [_preview_members(one) for one in previews]})
    else:
        for topic_preview in previews:
            _say_preview(topic_preview)
        if not previews:
            screen.say("The source is a topic pattern: name topics with --topic.", "yellow")
    sys.exit(context.FINE if fine else context.FAILED)


def _preview_members(topic_preview: "PipelinePreview") -> dict[str, Any]:
    plan = topic_preview.plan
    columns = plan.columns or (("value", plan.type),) if plan else ()
    return {
        "topic": topic_preview.topic,
        "subject": topic_preview.subject,
        "table": topic_preview.table,
        "fine": topic_preview.fine,
        "creates": topic_preview.new,
        "reader": plan.reader_name if plan else None,
        "format": plan.format if plan else None,
        "ids": [
            {"id": writer.schema_id, "subject": writer.subject, "version": writer.version} for writer in plan.writers
        ]
        if plan
        else [],
        "columns": [{"name": name, "type": kind} for name, kind in columns],
        "changes": [
            {"kind": change.kind, "column": change.path, "old": change.old, "new": change.new}
            for change in topic_preview.grows
        ],
        "bad_ids": [
            {"id": rejected.schema_id, "code": rejected.code, "message": rejected.message} for rejected in plan.rejected
        ]
        if plan
        else [],
        "refused": list(topic_preview.refused),
        "suspect_rows": [asdict(each) for each in topic_preview.suspect],
    }


def _say_preview(topic_preview: "PipelinePreview") -> None:
    if topic_preview.plan is not None:
        screen.say(topic_preview.plan.explain())
    if topic_preview.new:
        screen.say(f"  table {topic_preview.table} would be created", "green")
    elif topic_preview.plan is not None and not topic_preview.refused:
        screen.say(f"  table {topic_preview.table} {'would change' if topic_preview.grows else 'would not change'}")
    for change in topic_preview.grows:
        screen.say(f"    {change}", "yellow")
    for sentence in topic_preview.refused:
        screen.say(f"  REFUSED  {topic_preview.subject}: {sentence}", "red")
    say_suspects(topic_preview.suspect)


def say_suspects(suspects: "Iterable[SuspectQuery]") -> None:
    """Print the queries that count rows which a development build may have written wrongly."""
    for suspect in suspects:
        screen.say(f"  SUSPECT  {suspect.sentence}, where a development build wrote it; {suspect.remedy}:", "yellow")
        screen.say(f"    {suspect.query}")


@click.command("status", epilog="Exit code 0: the status is printed. 2: unusable input.")
@context.file
@verbose
@as_json
def status(file: Path, *, as_json: bool) -> None:
    """Show what the pipeline of FILE.toml did so far, whether it runs or not.

    It prints the last batch, counts of rows by schema id and error, the lag of the topics in records, the bad rows that
    no replay has moved, with their newest error, and the decode plans in use.

    \b
    Example:
      treaty pipeline status orders.toml --json | jq .lag
    """  # noqa: D301 - click wants the control character
    from treaty.spark.lake.local_files import NeedsSparkError  # noqa: PLC0415 (loads Spark, which --help must not need)
    from treaty.spark.pipelines.reports.local_status import read_local_status  # noqa: PLC0415
    from treaty.spark.pipelines.reports.status import status as read_status  # noqa: PLC0415

    described = context.read_file(file)
    try:
        pipeline_status = read_local_status(described.pipeline)
    except NeedsSparkError as reason:
        screen.say(f"starting Spark: {reason}", err=True)
        with context.start_session(described) as spark:
            pipeline_status = read_status(described.pipeline, spark)
    if as_json:
        screen.say_json(_status_members(described.name, pipeline_status))
    else:
        _say_status(described.name, pipeline_status)


def _status_members(name: str, pipeline_status: "PipelineStatus") -> dict[str, Any]:
    from treaty.spark.pipelines.batch_history import list_counts  # noqa: PLC0415 (loads Spark)

    last = pipeline_status.last
    return {
        "name": name,
        "ran": bool(pipeline_status.query),
        "query": pipeline_status.query,
        "last": {"batch": last.batch, "ended": last.ended, "seconds": last.seconds, "rows": list_counts(last.rows)}
        if last
        else None,
        "total": list_counts(last.total) if last else [],
        "lag": pipeline_status.lag,
        "no_lag": pipeline_status.no_lag or None,
        "still_bad": [
            {
                "topic": count.topic,
                "code": count.code,
                "id": count.schema_id,
                "rows": count.rows,
                "message": count.message,
            }
            for count in pipeline_status.bad
        ],
        "plans": [
            {
                "topic": topic,
                "since_batch": batch,
                "subject": route_plan.subject,
                "ids": [writer.schema_id for writer in route_plan.writers],
                "bad_ids": [rejected.schema_id for rejected in route_plan.rejected],
            }
            for topic, batch, route_plan in pipeline_status.plans
        ],
        "suspect_rows": [asdict(rows) for rows in pipeline_status.suspect],
    }


def _say_status(name: str, pipeline_status: "PipelineStatus") -> None:
    from treaty.spark.pipelines.batch_history import sum_topics  # noqa: PLC0415 (loads Spark)

    if not pipeline_status.query:
        screen.say(f"{name} has not run yet.", "yellow")
        return
    facts = {
        "query": pipeline_status.query,
        "lag": f"{pipeline_status.lag:,} records" if pipeline_status.lag is not None else pipeline_status.no_lag,
    }
    if pipeline_status.last:
        when = datetime.fromtimestamp(pipeline_status.last.ended, UTC)
        facts["last"] = (
            f"batch {pipeline_status.last.batch}, {pipeline_status.last.seconds:.1f} s, ended {when:%Y-%m-%d %H:%M:%S} UTC"
        )
    if pipeline_status.last:
        counts = sum_topics(pipeline_status.last.total)
        deletes = f", {counts.deletes:,} delete markers" if counts.deletes else ""
        facts["rows"] = f"{counts.rows:,}: {counts.good:,} good, {counts.bad:,} bad{deletes}"
    screen.say(name, bold=True)
    screen.say_facts(facts)
    if pipeline_status.last:
        rows, heads = _count_rows(pipeline_status), ("topic", "id", "error", "last", "all")
        first = 0 if any(pipeline_status.last.total) else 1  # without topics there is nothing to show of them
        screen.say_rows(heads[first:], [row[first:] for row in rows])
    for bad in pipeline_status.bad:
        where = f"{bad.topic} " if bad.topic else ""
        number = f"id {bad.schema_id}" if bad.schema_id is not None else "no id"
        screen.say(f"still bad: {where}{bad.rows:,} {bad.code} ({number}): {bad.message}", "red")
    for topic, batch, topic_plan in pipeline_status.plans:
        ids = ", ".join(str(one.schema_id) for one in topic_plan.writers)
        screen.say(f"plan{f' of {topic}' if topic else ''} since batch {batch}: {topic_plan.subject}, ids {ids}")
    say_suspects(pipeline_status.suspect)


def _count_rows(pipeline_status: "PipelineStatus") -> list[tuple[str, ...]]:
    assert pipeline_status.last is not None, "asked by the caller"
    return [
        (
            topic or "-",
            str(number) if number >= 0 else "-",
            code or "-",
            f"{pipeline_status.last.rows.get(topic, {}).get((number, code), 0):,}",
            f"{rows:,}",
        )
        for topic, counts in sorted(pipeline_status.last.total.items())
        for (number, code), rows in sorted(counts.items())
    ]

"""`treaty check --history`: decodes existing records with a new schema before it is registered."""

import json
from dataclasses import dataclass
from typing import Any

from treaty.cli.registry import connection
from treaty.cli.spark import needs_spark, start_spark
from treaty.cli.terminal import screen
from treaty.cli.terminal.source import UnusableError, read_sources
from treaty.formats.registry import find_formats

FINE, LOST = 0, 1


@dataclass(frozen=True, slots=True)
class DataCheckOptions:
    """Options of the command line."""

    file: str
    subject: str
    registry: str
    place: str
    format: str | None
    table_format: str
    share: float
    column: str
    message: str
    conf: tuple[str, ...]


def check_data(options: DataCheckOptions, *, as_json: bool) -> int:
    """Read, print, and return the exit code."""
    with connection.open_registry(options.registry) as registry:
        latest = registry.version(options.subject)
        (candidate,) = read_sources([options.file], options.format, find_formats(), latest.format)
        report = _read_report(options, candidate.text, registry)
    if as_json:
        screen.say_json({"place": options.place, "share": options.share, **json.loads(report.to_json())})
    else:
        _say_report(report, options)
    return FINE if report.fine and not any(one.rows for one in report.narrowed) else LOST


def _read_report(options: DataCheckOptions, candidate: str, registry: Any) -> Any:
    with needs_spark():
        from treaty.spark.history import check_history  # noqa: PLC0415 (pyspark is large, and may not be there)
        from treaty.spark.lake import detection, tables  # noqa: PLC0415
    table_format = options.table_format or detection.detect_format(options.place)
    iceberg = table_format == "iceberg" or any("iceberg" in one for one in options.conf)
    with start_spark(
        f"history of {options.subject}", options.conf, delta=table_format != "iceberg", iceberg=iceberg
    ) as spark:
        try:
            data = detection.read_place(spark, options.place, options.table_format)
        except tables.UNREADABLE as error:
            raise UnusableError(f"{options.place} cannot be read: {str(error).splitlines()[0]}") from error
        try:
            column = detection.find_frame_column(data.schema, options.column)
            return check_history(
                candidate, data, registry, options.subject, column=column, message=options.message, share=options.share
            )
        except ValueError as error:  # no such column, a text that is no schema, a plan that can't be made
            raise UnusableError(str(error)) from error


def _say_report(report: Any, options: DataCheckOptions) -> None:
    looked = "" if options.share >= 1 else f", a sample of {options.share:.2%}"
    facts = {
        "rows": f"{report.rows:,}{looked}",
        "good": f"{report.good:,}",
        "deletes": f"{report.deletes:,}",
        "lost": f"{report.rows - report.good - report.deletes:,}",
    }
    screen.say_facts(facts)
    for trouble in report.troubles:
        screen.say(f"{trouble.rows:,} of id {trouble.schema_id}: {trouble.code}: {trouble.message}", "red")
        for sample in trouble.samples:
            screen.say(f"   {sample[:120]}{'…' if len(sample) > 120 else ''}")
    if report.others:
        screen.say(f"{screen.format_count(report.others, 'row')} for other reasons", "red")
    for trouble in report.narrowed:
        colour = "red" if trouble.rows else None
        screen.say(
            f"{trouble.field} becomes {trouble.new} from {trouble.old}: {screen.format_count(trouble.rows, 'value')} would not fit",
            colour,
        )
    for trouble in report.dropped:
        users = ", ".join(f"id {use.schema_id} (version {use.version}): {use.rows:,}" for use in trouble.uses)
        screen.say(
            f"{trouble.field}: {trouble.value} cannot be represented; it is in {screen.format_count(trouble.rows, 'row')}, of {users}",
            "red",
        )
    if report.empty:
        screen.say(f"always null: {', '.join(report.empty)}", "yellow")
    fine = report.fine and not any(one.rows for one in report.narrowed)
    word = "reads all rows" if fine else "would lose rows or values"
    screen.say(f"{options.file} {word}.", "green" if fine else "red")

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


def check_data(wanted: DataCheckOptions, *, as_json: bool) -> int:
    """Read, print, and return the exit code."""
    with connection.open_registry(wanted.registry) as registry:
        latest = registry.version(wanted.subject)
        (candidate,) = read_sources([wanted.file], wanted.format, find_formats(), latest.format)
        report = _read_report(wanted, candidate.text, registry)
    if as_json:
        screen.say_json({"place": wanted.place, "share": wanted.share, **json.loads(report.to_json())})
    else:
        _say_report(report, wanted)
    return FINE if report.fine and not any(one.rows for one in report.narrowed) else LOST


def _read_report(wanted: DataCheckOptions, candidate: str, registry: Any) -> Any:
    with needs_spark():
        from treaty.spark.history import check_history  # noqa: PLC0415 (pyspark is large, and may not be there)
        from treaty.spark.lake import detection, tables  # noqa: PLC0415
    known = wanted.table_format or detection.detect_format(wanted.place)
    iceberg = known == "iceberg" or any("iceberg" in one for one in wanted.conf)
    with start_spark(f"history of {wanted.subject}", wanted.conf, delta=known != "iceberg", iceberg=iceberg) as spark:
        try:
            data = detection.read_place(spark, wanted.place, wanted.table_format)
        except tables.UNREADABLE as wrong:
            raise UnusableError(f"{wanted.place} cannot be read: {str(wrong).splitlines()[0]}") from wrong
        try:
            column = detection.find_frame_column(data, wanted.column)
            return check_history(
                candidate, data, registry, wanted.subject, column=column, message=wanted.message, share=wanted.share
            )
        except ValueError as wrong:  # no such column, a text that is no schema, a plan that can't be made
            raise UnusableError(str(wrong)) from wrong


def _say_report(report: Any, wanted: DataCheckOptions) -> None:
    looked = "" if wanted.share >= 1 else f", a sample of {wanted.share:.2%}"
    facts = {
        "rows": f"{report.rows:,}{looked}",
        "good": f"{report.good:,}",
        "deletes": f"{report.deletes:,}",
        "lost": f"{report.rows - report.good - report.deletes:,}",
    }
    screen.say_facts(facts)
    for one in report.troubles:
        screen.say(f"{one.rows:,} of id {one.schema_id}: {one.code}: {one.message}", "red")
        for sample in one.samples:
            screen.say(f"   {sample[:120]}{'…' if len(sample) > 120 else ''}")
    if report.others:
        screen.say(f"{screen.format_count(report.others, 'row')} for other reasons", "red")
    for one in report.narrowed:
        colour = "red" if one.rows else None
        screen.say(
            f"{one.field} becomes {one.new} from {one.old}: {screen.format_count(one.rows, 'value')} would not fit",
            colour,
        )
    for one in report.dropped:
        users = ", ".join(f"id {use.schema_id} (version {use.version}): {use.rows:,}" for use in one.uses)
        screen.say(
            f"{one.field}: {one.value} cannot be represented; it is in {screen.format_count(one.rows, 'row')}, of {users}",
            "red",
        )
    if report.empty:
        screen.say(f"always null: {', '.join(report.empty)}", "yellow")
    fine = report.fine and not any(one.rows for one in report.narrowed)
    word = "reads all rows" if fine else "would lose rows or values"
    screen.say(f"{wanted.file} {word}.", "green" if fine else "red")

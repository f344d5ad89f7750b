"""`treaty metastore import`: sources and types of ksqlDB, from its command topic or from a backup file of it."""

import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

import click

from treaty.cli.registry import connection
from treaty.cli.terminal import kafka, screen
from treaty.cli.terminal.source import UnusableError
from treaty.client.kafka.cluster_settings import parse_cluster
from treaty.client.kafka.consumer import ReadRange, read_records
from treaty.core.kafka import SCHEME, KafkaCluster, KafkaSettingsError
from treaty.core.sources import PAUSED
from treaty.metastore.ksqldb.commands import CommandRecord, CommandState, read_backup, take_all
from treaty.metastore.ksqldb.importer import LEFT, PORTED, UNCHANGED, CommandImport, ImportReport, import_state
from treaty.metastore.metastore import Metastore

INCOMPLETE = 1
"""Exit code where an object was not taken, or a record was passed over."""


@click.command(
    "import", epilog="Exit code 0: all was taken. 1: something was not, or a record was damaged. 2: unusable input."
)
@click.option("--from", "place", required=True, metavar="URL|FILE", help="kafka://host:port/_confluent-ksql-ID_command_topic, or ksqlDB's backup file of it.")  # fmt: skip
@click.option("--follow", is_flag=True, help="Keep reading the topic, and take each command as it comes, until Ctrl-C.")
@click.option("--dry-run", is_flag=True, help="Report what would be taken and write nothing.")
@kafka.kafka_config
@connection.registry
@connection.as_json
def command(
    *, place: str, follow: bool, dry_run: bool, kafka_config: tuple[str, ...], registry: str, as_json: bool
) -> None:
    """Take the streams, tables and types of a ksqlDB over, with its queries PAUSED and suggested for Spark.

    Import its schemas before: sources are bound to them. Nothing is written to ksqlDB or its topic. What an import has made has
    the comment "from ksqlDB"; nothing else is changed, and a second run writes nothing. A server with --ddl import takes an import, and one with --ddl off and --auth that of a caller with the permission import.

    \b
    Examples:
      treaty metastore import --dry-run \\
        --from kafka://broker:9092/_confluent-ksql-default__command_topic
      treaty metastore import --from backup_command_topic_1617829200000 --json
    """  # noqa: D301 - click wants the control character
    is_topic = place.startswith(SCHEME)
    if follow and not is_topic:
        raise click.UsageError("--follow is for a topic; a backup file has an end")
    with kafka.exit_on_kafka_error(), connection.open_registry(registry, "create") as opened:
        metastore = Metastore(opened.registry)
        if not is_topic:
            state = take_all(_read_file(Path(place)))
            report = import_state(metastore, state, dry_run=dry_run)
            _say(report, as_json=as_json)
        else:
            cluster, topic = _parse_topic(place, kafka_config)
            report = _import_topic(metastore, cluster, topic, follow=follow, dry_run=dry_run, as_json=as_json)
    sys.exit(0 if report.is_whole else INCOMPLETE)


def _import_topic(
    metastore: Metastore, cluster: KafkaCluster, topic: str, *, follow: bool, dry_run: bool, as_json: bool
) -> ImportReport:
    """Import what a topic has now; with `follow` again after each command that comes."""
    state = CommandState()
    with closing(read_records(cluster, topic, ReadRange(committed=True))) as records:
        last = -1
        for record in records:
            if record is not None:
                state.take(CommandRecord(record.offset, record.key, record.value))
                last = record.offset
    command_import = CommandImport(metastore, dry_run)
    report = command_import.run(state)
    _say(report, as_json=as_json)
    if not follow:
        return report
    screen.say(f"following {topic}; Ctrl-C stops", err=True)
    try:
        with closing(read_records(cluster, topic, ReadRange(follow=True, committed=True))) as records:
            for record in records:
                if record is not None and record.offset > last:
                    state.take(CommandRecord(record.offset, record.key, record.value))
                    before, report = report, command_import.run(state)
                    _say_changes(before, report, record.offset)
    except KeyboardInterrupt:
        screen.say("stopped", "yellow", err=True)
    return report


def _parse_topic(place: str, words: tuple[str, ...]) -> tuple[KafkaCluster, str]:
    try:
        cluster, topic = parse_cluster(place, words)
    except KafkaSettingsError as error:
        raise UnusableError(str(error)) from error
    if not topic:
        raise UnusableError(f"{place} names no topic; expected {SCHEME}host:port/_confluent-ksql-ID_command_topic")
    return cluster, topic


def _read_file(path: Path) -> Iterator[CommandRecord]:
    try:
        yield from read_backup(path)
    except OSError as error:
        raise UnusableError(
            f"{path} can't be read: {error.strerror}; give ksqlDB's backup file, or kafka://…"
        ) from error


def _say(report: ImportReport, *, as_json: bool) -> None:
    """Print a report: what was taken, changed and left, and the queries with their suggestions."""
    if as_json:
        screen.say_json(asdict(report))
        return
    screen.say(f"{screen.format_count(report.records, 'command')} read.")
    rows = [(line.kind, line.name, line.outcome, line.reason) for line in report.lines]
    if rows:
        screen.say_rows(("kind", "name", "outcome", "reason"), rows)
    for passed_record in report.passed:
        screen.say(f"passed over, {passed_record.place}: {passed_record.reason}", "yellow", err=True)
    for query in report.queries:
        screen.say(
            f"\nquery {query.query_id} of {query.name} is {query.state}:\n  {query.original}\na statement to begin with:"
        )
        screen.say(f"  {query.suggestion};")
        for note in query.notes:
            screen.say(f"  note: {note}")
    left = sum(line.outcome == LEFT for line in report.lines)
    imported = len(report.lines) - left
    waiting = sum(query.state == PAUSED for query in report.queries)
    noun = "query" if waiting == 1 else "queries"
    screen.say(f"\n{screen.format_count(imported, 'object')} taken, {left} not; {waiting} {noun} to be ported.")


def _say_changes(before: ImportReport, report: ImportReport, offset: int) -> None:
    """Print what a command has changed, and what is left because of it."""
    for line in report.lines:
        if line.outcome not in {UNCHANGED, PORTED} and (line.outcome != LEFT or line not in before.lines):
            screen.say(f"{offset}: {line.kind} {line.name} {line.outcome} {line.reason}".rstrip())
    for record in report.passed[len(before.passed) :]:
        screen.say(f"passed over, {record.place}: {record.reason}", "yellow", err=True)

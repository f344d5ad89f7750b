"""The records of one PRINT or SELECT FROM STREAM: read from the topic, decoded, and printed or returned as rows."""

import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import Any

import click

from treaty.cli.cluster_options import read_clusters
from treaty.cli.metastore.result_printer import describe_failure
from treaty.cli.metastore.topics.record_session import PLACES, RecordSettings
from treaty.cli.registry.connection import open_registry
from treaty.cli.terminal import kafka, screen
from treaty.cli.terminal.source import UnusableError
from treaty.client.connection import Connection
from treaty.client.kafka.consumer import ReadRange, TopicRecord, read_records
from treaty.client.kafka.offsets import StartOffset
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.refusals import NotFound, RegistryError
from treaty.core.sources import Source
from treaty.metastore.execution.results import diagnostic_bodies
from treaty.metastore.records.destinations import missing_cluster
from treaty.metastore.records.reader import DecodedRecord, SourceReader
from treaty.metastore.records.reading_places import refuse_place
from treaty.metastore.records.selection import make_selection, print_cells
from treaty.metastore.script_run import parse_statements
from treaty.metastore.sql.script import ParsedStatement
from treaty.metastore.sql.statements import PrintStatement, SelectRecordsStatement, SelectRowsStatement
from treaty.metastore.sql.values import format_time
from treaty.wire.metastore import error_body, status_of
from treaty.wire.statements import StatementResultBody

MAIN = "main"
BAD_SHOWN = 20
"""Bad records that a SELECT names; the others are counted."""


def parse(text: str, variables: Mapping[str, str]) -> Sequence[ParsedStatement]:
    """Return the statements of a script. Raises `FailedScriptError` with all of its errors."""
    try:
        return parse_statements(text, variables).statements
    except RegistryError as error:
        raise describe_failure(text, error_body(error, diagnostic_bodies(error)), status_of(error)) from error


def reads_records(parsed: ParsedStatement) -> bool:
    """Return whether a statement reads records of a topic, or rows of a table."""
    return isinstance(parsed.value, PrintStatement | SelectRecordsStatement | SelectRowsStatement)


def reads_table(parsed: ParsedStatement) -> bool:
    """Return whether a statement reads rows of a table."""
    return isinstance(parsed.value, SelectRowsStatement)


def open_topic(parsed: ParsedStatement, settings: RecordSettings) -> "TopicStatement":
    """Open what a statement reads: the registry, its source, and the cluster. Raises `FailedScriptError` and `UnusableError`."""
    statement = parsed.value
    assert isinstance(statement, PrintStatement | SelectRecordsStatement), "other statements read no records"
    opened = ExitStack()
    try:
        connection = opened.enter_context(open_registry(settings.url))
        source = _find_source(connection, statement)
        name = MAIN if source is None else source.cluster
        clusters = read_clusters(settings.clusters)
        if name not in clusters:
            message = missing_cluster(name, clusters, "`treaty sql`")
            raise UnusableError(message, "CLUSTER_UNKNOWN")
        topic = statement.name if source is None else source.place
        read = TopicStatement(
            parsed, statement, settings, opened, SourceReader(connection.registry, source), source, topic
        )
        read.cluster = clusters[name]
    except RegistryError as error:
        opened.close()
        raise describe_failure(parsed.text, error_body(error, diagnostic_bodies(error)), status_of(error)) from error
    except BaseException:
        opened.close()
        raise
    return read


def _find_source(connection: Connection, statement: PrintStatement | SelectRecordsStatement) -> Source | None:
    """Return the source of a statement; None for a PRINT of a topic. Raises `NotFound` and `Invalid`."""
    try:
        source = connection.ask(DescribeSource(statement.name)).answer.source
    except NotFound:
        if isinstance(statement, PrintStatement):
            return None
        raise
    if source.connector != "kafka":
        words = "PRINT" if isinstance(statement, PrintStatement) else "FROM STREAM"
        raise refuse_place(source, words, "topics of Kafka")
    return source


@dataclass(slots=True)
class TopicStatement:
    """A statement that reads a topic, with what it needs."""

    parsed: ParsedStatement
    statement: PrintStatement | SelectRecordsStatement
    settings: RecordSettings
    opened: ExitStack
    reader: SourceReader
    source: Source | None
    topic: str
    cluster: Any = None
    count: int = 0
    bad: int = 0
    warnings: list[str] = field(default_factory=list)

    @property
    def has_rows(self) -> bool:
        """Whether the statement returns rows, and prints no lines."""
        return isinstance(self.statement, SelectRecordsStatement)

    def run(self) -> StatementResultBody:
        """Read until the limit, the end of the topic (SELECT) or Ctrl-C; return what was read."""
        try:
            with kafka.exit_on_kafka_error():
                if isinstance(self.statement, SelectRecordsStatement):
                    return self._select(self.statement)
                return self._print(self.statement)
        except RegistryError as error:
            body = error_body(error, diagnostic_bodies(error))
            raise describe_failure(self.parsed.text, body, status_of(error)) from error

    def close(self) -> None:
        """Close the connection."""
        self.opened.close()

    def _records(self, start: StartOffset, *, follow: bool) -> Generator[TopicRecord | None]:
        return read_records(self.cluster, self.topic, ReadRange(start, follow=follow))

    # ------------------------------------------------------------------------------------------------------- PRINT

    def _print(self, statement: PrintStatement) -> StatementResultBody:
        """Print every record, or every so-manieth, as it comes."""
        default = PLACES["earliest" if statement.from_beginning else "latest"]
        start = self.settings.start or default
        count = 0
        try:
            with closing(self._records(start, follow=True)) as records:
                while self.count != statement.limit:
                    record = next(records)
                    if record is None:
                        sys.stdout.flush()
                        continue
                    if count % statement.interval == 0:
                        self._show(self.reader.decode(record))
                    count += 1
        except KeyboardInterrupt:
            screen.say("stopped", "yellow", err=True)
        sys.stdout.flush()
        return StatementResultBody(self.parsed.text, "PRINT", self.topic, self._sentence())

    def _show(self, decoded: DecodedRecord) -> None:
        self.count += 1
        self.bad += bool(decoded.bad)
        record = decoded.record
        if self.settings.as_json:
            members: dict[str, Any] = {
                "partition": record.partition, "offset": record.offset, "timestamp": record.time, "key": decoded.key, "value": decoded.value,
            }  # fmt: skip
            if decoded.bad:
                members["error"] = {part: {"code": code, "message": text} for part, (code, text) in decoded.bad.items()}
            click.echo(screen.json_text(members))
            return
        time = "-" if record.time is None else format_time(record.time)
        front = f"{record.partition}:{record.offset}  {time}  "
        if decoded.bad:
            screen.say(f"{front}bad {decoded.reason}".replace("\n", "\\n"), "red")
            return
        key = "" if record.key is None else f"{_text(decoded.key)}  "
        value = "(delete marker)" if record.value is None else _text(decoded.value)
        screen.say(f"{front}{key}{value}".replace("\n", "\\n"))

    def _sentence(self) -> str:
        return f"{screen.format_count(self.count, 'record')} of {self.topic}{f' ({self.bad} bad)' if self.bad else ''}"

    # ------------------------------------------------------------------------------------------------------ SELECT

    def _select(self, statement: SelectRecordsStatement) -> StatementResultBody:
        """Return the rows of records that meet the conditions."""
        assert self.source is not None, "SELECT is from a source"
        selection = make_selection(statement, self.source, self.reader.types)
        rows: list[list[Any]] = []
        for decoded in self._decode_records():
            self.count += 1
            if decoded.bad:
                self._note_bad(decoded)
                continue
            cells = self.reader.cells(decoded)
            if selection.is_met(cells):
                rows.append(print_cells(selection.row(cells), screen.json_text))
                if len(rows) == statement.limit:
                    break
        if self.bad > BAD_SHOWN:
            self.warnings.append(f"{self.bad - BAD_SHOWN} more records could not be decoded")
        result = StatementResultBody(self.parsed.text, "SELECT FROM STREAM", self.source.name)
        result.columns, result.rows, result.warnings = list(selection.columns), rows, self.warnings
        return result

    def _decode_records(self) -> Iterator[DecodedRecord]:
        start = self.settings.start or PLACES["earliest"]
        try:
            with closing(self._records(start, follow=start.kind == "end")) as records:
                yield from (self.reader.decode(one) for one in records if one is not None)
        except KeyboardInterrupt:
            screen.say("stopped", "yellow", err=True)

    def _note_bad(self, decoded: DecodedRecord) -> None:
        self.bad += 1
        if self.bad <= BAD_SHOWN:
            record = decoded.record
            self.warnings.append(f"partition {record.partition} offset {record.offset} is bad: {decoded.reason}")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else screen.json_text(value)

"""`treaty consume TOPIC`: prints the records of a topic as JSON, each decoded with the schema in its frame."""

import sys
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import click

from treaty.cli.records.decode import say_explained
from treaty.cli.registry import connection
from treaty.cli.terminal import kafka, screen
from treaty.cli.terminal.options import encoding_
from treaty.client.connection import Connection
from treaty.client.explain.record import explain_record
from treaty.client.groups.deserializer import GroupDeserializer
from treaty.client.groups.explanation import explain_group_record
from treaty.client.groups.settings import GroupReaderSettings
from treaty.client.kafka.consumer import ReadRange, TopicRecord, read_records
from treaty.client.kafka.offsets import StartOffset
from treaty.client.records.decoder import DecodedPart, DecodeMode, RecordDecoder, show_base64, show_data, to_json_value
from treaty.client.serializers.errors import BadRecordError
from treaty.client.serializers.frames import HEADER_OF, Part
from treaty.core.names import DEFAULT_CONTEXT, context_of

DONE, WRONG = 0, 1
"""Exit codes: every record was decoded; some were not."""
EXPLAINED = 3
"""The most bad records that are explained byte by byte; only the error of the others is printed."""
LENIENT = GroupReaderSettings(fail_on_codec_mismatch=False)
"""A group may have codecs that no record of the topic uses."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class StartType(click.ParamType[StartOffset]):
    """The parameter --from: ``beginning``, ``end``, an offset, ``-N`` for the last N, or a time in ISO 8601."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> StartOffset:
        """Parse the parameter."""
        if isinstance(value, StartOffset):
            return value
        if value == "beginning":
            return StartOffset("beginning")
        if value == "end":
            return StartOffset("end")
        bare = value.removeprefix("-")
        if bare.isascii() and bare.isdecimal():
            return StartOffset("offset" if bare == value else "last", int(bare))
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            self.fail(
                f"{value!r} is none of beginning, end, an offset, -N, or a time like 2026-02-28T10:00Z", param, ctx
            )
        if time.tzinfo is None:
            self.fail(f"{value!r} has no time zone; append Z for UTC", param, ctx)
        return StartOffset("time", int((time - EPOCH).total_seconds() * 1000))


@dataclass(slots=True)
class RecordPrinter:
    """Prints and counts records."""

    registry: Connection
    decoder: RecordDecoder
    key_as: DecodeMode
    form: str
    raw: bool
    group: str = ""
    """The group of the values, if they have encoding ids."""
    encoding: str = ""
    """How payloads of plug-in formats were written."""
    values: GroupDeserializer | None = None
    count: int = 0
    bad: int = 0
    markers: int = 0
    partitions: set[int] = field(default_factory=set)

    def show(self, record: TopicRecord) -> None:
        """Print a record, or its error."""
        self.count += 1
        self.markers += record.value is None
        self.partitions.add(record.partition)
        halves: dict[Part, DecodedPart] = {}
        errors: dict[Part, BadRecordError] = {}
        parts: tuple[tuple[Part, bytes | None, DecodeMode], ...] = (
            ("key", record.key, self.key_as),
            ("value", record.value, "schema"),
        )
        for part, data, how in parts:
            try:
                halves[part] = self._decode(part, data, record, how)
            except BadRecordError as bad:
                errors[part] = bad
                halves[part] = DecodedPart(show_base64(data or b""))
        if errors:
            self.bad += 1
            for part, why in errors.items():
                self._explain(record, part, why)
            if not self.raw:
                return
        self._print(record, halves["key"], halves["value"], errors)

    def _decode(self, part: Part, data: bytes | None, record: TopicRecord, how: DecodeMode) -> DecodedPart:
        if part == "key" or data is None or self.values is None:
            return self.decoder.decode_part(data, part, record.headers, how)
        opened = self.values.open(data)
        return DecodedPart(to_json_value(opened.value), opened.writer_schema)

    def _explain(self, record: TopicRecord, part: Part, bad: BadRecordError) -> None:
        screen.say(f"{record.partition}:{record.offset} {part}: {bad}", "red", err=True)
        if self.bad <= EXPLAINED:
            data = (record.key if part == "key" else record.value) or b""
            if part == "value" and self.group:
                say_explained(explain_group_record(self.registry, self.group, data, encoding=self.encoding), err=True)
            else:
                say_explained(
                    explain_record(self.registry, data, record.headers, part, encoding=self.encoding), err=True
                )

    def _print(
        self, record: TopicRecord, key: DecodedPart, value: DecodedPart, errors: dict[Part, BadRecordError]
    ) -> None:
        if self.form == "values":
            click.echo(_format_json(value.value))
            return
        headers = [[name, show_data(content)] for name, content in record.headers if name not in HEADER_OF.values()]
        if self.form == "json":
            members = {
                "partition": record.partition,
                "offset": record.offset,
                "timestamp": record.time,
                "key": key.value,
                "value": value.value,
                "headers": headers,
                **_schema_members("key", key),
                **_schema_members("value", value),
            }
            if errors:
                members["error"] = {part: {"code": bad.code, "message": bad.message} for part, bad in errors.items()}
            click.echo(_format_json(members))
            return
        text = "(delete marker)" if record.value is None else _format_json(value.value)
        front = (
            "" if record.key is None else f"{key.value if isinstance(key.value, str) else _format_json(key.value)}  "
        )
        screen.say(
            f"{record.partition}:{record.offset}  {_format_time(record.time)}  {front}{text}".replace("\n", "\\n")
        )
        for name, content in headers:
            screen.say(f"    {name}: {content if isinstance(content, str) else _format_json(content)}")

    def sentence(self, topic: str) -> str:
        """Return the counts as a sentence."""
        bad = f"{self.bad} bad" if self.bad else ""
        markers = screen.format_count(self.markers, "delete marker") if self.markers else ""
        more = ", ".join(filter(None, (bad, markers)))
        where = f", partitions {', '.join(map(str, sorted(self.partitions)))}" if len(self.partitions) > 1 else ""
        return f"{screen.format_count(self.count, 'record')} of {topic}{where}{f' ({more})' if more else ''}."


def _format_json(value: Any) -> str:
    return screen.json_text(value)


def _schema_members(part: Part, part_value: DecodedPart) -> dict[str, object]:
    schema = part_value.writer_schema
    if schema is None:
        return {}
    return {f"{part}_schema": {"id": schema.schema_id, "guid": schema.guid, "format": schema.format}}


def _format_time(milliseconds: int | None) -> str:
    if milliseconds is None:
        return "-"
    seconds, rest = divmod(milliseconds, 1000)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:03}Z"
    except (ValueError, OverflowError, OSError):
        return f"@{milliseconds}"


@click.command("consume", epilog="Exit code 0: every record was decoded. 1: some were not. 2: unusable input.")
@click.argument("topic")
@connection.registry
@kafka.kafka_brokers
@kafka.kafka_config
@click.option("--from", "start", type=StartType(), default="beginning", show_default=True, metavar="PLACE",
              help="Start: beginning, end, an offset, -N (the last N of each partition), or a time such as 2026-02-28T10:00Z.")  # fmt: skip
@click.option("--partition", "partitions", type=click.IntRange(min=0), multiple=True, help="Only these partitions.")
@click.option(
    "--max-messages", "most", type=click.IntRange(min=1), metavar="N", help="Stop after this number of records."
)
@click.option("--follow", is_flag=True, help="Continue past the end until Ctrl-C.")
@click.option("--keys", "key_as", type=click.Choice(("auto", "schema", "text", "bytes")), default="auto",
              show_default=True, help="Form of the keys; auto: by the schema in their frame, else as text.")  # fmt: skip
@click.option("--group", default="", metavar="GROUP",
              help="The values are records of this group, with encoding ids (Pravega's frames).")  # fmt: skip
@click.option("--context", default=DEFAULT_CONTEXT, show_default=True, help="Context of the schema ids in the records.")
@encoding_
@click.option("--values", is_flag=True, help="Print only the values, one per line.")
@click.option("--raw-on-error", is_flag=True, help="Also print the bytes of records that cannot be decoded.")
@click.option("--uncommitted", is_flag=True, help="Include records of open and aborted transactions.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per record and line.")
def command(topic: str, **options: Any) -> None:
    """Print the records of TOPIC up to its current end, in any mix of formats.

    No consumer group is used and no offset is committed. Records that cannot be decoded are reported on stderr, the
    first ones byte by byte.

    \b
    Examples:
      treaty consume orders --kafka 127.0.0.1:9092 \\
        --registry http://127.0.0.1:8081
      treaty consume orders --from -10 --follow
      treaty consume orders --json --from 2026-02-28T10:00Z | jq .value.price
    """  # noqa: D301 - click wants the control character
    if options["as_json"] and options["values"]:
        raise click.UsageError("--json and --values exclude each other")
    form = "json" if options["as_json"] else "values" if options["values"] else "lines"
    span = ReadRange(options["start"], options["partitions"], options["follow"], committed=not options["uncommitted"])
    cluster = kafka.find_cluster(options["kafka"], options["kafka_config"])
    with kafka.exit_on_kafka_error(), connection.open_registry(options["registry"]) as client:
        decoder = RecordDecoder(client, context_of(options["context"]), options["encoding"])
        group = options["group"]
        settings = replace(LENIENT, encoding=options["encoding"])
        values = GroupDeserializer(client, group, (), settings) if group else None
        showing = RecordPrinter(
            client, decoder, options["key_as"], form, options["raw_on_error"], group, options["encoding"], values
        )
        try:
            with closing(read_records(cluster, topic, span)) as records:
                for record in records:
                    if record is None:
                        sys.stdout.flush()
                    else:
                        showing.show(record)
                    if showing.count == options["most"]:
                        break
        except KeyboardInterrupt:
            screen.say("stopped", "yellow", err=True)
        sys.stdout.flush()
        screen.say(showing.sentence(topic), "red" if showing.bad else "green", err=True)
    sys.exit(WRONG if showing.bad else DONE)

"""A run of `treaty produce`: input records to framed records, with a summary at the end."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from treaty.cli.records.input_records import UNSET, InputRecord, InvalidInput, encode_bytes, find_member
from treaty.cli.records.schema_selection import UNKNOWN_ID, SelectedSchema, schema_members
from treaty.cli.terminal import screen
from treaty.client.kafka.producer import ANY, OutgoingRecord, RecordProducer
from treaty.client.serializers.errors import BadValueError
from treaty.client.serializers.frames import Headers

STEP = 100
"""Records between two updates of the progress."""


@dataclass(frozen=True, slots=True)
class ProduceOptions:
    """Options of a run, apart from schemas."""

    topic: str
    framing: str
    key: str | None = None
    key_field: str = ""
    headers: Headers = ()
    partition: int = ANY
    skip: bool = False
    drops_partition: bool = False
    """Whether the key chooses the partition even if the input has one."""


@dataclass(slots=True)
class ProduceCounts:
    """Counts of sent, skipped and failed records."""

    sent: int = 0
    bytes: int = 0
    wrong: int = 0
    lost: int = 0
    begin: float = field(default_factory=time.monotonic)

    def report_invalid(self, name: str, why: str) -> None:
        """Print the error of a record that was not sent."""
        self.wrong += 1
        screen.say(f"{name}: {why}", "red", err=True)

    def report_lost(self, name: str, why: str) -> None:
        """Print that a record was not delivered."""
        self.lost += 1
        screen.say(f"{name}: not delivered: {why}", "red", err=True)


@dataclass(frozen=True, slots=True)
class ProduceRun:
    """A run: its options, its schemas and its counts."""

    options: ProduceOptions
    value: SelectedSchema
    key: SelectedSchema | None
    counts: ProduceCounts = field(default_factory=ProduceCounts)

    def send(self, source: Iterator[InputRecord | InvalidInput], sender: RecordProducer) -> None:
        """Send every record, and wait until each is delivered or failed."""
        try:
            with _show_count() as progress, sender:
                partitions = sender.find_partitions(self.options.topic, self.options.partition)
                for item, record in self._make_records(source, partitions):
                    sender.send(record, item.name)
                    progress(sender.sent)
        finally:
            self.counts.sent, self.counts.bytes = sender.sent, sender.bytes

    def show(self, source: Iterator[InputRecord | InvalidInput]) -> Iterator[tuple[str, dict[str, str]]]:
        """Print the bytes of every record that would be sent, with its place in the input."""
        for item, record in self._make_records(source):
            self.counts.sent += 1
            self.counts.bytes += len(record.value or b"") + len(record.key or b"")
            facts = {} if record.key is None else {"key": self._hex(record.key, self.key)}
            facts["value"] = "none (a tombstone)" if record.value is None else self._hex(record.value, self.value)
            yield item.name, {**facts, **{f"header {name}": content.hex(" ") for name, content in record.headers}}

    def summary(self, *, dry_run: bool) -> dict[str, object]:
        """Return the summary as JSON members."""
        counts = self.counts
        figures = {"sent": counts.sent, "bytes": counts.bytes, "bad": counts.wrong, "lost": counts.lost}
        schemas = {**schema_members("key", self.key), **schema_members("value", self.value)}
        return {"topic": self.options.topic, "dry_run": dry_run, **figures, **schemas}

    def sentence(self, *, dry_run: bool) -> str:
        """Return the summary as a sentence."""
        counts = self.counts
        more = "".join(f", {count} {what}" for what, count in (("bad", counts.wrong), ("lost", counts.lost)) if count)
        word = "would be sent" if dry_run else "sent"
        seconds = time.monotonic() - counts.begin
        text = f"{screen.format_count(counts.sent, 'record')} ({screen.format_count(counts.bytes, 'byte')}) {word} to {self.options.topic} in {seconds:.1f} s{more}"
        return f"{text}; values: {self.value.what}."

    def _make_records(
        self, source: Iterator[InputRecord | InvalidInput], partitions: frozenset[int] = frozenset()
    ) -> Iterator[tuple[InputRecord, OutgoingRecord]]:
        """Yield records that can be sent. An invalid one is reported and ends the run, unless invalid records are
        skipped. `partitions` are those of the topic, None if unknown.
        """
        for item in source:
            try:
                if isinstance(item, InvalidInput):
                    raise BadValueError(item.why)
                record = self._make_record(item, partitions)
            except BadValueError as error:
                self.counts.report_invalid(item.name, str(error))
                if not self.options.skip:
                    return
            else:
                assert isinstance(item, InputRecord)
                yield item, record

    def _make_record(self, item: InputRecord, partitions: frozenset[int]) -> OutgoingRecord:
        """Return a record with framed key and value. Raises `BadValueError`."""
        options = self.options
        data, more = frame_value(self.value, item.value, options.framing)
        key_value = self._find_key(item)
        front, stamps = (encode_bytes(key_value), ()) if self.key is None else self._frame_key(self.key, key_value)
        partition = options.partition if options.partition != ANY or options.drops_partition else item.partition
        if partitions and partition not in {ANY, *partitions}:
            counted = screen.format_count(len(partitions), "partition")
            raise BadValueError(
                f"the record names partition {partition}, but {options.topic} has {counted}; --no-partition ignores it"
            )
        headers = (*options.headers, *item.headers, *stamps, *more)
        return OutgoingRecord(options.topic, front, data, headers, partition, item.time)

    def _find_key(self, item: InputRecord) -> Any:
        """Return the key of a record: from the command line, from the value, or from the input."""
        if self.options.key is not None:
            return self.options.key
        if self.options.key_field:
            return None if item.value is None else find_member(item.value, self.options.key_field)
        return None if item.key is UNSET else item.key

    def _frame_key(self, key: SelectedSchema, key_value: Any) -> tuple[bytes | None, Headers]:
        """Encode a key with its schema; a key of the command line may be JSON or a plain string."""
        try:
            return frame_value(key, key_value, self.options.framing)
        except BadValueError as error:
            if self.options.key is not None:
                try:
                    return frame_value(key, json.loads(self.options.key), self.options.framing)
                except ValueError:
                    pass
            raise BadValueError(f"key {error}") from error

    def _hex(self, data: bytes, chosen: SelectedSchema | None) -> str:
        if chosen is None or self.options.framing == "header":
            return data.hex(" ")
        schema_bytes = data[1:5].hex(" ") if chosen.schema_id is not None else UNKNOWN_ID
        return f"{data[:1].hex()} {schema_bytes} {data[5:].hex(' ')}".rstrip()


def frame_value(chosen: SelectedSchema, value: Any, framing: str) -> tuple[bytes | None, Headers]:
    """Return a framed key or value; null becomes a tombstone without a frame."""
    return (None, ()) if value is None else chosen.frame(value, framing)


@contextmanager
def _show_count() -> Iterator[Callable[[int], None]]:
    with screen.show_progress() as progress:

        def show(sent: int) -> None:
            if sent % STEP == 0:
                progress("records", sent, 0)

        yield show

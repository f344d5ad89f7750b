"""A run of `treaty produce`: items in, framed records out, an account at the end."""

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
"""Records after which the progress is updated."""


@dataclass(frozen=True, slots=True)
class ProduceOptions:
    """What was asked for, apart from schemas."""

    topic: str
    framing: str
    key: str | None = None
    key_field: str = ""
    headers: Headers = ()
    partition: int = ANY
    skip: bool = False
    drops_partition: bool = False
    """Whether the key chooses the partition, whatever the input says."""


@dataclass(slots=True)
class ProduceCounts:
    """What became of the records."""

    sent: int = 0
    bytes: int = 0
    wrong: int = 0
    lost: int = 0
    begin: float = field(default_factory=time.monotonic)

    def report_invalid(self, name: str, why: str) -> None:
        """Tell what is wrong with a record that was not sent."""
        self.wrong += 1
        screen.say(f"{name}: {why}", "red", err=True)

    def report_lost(self, name: str, why: str) -> None:
        """Tell that a record did not arrive."""
        self.lost += 1
        screen.say(f"{name}: did not arrive: {why}", "red", err=True)


@dataclass(frozen=True, slots=True)
class ProduceRun:
    """Records to be made: how, under which schemas, and what became of them."""

    options: ProduceOptions
    value: SelectedSchema
    key: SelectedSchema | None
    counts: ProduceCounts = field(default_factory=ProduceCounts)

    def send(self, source: Iterator[InputRecord | InvalidInput], sender: RecordProducer) -> None:
        """Send every record, and wait until all have arrived or are lost."""
        try:
            with _show_count() as progress, sender:
                partitions = sender.find_partitions(self.options.topic, self.options.partition)
                for item, made in self._each(source, partitions):
                    sender.send(made, item.name)
                    progress(sender.sent)
        finally:
            self.counts.sent, self.counts.bytes = sender.sent, sender.bytes

    def show(self, source: Iterator[InputRecord | InvalidInput]) -> Iterator[tuple[str, dict[str, str]]]:
        """The bytes of every record that would be sent, with its place in the input."""
        for item, made in self._each(source):
            self.counts.sent += 1
            self.counts.bytes += len(made.value or b"") + len(made.key or b"")
            facts = {} if made.key is None else {"key": self._hex(made.key, self.key)}
            facts["value"] = "none (a delete marker)" if made.value is None else self._hex(made.value, self.value)
            yield item.name, {**facts, **{f"header {name}": content.hex(" ") for name, content in made.headers}}

    def summary(self, *, dry_run: bool) -> dict[str, object]:
        """The account as JSON members."""
        counts = self.counts
        figures = {"sent": counts.sent, "bytes": counts.bytes, "bad": counts.wrong, "lost": counts.lost}
        schemas = {**schema_members("key", self.key), **schema_members("value", self.value)}
        return {"topic": self.options.topic, "dry_run": dry_run, **figures, **schemas}

    def sentence(self, *, dry_run: bool) -> str:
        """The account in words."""
        counts = self.counts
        more = "".join(f", {count} {what}" for what, count in (("bad", counts.wrong), ("lost", counts.lost)) if count)
        word = "would be sent" if dry_run else "sent"
        seconds = time.monotonic() - counts.begin
        text = f"{screen.format_count(counts.sent, 'record')} ({screen.format_count(counts.bytes, 'byte')}) {word} to {self.options.topic} in {seconds:.1f} s{more}"
        return f"{text}; values: {self.value.what}."

    def _each(
        self, source: Iterator[InputRecord | InvalidInput], partitions: frozenset[int] = frozenset()
    ) -> Iterator[tuple[InputRecord, OutgoingRecord]]:
        """Records that can be sent; the others are reported, and end it unless they are to be skipped.

        `partitions` are those of the topic, where it was asked for them.
        """
        for item in source:
            try:
                if isinstance(item, InvalidInput):
                    raise BadValueError(item.why)
                made = self._outgoing(item, partitions)
            except BadValueError as wrong:
                self.counts.report_invalid(item.name, str(wrong))
                if not self.options.skip:
                    return
            else:
                assert isinstance(item, InputRecord)
                yield item, made

    def _outgoing(self, item: InputRecord, partitions: frozenset[int]) -> OutgoingRecord:
        """A record in its frames. Raises `BadValueError`."""
        options = self.options
        data, more = frame_value(self.value, item.value, options.framing)
        key_value = self._find_key(item)
        front, stamps = (encode_bytes(key_value), ()) if self.key is None else self._frame_key(self.key, key_value)
        partition = options.partition if options.partition != ANY or options.drops_partition else item.partition
        if partitions and partition not in {ANY, *partitions}:
            counted = screen.format_count(len(partitions), "partition")
            raise BadValueError(
                f"the record names partition {partition}, and {options.topic} has {counted}; --no-partition drops it"
            )
        headers = (*options.headers, *item.headers, *stamps, *more)
        return OutgoingRecord(options.topic, front, data, headers, partition, item.time)

    def _find_key(self, item: InputRecord) -> Any:
        """The key of a record: of the command line, of the value, or of the input."""
        if self.options.key is not None:
            return self.options.key
        if self.options.key_field:
            return None if item.value is None else find_member(item.value, self.options.key_field)
        return None if item.key is UNSET else item.key

    def _frame_key(self, key: SelectedSchema, key_value: Any) -> tuple[bytes | None, Headers]:
        """A key under its schema; the word of the command line may be a string, or JSON."""
        try:
            return frame_value(key, key_value, self.options.framing)
        except BadValueError as wrong:
            if self.options.key is not None:
                try:
                    return frame_value(key, json.loads(self.options.key), self.options.framing)
                except ValueError:
                    pass
            raise BadValueError(f"key {wrong}") from wrong

    def _hex(self, data: bytes, chosen: SelectedSchema | None) -> str:
        if chosen is None or self.options.framing == "header":
            return data.hex(" ")
        known = data[1:5].hex(" ") if chosen.schema_id is not None else UNKNOWN_ID
        return f"{data[:1].hex()} {known} {data[5:].hex(' ')}".rstrip()


def frame_value(chosen: SelectedSchema, value: Any, framing: str) -> tuple[bytes | None, Headers]:
    """Half a record in its frame; null is a delete marker, without one."""
    return (None, ()) if value is None else chosen.frame(value, framing)


@contextmanager
def _show_count() -> Iterator[Callable[[int], None]]:
    with screen.show_progress() as progress:

        def show(sent: int) -> None:
            if sent % STEP == 0:
                progress("records", sent, 0)

        yield show

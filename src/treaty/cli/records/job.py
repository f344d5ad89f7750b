"""A run of `treaty produce`: items in, framed records out, an account at the end."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from treaty.cli.records.chosen import UNKNOWN_ID, Chosen, named
from treaty.cli.records.items import UNSET, Item, Wrong, bytes_of, inside
from treaty.cli.terminal import screen
from treaty.cli.transfer.endpoints import show_progress
from treaty.client.kafka.sending import ANY, Outgoing, Sender
from treaty.client.serializers.errors import BadValueError
from treaty.client.serializers.frames import Headers

STEP = 100
"""Records after which the progress is told."""


@dataclass(frozen=True, slots=True)
class Order:
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
class Account:
    """What became of the records."""

    sent: int = 0
    bytes: int = 0
    wrong: int = 0
    lost: int = 0
    begin: float = field(default_factory=time.monotonic)

    def complain(self, name: str, why: str) -> None:
        """Tell what is wrong with a record that was not sent."""
        self.wrong += 1
        screen.say(f"{name}: {why}", "red", err=True)

    def lose(self, name: str, why: str) -> None:
        """Tell that a record did not arrive."""
        self.lost += 1
        screen.say(f"{name}: did not arrive: {why}", "red", err=True)


@dataclass(frozen=True, slots=True)
class Job:
    """Records to be made: how, under which schemas, and what became of them."""

    order: Order
    value: Chosen
    key: Chosen | None
    account: Account = field(default_factory=Account)

    def send(self, source: Iterator[Item | Wrong], sender: Sender) -> None:
        """Send every record, and wait until all have arrived or are lost."""
        try:
            with _progress() as progress, sender:
                partitions = sender.see(self.order.topic, self.order.partition)
                for item, made in self._each(source, partitions):
                    sender.send(made, item.name)
                    progress(sender.sent)
        finally:
            self.account.sent, self.account.bytes = sender.sent, sender.bytes

    def show(self, source: Iterator[Item | Wrong]) -> Iterator[tuple[str, dict[str, str]]]:
        """The bytes of every record that would be sent, with its place in the input."""
        for item, made in self._each(source):
            self.account.sent += 1
            self.account.bytes += len(made.value or b"") + len(made.key or b"")
            facts = {} if made.key is None else {"key": self._hex(made.key, self.key)}
            facts["value"] = "none (a delete marker)" if made.value is None else self._hex(made.value, self.value)
            yield item.name, {**facts, **{f"header {name}": content.hex(" ") for name, content in made.headers}}

    def summary(self, *, dry_run: bool) -> dict[str, object]:
        """The account as JSON members."""
        told = self.account
        figures = {"sent": told.sent, "bytes": told.bytes, "bad": told.wrong, "lost": told.lost}
        schemas = {**named("key", self.key), **named("value", self.value)}
        return {"topic": self.order.topic, "dry_run": dry_run, **figures, **schemas}

    def sentence(self, *, dry_run: bool) -> str:
        """The account in words."""
        told = self.account
        more = "".join(f", {count} {what}" for what, count in (("bad", told.wrong), ("lost", told.lost)) if count)
        word = "would be sent" if dry_run else "sent"
        seconds = time.monotonic() - told.begin
        text = f"{screen.format_count(told.sent, 'record')} ({screen.format_count(told.bytes, 'byte')}) {word} to {self.order.topic} in {seconds:.1f} s{more}"
        return f"{text}; values: {self.value.what}."

    def _each(
        self, source: Iterator[Item | Wrong], partitions: frozenset[int] = frozenset()
    ) -> Iterator[tuple[Item, Outgoing]]:
        """Records that can be sent; the others are told, and end it unless they are to be skipped.

        `partitions` are those of the topic, where it was asked for them.
        """
        for item in source:
            try:
                if isinstance(item, Wrong):
                    raise BadValueError(item.why)
                made = self._outgoing(item, partitions)
            except BadValueError as wrong:
                self.account.complain(item.name, str(wrong))
                if not self.order.skip:
                    return
            else:
                assert isinstance(item, Item)
                yield item, made

    def _outgoing(self, item: Item, partitions: frozenset[int]) -> Outgoing:
        """A record in its frames. Raises `BadValueError`."""
        order = self.order
        data, more = framed(self.value, item.value, order.framing)
        half = self._half(item)
        front, stamps = (bytes_of(half), ()) if self.key is None else self._framed_key(self.key, half)
        partition = order.partition if order.partition != ANY or order.drops_partition else item.partition
        if partitions and partition not in {ANY, *partitions}:
            counted = screen.format_count(len(partitions), "partition")
            raise BadValueError(
                f"the record names partition {partition}, and {order.topic} has {counted}; --no-partition drops it"
            )
        headers = (*order.headers, *item.headers, *stamps, *more)
        return Outgoing(order.topic, front, data, headers, partition, item.time)

    def _half(self, item: Item) -> Any:
        """The key of a record: of the command line, of the value, or of the input."""
        if self.order.key is not None:
            return self.order.key
        if self.order.key_field:
            return None if item.value is None else inside(item.value, self.order.key_field)
        return None if item.key is UNSET else item.key

    def _framed_key(self, key: Chosen, half: Any) -> tuple[bytes | None, Headers]:
        """A key under its schema; the word of the command line may be a string, or JSON."""
        try:
            return framed(key, half, self.order.framing)
        except BadValueError as wrong:
            if self.order.key is not None:
                try:
                    return framed(key, json.loads(self.order.key), self.order.framing)
                except ValueError:
                    pass
            raise BadValueError(f"key {wrong}") from wrong

    def _hex(self, data: bytes, chosen: Chosen | None) -> str:
        if chosen is None or self.order.framing == "header":
            return data.hex(" ")
        known = data[1:5].hex(" ") if chosen.schema_id is not None else UNKNOWN_ID
        return f"{data[:1].hex()} {known} {data[5:].hex(' ')}".rstrip()


def framed(chosen: Chosen, value: Any, framing: str) -> tuple[bytes | None, Headers]:
    """Half a record in its frame; null is a delete marker, without one."""
    return (None, ()) if value is None else chosen.framed(value, framing)


@contextmanager
def _progress() -> Iterator[Callable[[int], None]]:
    with show_progress() as told:

        def progress(sent: int) -> None:
            if sent % STEP == 0:
                told("records", sent, 0)

        yield progress

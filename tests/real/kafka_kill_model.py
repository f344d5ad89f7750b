"""Records of a topic with five schema ids, one in a hundred damaged, and what three queries over them must come to."""

import io
import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import fastavro
from confluent_kafka import Producer

from tests.frames import SPOILT, header

MINUTE = 60_000
"""The length of a window, in milliseconds."""
DELAY = 30_000
"""How far the watermark is behind, in milliseconds."""
START = 1_767_225_600_000
"""The time of the first record: 2026-01-01, in milliseconds since the epoch."""
LAST = START + 10**10
"""The time of the last record, past each window of the others."""
PARTITIONS = 2
CARRIERS = ("AA", "DL", "UA", "WN")
IDS = 5
"""Schema ids of the flights."""


def list_versions(text: str) -> list[str]:
    """Return a schema and versions of it, each with one more field than that before it."""
    schema = json.loads(text)
    notes = [{"name": f"note{number}", "type": ["null", "string"], "default": None} for number in range(IDS - 1)]
    return [json.dumps({**schema, "fields": [*schema["fields"], *notes[:more]]}) for more in range(IDS)]


@dataclass(frozen=True, slots=True)
class TopicSchema:
    """A schema with its id."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class SentFlight:
    """A record as it was sent: its place, its id, and what it says; the code of a damaged one."""

    partition: int
    offset: int
    id: int
    carrier: str
    delay: int
    time: int
    code: str


@dataclass
class FlightTopic:
    """Sends records of flights, and of people: a compacted topic with tombstones."""

    producer: Producer
    flights: str
    people: str
    versions: Sequence[TopicSchema]
    person: TopicSchema
    dice: random.Random
    sent: list[SentFlight] = field(default_factory=list)
    persons: dict[int, str] = field(default_factory=dict)
    """The newest name by id; who is deleted is not in it."""
    offsets: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._schemas = {one.id: fastavro.parse_schema(json.loads(one.text)) for one in (*self.versions, self.person)}

    def send(self, count: int) -> None:
        """Send so many flights, and a change of a person for each fourth of them."""
        for _ in range(count):
            number = len(self.sent)
            late = self.dice.random() < 0.05
            moment = START + number * 400 - (self.dice.randrange(4 * MINUTE) if late else self.dice.randrange(5_000))
            self._send_flight(max(START, moment), damaged=self.dice.random() < 0.01)
            if number % 4 == 0:
                self._send_person()
            if number % 1_000 == 0:
                self.producer.poll(0)
        assert self.producer.flush(120) == 0

    def end(self) -> None:
        """Send a record past each window to each partition: the windows before it are over."""
        for _ in range(PARTITIONS):
            self._send_flight(LAST, damaged=False)
        assert self.producer.flush(120) == 0

    def _send_flight(self, moment: int, *, damaged: bool) -> None:
        number = len(self.sent)
        partition = number % PARTITIONS
        carrier, delay = self.dice.choice(CARRIERS), self.dice.randrange(60)
        record = {"carrier": carrier, "delay": delay, "ts": datetime.fromtimestamp(moment / 1_000, UTC)}
        value = self._frame(self.dice.choice(self.versions).id, record)
        code = ""
        if damaged:
            code, spoil = SPOILT[self.dice.choice(sorted(SPOILT))]
            value = spoil(value, self.dice)
        self.producer.produce(self.flights, value, number.to_bytes(8, "big"), partition)
        offset = self.offsets[partition]
        self.offsets[partition] += 1
        self.sent.append(SentFlight(partition, offset, number, carrier, delay, moment, code))

    def _send_person(self) -> None:
        person = self.dice.randrange(200)
        key = person.to_bytes(8, "big")
        if self.dice.random() < 0.25:
            self.persons.pop(person, None)
            self.producer.produce(self.people, None, key, person % PARTITIONS)
            return
        name = f"name {self.dice.randrange(10**6)}"
        self.persons[person] = name
        self.producer.produce(self.people, self._frame(self.person.id, {"name": name}), key, person % PARTITIONS)

    def _frame(self, schema_id: int, record: Mapping[str, Any]) -> bytes:
        out = io.BytesIO()
        out.write(header(schema_id))
        fastavro.schemaless_writer(out, self._schemas[schema_id], record)
        return out.getvalue()

    # ------------------------------------------------------------------------------------------------------- the model

    def late(self) -> list[tuple[int, int]]:
        """The rows of the query without state."""
        return sorted((one.id, one.delay) for one in self.sent if not one.code and one.delay > 15)

    def bad(self) -> list[tuple[int, int, str]]:
        """Place and code of each damaged record."""
        return sorted((one.partition, one.offset, one.code) for one in self.sent if one.code)

    def names(self) -> list[tuple[int, str]]:
        """The rows of the query with keys."""
        return sorted((person, name.upper()) for person, name in self.persons.items())

    def windows(self, batches: Sequence[Mapping[int, int]]) -> list[tuple[int, str, int]]:
        """The rows of the windows that are over: start in seconds, carrier and count.

        `batches` are the offsets by partition at which each batch of the query ended, which say where the watermark was. A row is late where
        its window was over by the watermark of the batch before its own; see "Handling Late Data and Watermarking" of Spark's guide.
        """
        by_partition = {
            partition: [one for one in self.sent if one.partition == partition] for partition in range(PARTITIONS)
        }
        counts: Counter[tuple[int, str]] = Counter()
        done = dict.fromkeys(range(PARTITIONS), 0)
        highest, before, now = 0, 0, 0
        for ends in batches:
            rows = [
                one
                for partition, end in ends.items()
                for one in by_partition[partition][done[partition] : end]
                if not one.code
            ]
            done |= ends
            before, now = now, max(now, highest - DELAY)
            for one in rows:
                window = one.time // MINUTE * MINUTE
                if window + MINUTE > before:
                    counts[window, one.carrier] += 1
            highest = max([highest, *(one.time for one in rows)])
        return sorted(
            (window // 1_000, carrier, n) for (window, carrier), n in counts.items() if window + MINUTE <= now
        )

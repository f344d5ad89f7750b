"""Topics as a place to read from: their offsets, and their records as tables of Arrow."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import pyarrow as pa

from treaty.client.kafka.consumer import TopicRange, TopicRecord, read_range
from treaty.client.kafka.topics import find_offsets
from treaty.core.limits import ARROW_ROWS
from treaty.spark.datasource.options import TopicChoice
from treaty.spark.pipelines.source import SourceError

Offsets = Mapping[str, Mapping[str, int]]
"""Topic and partition (a text, as in JSON) to the next offset."""
EARLIEST, LATEST = -2, -1
"""Numbers that stand for offsets in JSON, as Spark's Kafka source has them."""
HEADER = pa.struct([("key", pa.string()), ("value", pa.binary())])


@dataclass(frozen=True, slots=True)
class TopicPlace:
    """The topics of a choice."""

    choice: TopicChoice

    def find_first(self) -> Offsets:
        """The offsets where a stream begins."""
        return self._resolve(self.choice.start)

    def find_last(self) -> Offsets:
        """The offsets behind the last committed records."""
        return self._resolve("latest")

    def find_end(self) -> Offsets:
        """The offsets where a batch ends."""
        return self._resolve(self.choice.end)

    def list_parts(self, start: Offsets, end: Offsets) -> list[TopicRange]:
        """What is to be read between offsets; partitions that `start` lacks are new, and read from their beginning."""
        parts = []
        for topic, ends in end.items():
            begins = start.get(topic, {})
            firsts = find_offsets(self.choice.cluster, topic) if ends.keys() - begins.keys() else {}
            for number, last in ends.items():
                first = begins[number] if number in begins else firsts[int(number)][0]
                if first < last:
                    parts.append(TopicRange(topic, int(number), first, last))
        return parts

    def read(self, part: TopicRange) -> Iterator[pa.Table]:
        """The records of a range. Raises `KafkaClientError` where some of them are gone, unless that is allowed."""
        records = read_range(self.choice.cluster, part, lossy=self.choice.skips_deleted)
        while some := list(islice(records, ARROW_ROWS)):
            yield _make_table(part.topic, some)

    def _resolve(self, text: str) -> Offsets:
        """Offsets for all partitions, of ``earliest``, ``latest`` or JSON. Raises `SourceError` for JSON that does not name them all."""
        parsed = {} if text in {"earliest", "latest"} else _parse_offsets(text)
        offsets: dict[str, dict[str, int]] = {}
        for topic in self.choice.topics:
            partitions = find_offsets(self.choice.cluster, topic)
            usual = {str(number): EARLIEST if text == "earliest" else LATEST for number in partitions}
            named = parsed.get(topic, {}) if parsed else usual
            if named.keys() != usual.keys():
                raise SourceError(
                    f"offsets of {topic} are given for the partitions {', '.join(named) or 'none'}, and it has {', '.join(usual)}"
                )
            offsets[topic] = {
                number: {EARLIEST: low, LATEST: high}.get(named[str(number)], named[str(number)])
                for number, (low, high) in ((str(partition), ends) for partition, ends in partitions.items())
            }
        return offsets


def _parse_offsets(text: str) -> dict[str, dict[str, int]]:
    try:
        members = json.loads(text)
        return {topic: {number: int(at) for number, at in some.items()} for topic, some in members.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise SourceError(
            f'{text!r} are no offsets; allowed are earliest, latest, and JSON as {{"topic": {{"0": 12, "1": -2}}}}'
        ) from error


def _make_table(topic: str, records: list[TopicRecord]) -> pa.Table:
    headers = [[{"key": name, "value": value} for name, value in one.headers] or None for one in records]
    times = [None if one.time is None else one.time * 1000 for one in records]
    return pa.table(
        {
            "key": pa.array([one.key for one in records], pa.binary()),
            "value": pa.array([one.value for one in records], pa.binary()),
            "topic": pa.array([topic] * len(records), pa.string()),
            "partition": pa.array([one.partition for one in records], pa.int32()),
            "offset": pa.array([one.offset for one in records], pa.int64()),
            "timestamp": pa.array(times, pa.int64()).cast(pa.timestamp("us", tz="UTC")),
            "headers": pa.array(headers, pa.list_(HEADER)),
        }
    )

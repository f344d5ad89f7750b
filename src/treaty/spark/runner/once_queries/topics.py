"""A query that is run once into a topic: its records come in one transaction of Kafka, all or none of them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame

from treaty.client.kafka.producer import OutgoingRecord
from treaty.client.kafka.topics import find_end_offsets
from treaty.client.kafka.transactions import TransactionalSender, UncertainCommitError, has_record_with
from treaty.core.kafka import KafkaCluster
from treaty.metastore.bad_rows import first_generation
from treaty.spark.runner.checkpoint_files import CheckpointFiles
from treaty.spark.runner.kafka_sink import INCARNATION, QUERY, KafkaSink

STARTS = "once-starts"
"""The folder beside the checkpoints of a source with the end offsets of its topic before the newest attempt of each of these queries."""


@dataclass(slots=True)
class OnceTopic:
    """A topic into which a query is run once, whatever is killed.

    A runner that takes over fences the former one by its transactional id, which ends what that has begun. Then it looks for a record of the
    query behind the offsets that were noted before the former attempt: where there is one, all are there. Rows are read by this process.
    """

    sink: KafkaSink
    cluster: KafkaCluster
    files: CheckpointFiles
    left_out: int = 0
    """Rows of a table without a key, which its topic does not take (`NULL_KEY`)."""

    def write(self, rows: DataFrame) -> None:
        """Send the records of all rows, unless they are there. Raises `KafkaClientError`, and errors of Spark."""
        began, topic = self.sink.incarnation, self.sink.source.place
        name = f"{STARTS}/{began}"
        with TransactionalSender(self.cluster, f"treaty-once-{topic}-{began}") as sender:
            noted = self.files.read(name)
            starts = {int(partition): offset for partition, offset in json.loads(noted or "{}").items()}
            if noted and has_record_with(self.cluster, topic, starts, self._headers):
                return
            self.files.write(name, json.dumps(find_end_offsets(self.cluster, topic)))
            try:
                sender.send_all(self._list_records(rows))
            except UncertainCommitError:
                raise
            except Exception:
                self.files.remove(name)  # no record of this attempt will ever be there
                raise

    @property
    def _headers(self) -> tuple[tuple[str, bytes], ...]:
        """Headers that all records of the query have, and no others."""
        named = {QUERY: first_generation(self.sink.source), INCARNATION: self.sink.incarnation}
        return tuple((name, str(number).encode()) for name, number in named.items())

    def _list_records(self, rows: DataFrame) -> Iterator[OutgoingRecord]:
        """Yield the records of rows, but for those that are left out."""
        self.left_out = 0
        for row in self.sink.make_records(rows, 0).toLocalIterator(prefetchPartitions=True):
            key, value = (None if part is None else bytes(part) for part in (row["key"], row["value"]))
            headers = tuple((header["key"], bytes(header["value"])) for header in row["headers"])
            if self.sink.key and key is None:
                self.left_out += 1
            else:
                yield OutgoingRecord(row["topic"], key, value, headers)

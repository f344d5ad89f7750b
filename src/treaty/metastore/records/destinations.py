"""Where records of statements are written: topics of clusters that settings name, and folders below a root."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from treaty.core.kafka import KafkaCluster
from treaty.core.refusals import Invalid, NotOffered, OutcomeUnknown, Unavailable
from treaty.core.sources import Source
from treaty.distribution import install_command

if TYPE_CHECKING:
    from treaty.client.kafka.cluster_writer import ClusterWriter
    from treaty.client.kafka.producer import OutgoingRecord

SERVERS = "`treaty serve`, or `treaty sql` over a log,"
"""The programs that write records of statements."""


class RecordsUncertainError(OutcomeUnknown):
    """Records may have been written: no acknowledgement came in time."""

    def __init__(self, message: str) -> None:
        """Set the sentence, which says what is known."""
        super().__init__("")
        self.args = (message,)


class RecordDestinations:
    """The clusters of settings by name, and the root of folders of files (None: no folders). Thread-safe."""

    def __init__(self, clusters: Mapping[str, KafkaCluster] | None = None, files: Path | None = None) -> None:
        """Take clusters and root; nothing is opened before the first record."""
        self.clusters = dict(clusters or {})
        self.files = files
        self._writers = {name: _writer(cluster) for name, cluster in self.clusters.items()}

    def write(self, source: Source, records: "Sequence[OutgoingRecord]") -> str:
        """Write records, as `RecordDestination` says."""
        return (self._write_topic if source.connector == "kafka" else self._write_files)(source, records)

    def close(self) -> None:
        """Close the producers."""
        for writer in self._writers.values():
            writer.close()

    def _write_topic(self, source: Source, records: "Sequence[OutgoingRecord]") -> str:
        writer = self._writers.get(source.cluster)
        if writer is None:
            raise NotOffered(missing_cluster(source.cluster, self.clusters))
        from treaty.client.kafka.cluster_writer import UncertainWriteError  # noqa: PLC0415 (loaded with the writer)
        from treaty.client.kafka.library import KafkaClientError, KafkaMissingError  # noqa: PLC0415 (as above)

        try:
            places = writer.write(source.place, records)
        except KafkaMissingError as missing:
            raise NotOffered(str(missing)) from missing
        except UncertainWriteError as error:
            raise RecordsUncertainError(str(error)) from error
        except KafkaClientError as error:
            message = f"nothing was written to {source.place}: {error}"
            if error.is_retriable:
                raise Unavailable(message) from error
            raise Invalid.of("TOPIC_REFUSES", message, path="/sql", new=source.place) from error
        where = f", partition {places[0].partition} offset {places[0].offset}" if len(places) == 1 else ""
        return f"{_count(records)} in topic {source.place}{where}"

    def _write_files(self, source: Source, records: "Sequence[OutgoingRecord]") -> str:
        folder = self._folder(source.place)
        try:
            from treaty.arrow import record_files  # noqa: PLC0415 (an extra)
        except ImportError as missing:
            message = f"files are written with pyarrow, which is not installed: {install_command('arrow')}"
            raise NotOffered(message) from missing
        now = int(time() * 1_000)
        try:
            if source.value is not None and source.value.framing == "none":
                path = record_files.write_lines(folder, _lines(source, records))
            else:
                listed = [record_files.FileRecord(one.key, one.value, one.headers, one.time or now) for one in records]
                _refuse_times([record.time for record in listed], record_files.LATEST)
                path = record_files.write_records(folder, listed)
        except OSError as error:
            raise Unavailable(f"no file was written to {source.place}: {error.strerror or error}") from error
        return f"{_count(records)} in the file {source.place.strip('/')}/{path.name}"

    def _folder(self, place: str) -> Path:
        if self.files is None:
            raise NotOffered(
                f"no root of files is named; start {SERVERS} with --files ROOT, and PATH is a folder below it"
            )
        root = self.files.resolve()
        try:
            folder = (root / place.lstrip("/")).resolve()
        except ValueError:  # NUL, or half a surrogate pair
            folder = root
            place = repr(place)
        if folder == root or not folder.is_relative_to(root):
            raise Invalid.of(
                "PATH_OUTSIDE", f"the folder {place} is not below the root of --files", path="/sql", new=place,
                allowed="a PATH such as 'orders/2026', without ..",
            )  # fmt: skip
        return folder


def _writer(cluster: KafkaCluster) -> "ClusterWriter":
    from treaty.client.kafka.cluster_writer import ClusterWriter  # noqa: PLC0415 (a client of Kafka, for who names a cluster)

    return ClusterWriter(cluster)


def missing_cluster(name: str, clusters: Mapping[str, KafkaCluster], program: str = SERVERS) -> str:
    """Return the sentence about a cluster that no setting of a program names."""
    known_here = f"; known here: {', '.join(sorted(clusters))}" if clusters else ""
    return (
        f"the addresses of the Kafka cluster {name} are not known here{known_here}; "
        f"start {program} with --cluster {name}=FILE, a properties file"
    )


def _lines(source: Source, records: "Sequence[OutgoingRecord]") -> list[bytes]:
    """Return the values of records for a file of JSON lines, which has room for nothing else."""
    if source.value is None or source.value.format != "JSON":
        raise Invalid.of(
            "SOURCE_FRAMING", f"files with FRAMING = 'none' are JSON lines, and {source.name} has another format", path="/sql",
            allowed="VALUE_FORMAT = 'JSON', or another FRAMING",
        )  # fmt: skip
    if any(one.key is not None or one.headers or one.value is None for one in records):
        raise Invalid.of(
            "SOURCE_FRAMING", f"{source.name} is JSON lines, which have no keys, headers or tombstones; nothing was written",
            path="/sql", allowed="values alone, or another FRAMING",
        )  # fmt: skip
    return [one.value or b"" for one in records]


def _refuse_times(times: Sequence[int], latest: int) -> None:
    for time_ in times:
        if abs(time_) > latest:
            raise Invalid.of(
                "VALUE_UNFIT", f"the time {time_} does not fit a file, whose times are in microseconds; nothing was written",
                path="_timestamp", old="TIMESTAMP", new=str(time_), allowed=f"-{latest} to {latest} milliseconds",
            )  # fmt: skip


def _count(records: "Sequence[OutgoingRecord]") -> str:
    return f"{len(records)} record{'s' * (len(records) != 1)}"

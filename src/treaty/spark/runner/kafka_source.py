"""Topics that queries read: settings of Java's client, where reading begins, and what can't be read."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from treaty.client.kafka.library import KafkaClientError, KafkaMissingError
from treaty.client.kafka.topics import find_end_offsets, find_offsets, find_offsets_at
from treaty.core.kafka import KafkaCluster
from treaty.core.limits import QUERY_BATCH_RECORDS
from treaty.core.sources import Source
from treaty.metastore.records.destinations import missing_cluster
from treaty.metastore.sql.values import EARLIEST, LATEST, ComparedRange

PROGRAM = "`treaty runner`"
SAME = ("client.id", "request.timeout.ms", "sasl.kerberos.service.name", "security.protocol")
"""Settings that librdkafka and Java's client call alike."""
_PLAIN, _SCRAM = "plain.PlainLoginModule", "scram.ScramLoginModule"
READ_KEYS: Mapping[str, str] = {
    "STRING": "try_validate_utf8(CAST(key AS STRING))",
    "BINARY": "key",
    "BIGINT": "IF(length(key) = 8, CAST(conv(hex(key), 16, -10) AS BIGINT), NULL)",
    "INT": "IF(length(key) = 4, CAST(CAST(conv(hex(key), 16, 10) AS BIGINT) "
    "- IF(CAST(conv(hex(key), 16, 10) AS BIGINT) >= 2147483648, 4294967296, 0) AS INT), NULL)",
}
"""By type of a key in the format KAFKA, the expression that reads it; null for bytes that are none of the type."""


NULL_KEY = ("INVALID", "a record of a table needs a key")
"""Code and reason of a record without a key."""


class SourceNotRunnableError(ValueError):
    """A source can't be read or written by this runner; the message has the remedy."""


class SourceMissingError(SourceNotRunnableError):
    """The data of a source is not there yet: no folder, no table, no topic."""


@dataclass(frozen=True, slots=True)
class RecordedOffsets:
    """Offsets of one partition of a topic that are read again, from `start` to before `end`. Those before `first` were deleted."""

    partition: int
    start: int
    end: int
    first: int


PARTITIONS_OF = "partitions_"
"""Records of a topic are counted by partition under this and the generation of their source."""


def count_partitions(recorded: Sequence[RecordedOffsets]) -> tuple[Column, ...]:
    """Return what is counted of the records of a topic: those of each partition."""
    return tuple(F.count(F.when(F.col("partition") == one.partition, 1)).alias(f"p{one.partition}") for one in recorded)


def find_cluster(source: Source, clusters: Mapping[str, KafkaCluster]) -> KafkaCluster:
    """Return the cluster of a source. Raises `SourceNotRunnableError` where no setting names it."""
    if source.cluster not in clusters:
        raise SourceNotRunnableError(missing_cluster(source.cluster, clusters, PROGRAM))
    return clusters[source.cluster]


def java_settings(cluster: KafkaCluster) -> dict[str, str]:
    """Return the settings of a cluster as options of Spark's Kafka source. Raises `SourceNotRunnableError` for what Java's client has not."""
    own = dict(cluster.settings)
    settings = {name: own[name] for name in SAME if name in own} | {"bootstrap.servers": cluster.servers}
    if "security.protocol" in settings:
        settings["security.protocol"] = settings["security.protocol"].upper()
    mechanism = own.get("sasl.mechanism") or own.get("sasl.mechanisms") or ""
    if mechanism:
        settings["sasl.mechanism"] = mechanism
    if "sasl.username" in own:
        module = _SCRAM if mechanism.startswith("SCRAM") else _PLAIN
        user, password = (
            own.get(name, "").replace("\\", "\\\\").replace('"', '\\"') for name in ("sasl.username", "sasl.password")
        )
        login = f'org.apache.kafka.common.security.{module} required username="{user}" password="{password}";'
        settings["sasl.jaas.config"] = login
    if "ssl.ca.location" in own:
        settings |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": own["ssl.ca.location"]}
    if "ssl.keystore.location" in own:
        settings |= {name: own[name] for name in ("ssl.keystore.location", "ssl.keystore.password") if name in own}
        settings["ssl.keystore.type"] = "PKCS12"
    if "ssl.certificate.location" in own:
        message = "a certificate of the client is given to Spark as a file of PKCS#12: ssl.keystore.location in place of ssl.certificate.location"
        raise SourceNotRunnableError(message)
    if own.get("ssl.endpoint.identification.algorithm") == "none":
        settings["ssl.endpoint.identification.algorithm"] = ""
    return {f"kafka.{name}": value for name, value in settings.items()}


def record_offsets(
    source: Source, clusters: Mapping[str, KafkaCluster], compared: ComparedRange
) -> tuple[RecordedOffsets, ...]:
    """Return the offsets that the partitions of a topic have now, of the time of a range.

    Raises `SourceMissingError` where the topic is not there or no broker answers, and `SourceNotRunnableError`.
    """
    cluster, topic = find_cluster(source, clusters), source.place
    try:
        bounds = find_offsets(cluster, topic)
        starts = {number: first for number, (first, _) in bounds.items()}
        ends = {number: end for number, (_, end) in bounds.items()}
        if compared.start != EARLIEST:
            starts |= find_offsets_at(cluster, topic, to_milliseconds(compared.start))
        if compared.end != LATEST:
            ends |= find_offsets_at(cluster, topic, to_milliseconds(compared.end))
    except KafkaMissingError as missing:
        raise SourceNotRunnableError(str(missing)) from missing
    except KafkaClientError as error:
        raise SourceMissingError(f"the topic {topic} of {source.name}: {error}") from error
    return tuple(
        RecordedOffsets(number, starts[number], max(starts[number], min(ends[number], end)), first)
        for number, (first, end) in sorted(bounds.items())
    )


def open_topic(
    spark: SparkSession,
    source: Source,
    clusters: Mapping[str, KafkaCluster],
    start: str,
    *,
    streaming: bool = True,
    recorded: Sequence[RecordedOffsets] = (),
) -> DataFrame:
    """Return the records of a topic as a stream, or those that it has now. `start` is where a new query begins: earliest, latest, or a time.

    With `recorded` these are the records of those offsets, whatever the topic has by now. Raises `SourceMissingError` where the topic is not there or no broker answers, and `SourceNotRunnableError`.
    """
    cluster = find_cluster(source, clusters)
    options = {**java_settings(cluster), "kafka.isolation.level": "read_committed"}
    require_topic(source, cluster)
    options["includeHeaders"] = "true"
    if recorded:
        ends = {
            name: json.dumps(
                {source.place: {str(one.partition): offset for one, offset in zip(recorded, offsets, strict=True)}}
            )
            for name, offsets in (
                ("startingOffsets", [one.start for one in recorded]),
                ("endingOffsets", [one.end for one in recorded]),
            )
        }
        options |= {"assign": json.dumps({source.place: [one.partition for one in recorded]}), **ends}
        return spark.read.format("kafka").options(**options).load()
    options["subscribe"] = source.place
    if not streaming:
        return spark.read.format("kafka").options(**options).load()
    options |= {**start_options(start), "maxOffsetsPerTrigger": str(QUERY_BATCH_RECORDS)}
    return spark.readStream.format("kafka").options(**options).load()


def require_topic(source: Source, cluster: KafkaCluster) -> None:
    """Raise `SourceMissingError` where the topic of a source is not there, or no broker answers."""
    try:
        find_end_offsets(cluster, source.place)
    except KafkaMissingError as missing:
        raise SourceNotRunnableError(str(missing)) from missing
    except KafkaClientError as error:
        raise SourceMissingError(f"the topic {source.place} of {source.name}: {error}") from error


def start_options(start: str) -> dict[str, str]:
    """Return where a new query begins to read a topic, as options of Spark."""
    if start in {"", "earliest", "latest"}:
        return {"startingOffsets": start or "earliest"}
    return {"startingTimestamp": str(to_milliseconds(start)), "startingOffsetsByTimestampStrategy": "latest"}


def to_milliseconds(time: str) -> int:
    """Return a time in ISO 8601 as milliseconds since the epoch."""
    return int(datetime.fromisoformat(time).timestamp() * 1_000)


def refuse_start(source: Source, start: str) -> None:
    """Raise `SourceNotRunnableError` where a query over what is no topic is to begin elsewhere than with the first row."""
    if start not in {"", "earliest"}:
        what = {"files": "files", "iceberg": "an Iceberg table"}.get(source.connector, "a Delta table")
        message = f"START = '{start}' is of topics, and {source.name} is {what}, of which all is read"
        raise SourceNotRunnableError(f"{message}: START = 'earliest', and a filter by a time")


def refuse_other_key(source: Source, code: Column, why: Column) -> tuple[Column, Column]:
    """The code and the reason of a record whose key is one value in the format KAFKA: bytes that are none of its type are bad."""
    kind = next((one.type for one in source.columns if one.role == "key"), "BINARY")
    is_other = F.col("key").isNotNull() & F.expr(key_reader(source, kind)).isNull()
    return refuse(is_other, (NULL_KEY[0], f"the key is no {kind} in the format KAFKA"), code, why, payload=F.col("key"))


def refuse(
    is_bad: Column, words: tuple[str, str], code: Column, why: Column, *, payload: Column
) -> tuple[Column, Column]:
    """The code and the reason of a record, those in `words` where it `is_bad`."""
    reason = F.struct(
        F.lit(words[0]).alias("code"),
        F.lit(words[1]).alias("message"),
        F.lit(None).cast("int").alias("schema_id"),
        payload.alias("payload"),
    )
    return F.when(is_bad, words[0]).otherwise(code), F.when(is_bad, reason).otherwise(why)


def key_reader(source: Source, kind: str) -> str:
    """Return the expression that reads a key in the format KAFKA. Raises `SourceNotRunnableError` for a type that is not read."""
    if kind not in READ_KEYS:
        message = f"{source.name} has a key {kind} in the format KAFKA, and a runner reads {', '.join(READ_KEYS)}: say KEY_FORMAT = 'AVRO'"
        raise SourceNotRunnableError(message)
    return READ_KEYS[kind]

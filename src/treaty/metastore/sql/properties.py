"""The properties of sources as one table: their values, in which statements they stand, and what is refused with the way round."""

import re
from collections.abc import Callable, Mapping
from datetime import datetime

from treaty.core.limits import DROP_GRACE, NAME_LENGTH
from treaty.core.schema import Pairs
from treaty.light_dataclass import dataclass

ReadValue = Callable[[str], str | None]
"""From a value as written to the canonical one; None for a value that is not allowed."""


@dataclass(frozen=True, slots=True)
class SourceProperty:
    """A property. `allowed` says its values in words; `query` that it belongs to sources with AS alone; `alterable` that ALTER … SET
    may change it. `ways` are refused values that users know from ksqlDB, with the way round.
    """

    purpose: str
    allowed: tuple[str, ...]
    read: ReadValue
    query: bool = False
    alterable: bool = False
    ways: Mapping[str, str] | None = None


def _text(value: str) -> str | None:
    return value if 0 < len(value) <= NAME_LENGTH and "\0" not in value else None


def _integer(low: int, high: int) -> ReadValue:
    def read(value: str) -> str | None:
        number = int(value) if re.fullmatch(r"-?[0-9]{1,18}", value) else low - 1
        return str(number) if low <= number <= high else None

    return read


def _choice(*words: str, **synonyms: str) -> ReadValue:
    values = {word.upper(): word for word in words} | {word.upper(): stands for word, stands in synonyms.items()}
    return lambda value: values.get(value.upper())


_BOOLEAN = _choice("true", "false", skip="false", dead_letter="true")
_DURATION = re.compile(r"([0-9]{1,9})\s+(millisecond|second|minute|hour|day)s?", re.IGNORECASE)
_WATERMARK = re.compile(
    r"\s*(`(?:[^`]|``){1,500}`|[A-Za-z_]\w{0,500})\s+(?:DELAY\s+OF\s+)?(?:INTERVAL\s+)?'?([0-9]{1,9}\s+\w{1,20})'?\s*",
    re.IGNORECASE,
)
_START_WORDS = _choice(
    "earliest",
    "latest",
    from_beginning="earliest",
    from_now="latest",
    resume_or_from_beginning="earliest",
    resume_or_from_now="latest",
    **{"earliest-offset": "earliest", "latest-offset": "latest"},
)
_FROM_TIMESTAMP = re.compile(
    r"(?:RESUME_OR_)?FROM_TIMESTAMP\s*\(\s*(?:TIMESTAMP\s+)?'?([^'()]{1,50}?)'?\s*\)", re.IGNORECASE
)


def _duration(value: str) -> str | None:
    match = _DURATION.fullmatch(value.strip())
    if match is None or not int(match[1]):
        return None
    number = int(match[1])
    return f"{number} {match[2].lower()}{'s' if number > 1 else ''}"


def _start(value: str) -> str | None:
    word = _START_WORDS(value.strip())
    if word:
        return word
    from_time = _FROM_TIMESTAMP.fullmatch(value.strip())
    text = from_time[1] if from_time else value.strip()
    try:
        moment = datetime.fromisoformat(text) if len(text) <= 50 else None
    except ValueError:
        return None
    return moment.isoformat() if moment is not None and moment.tzinfo is not None else None


def _watermark(value: str) -> str | None:
    match = _WATERMARK.fullmatch(value) if len(value) < NAME_LENGTH else None
    delay = _duration(match[2]) if match else None
    return f"{match[1]} DELAY OF INTERVAL {delay}" if match and delay else None


def _columns(value: str) -> str | None:
    names = [name.strip() for name in value.split(",")]
    return ", ".join(names) if len(value) <= NAME_LENGTH and all(names) else None


_ANY_TEXT = ("a text",)
_BOOLEANS = ("true", "false")
_DURATIONS = ("a number and a unit, such as 1 second",)
_WITHOUT_SCHEMA = "rows without a schema have no columns to check: register a schema, and take AVRO, PROTOBUF or JSON"
_WAYS = {
    "DELIMITED": _WITHOUT_SCHEMA,
    "PROTOBUF_NOSR": "PROTOBUF, with a schema in the registry",
    "KAFKA": "KAFKA is a format of keys: AVRO, PROTOBUF or JSON for values",
    "NONE": "a value has a format: AVRO, PROTOBUF or JSON",
    "RAW": "KAFKA for keys; values have a schema: AVRO, PROTOBUF or JSON",
    "CSV": _WITHOUT_SCHEMA,
    "DEBEZIUM-JSON": "JSON, with a schema of the envelope",
}
LABEL = "LABEL"
"""The property that names the project of a source or type."""
NONE, KAFKA = "NONE", "KAFKA"
"""Formats of keys without a schema: no key at all, and one primitive as Kafka's own serializers write it."""
_FORMATS = ("AVRO", "PROTOBUF", "JSON")
_FLINK_FORMATS = {"avro-confluent": "AVRO", "protobuf-confluent": "PROTOBUF"}
_read_format = _choice(*_FORMATS, JSON_SR="JSON", **_FLINK_FORMATS)
_read_key_format = _choice(*_FORMATS, "KAFKA", "NONE", JSON_SR="JSON", **_FLINK_FORMATS)
_NULLABLE = ("OPTIONAL", "WRAPPER")
_FRAMINGS = ("prefix", "header", "pravega", "version", "md5", "single-object", "none")
_CONNECTORS = ("kafka", "files", "delta", "iceberg")
_CONNECTOR_WAYS = {"UPSERT-KAFKA": "'kafka': a TABLE with PRIMARY KEY keeps the newest record of each key"}
_IDS = _integer(1, 2_147_483_647)


def _property(
    purpose: str, *allowed: str, read: ReadValue | None = None, query: bool = False, alterable: bool = False
) -> SourceProperty:
    return SourceProperty(
        purpose, allowed or _ANY_TEXT, read or (_choice(*allowed) if allowed else _text), query, alterable
    )


PROPERTIES: Mapping[str, SourceProperty] = {
    "KAFKA_TOPIC": _property("the topic of the records; with AS the name of the source by default"),
    "CONNECTOR": SourceProperty(
        "where the data is", _CONNECTORS, _choice(*_CONNECTORS, filesystem="files"), ways=_CONNECTOR_WAYS
    ),
    "PATH": _property("the folder or table below a root that the operator names"),
    "CLUSTER": _property("the name of the Kafka cluster; its addresses are settings of the operator"),
    "PARTITIONS": _property("partitions of a new topic", "1 to 100000", read=_integer(1, 100_000), alterable=True),
    "REPLICAS": _property("replicas of a new topic", "1 to 32767", read=_integer(1, 32_767)),
    "RETENTION_MS": _property(
        "milliseconds that the topic keeps records, -1 for ever",
        "-1 and more",
        read=_integer(-1, 10**17),
        alterable=True,
    ),
    "CLEANUP_POLICY": _property(
        "what the topic does with old records", "compact", "delete", "compact,delete", alterable=True
    ),
    "DELETE_GRACE_MS": _property(
        "milliseconds for which the topic stays after DROP … DELETE TOPIC; seven days by default",
        f"0 to {DROP_GRACE}",
        read=_integer(0, DROP_GRACE),
        alterable=True,
    ),
    "TIMESTAMP": _property("the column that is the time of a record"),
    "TIMESTAMP_FORMAT": _property("the pattern of that column where it is a text"),
    "WATERMARK": _property(
        "a column of time and how late records may be", "ts DELAY OF INTERVAL 10 seconds", read=_watermark
    ),
    "KEY_FORMAT": SourceProperty("the format of keys", (*_FORMATS, "KAFKA", "NONE"), _read_key_format, ways=_WAYS),
    "VALUE_FORMAT": SourceProperty("the format of values", _FORMATS, _read_format, ways=_WAYS),
    "FRAMING": _property("where the schema id of a record stands; none: the pinned schema reads it", *_FRAMINGS),
    "WRAP_SINGLE_VALUE": _property("whether a single column is a record of one field", *_BOOLEANS, read=_BOOLEAN),
    "SUBJECT": _property("the subject of values; the topic and -value by default"),
    "KEY_SUBJECT": _property("the subject of keys; the topic and -key by default"),
    "VALUE_SCHEMA_ID": _property("the schema of values", "a schema id", read=_IDS),
    "KEY_SCHEMA_ID": _property("the schema of keys", "a schema id", read=_IDS),
    "VALUE_SCHEMA_FULL_NAME": _property("the record or message inside a schema of several, of values"),
    "KEY_SCHEMA_FULL_NAME": _property("the record or message inside a schema of several, of keys"),
    "VALUE_PROTOBUF_NULLABLE_REPRESENTATION": _property("how Protobuf says null, in values", *_NULLABLE),
    "KEY_PROTOBUF_NULLABLE_REPRESENTATION": _property("how Protobuf says null, in keys", *_NULLABLE),
    "LABEL": _property(
        "the project that the source or type belongs to; `treaty apply --prune` drops only what has its label",
        alterable=True,
    ),
    "START": _property(
        "where a new query begins to read",
        "earliest",
        "latest",
        "a timestamp such as 2026-01-31T00:00:00Z",
        read=_start,
        query=True,
    ),
    "TRIGGER": _property("the least time between two batches", *_DURATIONS, read=_duration, query=True, alterable=True),
    "BAD_ROWS": _property(
        "whether rows that can't be decoded are collected in a stream NAME_bad", *_BOOLEANS, read=_BOOLEAN
    ),
    "SINK": _property("where a query writes", "kafka", "delta", "iceberg", query=True),
    "CHECKPOINT_ROOT": _property("the folder of the checkpoints of a query", query=True),
    "MATERIALIZE": _property(
        "the lake table that a table is also kept as",
        "delta",
        "iceberg",
        "none",
        read=_choice("delta", "iceberg", "none", true="delta", false="none"),
    ),
    "DEDUPLICATE": _property(
        "columns whose equal rows are one, within the watermark", "columns with commas between", read=_columns
    ),
    "ON_CHANGE": _property(
        "what OR REPLACE does where the new query can't continue from the checkpoint: refuse; begin empty at its offsets; or read all "
        "into a table beside, which takes the place of this one, alone or with the queries that follow it",
        "refuse",
        "empty",
        "backfill",
        "cascade",
        query=True,
    ),
    "ALLOW_UNBOUNDED_STATE": _property(
        "whether state of a query may grow without bound", *_BOOLEANS, read=_BOOLEAN, query=True
    ),
}
"""By canonical name."""

PROPERTY_SYNONYMS: Mapping[str, str] = {
    "TOPIC": "KAFKA_TOPIC",
    "VALUE_SUBJECT": "SUBJECT",
    "SCHEMA_ID": "VALUE_SCHEMA_ID",
    "VALUE_AVRO_SCHEMA_FULL_NAME": "VALUE_SCHEMA_FULL_NAME",
    "START_MODE": "START",
    "AUTO_OFFSET_RESET": "START",
    "SCAN_STARTUP_MODE": "START",
    "ON_ERROR": "BAD_ROWS",
}
"""Other words for a property. FORMAT stands for KEY_FORMAT and VALUE_FORMAT."""

PROPERTIES_REFUSED: Mapping[str, str] = {
    "WINDOW_TYPE": "keys of windowed topics are columns: write a schema of the key that has the window",
    "WINDOW_SIZE": "keys of windowed topics are columns: write a schema of the key that has the window",
    "KEY_DELIMITER": _WITHOUT_SCHEMA,
    "VALUE_DELIMITER": _WITHOUT_SCHEMA,
    "SOURCED_BY_CONNECTOR": "leave it out: it changes nothing",
    "QUERY_ID": "leave it out: a query has the name of its source",
}
"""Properties of ksqlDB that have no meaning here, with the way round."""

_BROKERS = "addresses of brokers are settings of the server: `treaty serve --cluster NAME=FILE`, and CLUSTER = 'NAME'"
_REGISTRY = "leave it out: schemas are those of this registry"
_TUNING = "leave it out: it is a setting of the program that reads or writes"
FOREIGN_PROPERTIES: Mapping[str, str] = {
    "KEY": "KEY at a column of a stream, PRIMARY KEY at one of a table",
    "KEY_FIELDS": "PRIMARY KEY at the columns",
    "SCHEMA_REGISTRY": _REGISTRY,
    "SCHEMA_REGISTRY_URL": _REGISTRY,
    "BOOTSTRAP_SERVERS": _BROKERS,
    "PROPERTIES_BOOTSTRAP_SERVERS": _BROKERS,
    "PROPERTIES_BOOTSTRAP_SERVER": _BROKERS,
    "KAFKA_BROKER": _BROKERS,
}
"""Properties of Flink and RisingWave, by their names with underscores, with the way round."""


def find_refused(name: str) -> str:
    """Return the way round of a property that other systems have; empty where it is none of theirs."""
    word = re.sub("[-.]", "_", name).upper()
    reason = PROPERTIES_REFUSED.get(name.upper()) or FOREIGN_PROPERTIES.get(word, "")
    if reason or not word.startswith(("KSQL_", "PROPERTIES_", "SCAN_", "SINK_", "SPARK_", "DELTA_")):
        return reason
    return _TUNING


SETTINGS = ("START", "TRIGGER", "BAD_ROWS", "SINK", "CLUSTER")
"""Properties whose defaults SET changes for the rest of a script."""

TOPIC_PROPERTIES = ("PARTITIONS", "REPLICAS")
"""Properties of ASSERT TOPIC."""


def canonical_names(name: str) -> tuple[str, ...]:
    """Return the canonical names that a name stands for: one, two for FORMAT, none for a name that is not known."""
    word = re.sub("[-.]", "_", name).upper() if name.isascii() else ""
    if word == "FORMAT":
        return ("KEY_FORMAT", "VALUE_FORMAT")
    word = PROPERTY_SYNONYMS.get(word, word)
    return (word,) if word in PROPERTIES else ()


def defaults_for(properties: Pairs, settings: Pairs, *, query: bool) -> Pairs:
    """Return the properties of a CREATE with the defaults of SET that it does not have and that mean something for it."""
    names = dict(properties)
    more = ((name, value) for name, value in settings if name not in names and (query or not PROPERTIES[name].query))
    return (*properties, *more)

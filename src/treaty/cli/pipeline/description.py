"""The description of a pipeline in TOML: its registry, its Spark session, source, tables and options."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from treaty.cli.pipeline.description_table import DescriptionError, DescriptionTable
from treaty.core.limits import REGISTRY_TRIES
from treaty.plan.format_plans import LOSSY
from treaty.spark.keyed.options import DebeziumEnvelope, KeyedTableOptions
from treaty.spark.keyed.upsert import NoMergeError
from treaty.spark.lake.table import FORMATS, LakeTable
from treaty.spark.lake.tables import EVOLUTIONS
from treaty.spark.pipelines.source import FilesSource, KafkaSource, Source, SourceError
from treaty.spark.pipelines.trigger import KINDS, StreamTrigger
from treaty.spark.pipelines.value import PARTS, Pipeline, PipelineError

READERS = "latest, union, types, wide, variant, or a version number"
NAMED = ("latest", "union", "types", "wide", "variant")


@dataclass(frozen=True, slots=True)
class SparkSettings:
    """The Spark session of a pipeline: master URL, driver memory and Spark settings."""

    master: str = "local[*]"
    memory: str = "2g"
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PipelineDescription:
    """The content of a file. `registry` may contain a password and is never printed; "" if the file has none."""

    name: str
    pipeline: Pipeline
    session: SparkSettings
    registry: str = field(default="", repr=False)


def read_description(path: Path, environment: Mapping[str, str]) -> PipelineDescription:
    """Read a file. Raises `DescriptionError`, whose message never contains a password."""
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DescriptionError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    except tomllib.TOMLDecodeError as error:
        raise DescriptionError(f"{path} is not valid TOML: {error}") from error
    found = DescriptionTable(values)
    try:
        return _build_description(found, path.stem, environment)
    except (PipelineError, SourceError, NoMergeError) as error:
        raise DescriptionError(str(error)) from error


def _build_description(found: DescriptionTable, stem: str, environment: Mapping[str, str]) -> PipelineDescription:
    name = found.text("name", stem)
    registry = found.text_with_variables("registry", environment, "")
    session = read_session(found.table("spark"))
    try:
        pipeline = _build_pipeline(found)
    except PipelineError:
        found.refuse_unknown_keys()  # all keys were read: a misspelt one is why it lacks something
        raise
    found.refuse_unknown_keys()
    return PipelineDescription(name, pipeline, session, registry)


def _build_pipeline(found: DescriptionTable) -> Pipeline:
    part, framing = found.text("part", "value", PARTS), found.text("framing", "prefix")
    keep = found.texts("keep")
    columns = found.table("columns") or DescriptionTable({}, "columns")
    bad = require_table(found, "bad")
    most, share = bad.integer("most", None, least=0), bad.number("share", 1.0, 0, 1)
    patience = found.table("patience") or DescriptionTable({}, "patience")
    pipeline = Pipeline(
        found.text("subject", ""),
        read_table(require_table(found, "good")),
        read_table(bad),
        found.text("checkpoint"),
        reader=_read_reader(found),
        column=found.text("column", ""),
        keep=keep,
        with_id=columns.text("id", ""),
        with_version=columns.text("version", ""),
        message=found.text("message", ""),
        evolution=found.text("evolution", "widen", EVOLUTIONS),
        most_bad=most,
        worst_share=1.0 if share is None else share,
        source=read_source(require_table(found, "source"), headers=framing == "header" or "headers" in keep),
        trigger=read_trigger(found.table("trigger")),
        part=part,
        framing=framing,
        depth=found.integer("depth", 3) or 3,
        lossy=found.text("lossy", "refuse", LOSSY),
        defaults=found.boolean("defaults", usual=False),
        encoding=found.text("encoding", ""),
        tries=patience.integer("tries", REGISTRY_TRIES) or REGISTRY_TRIES,
        patience=patience.number("unknown_seconds", 0.0) or 0.0,
        keyed=_read_keyed(found.table("keyed")),
    )
    columns.refuse_unknown_keys()
    patience.refuse_unknown_keys()
    return pipeline


def _read_keyed(found: DescriptionTable | None) -> KeyedTableOptions | None:
    if found is None:
        return None
    envelope = found.text("envelope", "", ("debezium",) if found.has("envelope") else ())
    names = DebeziumEnvelope(found.text("before", "before"), found.text("after", "after"), found.text("op", "op"))
    try:
        keyed = KeyedTableOptions(
            found.texts("key"),
            found.text("subject", ""),
            found.text("column", "key"),
            found.text("version", ""),
            found.texts("order") or ("offset",),
            names if envelope else None,
        )
    except ValueError as error:
        raise DescriptionError(f"{found.path}: {error}") from error
    found.refuse_unknown_keys()
    return keyed


def require_table(found: DescriptionTable, name: str) -> DescriptionTable:
    """Return a nested table. Raises `DescriptionError` where it is missing."""
    inside = found.table(name)
    if inside is None:
        hint = found.find_misspelt(name)
        raise DescriptionError(f"{found.key(name)} is missing; {hint}allowed is a table, [{found.key(name)}]")
    return inside


def _read_reader(found: DescriptionTable) -> str | int:
    value = found.raw("reader")
    if value is None:
        return "union"
    if isinstance(value, bool) or not (value in NAMED or (isinstance(value, int) and value > 0)):
        raise found.value_error("reader", f"allowed are {READERS}")
    number: str | int = value
    return number


def read_table(found: DescriptionTable) -> LakeTable:
    """Read a lake table."""
    place, format_ = found.text("place"), found.text("format", "delta", FORMATS)
    partitions = found.texts("partitions")
    found.refuse_unknown_keys()
    try:
        return LakeTable(
            place if "/" in place or format_ == "iceberg" or "." in place else f"./{place}", format_, partitions
        )
    except ValueError as error:
        raise found.value_error("place", str(error)) from error


def read_source(found: DescriptionTable, *, headers: bool) -> Source:
    """Read the table of a source."""
    kafka, files = found.table("kafka"), found.table("files")
    found.refuse_unknown_keys()
    if (kafka is None) == (files is None):
        raise DescriptionError("source: allowed is one of the tables [source.kafka] and [source.files]")
    if files is not None:
        source: Source = FilesSource(
            files.text("path"),
            files.text("format", "parquet"),
            files.text("schema", ""),
            files.integer("max_files", None),
        )
        files.refuse_unknown_keys()
        return source
    assert kafka is not None, "one of them is there"
    source = KafkaSource(
        kafka.text("servers"),
        kafka.texts("topics"),
        kafka.text("pattern", ""),
        kafka.pairs("settings"),
        kafka.text("settings_file", ""),
        kafka.text("start", "earliest"),
        kafka.integer("max_offsets", None),
        kafka.integer("min_partitions", None),
        headers,
        kafka.boolean("lossy", usual=False),
    )
    kafka.refuse_unknown_keys()
    return source


def read_trigger(found: DescriptionTable | None) -> StreamTrigger:
    """Read when batches begin."""
    if found is None:
        return StreamTrigger()
    kind = found.text("kind", "every", KINDS)
    every = found.text("every", "0 seconds")
    found.refuse_unknown_keys()
    return StreamTrigger(kind, every)


def read_session(found: DescriptionTable | None) -> SparkSettings:
    """Read the settings of the Spark session."""
    if found is None:
        return SparkSettings()
    session = SparkSettings(found.text("master", "local[*]"), found.text("memory", "2g"), found.pairs("settings"))
    found.refuse_unknown_keys()
    return session

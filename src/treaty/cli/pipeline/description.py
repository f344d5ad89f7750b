"""The description of a pipeline in TOML: the registry that it names, its Spark session, source, tables and options."""

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
    """The Spark session of a pipeline: master URL, driver memory, and options of Spark by name, such as ``spark.sql.session.timeZone``."""

    master: str = "local[*]"
    memory: str = "2g"
    options: tuple[tuple[str, str], ...] = ()


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
    table = DescriptionTable(values)
    try:
        return _build_description(table, path.stem, environment)
    except (PipelineError, SourceError, NoMergeError) as error:
        raise DescriptionError(str(error)) from error


def _build_description(table: DescriptionTable, stem: str, environment: Mapping[str, str]) -> PipelineDescription:
    name = table.text("name", stem)
    registry = table.text_with_variables("registry", environment, "")
    session = read_session(table.table("spark"))
    try:
        pipeline = _build_pipeline(table)
    except PipelineError:
        table.refuse_unknown_keys()  # all keys were read: a misspelt one is why it lacks something
        raise
    table.refuse_unknown_keys()
    return PipelineDescription(name, pipeline, session, registry)


def _build_pipeline(table: DescriptionTable) -> Pipeline:
    part, framing = table.text("part", "value", PARTS), table.text("framing", "prefix")
    keep = table.texts("keep")
    columns = table.table("columns") or DescriptionTable({}, "columns")
    bad = require_table(table, "bad")
    limit, share = bad.integer("most", None, minimum=0), bad.number("share", 1.0, 0, 1)
    patience = table.table("patience") or DescriptionTable({}, "patience")
    pipeline = Pipeline(
        table.text("subject", ""),
        read_table(require_table(table, "good")),
        read_table(bad),
        table.text("checkpoint"),
        reader=_read_reader(table),
        column=table.text("column", ""),
        keep=keep,
        with_id=columns.text("id", ""),
        with_version=columns.text("version", ""),
        message=table.text("message", ""),
        evolution=table.text("evolution", "widen", EVOLUTIONS),
        most_bad=limit,
        worst_share=1.0 if share is None else share,
        source=read_source(require_table(table, "source"), headers=framing == "header" or "headers" in keep),
        trigger=read_trigger(table.table("trigger")),
        part=part,
        framing=framing,
        depth=table.integer("depth", 3) or 3,
        lossy=table.text("lossy", "refuse", LOSSY),
        defaults=table.boolean("defaults", usual=False),
        encoding=table.text("encoding", ""),
        tries=patience.integer("tries", REGISTRY_TRIES) or REGISTRY_TRIES,
        patience=patience.number("unknown_seconds", 0.0) or 0.0,
        keyed=_read_keyed(table.table("keyed")),
    )
    columns.refuse_unknown_keys()
    patience.refuse_unknown_keys()
    return pipeline


def _read_keyed(table: DescriptionTable | None) -> KeyedTableOptions | None:
    if table is None:
        return None
    envelope = table.text("envelope", "", ("debezium",) if table.has("envelope") else ())
    names = DebeziumEnvelope(table.text("before", "before"), table.text("after", "after"), table.text("op", "op"))
    try:
        keyed = KeyedTableOptions(
            table.texts("key"),
            table.text("subject", ""),
            table.text("column", "key"),
            table.text("version", ""),
            table.texts("order") or ("offset",),
            names if envelope else None,
        )
    except ValueError as error:
        raise DescriptionError(f"{table.path}: {error}") from error
    table.refuse_unknown_keys()
    return keyed


def require_table(table: DescriptionTable, name: str) -> DescriptionTable:
    """Return a nested table. Raises `DescriptionError` where it is missing."""
    inside = table.table(name)
    if inside is None:
        hint = table.find_misspelt(name)
        raise DescriptionError(f"{table.key(name)} is missing; {hint}allowed is a table, [{table.key(name)}]")
    return inside


def _read_reader(table: DescriptionTable) -> str | int:
    value = table.raw("reader")
    if value is None:
        return "union"
    if isinstance(value, bool) or not (value in NAMED or (isinstance(value, int) and value > 0)):
        raise table.value_error("reader", f"allowed are {READERS}")
    number: str | int = value
    return number


def read_table(table: DescriptionTable) -> LakeTable:
    """Read a lake table."""
    place, format_ = table.text("place"), table.text("format", "delta", FORMATS)
    partitions = table.texts("partitions")
    table.refuse_unknown_keys()
    try:
        return LakeTable(
            place if "/" in place or format_ == "iceberg" or "." in place else f"./{place}", format_, partitions
        )
    except ValueError as error:
        raise table.value_error("place", str(error)) from error


def read_source(table: DescriptionTable, *, headers: bool) -> Source:
    """Read the table of a source."""
    kafka, files = table.table("kafka"), table.table("files")
    table.refuse_unknown_keys()
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


def read_trigger(table: DescriptionTable | None) -> StreamTrigger:
    """Read when batches begin."""
    if table is None:
        return StreamTrigger()
    kind = table.text("kind", "every", KINDS)
    every = table.text("every", "0 seconds")
    table.refuse_unknown_keys()
    return StreamTrigger(kind, every)


def read_session(table: DescriptionTable | None) -> SparkSettings:
    """Read the settings of the Spark session."""
    if table is None:
        return SparkSettings()
    session = SparkSettings(table.text("master", "local[*]"), table.text("memory", "2g"), table.pairs("settings"))
    table.refuse_unknown_keys()
    return session

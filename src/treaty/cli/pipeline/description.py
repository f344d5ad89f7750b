"""A pipeline as a TOML file describes it, with the registry to ask and the Spark session to run it in."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from treaty.cli.pipeline.members import DescriptionError, Members
from treaty.core.limits import REGISTRY_TRIES
from treaty.plan.avro.merging import LOSSY
from treaty.spark.keyed.merging import NoMergeError
from treaty.spark.keyed.value import Debezium, Keyed
from treaty.spark.lake.lakes import EVOLUTIONS
from treaty.spark.lake.table import FORMATS, Table
from treaty.spark.pipelines.source import FilesSource, KafkaSource, Source, SourceError
from treaty.spark.pipelines.trigger import KINDS, Trigger
from treaty.spark.pipelines.value import PARTS, Pipeline, PipelineError

READERS = "latest, union, types, wide, variant, or a version's number"
NAMED = ("latest", "union", "types", "wide", "variant")


@dataclass(frozen=True, slots=True)
class Session:
    """The Spark session of a pipeline: where it runs, the driver's memory, and settings of Spark."""

    master: str = "local[*]"
    memory: str = "2g"
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Description:
    """What a file says. `registry` may have a password and is never shown; it is "" where the file names none."""

    name: str
    pipeline: Pipeline
    session: Session
    registry: str = field(default="", repr=False)


def described(path: Path, environment: Mapping[str, str]) -> Description:
    """Read a file. Raises `DescriptionError`; a password is never in its message."""
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DescriptionError(f"{path} can't be read: {getattr(error, 'strerror', None) or 'not UTF-8'}") from error
    except tomllib.TOMLDecodeError as error:
        raise DescriptionError(f"{path} is no TOML: {error}") from error
    found = Members(values)
    try:
        return _description(found, path.stem, environment)
    except (PipelineError, SourceError, NoMergeError) as error:
        raise DescriptionError(str(error)) from error


def _description(found: Members, stem: str, environment: Mapping[str, str]) -> Description:
    name = found.text("name", stem)
    registry = found.filled("registry", environment, "")
    pipeline = _pipeline(found)
    session = _session(found.table("spark"))
    found.done()
    return Description(name, pipeline, session, registry)


def _pipeline(found: Members) -> Pipeline:
    part, framing = found.text("part", "value", PARTS), found.text("framing", "prefix")
    keep = found.texts("keep")
    columns = found.table("columns") or Members({}, "columns")
    bad = _needed(found, "bad")
    most, share = bad.whole("most", None, least=0), bad.number("share", 1.0, 0, 1)
    patience = found.table("patience") or Members({}, "patience")
    pipeline = Pipeline(
        found.text("subject", ""),
        _table(_needed(found, "good")),
        _table(bad),
        found.text("checkpoint"),
        reader=_reader(found),
        column=found.text("column", ""),
        keep=keep,
        with_id=columns.text("id", ""),
        with_version=columns.text("version", ""),
        message=found.text("message", ""),
        evolution=found.text("evolution", "widen", EVOLUTIONS),
        most_bad=most,
        worst_share=1.0 if share is None else share,
        source=_source(_needed(found, "source"), headers=framing == "header" or "headers" in keep),
        trigger=_trigger(found.table("trigger")),
        part=part,
        framing=framing,
        depth=found.whole("depth", 3) or 3,
        lossy=found.text("lossy", "refuse", LOSSY),
        defaults=found.switch("defaults", usual=False),
        tries=patience.whole("tries", REGISTRY_TRIES) or REGISTRY_TRIES,
        patience=patience.number("unknown_seconds", 0.0) or 0.0,
        keyed=_keyed(found.table("keyed")),
    )
    columns.done()
    patience.done()
    return pipeline


def _keyed(found: Members | None) -> Keyed | None:
    if found is None:
        return None
    envelope = found.text("envelope", "", ("debezium",) if found.has("envelope") else ())
    names = Debezium(found.text("before", "before"), found.text("after", "after"), found.text("op", "op"))
    try:
        keyed = Keyed(
            found.texts("key"),
            found.text("subject", ""),
            found.text("column", "key"),
            found.text("version", ""),
            found.texts("order") or ("offset",),
            names if envelope else None,
        )
    except ValueError as error:
        raise DescriptionError(f"{found.way}: {error}") from error
    found.done()
    return keyed


def _needed(found: Members, name: str) -> Members:
    inside = found.table(name)
    if inside is None:
        raise DescriptionError(f"{found.key(name)} is missing; allowed is a table, [{found.key(name)}]")
    return inside


def _reader(found: Members) -> str | int:
    value = found.raw("reader")
    if value is None:
        return "union"
    if isinstance(value, bool) or not (value in NAMED or (isinstance(value, int) and value > 0)):
        raise found.wrong("reader", f"allowed are {READERS}")
    number: str | int = value
    return number


def _table(found: Members) -> Table:
    place, format_ = found.text("place"), found.text("format", "delta", FORMATS)
    partitions = found.texts("partitions")
    found.done()
    try:
        return Table(
            place if "/" in place or format_ == "iceberg" or "." in place else f"./{place}", format_, partitions
        )
    except ValueError as error:
        raise found.wrong("place", str(error)) from error


def _source(found: Members, *, headers: bool) -> Source:
    kafka, files = found.table("kafka"), found.table("files")
    found.done()
    if (kafka is None) == (files is None):
        raise DescriptionError("source: allowed is one of the tables [source.kafka] and [source.files]")
    if files is not None:
        source: Source = FilesSource(
            files.text("path"),
            files.text("format", "parquet"),
            files.text("schema", ""),
            files.whole("max_files", None),
        )
        files.done()
        return source
    assert kafka is not None, "one of them is there"
    source = KafkaSource(
        kafka.text("servers"),
        kafka.texts("topics"),
        kafka.text("pattern", ""),
        kafka.pairs("settings"),
        kafka.text("settings_file", ""),
        kafka.text("start", "earliest"),
        kafka.whole("max_offsets", None),
        kafka.whole("min_partitions", None),
        headers,
        kafka.switch("lossy", usual=False),
    )
    kafka.done()
    return source


def _trigger(found: Members | None) -> Trigger:
    if found is None:
        return Trigger()
    kind = found.text("kind", "every", KINDS)
    every = found.text("every", "0 seconds")
    found.done()
    return Trigger(kind, every)


def _session(found: Members | None) -> Session:
    if found is None:
        return Session()
    session = Session(found.text("master", "local[*]"), found.text("memory", "2g"), found.pairs("settings"))
    found.done()
    return session

"""Options of ``format("treaty")``, read from texts: what to read, by which schemas, and the columns that rows have; an unknown, wrong or missing one is
refused (`KNOWN`, `read_options`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from treaty.core.kafka import KafkaCluster, translate_setting
from treaty.plan.errors import PlanError
from treaty.plan.format_plans import LOSSY
from treaty.plan.options import DecodeChoices
from treaty.spark.options import refuse_unknown, split_options
from treaty.spark.pipelines.source import KafkaSource, SourceError, read_client_settings

BOOLEANS: Mapping[str, bool] = {"true": True, "false": False}
KAFKA = "kafka."
SERVERS = "kafka.bootstrap.servers"
FILE_FORMATS = ("parquet", "orc", "arrow")
KNOWN: Mapping[str, str] = {
    "registry": "the address of a server",
    "subject": "TOPIC-value for one topic",
    "reader": "latest, union, types, wide, variant, a version's number, a schema's text",
    "keysubject": "none: keys stay bytes",
    "keyreader": "as reader",
    "framing": "prefix, header, single-object, md5, version, pravega, none",
    "message": "the full name of a Protobuf message",
    "depth": "a number",
    "lossy": ", ".join(LOSSY),
    "defaults": "true, false",
    "unknown": "true, false",
    "validate": "true, false",
    "rest": "map",
    "encoding": "one of the ways of a plug-in's format",
    "flatten": "true, false",
    "prefix": "a text before the names of the columns that flatten makes",
    "subscribe": "topics with commas",
    "startingoffsets": "earliest, latest, or offsets as JSON",
    "endingoffsets": "latest, or offsets as JSON",
    "includeheaders": "true, false",
    "failondataloss": "true, false",
    "path": "a folder or a file",
    "fileformat": ", ".join(FILE_FORMATS),
    "column": "value",
}
"""Options in lower case, and what they may be."""


@dataclass(frozen=True, slots=True)
class TopicChoice:
    """Topics of a cluster, and the offsets between which a batch reads them; a stream begins at `start`."""

    cluster: KafkaCluster = field(repr=False)
    topics: tuple[str, ...]
    start: str = "earliest"
    end: str = "latest"
    headers: bool = False
    skips_deleted: bool = False
    """Whether rows are read from the first offset that is left where others were deleted: failOnDataLoss is false."""


@dataclass(frozen=True, slots=True)
class FileChoice:
    """Files below a path, whose `column` holds frames."""

    path: str
    format: str = "parquet"
    column: str = "value"


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What is asked of the data source. `settings` are those of the registry's client."""

    place: TopicChoice | FileChoice
    registry: str
    settings: Mapping[str, Any] = field(repr=False)
    subject: str
    reader: str | int = "latest"
    key_subject: str = ""
    key_reader: str | int = "latest"
    framing: str = "prefix"
    choices: DecodeChoices = field(default_factory=DecodeChoices)
    flatten: bool = False
    prefix: str = ""

    def without_registry(self) -> "SourceOptions":
        """The same without the registry and what opens it, which executors never need."""
        return replace(self, registry="", settings={})


def read_options(options: Mapping[str, str]) -> SourceOptions:
    """The options of a data source. Raises `PlanError` and `SourceError` for what can't be meant, and names what may be."""
    own_options, settings = split_options(options)
    kafka = {name: own_options.pop(name) for name in list(own_options) if name.startswith(KAFKA)}
    refuse_unknown(own_options, KNOWN)
    place = _read_topics(own_options, kafka) if "subscribe" in own_options or kafka else _read_files(own_options)
    if not own_options.get("registry"):
        raise PlanError("the option registry is missing: the address of a registry, http://HOST:PORT")
    subject = own_options.get("subject", "")
    if not subject and isinstance(place, TopicChoice) and len(place.topics) == 1:
        subject = f"{place.topics[0]}-value"
    if not subject:
        raise PlanError("the option subject is missing: it is known without one only where one topic is read")
    return SourceOptions(
        place=place,
        registry=own_options["registry"],
        settings=settings,
        subject=subject,
        reader=_read_reader(own_options.get("reader", "latest")),
        key_subject=own_options.get("keysubject", ""),
        key_reader=_read_reader(own_options.get("keyreader", "latest")),
        framing=own_options.get("framing", "prefix"),
        choices=_read_choices(own_options),
        flatten=_is_set(own_options, "flatten"),
        prefix=own_options.get("prefix", ""),
    )


def _read_topics(options: Mapping[str, str], kafka: Mapping[str, str]) -> TopicChoice:
    if "path" in options:
        raise SourceError("a source has either topics (subscribe) or files (path); leave one of them out")
    topics = tuple(one.strip() for one in options.get("subscribe", "").split(",") if one.strip())
    servers = kafka.get(SERVERS, "")
    if not topics or not servers:
        missing = SERVERS if topics else "subscribe"
        raise SourceError(f"the option {missing} is missing: topics are read by {SERVERS} and subscribe")
    kafka_settings = tuple((name.removeprefix(KAFKA), value) for name, value in kafka.items() if name != SERVERS)
    client_settings = read_client_settings(KafkaSource(servers, topics, settings=kafka_settings))
    settings = [
        pair for name, value in client_settings.items() for pair in translate_setting(name, value, f"{KAFKA}{name}")
    ]
    return TopicChoice(
        KafkaCluster(servers, tuple(settings)),
        topics,
        start=options.get("startingoffsets", "earliest"),
        end=options.get("endingoffsets", "latest"),
        headers=_is_set(options, "includeHeaders"),
        skips_deleted=not _is_set(options, "failOnDataLoss", usual="true"),
    )


def _read_files(options: Mapping[str, str]) -> FileChoice:
    if not options.get("path"):
        raise SourceError(f"nothing to read is named: topics by {SERVERS} and subscribe, or files by path")
    if options.get("keysubject"):
        raise PlanError("keySubject is for topics, and files are read here: leave it out")
    format_ = options.get("fileformat", FILE_FORMATS[0]).lower()
    if format_ not in FILE_FORMATS:
        raise SourceError(f"fileFormat = {format_!r} can't be read; allowed are {', '.join(FILE_FORMATS)}")
    return FileChoice(options["path"], format_, options.get("column", "value"))


def _read_choices(options: Mapping[str, str]) -> DecodeChoices:
    choices = DecodeChoices()
    if "depth" in options:
        if not options["depth"].isdecimal():
            raise PlanError(f"depth = {options['depth']!r} is no number")
        choices["depth"] = int(options["depth"])
    for name in ("message", "lossy", "rest", "encoding"):
        if name in options:
            choices[name] = options[name]
    for switch in ("defaults", "unknown", "validate"):
        if switch in options:
            choices[switch] = _is_set(options, switch)
    return choices


def _read_reader(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _is_set(options: Mapping[str, str], name: str, usual: str = "false") -> bool:
    """Read an option that is true or false; `name` is as people write it, and the names in `options` have small letters."""
    text = options.get(name.lower(), usual)
    value = BOOLEANS.get(text.lower())
    if value is None:
        raise PlanError(f"{name} = {text!r} is neither true nor false")
    return value

"""Options of the data source, read from texts: what to read, by which schemas, and the columns that rows have."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from treaty.core.kafka import KafkaCluster, translate_setting
from treaty.plan.errors import PlanError
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
    "message": "",
    "depth": "a number",
    "lossy": "",
    "defaults": "true, false",
    "unknown": "true, false",
    "validate": "true, false",
    "rest": "map",
    "encoding": "one of the ways of a plug-in's format",
    "flatten": "true, false",
    "prefix": "",
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
    lossy: bool = False


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
    given, settings = split_options(options)
    kafka = {name: given.pop(name) for name in list(given) if name.startswith(KAFKA)}
    refuse_unknown(given, KNOWN)
    place = _read_topics(given, kafka) if "subscribe" in given or kafka else _read_files(given)
    if not given.get("registry"):
        raise PlanError("the option registry is missing: the address of a registry, http://HOST:PORT")
    subject = given.get("subject", "")
    if not subject and isinstance(place, TopicChoice) and len(place.topics) == 1:
        subject = f"{place.topics[0]}-value"
    if not subject:
        raise PlanError("the option subject is missing: it is known without one only where one topic is read")
    return SourceOptions(
        place,
        given["registry"],
        settings,
        subject,
        _read_reader(given.get("reader", "latest")),
        given.get("keysubject", ""),
        _read_reader(given.get("keyreader", "latest")),
        given.get("framing", "prefix"),
        _read_choices(given),
        _is_set(given, "flatten"),
        given.get("prefix", ""),
    )


def _read_topics(given: Mapping[str, str], kafka: Mapping[str, str]) -> TopicChoice:
    if "path" in given:
        raise SourceError("a source has either topics (subscribe) or files (path); leave one of them out")
    topics = tuple(one.strip() for one in given.get("subscribe", "").split(",") if one.strip())
    servers = kafka.get(SERVERS, "")
    if not topics or not servers:
        missing = SERVERS if topics else "subscribe"
        raise SourceError(f"the option {missing} is missing: topics are read by {SERVERS} and subscribe")
    named = tuple((name.removeprefix(KAFKA), value) for name, value in kafka.items() if name != SERVERS)
    filled = read_client_settings(KafkaSource(servers, topics, settings=named))
    known = [pair for name, value in filled.items() for pair in translate_setting(name, value, f"{KAFKA}{name}")]
    return TopicChoice(
        KafkaCluster(servers, tuple(known)),
        topics,
        given.get("startingoffsets", "earliest"),
        given.get("endingoffsets", "latest"),
        _is_set(given, "includeheaders"),
        not _is_set(given, "failondataloss", usual="true"),
    )


def _read_files(given: Mapping[str, str]) -> FileChoice:
    if not given.get("path"):
        raise SourceError(f"nothing to read is named: topics by {SERVERS} and subscribe, or files by path")
    if given.get("keysubject"):
        raise PlanError("keySubject is for topics, and files are read here: leave it out")
    format_ = given.get("fileformat", FILE_FORMATS[0]).lower()
    if format_ not in FILE_FORMATS:
        raise SourceError(f"fileFormat = {format_!r} can't be read; allowed are {', '.join(FILE_FORMATS)}")
    return FileChoice(given["path"], format_, given.get("column", "value"))


def _read_choices(given: Mapping[str, str]) -> DecodeChoices:
    choices = DecodeChoices()
    if "depth" in given:
        if not given["depth"].isdecimal():
            raise PlanError(f"depth = {given['depth']!r} is no number")
        choices["depth"] = int(given["depth"])
    for name in ("message", "lossy", "rest", "encoding"):
        if name in given:
            choices[name] = given[name]
    for switch in ("defaults", "unknown", "validate"):
        if switch in given:
            choices[switch] = _is_set(given, switch)
    return choices


def _read_reader(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def _is_set(given: Mapping[str, str], name: str, usual: str = "false") -> bool:
    value = given.get(name, usual).lower()
    if value not in BOOLEANS:
        raise PlanError(f"{name} = {given[name]!r} is neither true nor false")
    return BOOLEANS[value]

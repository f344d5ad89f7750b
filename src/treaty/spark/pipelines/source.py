"""Where frames come from: topics of Kafka, or files, as frozen values; any other frame is given to `start` itself."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

TOPIC_COLUMNS = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
"""What Spark's Kafka source has of a record; `headers` only where they are asked for."""
Settings = tuple[tuple[str, str], ...]
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class SourceError(ValueError):
    """A source that can't be opened as it is described; the message never holds the value of a setting."""


@dataclass(frozen=True, slots=True)
class KafkaSource:
    """Topics of Kafka: their names, or a pattern of names.

    `settings` are those of Kafka's Java clients (``security.protocol`` …); ``${NAME}`` in a value is the variable of
    that name. `file` is a properties file with more of them. Both are read when the stream starts, and never shown.
    `start` is ``earliest``, ``latest``, or offsets as Spark takes them (JSON), and counts for a new checkpoint only. A
    batch has `most` offsets at most (all topics together). With `lossy` a stream continues where records that it has
    not read are gone; else it fails there.
    """

    servers: str
    topics: tuple[str, ...] = ()
    pattern: str = ""
    settings: Settings = field(default=(), repr=False)
    file: str = ""
    start: str = "earliest"
    most: int | None = None
    min_partitions: int | None = None
    headers: bool = False
    lossy: bool = False

    def __post_init__(self) -> None:
        """Refuse topics and a pattern at once, and neither of them."""
        if bool(self.topics) == bool(self.pattern):
            raise SourceError("a source on Kafka has either topics or a pattern of their names")

    @property
    def many(self) -> bool:
        """Whether there may be records of more than one topic."""
        return bool(self.pattern) or len(self.topics) > 1


@dataclass(frozen=True, slots=True)
class FilesSource:
    """Files in a folder, new ones as they come: their format (``parquet``, ``avro``, ``json``, ``orc``) and a column of
    frames.

    `schema` is DDL; where it is left out, the files that are there when the stream starts say it. A batch has `most`
    files at most.
    """

    path: str
    format: str = "parquet"
    schema: str = ""
    most: int | None = None


Source = KafkaSource | FilesSource


def open_stream(spark: SparkSession, source: Source) -> DataFrame:
    """The source as a streaming frame. Raises `SourceError`."""
    try:
        return _open_stream(spark, source)
    except PySparkException as error:
        raise SourceError(f"the source can't be opened: {str(error).strip().splitlines()[0]}") from error
    except Py4JJavaError as error:  # a format that no class has
        why = str(error.java_exception.getMessage() or error.java_exception.toString()).strip().splitlines()[0]
        raise SourceError(f"the source can't be opened: {why}") from error


def _open_stream(spark: SparkSession, source: Source) -> DataFrame:
    if isinstance(source, KafkaSource):
        options = {**_kafka_options(source), "startingOffsets": source.start}
        return spark.readStream.format("kafka").options(**options).load()
    reader = spark.readStream.format(source.format).schema(_schema(spark, source))
    if source.most is not None:
        reader = reader.option("maxFilesPerTrigger", source.most)
    return reader.load(source.path)


def _schema(spark: SparkSession, source: FilesSource) -> StructType:
    if source.schema:
        columns = StructType.fromDDL(source.schema)
        assert isinstance(columns, StructType), "names and types make a struct"
        return columns
    return spark.read.format(source.format).load(source.path).schema


def read_client_settings(source: KafkaSource, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The settings of Kafka's client, from the file first. Raises `SourceError` for a file or a variable that is
    missing.
    """
    variables = os.environ if environment is None else environment  # noqa: TID251 (secrets of a client stand in variables)
    settings = {**_read_properties(source.file), **dict(source.settings)}
    return {name: _fill_variables(name, value, variables) for name, value in settings.items()}


def _fill_variables(name: str, value: str, variables: Mapping[str, str]) -> str:
    missing = [one for one in _VARIABLE.findall(value) if one not in variables]
    if missing:
        raise SourceError(f"the setting {name!r} of Kafka names the variable {missing[0]}, which is not set")
    return _VARIABLE.sub(lambda found: variables[found[1]], value)


def _read_properties(path: str) -> dict[str, str]:
    if not path:
        return {}
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "not UTF-8"
        raise SourceError(f"the file {path} with settings of Kafka can't be read: {why}") from error
    pairs = (line.partition("=") for line in map(str.strip, lines) if line and not line.startswith(("#", "!")))
    return {name.strip(): value.strip() for name, _, value in pairs}


def _kafka_options(source: KafkaSource) -> dict[str, str]:
    """The options of Spark's Kafka source."""
    options = {f"kafka.{name}": value for name, value in read_client_settings(source).items()}
    options["kafka.bootstrap.servers"] = source.servers
    options |= {"subscribePattern": source.pattern} if source.pattern else {"subscribe": ",".join(source.topics)}
    options["failOnDataLoss"] = str(not source.lossy).lower()
    options["includeHeaders"] = str(source.headers).lower()
    if source.most is not None:
        options["maxOffsetsPerTrigger"] = str(source.most)
    if source.min_partitions is not None:
        options["minPartitions"] = str(source.min_partitions)
    return options

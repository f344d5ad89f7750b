"""`LakeTable`: a lake table by its format and place, and `WriteId`: the writer and the batch, by which a table takes a batch once."""

import re
from dataclasses import dataclass
from typing import Any, cast

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.spark.session import is_on_connect

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
FORMATS = ("delta", "iceberg", "parquet")


@dataclass(frozen=True, slots=True)
class LakeTable:
    """A lake table: its format, and a path or (Delta, Iceberg) a name in a catalog; `partitions` are used at its
    creation.
    """

    place: str
    format: str = "delta"
    partitions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a format that is none, and a Parquet table without a path."""
        if self.format not in FORMATS:
            message = f"{self.format!r} is no format of a table; there are {', '.join(FORMATS)}"
            raise ValueError(message)
        if self.format == "parquet" and not self.is_path:
            message = f"{self.place!r} is no path; a Parquet table is a folder, and has a slash in its name"
            raise ValueError(message)

    @property
    def is_path(self) -> bool:
        """Whether the place is a folder and not a name in a catalog."""
        return "/" in self.place

    @property
    def folder(self) -> str:
        """The folder, without a slash at its end."""
        return self.place.rstrip("/")


@dataclass(frozen=True, slots=True)
class WriteId:
    """A write id: the writer and the number of its batch. A table ignores a batch that it already has."""

    writer: str
    number: int

    def __str__(self) -> str:
        return f"{self.writer}/{self.number}"


def make_empty_frame(spark: SparkSession, columns: StructType | str) -> DataFrame:
    """Return a frame without rows; its columns may be the text of DDL. Unlike that of `createDataFrame`, it needs no Python on executors, and starts none."""
    fields = cast("StructType", StructType.fromDDL(columns)) if isinstance(columns, str) else columns
    typed = (F.lit(None).cast(one.dataType).alias(one.name, metadata=one.metadata) for one in fields)
    return spark.range(0).select(*typed)


def resolve_folder(spark: SparkSession | None, folder: str) -> str:
    """A folder from the root on, where Spark itself would find it: in SQL a name that begins with no slash is a
    table's.

    Without a session it stays as it is; nothing is read there by then.
    """
    if spark is None or folder.startswith("/") or _SCHEME.match(folder):
        return folder
    context = spark.sparkContext
    path = _hadoop(context).Path(folder)
    qualified: str = path.getFileSystem(context._jsc.hadoopConfiguration()).makeQualified(path).toString()  # noqa: SLF001 - as below
    return qualified.removeprefix("file:")


def is_missing(spark: SparkSession, folder: str) -> bool:
    """Whether nothing is at a folder. Spark logs a stack trace when it reads a folder that is missing, so this is asked before.

    On Spark Connect the answer is unknown, and False.
    """
    if is_on_connect(spark):
        return False
    context = spark.sparkContext
    path = _hadoop(context).Path(folder)
    is_there: bool = path.getFileSystem(context._jsc.hadoopConfiguration()).exists(path)  # noqa: SLF001 - as below
    return not is_there


def _hadoop(context: Any) -> Any:
    """Hadoop's file systems. Where relative paths begin is theirs to say, and nothing public asks them."""
    return context._jvm.org.apache.hadoop.fs  # noqa: SLF001 - see above

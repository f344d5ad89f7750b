"""Data where it lies: which format a path has, and which of its columns holds frames."""

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BinaryType, StructType

from treaty.spark.lake import parquet, tables
from treaty.spark.lake.table import LakeTable

FOLDERS = {"_delta_log": "delta", "metadata": "iceberg", parquet.COLUMNS: "parquet"}
"""Formats by the folder that a table has."""
COLUMNS = ("value", "payload")
"""Columns that hold frames: as Kafka's source calls them, and as tables of bad rows do."""


def detect_format(place: str) -> str:
    """The format of what lies at a path of this machine, ``files`` for a folder of Parquet; nothing where that is
    unknown.
    """
    folder = Path(place)
    if "/" not in place and not folder.exists():
        return ""
    detected = next((name for inside, name in FOLDERS.items() if (folder / inside).exists()), "")
    return detected or ("files" if folder.exists() else "")


def read_place(spark: SparkSession, place: str, format_: str = "") -> DataFrame:
    """The rows at a path or under a name: a lake table, or any Parquet files.

    Where `format_` says nothing, what lies in the folder does; a path of another machine is taken for Delta.
    """
    format_name = format_ or detect_format(place)
    if format_name == "files":
        return spark.read.parquet(place)
    if not format_name and "/" not in place:
        return spark.table(place)
    resolved_place = str(Path(place).resolve()) if Path(place).exists() else place
    return tables.read(spark, LakeTable(resolved_place, format_name or "delta"))


def find_frame_column(columns: StructType, column: str = "") -> str:
    """The column with frames: the one that is named, else ``value`` or ``payload``, else the only one of bytes.

    Raises ValueError where there is none, or several.
    """
    binary = [field.name for field in columns.fields if isinstance(field.dataType, BinaryType)]
    candidates = [column] if column else [*(name for name in COLUMNS if name in binary)][:1] or binary
    if len(candidates) != 1 or candidates[0] not in binary:
        had = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in columns.fields)
        message = f"the column with the frames is unknown: {column or 'none is named'}; there is {had}"
        raise ValueError(message)
    return candidates[0]

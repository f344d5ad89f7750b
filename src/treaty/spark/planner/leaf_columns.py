"""The leaf columns that a body needs of each source: what Spark would read of empty Parquet files with its columns."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from treaty.core.column_types import lower_name
from treaty.core.column_types.leaf_paths import list_leaves, parse_path, print_path
from treaty.core.column_types.tokens import print_name, split_tokens
from treaty.core.sources import Source, SourceRead
from treaty.spark.planner.output import read_type
from treaty.spark.planner.questions import ReadableSource
from treaty.spark.planner.trees import TreeNode, read_tree
from treaty.spark.planner.views import make_frame, split_watermark

UNNAMED = frozenset(("*", "|", "NATURAL", "TABLE", "PIVOT", "UNPIVOT"))
"""Signs and words by which a body may read columns without their names."""
SOURCE = "treaty.source"
"""The member of a column's metadata that names its source."""


def find_leaf_columns(
    spark: SparkSession, body: str, sources: Sequence[ReadableSource], root: Path
) -> dict[str, tuple[str, ...]]:
    """Return the paths of the leaf columns that a body needs, by name of the source in small letters.

    The body is planned as a batch, over views of empty tables; nothing is read. A source of which nothing but the number of rows is needed has none.
    """
    owners: dict[str, set[str]] = {}
    for source in sources:
        name = source.name.lower()
        schema = make_frame(spark, source, root, streaming=False).schema
        marked = StructType([StructField(one.name, one.dataType, one.nullable, {SOURCE: name}) for one in schema])
        frame = spark.read.schema(marked).parquet(str(root / f"g{source.generation}"))
        frame.createOrReplaceTempView(print_name(source.name))
        for column in source.columns:
            owners.setdefault(column.name.lower(), set()).add(name)
    plan = spark.sql(body)._jdf.queryExecution().executedPlan()  # noqa: SLF001 (pyspark has no other way to a plan)
    needed: dict[str, dict[str, None]] = {one.name.lower(): {} for one in sources}
    for scan in _list_scans(read_tree(plan.toJSON())):
        for field in scan:
            paths = [
                print_path(path) for path, _ in list_leaves([(field["name"], read_type(field["type"], field["name"]))])
            ]
            # A column of which only fields are read has lost its mark: it is then one of each source that has such a column.
            marked_by = field["metadata"].get(SOURCE)
            for name in (marked_by,) if marked_by else owners[field["name"].lower()]:
                needed[name].update(dict.fromkeys(paths))
    for source in sources:
        if source.deduplicate:
            own = (split_watermark(source.watermark)[0], *source.deduplicate)
            needed[source.name.lower()].update(dict.fromkeys(print_path([name]) for name in own))
    return {name: tuple(sorted(paths)) for name, paths in needed.items()}


def names_its_columns(body: str) -> bool:
    """Return whether a body surely names each column that it reads. One that does not reads those too that came to a source after it was planned."""
    words = [token.keyword or token.text for token in split_tokens(body)]
    stars_of_count = {at for at, word in enumerate(words) if word == "*" and words[at - 2 : at] == ["COUNT", "("]}
    selects_all = words.count("FROM") > words.count("SELECT")  # `FROM flights` alone, or a FROM of a function
    return not selects_all and UNNAMED.isdisjoint(word for at, word in enumerate(words) if at not in stars_of_count)


def list_needed(source: Source, reads: Iterable[SourceRead], words: Collection[str]) -> list[str]:
    """Return the columns of a source that have to be decoded for bodies, in the order of the source.

    These are the columns that `reads` (of all sources of the bodies) has for it, those whose names are among `words` (the names in the texts of
    the bodies, in small letters), its key, and those that are never null: a plan does not look for nulls in these, so they must have values.
    """
    own = (read for read in reads if lower_name(read.source) == lower_name(source.name))
    read_names = {lower_name(parse_path(path)[0]) for read in own for path in read.columns}
    return [
        column.name
        for column in source.columns
        if not column.nullable
        or column.role == "key"
        or lower_name(column.name) in read_names
        or column.name.lower() in words  # as `list_words` writes them
    ]


def find_never_null(spark: SparkSession, body: str, sources: Sequence[ReadableSource]) -> frozenset[str]:
    """Return the columns that come out of a body without a null, given that columns of its sources with NOT NULL have none.

    Spark takes each column of a file for one with nulls, so the body is analyzed over empty tables in memory, whose columns say NOT NULL.
    """
    if all(column.nullable for source in sources for column in source.columns):
        return frozenset()
    for source in sources:
        ddl = ", ".join(
            f"{print_name(column.name)} {column.type}{'' if column.nullable else ' NOT NULL'}"
            for column in source.columns
        )
        spark.createDataFrame([], ddl).createOrReplaceTempView(print_name(source.name))
    return frozenset(field.name for field in spark.sql(body).schema if not field.nullable)


def _list_scans(tree: TreeNode) -> Iterable[Any]:
    """The fields that each scan of files reads; Spark prints a schema without fields as an empty list."""
    schemas = (one.members["requiredSchema"] for one in tree.walk() if one.kind == "FileSourceScanExec")
    return (one["fields"] if one else () for one in schemas)

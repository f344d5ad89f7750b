"""Iceberg tables: every snapshot says whose batch it is, and a batch that has one is not written again.

A path is a table too: the folder above it is made a catalog of the session, which needs nothing but the files.
"""

import hashlib
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from treaty.plan.ddl import quote_name
from treaty.spark.lake.table import LakeTable, WriteId, is_missing, make_empty_frame, resolve_folder

BATCH = "treaty-batch"
"""The property of a snapshot that names its batch."""
SNAPSHOT_BATCH = f"snapshot-property.{BATCH}"
"""The option of a write that puts it into the snapshot that it makes."""
ONLY_ADDED = {"isolation-level": "serializable"}
"""The option of an overwrite that refuses it where others have added files since the snapshot that it names."""
CONFLICT = "Found conflicting files"
"""What Iceberg says then."""
APPENDS = 10
"""How often a batch is tried that others come before."""
PROPERTY = f"spark.sql.iceberg.snapshot-property.{BATCH}"
"""The setting of a session that puts it into the snapshots it makes."""
STAGING, STAGED = "write.wap.enabled", "wap.id"
"""The property of a table that takes snapshots which are not its newest yet, and that of such a snapshot with its name."""
STAGE = "spark.wap.id"
"""The setting of a session that has each write make such a snapshot (Iceberg's Write-Audit-Publish)."""
MAIN = "main"
"""The branch whose snapshot is that of the table."""


def name(spark: SparkSession | None, table: LakeTable) -> str:
    """The table as SQL names it; the catalog of a path is made known to the session, if there is one."""
    if not table.is_path:
        return table.place
    above, _, last = resolve_folder(spark, table.folder).rpartition("/")
    catalog = f"treaty_{hashlib.sha256(above.encode()).hexdigest()[:16]}"
    if spark is not None and spark.conf.get(f"spark.sql.catalog.{catalog}", "") == "":
        for setting, value in settings(catalog, above or "/").items():
            spark.conf.set(setting, value)
    return f"{catalog}.{quote_name(last)}"


def settings(catalog: str, warehouse: str) -> dict[str, str]:
    """What makes a folder a catalog; its class comes last, so that it is never seen half made."""
    prefix = f"spark.sql.catalog.{catalog}"
    return {
        f"{prefix}.type": "hadoop",
        f"{prefix}.cache-enabled": "false",  # streams write through sessions of theirs
        f"{prefix}.warehouse": warehouse,
        prefix: "org.apache.iceberg.spark.SparkCatalog",
    }


def read(spark: SparkSession, table: LakeTable) -> DataFrame:
    """The table as it is now."""
    table_name = name(spark, table)
    if not table.is_path:
        spark.catalog.refreshTable(table_name)
    return spark.table(table_name)


def schema(spark: SparkSession, table: LakeTable) -> StructType | None:
    """The columns of the table; None where there is none."""
    try:
        return read(spark, table).schema
    except AnalysisException as missing:
        if missing.getCondition() != "TABLE_OR_VIEW_NOT_FOUND":
            raise
        return None


def append(frame: DataFrame, table: LakeTable, batch: WriteId) -> None:
    """Append rows of one batch; a table that is not there is made, empty first.

    A writer that is held up between its look for the batch and its commit, while another one writes the batch, must not append it again.
    So the rows are committed as an overwrite of no rows, which Iceberg refuses where files came since the look. What others have written
    meanwhile is looked at then, and the batch is tried again.
    """
    spark = frame.sparkSession
    make(spark, table, frame.schema)
    table_name = name(spark, table)
    rows = frame.persist()  # they are made once, however often they are written
    try:
        if rows.isEmpty():
            if not has_snapshot(spark, table_name, batch):
                rows.writeTo(table_name).option(SNAPSHOT_BATCH, str(batch)).append()
            return
        for attempt in range(APPENDS):
            base = _find_snapshot(spark, table_name)
            if has_snapshot(spark, table_name, batch):
                return
            options = {} if base is None else {"validate-from-snapshot-id": str(base)}
            writer = rows.writeTo(table_name).options(**{SNAPSHOT_BATCH: str(batch), **ONLY_ADDED, **options})
            try:
                writer.overwrite(F.lit(False))
            except (PySparkException, Py4JError) as error:
                if CONFLICT not in str(error) or attempt == APPENDS - 1:
                    raise
            else:
                return
    finally:
        rows.unpersist()


def _find_snapshot(spark: SparkSession, table_name: str) -> int | None:
    """The id of the newest snapshot of a table; None where it has none."""
    newest = spark.table(f"{table_name}.refs").where(F.col("name") == MAIN).select("snapshot_id").head(1)
    return int(newest[0][0]) if newest else None


def make(spark: SparkSession, table: LakeTable, columns: StructType) -> bool:
    """Make a table without rows where there is none; return whether it was made."""
    if schema(spark, table) is not None:
        return False
    # Not with `accept-any-schema`: Spark resolves no INSERT and no MERGE of SQL against such a table.
    writer = make_empty_frame(spark, columns).writeTo(name(spark, table)).using("iceberg")
    if table.partitions:
        writer = writer.partitionedBy(*(F.col(quote_name(one)) for one in table.partitions))
    writer.create()
    return True


def has_written(spark: SparkSession, table: LakeTable, batch: WriteId) -> bool:
    """Return whether a snapshot of a table in a folder that is still kept is that of the batch, or a later one of its writer."""
    if is_missing(spark, f"{table.folder}/metadata") or schema(spark, table) is None:
        return False
    snapshots = _read_snapshots(spark, name(spark, table)).select(F.col("summary")[BATCH].alias("batch"))
    own = snapshots.where(F.col("batch").startswith(f"{batch.writer}/"))
    last = own.select(F.max(F.substring_index("batch", "/", -1).cast("bigint"))).collect()[0][0]
    return last is not None and int(last) >= batch.number


def has_expired(spark: SparkSession, table: LakeTable) -> bool:
    """Return whether snapshots of a table in a folder were expired: the oldest one that is kept followed another one. A stream begins with what that one has added."""
    if is_missing(spark, f"{table.folder}/metadata") or schema(spark, table) is None:
        return False
    oldest = spark.table(f"{name(spark, table)}.snapshots").orderBy("committed_at").select("parent_id").head(1)
    return bool(oldest) and oldest[0][0] is not None


def run(spark: SparkSession, table: LakeTable, statement: str, batch: WriteId) -> None:
    """Run a statement that changes rows; one whose batch the table has seen changes nothing."""
    if has_snapshot(spark, name(spark, table), batch):
        return
    with _setting(spark, PROPERTY, str(batch)):
        spark.sql(statement)


def run_next(spark: SparkSession, table: LakeTable, statement: str, batch: WriteId) -> None:
    """Run a statement that changes rows, unless the table has its batch or others change the table meanwhile.

    A writer that is held up between its look for the batch and its commit must not bring rows back that later batches have exchanged. So the
    statement makes a staged snapshot, which becomes the newest one only where it follows the one that the look was at. Where others
    were quicker, the look and the statement come again.
    """
    table_name = name(spark, table)
    _let_stage(spark, table_name)
    for attempt in range(APPENDS):
        base = _find_snapshot(spark, table_name)
        if has_snapshot(spark, table_name, batch):
            return
        stage = uuid.uuid4().hex
        with _setting(spark, PROPERTY, str(batch)), _setting(spark, STAGE, stage):
            spark.sql(statement)
        staged = spark.table(f"{table_name}.snapshots").where(F.col("summary")[STAGED] == stage).head(1)
        if not staged or (
            staged[0]["parent_id"] == base and _publish(spark, table_name, staged[0]["snapshot_id"], base)
        ):
            return
        if attempt == APPENDS - 1:
            raise RuntimeError(
                f"others change {table.place} so often that batch {batch} could not be written in {APPENDS} attempts"
            )


def _publish(spark: SparkSession, table_name: str, snapshot: int, base: int | None) -> bool:
    """Make a staged snapshot the newest one; return False where `base`, which it follows, is the newest no more.

    A branch that ends with it is what the newest one is moved forward to, which Iceberg refuses where that one is not in the branch. Picking the
    snapshot (``cherrypick_snapshot``) would not do: one of new rows alone Iceberg appends once more, whatever came before.
    """
    catalog, _, rest = table_name.partition(".")
    branch = f"treaty_{snapshot}"
    try:
        spark.sql(f"ALTER TABLE {table_name} CREATE BRANCH {branch} AS OF VERSION {snapshot} RETAIN 1 DAYS")
        spark.sql(f"CALL {catalog}.system.fast_forward({rest!r}, '{MAIN}', '{branch}')")
    except (PySparkException, Py4JError):
        if _find_snapshot(spark, table_name) == base:
            raise
        return False
    finally:
        spark.sql(f"ALTER TABLE {table_name} DROP BRANCH IF EXISTS {branch}")
    return True


def _let_stage(spark: SparkSession, table_name: str) -> None:
    properties = spark.sql(f"SHOW TBLPROPERTIES {table_name}").where(F.col("key") == STAGING).head(1)
    if not properties or properties[0]["value"] != "true":
        spark.sql(f"ALTER TABLE {table_name} SET TBLPROPERTIES ('{STAGING}' = 'true')")


@contextmanager
def _setting(spark: SparkSession, setting: str, value: str) -> Iterator[None]:
    spark.conf.set(setting, value)
    try:
        yield
    finally:
        spark.conf.unset(setting)


def has_snapshot(spark: SparkSession, table_name: str, batch: WriteId) -> bool:
    """Whether a snapshot that is still kept is that of the batch."""
    return not _read_snapshots(spark, table_name).filter(F.col("summary")[BATCH] == str(batch)).isEmpty()


def _read_snapshots(spark: SparkSession, table_name: str) -> DataFrame:
    """The snapshots of a table that are still kept, without those that were staged and never became the newest."""
    history = spark.table(f"{table_name}.history").where("is_current_ancestor").select("snapshot_id")
    return spark.table(f"{table_name}.snapshots").join(history, "snapshot_id", "left_semi")

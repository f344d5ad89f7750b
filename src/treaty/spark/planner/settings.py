"""Settings of Spark under which a body is planned and run: those that belong to its meaning, and those that keep it in its place."""

from collections.abc import Mapping

from treaty.core.schema import Pairs

PINNED: Pairs = (
    ("spark.sql.ansi.enabled", "true"),
    ("spark.sql.caseSensitive", "false"),
    ("spark.sql.session.timeZone", "UTC"),
    ("spark.sql.shuffle.partitions", "4"),
    ("spark.sql.streaming.stateStore.checkpointFormatVersion", "2"),
    (
        "spark.sql.streaming.stateStore.providerClass",
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    ),
)
"""Settings that give a body its meaning and its state a form. They are part of its plan, and a runner sets them before it starts."""
RESTRICTED: Mapping[str, str] = {
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.variable.substitute": "false",
    "spark.sql.legacy.allowUntypedScalaUDF": "false",
    "spark.sql.allowNamedFunctionArguments": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enforceReservedKeywords": "false",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.cteRecursionLevelLimit": "1",
    "spark.sql.streaming.unsupportedOperationCheck": "true",
}
"""Settings that hold while a body is parsed, analyzed and run: no files as tables, no variables of the machine."""
PRINTED: Mapping[str, str] = {
    "spark.sql.debug.maxToStringFields": "1000000",
    "spark.sql.maxMetadataStringLength": "1000000",
    "spark.sql.maxPlanStringLength": "10000000",
    "spark.sql.optimizer.nestedSchemaPruning.enabled": "true",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.analyzer.canonicalization.multiCommutativeOpMemoryOptThreshold": "1000000",
    "spark.sql.parquet.enableNestedColumnVectorizedReader": "true",
}
"""Settings of the planner alone: plans are printed whole, since they are read again, and three conditions in a row have one order as two have."""

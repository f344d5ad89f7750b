"""Where Spark finds the data source ``treaty`` by itself: it imports every module whose name begins with ``pyspark_``."""

from treaty.spark.datasource.source import TreatyDataSource as DefaultSource

__all__ = ["DefaultSource"]

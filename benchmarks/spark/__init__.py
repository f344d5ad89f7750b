"""What decoding and encoding on Spark costs, beside Spark's own functions and a job that only carries rows through Python."""

from benchmarks.spark.run import run

__all__ = ["run"]

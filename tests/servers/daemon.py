"""Spark's parent of Python workers, which has loaded what workers need before it is copied for each of them.

Spark starts workers by the hundred in tests, and each would load the same modules, which costs more than most of what it does.
`tests.servers.small` names this module to Spark; it is run where the JVM was started, in the root of the checkout.
"""

import gc

import pandas as pd  # noqa: F401 (loaded for workers, like all that follows)
import pyarrow.compute
import pyspark.daemon
import pyspark.sql.pandas.serializers
import pyspark.worker

import treaty.arrow.decode
import treaty.spark  # noqa: F401

if __name__ == "__main__":
    gc.collect()
    gc.freeze()  # workers look for garbage after each task: not among these
    pyspark.daemon.manager()

"""Spark's parent of Python workers, which has loaded what workers need before it is copied for each of them.

Spark starts workers by the hundred in tests, and each would load the same modules, which costs more than most of what it does.
`tests.servers.small` names this module to Spark.
"""

import gc
import os
import sys
from importlib import import_module

import pyspark.daemon

LOADED = (
    "pandas",
    "pyarrow.compute",
    "pyspark.sql.pandas.serializers",
    "pyspark.worker",
    "treaty.arrow.decode",
    "treaty.spark",
)

if __name__ == "__main__":
    os.environ["JE_ARROW_MALLOC_CONF"] = (
        "background_thread:false"  # a process is copied with one thread of its own alone
    )
    for name in LOADED:
        import_module(name)
    gc.collect()
    gc.freeze()  # workers look for garbage after each task: not among these
    # A worker drops what its importers know before each task. Python 3.11 and 3.12 then read the directory of `pyspark.zip`
    # for each package that came from it, a third of a second; importers made later share what was read.
    sys.path_importer_cache.clear()
    pyspark.daemon.manager()  # type: ignore[no-untyped-call] # pyspark has no type for it

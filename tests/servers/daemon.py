"""Spark's parent of Python workers, which has loaded what workers need before it is copied for each of them.

Spark starts workers by the hundred in tests, and each would load the same modules, which costs more than most of what it does.
`tests.servers.small` names this module to Spark.
"""

import gc
import os
import sys
from importlib import import_module

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
    # Spark names an archive of its modules first, from which each is compiled anew; the same stand in this interpreter's folder.
    sys.path[:] = [one for one in sys.path if not one.endswith(".zip")]
    for name in LOADED:
        import_module(name)
    gc.collect()
    gc.freeze()  # workers look for garbage after each task: not among these
    # Before each task a worker drops what its importers know. Python 3.11 and 3.12 then read the directory of an archive anew,
    # once for each package that came from it; importers that are made later share what was read.
    sys.path_importer_cache.clear()
    import_module("pyspark.daemon").manager()

"""Which tests go to the same of several workers: those of one file with a JVM, since they share what is dear to make."""

from pathlib import PurePosixPath

from xdist.scheduler import LoadScopeScheduling

SPREAD = {
    "test_keyed",
    "test_keyed_kills",
    "test_linear",
    "test_pipeline_commands",
    "test_pipelines",
    "test_spark_stream",
}
"""Files whose tests any worker may take: they share little, and last long together."""


class Together(LoadScopeScheduling):  # type: ignore[misc]  # published without types
    """One worker takes all tests of a file, but for those files that are spread.

    pytest-xdist 3.8 has marks for this (`xdist_group`), which do nothing under pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        return nodeid if PurePosixPath(path).stem in SPREAD else path

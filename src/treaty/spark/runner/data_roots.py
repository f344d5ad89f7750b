"""The root of the folders that PATH names: a path of this machine, or the URL of a file system that Hadoop knows; and folders below it."""

from pathlib import Path, PurePosixPath

from treaty.core.sources import Source
from treaty.metastore.bad_rows import name_folder
from treaty.spark.runner.kafka_source import SourceNotRunnableError

DataRoot = Path | str
"""A path, or the URL of a folder as text."""
PATTERN = frozenset("{}[]*?\\")
"""Characters by which Spark takes a path for a pattern, which may match what is not below the root."""


def print_root(root: DataRoot) -> str:
    """Return a root as Spark takes it, without a slash at its end."""
    return str(root.resolve()) if isinstance(root, Path) else root.rstrip("/")


def find_folder(root: DataRoot, source: Source) -> str:
    """Return the whole folder of a source. Raises `SourceNotRunnableError` for one outside of the root, and for a pattern."""
    named = name_folder(source).lstrip("/")
    below: PurePosixPath | None
    if isinstance(root, Path):
        place = (root / named).resolve()
        is_below = place.is_relative_to(root.resolve())
        below = PurePosixPath(place.relative_to(root.resolve())) if is_below else None
    else:
        place = None
        below = None if ".." in PurePosixPath(named).parts or ":" in named else PurePosixPath(named)
    if below is None:
        message = f"the folder {source.place} of {source.name} is not below {root}: say another PATH"
        raise SourceNotRunnableError(message)
    if PATTERN.intersection(str(below)):
        message = f"the folder {source.place} of {source.name} is a pattern to Spark"
        raise SourceNotRunnableError(f"{message}: say another PATH, without any of {' '.join(sorted(PATTERN))}")
    return str(place) if place is not None else f"{print_root(root)}/{below}"

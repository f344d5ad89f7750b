"""Files beside checkpoints, on whatever file system they are: read, written whole, listed and copied."""

import os
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pyspark.sql import SparkSession

from treaty.core.sources import Source
from treaty.metastore.bad_rows import first_generation
from treaty.spark.runner.kafka_source import SourceNotRunnableError

CHECKPOINT_ROOT = "CHECKPOINT_ROOT"
"""The property that names the folder of the checkpoints of a query."""
_RESERVED = re.compile(r"[0-9]+(\..*)?|bad-[0-9]+(\..*)?|takeovers|records|\.\.|[_.].*")
"""Names that the folder of checkpoints has for itself, and those that Spark passes over."""
AT_ONCE = frozenset(("file", "hdfs", "webhdfs", "viewfs", "abfs", "abfss"))
"""Schemes of file systems in which a folder is renamed in one step."""


@dataclass(frozen=True, slots=True)
class CheckpointFiles:
    """The files below the folder of all checkpoints: a local path, or the URL of any file system that Hadoop knows. Names are relative to it."""

    spark: SparkSession
    folder: str

    def has(self, name: str) -> bool:
        """Return whether there is a file or folder."""
        path = self._path(name)
        return bool(self._system(path).exists(path))

    def read(self, name: str) -> str:
        """Return the text of a file; empty where there is none."""
        path = self._path(name)
        system = self._system(path)
        if not system.exists(path):
            return ""
        stream = system.open(path)
        try:
            return str(self._jvm().org.apache.commons.io.IOUtils.toString(stream, "UTF-8"))
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        """Write a file whole: who reads it finds all of it or none."""
        path, draft = self._path(name), self._path(f"{name}.draft")
        system = self._system(path)
        stream = system.create(draft, True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()
        system.delete(path, False)
        system.rename(draft, path)

    def create(self, name: str, text: str) -> None:
        """Write a file that is not there yet. Raises `Py4JJavaError` where it is."""
        path = self._path(name)
        stream = self._system(path).create(path, False)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def list_numbers(self, name: str) -> list[int]:
        """Return the files of a folder whose names are numbers: the batches of a log of Spark."""
        path = self._path(name)
        system = self._system(path)
        if not system.exists(path):
            return []
        names = [str(one.getPath().getName()) for one in system.listStatus(path)]
        return sorted(int(one) for one in names if one.isdigit())

    def list_names(self, name: str) -> list[str]:
        """Return the names in a folder, in their order; none where there is no folder."""
        path = self._path(name)
        system = self._system(path)
        if not system.exists(path):
            return []
        return sorted(str(one.getPath().getName()) for one in system.listStatus(path))

    def is_own(self, name: str) -> bool:
        """Whether a name is of a file or folder that lies below this folder itself: no way leads out of it, by its words or by a link."""
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or ":" in name:
            return False
        path = self._path(name)
        system = self._system(path)
        if not system.exists(path):
            return False
        root = self._path(".")
        resolved, top = (str(system.resolvePath(one).toUri().getPath()) for one in (path, root))
        if str(path.toUri().getScheme() or system.getUri().getScheme()) == "file":
            resolved, top = os.path.realpath(resolved), os.path.realpath(top)
        return resolved == f"{top.rstrip('/')}/{'/'.join(parts)}"

    def copy(self, name: str, other: str) -> None:
        """Copy a folder with all that is in it."""
        source, target = self._path(name), self._path(other)
        copied = self._jvm().org.apache.hadoop.fs.FileUtil
        copied.copy(self._system(source), source, self._system(target), target, False, self._settings())

    def move(self, name: str, other: str) -> None:
        """Give a folder another name."""
        self._system(self._path(name)).rename(self._path(name), self._path(other))

    def clear_cut_start(self, place: str) -> None:
        """Remove half-written files of a first start that was killed: no batch is written down, and Spark would refuse the checkpoint for them."""
        offsets = f"{place}/offsets"
        for name in [] if self.list_numbers(offsets) else self.list_names(offsets):
            self.remove(f"{offsets}/{name}")

    @property
    def moves_at_once(self) -> bool:
        """Whether a folder gets another name in one step; elsewhere all its files are copied."""
        root = self._path(".")
        return str(root.toUri().getScheme() or self._system(root).getUri().getScheme()) in AT_ONCE

    def remove(self, name: str) -> None:
        """Remove a file or folder with all that is in it."""
        path = self._path(name)
        self._system(path).delete(path, True)

    def place(self, name: str) -> str:
        """Return the whole path of a name."""
        return f"{self.folder}/{name}"

    def _jvm(self) -> Any:
        return self.spark.sparkContext._jvm  # noqa: SLF001 (pyspark has no other way to Hadoop's file systems)

    def _settings(self) -> Any:
        return self.spark.sparkContext._jsc.hadoopConfiguration()  # noqa: SLF001

    def _path(self, name: str) -> Any:
        return self._jvm().org.apache.hadoop.fs.Path(self.place(name))

    def _system(self, path: Any) -> Any:
        return path.getFileSystem(self._settings())


def find_checkpoint_root(source: Source, root: str) -> str:
    """Return the folder of the checkpoints of a source: that of the runner, or the one of CHECKPOINT_ROOT, which lies below it.

    Raises `SourceNotRunnableError` for one that does not, and for a name that the runner needs.
    """
    named = dict(source.properties).get(CHECKPOINT_ROOT, "")
    if not named:
        return root
    below = named.removeprefix(f"{root.rstrip('/')}/")
    remedy = f"name a folder below {root}, or start the runner with a --checkpoints that it is below"
    if ":" in below or below.startswith("/"):
        raise SourceNotRunnableError(
            f"the {CHECKPOINT_ROOT} of {source.name} is {named}, which is not below {root}: {remedy}"
        )
    parts = PurePosixPath(below).parts
    reserved = next((part for part in parts if _RESERVED.fullmatch(part)), None)
    if reserved is not None or not parts:
        raise SourceNotRunnableError(
            f"the {CHECKPOINT_ROOT} of {source.name} has a folder {reserved or below!r}, a name of the runner's own: {remedy}"
        )
    return f"{root.rstrip('/')}/{'/'.join(parts)}"


def find_query_folder(source: Source, root: str) -> str:
    """Return the folder of all checkpoints and takeovers of one source: several queries may begin in one commit, so a number alone names none.

    Raises `SourceNotRunnableError` as `find_checkpoint_root` does.
    """
    return f"{find_checkpoint_root(source, root)}/{first_generation(source)}"

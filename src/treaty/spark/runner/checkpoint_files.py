"""Files beside checkpoints, on whatever file system they are: read, written whole, listed and copied."""

from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession


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

    def list_numbers(self, name: str) -> list[int]:
        """Return the files of a folder whose names are numbers: the batches of a log of Spark."""
        path = self._path(name)
        system = self._system(path)
        if not system.exists(path):
            return []
        names = [str(one.getPath().getName()) for one in system.listStatus(path)]
        return sorted(int(one) for one in names if one.isdigit())

    def copy(self, name: str, other: str) -> None:
        """Copy a folder with all that is in it."""
        source, target = self._path(name), self._path(other)
        copied = self._jvm().org.apache.hadoop.fs.FileUtil
        copied.copy(self._system(source), source, self._system(target), target, False, self._settings())

    def move(self, name: str, other: str) -> None:
        """Give a folder another name."""
        self._system(self._path(name)).rename(self._path(name), self._path(other))

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

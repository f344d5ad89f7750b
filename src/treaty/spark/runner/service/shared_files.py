"""Files in the root that runners share: on a path of this machine, or wherever Hadoop's file systems reach."""

import json
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Protocol

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from treaty.spark.runner.checkpoint_files import CheckpointFiles

ROOT_ID = "runners/.root"
"""The file that has the id of a root."""
ROOT_ID_READS = 20


class SharedFiles(Protocol):
    """Small files of a root, by names relative to it. All raise `OSError` where the root can't be reached or written."""

    def read(self, name: str) -> str:
        """Return the text of a file; empty where there is none."""
        ...

    def write(self, name: str, text: str) -> None:
        """Write a file whole: who reads it finds all of it or none."""
        ...

    def create(self, name: str, text: str) -> None:
        """Write a file unless there is one; who reads it meanwhile may find the beginning of it."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file; nothing where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """Files below a path of this machine, which may be mounted from elsewhere."""

    root: Path

    def read(self, name: str) -> str:
        """Return the text of a file; empty where there is none."""
        try:
            return (self.root / name).read_text("utf-8")
        except FileNotFoundError:
            return ""

    def write(self, name: str, text: str) -> None:
        """Write a file whole: who reads it finds all of it or none."""
        place = self.root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f"{place.name}.{os.getpid()}.half")
        draft.write_text(text, "utf-8")
        draft.replace(place)

    def create(self, name: str, text: str) -> None:
        """Write a file unless there is one; who reads it meanwhile may find the beginning of it."""
        place = self.root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError), place.open("x", encoding="utf-8") as file:
            file.write(text)

    def remove(self, name: str) -> None:
        """Remove a file; nothing where there is none."""
        (self.root / name).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class HadoopFiles:
    """Files below the URL of a file system that Hadoop knows."""

    files: CheckpointFiles

    def read(self, name: str) -> str:
        """Return the text of a file; empty where there is none."""
        try:
            return self.files.read(name)
        except Py4JError as error:
            raise OSError(_reason_of(error)) from error

    def write(self, name: str, text: str) -> None:
        """Write a file whole: who reads it finds all of it or none."""
        try:
            self.files.write(name, text)
        except Py4JError as error:
            raise OSError(_reason_of(error)) from error

    def create(self, name: str, text: str) -> None:
        """Write a file unless there is one; who reads it meanwhile may find the beginning of it."""
        try:
            self.files.create(name, text)
        except Py4JError as error:
            if not self.read(name):
                raise OSError(_reason_of(error)) from error

    def remove(self, name: str) -> None:
        """Remove a file; nothing where there is none."""
        try:
            self.files.remove(name)
        except Py4JError as error:
            raise OSError(_reason_of(error)) from error


def open_root(spark: SparkSession, root: Path | str) -> SharedFiles:
    """Return the files of a root: of a path, or of the URL of a file system."""
    return LocalFiles(root.resolve()) if isinstance(root, Path) else HadoopFiles(CheckpointFiles(spark, root))


def read_root_id(files: SharedFiles) -> str:
    """Return the id of a root, which the first runner of it writes. Raises `OSError`."""
    for _ in range(ROOT_ID_READS):
        text = files.read(ROOT_ID)
        with suppress(ValueError, TypeError, KeyError):
            return str(json.loads(text)["root"])
        if text:
            sleep(0.1)  # another runner is writing it
        else:
            files.create(ROOT_ID, json.dumps({"root": secrets.token_hex(8)}))
    message = f"{ROOT_ID} below the root is no file of a runner: remove it while no runner runs"
    raise OSError(message)


def _reason_of(error: Py4JError) -> str:
    """The first line of what a file system of Java says."""
    cause = getattr(error, "java_exception", None)
    return str(cause if cause is not None else error).split("\n", 1)[0]

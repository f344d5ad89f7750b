"""Folders of the command line that are paths of this machine, or URLs of file systems that Spark reads."""

import re
from pathlib import Path
from typing import Any

import click

from treaty.cli.terminal.source import UnusableError

URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
Folder = Path | str
"""A path, or a URL as text."""


class FolderType(click.ParamType[Folder]):
    """An option that names a folder: a path, or a URL such as hdfs://host/folder, s3a://bucket/folder or file:///folder."""

    name = "folder"

    def __init__(self, *, exists: bool = False) -> None:
        """Of a path, ask that it is there."""
        self._path = click.Path(exists=exists, file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Folder:
        """Return the folder. A URL is looked at by Spark, once it runs."""
        if isinstance(value, str) and URL.match(value):
            return value.rstrip("/")
        path: Path = self._path.convert(value, param, ctx)
        return path


def join_folder(folder: Folder, name: str) -> Folder:
    """Return the folder of a name below another one."""
    return folder / name if isinstance(folder, Path) else f"{folder}/{name}"


def print_folder(folder: Folder) -> str:
    """Return a folder as Spark takes it."""
    return str(folder.resolve()) if isinstance(folder, Path) else folder


def make_folder(folder: Folder) -> None:
    """Make a folder of this machine; what is written first makes one of a URL. Raises `UnusableError` where it can't be made."""
    try:
        if isinstance(folder, Path):
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnusableError(describe_unwritable(folder, error)) from error


def describe_unwritable(folder: Folder, error: OSError) -> str:
    """Return what is wrong with a folder that can't be written, and what to do."""
    return f"the folder {folder} can't be written: {error.strerror or error}; name another one, or give this user the right to write there"

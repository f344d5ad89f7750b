"""A Spark that a command starts for itself, and how far it is, for a person who waits."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from treaty.cli.terminal.source import UnusableError

conf = click.option("--conf", multiple=True, metavar="NAME=VALUE", help="A setting for Spark, such as a catalog's.")
PAUSE = 0.5
"""Seconds between two looks at how far Spark is."""


def room(name: str) -> Any:
    """A module of the Spark room, loaded late: pyspark is large, and may not be there."""
    try:
        return import_module(f"treaty.spark.{name}")
    except ImportError as error:
        raise UnusableError(f"{error}; this needs pip install 'treaty[spark]'") from error


@contextmanager
def started(title: str, settings: tuple[str, ...], *, delta: bool, iceberg: bool) -> Iterator[Any]:
    """A session, that of the program or a new one, with the packages that are wanted and settings as ``NAME=VALUE``; its warnings are kept off the terminal."""
    wrong = next((one for one in settings if "=" not in one), None)
    if wrong is not None:
        raise click.BadParameter(f"{wrong!r} is not NAME=VALUE", param_hint="--conf")
    given = dict(one.split("=", 1) for one in settings)
    sessions = room("session")
    before = sessions.SparkSession.getActiveSession()
    spark = sessions.session(title, delta=delta, iceberg=iceberg, settings=given)
    spark.sparkContext.setLogLevel("ERROR")
    done = threading.Event()
    watcher = threading.Thread(target=_show, args=(spark.sparkContext.statusTracker(), title, done), daemon=True)
    if sys.stderr.isatty():
        watcher.start()
    try:
        yield spark
    finally:
        done.set()
        if watcher.is_alive():
            watcher.join()
        if before is None:
            spark.stop()


def _show(tracker: Any, title: str, done: threading.Event) -> None:
    """Say on the terminal how many tasks of the stages that run are done."""
    from rich.console import Console  # noqa: PLC0415 (slow to import, and only wanted on a terminal)

    with Console(stderr=True).status(title) as line:
        while not done.wait(PAUSE):
            stages = [tracker.getStageInfo(one) for one in tracker.getActiveStageIds()]
            tasks = sum(one.numTasks for one in stages if one)
            ready = sum(one.numCompletedTasks for one in stages if one)
            line.update(f"{title}: {ready} of {tasks} tasks" if tasks else title)

"""What a stream reads, and how far its running batch is, in words for a terminal."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from treaty.cli.terminal import screen

if TYPE_CHECKING:
    from treaty.spark.pipelines.source import Source

T = TypeVar("T")
PAUSE = 0.5
"""Seconds between two polls of Spark's progress."""
MEGABYTE = 1_000_000
HEARTBEAT = 30
"""Seconds after which a line says how far a running batch is, where no bar is drawn."""


def describe_source(source: "Source | None") -> str:
    """A line about what a stream reads: topics of a cluster, or the files that are in a folder now."""
    from treaty.spark.pipelines.source import KafkaSource  # noqa: PLC0415 (loads Spark, which --help must not need)

    if source is None:
        return "reading a frame"
    if isinstance(source, KafkaSource):
        topics = ", ".join(source.topics) or source.pattern
        return f"reading {topics} of {source.servers}"
    files = _list_files(Path(source.path.removeprefix("file://").removeprefix("file:")))
    if files is None:
        return f"reading {source.path}, files of the format {source.format}"
    size = sum(file.stat().st_size for file in files) / MEGABYTE
    return f"reading {source.path}: {screen.format_count(len(files), 'file')} of the format {source.format}, {size:,.1f} MB"


def _list_files(folder: Path) -> list[Path] | None:
    """The files that Spark sees in a folder of this machine; None where there is no such folder."""
    try:
        return [file for file in folder.iterdir() if file.is_file() and not file.name.startswith(("_", "."))]
    except OSError:
        return None


class TaskCounter:
    """Counts the tasks of the running stages of a session."""

    def __init__(self, spark: Any) -> None:
        self._tracker = spark.sparkContext.statusTracker()

    def describe(self) -> str:
        """How many tasks of the running stages are done, such as ``3 of 8 tasks``; empty where none runs."""
        stages = [self._tracker.getStageInfo(number) for number in self._tracker.getActiveStageIds()]
        tasks = sum(stage.numTasks for stage in stages if stage)
        completed = sum(stage.numCompletedTasks for stage in stages if stage)
        return f"{completed} of {tasks} tasks" if tasks else ""


@contextmanager
def show_tasks(title: str, start: AbstractContextManager[T]) -> Iterator[T]:
    """Start a session for the block; on a terminal a spinner says so, and then how many tasks are done.

    The spinner ends before the session does.
    """
    ended, counters = threading.Event(), list[TaskCounter]()

    def watch() -> None:
        from rich.console import Console  # noqa: PLC0415 (slow to import, and only wanted on a terminal)

        with Console(stderr=True).status(f"{title}: Spark is starting") as line:
            while not ended.wait(PAUSE):
                if counters:
                    line.update(": ".join(filter(None, (title, counters[0].describe()))))

    watcher = threading.Thread(target=watch, name="progress of Spark", daemon=True)
    if sys.stderr.isatty():
        watcher.start()
    try:
        with start as session:
            counters.append(TaskCounter(session))
            try:
                yield session
            finally:
                _end_watcher(watcher, ended)
    finally:
        _end_watcher(watcher, ended)


def _end_watcher(watcher: threading.Thread, ended: threading.Event) -> None:
    ended.set()
    if watcher.is_alive():
        watcher.join()


class BatchHeartbeat:
    """Prints a line on stderr about a batch that takes longer than `HEARTBEAT` seconds, and then one each time."""

    def __init__(self, tasks: TaskCounter) -> None:
        self._tasks = tasks
        self._batches, self._since = 0, time.monotonic()

    def beat(self, batches: int) -> None:
        """Call this about each second, with the number of batches that have ended in this run."""
        now = time.monotonic()
        if batches != self._batches:
            self._batches, self._since = batches, now
        elif now - self._since >= HEARTBEAT:
            self._since = now
            if tasks := self._tasks.describe():
                ended = f"{screen.format_count(batches, 'batch')} done, the next one" if batches else "the first batch"
                screen.say(f"{ended}: {tasks}", err=True)

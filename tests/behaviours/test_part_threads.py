"""A part in a thread of its own: which batches may begin."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from queue import SimpleQueue
from threading import Event, Semaphore
from typing import cast

import pytest

from treaty.core.sources import PAUSED, Source
from treaty.spark.pipelines.runner import StopRequestedError
from treaty.spark.runner.query_start import QueryRun, QueryStarter
from treaty.spark.runner.service.part_thread import PartHooks, PartThread
from treaty.spark.runner.service.wanted import WantedPart

SOURCE = Source("STREAM", "late", "", (), 7)
PATIENCE = 20.0
WRITTEN, LEFT = "written", "left"


class FirstBatch:
    """Starts queries that have one batch, and keeps what came of it."""

    def __init__(self, change: Callable[["FirstBatch"], None]) -> None:
        self.change = change
        self.may_write = True
        self.thread: PartThread | None = None
        self.known = Event()
        self.came: SimpleQueue[str] = SimpleQueue()

    def take_over(self, source: Source, run: QueryRun) -> None:
        """Nothing is taken over."""

    def start(self, source: Source, run: QueryRun) -> None:
        """Begin a batch, once all was said that is to be said before it."""
        assert self.known.wait(PATIENCE)
        self.change(self)
        try:
            run.before_batch(0)
        except StopRequestedError:
            self.came.put(LEFT)
            raise
        self.came.put(WRITTEN)
        raise ValueError(source.name)


def lose(batch: FirstBatch) -> None:
    batch.may_write = False


def change(batch: FirstBatch, source: Source) -> None:
    assert batch.thread is not None
    batch.thread.change(WantedPart(source))


def end(batch: FirstBatch) -> None:
    assert batch.thread is not None
    batch.thread.end()


BEFORE: Mapping[str, tuple[Callable[[FirstBatch], None], str]] = {
    "nothing": (lambda _: None, WRITTEN),
    "a new name": (lambda batch: change(batch, replace(SOURCE, name="later")), WRITTEN),
    "the runner may write no more": (lose, LEFT),
    "the part is ended": (end, LEFT),
    "the part is paused": (lambda batch: change(batch, replace(SOURCE, desired=PAUSED)), LEFT),
    "the part is another one": (lambda batch: change(batch, replace(SOURCE, place="elsewhere")), LEFT),
}
"""What happens before a batch, and what comes of it."""


@pytest.mark.parametrize("before", BEFORE)
def test_a_batch_begins_only_while_its_part_is_wanted_and_the_runner_may_write(before: str) -> None:
    batch = FirstBatch(BEFORE[before][0])
    hooks = PartHooks(cast("QueryStarter", batch), Semaphore(1), lambda _: None, lambda: batch.may_write)
    batch.thread = PartThread(WantedPart(SOURCE), hooks)
    batch.known.set()
    try:
        assert batch.came.get(timeout=PATIENCE) == BEFORE[before][1]
    finally:
        batch.thread.end()
        assert batch.thread.join(PATIENCE)

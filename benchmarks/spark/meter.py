"""CPU of a job: this process and all below it, the JVM and its Python workers among them."""

import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from pyspark.sql import DataFrame

REPEATS = 5
WARM = 2
EVERY = 0.1
"""Seconds between two looks while a job runs: what a process does after the last look before its end is not counted."""
Work = Callable[[], DataFrame]
Birth = tuple[int, int]
"""A process's number and the tick it was born at, so that a number given again is another process."""


class Watch:
    """Ticks of CPU of this process and of all that were ever seen below it.

    What ended children used is not asked of their parents: Spark's daemon ignores how its workers end, and the kernel then counts
    their CPU nowhere. So each process is looked at while it lives, and what was last seen of it stays.
    """

    def __init__(self) -> None:
        self.ticks: dict[Birth, int] = {}

    def look(self) -> None:
        """See how far each process has come."""
        births, parents, ticks = {}, {}, {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    stat = (entry / "stat").read_text().rpartition(") ")[2].split()
                except OSError:
                    continue
                pid = int(entry.name)
                births[pid], parents[pid], ticks[pid] = (
                    (pid, int(stat[19])),
                    int(stat[1]),
                    int(stat[11]) + int(stat[12]),
                )
        mine = {os.getpid()} | {pid for pid, birth in births.items() if birth in self.ticks}
        while more := {pid for pid, parent in parents.items() if parent in mine} - mine:
            mine |= more
        self.ticks |= {births[pid]: ticks[pid] for pid in mine if pid in births}

    def seconds(self) -> float:
        """CPU seconds so far."""
        return sum(self.ticks.values()) / os.sysconf("SC_CLK_TCK")


def spent(work: Callable[[], object]) -> float:
    """CPU seconds of one run, without those of watching it."""
    watch, over, own = Watch(), threading.Event(), [0.0]

    def keep_looking() -> None:
        while not over.wait(EVERY):
            watch.look()
        own[0] = time.thread_time()

    watch.look()
    before = watch.seconds()
    watcher = threading.Thread(target=keep_looking, name="cpu-watch", daemon=True)
    watcher.start()
    try:
        work()
    finally:
        over.set()
        watcher.join()
    watch.look()
    return watch.seconds() - before - own[0]


def nowhere(frame: DataFrame) -> None:
    """Compute every row and keep none."""
    frame.write.format("noop").mode("overwrite").save()


def measured(works: Mapping[str, Work], rows: int) -> dict[str, list[float]]:
    """Microseconds of CPU per row of each work in each turn, so that all meet the same machine; the first turns only warm up."""
    costs: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(REPEATS + WARM):
        for name, work in works.items():
            micros = spent(lambda work=work: nowhere(work())) / rows * 1e6  # type: ignore[misc] # a default binds the loop's value
            if turn >= WARM:
                costs[name].append(micros)
    return costs

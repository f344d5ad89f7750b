"""A turn at work: what a process of this benchmark is asked to do, and what it says that it did."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import reduce


@dataclass(frozen=True, slots=True)
class Turn:
    """Work for a while. `writers` write at one time, or share one transaction; `first` is a number nobody had before."""

    writers: int
    seconds: float
    first: int


@dataclass(frozen=True, slots=True)
class Done:
    """What came of it: commands or commits, wall and CPU seconds, and how long each writer waited, in milliseconds."""

    count: int
    wall: float
    cpu: float
    waits: tuple[float, ...]

    def __add__(self, other: "Done") -> "Done":
        """One after the other."""
        waits = self.waits + other.waits
        return Done(self.count + other.count, self.wall + other.wall, self.cpu + other.cpu, waits)

    def beside(self, other: "Done") -> "Done":
        """Both at one time."""
        waits = self.waits + other.waits
        return Done(self.count + other.count, max(self.wall, other.wall), self.cpu + other.cpu, waits)

    @property
    def rate(self) -> float:
        """How many per second."""
        return self.count / self.wall

    @property
    def each(self) -> float:
        """Wall milliseconds for each."""
        return self.wall / self.count * 1000

    @property
    def work(self) -> float:
        """CPU microseconds for each."""
        return self.cpu / self.count * 1e6

    def waited(self, share: float) -> float:
        """How long all but the slowest waited at most, in milliseconds; 0.5 is the median."""
        ordered = sorted(self.waits)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


NOTHING = Done(0, 0.0, 0.0, ())


class Clock:
    """Wall and CPU of this process, all threads, from when it is made."""

    def __init__(self, seconds: float) -> None:
        """Start."""
        self._began = time.perf_counter()
        self._cpu = time.process_time()
        self.end = self._began + seconds
        self.waits: list[float] = []

    @property
    def over(self) -> bool:
        """Whether the turn has ended."""
        return time.perf_counter() >= self.end

    @contextmanager
    def wait(self) -> Iterator[None]:
        """Note how long the block takes."""
        begun = time.perf_counter()
        yield
        self.waits.append((time.perf_counter() - begun) * 1000)

    def done(self, count: int) -> Done:
        """Stop."""
        return Done(count, time.perf_counter() - self._began, time.process_time() - self._cpu, tuple(self.waits))


class Member:
    """A process that works when it is told to, and sleeps meanwhile."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        """Talk to a process that runs `benchmarks.log.member`."""
        self._process = process

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            message = f"a member ended with {self._process.wait()}"
            raise RuntimeError(message)
        return line

    def ready(self) -> None:
        """Wait until it is there."""
        assert self._line() == "ready\n"

    def begin(self, turn: Turn) -> None:
        """Have it work."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(turn)) + "\n")
        self._process.stdin.flush()

    def end(self) -> Done:
        """Wait until it has done so."""
        figures = json.loads(self._line())
        return Done(figures["count"], figures["wall"], figures["cpu"], tuple(figures["waits"]))


@contextmanager
def members(kinds: Sequence[tuple[str, str]]) -> Iterator[list[Member]]:
    """Processes that do one kind of work each, over the place that a URL names, while the block runs."""
    with ExitStack() as stack:
        processes = []
        for kind, url in kinds:
            command = [sys.executable, "-m", "benchmarks.log.member", kind, url]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            stack.callback(_end, process)
            processes.append(Member(process))
            processes[-1].ready()
        yield processes


def _end(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    assert process.stdout is not None
    process.stdout.close()


FRESH = iter(range(1_000_000, 10**12, 1_000_000))
"""First numbers of turns: no turn makes a million."""


def together(some: Sequence[Member], writers: int, seconds: float) -> Done:
    """Have members work at one time; returns what they did in all."""
    os.sync()  # what others left behind is no part of it
    for member in some:
        member.begin(Turn(writers, seconds, next(FRESH)))
    return reduce(Done.beside, [member.end() for member in some])


def in_turns(sides: Sequence[Sequence[Member]], *, writers: int, seconds: float, rounds: int) -> list[Done]:
    """Have several sides work one after the other, several times; returns what each did in all its turns."""
    totals = [NOTHING] * len(sides)
    for number in range(rounds):
        order = range(len(sides)) if number % 2 == 0 else reversed(range(len(sides)))
        for side in order:
            totals[side] += together(sides[side], writers, seconds)
    return totals

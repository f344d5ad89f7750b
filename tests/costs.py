"""What tests cost: CPU and seconds of each, sums for each folder beside its budget, at the end of every run.

A budget is the CPU seconds that the tests of a folder may take together, those of all processes that they start too;
`budgets.toml` holds all of them. It is printed and never judged. Seconds are printed beside: on a quiet machine what is more
than the CPU was waited for, on a busy one it says nothing.
"""

import json
import os
import resource
import tomllib
from collections import defaultdict
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

BUDGETS = Path(__file__).with_name("budgets.toml")
TICKS = os.sysconf("SC_CLK_TCK")


gone = [0.0]
"""CPU seconds of processes that nobody will wait for, such as the JVM of a driver that a test kills."""


class Meter:
    """CPU seconds since the last look: those of this process, of all it started, and of what those started."""

    def __init__(self) -> None:
        self._last = used()

    def read(self) -> float:
        """What was used since the last look; 0 where a process took its figures with it."""
        now = used()
        last, self._last = self._last, now
        return max(0.0, now - last)


def used() -> float:
    """CPU seconds of this process and of its descendants, ended or not."""
    mine, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    known = mine.ru_utime + mine.ru_stime + ended.ru_utime + ended.ru_stime + gone[0]
    return known + sum(map(used_by, _children(os.getpid())))


def note_killed(pid: int) -> None:
    """Count what a process and its descendants have used; to be called before they are killed together."""
    gone[0] += sum(map(used_by, _children(pid)))


def _children(pid: int) -> Iterable[int]:
    """The processes that a process has started and that run now; none where the system does not tell."""
    for thread in _entries(f"/proc/{pid}/task"):
        yield from map(int, _text(f"/proc/{pid}/task/{thread}/children").split())


def descendants() -> Iterable[int]:
    """All processes that this one has started, and those that they have."""
    found = [*_children(os.getpid())]
    for pid in found:
        found += _children(pid)
    return found


def used_by(pid: int) -> float:
    """CPU seconds of a process and its descendants."""
    figures = _text(f"/proc/{pid}/stat").rpartition(")")[2].split()[11:15]
    return sum(map(int, figures)) / TICKS + sum(map(used_by, _children(pid)))


def _entries(folder: str) -> list[str]:
    try:
        return [one.name for one in Path(folder).iterdir()]
    except OSError:
        return []


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace")
    except OSError:
        return ""


@dataclass(slots=True)
class Cost:
    """What tests took together."""

    tests: int = 0
    seconds: float = 0.0
    cpu: float = 0.0

    def add(self, other: "Cost") -> None:
        """Add what others took."""
        self.tests, self.seconds, self.cpu = (
            self.tests + other.tests,
            self.seconds + other.seconds,
            self.cpu + other.cpu,
        )


METER = pytest.StashKey[Meter]()
COLLECTED = pytest.StashKey[float]()
"""CPU seconds until all tests were collected; told with the first test that this process runs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--budget", choices=sorted(budgets()), help="print what folders took beside this list of budgets")
    parser.addoption(
        "--costs", type=Path, metavar="FILE", help="write seconds and CPU of each test to FILE, a line each"
    )


def budgets() -> dict[str, dict[str, float]]:
    """All lists of budgets: folder → CPU seconds."""
    return tomllib.loads(BUDGETS.read_text("utf-8"))


def pytest_sessionstart(session: pytest.Session) -> None:
    session.config.stash[METER] = Meter()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    session.config.stash[COLLECTED] = session.config.stash[METER].read()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report of the last phase tells how much CPU was used since the test before."""
    report = yield
    if report.when == "teardown":  # asking costs too, and there are ten thousand tests
        cpu, collecting = item.config.stash[METER].read(), item.config.stash[COLLECTED]
        report.user_properties += [("cpu", round(cpu, 3)), ("collecting", round(collecting, 3))]
        item.config.stash[COLLECTED] = 0.0
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what each folder took, beside its budget."""
    tests = _tests(terminalreporter.stats.values())
    if config.option.costs:
        lines = [json.dumps([name, one.seconds, one.cpu]) for name, one in sorted(tests.items())]
        config.option.costs.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    if config.option.budget and tests:
        allowed = budgets()[config.option.budget]
        terminalreporter.section(f"budgets of {config.option.budget}, in seconds of CPU")
        for line in table(folders(tests), allowed):
            terminalreporter.line(line)
        collecting = _sum("collecting", (one for several in terminalreporter.stats.values() for one in several))
        terminalreporter.line(f"collecting the tests took {collecting:.1f} s of CPU beside them")


def _tests(reports: Iterable[Iterable[Any]]) -> dict[str, Cost]:
    """What each test took, from the reports of its phases."""
    found: defaultdict[str, Cost] = defaultdict(lambda: Cost(1))
    for report in (one for several in reports for one in several if isinstance(one, pytest.TestReport)):
        found[report.nodeid].add(Cost(0, report.duration, _sum("cpu", [report])))
    return dict(found)


def _sum(wanted: str, reports: Iterable[Any]) -> float:
    """What reports tell under a name, together."""
    told = (one for report in reports for one in getattr(report, "user_properties", ()))
    return sum(value for name, value in told if name == wanted and isinstance(value, float))


def folders(tests: dict[str, Cost]) -> dict[str, Cost]:
    """What the tests of each folder took together."""
    found: defaultdict[str, Cost] = defaultdict(Cost)
    for name, cost in tests.items():
        found[name.partition("::")[0].rpartition("/")[0]].add(cost)
    return dict(found)


def table(found: dict[str, Cost], allowed: dict[str, float]) -> list[str]:
    """A line for each folder that has tests or a budget, the dearest first, and one for all of them."""
    total = Cost()
    for cost in found.values():
        total.add(cost)
    rows = sorted({**{name: Cost() for name in allowed}, **found}.items(), key=lambda row: -row[1].cpu)
    rows.append(("all", total))
    budget = {**allowed, "all": sum(allowed.values())}
    lines = [f"{'folder':<36}{'tests':>7}{'seconds':>9}{'CPU':>9}{'budget':>9}"]
    for name, cost in rows:
        mark = "  no budget" if name not in budget else "  over" if cost.cpu > budget[name] else ""
        figures = f"{cost.tests:>7}{cost.seconds:>9.1f}{cost.cpu:>9.1f}{budget.get(name, 0):>9.0f}"
        lines.append(f"{name:<36}{figures}{mark}")
    return lines

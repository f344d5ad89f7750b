"""What all tests share: repeatable hypothesis runs, an environment without settings of this machine, and figures."""

import gc
import os
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer
from xdist.scheduler import Scheduling

from tests.slow import QUICK
from tests.together import Together

if TYPE_CHECKING:
    from tests.servers.kafka import Kafka

pytest_plugins = ["tests.costs", "tests.lost_workers", "tests.registries", "tests.shares", "tests.stacks"]

settings.register_profile(
    "repeatable",
    derandomize=True,  # the same examples in every run; `make soak` looks further
    deadline=None,  # no verdict hangs on how busy the machine is
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("quick", settings.get_profile("repeatable"), max_examples=12)
settings.register_profile("share", settings.get_profile("repeatable"), max_examples=10)
settings.register_profile("long", settings.get_profile("repeatable"), derandomize=False, max_examples=500)
settings.load_profile("repeatable")

YOUNG = 50_000
"""Objects that are made before garbage is looked for: among ten thousand tests each look takes long, and finds little."""
gc.set_threshold(YOUNG)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seeds", type=int, default=4_000, help="simulated lives of each log in the soak")
    parser.addoption("--first-seed", type=int, default=230, help="the seed of the first of them")


def pytest_collection_finish() -> None:
    """What was made until now stays: it need not be looked through again and again."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests come first, so that no worker is left alone with one at the end. Names are the same in each of them.

    Spark's bridge leaves its sockets to the garbage collector, which may come to them in any later test.
    """
    items.sort(key=lambda item: (item.get_closest_marker("slow") is None, item.name.partition("[")[0] not in QUICK))
    for item in items:
        if " at 0x" in item.name:
            raise pytest.UsageError(f"{item.nodeid} has another name in each process: give its parameters ids")
        if item.get_closest_marker("jvm"):
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    """Tests with a JVM go to workers file by file; all others as pytest-xdist does it."""
    return None if "not jvm" in config.option.markexpr else Together(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """JVMs of Spark, those of programs that a test runs too, share an archive of classes."""
    if item.get_closest_marker("jvm"):
        from tests.servers.archive import environment  # noqa: PLC0415 (asks Spark where its jars are)

        os.environ.update(environment())


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the person who runs the tests do not reach them."""
    for name in [name for name in os.environ if name.startswith("TREATY_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Tells a figure that a person wants to read at the end of the run."""
    return lambda text: record_property("figure", text)


@pytest.fixture(scope="session")
def kafka() -> Iterator["Kafka"]:
    """The broker that all tests of this process share."""
    from tests.servers.kafka import Kafka  # noqa: PLC0415 (loads Kafka's client, which few tests need)

    broker = Kafka()
    yield broker
    broker.stop()


@pytest.fixture
def topic(kafka: "Kafka", request: pytest.FixtureRequest) -> str:
    """A topic of one partition that is the test's alone."""
    return kafka.topic(f"{re.sub(r'[^A-Za-z0-9.-]+', '-', request.node.name)[:60]}-{uuid4().hex[:8]}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print all figures, those of other processes included."""
    reports = [report for key in ("passed", "failed") for report in terminalreporter.stats.get(key, [])]
    told = [(report.nodeid, text) for report in reports for name, text in report.user_properties if name == "figure"]
    if told:
        terminalreporter.section("figures")
        for nodeid, text in sorted(told):
            terminalreporter.line(f"{nodeid.rsplit('::', 1)[-1]}: {text}")

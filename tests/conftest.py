"""What all tests share: repeatable hypothesis runs, an environment without settings of this machine, and figures."""

import os
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable",
    derandomize=True,  # the same examples in every run; `make soak` may look further
    deadline=None,  # no verdict hangs on how busy the machine is
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Spark's bridge leaves its sockets to the garbage collector, which may come to them in any later test."""
    for item in items:
        if item.get_closest_marker("jvm"):
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the person who runs the tests do not reach them."""
    for name in [name for name in os.environ if name.startswith("TREATY_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def figure(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Tells a figure that a person wants to read at the end of the run."""
    return lambda text: record_property("figure", text)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print all figures, those of other processes included."""
    reports = [report for key in ("passed", "failed") for report in terminalreporter.stats.get(key, [])]
    told = [(report.nodeid, text) for report in reports for name, text in report.user_properties if name == "figure"]
    if told:
        terminalreporter.section("figures")
        for nodeid, text in sorted(told):
            terminalreporter.line(f"{nodeid.rsplit('::', 1)[-1]}: {text}")

"""A log that nobody has used, on each backend in turn."""

from pathlib import Path

import pytest

from tests.behaviours.logs.backends import BACKENDS, UNHELD, Node

REAL = ("kafka broker, any", "kafka broker, owner")
"""Backends on a broker that all tests share; its client is loaded only where one of them runs."""

SLOW = {"postgres"}
"""Backends whose every commit waits for a disk."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every backend in turn; a module whose `HELD` is true is about logs that can be held."""
    if "node" in metafunc.fixturenames:
        held = getattr(metafunc.module, "HELD", False)
        names = [one for one in BACKENDS if not (held and one in UNHELD)]
        marked = [pytest.param(one, marks=pytest.mark.slow) if one in SLOW else one for one in names]
        marked += [pytest.param(one, marks=pytest.mark.jvm) for one in REAL if not held]
        metafunc.parametrize("node", marked, indirect=True)


@pytest.fixture
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Node:
    if request.param in REAL:
        from tests.behaviours.logs.brokers import BROKERS  # noqa: PLC0415 (loads Kafka's client)

        return BROKERS[request.param](request.getfixturevalue("kafka"))
    return BACKENDS[request.param](tmp_path)

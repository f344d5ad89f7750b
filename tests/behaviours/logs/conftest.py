"""A log that nobody has used, on each backend in turn."""

from pathlib import Path

import pytest

from tests.behaviours.logs.backends import BACKENDS, Node


@pytest.fixture(params=BACKENDS)
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Node:
    return BACKENDS[request.param](tmp_path)

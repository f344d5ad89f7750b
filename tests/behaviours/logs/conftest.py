"""A log that nobody has used, on each backend in turn."""

from pathlib import Path

import pytest

from tests.behaviours.logs.backends import BACKENDS, Node

SLOW = {"postgres"}
"""Backends whose every commit waits for a disk."""


@pytest.fixture(params=[pytest.param(one, marks=pytest.mark.slow) if one in SLOW else one for one in BACKENDS])
def node(request: pytest.FixtureRequest, tmp_path: Path) -> Node:
    return BACKENDS[request.param](tmp_path)

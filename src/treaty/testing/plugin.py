"""Fixtures of pytest, there as soon as Treaty is installed: `treaty_registry` and `treaty_registry_session`.

Nothing of Treaty is loaded before a test asks for one of them.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from treaty.testing.registry import TreatyRegistry


def _open_registry() -> "Iterator[TreatyRegistry]":
    from treaty.testing.registry import TreatyRegistry  # noqa: PLC0415 (runs that need no registry load none)

    with TreatyRegistry() as registry:
        yield registry


@pytest.fixture
def treaty_registry() -> "Iterator[TreatyRegistry]":
    """An empty schema registry in this process, for one test; `.url` for clients that need HTTP."""
    yield from _open_registry()


@pytest.fixture(scope="session")
def treaty_registry_session() -> "Iterator[TreatyRegistry]":
    """A schema registry in this process that all tests of a run share."""
    yield from _open_registry()

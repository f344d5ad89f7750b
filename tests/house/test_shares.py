"""The tests of which a run has a share, and those that are known to be slow, are there: after a renaming all of them would run."""

from pathlib import Path

import pytest

from tests.shares import SHARES
from tests.slow import SLOW

ROOT = Path(__file__).parents[2]


def is_there(name: str) -> bool:
    file, _, test = name.partition("::")
    return any(
        f"def {test}(" in one.read_text("utf-8")
        for room in ("tests", "plugins")
        for one in (ROOT / room).rglob(f"{file}.py")
    )


@pytest.mark.parametrize("name", SHARES)
def test_a_test_with_a_share_is_there(name: str) -> None:
    assert is_there(name)


def test_tests_that_are_known_to_be_slow_are_there() -> None:
    assert not [name for name in sorted(SLOW) if not is_there(name)]

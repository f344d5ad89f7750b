"""The tests of which a run has a share are there: after a renaming all of their parameters would run."""

from pathlib import Path

import pytest

from tests.shares import SHARES

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("name", SHARES)
def test_a_test_with_a_share_is_there(name: str) -> None:
    file, _, test = name.partition("::")
    (found,) = TESTS.rglob(f"{file}.py")
    assert f"def {test}(" in found.read_text("utf-8")

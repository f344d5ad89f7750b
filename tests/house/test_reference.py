"""The reference pages say what the code says."""

import importlib.util
from pathlib import Path

import pytest

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
spec = importlib.util.spec_from_file_location("make_reference", REFERENCE / "make.py")
assert spec is not None
assert spec.loader is not None
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)
PAGES = sorted(path.name for path in REFERENCE.iterdir() if path.is_file() and path.suffix != ".py")


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    """What the code makes."""
    found: dict[str, str] = make.pages()
    return found


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_the_one_that_the_code_makes(page: str, made: dict[str, str]) -> None:
    written = (REFERENCE / page).read_text(encoding="utf-8")

    assert written == made[page], "the code has changed: run make reference"


def test_no_page_is_left_over_or_missing(made: dict[str, str]) -> None:
    assert sorted(made) == PAGES

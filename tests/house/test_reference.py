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
PAGES: dict[str, str] = make.pages()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_the_one_that_the_code_makes(page: str) -> None:
    written = (REFERENCE / page).read_text(encoding="utf-8")

    assert written == PAGES[page], "the code has changed: run make reference"


def test_no_page_is_left_over() -> None:
    assert {path.name for path in REFERENCE.iterdir() if path.is_file() and path.suffix != ".py"} == set(PAGES)

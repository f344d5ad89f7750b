"""The programs of the page about resolving Iglu schemas do what it says, and its table of peculiarities has a test for each row."""

import re
from pathlib import Path

import pytest

from tests.docs.running import printed
from tests.docs.test_howto import HOWTO, programs

QUIRKS = Path(__file__).parents[1] / "behaviours" / "iglu" / "test_quirks.py"


@pytest.mark.parametrize(("text", "expected"), programs("iglu-resolve.md"), ids=["registries", "values", "failures"])
def test_resolve(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


def test_each_peculiarity_is_kept_or_mended_as_its_test_says() -> None:
    page = (HOWTO / "iglu-resolve.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d) \| .* \| (kept|mended)", page, re.MULTILINE)
    own = re.findall(r"^def test_quirk_(\d)_(kept|mended)_", QUIRKS.read_text("utf-8"), re.MULTILINE)
    assert rows == [*own, ("9", "kept")], "the model of both algorithms has the ninth"
    assert len(rows) == 9

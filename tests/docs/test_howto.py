"""The programs of the how-tos print what the page says."""

import re
from pathlib import Path

import pytest

from tests.docs.running import printed

HOWTO = Path(__file__).parents[2] / "docs" / "howto"


def programs(page: str) -> list[tuple[str, str]]:
    """The programs of a page, each with what it prints."""
    return re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", (HOWTO / page).read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize(("text", "expected"), programs("python.md"), ids=["ask", "records", "asyncio"])
def test_python(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


@pytest.mark.parametrize(
    ("text", "expected"), programs("serializers.md"), ids=["choices", "subjects", "asyncio", "confluent_kafka"]
)
def test_serializers(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), programs("codecs.md"), ids=["types", "codec"])
def test_codecs(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), programs("arrow.md"), ids=["table", "validation"])
def test_arrow(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), programs("types.md"), ids=["values", "errors", "changes", "back"])
def test_types(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    programs("policies.md"),
    ids=["levels", "ranges", "strictness", "groups", "validators", "reserved fields"],
)
def test_policies(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), programs("formats.md"))
def test_formats(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), programs("tags.md"), ids=["change"])
def test_tags(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), programs("associations.md"))
def test_associations(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected

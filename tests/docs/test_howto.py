"""The programs of the how-tos print what the page says."""

import re
import tomllib
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


def test_write_format(tmp_path: Path) -> None:
    page = (HOWTO / "write-format.md").read_text("utf-8")
    module, program = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (points,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (group, offered), *others = tomllib.loads(points)["project"]["entry-points"].items()
    assert others == []
    (tmp_path / "csv_format.py").write_text(module, "utf-8")
    info = tmp_path / "csv_format-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: csv-format\nVersion: 1.0\n", "utf-8")
    lines = "\n".join(f"{name} = {place}" for name, place in offered.items())
    (info / "entry_points.txt").write_text(f"[{group}]\n{lines}\n", "utf-8")
    (expected,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    assert printed(program, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), programs("tags.md"), ids=["change"])
def test_tags(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), programs("associations.md"))
def test_associations(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected

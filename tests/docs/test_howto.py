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


@pytest.mark.parametrize(("text", "expected"), programs("compare.md"), ids=["change"])
def test_compare(text: str, expected: str, tmp_path: Path) -> None:
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
    ids=["levels", "ranges", "strictness", "groups", "validators", "named policies", "reserved fields"],
)
def test_policies(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


@pytest.mark.parametrize(("text", "expected"), programs("documentation.md"))
def test_documentation(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


def test_a_validator_of_an_own_package_is_found_by_its_entry_point(tmp_path: Path) -> None:
    """The package of the page, laid out on the path as an installer does, and the policy that names its validator."""
    page = (HOWTO / "validators.md").read_text("utf-8")
    (project,), (module,) = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("toml", "python"))
    said = tomllib.loads(project)["project"]
    ((name, place),) = said["entry-points"]["treaty.validators"].items()
    info = tmp_path / "acme_rules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {said['name']}\nVersion: {said['version']}\n")
    (info / "entry_points.txt").write_text(f"[treaty.validators]\n{name} = {place}\n")
    (tmp_path / f"{place.partition(':')[0]}.py").write_text(module)
    (validator,) = re.findall(r"--validator '(.*?)'", page)
    assert printed(USE.format(folder=str(tmp_path), validator=validator), tmp_path) == USED


USE = """
import sys
sys.path.insert(0, {folder!r})
import treaty
from treaty import Draft, InvalidSchema, Metadata
from treaty.core.messages.settings import Config

def tried(symbol, centre):
    text = '{{"type": "enum", "name": "E", "symbols": ["' + symbol + '"]}}'
    try:
        return registry.register("s", Draft(text, metadata=Metadata(properties=(("costCentre", centre),)))).version.number
    except InvalidSchema as refusal:
        return [str(one) for one in refusal.faults]

with treaty.connect("memory:") as registry:
    registry.set_config("", Config(level="FORWARD", validators=({validator!r},)))
    for symbol, centre in (("A", "C3"), ("A", "A17"), ("B", "B20")):
        print(tried(symbol, centre))
"""
USED = """\
['the cost centre is C3 at /metadata/properties/costCentre; expected one of A17, B20']
1
['version 1 has the cost centre A17 at /metadata/properties/costCentre; expected A17']
"""


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


def test_the_programs_of_a_page_write_into_folders_of_their_own() -> None:
    """A reader runs all of them in one folder."""
    for page in sorted(HOWTO.glob("*.md")):
        written = [
            {*re.findall(r"""write\.\w+\("(\w+)"\)|checkpointLocation", "(\w+)"|checkpoint="(\w+)\"""", text)}
            for text, _ in programs(page.name)
        ]
        names = [name for one in written for found in one for name in found if name]
        assert len(names) == len({*names}), f"{page.name} writes twice into one folder: {names}"

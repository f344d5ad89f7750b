"""The plug-in on the path as an installed package has it: its entry point too, which nobody installs."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.real.conftest import spark  # noqa: F401 - a fixture
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty_thrift.format import FORMAT
from treaty_thrift.model import ThriftSchema

PROJECT = Path(__file__).parents[1] / "pyproject.toml"


def offer(folder: Path) -> None:
    """Write the metadata of the plug-in as an installed package has them."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    info = folder / f"treaty_thrift-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", "utf-8"
    )
    groups = project["entry-points"].items()
    lines = [line for group, points in groups for line in (f"[{group}]", *(f"{k} = {v}" for k, v in points.items()))]
    (info / "entry_points.txt").write_text("\n".join(lines), "utf-8")


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that makes the plug-in an installed one while it is on the path."""
    folder = tmp_path / "packages"
    offer(folder)
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture
def parse() -> Callable[..., ThriftSchema]:
    """A function from a text, and the texts of its includes by path, to a parsed schema."""

    def parse_text(text: str, strict: bool = True, **included: ResolvedSchema) -> ThriftSchema:  # noqa: FBT001, FBT002 - as of `Format.parse`
        bound = tuple(ResolvedReference(f"{name}.thrift", name, 1, one) for name, one in included.items())
        made: ThriftSchema = FORMAT.parse(ResolvedSchema("THRIFT", text, bound), strict)
        return made

    return parse_text

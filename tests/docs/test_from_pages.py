"""The tables of the pages for users of other tools: every command of Treaty's in them runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real.running import serving

HOWTO = Path(__file__).parents[2] / "docs" / "howto"
ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
INVOICE = '{"type": "record", "name": "Invoice", "fields": [{"name": "order", "type": "Order"}]}'
PROTO = 'syntax = "proto3";\npackage shop;\nmessage Order {\n  int64 id = 1;\n}\n'
KAFKA = (
    "treaty produce",
    "treaty consume",
    "treaty serve",
    "treaty decode",
    "treaty password",
    "treaty import",
    "treaty log",
)


def commands(page: str) -> list[str]:
    """The commands of a page's tables that need no more than a registry and files, in their order."""
    rows = [line.rsplit("|", 2)[-2] for line in (HOWTO / page).read_text("utf-8").splitlines() if line.startswith("| ")]
    found = [one for row in rows for one in re.findall(r"`(treaty [^`]+)`", row)]
    return [one for one in found if "…" not in one and one.count(" ") > 1 and not one.startswith(KAFKA)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with schema files as the tables name them."""
    for name, text in (
        ("order.avsc", ORDER),
        ("invoice.avsc", INVOICE),
        ("order.proto", PROTO),
        ("order.json", '{"id": "7"}'),
    ):
        (tmp_path / name).write_text(text)
    for name in ("old", "schemas"):
        (tmp_path / name).mkdir()
    (tmp_path / "old" / "order.proto").write_text(PROTO)
    (tmp_path / "schemas" / "applied-value.avsc").write_text(ORDER)
    git = "git -c user.name=a -c user.email=a@example.org -c init.defaultBranch=main"
    steps = f"{git} init -q && {git} add . && {git} commit -q -m first"
    subprocess.run(["bash", "-c", steps], cwd=tmp_path, check=True)
    (tmp_path / "order.proto").write_text(PROTO.replace("}\n", "  string note = 2;\n}\n"))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "least"), [("from-confluent.md", 20), ("from-buf.md", 7), ("from-karapace-apicurio.md", 4)]
)
def test_every_command_runs(page: str, least: int, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    todo = commands(page)
    assert len(todo) >= least
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with serving(tmp_path_factory.mktemp("server"), "--log", "memory:") as server:
        env = {**os.environ, "PATH": tools, "TREATY_REGISTRY": server.base}
        if page != "from-confluent.md":  # the first command of that page registers it
            first = "order.proto" if page == "from-buf.md" else "order.avsc"
            todo.insert(0, f"treaty schema register orders-value {first}")
        for command in todo:
            words = shlex.split(command)
            if words[1] in {"promote", "export"}:
                words += ["--registry", server.base]
            done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, timeout=60, check=False)
            advice = words[1] == "lint"
            assert done.returncode in ({0, 1} if advice else {0}), f"{command}\n{done.stdout}{done.stderr}"

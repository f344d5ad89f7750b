"""The pages about Iglu: their commands run, and print what the pages show."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real.running import serving
from treaty import connect

HOWTO = Path(__file__).parents[2] / "docs" / "howto"


def run(commands: str, folder: Path) -> str:
    """Run commands in a folder, with the program of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_static_registry_of_the_page(tmp_path: Path) -> None:
    page = (HOWTO / "iglu-static.md").read_text("utf-8")
    name, text = re.findall(r"^`(schemas/[^`]*)`\n\n```json\n(.*?)```", page, re.DOTALL | re.MULTILINE)[0]
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text(text)
    (commands,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    assert run(commands, tmp_path) == shown.removesuffix("\n")


@pytest.mark.slow
def test_the_server_of_the_page(tmp_path: Path) -> None:
    page = (HOWTO / "iglu-server.md").read_text("utf-8")
    _, commands, labels, _ = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    with serving(tmp_path, "--log", "memory:") as server:
        printed = run(commands.replace("http://127.0.0.1:8081", server.base), tmp_path)
        run(labels.replace("http://127.0.0.1:8081", server.base), tmp_path)
        with connect(server.base) as registry:
            told = {name: registry.group(f"com.acme/{name}/jsonschema") for name in ("click", "view")}
    assert printed == shown
    assert {name: (one.label_policy, one.order) for name, one in told.items()} == {
        "click": ("refuse", "schemaver"),
        "view": ("refuse", "schemaver"),
    }

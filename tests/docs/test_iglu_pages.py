"""The pages about Iglu: their commands run, and print what the pages show."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from click.testing import CliRunner

from tests.real.running import serving
from treaty import connect
from treaty.cli.main import group
from treaty.client.iglu.server_client import IgluServer
from treaty.core.iglu_key import IgluKey
from treaty.wire.iglu.api_keys import digest_of

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


@pytest.mark.slow
def test_schemas_of_an_old_server_come_to_a_new_one_as_public_and_private_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (HOWTO / "from-iglu.md").read_text("utf-8")
    commands = "".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL))
    key = str(uuid4())
    rights = tmp_path / "rights.toml"
    (written,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    rights.write_text(written.replace("…", digest_of(UUID(key))))
    options = ("--log", "memory:", "--auth", str(rights))
    with serving(tmp_path, *options) as old, serving(tmp_path, *options) as new:
        with IgluServer(f"{old.base}/api", key) as server:
            for name, public in (("click", True), ("order", False)):
                for version in ("1-0-0", "1-0-1"):
                    schema = IgluKey.parse(f"iglu:com.acme/{name}/jsonschema/{version}")
                    assert server.put(schema, DESCRIBED, public=public).status == 201
        said = []
        for line in commands.splitlines():
            real = re.sub(r"\$\w*SUPER", key, line)
            for place, base in (("old", old.base), ("new", new.base)):
                real = real.replace(f"https://{place}.example.org", base)
            done = CliRunner().invoke(group, shlex.split(real)[1:])
            assert done.exit_code == 0, (line, done.output)
            said.append(done.output)
        assert [word for word in ("read", "write") if word in said[3]] == ["read", "write"]
        assert said[-1].count("stays public") == 2
        with IgluServer(f"{new.base}/api", key) as all_of_it, IgluServer(f"{new.base}/api") as open_to_all:
            found = [str(one) for one in all_of_it.list_keys()]
            public_ones = [str(one) for one in open_to_all.list_keys()]
    assert found == [f"iglu:com.acme/{name}/jsonschema/1-0-{n}" for name in ("click", "order") for n in (0, 1)]
    assert public_ones == found[:2]


DESCRIBED = b"""{
  "type": "object", "description": "What happened", "properties": {}, "additionalProperties": false
}"""

"""The quick starts of the README do what they say."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from tests.docs.running import printed

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
SERVE = (Path(__file__).parents[2] / "docs" / "howto" / "serve.md").read_text("utf-8")
FIRST = re.search(r"```python\n(.*?)```\n+```text\n(.*?)```", README, re.DOTALL)
"""The one with Spark runs in `test_spark_programs`."""
CURLS = [line for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL) for line in block.splitlines()]


def test_python(tmp_path: Path) -> None:
    assert FIRST
    program, expected = FIRST.groups()

    assert printed(program, tmp_path) == expected


def test_the_refusal_is_what_the_command_prints() -> None:
    shown = re.search(r"```text\n\$ treaty (check -v .*?)\n(.*?)```", README, re.DOTALL)
    assert shown
    command = [str(Path(sys.executable).with_name("treaty")), *shown[1].split()]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stdout == shown[2]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A server as the README starts it, but on a free port and with a file of its own."""
    treaty = Path(sys.executable).with_name("treaty")
    command = [str(treaty), "serve", "--port", "0", "--log", f"sqlite://{tmp_path}/registry.db"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        lines = iter(process.stderr.readline, "")
        yield next(line.split()[-1] for line in lines if "serving" in line)
        process.terminate()


def curl(command: str, server: str) -> object:
    """Do what the command line asks curl for."""
    words = shlex.split(command)
    url = words[-1].replace("http://127.0.0.1:8081", server)
    data = words[words.index("-d") + 1].encode() if "-d" in words else None
    method = words[words.index("-X") + 1] if "-X" in words else None
    with urlopen(Request(url, data, {"Content-Type": "application/json"} if data else {}, method=method)) as answer:
        return json.load(answer)


def test_the_server(server: str, tmp_path: Path) -> None:
    registered, subjects, latest = [curl(line, server) for line in CURLS]

    assert isinstance(registered, dict)
    assert isinstance(latest, dict)
    assert registered["id"] == 1
    assert subjects == ["flights-value"]
    assert latest["schema"] == '{"type":"record","name":"Flight","fields":[{"name":"carrier","type":"string"}]}'

    # The page that a reader opens next runs on the same registry.
    program, alias = re.search(r"```python\n(.*?)```", SERVE, re.DOTALL), re.findall(r"^curl .*", SERVE, re.MULTILINE)
    assert program
    assert int(printed(program[1].replace("http://127.0.0.1:8081", server), tmp_path)) > 1
    _, followed, everything = [curl(line.partition("  #")[0], server) for line in alias]
    assert isinstance(followed, dict)
    assert followed["schema"] == latest["schema"]
    assert "planes-value" in json.dumps(everything)

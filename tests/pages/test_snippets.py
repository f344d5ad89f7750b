"""Programs that a schema page shows run as they are copied, whatever the name of the subject."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.pages.registry import post
from tests.real.running import Running, serving
from treaty.web.schemas.snippets import list_snippets

SUBJECTS = ("orders-value", ':.team:it\'s a "$HOME" é')
TEXT = '{"type":"record","name":"R","fields":[{"name":"amount","type":"int"}]}'
PROGRAMS = {"curl": "sh", "Command line": "sh", "Python": sys.executable, "Confluent's client": sys.executable}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("snippets"), "--log", "memory:") as running:
        for subject in SUBJECTS:
            post(running, f"/subjects/{quote(subject, safe='')}/versions", {"schema": TEXT})
        yield running


@pytest.mark.parametrize("title", PROGRAMS)
def test_a_program_of_a_schema_page_runs(server: Running, tmp_path: Path, title: str) -> None:
    assert title != "curl" or shutil.which("curl"), "no curl is installed: apt-get install curl"
    (tmp_path / "changed.avsc").write_text(TEXT)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for subject in SUBJECTS:
        shown = {one.title: one.text for one in list_snippets(server.base, subject, 1, 1, "AVRO")}
        assert shown.keys() - PROGRAMS.keys() == {"Spark"}, "it needs a JVM and a broker"
        compile(shown["Spark"], "snippet", "exec")
        done = subprocess.run(
            [PROGRAMS[title], "-c", shown[title]],
            cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False, env={**os.environ, "PATH": path},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "amount" in done.stdout

"""The schemas of examples/schemas do in commands what their page says, and so do the commands of the README."""

import re
import shlex
from glob import glob
from pathlib import Path

import pytest
from click.testing import CliRunner

from treaty.cli.main import group
from treaty.testing import TreatyRegistry

ROOT = Path(__file__).parents[2]
TEXTS = [
    (ROOT / page).read_text("utf-8") for page in ("README.md", "examples/schemas/README.md", "docs/howto/check.md")
]
FOUND = [
    found for text in TEXTS for found in re.findall(r"^\.venv/bin/treaty (.* examples/schemas/.*)$", text, re.MULTILINE)
]
SERVER = "http://127.0.0.1:8081"
COMMANDS = sorted({line for line in FOUND if SERVER not in line})


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_runs_as_it_is_written(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = shlex.split(line, comments=True)
    paths = [path for word in words for path in (sorted(glob(word)) if "*" in word else [word])]  # noqa: PTH207 (a shell)
    done = CliRunner().invoke(group, paths)

    advice = words[0] == "lint" and "*.avsc" in line
    finds = advice or (words[0] == "check" and "order-v3" in line)
    assert done.exit_code == finds, done.output
    assert done.stdout
    assert not advice or "shipment.avsc:8:65: LOGICAL_TYPE_IGNORED" in done.stdout


def test_commands_that_need_a_server_run_in_the_order_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    lines = [line for line in FOUND if SERVER in line]
    assert [line.split()[0] for line in lines] == ["schema", "check"]
    with TreatyRegistry() as server:
        for line in lines:
            done = CliRunner().invoke(group, shlex.split(line.replace(SERVER, server.url)))
            assert done.exit_code == 0, done.output


def test_the_page_and_the_readme_name_commands() -> None:
    assert {line.split()[0] for line in COMMANDS} >= {"check", "diff", "lint", "validate", "example", "canonical"}


def test_an_import_is_found_in_the_folder_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = ROOT / "examples" / "schemas"
    Path("alone.proto").write_text((folder / "payment.proto").read_text())
    alone = CliRunner().invoke(group, ["canonical", "alone.proto"])

    assert CliRunner().invoke(group, ["canonical", str(folder / "payment.proto")]).exit_code == 0
    assert alone.exit_code == 2
    assert "give the folder of the other schemas with --reference-folder FOLDER" in alone.stderr
    assert CliRunner().invoke(group, ["canonical", "alone.proto", "--reference-folder", str(folder)]).exit_code == 0

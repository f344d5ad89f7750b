"""The schemas of examples/schemas do in commands what their page says, and so do the commands of the README."""

import re
import shlex
from glob import glob
from pathlib import Path

import pytest
from click.testing import CliRunner

from treaty.cli.main import group

ROOT = Path(__file__).parents[2]
TEXTS = [
    (ROOT / page).read_text("utf-8") for page in ("README.md", "examples/schemas/README.md", "docs/howto/check.md")
]
COMMANDS = sorted(
    {line for text in TEXTS for line in re.findall(r"^\.venv/bin/treaty (.* examples/schemas/.*)$", text, re.MULTILINE)}
)


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_runs_as_it_is_written(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = shlex.split(line, comments=True)
    paths = [path for word in words for path in (sorted(glob(word)) if "*" in word else [word])]  # noqa: PTH207 (a shell)
    done = CliRunner().invoke(group, paths)

    assert done.exit_code == ("order-v3" in line and "check" in line), done.output
    assert done.stdout


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

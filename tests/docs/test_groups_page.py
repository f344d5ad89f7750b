"""The how-to about groups: its commands, run one after the other, print what the page shows."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from treaty.assemble import connect
from treaty.cli.main import group

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "howto" / "groups.md").read_text("utf-8")


def commands() -> Iterator[tuple[str, str]]:
    """Every command of the page's console blocks, with what it prints."""
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        for each in re.split(r"^\$ treaty ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = each.partition("\n")
            yield command, printed


def test_its_commands_print_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    url = f"sqlite://{tmp_path / 'log.db'}"
    connect(url).close()
    found = list(commands())
    assert len(found) > 10
    for command, printed in found:
        done = CliRunner().invoke(group, shlex.split(command), env={"TREATY_REGISTRY": url})
        assert done.exit_code == int(printed.startswith("Error")), (command, done.output)
        head, cut, _ = printed.partition("  …\n")
        assert done.output[: len(head)] == head, command
        assert cut or done.output == printed, command

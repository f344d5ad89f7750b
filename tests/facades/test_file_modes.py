"""Files with what stands in a log are for who may read the log, whatever the mode that other files get."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import run
from treaty.assemble import connect


@pytest.fixture
def log(tmp_path: Path) -> Iterator[str]:
    """The URL of a log, while files that say nothing of their mode may be read and written by everybody."""
    before = os.umask(0)
    try:
        url = f"sqlite://{tmp_path}/log.db"
        with connect(url) as registry:
            registry.register("s", '"string"')
        yield url
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    "words",
    [
        ["info"],
        ["backup", "copy.db"],
        ["dump", "copy.dump"],
        ["dump", "copy.dump.gz"],
        ["dump", "copy.dump.zst"],
        ["state"],
        ["state", "--index"],
    ],
    ids=" ".join,
)
def test_what_is_written_of_a_log_is_for_its_owner_alone(
    log: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    name, *others = words
    result = run("log", name, log, *others)
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in tmp_path.iterdir()}

    assert result.exit_code == 0, result.output
    assert {"log.db", *(each for each in others if each.startswith("copy"))} <= {*modes}
    assert modes == dict.fromkeys(modes, oct(0o600))

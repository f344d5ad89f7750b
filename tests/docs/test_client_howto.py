"""The programs of the how-tos of the client and of testing do what the pages say."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.running import printed
from tests.docs.test_howto import HOWTO, programs
from treaty.client.properties import PROPERTIES
from treaty.client.settings import VARIABLES


@pytest.mark.parametrize(
    ("text", "expected"), programs("client.md"), ids=["asyncio", "nodes", "credentials", "dictionary", "caches"]
)
def test_client(text: str, expected: str, tmp_path: Path) -> None:
    assert printed(text, tmp_path) == expected


def test_testing(tmp_path: Path) -> None:
    ((text, expected),) = programs("testing.md")
    (tmp_path / "test_flights.py").write_text(text)
    quiet = ("-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--import-mode=importlib")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *quiet, "test_flights.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert expected.strip() in run.stdout, run.stdout + run.stderr


def test_every_variable_and_every_name_is_told() -> None:
    page = (HOWTO / "client.md").read_text("utf-8")
    told = set(re.findall(r"`([A-Za-z._*]+)`", page))
    assert set(VARIABLES) <= told
    families = tuple(word.removesuffix("*") for word in told if word.endswith(".*"))
    assert not [name for name in PROPERTIES if name not in told and not name.startswith(families)]

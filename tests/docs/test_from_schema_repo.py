"""The page for users of schema-repo: its commands run, and answer what it shows."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.real.running import serving

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "from-schema-repo.md").read_text("utf-8")


@pytest.mark.slow
def test_its_commands_answer_what_it_shows(tmp_path: Path) -> None:
    (commands,) = re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
    (shown,) = re.findall(r"The answers are:\n\n```text\n(.*?)```", PAGE, re.DOTALL)
    printed = []
    with serving(tmp_path, "--log", "memory:") as server:
        for line in commands.replace("http://127.0.0.1:8081", server.base).splitlines():
            done = subprocess.run(
                ["bash", "-c", line.replace("curl", "curl -sS --fail-with-body")],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, (line, done.stdout, done.stderr)
            printed.append(done.stdout.removesuffix("\n"))
    assert "\n".join(printed) + "\n" == shown


def test_the_page_names_the_statuses_that_are_answered() -> None:
    table = PAGE.split("## How errors map")[1].split("## What differs")[0]
    assert re.findall(r"^\| (\d[\d, ]*) ", table, re.MULTILINE) == [
        "400",
        "401",
        "403",
        "404",
        "406",
        "409",
        "413, 415",
        "503, 504",
    ]

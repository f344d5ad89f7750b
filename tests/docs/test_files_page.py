"""The page on files that become a table: its program, its description and its commands, in an empty folder."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.docs.running import printed
from treaty.cli.pipeline.description import read_description

PAGE = (Path(__file__).parents[2] / "docs/howto/files-into-tables.md").read_text("utf-8")
BLOCKS = re.findall(r"```(python|toml|sh|text)\n(.*?)```", PAGE, re.DOTALL)
VARYING = re.compile(r"[\d.]+ s\b|[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
"""Durations, ids and times."""


def write_files(folder: Path) -> None:
    """Write the files of the page, under the names that it gives them."""
    for kind, name in (("python", "make_files.py"), ("toml", "rides.toml")):
        (folder / name).write_text(next(text for each, text in BLOCKS if each == kind), "utf-8")


def test_the_program_writes_frames_and_the_description_is_read(tmp_path: Path) -> None:
    write_files(tmp_path)
    assert printed((tmp_path / "make_files.py").read_text("utf-8"), tmp_path) == ""
    assert sum(pq.ParquetFile(file).metadata.num_rows for file in (tmp_path / "landing").iterdir()) == 2000
    described = read_description(tmp_path / "rides.toml", {"PWD": str(tmp_path)})
    assert described.registry == f"sqlite:///{tmp_path}/registry.db"
    assert (described.name, described.pipeline.bad_table.place) == ("rides", "./lake/rides_bad")


@pytest.mark.jvm
@pytest.mark.soak  # two starts of Spark; the commands themselves are tested with one session for all
@pytest.mark.rest
def test_the_commands_print_what_the_page_says(tmp_path: Path) -> None:
    write_files(tmp_path)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PWD": str(tmp_path)}
    script = "echo ====\n".join(text for kind, text in BLOCKS if kind == "sh")
    done = subprocess.run(
        ["bash", "-ec", f"exec 2>&1\n{script}"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    lines = [line for line in done.stdout.splitlines(keepends=True) if not line.startswith("the first batch")]
    outputs = [VARYING.sub("", output) for output in "".join(lines).split("====\n")]
    assert outputs == [VARYING.sub("", text) for kind, text in BLOCKS if kind == "text"]

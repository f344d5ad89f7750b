"""The pages about queries and their tests: each command is typed beside a server and a planner, and prints what the page shows."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.behaviours.served import served
from tests.docs.test_metastore_pages import BLOCKS, QUERIES, page_text, play, typed_lines
from treaty.cli.main import group

pytestmark = [pytest.mark.jvm, pytest.mark.soak, pytest.mark.rest]
_FILES = re.compile(r"```sql\n-- (metastore/\S+)\n(.*?)```", re.DOTALL)
_WAITING = re.compile(r"^(waiting for .*|planning(, .*)?|starting Spark|running .*)\n", re.MULTILINE)
"""Notices of a terminal whose answer takes long."""
READY = re.compile(r"planner \S+ is ready\n")


@contextmanager
def planner(command: str, url: str) -> Iterator[str]:
    """What a planner says first; it plans for the block."""
    words = command.replace("http://127.0.0.1:8081", url).split()
    process = subprocess.Popen(
        [sys.executable, "-m", "treaty.cli.main", *words[1:]],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        yield next((line for line in process.stderr if READY.fullmatch(line)), "it ended before it was ready")
    finally:
        process.terminate()
        process.communicate()


def test_queries_are_planned_and_run_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        line
        for kind, block, _ in BLOCKS.findall(page_text("queries"))
        if kind == "console"
        for line in typed_lines(block)
    ]
    (start,) = (typed for _, typed, _ in lines if typed.startswith("treaty planner"))
    with served("memory:") as running, planner(start, running.url) as said:
        assert READY.fullmatch(said), said
        for prompt, typed, shown in lines:
            if typed != start:
                printed = _WAITING.sub("", play(prompt, typed, running.url, tmp_path))
                assert not shown or printed == shown, typed
    assert len(lines) > 10


def test_tests_print_what_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page_text("sql-tests")
    (tmp_path / "metastore").mkdir()
    for name, content in _FILES.findall(text):
        (tmp_path / name).write_text(content)
    lines = [line for kind, block, _ in BLOCKS.findall(text) if kind == "console" for line in typed_lines(block)]
    with served("memory:") as running:
        printed = [_WAITING.sub("", play(prompt, typed, running.url, tmp_path)) for prompt, typed, _ in lines]
    assert printed == [shown for _, _, shown in lines]
    assert (tmp_path / "results.xml").read_text().startswith("<")
    test = tmp_path / "metastore" / "delays.test.sql"
    test.write_text(test.read_text().replace("('AA', 2, 20.0)", "('AA', 2, 25.0)"))
    failed = CliRunner().invoke(group, ["test", "metastore/"])
    (sentence,) = re.findall(r"shown with its columns: `(.*?)`", text)
    assert (failed.exit_code, sentence in failed.output) == (1, True), failed.output


def test_the_tutorial_goes_on_to_a_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before, queries = page_text("sql-tutorial").split(QUERIES)
    lines = [
        [line for kind, block, _ in BLOCKS.findall(text) if kind == "console" for line in typed_lines(block)]
        for text in (before, queries)
    ]
    (create,) = (line for line in lines[0] if line[1].startswith("CREATE STREAM flights"))
    (start,) = (typed for _, typed, _ in lines[1] if typed.startswith("treaty planner"))
    with served("memory:") as running, planner(start, running.url) as said:
        assert READY.fullmatch(said), said
        for prompt, typed, shown in (create, *lines[1]):
            if typed != start:
                assert _WAITING.sub("", play(prompt, typed, running.url, tmp_path)) == shown, typed
    assert len(lines[1]) == 8

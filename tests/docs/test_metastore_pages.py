"""The pages about the metastore: what they type prints what they show, and their programs run, in one folder for each page."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.behaviours.served import served
from tests.docs.running import printed
from treaty.cli.main import group
from treaty.cli.metastore.shell import LISTING

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "howto"
SERVER = "http://127.0.0.1:8081"
PAGES = ("sql-tutorial", "metastore", "metastore-embedded", "from-ksqldb", "from-flink-risingwave", "README")
QUERIES = "\n## 9. A query\n"
"""Where the tutorial goes on to queries, which need Spark: a test of their own plays them."""
_FILE = re.compile(r"part-[0-9a-f-]{36}")
BLOCKS = re.compile(r"```(console|python)\n(.*?)```(?:\n+```text\n(.*?)```)?", re.DOTALL)
_TYPED = re.compile(r"^(\$ |treaty> )", re.MULTILINE)


def page_text(page: str) -> str:
    """The text of a page."""
    return (ROOT if page == "README" else DOCS).joinpath(f"{page}.md").read_text("utf-8")


def typed_lines(block: str) -> Iterator[tuple[str, str, str]]:
    """What is typed in a console block: its prompt, the text, and what is printed after it."""
    pieces = _TYPED.split(block)[1:]
    for prompt, piece in zip(pieces[::2], pieces[1::2], strict=True):
        lines = piece.split("\n")
        count = 1
        if "<<'EOF'" in lines[0]:
            count = lines.index("EOF") + 1
        elif prompt == "treaty> ":
            while lines[count - 1 : count] and count < len(lines) and lines[count].startswith("   ...> "):
                count += 1
        typed = [line.removeprefix("   ...> ") for line in lines[:count]]
        yield prompt, "\n".join(typed), "\n".join(lines[count:])


def play(prompt: str, typed: str, url: str, folder: Path) -> str:
    """Return what a typed text prints, with the URL of the page in place of the real one."""
    if (prompt == "$ " and typed.startswith(("export ", "treaty serve"))) or typed == "treaty sql":
        return ""
    if prompt == "$ " and not typed.startswith("treaty "):
        text = typed.replace(SERVER, url)
        run = subprocess.run(["bash", "-ec", text], cwd=folder, capture_output=True, text=True, check=True)
        return run.stdout if not run.stdout or run.stdout.endswith("\n") else f"{run.stdout}\n"
    statement = LISTING if typed == "\\d" else typed
    words = shlex.split(typed)[1:] if prompt == "$ " else ["sql", "-e", statement]
    done = CliRunner().invoke(group, words, env={"TREATY_REGISTRY": url})
    shown = (
        done.output.replace(str(folder), "/FOLDER") if url.startswith("sqlite:") else done.output.replace(url, SERVER)
    )
    return _FILE.sub("part-…", shown)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_shows(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page_text(page).split(QUERIES)[0]
    with served("memory:") as running:
        url = f"sqlite://{tmp_path}/registry.db" if page == "metastore-embedded" else running.url
        count = 0
        for kind, block, expected in BLOCKS.findall(text):
            if kind == "python":
                if page != "README":  # its programs run in tests of their own
                    assert printed(block.replace(SERVER, url), tmp_path).startswith(expected)
                continue
            for prompt, typed, shown in typed_lines(block):
                count += 1
                assert play(prompt, typed, url, tmp_path) == shown, typed
    assert count > 2

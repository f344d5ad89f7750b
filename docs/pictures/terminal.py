"""Takes the pictures of the terminal: commands that run in an empty folder, with what they print, as SVG: `make pictures`."""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import BinaryIO

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

FOLDER = Path(__file__).parent
WIDTH = 100
STREAM = (
    "CREATE STREAM flights (id BIGINT KEY, carrier STRING NOT NULL COMMENT 'two letters', delay INT) "
    "WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO')"
)
WRONG = "CREATE STREAM gates (gate STRING) WITH (KAFKA_TOPC = 'gates', VALUE_FORMAT = 'AVRO')"
SQL = (
    ("sql", "-e", STREAM),
    ("sql", "-e", "DESCRIBE flights"),
    ("sql", "-e", "SELECT subject, version, format FROM treaty.versions"),
    ("sql", "-e", WRONG),
)
"""Commands of the picture of `treaty sql`."""
PLAN = (("apply", "sql", "--yes"), ("apply", "sql"))
"""Commands of the picture of a plan, over a folder of which a part is applied."""
FILES = {
    "flights.sql": "CREATE STREAM flights (id BIGINT KEY, carrier STRING, gate STRING)\nWITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO');\n",
    "carriers.sql": "CREATE TABLE carriers (code STRING PRIMARY KEY, name STRING)\nWITH (KAFKA_TOPIC = 'carriers', VALUE_FORMAT = 'AVRO');\n",
    "treaty.toml": '[project]\nlabel = "flights"\n',
}
TEMPLATE = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
"""The form of a picture, with fonts of the reader's machine: none is fetched."""


def run(words: Sequence[str], folder: Path) -> str:
    """Return what a command prints on stderr, and then with its colours what it prints to a terminal."""
    environment = {
        **os.environ,  # noqa: TID251 (the program's own, for its search path)
        "TREATY_REGISTRY": f"sqlite://{folder}/registry.db",
        "COLUMNS": str(WIDTH),
    }
    command = [sys.executable, "-m", "treaty.cli.main", *words]
    ours, terminal = os.openpty()
    with os.fdopen(ours, "rb") as screen:
        done = subprocess.Popen(command, cwd=folder, env=environment, stdout=terminal, stderr=subprocess.PIPE)  # noqa: S603 (a program of Treaty's own)
        os.close(terminal)
        _, errors = done.communicate()
        return (errors + b"".join(read_screen(screen))).decode().replace("\r\n", "\n").rstrip("\n")


def read_screen(screen: BinaryIO) -> Iterator[bytes]:
    """Yield what a program has printed to a terminal; a terminal without a program is an error on Linux."""
    with suppress(OSError):
        while block := os.read(screen.fileno(), 65_536):
            yield block


def take(name: str, title: str, commands: Sequence[Sequence[str]], folder: Path) -> None:
    """Write the picture of commands that are run one after the other."""
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor")
    for words in commands:
        shown = " ".join(word if word.isidentifier() or word.startswith("-") else quote(word) for word in words)
        console.print(Text.assemble(("$ ", "bold green"), (f"treaty {shown}", "bold")), soft_wrap=False)
        console.print(Text.from_ansi(run(words, folder)))
    picture = console.export_svg(title=title, theme=MONOKAI, code_format=TEMPLATE, unique_id=f"terminal-{name}")
    text = "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"
    FOLDER.joinpath(f"{name}.svg").write_text(text, "utf-8")


def quote(word: str) -> str:
    """Return an argument as one types it."""
    return f'"{word}"' if "'" in word else shlex.quote(word)


def main() -> None:
    """Take both pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(("sql", "-e", "SHOW STREAMS"), folder)
        take("sql", "treaty sql", SQL, folder)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.joinpath("sql").mkdir()
        for file, text in FILES.items():
            folder.joinpath("sql", file).write_text(text.replace(", gate STRING", ""), "utf-8")
        folder.joinpath("sql", "carriers.sql").unlink()
        run(("apply", "sql", "--yes"), folder)
        for file, text in FILES.items():
            folder.joinpath("sql", file).write_text(text, "utf-8")
        take("plan", "treaty apply", PLAN, folder)


if __name__ == "__main__":
    main()

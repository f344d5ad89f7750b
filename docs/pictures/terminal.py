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
WIDTH, WIDE = 100, 150
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
DELAYED = "CREATE STREAM flights (id BIGINT, carrier STRING, delay INT) WITH (CONNECTOR = 'files', PATH = 'flights', VALUE_FORMAT = 'AVRO')"
OTHER = DELAYED.replace("flights", "archive")
DELAYS = "CREATE TABLE delays WITH (CONNECTOR = 'delta', PATH = 'delays') AS SELECT {} GROUP BY carrier"
COUNTS = "carrier, count(*) AS n FROM STREAM flights WHERE delay > 3"
CHANGES = {
    "same": DELAYS.format(COUNTS),
    "compatible": DELAYS.format(COUNTS.replace("count(*) AS n", "count(*) AS n, count(*) * 2 AS twice")),
    "source-change": DELAYS.format(COUNTS.replace("flights", "archive")),
    "stateful-change": DELAYS.format(COUNTS.replace("> 3", "> 5")),
}
"""By what a change is called: a statement that makes it of the query COUNTS."""
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


def run(words: Sequence[str], folder: Path, width: int = WIDTH) -> str:
    """Return what a command prints on stderr, and then with its colours what it prints to a terminal."""
    environment = {
        **os.environ,  # noqa: TID251 (the program's own, for its search path)
        "TREATY_REGISTRY": f"sqlite://{folder}/registry.db",
        "COLUMNS": str(width),
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


def take(name: str, commands: Sequence[Sequence[str]], folder: Path, *, width: int = WIDTH, end: str = "") -> None:
    """Write the picture of commands that are run one after the other, of each up to the line that begins with `end`."""
    console = Console(record=True, width=width, file=StringIO(), force_terminal=True, color_system="truecolor")
    for words in commands:
        shown = " ".join(word if word.isidentifier() or word.startswith("-") else quote(word) for word in words)
        console.print(Text.assemble(("$ ", "bold green"), (f"treaty {shown}", "bold")), soft_wrap=False)
        output = run(words, folder, width)
        cut = output.find(f"\n{end}") if end else -1
        console.print(Text.from_ansi(output if cut < 0 else f"{output[:cut]}\n…"))
    picture = console.export_svg(
        title=f"treaty {commands[0][0]}", theme=MONOKAI, code_format=TEMPLATE, unique_id=f"terminal-{name}"
    )
    text = "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"
    FOLDER.joinpath(f"{name}.svg").write_text(text, "utf-8")


def quote(word: str) -> str:
    """Return an argument as one types it."""
    return f'"{word}"' if "'" in word else shlex.quote(word)


def take_changes(folder: Path) -> None:
    """Write a picture of each kind of change to a query, with what `EXPLAIN REPLACE` says of it."""
    planned = ("sql", "--planner", "local", "-e")
    run((*planned, f"{DELAYED}; {OTHER}; {CHANGES['same']}"), folder)
    for name, statement in CHANGES.items():
        explained = (*planned, f"EXPLAIN REPLACE {statement}")
        take(f"change-{name}", [explained], folder, width=WIDE, end="output mode")


def main() -> None:
    """Take all pictures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(("sql", "-e", "SHOW STREAMS"), folder)
        take("sql", SQL, folder)
    with tempfile.TemporaryDirectory() as name:
        take_changes(Path(name))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.joinpath("sql").mkdir()
        for file, text in FILES.items():
            folder.joinpath("sql", file).write_text(text.replace(", gate STRING", ""), "utf-8")
        folder.joinpath("sql", "carriers.sql").unlink()
        run(("apply", "sql", "--yes"), folder)
        for file, text in FILES.items():
            folder.joinpath("sql", file).write_text(text, "utf-8")
        take("plan", PLAN, folder)


if __name__ == "__main__":
    main()

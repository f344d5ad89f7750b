"""Reads lines of `treaty sql` from a terminal, with editing, completion and a history that stays (HISTORY_STATEMENTS).

It is the `readline` of the standard library, which is loaded in a few milliseconds and needs no further package. Python on
Windows has none: there lines have no completion and no history.
"""

import json
import os
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Self

from treaty.cli.metastore.completion import SqlCompleter

HISTORY_STATEMENTS = 1_000
"""Statements that the history keeps."""
HISTORY_CHARACTERS = 100_000
"""Characters of a statement that the history keeps; longer ones are forgotten."""
_DELIMITERS = " \t\n,()=;'\"<>"


def history_path() -> Path:
    """Return the file of the history: below XDG_STATE_HOME, by default ~/.local/state."""
    state = os.environ.get("XDG_STATE_HOME", "")  # noqa: TID251 (a convention of terminals, no setting of Treaty)
    folder = Path(state) if state.startswith("/") else Path.home() / ".local" / "state"
    return folder / "treaty" / "sql_history"


class LineEditor:
    """Reads lines. As a context manager it loads the history and writes it at the end."""

    def __init__(self, completer: SqlCompleter, path: Path | None = None) -> None:
        """Set up completion."""
        self._readline = _load_readline()
        self._completer = completer
        self._path = path or history_path()
        self._before = ""
        self._found: list[str] = []

    def __enter__(self) -> Self:
        """Load the history and turn completion on."""
        line = self._readline
        if line is not None:
            line.set_completer(self._complete)
            line.set_completer_delims(_DELIMITERS)
            line.parse_and_bind("bind ^I rl_complete" if "libedit" in (line.__doc__ or "") else "tab: complete")
            line.set_auto_history(False)
            for statement in read_history(self._path):
                line.add_history(statement)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Turn completion off."""
        if self._readline is not None:
            self._readline.set_completer(None)

    def read(self, prompt: str, before: str) -> str:
        """Return a line; `before` is what the statement has so far. Raises EOFError at the end of the input."""
        self._before = before
        return input(prompt)

    def remember(self, statement: str) -> None:
        """Add a statement to the history, and to its file at once."""
        if self._readline is None or not statement or len(statement) > HISTORY_CHARACTERS:
            return
        self._readline.add_history(statement)
        write_history(self._path, statement)

    def _complete(self, word: str, number: int) -> str | None:
        assert self._readline is not None
        if number == 0:
            line = self._readline.get_line_buffer()[: self._readline.get_begidx()]
            self._found = list(self._completer.find(f"{self._before}\n{line}", word))
        return self._found[number] if number < len(self._found) else None


def _load_readline() -> ModuleType | None:
    try:
        import readline  # noqa: PLC0415 (it changes `input`, and Windows has none)
    except ImportError:
        return None
    return readline


def read_history(path: Path) -> list[str]:
    """Return the statements of a history, the oldest first; none where it can't be read."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()[-HISTORY_STATEMENTS:]
    except OSError:
        return []
    return [statement for line in lines if (statement := _read_line(line))]


def _read_line(line: str) -> str:
    try:
        statement = json.loads(line)
    except ValueError:
        return ""
    return statement if isinstance(statement, str) else ""


def write_history(path: Path, statement: str) -> None:
    """Add a statement to a history that its user alone can read; the oldest go past HISTORY_STATEMENTS. A folder that can't be
    written has no history.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(statement) + "\n")
        lines = path.read_text("utf-8", "replace").splitlines(keepends=True)
        if len(lines) > 2 * HISTORY_STATEMENTS:
            path.write_text("".join(lines[-HISTORY_STATEMENTS:]), "utf-8")
    except OSError:
        return

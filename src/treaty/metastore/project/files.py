"""The files of a project: which are read, and what is wrong with them."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from treaty.core.limits import PROJECT_FILES, SCRIPT_BYTES
from treaty.core.refusals import Invalid, Reason

SUFFIX = ".sql"


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file of statements: its path as messages name it, from the current folder, and its text."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class ProjectProblem:
    """What is wrong in a file, with its place: line and column count from 1, 0 is no place in the file."""

    file: str
    line: int
    column: int
    rule: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        place = f":{self.line}:{self.column}" if self.line else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.file}{place}: {self.rule} {self.message}{hint}"


class InvalidProjectError(Invalid):
    """The files of a project have errors; `problems` has all of them. Nothing was written."""

    def __init__(self, problems: Sequence[ProjectProblem]) -> None:
        """Take the first problem as the reason, and all of them as its details."""
        first = problems[0]
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        details = tuple(map(str, problems))
        super().__init__(Reason(first.rule, f"{first}{more}", path=first.file, allowed=first.hint, details=details))
        self.problems = tuple(problems)


def read_project_files(path: str | Path) -> tuple[ProjectFile, ...]:
    """Return the file of a path, or all files of a folder and the folders in it that end in ``.sql``, by path.

    Their paths begin with `path` as it stands, so that messages name what a reader can open.
    Names that begin with a dot or an underscore are left out. Raises `InvalidProjectError` for files that can't be read, that
    are no UTF-8 or too large, for too many of them, and for a folder without any.
    """
    root = Path(path)
    if not root.is_dir():
        return (_read_file(root, str(path)),)
    paths = sorted(_list_files(root))
    if not paths:
        hint = f"give the folder whose files end in {SUFFIX}, or such a file"
        raise InvalidProjectError([ProjectProblem(str(path), 0, 0, "PROJECT_EMPTY", "no file of SQL is here", hint)])
    if len(paths) > PROJECT_FILES:
        message = f"{len(paths)} files are more than the limit PROJECT_FILES of {PROJECT_FILES}"
        raise InvalidProjectError([ProjectProblem(str(path), 0, 0, "PROJECT_FILES", message, "two projects")])
    return tuple(_read_file(root / name, str(root / name)) for name in paths)


def has_project_files(path: str | Path) -> bool:
    """Return whether a path is a file of SQL, or a folder with one in it."""
    root = Path(path)
    return any(True for _ in _list_files(root)) if root.is_dir() else root.suffix == SUFFIX


def _list_files(root: Path) -> Iterator[str]:
    for folder, names, files in os.walk(root):
        names[:] = sorted(name for name in names if not name.startswith((".", "_")))
        inside = Path(folder).relative_to(root)
        for name in files:
            if name.endswith(SUFFIX) and not name.startswith((".", "_")):
                yield (inside / name).as_posix()


def _read_file(path: Path, name: str) -> ProjectFile:
    try:
        size = path.stat().st_size
        if size > SCRIPT_BYTES:
            message = f"the file has {size} bytes, and the limit SCRIPT_BYTES is {SCRIPT_BYTES}"
            raise InvalidProjectError([ProjectProblem(name, 0, 0, "PROJECT_FILE", message, "smaller files")])
        return ProjectFile(name, path.read_text("utf-8"))
    except OSError as error:
        message = f"the file can't be read: {error.strerror}"
        hint = "a file of statements, or a folder of them"
    except UnicodeDecodeError as error:
        message = f"the file is not UTF-8: byte {error.start} is {error.object[error.start]:#04x}"
        hint = "save it as UTF-8"
    raise InvalidProjectError([ProjectProblem(name, 0, 0, "PROJECT_FILE", message, hint)])

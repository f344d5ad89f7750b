"""A plugin of pytest: which blocks of Treaty each test runs, and which tests fail. `-p tests.mutants.recording`.

Each block of statements in `src/treaty` begins with a note of itself, put in when the module is imported; that costs a tenth of the time, where
a tracer would double it. Nothing of Treaty may be imported before this plugin is.
"""

import ast
import builtins
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType

import pytest

RECORD, FAILED, CHOSEN = "TREATY_MUTANTS_RECORD", "TREATY_MUTANTS_FAILED", "TREATY_MUTANTS_CHOSEN"
"""Settings: a folder for what tests run, one file for each process; a file for failures; a file with the ids of tests to run, and no others."""
SOURCES = Path(__file__).parents[2] / "src" / "treaty"
NOTE = "__treaty_ran__"

_folder, _failed, _chosen = (
    os.environ.get(RECORD),
    os.environ.get(FAILED),
    os.environ.get(CHOSEN),
)  # tests take settings of Treaty out of their environment
_numbers: dict[str, int] = {}
_ran: set[str] = set()


@dataclass(frozen=True, slots=True)
class Block:
    """Statements of a function. `name` is the outermost function around them, and how far below its first line they begin."""

    name: str
    statements: list[ast.stmt]
    first: int
    """The first of them that is no docstring."""

    @property
    def lines(self) -> tuple[int, int]:
        """The first and the last line."""
        return self.statements[self.first].lineno, self.statements[-1].end_lineno or 0


def blocks_of(tree: ast.Module) -> list[Block]:
    """All blocks inside functions; inner ones come after those around them."""
    return [one for one in _blocks(tree, "", 0) if one.first < len(one.statements)]


def _blocks(node: ast.AST, path: str, top: int) -> Iterator[Block]:
    """The blocks in a node; `top` is the line of the outermost function around it, or 0."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not top:
        path = f"{path}.{node.name}" if path else node.name
        top = 0 if isinstance(node, ast.ClassDef) else node.lineno
    if top and not isinstance(node, ast.ClassDef | ast.Lambda):
        first = 0
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = int(ast.get_docstring(node, clean=False) is not None)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                at = block[min(first, len(block) - 1)].lineno
                yield Block(f"{path}+{at - top}", block, first if name == "body" else 0)
    for child in ast.iter_child_nodes(node):
        yield from _blocks(child, path, top)


def block_around(source: str, line: int) -> str:
    """The name of the innermost block of a file that has a line; empty outside of functions."""
    around = [one for one in blocks_of(ast.parse(source)) if one.lines[0] <= line <= one.lines[1]]
    return around[-1].name if around else ""


def _noting(source: bytes, path: str) -> CodeType:
    tree = ast.parse(source, path)
    file = str(Path(path).relative_to(SOURCES))
    for block in blocks_of(tree):
        at = block.statements[block.first]
        note = ast.parse(f"{NOTE}({f'{file}:{block.name}'!r})").body[0]
        for one in ast.walk(note):
            ast.copy_location(one, at)
        block.statements.insert(block.first, note)
    return compile(tree, path, "exec", dont_inherit=True)


def install() -> None:
    """Have modules of Treaty note what runs, those that are imported from now on."""
    setattr(builtins, NOTE, _ran.add)
    plain = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        return _noting(self.get_data(path), path) if path.startswith(f"{SOURCES}/") else plain(self, fullname)

    setattr(SourceFileLoader, "get_code", get_code)  # noqa: B010 (mypy refuses the assignment)


if _folder:
    install()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Write what a test has run, and its seconds of processor time, with those of programs that it has waited for."""
    _ran.clear()
    begun = sum(os.times()[:4])
    result = yield
    if _folder:
        seconds = round(sum(os.times()[:4]) - begun, 3)
        new = [one for one in _ran if one not in _numbers]
        for one in new:
            _numbers[one] = len(_numbers)
        row = {"test": item.nodeid, "seconds": seconds, "ran": [_numbers[one] for one in _ran], "new": new}
        with (Path(_folder) / f"{os.getpid()}.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the chosen tests; one that has another name by now is not there, which is no error."""
    if _chosen:
        chosen = set(json.loads(Path(_chosen).read_text()))
        items[:] = [item for item in items if item.nodeid in chosen or item.nodeid.partition("::")[0] in chosen]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write a test that fails, in the process that collects the reports."""
    if report.failed:
        _write_failure(report, report.duration)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Write a file that can't be collected, as a test of its name."""
    if report.failed:
        _write_failure(report, 0.0)


def _write_failure(report: pytest.TestReport | pytest.CollectReport, seconds: float) -> None:
    if _failed and not os.environ.get("PYTEST_XDIST_WORKER"):
        crash = getattr(report.longrepr, "reprcrash", None)
        place = f"{crash.path}:{crash.lineno} {crash.message.partition(':')[0]}" if crash else ""
        row = {"test": report.nodeid, "place": place, "seconds": round(seconds, 2)}
        with Path(_failed).open("a") as file:
            file.write(json.dumps(row) + "\n")

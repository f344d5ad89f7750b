"""What the nearest tests do not find is planted together in one copy of the tree, and everything is run there once.

Each failure is then attributed: the tests that failed run with each mutant that they cover alone, and with none.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from tests.mutants.nearest import LIVES, QUICK, Coverage, file_of, pytest_command
from tests.mutants.recording import FAILED
from tests.mutants.results import Verdict
from tests.mutants.sample import ROOT, SOURCES, Mutant
from tests.mutants.worker import HANG_SECONDS, Order, Worker
from tests.planted.planting import TargetMovedError, place_of

TESTS = 60
"""How many of the tests that failed are run with one mutant, those first that run least."""


def copy_tree(target: Path) -> None:
    """Copy what git has of the checkout, as it is now, and lend it the environment."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    (target / ".venv").symlink_to(ROOT / ".venv")


def plant(tree: Path, mutants: Iterable[Mutant]) -> list[Mutant]:
    """Write edits into a copy of the tree; returns those that met another one and are left out."""
    left: list[Mutant] = []
    for one in mutants:
        file = tree / "src" / "treaty" / one.file
        source = file.read_text()
        try:
            begin, end = place_of(source, one.function, one.old)
            changed = source[:begin] + one.new + source[end:]
            compile(changed, one.file, "exec", dont_inherit=True)
        except (TargetMovedError, SyntaxError):
            left.append(one)
            continue
        file.write_text(changed)
    return left


def failing_tests(tree: Path, workers: int, seconds: float) -> list[str]:
    """The tests of `make quick`, and the lives of `make test`, that fail in a copy of the tree."""
    plugin = ("--tb=no", "--timeout=300", "-n", str(workers))
    quick = _run(tree, seconds, (*QUICK, *plugin))
    return [
        *dict.fromkeys(quick + _run(tree, seconds, ("-m", "not soak", "--hypothesis-profile=share", *plugin, *LIVES)))
    ]


def _run(tree: Path, seconds: float, options: Sequence[str]) -> list[str]:
    """The tests that fail in a copy of the tree, with these options."""
    failed = tree / ".failed"
    failed.unlink(missing_ok=True)
    paths = f"{tree / 'src'}{os.pathsep}{tree}"
    environment = {**os.environ, FAILED: str(failed), "PYTHONPATH": paths}
    command = pytest_command("-p", "tests.mutants.recording", *options)
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.DEVNULL, check=False, timeout=seconds)
    return [json.loads(line) for line in failed.read_text().splitlines()] if failed.exists() else []


def attribute(
    mutants: Sequence[Mutant], failed: Sequence[str], known: Coverage, report: Callable[[Verdict], None]
) -> set[str]:
    """Say of each mutant which of the tests that failed finds it alone. Returns the tests that nothing explains.

    A test that fails without any mutant too explains nothing.
    """
    sizes = {test: known.sizes[number] for number, test in enumerate(known.tests)}
    left = set(failed)
    broken: set[str] = set()
    with Worker(sorted({file_of(test) for test in failed})) as worker:
        for one in mutants:
            covering = {known.tests[number] for number in known.of(one)}
            near = [test for test in failed if test in covering or test not in sizes]
            near.sort(key=lambda test: sizes.get(test, len(known.by_block)))
            found = _first_failure(worker, near[:TESTS], one, broken)
            report(Verdict(one.key, "all", found))
            if found:
                left -= set(near)
    return left - broken


def _first_failure(worker: Worker, tests: Sequence[str], mutant: Mutant, broken: set[str]) -> str:
    """The first test that fails with a mutant and passes without one; empty where there is none."""
    while waiting := [test for test in tests if test not in broken]:
        found = find(worker, waiting, mutant)
        if found in {"", "hang"} or not worker.ask(Order([found])).failed:
            return found
        broken.add(found)
    return ""


def find(worker: Worker, tests: Sequence[str], mutant: Mutant) -> str:
    """The first of some tests that fails with a mutant, `hang`, or nothing.

    Functions that were made when modules were loaded keep their code. Where the changed code did not run, a process of
    its own runs the tests in a copy of the tree.
    """
    came = worker.ask(Order(tests, mutant.edit))
    if came.failed or came.hung:
        return came.failed[0] if came.failed else "hang"
    return "" if came.ran else _find_cold(tests, mutant)


def _find_cold(tests: Sequence[str], mutant: Mutant) -> str:
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_tree(tree)
        if plant(tree, [mutant]):
            return ""
        failed = _run(tree, 4 * HANG_SECONDS, ("-x", "--tb=no", "--hypothesis-profile=quick", *tests))
    return failed[0] if failed else ""


def run_together(
    mutants: Sequence[Mutant], known: Coverage, report: Callable[[Verdict], None], *, workers: int, seconds: float
) -> set[str]:
    """Plant mutants together, run everything, and attribute what fails. Those that meet another one come in a tree of their own.

    Returns the tests that failed and that no mutant explains alone.
    """
    unexplained: set[str] = set()
    waiting = [*mutants]
    while waiting:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder)
            copy_tree(tree)
            left = plant(tree, waiting)
            planted = [one for one in waiting if one not in left]
            if not planted:
                break
            failed = failing_tests(tree, workers, seconds)
        unexplained |= attribute(planted, failed, known, report)
        waiting = left
    return unexplained


def breaks_imports(mutant: Mutant) -> bool:
    """Whether Treaty can't be imported with a mutant that no test runs: it may run when modules are loaded."""
    program = (
        "import importlib, pkgutil, treaty\n"
        "for one in pkgutil.walk_packages(treaty.__path__, 'treaty.'):\n"
        "    if not one.name.endswith('__main__'):\n"
        "        importlib.import_module(one.name)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        shutil.copytree(SOURCES, tree / "src" / "treaty")
        if plant(tree, [mutant]):
            return False
        environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
        command = [str(ROOT / ".venv" / "bin" / "python"), "-c", program]
        return subprocess.run(command, env=environment, capture_output=True, check=False).returncode != 0

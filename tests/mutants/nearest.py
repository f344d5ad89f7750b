"""The tests that are nearest to a mutant: of those that run its block, the ones that run least beside it, from different files."""

import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from tests.mutants.recording import RECORD, block_around
from tests.mutants.sample import ROOT, SOURCES, Mutant
from tests.slow import WHOLE

STORE = ROOT / ".mutants"
"""What was measured: not part of the repository."""
RECORDED = STORE / "coverage.json"
QUICK = ("-m", "not jvm and not slow and not soak", "--hypothesis-profile=quick", "--cases")
NO_FINDERS = ("tests/house", "tests/planted", "tests/mutants")
"""Tests of the text of the code, and of mistakes that are known: they find an edit for another reason than its mistake."""
LIVES = (
    "tests/simulation/test_simulation.py",
    "tests/simulation/kafka/test_any.py",
    "tests/simulation/kafka/owner/test_owner.py",
)
TOPS = ("tests", "plugins")
FEW_FILES = 20
"""So many files are recorded by one process: further ones would take longer to begin."""
NEVER_NEAR = ("tests/real", "tests/docs", "plugins")
"""Tests that start programs, and wait for them."""
NEAR_TESTS, NEAR_SECONDS = 60, 4.0
"""How many tests are nearest at most, and what they may take together without the mutant."""
NEAR_RECORDS, RECORD_SECONDS = 24, 12.0
"""How many tests of records (`WHOLE`) come first, and what they took where they were traced: many of them stand in one file, and each sees what no other one does."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What tests run: by block the numbers of tests, by test its seconds and how many blocks it runs."""

    tests: Sequence[str]
    seconds: Sequence[float]
    sizes: Sequence[int]
    by_block: dict[str, list[int]]

    def of(self, mutant: Mutant) -> list[int]:
        """The tests that run the block of a mutant."""
        block = block_around((SOURCES / mutant.file).read_text(), mutant.line)
        return self.by_block.get(f"{mutant.file}:{block}", [])

    def nearest(self, mutant: Mutant) -> list[str]:
        """The nearest tests of a mutant: those of records, then one of each file in turn, the nearest first."""
        by_file: defaultdict[str, list[int]] = defaultdict(list)
        records: list[int] = []
        for test in sorted(self.of(mutant), key=lambda test: (self.sizes[test], self.seconds[test])):
            if function_of(self.tests[test]) in WHOLE:
                records.append(test)
            elif not self.tests[test].startswith(NEVER_NEAR):
                by_file[file_of(self.tests[test])].append(test)
        return [self.tests[test] for test in (*self._few_records(records), *self._spread(by_file))]

    def _few_records(self, records: list[int]) -> list[int]:
        """The first tests of records that take little together."""
        seconds = accumulate(self.seconds[test] for test in records)
        return [test for test, sum_ in zip(records, seconds, strict=True) if sum_ < RECORD_SECONDS][:NEAR_RECORDS]

    def _spread(self, by_file: dict[str, list[int]]) -> list[int]:
        """Tests of all files in turn, until they are enough."""
        queues, seconds = [*by_file.values()], 0.0
        chosen: list[int] = []
        while queues and len(chosen) < NEAR_TESTS and seconds < NEAR_SECONDS:
            for queue in queues:
                one = queue.pop(0)
                chosen.append(one)
                seconds += self.seconds[one]
            queues = [queue for queue in queues if queue]
        return chosen[:NEAR_TESTS]


def fingerprint() -> str:
    """What the code and the tests are: verdicts hold for no other."""
    files = [file for folder in ("src", "tests") for file in sorted((ROOT / folder).rglob("*.py"))]
    names = [str(file.relative_to(ROOT)) for file in files]
    text = "".join(f"{name} {_digest(name)}" for name in names if not name.startswith(NO_FINDERS))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _digest(name: str) -> str:
    file = ROOT / name
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


class TimeOverError(Exception):
    """The minutes of the whole run are over."""


def coverage(workers: int, *, until: float, anew: bool = False) -> Coverage:
    """What the quick tests run. Files of tests that are new or have changed since they were recorded are recorded now, or all `anew`.

    Where only the code of Treaty has changed, an old record makes another choice of nearest tests.
    """
    record: dict[str, Any] = {"files": {}, "parts": []}
    if RECORDED.exists() and not anew:
        record = json.loads(RECORDED.read_text())
    files = {name: _digest(name) for name in files_with_tests()}
    changed = [name for name, digest in files.items() if record["files"].get(name) != digest]
    if changed or record["files"].keys() - files:
        parts = forget(record["parts"], files.keys() - changed)
        if changed:
            parts += record_files(changed if record["parts"] else (), workers, until)
        record = {"files": files, "parts": parts}
        STORE.mkdir(exist_ok=True)
        part = RECORDED.with_suffix(".part")
        part.write_text(json.dumps(record))
        part.rename(RECORDED)
    return read_coverage(record["parts"])


def files_with_tests() -> list[str]:
    """The files of tests that may find a mutant."""
    names = [str(file.relative_to(ROOT)) for top in TOPS for file in sorted((ROOT / top).rglob("test_*.py"))]
    return [name for name in names if not name.startswith(NO_FINDERS)]


def record_files(names: Sequence[str], workers: int, until: float) -> list[str]:
    """Run the quick tests of files, or of all where none is named; returns what each process has recorded, line by line."""
    processes = 0 if 0 < len(names) <= FEW_FILES else workers
    with tempfile.TemporaryDirectory() as folder:
        options = ("-p", "tests.mutants.recording", "--assert=plain", "--continue-on-collection-errors")
        command = pytest_command(*QUICK, *options, "-n", str(processes), *names)
        environment = {**os.environ, RECORD: folder}
        seconds = max(0.0, until - time.monotonic())
        try:
            subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise TimeOverError from None
        parts = [one.read_text() for one in sorted(Path(folder).glob("*.jsonl"))]
    if not parts and not names:
        sys.exit(f"no test ran, so nothing was recorded; see what this prints: {shlex.join(command)}")
    return parts


def forget(parts: Iterable[str], files: Collection[str]) -> list[str]:
    """What was recorded of these files alone. Of other lines the names of blocks stay, since their numbers are counted."""
    rows = [[json.loads(line) for line in part.splitlines()] for part in parts]
    left = [
        [row if "test" in row and file_of(row["test"]) in files else {"new": row["new"]} for row in part]
        for part in rows
    ]
    return ["\n".join(map(json.dumps, part)) for part in left if any("test" in row for row in part)]


def function_of(test: str) -> str:
    """The function of a test, by its node id."""
    return test.partition("[")[0].rpartition("::")[2]


def file_of(test: str) -> str:
    """The file of a test, by its node id."""
    return test.partition("::")[0]


def read_coverage(parts: Iterable[str]) -> Coverage:
    """What tests run, from the lines of several processes; each numbers the blocks in its own way."""
    tests: list[str] = []
    seconds: list[float] = []
    sizes: list[int] = []
    by_block: defaultdict[str, list[int]] = defaultdict(list)
    for part in parts:
        names: list[str] = []
        for line in part.splitlines():
            row = json.loads(line)
            names += row["new"]
            if "test" not in row:
                continue
            for number in row["ran"]:
                by_block[names[number]].append(len(tests))
            tests.append(row["test"])
            seconds.append(row["seconds"])
            sizes.append(len(row["ran"]))
    return Coverage(tests, seconds, sizes, dict(by_block))


def pytest_command(*options: str) -> list[str]:
    """Pytest over all tests that may find a mutant."""
    left_out = [f"--ignore={one}" for one in NO_FINDERS]
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", *left_out, *options]

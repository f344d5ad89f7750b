"""A large registry on disk, which several benchmarks look at: its log, its state file and its search index.

Texts of about 500 bytes, made of names and words from a vocabulary of 20,000, in subjects of 20 versions each. The log is
filled below the law, with the rows that registrations would have made. ``TREATY_WORLDS`` names a folder in which such
registries stay: without it each run makes its own, which takes minutes for a million schemas.
"""

import itertools
import json
import os
import random
import shutil
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from treaty.core.names import Subject
from treaty.core.policy import LATEST
from treaty.core.schema import guid, plain_lookup_digest
from treaty.core.state import values
from treaty.core.state.commit import START, Commit, RowDigests, make_append
from treaty.core.state.rows import EncodedRow, encode_row
from treaty.core.state.rows import Row as TableRow
from treaty.core.state.state_tables import ids_key, ordinals_key, types_key
from treaty.log.sqlite.log import SqliteLog
from treaty.log.urls import open_log

VERSIONS = 20
BATCH = 20_000
POLICY = values.PolicyValue(backward=LATEST)
ENDS = ("", "-state", "-state-index")
"""What follows the path of a log in the paths of its files."""
FILL = """import asyncio, sys
from benchmarks.world import fill
asyncio.run(fill(sys.argv[1], int(sys.argv[2])))"""
"""The program that writes the rows of a registry into a log."""
INDEX = """import sys
from pathlib import Path
from treaty.assemble.search import index_state_file
index_state_file(Path(sys.argv[1]), lambda done, of: None)"""
"""The program that builds the search index of a state file."""


def copy_world(count: int, path: Path, *, only_log: bool = False) -> dict[str, float]:
    """Copy a registry of so many schemas to a path, and return what its search index cost.

    It is made where it is not kept. A copy may be changed.
    """
    kept = os.environ.get("TREATY_WORLDS")
    with tempfile.TemporaryDirectory(prefix="treaty-world-") as folder:
        base = Path(kept or folder, f"world-{count}.db")
        base.parent.mkdir(parents=True, exist_ok=True)
        costs = make_world(base, count, only_log=only_log)
        for end in ENDS[:1] if only_log else ENDS:
            shutil.copyfile(f"{base}{end}", f"{path}{end}")
    return costs


def make_world(base: Path, count: int, *, only_log: bool = False) -> dict[str, float]:
    """Make the files of a registry that are not there yet, and return what its search index cost."""
    if not base.exists():
        half = base.with_name(f"{base.name}.part")
        half.unlink(missing_ok=True)
        # In a process of its own: Linux counts the memory of a parent for programs that it starts later, too.
        run_python("-c", FILL, f"sqlite://{half}", str(count))
        half.rename(base)
    if only_log:
        return {}
    state, spending = Path(f"{base}-state"), Path(f"{base}-costs.json")
    if not state.exists():
        wait_for("log", "state", f"sqlite://{base}")
    if not spending.exists():
        cost, peak = run_python("-c", INDEX, str(state))
        spending.write_text(
            json.dumps({"seconds": cost, "megabytes": peak, "bytes": Path(f"{state}-index").stat().st_size})
        )
    costs: dict[str, float] = json.loads(spending.read_text())
    return costs


def wait_for(*words: str) -> tuple[float, float]:
    """Run a command of `treaty`; return its CPU seconds and the most memory it had, in megabytes."""
    return run_python("-m", "treaty.cli.main", *words)


def run_python(*arguments: str) -> tuple[float, float]:
    """Run a program of Python; return its CPU seconds and the most memory it had, in megabytes."""
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


async def fill(url: str, count: int, above: int = 0, versions: int = VERSIONS) -> None:
    """Write the rows of so many schemas into a log that has those with ids up to `above`, so many of them in each subject."""
    log = await open_log(url)
    assert isinstance(log, SqliteLog)
    delta = await log.read(START)
    here, digests, batch = (
        delta.tip,
        RowDigests(delta.rows),
        [encode_row(TableRow("context", (".",), values.Context()))],
    )
    for row in itertools.chain(rows(count, above, versions), (None,)):
        if row is not None:
            batch.append(row)
        if row is None or len(batch) >= BATCH:
            digests.put(batch)
            append = make_append(here, os.urandom(16), (Commit(here.sequence + 1, tuple(batch)),), digests.roots)
            await log.append(append)
            here, batch = append.position, []
    await log.close()


def rows(count: int, above: int = 0, versions: int = VERSIONS) -> Iterator[EncodedRow]:
    """Yield the rows of schemas and versions, and of their counters."""
    chance = random.Random(20 + above)
    words = ["".join(chance.choices(string.ascii_lowercase, k=chance.randint(3, 10))) for _ in range(20_000)]
    for number in range(above, above + count):
        ordinal, group = number % versions, number // versions
        name = words[group % len(words)].capitalize()
        fields = ",".join(_field(chance, words) for _ in range(6))
        text = f'{{"type":"record","name":"{name}","namespace":"org.{name.lower()}","fields":[{fields}]}}'
        known = guid(text, (), None, None), plain_lookup_digest("AVRO", text)
        stored = values.Schema(known[0], "AVRO", text, known[1], type_name=f"org.{name.lower()}.{name}")
        yield encode_row(TableRow("schema", (".", number + 1), stored))
        subject = f"{name.lower()}-{group}-value"
        time = 1_760_000_000_000 + number * 37
        version = values.Version(ordinal + 1, number + 1, "AVRO", stored.type_name, ordinal, policy=POLICY, time=time)
        yield encode_row(TableRow("version", (".", subject, 1, ordinal), version))
        if ordinal == 0:
            last = values.Counter(min(versions, above + count - number) - 1)
            yield encode_row(TableRow("subject", (".", subject), values.SubjectValue(1)))
            yield encode_row(TableRow("counter", ordinals_key(Subject(".", subject), 1), last))
            yield encode_row(TableRow("counter", types_key(Subject(".", subject), 1, "AVRO", stored.type_name), last))
    yield encode_row(TableRow("counter", ids_key("."), values.Counter(above + count)))


def _field(chance: random.Random, words: list[str]) -> str:
    kind = chance.choice(("string", "int", "long", "double", "boolean"))
    first, second, *doc = chance.choices(words, k=5)
    return f'{{"name":"{first}_{second}","type":"{kind}","doc":"{" ".join(doc)}"}}'

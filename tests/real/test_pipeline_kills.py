"""Drivers of pipelines are killed at random moments; what the tables hold in the end is every row once."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.frames import SPOILT, frame, record
from tests.real.killing import killed
from tests.real.pipeline_driver import read_tables
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft
from treaty.spark.lake.table import FORMATS

pytestmark = pytest.mark.jvm

DRIVER = "tests.real.pipeline_driver"
V1 = record(("name", "string"), ("n", "int"))
V2 = record(("name", "string"), ("n", "long"), ("note", ["null", "string"], None))
ROWS, DAMAGED = 30, 12
"""The good and damaged rows of a file; each life has a new one."""
MOST_STEPS, LONGEST = 5, 0.4
"""The steps that a life gives its streams at most before it is killed, and the seconds that may follow."""
ALL_EVERY = 5
"""Every so many of many lives all three streams run side by side; in between the formats take turns."""


class Input:
    """Files of frames, and what is true of each offset: the `n` and version of a good row, the code of a bad one."""

    def __init__(self, root: Path, dice: random.Random, registry: Connection) -> None:
        self.root, self.dice, self.registry = root, dice, registry
        self.truth: dict[int, tuple[int, int] | str] = {}
        self.ids: list[tuple[int, str, int]] = []
        self.files = 0
        (root / "in").mkdir()

    def register(self, text: str) -> None:
        found = self.registry.ask(Register(subject_of("orders-value"), Draft(text))).answer.version
        self.ids.append((found.schema_id, text, found.number))

    def write(self) -> None:
        """One more file: rows of all versions that are registered, damaged ones among them."""
        rows: list[tuple[bytes, tuple[int, int] | str]] = []
        for turn in range(ROWS + DAMAGED):
            schema_id, text, version = self.dice.choice(self.ids)
            n = self.dice.randrange(10**6)
            value = frame(schema_id, text, {"name": "x" * self.dice.randrange(9), "n": n, "note": None})
            if turn < ROWS:
                rows.append((value, (n, version)))
            else:
                code, deed = list(SPOILT.values())[turn % len(SPOILT)]
                whole = frame(schema_id, text, {"name": "spoilt", "n": n, "note": None})
                rows.append((deed(whole, self.dice), code))
        self.dice.shuffle(rows)
        offsets = range(len(self.truth), len(self.truth) + len(rows))
        self.truth |= {at: said for at, (_, said) in zip(offsets, rows, strict=True)}
        self.keep([value for value, _ in rows])

    def keep(self, values: list[bytes]) -> None:
        """Put the rows, the last of the truth, into a file of their own."""
        offsets = range(len(self.truth) - len(values), len(self.truth))
        made = {"offset": pa.array(offsets, pa.int64()), "value": pa.array(values, pa.binary())}
        half = self.root / "half.parquet"
        pq.write_table(pa.table(made), half)
        half.rename(self.root / "in" / f"{self.files:04}.parquet")
        self.files += 1


def check(held: Any, truth: dict[int, tuple[int, int] | str], formats: Sequence[str] = FORMATS) -> None:
    """Every offset is once in one table of each of these formats, with what is true of it."""
    good = {at: said for at, said in truth.items() if isinstance(said, tuple)}
    for format_ in formats:
        offsets = Counter(at for half in ("good", "bad") for at, *_ in held[format_][half])
        lost, twice = truth.keys() - offsets.keys(), {at for at, count in offsets.items() if count > 1}
        assert (format_, sorted(lost), sorted(twice)) == (format_, [], [])
        assert {at: (n, version) for at, n, version in held[format_]["good"]} == good
        assert dict(held[format_]["bad"]) == {at: said for at, said in truth.items() if isinstance(said, str)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("formats", "seed", "least", "most"),
    [
        *(pytest.param((one,), 1, 2, 10, marks=pytest.mark.timeout(1800), id=f"few kills, {one}") for one in FORMATS),
        pytest.param(FORMATS, 2, 50, 50, marks=[pytest.mark.soak, pytest.mark.timeout(7200)], id="50 kills"),
    ],
)
def test_a_driver_that_is_killed_loses_no_row_and_writes_none_twice(
    formats: Sequence[str],
    seed: int,
    least: int,
    most: int,
    spark: SparkSession,
    tmp_path: Path,
    figure: Callable[[str], None],
) -> None:
    """After the least number of kills it goes on until one fell into a batch of each format; starting is most of a life."""
    dice = random.Random(seed)
    with connect(f"sqlite://{tmp_path / 'registry.db'}") as registry:
        given = Input(tmp_path, dice, registry)
        given.register(V1)
        inside: Counter[str] = Counter()
        kills = 0
        while kills < least or (kills < most and len(inside) < len(formats)):
            given.write()
            if kills == least // 2:
                given.register(V2)  # while streams are in the middle of batches: the next files have both versions
            first = kills % len(formats)
            some = (*formats[first:], *formats[:first]) if kills % ALL_EVERY == 0 else (formats[first],)
            told = killed(DRIVER, tmp_path, dice.randint(1, MOST_STEPS), dice.random() * LONGEST, some)
            last = {line.split()[0]: line.split()[-1] for line in told if line != "ended"}
            inside.update(one for one, step in last.items() if step != "done" and told[-1] != "ended")
            kills += 1
    check(read_tables(spark, tmp_path, formats), given.truth, formats)
    hit = {one: inside[one] for one in formats}
    figure(f"{kills} kills, {len(given.truth)} rows in each format: 0 lost, 0 twice; inside a batch: {hit}")
    assert all(hit.values()), f"no kill fell into a batch of one format: {hit}"

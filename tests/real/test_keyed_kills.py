"""Drivers that fill a table with one row per key are killed at random moments; in the end it has of each key the greatest change."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.frames import SPOILT, frame, record
from tests.real.killing import killed, read
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.schema import Draft

# Each life is a JVM of its own: three kills take more than a minute, on a machine that has nothing else to do.
pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.soak]

DRIVER = "tests.real.keyed_driver"
V1 = record(("name", "string"), ("rev", ["null", "int"], None))
V2 = record(("name", "string"), ("rev", ["null", "long"], None), ("note", ["null", "string"], None))
KEYS, CHANGES, DAMAGED = 9, 25, 6
"""Keys of the table; the changes and damaged rows of a file. Each life has a new file."""
MOST_STEPS, LONGEST = 2, 1.5
"""The steps that a life has at most before it is killed, and the seconds that may follow."""

Place = tuple[bool, int, int]
"""Where a change of a key stands: whether it has a version, the version, the offset."""


@dataclass
class Changes:
    """Files of changes in no order, and what they leave: of each key the greatest, and the code of each bad row."""

    root: Path
    dice: random.Random
    registry: Connection
    ids: list[tuple[int, str]] = field(default_factory=list)
    places: dict[int, Place] = field(default_factory=dict)
    rows: dict[int, tuple[str, int | None] | None] = field(default_factory=dict)
    bad: dict[int, str] = field(default_factory=dict)
    counted: Counter[str] = field(default_factory=Counter)
    files: int = 0
    offset: int = 0

    def register(self, text: str) -> None:
        found = self.registry.ask(Register(subject_of("orders-value"), Draft(text))).answer.version
        self.ids.append((found.schema_id, text))

    def write(self) -> None:
        """One more file: new rows, late ones, some without a version, deletes, and damaged ones that change nothing."""
        turns = self.dice.sample([True] * CHANGES + [False] * DAMAGED, CHANGES + DAMAGED)
        made = [self._change() if turn else self._damaged() for turn in turns]
        table = {
            "offset": pa.array([offset for offset, _, _ in made], pa.int64()),
            "id": pa.array([key for _, key, _ in made], pa.int32()),
            "value": pa.array([value for _, _, value in made], pa.binary()),
        }
        (self.root / "in").mkdir(exist_ok=True)
        half = self.root / "half.parquet"
        pq.write_table(pa.table(table), half)
        half.rename(self.root / "in" / f"{self.files:04}.parquet")
        self.files += 1

    def _change(self) -> tuple[int, int, bytes | None]:
        offset, key = self._next()
        schema_id, text = self.dice.choice(self.ids)
        # Versions grow with time, but many a change is older than what is known of its key.
        rev = self.dice.choice([None, offset, offset, self.dice.randrange(offset + 1)])
        value, name = None, f"row {offset}"
        if self.dice.random() < 0.7:
            value = frame(schema_id, text, {"name": name, "rev": rev, "note": "x"})
            self.counted["good"] += 1
        else:
            rev = None
            self.counted["deletes"] += 1
        before = self.places.get(key, (False, 0, -1))
        mine = (True, rev, offset) if rev is not None else (*before[:2], offset)
        if mine > before:
            self.places[key] = mine
            self.rows[key] = None if value is None else (name, rev)
        return offset, key, value

    def _damaged(self) -> tuple[int, int, bytes]:
        offset, key = self._next()
        code, deed = list(SPOILT.values())[offset % len(SPOILT)]
        schema_id, text = self.dice.choice(self.ids)
        self.bad[offset] = code
        self.counted["bad"] += 1
        return offset, key, deed(frame(schema_id, text, {"name": "spoilt", "rev": 2**30, "note": None}), self.dice)

    def _next(self) -> tuple[int, int]:
        self.offset += 1
        return self.offset - 1, self.dice.randrange(KEYS)

    def check(self, held: Any) -> None:
        """Nothing is lost, and nothing is there twice."""
        offsets = {key: place[2] for key, place in self.places.items()}
        alive = {key: (offsets[key], *row) for key, row in self.rows.items() if row is not None}
        assert len(held["good"]) == len(alive)
        assert {key: tuple(row) for key, *row in held["good"]} == alive
        graves = dict(held["dead"])
        assert len(graves) == len(held["dead"])
        assert {key: graves.get(key) for key, row in self.rows.items() if row is None} == {
            key: offsets[key] for key, row in self.rows.items() if row is None
        }
        assert Counter(offset for offset, _ in held["bad"]) == Counter(self.bad.keys())
        assert dict(held["bad"]) == self.bad
        assert {name: held["counted"][name] for name in self.counted} == self.counted


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("seed", "kills"), [(1, 3), (2, 12)], ids=["3 kills", "12 kills"])
def test_a_keyed_table_is_exact_though_its_driver_is_killed(
    seed: int, kills: int, tmp_path: Path, figure: Callable[[str], None]
) -> None:
    dice, hit = random.Random(seed), Counter[str]()
    with connect(f"sqlite://{tmp_path / 'registry.db'}") as registry:
        given = Changes(tmp_path, dice, registry)
        given.register(V1)
        for life in range(kills):
            given.write()
            if life == kills // 2:
                given.register(V2)
            told = killed(DRIVER, tmp_path, dice.randint(1, MOST_STEPS), dice.random() * LONGEST)
            step = told[-1].split()[-1]
            hit.update([step] if step not in {"done", "ended"} else [])
        given.check(read(DRIVER, tmp_path))
    figure(
        f"{kills} kills, {given.offset} changes of {KEYS} keys: 0 lost, 0 twice; inside a batch, by the last step: {dict(hit)}"
    )
    assert hit, "no kill fell into a batch"

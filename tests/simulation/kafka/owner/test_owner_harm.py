"""Lives of a compacted topic in which rows are flipped, taken and added, and halves of transactions can be seen.

A node follows it as a node does: it applies what it reads, and compares its rows with the root of the last mark. What it takes for
right has to be the state that was written there; where nobody has harmed the topic nothing may be taken for wrong.
"""

import asyncio
import sys
from collections.abc import Callable

import pytest

from tests.laws.test_owner_reading import State, World
from tests.simulation.kafka.owner.partition import Entry
from treaty.core.state.commit import START, Append, Position, as_root, make_append, roots_of
from treaty.core.state.rows import EncodedRow
from treaty.log.kafka.single_writer.reader import TopicReader
from treaty.log.kafka.single_writer.records import END_KEY, make_transaction, read_row
from treaty.log.log import LogDamagedError, LogUnavailableError

SEEDS = 120
LOOKS = 12


class Harmed(World):
    """The same world, whose appends state their roots, and in which somebody does harm at most a few times."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.harms = self.chance.choice([0, 1, 1, 3])
        self.done: list[str] = []

    def append(self) -> Append:
        append = super().append()
        state = dict(self.states[self.tip])
        for row in append.rows:
            state.pop((row.table, row.key), None)
            if row.value is not None:
                state[row.table, row.key] = row.value
        roots = roots_of(EncodedRow(*place, value) for place, value in state.items())
        return make_append(self.tip, append.attempt, append.commits, roots)

    def happen(self) -> None:
        if self.harms and self.left and self.chance.random() < 0.01:
            self.harms -= 1
            harm = self.chance.choice([self.half, self.flip, self.lose, self.add])
            if harm():
                self.done.append(harm.__name__)
        super().happen()

    def half(self) -> bool:
        """A marker that came twice has committed the first records of a transaction; the rest is aborted."""
        records = make_transaction(self.append())
        some = self.chance.randint(0, len(records) - 1)
        for place, (key, value) in enumerate(records):
            if place == some:
                self.partition.mark(0, self.epoch, commit=True)
            self.partition.write(0, self.epoch, key, value)
        self.epoch += 1
        self.partition.mark(0, self.epoch, commit=False)
        return some > 0

    def flip(self) -> bool:
        """A bit of a key or of a value."""
        entry = self._some()
        if entry is None:
            return False
        what = self.chance.choice(["key", "value"]) if entry.value else "key"
        data = bytearray(getattr(entry, what))
        data[self.chance.randrange(len(data))] ^= 1 << self.chance.randrange(8)
        setattr(entry, what, bytes(data))
        return True

    def lose(self) -> bool:
        """A record is gone."""
        entry = self._some()
        if entry is not None:
            self.partition.entries.remove(entry)
        return entry is not None

    def add(self) -> bool:
        """Somebody else's record."""
        key = self.chance.choice([b"order", f'["t",["{self.chance.choice("abcxyz")}"]]'.encode()])
        self.partition.entries.append(Entry(self.partition.end, key, b"77", None))
        self.partition.end += 1
        return True

    def _some(self) -> Entry | None:
        there = [one for one in self.partition.entries if one.key and (one.within is None or one.within.fate)]
        marks = [one for one in there if one.key == END_KEY]
        if marks and self.chance.random() < 0.2:
            return marks[-1]
        return self.chance.choice(there) if there else None


def fits(state: State, place: Position) -> bool:
    """Whether rows come to the root that the mark of a place states, as a node compares them."""
    return as_root(roots_of(EncodedRow(*key, value) for key, value in state.items())) == place.root


class Node:
    """What a node holds, and whether it is read-only."""

    def __init__(self, world: Harmed) -> None:
        self.world = world
        self.reader = TopicReader(world, horizon=1e9, appends_kept=world.chance.choice([1, 5, 1000]))
        self.place: Position = START
        self.state: State = {}

    async def look(self) -> bool:
        """Come to the end; tell whether the rows there are those that the last mark states. One reload is tried."""
        view = await self.reader.catch_up()
        changes = view.recent.changes_since(self.place)
        if changes is not None:
            for row in (read_row(key, value) for key, value in changes.items()):
                self.state.pop((row.table, row.key), None)
                if row.value is not None:
                    self.state[row.table, row.key] = row.value
            self.place = view.position
            if fits(self.state, self.place):
                return True
        loaded = await self.reader.load()
        assert loaded.values is not None
        rows = [read_row(key, value) for key, value in loaded.values.items()]
        self.place = loaded.position
        self.state = {(row.table, row.key): row.value for row in rows if row.value is not None}
        return fits(self.state, self.place)


async def live(seed: int) -> tuple[str, list[str]]:
    """How the harm of a life was noticed ("" where it was not), and what it was."""
    world = Harmed(seed)
    node = Node(world)
    noticed = ""
    for _ in range(LOOKS):
        try:
            right = await node.look()
        except (LogDamagedError, LogUnavailableError) as error:
            if not world.done:
                raise
            return str(error), world.done
        if right:
            assert node.place in world.states, f"seed {seed}: {world.done}"
            assert node.state == world.states[node.place], f"seed {seed}: {world.done}"
        else:
            assert world.done, f"seed {seed}: the root differs, and nobody did any harm"
            noticed = "root"
        for _ in range(world.chance.randrange(12)):
            world.happen()
    return noticed, world.done


def test_what_a_node_takes_for_right_was_written_like_that(figure: Callable[[str], None]) -> None:
    told = [asyncio.run(live(seed)) for seed in range(SEEDS)]
    harmed = [noticed for noticed, done in told if done]
    by_root, by_error = harmed.count("root"), sum(bool(one) and one != "root" for one in harmed)
    assert by_root > 20
    assert by_error > 2
    figure(
        f"{SEEDS} lives, {len(harmed)} with harm: {by_root} noticed by the root, {by_error} refused by name, "
        f"{len(harmed) - by_root - by_error} without effect up to the end"
    )


@pytest.mark.soak
def test_what_a_node_takes_for_right_was_written_like_that_for_long(lives: range) -> None:
    for seed in lives:
        asyncio.run(live(seed))


def test_a_mark_whose_root_is_not_compared_is_found(
    monkeypatch: pytest.MonkeyPatch, figure: Callable[[str], None]
) -> None:
    """Planted: a node takes the rows for those that the mark states, whatever they come to."""
    monkeypatch.setattr(sys.modules[__name__], "fits", lambda *_: True)
    for seed in range(SEEDS):
        try:
            asyncio.run(live(seed))
        except AssertionError as error:
            figure(f"found in {str(error).partition(chr(10))[0]}")
            return
    pytest.fail(f"not found in {SEEDS} lives")

"""Reading a compacted topic while the broker compacts it: what is shown is a state that was, whole and new enough."""

import asyncio
import json
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.simulation.kafka.owner.partition import Partition
from treaty.core.state.commit import START, Append, Commit, Position, make_append
from treaty.core.state.rows import EncodedRow
from treaty.log.kafka.partition import OffsetRange, PartitionRecord, RecordBatch
from treaty.log.kafka.single_writer.reader import TopicReader
from treaty.log.kafka.single_writer.records import END_KEY, make_transaction, read_row
from treaty.log.kafka.single_writer.state import CompactedState
from treaty.log.log import NewerLogFormatError

RETENTION = 100.0
STEPS = 12
"""Requests for records that a test makes between two writes of the world, at most."""

State = dict[tuple[str, str], str]


class World:
    """A broker on which things happen between any two requests: appends, aborts, segments, the cleaner."""

    url = "world"

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.partition = Partition(RETENTION)
        self.tip = START
        self.states: dict[Position, State] = {START: {}}
        self.epoch = 0
        self.now = 0.0
        self.rate = self.chance.choice([0.1, 0.5, 1.0])
        self.sweeps = [self.partition.sweep(0, 0.0)]
        self.left = 400

    def append(self) -> Append:
        """An append of some rows, among few keys so that they replace each other."""
        chance = self.chance
        keys = chance.sample("abcdefg", chance.randint(0, 4))
        rows = tuple(EncodedRow("t", f'["{key}"]', chance.choice([None, f"{chance.randrange(1000)}"])) for key in keys)
        return make_append(self.tip, chance.randbytes(16), (Commit(self.tip.sequence + 1, rows),), {})

    def happen(self) -> None:
        """Something happens, or nothing. Writing has an end, so that readers come to it."""
        if self.chance.random() > self.rate or not self.left:
            return
        self.left -= 1
        self.chance.choices([self.write, self.abort, self.partition.roll, self.clean], [6, 1, 3, 3])[0]()

    def write(self) -> None:
        """A transaction is written whole; segments may end inside it."""
        append = self.append()
        for key, value in make_transaction(append):
            assert self.partition.write(0, self.epoch, key, value)
            if self.chance.random() < 0.1:
                self.partition.roll()
        self.partition.mark(0, self.epoch, commit=True)
        state = dict(self.states[self.tip])
        for row in append.commits[0].rows:
            state.pop((row.table, row.key), None)
            if row.value is not None:
                state[row.table, row.key] = row.value
        self.tip = append.position
        self.states[self.tip] = state

    def abort(self) -> None:
        """A transaction comes to nothing; its records and its mark take offsets all the same."""
        for key, value in make_transaction(self.append()):
            self.partition.write(0, self.epoch, key, value)
        self.epoch += 1
        self.partition.mark(0, self.epoch, commit=False)

    def clean(self) -> None:
        """The cleaner begins a run, or cleans one more segment of one that it began."""
        if self.chance.random() < 0.3:
            some = self.chance.randint(1, len(self.partition.segments))
            self.sweeps.append(self.partition.sweep(some, self.now))
        sweep = self.sweeps[-1]
        for segment, low in enumerate(self.partition.segments):
            if low < sweep.bound and self.chance.random() < 0.7:
                self.partition.clean(sweep, segment)

    def age(self) -> None:
        """Long after: tombstones that were cleaned before expire, when they are cleaned once more."""
        for _ in range(2):
            self.now += 2 * RETENTION
            sweep = self.partition.sweep(len(self.partition.segments), self.now)
            for segment in range(len(self.partition.segments)):
                self.partition.clean(sweep, segment)
            self.sweeps = [sweep]

    # ----------------------------------------------------------------------------------------------- what readers ask

    async def fetch_offset_range(self) -> OffsetRange:
        self.happen()
        ends = self.partition.fetch_offset_range()
        self.happen()
        return ends

    async def fetch(self, offset: int, timeout: float) -> RecordBatch:
        del timeout
        self.happen()
        batch = self.partition.read(offset, self.chance.choice([1, 2, 3, 9]))
        self.happen()
        return batch

    async def send(
        self, value: bytes, key: bytes | None = None, headers: Sequence[tuple[str, bytes]] = ()
    ) -> int | None:
        raise NotImplementedError

    async def delete_records(self, before: int) -> None:
        raise NotImplementedError

    async def size(self) -> int:
        return 0

    async def close(self) -> None:
        """Nothing to give back."""


def state_of(view: CompactedState) -> State:
    """The live rows of a load."""
    assert view.values is not None
    rows = [read_row(key, value) for key, value in view.values.items() if key != END_KEY]
    return {(row.table, row.key): row.value for row in rows if row.value is not None}


async def live(seed: int) -> None:
    """A reader that follows, and loads, while the world goes on; everything that it shows is checked."""
    world = World(seed)
    reader = TopicReader(world, horizon=1e9, appends_kept=world.chance.choice([1, 5, 1000]))
    shown: list[Position] = [START]
    for _ in range(8):
        before = world.tip
        view = await reader.catch_up()
        check(world, view.position, before, shown[-1])
        for place in shown:
            delta = view.recent.changes_since(place)
            if delta is not None:
                state = dict(world.states[place])
                for row in (read_row(key, value) for key, value in delta.items()):
                    state.pop((row.table, row.key), None)
                    if row.value is not None:
                        state[row.table, row.key] = row.value
                assert state == world.states[view.position]
        shown.append(view.position)
        before = world.tip
        loaded = await reader.load()
        check(world, loaded.position, before, START)
        assert state_of(loaded) == world.states[loaded.position]
        for _ in range(world.chance.randrange(STEPS)):
            world.happen()
        if world.chance.random() < 0.2:
            world.age()


async def resume(seed: int) -> bool:
    """A node that starts with a state file, some time after it was written: it reads on, or everything."""
    world = World(seed)
    first = TopicReader(world, horizon=1e9)
    for _ in range(world.chance.randrange(1, 60)):
        world.happen()
    known = await first.catch_up()
    place, marked = known.position, known.end_record_offset
    if place == START:
        return False
    for _ in range(world.chance.choice([0, 0, 3, 30, 200])):
        world.happen()
    if world.chance.random() < 0.3:
        world.age()
    offset = marked if world.chance.random() < 0.8 else world.chance.randrange(marked + 20)
    reader = TopicReader(world, horizon=1e9)
    reader.resume_at(place, offset)
    before = world.tip
    view = await reader.catch_up()
    check(world, view.position, before, place)
    resumed = view.values is None
    delta = view.recent.changes_since(place)
    if resumed or delta is not None:
        assert delta is not None
        state = dict(world.states[place])
        for row in (read_row(key, value) for key, value in delta.items()):
            state.pop((row.table, row.key), None)
            if row.value is not None:
                state[row.table, row.key] = row.value
        assert state == world.states[view.position]
    if not resumed:
        assert state_of(view) == world.states[view.position]
    return resumed


@given(st.integers(0, 2**32))
def test_who_reads_on_from_a_state_has_what_a_load_has(seed: int) -> None:
    asyncio.run(resume(seed))


def test_a_state_is_read_on_from_where_nothing_was_taken_away() -> None:
    resumed = sum(asyncio.run(resume(seed)) for seed in range(100))
    assert 20 < resumed < 95


def test_a_state_of_another_log_is_no_beginning() -> None:
    async def story() -> None:
        world, other = World(5), World(6)
        for one in (world, other):
            one.left = 0
            one.write()
            one.write()
        known = await TopicReader(other, horizon=1e9).catch_up()
        reader = TopicReader(world, horizon=1e9)
        reader.resume_at(known.position, known.end_record_offset)
        view = await reader.catch_up()
        assert view.position == world.tip
        assert state_of(view) == world.states[world.tip]

    asyncio.run(story())


def check(world: World, place: Position, at_least: Position, last: Position) -> None:
    """A place is the end of an append, as new as the question, and not before what was shown."""
    assert place in world.states
    assert place.sequence >= at_least.sequence
    assert place.sequence >= last.sequence


@pytest.mark.parametrize("following", [True, False])
def test_a_mark_of_a_newer_version_is_no_damage(*, following: bool) -> None:
    async def story() -> None:
        world = World(7)
        world.left = 0
        world.write()
        reader = TopicReader(world, horizon=1e9)
        if following:
            await reader.catch_up()
        *rows, (key, value) = make_transaction(world.append())
        assert value is not None
        members = {**json.loads(value), "v": 2}
        del members["check"]
        for each in (*rows, (key, json.dumps(members).encode())):
            assert world.partition.write(0, world.epoch, *each)
        world.partition.mark(0, world.epoch, commit=True)
        with pytest.raises(NewerLogFormatError, match="format 2, known is 1; nothing is lost, upgrade this node"):
            await reader.catch_up()

    asyncio.run(story())


@given(st.integers(0, 2**32))
def test_what_is_shown_was_and_is_whole_and_new(seed: int) -> None:
    asyncio.run(live(seed))


def test_a_topic_without_a_mark_is_known_up_to_where_it_was_read() -> None:
    """An append without rows is one record: one that was forgotten lies at offset 0, and the next one behind it at 1."""
    view = CompactedState()
    assert view.end == 0
    assert not view.covers(1)
    (key, value), *_ = make_transaction(make_append(START, bytes(16), (Commit(1, ()),), {}))
    view.add(RecordBatch((PartitionRecord(0, key, value),), 1))
    assert view.end == 2
    assert view.covers(2)
    assert not view.covers(3)

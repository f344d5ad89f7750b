"""Lives of a partition of `writers=any` in which bits of appends and of chunks are flipped, and nodes write what is not right.

Who starts on it finds the state that was written there, or says that something is wrong. Where only the chunks of a fold were
harmed, and all appends are there, or an older fold, it finds the state.
"""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import pytest

from tests.simulation.clock import VirtualLoop
from tests.simulation.kafka.any import here
from tests.simulation.kafka.broker import LinkModel, Partition, Storm
from treaty.core.state.commit import START, Commit, Position, RowDigests, as_root, make_append, roots_of
from treaty.core.state.rows import EncodedRow
from treaty.log.kafka.multi_writer.chunks import ChunkError, read_chunk
from treaty.log.kafka.multi_writer.log import MultiWriterLog, SnapshotPolicy
from treaty.log.log import AppendResult, LogDamagedError, LogDelta, LogUnavailableError

SEEDS = 60
HARMS = 12
"""Changed partitions that somebody starts on, in each life."""

State = dict[tuple[str, str], str]


@dataclass
class Written:
    """A partition, and the state after each append that is valid there."""

    partition: Partition = field(default_factory=Partition)
    states: dict[Position, State] = field(default_factory=lambda: {START: {}})
    wrong: bool = False
    """Whether the last append may state another root than its rows come to."""


def opened(partition: Partition, chance: random.Random, bounds: SnapshotPolicy) -> MultiWriterLog:
    storm = Storm(lost=0.05, twice=0.1, slow=0.1)
    link = LinkModel(partition, storm, chance, fetched=chance.choice([5, 200]))
    return MultiWriterLog(link, policy=bounds, attempt=lambda: chance.randbytes(16), work=here)


async def write(chance: random.Random) -> Written:
    """Two nodes append and fold; their appends lose, come twice, and come late. Prefixes are deleted in some lives."""
    written = Written()
    partition = written.partition
    if chance.random() < 0.5:
        vars(partition)["delete_records"] = lambda before: None
    bounds = SnapshotPolicy(
        appends_kept=chance.choice([3, 100]), records=chance.choice([6, 15, 10**9]), margin=chance.choice([0, 3])
    )
    nodes = [opened(partition, chance, bounds) for _ in range(2)]
    count, wrong = chance.randint(5, 40), chance.random() < 0.2
    for number in range(count):
        log = chance.choice(nodes)
        with suppress(LogUnavailableError):
            await append(written, log, chance, wrong=wrong and number + 1 == count)
    for log in nodes:
        await log.close()
    await partition.jobs.rest()
    return written


async def append(written: Written, log: MultiWriterLog, chance: random.Random, *, wrong: bool) -> None:
    """An append on what the log shows, or on an older place; what it leads to is remembered."""
    base = await log.tip() if chance.random() < 0.8 else chance.choice([*written.states])
    known = next((state for place, state in written.states.items() if place == base), None)
    if known is None:  # the log has named a fold, which changes no row that counts
        known = await state_of(log)
        base = await log.tip()
        written.states[base] = known
    keys = chance.sample("abcdefg", chance.randint(0, 4))
    rows = tuple(EncodedRow("t", f'["{key}"]', chance.choice([None, f"{chance.randrange(1000)}"])) for key in keys)
    digests = RowDigests(EncodedRow(*place, value) for place, value in known.items())
    digests.put(rows)
    roots = {**digests.roots, "t": 7} if wrong else digests.roots
    made = make_append(base, chance.randbytes(16), (Commit(base.sequence + 1, rows),), roots)
    state = dict(known)
    for row in rows:
        state.pop((row.table, row.key), None)
        if row.value is not None:
            state[row.table, row.key] = row.value
    written.states[made.position] = state
    if await log.append(made) is not AppendResult.CONFLICT:
        written.wrong = wrong


async def state_of(log: MultiWriterLog) -> State:
    return played(await log.read(START))


def played(delta: LogDelta) -> State:
    return {(row.table, row.key): row.value for row in delta.rows if row.value is not None and row.table != "snapshot"}


def harmed(partition: Partition, chance: random.Random, *, chunk: bool) -> Partition:
    """The same partition with a bit changed in an append, or in a chunk."""
    other = partition.copy()
    places = [place for place, one in enumerate(other.records) if one.value and is_chunk(one.value) == chunk]
    if places:
        place = chance.choice(places)
        data = bytearray(other.records[place].value or b"")
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        other.records[place] = replace(other.records[place], value=bytes(data))
    return other


def is_chunk(value: bytes) -> bool:
    try:
        read_chunk(value)
    except ChunkError:
        return False
    return True


def fits(delta: LogDelta) -> bool:
    """Whether rows come to the root that the log states, as a node compares them."""
    return as_root(roots_of(delta.rows)) == delta.tip.root


async def start(partition: Partition, chance: random.Random) -> LogDelta | None:
    """What somebody reads who starts; None where it is said that the log is damaged."""
    link = LinkModel(partition, Storm(), chance, fetched=200)
    log = MultiWriterLog(link, work=here)
    try:
        return await log.read(START)
    except LogDamagedError:
        return None
    finally:
        await log.close()


async def live(seed: int) -> tuple[int, int, int]:
    """How often what was harmed was noticed by name, noticed by the root, and read as it was written."""
    chance = random.Random(seed)
    written = await write(chance)
    right = await start(written.partition, chance)
    assert right is not None, f"seed {seed}: nobody did any harm"
    truth = played(right)
    assert fits(right) or written.wrong, f"seed {seed}: the root differs, and nobody did any harm"
    by_name = by_root = as_was = 0
    for _ in range(HARMS):
        chunk = chance.random() < 0.5
        delta = await start(harmed(written.partition, chance, chunk=chunk), chance)
        if delta is None:
            by_name += 1
            assert not chunk or written.partition.first > 0, f"seed {seed}: all appends are there"
        elif not fits(delta):
            by_root += 1
            assert written.wrong, f"seed {seed}: no bit does that"
        else:
            as_was += 1
            assert played(delta) == truth, f"seed {seed}: another state is taken for right"
            assert delta.tip.agrees(right.tip), f"seed {seed}: another tip is taken for right"
    return by_name, by_root, as_was


def lived(seed: int) -> tuple[int, int, int]:
    """One life in virtual time, the same in every run."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(live(seed))
    finally:
        loop.close()


def test_who_starts_finds_what_was_written_or_says_what_is_wrong(figure: Callable[[str], None]) -> None:
    found = [lived(seed) for seed in range(SEEDS)]
    by_name, by_root, as_was = map(sum, zip(*found, strict=True))
    assert by_name > 50
    assert as_was > 50
    assert by_root > 10
    figure(f"{SEEDS} lives: {by_name} refused by name, {by_root} noticed by the root, {as_was} read as written")


@pytest.mark.soak
def test_who_starts_finds_what_was_written_for_long(lives: range) -> None:
    for seed in lives:
        lived(seed)

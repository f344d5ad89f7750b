"""A log of `writers=any` that somebody has changed: each bit of each record is noticed, and what else stands for it is read."""

import asyncio
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import pytest

from tests.behaviours.logs.backends import State, accepted, attempt, put, row, told, whole
from tests.simulation.kafka.broker import LinkModel, Partition, Storm
from treaty.core.state.commit import START, Commit, Position, as_root, make_append, roots_of
from treaty.core.state.rows import EncodedRow
from treaty.log.kafka.multi_writer import chunks, compaction
from treaty.log.kafka.multi_writer.chunks import (
    STATE_FILE_FORMAT,
    ChunkError,
    SnapshotChunk,
    digest_snapshot,
    read_chunk,
)
from treaty.log.kafka.multi_writer.log import MultiWriterLog, SnapshotPolicy
from treaty.log.kafka.multi_writer.reader_state import ReaderState, ScannedRecord, read_claim
from treaty.log.kafka.partition import PartitionRecord
from treaty.log.log import LogDamagedError, LogDelta

BOUNDS = SnapshotPolicy(appends_kept=5, records=10**9, margin=0)
ROWS = 12


def opened(partition: Partition) -> MultiWriterLog:
    return MultiWriterLog(LinkModel(partition, Storm(), random.Random(1), fetched=500), policy=BOUNDS, attempt=attempt)


async def written(*, folds: int, cuts: int = 0, last: Callable[..., object] | None = None) -> Partition:
    """A partition with appends and so many folds, of which the first ones had their prefixes deleted; `last` makes the last one."""
    partition = Partition()
    log = opened(partition)
    cut, made = partition.delete_records, chunks.make_chunks
    for number in range(ROWS):
        await put(log, row(f"k{number % 5}", f'{{"v":{number}}}'), row(f"gone{number}", None))
        if number % 4 == 3 and number // 4 < folds:
            vars(partition)["delete_records"] = cut if number // 4 < cuts else lambda before: None
            if last is not None and number // 4 + 1 == folds:
                vars(compaction)["make_chunks"] = last
            await log.compact()
            vars(compaction)["make_chunks"] = made
    await log.close()
    return partition


RIGHT: State = {("subject", f'["k{number % 5}"]'): f'{{"v":{number}}}' for number in range(ROWS)}


async def adds_up(partition: Partition) -> State:
    """The state as who starts now reads it; it comes to the root that the log states."""
    log = opened(partition)
    delta = await log.read(START)
    assert as_root(roots_of(delta.rows)) == delta.tip.root
    state = await whole(log)
    await log.close()
    return state


# ------------------------------------------------------------------------------------------------ a record of an append


def flips(value: bytes) -> Iterator[tuple[int, bytes]]:
    """The same bytes with one bit changed, each byte once."""
    for place in range(len(value)):
        yield place, value[:place] + bytes([value[place] ^ 1 << place % 8]) + value[place + 1 :]


def taken(records: Sequence[PartitionRecord]) -> ReaderState:
    """What a reader makes of some records from the front of a log."""
    one = ReaderState.at(START, (), 100, 10**6)
    for record in records:
        one.add(ScannedRecord(record.offset, read_claim(record.value), record.value or b""))
    return one


@pytest.mark.parametrize("last", [True, False], ids=["the last append", "an append before others"])
def test_each_bit_of_an_append_is_noticed(*, last: bool, figure: Callable[[str], None]) -> None:
    """Magic, format, identity, attempt, parent, sequence, length, digest, root, body: none of them can change unseen.

    The last append matters most: a node that ignored it would write another one into its place.
    """
    records = asyncio.run(written(folds=0)).records
    assert taken(records).tip.sequence == ROWS
    place, count = -1 if last else -4, 0
    for at, value in flips(records[place].value or b""):
        spoilt = [*records]
        spoilt[place] = replace(records[place], value=value)
        with pytest.raises(LogDamagedError, match=f"offset {records[place].offset}") as error:
            taken(spoilt)
        assert type(error.value) is LogDamagedError, f"byte {at} is taken for another format"
        count += 1
    figure(f"{count} bytes, each noticed")


def test_a_record_of_an_append_that_is_damaged_names_the_remedy() -> None:
    @told
    async def story() -> None:
        partition = await written(folds=0)
        value = partition.records[5].value or b""
        partition.records[5] = replace(partition.records[5], value=value[:-9] + b"7" + value[-8:])
        with pytest.raises(LogDamagedError, match=r"offset 5, sequence 6, is damaged: restore the log from a dump"):
            await opened(partition).read(START)

    story()


def test_what_a_fold_stands_for_may_be_damaged() -> None:
    @told
    async def story() -> None:
        partition = await written(folds=1)
        for place in range(4):  # the appends before the place of the fold
            value = partition.records[place].value or b""
            partition.records[place] = replace(partition.records[place], value=value[:120] + b"?" + value[121:])
        assert await adds_up(partition) == RIGHT

    story()


# ------------------------------------------------------------------------------------------------------------- a fold


def changed_bit(start: int) -> Callable[[bytes], bytes]:
    """Have a bit changed so many bytes from the start of a chunk, or from its end."""

    def change(record: bytes) -> bytes:
        data = bytearray(record)
        data[start] ^= 4
        return bytes(data)

    return change


CHANGED = "its chunks were changed, their digest does not fit"
MISSING = "it is named, and its chunks are not all there"
SPOILT: Mapping[str, tuple[Callable[[bytes], bytes], str]] = {
    "a bit of its magic": (changed_bit(1), MISSING),
    "a bit of its format": (changed_bit(5), CHANGED),
    "a bit of its place": (changed_bit(25), CHANGED),
    "a bit of its digest": (changed_bit(90), MISSING),
    "a bit of its root": (changed_bit(130), CHANGED),
    "a bit of its payload": (changed_bit(-20), CHANGED),
    "its end is gone": (lambda record: record[:-3], CHANGED),
    "all of it is gone": (lambda _: b"something else", MISSING),
}
"""What is done to a chunk, and what is said of its fold."""


def signed(place: Position, roots: Mapping[str, int], rows: Sequence[EncodedRow]) -> tuple[SnapshotChunk, ...]:
    """A fold in which no digest is wrong, whatever its rows are."""
    payload = b"".join(chunks._compress(roots, rows))
    return (
        SnapshotChunk(chunks.FORMAT, place, digest_snapshot(place, len(rows), [payload]), 0, 1, len(rows), payload),
    )


def other_rows(place: Position, rows: Sequence[EncodedRow]) -> tuple[SnapshotChunk, ...]:
    """Rows that never were, in the name of those that were."""
    return signed(place, roots_of(rows), [replace(rows[0], value='{"v":99}'), *rows[1:]])


def fewer_rows(place: Position, rows: Sequence[EncodedRow]) -> tuple[SnapshotChunk, ...]:
    """A row is missing: what the fold says of its tables fits, and not the root of its place."""
    return signed(place, roots_of(rows[1:]), rows[1:])


def other_place(place: Position, rows: Sequence[EncodedRow]) -> tuple[SnapshotChunk, ...]:
    """A row is missing, and all that the fold says of itself fits: only the append at its place states another root."""
    roots = roots_of(rows[1:])
    return signed(replace(place, root=as_root(roots)), roots, rows[1:])


MADE_WRONG: Mapping[str, tuple[Callable[..., object], str]] = {
    "a row that never was": (other_rows, "has rows that are not those which it names, of subject"),
    "a row is missing": (fewer_rows, "come to another state root than it states"),
    "another root than the append there": (other_place, "and the append there"),
}
"""What a node writes whose memory is no good, and what is said of it."""
LEFT = {"all appends": (2, 0), "an older fold": (2, 1), "nothing": (3, 3)}
"""What else stands for the prefix: how many folds there are, and of how many the prefix was deleted."""


async def dropped(partition: Partition, said: str, left: str, caplog: pytest.LogCaptureFixture) -> None:
    """The fold is dropped by name, and what else stands for its prefix is read; where nothing does that is said."""
    if left == "nothing":
        for _ in range(2):
            with pytest.raises(LogDamagedError, match=f"front of the log is missing.*{said}.*Restore the newest dump"):
                await opened(partition).read(START)
        return
    assert await adds_up(partition) == RIGHT
    assert said in caplog.text


@pytest.mark.parametrize("harm", SPOILT)
@pytest.mark.parametrize("left", LEFT)
def test_a_fold_that_somebody_changed_is_dropped_by_name(
    harm: str, left: str, caplog: pytest.LogCaptureFixture
) -> None:
    @told
    async def story() -> None:
        folds, cuts = LEFT[left]
        partition = await written(folds=folds, cuts=cuts)
        spoil, said = SPOILT[harm]
        place, value = [(at, one.value) for at, one in enumerate(partition.records) if is_chunk(one)][-1]
        partition.records[place] = replace(partition.records[place], value=spoil(value or b""))
        await dropped(partition, said, left, caplog)

    story()


@pytest.mark.parametrize("harm", MADE_WRONG)
@pytest.mark.parametrize("left", LEFT)
def test_a_fold_that_was_made_of_wrong_rows_is_dropped_by_name(
    harm: str, left: str, caplog: pytest.LogCaptureFixture
) -> None:
    @told
    async def story() -> None:
        folds, cuts = LEFT[left]
        make, said = MADE_WRONG[harm]
        partition = await written(folds=folds, cuts=cuts, last=make)
        if left == "nothing" and make is other_place:
            # the append there was deleted with the prefix: who reads the rest compares the root at its end
            delta = await opened(partition).read(START)
            assert as_root(roots_of(delta.rows)) != delta.tip.root
            return
        await dropped(partition, said, left, caplog)

    story()


def is_chunk(record: PartitionRecord) -> bool:
    try:
        return read_chunk(record.value or b"").format != STATE_FILE_FORMAT
    except ChunkError:
        return False


def test_nothing_is_folded_where_the_rows_are_not_those_that_the_log_states() -> None:
    """The prefix is all that can show what they should be; after a commit that states the root of the rows it goes on."""

    @told
    async def story() -> None:
        partition = Partition()
        log = opened(partition)
        for number in range(3):
            tip = await put(log, row(f"k{number}", "1"))
        wrong = make_append(tip, attempt(), (Commit(tip.sequence + 1, (row("k", "1"),)),), {"subject": 7})
        await accepted(log, wrong)
        with pytest.raises(
            LogDamagedError, match=r"at sequence 4 come to the state root .* `treaty log repair --accept"
        ):
            await log.compact()
        assert partition.first == 0
        assert not [one for one in partition.records if is_chunk(one)]
        delta = await log.read(START)
        assert delta.tip.root == wrong.root != as_root(roots_of(delta.rows))
        await accepted(log, make_append(delta.tip, attempt(), (Commit(5, ()),), roots_of(delta.rows)))
        await log.compact()
        assert partition.first > 0
        assert await adds_up(partition) == {("subject", f'["{key}"]'): "1" for key in ("k", "k0", "k1", "k2")}

    story()


def test_a_place_with_another_root_is_not_known() -> None:
    """So whoever brings rows with a head of their own, as a state file, reads everything where its root was changed."""

    @told
    async def story() -> None:
        partition = await written(folds=0)
        log = opened(partition)
        tip = await log.tip()
        assert await log.read(tip) == LogDelta(tip, ())
        for place in (tip, taken(partition.records[:9]).tip):
            assert not (await log.read(place)).reload
            assert (await log.read(replace(place, root=b"x" * 32))).reload

    story()

"""What a node knows of a Kafka log with one owner beside its rows: recent appends, bookmarks, counts, and what others wrote."""

import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.behaviours.logs.backends import BACKENDS, nodes, put, row, told
from treaty.core.state.commit import START, Position
from treaty.log.capabilities import ResumableLog
from treaty.log.kafka.single_writer.orphan_rows import OrphanRowCollector
from treaty.log.kafka.single_writer.state import RecentAppends

OWNER = BACKENDS["kafka model, owner"]


def at(sequence: int) -> Position:
    return Position(b"i" * 16, sequence, sequence.to_bytes(32, "big"))


@pytest.mark.parametrize("seed", range(4))
def test_recent_appends_are_as_many_and_as_large_as_they_may_be(seed: int) -> None:
    """However often the run began anew: held against a list of all appends."""
    chance = random.Random(seed)
    kept, most = chance.randint(1, 6), chance.choice([1, 30, 80])
    recent, run, base = RecentAppends(at(0), kept, most), list[tuple[Position, Mapping[bytes, bytes | None]]](), at(0)
    for sequence in range(1, 80):
        if chance.random() < 0.1:
            base, run = at(sequence), []
            recent.restart(base)
            continue
        keys = chance.sample([b"a", b"b", b"c"], chance.randint(1, 3))
        records = {key: chance.choice([None, b"x" * chance.randint(0, 20)]) for key in keys}
        recent.add(at(sequence), records)
        run.append((at(sequence), records))
        while len(run) > kept or (
            len(run) > 1 and sum(len(k) + len(v or b"") for _, m in run for k, v in m.items()) > most
        ):
            base, _ = run.pop(0)
        assert (len(recent), recent.oldest) == (len(run), base)
        for known in range(sequence + 2):
            changed: dict[bytes, bytes | None] | None = None
            places = [base, *(place for place, _ in run)]
            if at(known) in places:
                changed = {}
                for _, later in run[places.index(at(known)) :]:
                    changed |= later
            assert recent.changes_since(at(known)) == changed
            assert recent.knows(at(known)) == (at(known) in places[1:])


@told
async def test_a_bookmark_is_of_the_position_that_was_read_last_and_of_no_other() -> None:
    async with nodes(OWNER(Path()), 2) as (mine, other):
        assert isinstance(mine, ResumableLog)
        assert isinstance(other, ResumableLog)
        first = await put(mine, row("a", "{}"))
        second = await put(mine, row("b", "{}"))
        for log, after in ((mine, second), (mine, first), (mine, START), (other, START), (other, first)):
            delta = await log.read(after)
            assert delta.tip == second
            assert log.bookmark(second) is not None
            assert log.bookmark(first) is None
        assert mine.bookmark(second) == other.bookmark(second)


@told
async def test_counts_are_of_live_rows_and_of_what_says_that_a_row_is_gone() -> None:
    async with nodes(OWNER(Path()), 1) as (log,):
        for key in "abcd":
            await put(log, row(key, "{}"))
        await put(log, row("a", None), row("b", None))
        stats = await log.read_stats()
        assert (stats.live, stats.tombstones, stats.appends, stats.oldest) == (2, 2, 5, 0)


@told
async def test_what_others_wrote_is_read_on_the_position_of_an_own_append_too() -> None:
    """A node reads back its own append without a look at the end, once."""
    async with nodes(OWNER(Path()), 2) as (mine, other):
        base = await put(mine, row("a", "{}"))
        own = await put(mine, row("b", "{}"))
        assert (await mine.read(base)).tip == own
        newer = await put(other, row("c", "{}"))
        delta = await mine.read(base)
        assert (delta.tip, {changed.key for changed in delta.rows}) == (newer, {'["b"]', '["c"]'})


def test_a_surplus_that_later_records_replaced_changes_nothing() -> None:
    collector = OrphanRowCollector()
    for keys, rows in (((b"a", b"b", b"c"), 2), ((b"a",), 1), ((b"b", b"d"), 2)):
        for key in keys:
            collector.add_record(key, b"new")
        collector.add_end_record(rows, {b"a": b"old", b"b": b"old"}, follows=True)
    (run,) = collector.runs
    assert run.surplus == 1
    assert [run.without(start) for start in range(3)] == [{}, {}, {b"c": (b"new", None)}]

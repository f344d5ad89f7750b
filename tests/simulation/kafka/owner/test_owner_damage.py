"""A log of `writers=owner` that somebody has changed, or of which half a transaction can be seen: it is noticed."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest

from tests.behaviours.logs.backends import rooted, row
from tests.simulation.kafka.owner.partition import Entry, Partition
from treaty.core.state.commit import START, Append, Commit, as_root, roots_of
from treaty.core.state.rows import EncodedRow
from treaty.log.capabilities import OrphanRow
from treaty.log.kafka.partition import OffsetRange, RecordBatch
from treaty.log.kafka.single_writer import orphan_rows
from treaty.log.kafka.single_writer.reader import TopicReader
from treaty.log.kafka.single_writer.records import END_KEY, make_transaction, read_end_record, read_row
from treaty.log.kafka.single_writer.state import CompactedState
from treaty.log.log import LogDamagedError

RETENTION = 100.0


class Topic:
    """A compacted topic, as a reader reaches it, and what its owner has written there."""

    url = "topic"

    def __init__(self) -> None:
        self.partition = Partition(RETENTION)
        self.tip = START
        self.count = 0

    def append(self, *rows: EncodedRow) -> Append:
        self.count += 1
        return rooted(self.tip, self.count.to_bytes(16, "big"), (Commit(self.tip.sequence + 1, rows),))

    def write(self, *rows: EncodedRow, upto: int | None = None) -> None:
        """A transaction; the marker of its end comes too early, where only its first records are committed."""
        append = self.append(*rows)
        for key, value in make_transaction(append)[:upto]:
            assert self.partition.write(0, 0, key, value)
        self.partition.mark(0, 0, commit=True)
        if upto is None:
            self.tip = append.position
            return
        for key, value in make_transaction(append)[upto:]:
            self.partition.write(0, 0, key, value)
        self.partition.mark(0, 1, commit=False)
        self.partition.marker[0] = 0

    def copy_with(self, *rows: EncodedRow) -> "Topic":
        """The same topic, and an append of somebody who has read its last mark."""
        other = Topic()
        other.partition.entries = [*self.partition.entries]
        other.partition.end = self.partition.end
        marks = [one.value for one in self.partition.entries if one.key == END_KEY]
        other.tip = read_end_record(marks[-1]).position if marks else START
        other.count = 100
        other.write(*rows)
        return other

    def intrude(self, key: bytes, value: bytes | None) -> None:
        """Somebody else writes a record, outside transactions."""
        self.partition.entries.append(Entry(self.partition.end, key, value, None))
        self.partition.end += 1

    def compact(self) -> None:
        """All that was replaced is gone, tombstones too."""
        self.partition.roll()
        for now in (0.0, 3 * RETENTION):
            sweep = self.partition.sweep(len(self.partition.segments), now)
            for segment in range(len(self.partition.segments)):
                self.partition.clean(sweep, segment)

    async def fetch_offset_range(self) -> OffsetRange:
        return self.partition.fetch_offset_range()

    async def fetch(self, offset: int, timeout: float) -> RecordBatch:
        del timeout
        return self.partition.read(offset, 3)

    async def send(self, value: bytes, key: bytes | None = None, headers: object = ()) -> int | None:
        raise NotImplementedError

    async def delete_records(self, before: int) -> None:
        raise NotImplementedError

    async def size(self) -> int:
        return 0

    async def close(self) -> None:
        """Nothing to give back."""


def written() -> Topic:
    topic = Topic()
    topic.write(row("a", "1"), row("b", "1"))
    topic.write(row("a", "2"), row("c", "2"))
    topic.write(row("d", "3"))
    return topic


def rows_of(view: CompactedState) -> list[EncodedRow]:
    assert view.values is not None
    return [read_row(key, value) for key, value in view.values.items() if value is not None]


async def starting(topic: Topic) -> str:
    """How a reader that starts notices that something is wrong: its rows do not come to the root of the last mark ("root"), or
    what it says; "" where it does not notice anything.
    """
    try:
        view = await TopicReader(topic, horizon=1e9).load()
    except LogDamagedError as error:
        return str(error)
    return "" if as_root(roots_of(rows_of(view))) == view.position.root else "root"


def noticed(topic: Topic) -> str:
    return asyncio.run(starting(topic))


# ---------------------------------------------------------------------------------------------------- flipped bits


def flips(value: bytes) -> Iterator[tuple[int, bytes]]:
    """The same bytes with one bit changed, each byte once."""
    for place in range(len(value)):
        yield place, value[:place] + bytes([value[place] ^ 1 << place % 8]) + value[place + 1 :]


@pytest.mark.parametrize("compacted", [False, True], ids=["as written", "compacted"])
@pytest.mark.parametrize("what", ["key", "value"])
def test_each_bit_of_each_record_is_noticed(what: str, figure: Callable[[str], None], *, compacted: bool) -> None:
    """Rows, the keys of rows, the mark and its key. What a later record replaces has no effect, and is not looked at.

    Where the last mark is not there any more the rows before it are shown by nobody: it is noticed with the next append.
    """
    topic, count = written(), 0
    if compacted:
        topic.compact()
    assert noticed(topic) == ""
    last = {one.key: one.offset for one in topic.partition.entries if one.key is not None}
    for entry in [one for one in topic.partition.entries if one.key is not None and last[one.key] == one.offset]:
        right: bytes = getattr(entry, what)
        for place, wrong in flips(right):
            setattr(entry, what, wrong)
            assert noticed_in_the_end(topic), f"byte {place} of the {what} of {entry.key!r}"
            count += 1
        setattr(entry, what, right)
    figure(f"{count} bytes, each noticed")


def noticed_in_the_end(topic: Topic) -> str:
    """How it is noticed now, or when another append was written by who has read what can be read."""
    return noticed(topic) or noticed(topic.copy_with(row("z", "9")))


def test_a_row_that_is_gone_is_noticed() -> None:
    for gone in (b'["subject",["a"]]', b'["subject",["d"]]', END_KEY):
        topic = written()
        entries = [one for one in topic.partition.entries if one.key == gone]
        topic.partition.entries.remove(entries[-1])
        assert noticed_in_the_end(topic), gone


def test_a_mark_that_was_changed_is_named() -> None:
    topic = written()
    entry = next(one for one in reversed(topic.partition.entries) if one.key == END_KEY)
    assert entry.value is not None
    entry.value = entry.value.replace(b'"last":3', b'"last":4')
    assert "the record that says where the log ends was changed" in noticed(topic)
    assert "restore a dump into a new topic" in noticed(topic)


def test_a_state_of_another_root_is_not_read_on_from() -> None:
    """A state file names the offset of the mark of its place; the mark there has to state the root of the file's rows."""

    async def story() -> None:
        topic = written()
        known = await TopicReader(topic, horizon=1e9).catch_up()
        for place in (known.position, replace(known.position, root=b"x" * 32)):
            reader = TopicReader(topic, horizon=1e9)
            reader.resume_at(place, known.end_record_offset)
            view = await reader.catch_up()
            assert view.position.agrees(known.position)
            assert (view.values is None) is (place.root == known.position.root)
            assert (view.recent.changes_since(place) is None) is (place.root != known.position.root)

    asyncio.run(story())


# ------------------------------------------------------------------------------------------------ half a transaction


AFTER: Mapping[str, Callable[[Topic], None]] = {
    "nothing": lambda topic: None,
    "another append": lambda topic: topic.write(row("e", "4")),
    "an append that replaces some of it": lambda topic: topic.write(row("a", "9"), row("f", "4")),
    "an append without rows": lambda topic: topic.write(),
}


@pytest.mark.parametrize("compacted", [False, True], ids=["as written", "compacted"])
@pytest.mark.parametrize("follows", [False, True], ids=["who starts", "who follows"])
@pytest.mark.parametrize("after", AFTER)
def test_half_a_transaction_is_noticed(after: str, *, follows: bool, compacted: bool) -> None:
    """A request to commit that came late, or twice, has committed the first rows of the owner's next append, without a mark.

    Until another mark comes nobody shows them; they replace what was there before, though, when the topic is compacted.
    """

    async def story() -> None:
        topic = written()
        reader = TopicReader(topic, horizon=1e9)
        if follows:
            await reader.catch_up()
        topic.write(row("a", "4"), row("b", "4"), row("g", "4"), upto=2)
        AFTER[after](topic)
        if compacted:
            topic.compact()
        view = await reader.catch_up()
        unseen = after == "nothing" and (follows or not compacted)
        if unseen:  # and right: what is shown is the state at the last mark
            assert view.position == topic.tip
            assert view.values is None or as_root(roots_of(rows_of(view))) == view.position.root
            return
        assert view.position == topic.tip
        assert as_root(roots_of(rows_of(view))) != view.position.root
        assert await starting(topic) == "root"

    asyncio.run(story())


@pytest.mark.parametrize("compacted", [False, True], ids=["as written", "compacted"])
def test_half_a_transaction_whose_rows_come_again_is_none(*, compacted: bool) -> None:
    """The same command is decided again and writes the same rows: nothing is left of the half."""
    topic = written()
    topic.write(row("a", "4"), row("b", "4"), row("g", "4"), upto=2)
    topic.write(row("a", "5"), row("b", "4"), row("g", "4"))
    if compacted:
        topic.compact()
    assert noticed(topic) == ""


def test_rows_that_compaction_left_of_two_transactions_do_not_pass_for_one() -> None:
    """A follower that lags: of the next transaction a row was replaced meanwhile, and half of another makes up for it."""

    async def story() -> None:
        topic = written()
        reader = TopicReader(topic, horizon=1e9)
        await reader.catch_up()
        topic.write(row("g", "4"), row("h", "4"), upto=1)
        topic.write(row("i", "5"), row("j", "5"))
        place = topic.tip
        topic.write(row("i", "6"))
        topic.partition.spared = 3
        topic.compact()
        view = await reader.catch_up()
        assert view.position == topic.tip
        since = view.recent.changes_since(place)
        assert since is not None
        assert await starting(topic) == "root"

    asyncio.run(story())


def test_a_record_of_somebody_else_is_noticed() -> None:
    for key, value in (
        (b"order-17", b"paid"),
        (b'["subject",["z"]]', b"{}"),
        (b'["subject",["a"]]', b"{}"),
        (b"", b"x"),
    ):
        topic = written()
        topic.intrude(key, value)
        assert noticed(topic) == "", "nothing of it is shown before the next mark"
        topic.write(row("e", "4"))
        assert noticed(topic) == "root"
        topic.compact()
        assert noticed(topic) == "root"


# ------------------------------------------------------------------------------------- which rows are of no transaction


def unmarked(topic: Topic) -> tuple[OrphanRow, ...]:
    async def find() -> tuple[OrphanRow, ...]:
        view = await TopicReader(topic, horizon=1e9).load(watched=True)
        assert view.orphan_rows is not None
        assert view.values is not None
        return view.orphan_rows.find_orphan_rows(view.values, view.position)

    return asyncio.run(find())


def changes(topic: Topic, *, shown: bool) -> dict[str, tuple[str | None, str | None]]:
    found = unmarked(topic)
    assert all(one.visible is shown for one in found)
    assert all((one.row.table, one.row.key) == (one.before.table, one.before.key) for one in found)
    return {one.row.key: (one.row.value, one.before.value) for one in found}


def test_half_a_transaction_is_told_from_what_is_right() -> None:
    topic = written()
    assert changes(topic, shown=True) == {}
    topic.write(row("a", "4"), row("d", None), row("g", "4"), row("h", "4"), upto=3)
    half = {'["a"]': ("4", "2"), '["d"]': (None, "3"), '["g"]': ("4", None)}
    assert changes(topic, shown=False) == half
    topic.write(row("e", "4"))
    assert changes(topic, shown=True) == half
    topic.write(row("a", "5"), row("f", "1"))
    assert changes(topic, shown=True) == {key: half[key] for key in ('["d"]', '["g"]')}, "a was replaced"
    topic.write(row("g", None), row("d", "5"))
    assert changes(topic, shown=True) == {}, "and so was all"


def test_two_halves_are_told_from_what_is_right() -> None:
    topic = written()
    topic.write(row("a", "4"), row("x", "4"), upto=1)
    topic.write(row("e", "4"))
    topic.write(row("g", "4"), row("x", "4"), upto=1)
    topic.write(row("f", "4"))
    assert changes(topic, shown=True) == {'["a"]': ("4", "2"), '["g"]': ("4", None)}


@pytest.mark.parametrize("place", range(4))
def test_a_record_of_somebody_else_is_told_wherever_it_lies(place: int) -> None:
    topic = written()
    topic.write(row("e", "4"), row("f", "4"), row("g", "4"))
    entries = topic.partition.entries
    entries.insert(len(entries) - 5 + place, Entry(0, b'["subject",["f"]]', b"mine", None))
    for offset, entry in enumerate(entries):
        entry.offset = offset
    topic.partition.end = len(entries)
    before = {0: None, 1: None, 2: "4", 3: "4"}[place]
    assert changes(topic, shown=True) == ({'["f"]': ("mine", before)} if place >= 2 else {})


def test_no_more_places_are_compared_than_the_limit_says(monkeypatch: pytest.MonkeyPatch) -> None:
    topic = written()
    topic.write(*(row(f"k{number}", "1") for number in range(9)))
    topic.partition.entries.insert(-3, Entry(0, b'["subject",["x"]]', b"mine", None))
    for offset, entry in enumerate(topic.partition.entries):
        entry.offset = offset
    topic.partition.end = len(topic.partition.entries)
    assert changes(topic, shown=True) == {'["x"]': ("mine", None)}
    monkeypatch.setattr(orphan_rows, "ORPHAN_ROWS_COMPARED", 6)
    assert changes(topic, shown=True) == {}


def test_nothing_is_told_where_compaction_has_taken_what_it_would_be_told_by() -> None:
    topic = written()
    topic.write(row("a", "4"), row("g", "4"), upto=1)
    topic.write(row("e", "4"))
    topic.compact()
    assert noticed(topic) == "root"
    assert unmarked(topic) == ()

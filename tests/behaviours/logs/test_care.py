"""What an operator does to a log, the same on every backend: looked at, packed, carried elsewhere, mended."""

import json
from collections.abc import Iterable

import pytest

from tests.behaviours.logs.backends import Node, nodes, played, put, row, told, whole
from treaty.core import names
from treaty.core.state.commit import START, Append, Commit, as_root, make_append, roots_of
from treaty.core.state.rows import EncodedRow, Row, decode_row, encode_row
from treaty.core.state.state_tables import IDS_SPARED, encodings_key, ids_key, ordinals_key
from treaty.core.state.values import Counter, LogOrigin, SubjectValue
from treaty.log.log import AppendResult, Log, LogUnavailableError
from treaty.log.maintenance.cancellation import cancel_migration
from treaty.log.maintenance.dump import DumpError, DumpHead, make_head, read_head, read_rows, write_dump
from treaty.log.maintenance.migration import migrate_log
from treaty.log.maintenance.repair import accept_state, check_state, find_unreadable_rows, quarantine_rows
from treaty.log.maintenance.restore import RestoreError, restore_log
from treaty.log.memory import MemoryLog
from treaty.log.state_roots import find_root_mismatches, read_with_table_roots

ROWS = [
    encode_row(Row("counter", ids_key("."), Counter(7))),
    encode_row(Row("counter", encodings_key(names.Subject(".", "s")), Counter(5))),
    encode_row(Row("counter", ordinals_key(names.Subject(".", "s"), 1), Counter(3))),
    encode_row(Row("subject", (".", "half \ud83d a character"), SubjectValue(1))),
]


async def dumped(log: Log) -> tuple[DumpHead, list[bytes]]:
    delta = await log.read(START)
    head = make_head(delta, log.url, 5)
    return head, [*write_dump(head, delta.rows)]


def rows_of(lines: list[bytes]) -> Iterable[EncodedRow]:
    return read_rows(read_head(lines[0]), lines[0], lines[1:])


@told
async def carried(node: Node) -> None:
    async with nodes(node, 1) as (log,):
        await put(MemoryLog(), *ROWS)
        source = MemoryLog()
        await put(source, *ROWS)
        await put(source, row("s", '{"generation":1,"v":1}'))
        head, lines = await dumped(source)
        end = await restore_log(log, head, rows_of(lines), time=9, gap=100)

        state = await whole(log)
        before = played((await source.read(START)).rows)
        origin = decode_row(EncodedRow("log_origin", '["origin"]', state.pop(("log_origin", '["origin"]')))).value
        assert isinstance(origin, LogOrigin)
        assert (origin.identity, origin.sequence, origin.gap) == (head.position.identity.hex(), 2, 100)
        raised = encode_row(Row("counter", ids_key("."), Counter(107)))
        encodings = encode_row(Row("counter", encodings_key(names.Subject(".", "s")), Counter(105)))
        spared = encode_row(Row("counter", IDS_SPARED, Counter(100)))  # for contexts that the dump does not know
        assert state == {**before, **played((raised, encodings, spared))}
        assert end == await log.tip()
        assert end.identity != head.position.identity

        with pytest.raises(RestoreError, match="is not empty"):
            await restore_log(log, head, rows_of(lines), time=9)


def test_a_dump_of_one_log_becomes_another_one(node: Node) -> None:
    carried(node)


@told
async def cut_off(node: Node) -> None:
    source = MemoryLog()
    await put(source, *ROWS)
    head, lines = await dumped(source)

    async with nodes(node, 1) as (log,):
        with pytest.raises(DumpError, match="cut short"):
            await restore_log(log, head, rows_of(lines[:-1]), time=9, gap=100)
        assert ("log_origin", '["restoring"]') in await whole(log)
        with pytest.raises(RestoreError, match="was cut off"):
            await restore_log(log, head, rows_of(lines), time=9, gap=101)
        await restore_log(log, head, rows_of(lines), time=10, gap=100)
        state = await whole(log)
        assert check_state(*await read_with_table_roots(log)).fits
        assert ("log_origin", '["restoring"]') not in state
        assert len(state) == len(ROWS) + 2  # where it comes from, and which ids are spared


def test_a_restore_that_was_cut_off_goes_through_the_second_time(node: Node) -> None:
    cut_off(node)


@told
async def in_pieces(node: Node) -> None:
    source = MemoryLog()
    many = [encode_row(Row("subject", (".", f"s{number}"), SubjectValue(number + 1))) for number in range(40)]
    await put(source, *ROWS, *many)
    head, lines = await dumped(source)
    async with nodes(node, 1) as (log,):
        with pytest.raises(DumpError, match="cut short"):
            await restore_log(log, head, rows_of(lines[:-1]), time=9, gap=100)
        assert (await log.tip()).sequence > 10, "it took many appends"
        await restore_log(log, head, rows_of(lines), time=9, gap=100)
        delta, stated = await read_with_table_roots(log)
        assert check_state(delta, stated).fits
        assert [*find_root_mismatches(delta.tip.root, stated, roots_of(delta.rows))] == []


def test_a_restore_in_many_appends_states_the_roots_of_its_rows(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.log.maintenance.restore.RESTORE_BYTES", 100)
    in_pieces(node)


def test_what_is_stated_is_compared_with_what_rows_come_to() -> None:
    found, root = {"a": 3, "b": 4}, as_root({"a": 7})
    assert [*find_root_mismatches(root, found, found)] == []
    assert [one.table for one in find_root_mismatches(root, {"a": 7}, found)] == ["a", "b"]
    assert ["the rows come to" in one.message for one in find_root_mismatches(as_root({}), None, found)] == [True]
    assert ["the shares" in one.message for one in find_root_mismatches(root, {"a": 3}, found)] == [False, True]


@told
async def moved(node: Node) -> None:
    async with nodes(node, 2) as (old, other):
        with pytest.raises(RestoreError, match="is empty"):
            await migrate_log(old, MemoryLog(), time=9)
        await put(old, *ROWS)
        target = MemoryLog()
        done = await migrate_log(old, target, time=9)
        assert done.rows == len(ROWS)
        assert done.source == await other.tip()
        state = await whole(target)
        del state["log_origin", '["origin"]']
        assert state == played(ROWS)
        sealed = decode_row(
            EncodedRow("log_origin", '["successor"]', (await whole(other))["log_origin", '["successor"]'])
        ).value
        assert isinstance(sealed, LogOrigin)
        assert sealed.url == target.url

        with pytest.raises(RestoreError, match="was migrated to"):
            await migrate_log(old, _Elsewhere(), time=9)
        assert await cancel_migration(old, target, time=9) == sealed
        assert await cancel_migration(old, target, time=9) is None
        assert await whole(other) == played(ROWS)


class _Elsewhere(MemoryLog):
    def __init__(self) -> None:
        super().__init__()
        self.url = "memory:elsewhere"


def test_a_move_seals_the_old_log_and_a_seal_can_be_taken_away(node: Node) -> None:
    moved(node)


class _Narrow(MemoryLog):
    """Takes so many appends, and then no more of them until it is widened."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    async def append(self, append: Append) -> AppendResult:
        if not self.room:
            raise LogUnavailableError("there is no room")
        self.room -= 1
        return await super().append(append)


@told
async def resumed(node: Node) -> None:
    async with nodes(node, 1) as (old,):
        await put(old, *ROWS)
        target = _Narrow(1)
        with pytest.raises(LogUnavailableError):
            await migrate_log(old, target, time=9)
        await old.compact()  # as nodes do whenever they like; what is kept of it in the log is a commit like others
        target.room = 9
        done = await migrate_log(old, target, time=10)
        assert done.source == await old.tip()
        state = await whole(target)
        del state["log_origin", '["origin"]']
        assert state == played(ROWS)


def test_a_move_that_was_cut_off_goes_through_though_the_old_log_was_packed_meanwhile(node: Node) -> None:
    resumed(node)


@told
async def mended(node: Node) -> None:
    damaged = EncodedRow("schema", '[".",1]', '{"guid":7,"v":1}')
    newer = EncodedRow("schema", '[".",2]', '{"v":9}')
    unknown = EncodedRow("planet", '["mars"]', '{"v":1}')
    async with nodes(node, 2) as (log, other):
        await put(log, *ROWS, damaged, newer, unknown)
        assert {one.table for one in find_unreadable_rows((await other.read(START)).rows)} == {"schema", "planet"}
        chosen, _ = await quarantine_rows(log, time=9)
        assert [one.text for one in chosen] == [damaged.value]
        state = await whole(other)
        assert ("schema", '[".",1]') not in state
        aside = json.loads(state["quarantine", '["schema","[\\".\\",1]"]'])
        assert aside["text"] == damaged.value
        assert len((await quarantine_rows(log, time=9, newer=True))[0]) == 2
        assert find_unreadable_rows((await other.read(START)).rows) == ()
        assert (await quarantine_rows(log, time=9)) == ((), await log.tip())


def test_a_repair_moves_unreadable_rows_aside_and_those_of_newer_versions_only_when_told(node: Node) -> None:
    mended(node)


@told
async def accepted(node: Node) -> None:
    """An append may state what its rows do not come to: by a fault of whoever wrote it, or because rows changed since."""
    async with nodes(node, 2) as (log, other):
        await put(log, *ROWS, EncodedRow("schema", '[".",1]', '{"guid":7,"v":1}'))
        base = await log.tip()
        lie = make_append(base, bytes(16), (Commit(base.sequence + 1, (row("s", "x"),)),), {"subject": 7})
        assert await log.append(lie) is AppendResult.ACCEPTED
        found = check_state(*await read_with_table_roots(other))
        assert (found.fits, found.position.root, len(found.root)) == (False, as_root({"subject": 7}), 32)
        with pytest.raises(RestoreError, match="--accept-state"):
            await quarantine_rows(log, time=9)
        with pytest.raises(RestoreError, match="--accept-state"):
            await migrate_log(log, MemoryLog(), time=9)
        before, (what, end) = await whole(other), await accept_state(log, time=9)
        assert (what, end) == (found, await other.tip())
        assert await whole(other) == before
        assert check_state(*await read_with_table_roots(other)).fits
        assert await accept_state(log, time=9) == (check_state(*await read_with_table_roots(log)), end)
        assert len((await quarantine_rows(log, time=9))[0]) == 2
        assert check_state(*await read_with_table_roots(other)).fits


def test_a_state_that_does_not_add_up_is_accepted_by_one_commit(node: Node) -> None:
    accepted(node)


@told
async def packed(node: Node) -> None:
    async with nodes(node, 2) as (log, other):
        for number in range(120):
            await put(log, row("s", str(number)), row(f"gone {number}", "x" * 2000))
            await put(log, row(f"gone {number}", None))
        before, state = await log.read_stats(), await whole(other)
        await log.compact()
        after = await other.read_stats()
        assert after.kind == before.kind
        assert (after.live, len(state)) == (len((await other.read(START)).rows), 1)
        assert after.appends <= 41
        assert after.tombstones <= before.tombstones
        assert after.tombstones <= 41 or log.single_writer  # a broker keeps them for as long as the topic says
        assert after.bytes <= before.bytes or after.kind != "sqlite"  # a server keeps its space, for the next rows
        assert await whole(other) == state
        assert await put(other, row("s", "again")) == await log.tip()


def test_a_log_is_packed_while_others_use_it(node: Node) -> None:
    packed(node)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: lines[:-1], "cut short"),
        (
            lambda lines: [lines[0], *(one.replace(b":7", b":8") for one in lines[1:])],
            "was changed.*counter: its rows add",
        ),
        (lambda lines: [lines[0], *lines[2:]], "rows instead of"),
        (lambda lines: [lines[0], b"[1]\n", *lines[1:]], "line 2 is not a row"),
        (lambda lines: [lines[0], b"{\n", *lines[1:]], "line 2 is no JSON"),
        (lambda lines: [lines[0].replace(b'"format":1', b'"format":2'), *lines[1:]], "upgrade Treaty"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "not in its order"),
        (lambda lines: [lines[0], lines[1], *lines[1:]], "not in its order, or there twice"),
        (lambda lines: [lines[0].replace(b'"sequence":1', b'"sequence":2'), *lines[1:]], "SHA-256"),
        (lambda lines: lines[1:], "not the head of a dump"),
    ],
    ids=["short", "changed", "row-missing", "no-row", "no-json", "newer", "order", "twice", "head", "no-head"],
)
def test_a_dump_that_is_not_whole_is_refused(change: object, message: str) -> None:
    @told
    async def story() -> None:
        source = MemoryLog()
        await put(source, *ROWS)
        _, lines = await dumped(source)
        assert [*rows_of(lines)] == sorted(ROWS, key=lambda one: (one.table, one.key))
        with pytest.raises(DumpError, match=message):
            [*rows_of(change(lines))]  # type: ignore[operator]

    story()

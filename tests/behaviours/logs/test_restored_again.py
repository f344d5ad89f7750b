"""Logs that are restored from dumps of restored logs: no id is given twice, and a late append of one's own is no other writer."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import pytest

from treaty.core.limits import COUNTER
from treaty.core.names import Subject
from treaty.core.state.commit import START, Append, Position, as_root, roots_of
from treaty.core.state.rows import EncodedRow, Row, decode_row, encode_row
from treaty.core.state.state_tables import IDS_SPARED, CounterKey, encodings_key, ids_key, ordinals_key
from treaty.core.state.table import Key
from treaty.core.state.values import Counter, LogOrigin, Mode
from treaty.log.log import AppendResult
from treaty.log.maintenance.dump import DumpHead, make_head
from treaty.log.maintenance.restore import SUCCESSOR, ConcurrentWriteError, restore_log
from treaty.log.memory import MemoryLog

S = Subject(".", "s")
ORDINALS = ordinals_key(S, 1)
SEAL = encode_row(Row("log_origin", SUCCESSOR, LogOrigin("i", 1, "d", 1, 99, "memory:successor")))
"""What a log that was moved elsewhere says of itself alone."""


def counted(counters: Mapping[CounterKey, Counter]) -> list[EncodedRow]:
    rows = [encode_row(Row("counter", key, counter)) for key, counter in counters.items()]
    rows += [encode_row(Row("mode", ("everywhere", "*", ""), Mode("READONLY"))), SEAL]
    return sorted(rows, key=lambda row: (row.table, row.key))


async def restored(rows: list[EncodedRow], *gaps: int) -> tuple[dict[Key, Counter], list[str]]:
    """The counters of a log that was restored with these gaps, each from a dump of the one before, and its other tables."""
    head = DumpHead("memory:", Position(b"i" * 16, 9, b"d" * 32, as_root(roots_of(rows))), roots_of(rows), len(rows), 1)
    for gap in gaps:
        log = MemoryLog()
        await restore_log(log, head, rows, time=1, gap=gap)
        delta = await log.read(START)
        rows = sorted(delta.rows, key=lambda row: (row.table, row.key))
        head = make_head(delta, log.url, 1)
    decoded = [decode_row(row) for row in rows]
    counters = {row.key: row.value for row in decoded if isinstance(row.value, Counter)}
    origins = [row.value.gap for row in decoded if isinstance(row.value, LogOrigin)]
    assert origins == [gaps[-1]], "a log says of itself where it comes from, and of no other one"
    return counters, [row.table for row in decoded if row.table not in {"counter", "log_origin"}]


@pytest.mark.parametrize("gaps", [(10,), (10, 7), (10, 0, 7), (0,), (COUNTER + 1,), (10, COUNTER)])
def test_counters_of_ids_lie_behind_all_gaps_and_the_others_stay(gaps: tuple[int, ...]) -> None:
    """All else that a counter says stays: ranges of reserved ids, whose subject it was, and what a newer version wrote."""
    numbers = {ids_key("."): 5, ids_key(".x"): COUNTER - 3, encodings_key(S): 2, ORDINALS: 4}
    more = Counter(0, ((70, 79), (90, 90)), private=True, extra=(("later", "1"),))
    counters = {key: replace(more, highest=number) for key, number in numbers.items()}
    after, others = asyncio.run(restored(counted(counters), *gaps))
    raised = {
        key: counter if key == ORDINALS else replace(counter, highest=min(counter.highest + sum(gaps), COUNTER))
        for key, counter in counters.items()
    }
    spared = {IDS_SPARED: Counter(min(sum(gaps), COUNTER))} if any(gaps) else {}
    assert after == raised | spared
    assert others == ["mode"]


class LateLog(MemoryLog):
    """A log that does not say what became of its first append, which lands when the next one comes."""

    def __init__(self, *, foreign: bool = False) -> None:
        super().__init__()
        self.foreign = foreign
        self.late: list[Append] = []
        self.tries = 0

    async def append(self, append: Append) -> AppendResult:
        """Append, later or at once."""
        self.tries += 1
        if self.tries == 1:
            self.late.append(append)
            return AppendResult.UNKNOWN
        while self.late and not self.foreign:
            await super().append(self.late.pop())
        return AppendResult.CONFLICT if self.foreign else await super().append(append)

    async def tip(self) -> Position:
        """Return the position after the last append, or one of somebody else."""
        return Position(b"o" * 16, 1, b"o" * 32) if self.foreign and self.tries > 1 else await super().tip()


def test_an_append_that_lands_late_is_found_to_be_ones_own() -> None:
    async def restore(log: LateLog) -> int:
        rows = counted({ids_key("."): Counter(5)})
        position = Position(b"i" * 16, 9, b"d" * 32, as_root(roots_of(rows)))
        await restore_log(log, DumpHead("memory:", position, roots_of(rows), len(rows), 1), rows, time=1, gap=0)
        return len((await log.read(START)).rows)

    assert asyncio.run(restore(LateLog())) == 3
    with pytest.raises(ConcurrentWriteError, match="another process writes"):
        asyncio.run(restore(LateLog(foreign=True)))

"""Texts of schemas are compressed in a SQLite log, and nobody who reads it can tell."""

import json
import random
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.behaviours.logs.backends import told
from treaty.core.state.commit import START, Commit, RowDigests, as_root, make_append, roots_after, roots_of
from treaty.core.state.rows import EncodedRow, decode_key
from treaty.log.log import AppendResult
from treaty.log.maintenance.repair import accept_state, quarantine_rows
from treaty.log.sqlite.compression import MAX_WARNINGS, TRAINING_ROWS
from treaty.log.sqlite.log import SqliteLog

CHANCE = random.Random(5)
WORDS = ["".join(CHANCE.choices("abcdefghijklmnop", k=7)) for _ in range(900)]


def texts(first: int, count: int) -> list[EncodedRow]:
    """Rows of schemas with short and long texts, and rows of another table between them."""
    found = []
    for number in range(first, first + count):
        fields = [{"name": CHANCE.choice(WORDS), "type": "string", "doc": "é"} for _ in range(number % 12)]
        value = json.dumps({"format": "TOY", "text": fields, "v": 1}, ensure_ascii=False)
        found += [
            EncodedRow("schema", f'[".",{number}]', value),
            EncodedRow("counter", f'["ids",".","","{number}"]', "{}"),
        ]
    return found


async def append(log: SqliteLog, rows: list[EncodedRow]) -> None:
    here = await log.tip()
    one = make_append(
        here, CHANCE.randbytes(16), (Commit(here.sequence + 1, tuple(rows)),), roots_after(await digests(log), rows)
    )
    assert await log.append(one) is AppendResult.ACCEPTED


async def digests(log: SqliteLog) -> RowDigests:
    return RowDigests((await log.read(START)).rows)


async def state(log: SqliteLog) -> set[EncodedRow]:
    return {*(await log.read(START)).rows}


@contextmanager
def file(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "log.db")) as connection, connection:
        yield connection


def packed(tmp_path: Path) -> int:
    with file(tmp_path) as connection:
        found: int = connection.execute("select count(*) from state_row where typeof(value) = 'blob'").fetchone()[0]
        return found


def test_texts_are_compressed_and_read_as_they_were(tmp_path: Path) -> None:
    @told
    async def story() -> None:
        log, other = [await SqliteLog.open(str(tmp_path / "log.db")) for _ in range(2)]
        await append(log, texts(0, TRAINING_ROWS // 2 - 100))
        before = await state(log)
        await log.compact()
        assert (packed(tmp_path), await state(log)) == (0, before)  # too few to learn from
        await append(log, texts(10_000, TRAINING_ROWS * 2))
        before, size = await state(log), (await log.read_stats()).bytes
        await log.compact()
        assert await state(log) == before == await state(other)
        assert packed(tmp_path) > TRAINING_ROWS
        assert (await log.read_stats()).bytes < size * 0.7
        place, count = await log.tip(), packed(tmp_path)
        fresh = [*texts(20_000, 20), EncodedRow("schema", '[".",1]', '{"text":"' + "\ud800" * 99 + '"}')]
        await append(log, fresh)
        assert packed(tmp_path) > count
        assert {*(await other.read(place)).rows} == {*fresh}
        assert {*(await log.read(place)).rows} == {*fresh}
        await append(log, [EncodedRow("schema", '[".",10007]', None), EncodedRow("schema", '[".",10008]', "{}")])
        known = {(row.table, row.key): row for row in [*before, *fresh, EncodedRow("schema", '[".",10008]', "{}")]}
        del known["schema", '[".",10007]']
        assert await state(other) == {*known.values()}
        await log.close()
        await other.close()

    story()


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (
            "update state_row set value = substr(value, 1, 40) where key = '[\".\",11]'",
            r'row \[".",11\] in table schema',
        ),
        (
            "update state_row set value = cast(substr(value, 1, 40) || x'00' || substr(value, 42) as blob) where key = '[\".\",11]'",
            "11",
        ),
        ("update state_row set value = x'' where key = '[\".\",11]'", "dictionary 0 is missing"),
        ("update state_row set value = cast(value || x'00' as blob) where key = '[\".\",11]'", r"\[\".\",11\]"),
        ("delete from dictionary", "its dictionary 1 is missing"),
        ("update dictionary set data = substr(data, length(data) / 2)", "is damaged"),
    ],
    ids=["cut", "a-byte", "empty", "longer", "no-dictionary", "half-a-dictionary"],
)
def test_a_text_that_is_damaged_is_told_by_name_and_all_others_are_read(
    tmp_path: Path, harm: str, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    @told
    async def story() -> None:
        log = await SqliteLog.open(str(tmp_path / "log.db"))
        await append(log, texts(0, TRAINING_ROWS * 2))
        await log.compact()
        before = await state(log)
        await log.close()
        with file(tmp_path) as connection:
            assert connection.execute(harm).rowcount == 1
        log = await SqliteLog.open(str(tmp_path / "log.db"))
        delta = await log.read(START)
        assert re.search(message, caplog.text)
        assert len(caplog.records) <= MAX_WARNINGS
        harmed = {*delta.rows} - before
        assert {(one.table, one.key) for one in harmed} == {(one.table, one.key) for one in before - {*delta.rows}}
        assert {one.table for one in harmed} == {"schema"}
        assert (len(harmed) == 1) == ("dictionary set" not in harm and "from dictionary" not in harm)
        assert as_root(roots_of(delta.rows)) != delta.tip.root
        await accept_state(log, time=7)
        moved, _ = await quarantine_rows(log, time=8)
        assert {one.key for one in moved} >= {decode_key(one.key) for one in harmed}
        after = await log.read(START)
        assert as_root(roots_of(after.rows)) == after.tip.root
        assert not {one.key for one in harmed} & {one.key for one in after.rows if one.table == "schema"}
        await log.close()

    story()

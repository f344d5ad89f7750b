"""A state file gives back what it was written with, leaves nothing where it can't be written, and whoever meets damage in it marks it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.laws.test_indexes import KEYS, VALUES
from treaty.core.state.commit import Position, as_root
from treaty.core.state.rows import EncodedRow, Row, encode_row
from treaty.core.state.state_tables import SUBJECT, TABLES
from treaty.core.state.view import ALL_KEYS
from treaty.node.segment import build as building
from treaty.node.segment.build import build
from treaty.node.segment.layered import LayeredTables, open_built
from treaty.node.segment.segment import SegmentDamagedError, totals
from treaty.node.segment.statefile import open_state, write_state

ROWS = [encode_row(Row(table, TABLES[table].key(*KEYS[table][0]), VALUES[table][0])) for table in KEYS]
STRANGE = EncodedRow("subject", '[".","odd"]', '{"v":99}')
BUILT = build([*ROWS, STRANGE])
PLACE = Position(b"i" * 16, 3, b"d" * 32, as_root(totals(BUILT.roots, BUILT.raw_rows)))


@pytest.mark.parametrize("bookmark", [None, 0, 7, 2**62])
@pytest.mark.parametrize("written", [0, 1_700_000_000_000])
def test_a_state_file_says_what_it_was_written_with(bookmark: int | None, written: int, tmp_path: Path) -> None:
    path = tmp_path / "state"
    size = write_state(path, BUILT, PLACE, written, bookmark)
    file = open_state(path)
    file.check()
    assert (file.position, file.written, file.bookmark) == (PLACE, written, bookmark)
    assert size == file.bytes == path.stat().st_size
    assert path.stat().st_mode & 0o777 == 0o600
    assert file.segment.counts == BUILT.counts
    assert file.segment.raw_rows() == BUILT.raw_rows == [STRANGE]
    assert file.roots == totals(BUILT.roots, BUILT.raw_rows)
    assert [*tmp_path.iterdir()] == [path]


def test_a_state_file_that_can_not_be_put_in_its_place_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state"
    (path / "taken").mkdir(parents=True)
    with pytest.raises(OSError, match="state"):
        write_state(path, BUILT, PLACE, 5)
    assert [*tmp_path.iterdir()] == [path]


def change_and_build(tables: LayeredTables) -> object:
    """What a newer segment copies or rewrites."""
    tables.apply([EncodedRow("subject", '[".x","n"]', ROWS[0].value)], PLACE)
    return tables.build_segment()


USES: dict[str, tuple[str, Callable[[LayeredTables], object]]] = {
    "get": ("data:subject", lambda tables: tables.get(SUBJECT, SUBJECT.key(".", "s1"))),
    "share": ("data:subject", lambda tables: tables.share("subject", (".", "s1"))),
    "keys": ("data:subject", lambda tables: [*tables.keys(SUBJECT)]),
    "items": ("data:subject", lambda tables: [*tables.items(SUBJECT)]),
    "rows": ("data:subject", lambda tables: [*tables.rows()]),
    "walk": ("data:order:subject", lambda tables: [*tables.walk(SUBJECT, *ALL_KEYS)]),
    "build": ("data:order:subject", change_and_build),
}


@pytest.mark.parametrize("use", USES)
def test_damage_is_marked_by_whoever_meets_it(use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "SAMPLES", 1)
    column, ask = USES[use]
    subjects = [Row("subject", (".", f"s{number}"), VALUES["subject"][0]) for number in range(300)]
    built = build(map(encode_row, subjects))
    tables, sound = LayeredTables(small=0), LayeredTables(small=0)
    sound.stand_on(open_built(built), PLACE)
    ask(sound)
    assert not sound.damaged
    data = bytearray(b"".join(built.columns[column]))
    data[20] ^= 1
    built.columns[column] = (bytes(data),)
    tables.stand_on(open_built(built), PLACE)
    with pytest.raises(SegmentDamagedError):
        ask(tables)
    assert tables.damaged

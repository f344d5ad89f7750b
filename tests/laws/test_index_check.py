"""The check of indexes: it finds nothing where tables are as their rows say, and names what a wrong index lacks or has too many."""

import random
from array import array
from bisect import insort
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from tests.laws.test_indexes import KEYS, VALUES, histories, place, views_of
from treaty.cli.log.state_check import REMEDY, check_state
from treaty.core.state.commit import as_root
from treaty.core.state.indexes import wrong_indexes
from treaty.core.state.rows import EncodedRow, Row, encode_row
from treaty.core.state.state_tables import INDEXES, ORDERS, TABLES, VERSION
from treaty.core.state.table import Key
from treaty.core.state.tables import DictTables
from treaty.node.segment.build import SegmentContents, build
from treaty.node.segment.hash_index import ROW_BITS
from treaty.node.segment.layered import LayeredTables, open_built
from treaty.node.segment.segment import SegmentDamagedError
from treaty.node.segment.statefile import write_state

READABLE = [
    encode_row(Row(table, key, VALUES[table][at % len(VALUES[table])]))
    for table, keys in KEYS.items()
    for at, key in enumerate(keys)
]
"""A row under each key; every index has an entry."""


KEPT = sorted(name for name, one in INDEXES.items() if one.key_of is None)
"""Indexes that are more than an order."""


def loaded() -> DictTables:
    tables = DictTables()
    tables.load(READABLE, place(1))
    return tables


@given(histories())
def test_indexes_that_followed_their_rows_are_right(history: tuple[list[EncodedRow], list[list[EncodedRow]]]) -> None:
    base, commits = history
    for tables in views_of(base):
        for number, commit in enumerate(commits, 2):
            tables.apply(commit, place(number))
        assert not [*wrong_indexes(tables)]


@pytest.mark.parametrize("index", KEPT)
def test_a_key_that_an_index_lacks_is_named(index: str) -> None:
    tables = loaded()
    entry, keys = next(iter(tables._indexes[index].items()))
    key = keys.pop()
    (fault,) = [one for one in wrong_indexes(tables) if one.key == entry and one.rule == "INDEX_WRONG"]

    assert (fault.rule, fault.table) == ("INDEX_WRONG", index)
    assert f"it lacks {[*key]}; tables are built from rows alone" in fault.message


@pytest.mark.parametrize("index", KEPT)
def test_a_key_that_an_index_has_too_many_is_named(index: str) -> None:
    """At an entry that rows claim, and at one that no row does."""
    tables = loaded()
    entries = tables._indexes[index]
    entry, key = next(iter(entries)), _other(next(iter(entries.values()))[-1])
    insort(entries[entry], key)
    nobodys = _other(entry)
    entries[nobodys] = [key]
    faults = {one.key: one.message for one in wrong_indexes(tables) if one.table == index}

    assert f"has too many {[*key]};" in faults[entry]
    assert f"it has too many {[*key]};" in faults[nobodys]


def _other(key: Key) -> Key:
    return (*key[:-1], f"{key[-1]}~" if isinstance(key[-1], str) else key[-1] + 1_000)


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_an_order_that_differs_is_named(order: str) -> None:
    tables = loaded()
    kept = tables._orders[order]
    gone = kept._blocks[0].pop(0)
    nobodys = _other(gone)
    kept.add(nobodys)
    (fault,) = wrong_indexes(tables)

    assert (fault.table, fault.key) == (order, ())
    assert f"its order: it lacks {[*gone]} and has too many {[*nobodys]};" in fault.message


def test_keys_in_another_order_are_a_difference() -> None:
    tables = loaded()
    entry, keys = next((entry, keys) for entry, keys in tables._indexes["version.subject"].items() if len(keys) > 1)
    keys.reverse()

    assert [(one.key, "its keys in another order" in one.message) for one in wrong_indexes(tables)] == [(entry, True)]


@pytest.mark.parametrize("table", sorted(one.name for one in TABLES.values() if one.counted and one is not VERSION))
def test_a_wrong_count_is_named(table: str) -> None:
    tables = loaded()
    group = next(one for one in tables._counts if one[0] == table)
    tables._counts[group] += 1
    (fault,) = wrong_indexes(tables)

    assert (fault.rule, fault.table, fault.key) == ("COUNT_WRONG", *group)
    assert fault.message.startswith(f"it counts {tables._counts[group]} rows, there are {tables._counts[group] - 1};")


# ------------------------------------------------------------------------------------------------------- state files


def built() -> SegmentContents:
    return build(READABLE)


def written(path: Path, made: SegmentContents) -> Path:
    write_state(path, made, replace(place(1), root=as_root(loaded().roots)), 0)
    return path


def test_a_state_file_as_it_is_written_is_right(tmp_path: Path) -> None:
    checked = check_state(written(tmp_path / "state", built()))

    assert not checked.faults or {one.rule for one in checked.faults}.isdisjoint({"INDEX_WRONG", "STATE_ROOT"})
    assert checked.rows.roots == loaded().roots
    assert checked.position == place(1)


@pytest.mark.parametrize("index", KEPT)
def test_a_mark_that_a_state_file_lacks_is_found(index: str, tmp_path: Path) -> None:
    made = built()
    marks = array("Q", b"".join(bytes(part) for part in made.columns[f"index:{index}"]))
    made.columns[f"index:{index}"] = (marks[:-1].tobytes(),)
    faults = [one for one in check_state(written(tmp_path / "state", made)).faults if one.rule == "INDEX_WRONG"]

    assert [one.table for one in faults] == [index]
    assert "it lacks [" in faults[0].message
    assert faults[0].message.endswith(REMEDY)


@pytest.mark.parametrize("index", KEPT)
def test_a_mark_that_a_state_file_has_too_many_is_found(index: str, tmp_path: Path) -> None:
    made = built()
    marks = array("Q", b"".join(bytes(part) for part in made.columns[f"index:{index}"]))
    marks.append((random.Random(1).getrandbits(60 - ROW_BITS) << ROW_BITS) | 1)
    made.columns[f"index:{index}"] = (array("Q", sorted(marks)).tobytes(),)
    faults = [one for one in check_state(written(tmp_path / "state", made)).faults if one.rule == "INDEX_WRONG"]

    assert [one.table for one in faults] == [index]
    assert f"row 1 of {INDEXES[index].table}" in faults[0].message


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_an_order_of_a_state_file_that_differs_is_found(order: str, tmp_path: Path) -> None:
    """The order of a file with one row in each table."""
    made, few = built(), build({row.table: row for row in READABLE}.values())
    for kind in ("data:order", "ends:order", "firsts:order", "sums:order", "heads"):
        made.columns[f"{kind}:{order}"] = few.columns[f"{kind}:{order}"]
    faults = [one for one in check_state(written(tmp_path / "state", made)).faults if one.rule == "INDEX_WRONG"]

    assert (order, ()) in {(one.table, one.key) for one in faults}
    assert "its order: it lacks [" in faults[0].message


def test_a_table_of_a_state_file_whose_rows_come_to_something_else_is_named(tmp_path: Path) -> None:
    made = built()
    made.roots["version"] += 1
    (fault,) = [one for one in check_state(written(tmp_path / "state", made)).faults if one.rule == "STATE_ROOT"]

    assert fault.table == "version"
    assert f"the head says {made.roots['version']:064x}" in fault.message
    assert fault.message.endswith(REMEDY)


def test_a_state_file_whose_rows_do_not_come_to_its_root_is_found(tmp_path: Path) -> None:
    wrong = as_root({"version": 7})
    write_state(tmp_path / "state", built(), replace(place(1), root=wrong), 0)
    (fault,) = [one for one in check_state(tmp_path / "state").faults if one.rule == "STATE_ROOT"]

    assert fault.table == ""
    assert (
        f"the state root of its rows is {as_root(loaded().roots).hex()}, its head says {wrong.hex()}" in fault.message
    )


def test_the_table_of_a_state_file_is_named_that_has_a_row_of_another_one(tmp_path: Path) -> None:
    """All checksums are right, and so is the head."""
    made, row = built(), next(row for row in READABLE if row.table == "schema")
    other = build(
        [replace(one, value=(one.value or "").replace("TOY", "TOI")) if one is row else one for one in READABLE]
    )
    for kind in ("data", "ends", "firsts", "sums", "dictionary"):
        made.columns[f"{kind}:schema"] = other.columns[f"{kind}:schema"]
    faults = check_state(written(tmp_path / "state", made)).faults

    assert [one.table for one in faults if one.rule == "STATE_ROOT"] == ["", "schema"]


def test_a_row_that_is_not_found_by_its_key_is_named() -> None:
    made = built()
    made.columns["keys:version"] = (b"",)
    tables = LayeredTables(small=0)
    tables.stand_on(open_built(made), place(1))
    faults = [*wrong_indexes(tables)]

    assert {one.key for one in faults if one.table == "version"} == {*loaded().keys(VERSION)}
    assert all("a key without a row" in one.message for one in faults if one.table == "version")


def test_a_byte_that_changed_is_found_by_its_checksum(tmp_path: Path) -> None:
    path = written(tmp_path / "state", built())
    data = bytearray(path.read_bytes())
    data[len(data.rstrip(b"\0")) - 1] ^= 1
    path.write_bytes(data)

    with pytest.raises(SegmentDamagedError, match="damaged"):
        check_state(path)

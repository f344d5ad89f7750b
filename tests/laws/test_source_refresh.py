"""REFRESH SCHEMA: a column that nobody reads may go or change its type, one that somebody reads may not."""

import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from treaty.core.column_types import ColumnTypeError, SqlType
from treaty.core.column_types.leaf_paths import (
    find_lost_leaf,
    is_touched,
    list_leaves,
    lower_path,
    parse_path,
    print_path,
)
from treaty.core.refusals import Invalid, SourceUsed
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.metastore.columns.from_schema import columns_of_schema
from treaty.metastore.columns.refresh import ColumnRead, find_refresh_effect, is_wider, refuse_refresh
from treaty.metastore.columns.renames import list_renames
from treaty.metastore.columns.sql_types import make_sql_type

CASES = Path(__file__).parents[1] / "cases" / "refresh"
NAMES = st.sampled_from(["a", "B", "c d", "e.f", "g`"])
leaves: st.SearchStrategy[ColumnType] = st.sampled_from(["int32", "int64", "string"]).map(Scalar) | st.just(
    Decimal(9, 2)
)


def structs(types: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[tuple[Column, ...]]:
    columns = st.builds(Column, NAMES, types, st.booleans(), st.sampled_from(["", "x"]))
    return st.lists(columns, min_size=1, max_size=4, unique_by=lambda one: one.name).map(tuple)


types = st.recursive(
    leaves,
    lambda inner: (
        structs(inner).map(Struct) | st.builds(List, inner) | st.builds(Map, st.just(Scalar("string")), inner)
    ),
    max_leaves=6,
)
COLUMNS = structs(types)


def typed(columns: tuple[Column, ...]) -> list[tuple[str, SqlType]]:
    return [(one.name, make_sql_type(one.type)) for one in columns]


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_a_path_is_parsed_as_it_is_printed(names: list[str]) -> None:
    assert parse_path(print_path(names)) == tuple(names)


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "`a", "a`b`", "``", "`a`b"])
def test_a_text_that_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(ColumnTypeError, match="is no path of a column"):
        parse_path(text)
    with pytest.raises(Invalid, match="is no path of a column"):
        find_refresh_effect((), (), [ColumnRead("r", text)])


@given(COLUMNS, COLUMNS, st.data())
def test_a_refresh_is_refused_where_a_leaf_that_is_read_would_go_or_change(
    old: tuple[Column, ...], new: tuple[Column, ...], data: st.DataObject
) -> None:
    paths = [path for path, _ in list_leaves(typed(old))]
    read = data.draw(st.sampled_from(paths))
    read = read[: data.draw(st.integers(1, len(read)))]  # a place with parts is read whole
    effect = find_refresh_effect(old, new, [ColumnRead("r", print_path(read))])
    there = {lower_path(path): kind for path, kind in list_leaves(typed(new))}
    lost = [
        path for path, kind in list_leaves(typed(old)) if is_touched(path, read) and there.get(lower_path(path)) != kind
    ]
    assert bool(effect.refused) is bool(lost)
    assert (find_lost_leaf(typed(old), typed(new), [print_path(read)]) is None) is not bool(effect.refused)
    for one in effect.refused:
        assert any(is_touched(path, parse_path(one.path)) for path in lost)
        assert one.reads == (ColumnRead("r", print_path(read)),)


@given(COLUMNS, COLUMNS)
def test_what_nobody_reads_may_change_and_every_change_is_told(
    old: tuple[Column, ...], new: tuple[Column, ...]
) -> None:
    effect = find_refresh_effect(old, new, ())
    refuse_refresh("s", effect)
    assert not effect.refused
    before, after = ({lower_path(path): kind for path, kind in list_leaves(typed(one))} for one in (old, new))
    changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    told = [lower_path(parse_path(one.path)) for one in effect.effects if one.kind in {"added", "gone", "retyped"}]
    assert all(any(is_touched(path, one) for one in told) for path in changed)
    assert all(any(is_touched(path, one) for path in changed) for one in told)
    assert len(effect.rows) == len(json.loads(effect.to_json())) == len(effect.effects)


@given(COLUMNS)
def test_the_same_columns_have_no_effect_in_any_order(columns: tuple[Column, ...]) -> None:
    reads = [ColumnRead("r", print_path(path)) for path, _ in list_leaves(typed(columns))]
    assert find_refresh_effect(columns, tuple(reversed(columns)), reads).effects == ()
    assert find_refresh_effect(columns, columns, reads).explain() == "the columns stay as they are"


@given(types, types)
def test_a_type_is_wider_than_none_that_it_does_not_hold(one: ColumnType, other: ColumnType) -> None:
    assume(one != other)
    assert not (is_wider(one, other) and is_wider(other, one))


def test_a_refusal_names_readers_columns_and_types() -> None:
    old = (Column("id", Scalar("int32"), nullable=False), Column("s", Struct((Column("a", Scalar("string")),))))
    new = (Column("id", Scalar("int64"), nullable=False),)
    reads = [ColumnRead("daily", "ID"), ColumnRead("daily", "s.a"), ColumnRead("alerts", "s")]
    with pytest.raises(SourceUsed) as refused:
        refuse_refresh("orders", find_refresh_effect(old, new, reads))
    assert str(refused.value) == (
        "the schema of orders can't be refreshed: daily reads ID: id is BIGINT from now on, and was INT; alerts reads s, daily reads s.a: "
        "s STRUCT<a: STRING> goes. Drop these readers or let them read other columns first, or keep the schema that the source has"
    )
    reason = refused.value.reason
    assert (reason.rule, reason.path, reason.old, reason.new) == ("COLUMN_READ", "id", "INT", "BIGINT")
    assert reason.details == ("alerts", "daily")


def cases() -> list[str]:
    return sorted(path.name for path in CASES.iterdir() if path.is_dir())


@pytest.mark.parametrize("name", cases())
def test_a_case_has_the_effect_that_is_written_down(name: str) -> None:
    """Two schemas, who reads what, and the lines that a dry run prints."""
    folder = CASES / name
    ending, format_ = next(
        (ending, format_)
        for ending, format_ in (("avsc", "AVRO"), ("proto", "PROTOBUF"), ("json", "JSON"))
        if (folder / f"old.{ending}").exists()
    )
    old, new = (ResolvedSchema(format_, (folder / f"{one}.{ending}").read_text("utf-8")) for one in ("old", "new"))
    reads = [ColumnRead(*line.split(" ", 1)) for line in (folder / "reads.txt").read_text("utf-8").splitlines()]
    effect = find_refresh_effect(
        columns_of_schema(old).columns, columns_of_schema(new).columns, reads, list_renames(old, new)
    )
    assert f"{effect.explain()}\n" == (folder / "effect.txt").read_text("utf-8")


def test_types_that_are_used_in_very_many_places_end() -> None:
    """Each record has the next one twice, and each message all others: there are more paths than can be walked."""
    wide: dict[str, object] = {"type": "record", "name": "R0", "fields": [{"name": "x", "type": "int"}]}
    for at in range(1, 60):
        fields = [{"name": "a", "type": wide}, {"name": "b", "type": f"R{at - 1}"}]
        wide = {"type": "record", "name": f"R{at}", "fields": fields}
    avro = ResolvedSchema("AVRO", json.dumps(wide))
    body = "".join(f"M{at} a{at} = {at + 1}; " for at in range(6))
    messages = "".join(f"message M{at} {{ {body} }} " for at in range(6))
    for schema in (avro, ResolvedSchema("PROTOBUF", f'syntax = "proto3"; {messages}')):
        assert list_renames(schema, schema) == ()

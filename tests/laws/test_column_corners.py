"""Columns of sources at their corners: how many names a message has before it says that there are more, renamed columns in any case, all readers of
a refreshed source, schemas that are one value, and types at the edge of a format.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.planning import SelectPlanner
from treaty import connect
from treaty.client.connection import Connection
from treaty.core.limits import DECIMAL_DIGITS
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import subject_of
from treaty.core.refusals import Refusal
from treaty.core.registry import run_exchange
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedSchema
from treaty.core.sources import Source, SourceColumn
from treaty.core.state.columns import Column, Columns, Decimal, List, Map, Scalar, Struct
from treaty.metastore import Metastore, PlanningOptions
from treaty.metastore.columns.allowed_types import list_absent_types
from treaty.metastore.columns.declared import list_casts
from treaty.metastore.columns.from_schema import columns_of_schema
from treaty.metastore.columns.pins import NAMED_USES, _other_subject
from treaty.metastore.columns.refresh import (
    REFUSED_NAMES,
    ColumnEffect,
    ColumnRead,
    RefreshEffect,
    find_refresh_effect,
    is_wider,
    refuse_refresh,
)
from treaty.metastore.columns.renames import list_renames
from treaty.metastore.columns.source_refresh import _list_own_reads, plan_refresh
from treaty.metastore.columns.to_schema import NAMED_CLASHES

FORMATS = ("AVRO", "JSON", "PROTOBUF")
INT, TEXT = Scalar("int32"), Scalar("string")


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        connection.ask(SetConfig(Scope(".", None), Config(level="NONE")))
        yield connection


def record(*names: str, kind: Any = "int") -> str:
    fields = [{"name": name, "type": kind} for name in names]
    return json.dumps({"type": "record", "name": "R", "fields": fields})


def refusal_of(registry: Connection, sql: str) -> Refusal:
    with pytest.raises(Refusal) as refused:
        Metastore(registry.registry).run(sql)
    return refused.value


# ------------------------------------------------------------------------------------------- so many names, and how many more


def clash_of(registry: Connection, count: int) -> str:
    names = [f"c{place}" for place in range(count)]
    registry.ask(Register(subject_of("s-value"), Draft(record(*names, kind="string"))))
    columns = ", ".join(f"{name} INT" for name in names)
    return refusal_of(registry, f"CREATE STREAM s ({columns}) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')").reason.message  # fmt: skip


def loss_of(_: Connection, count: int) -> str:
    effects = [ColumnEffect("gone", f"c{place}", "INT", "", (ColumnRead("q", f"c{place}"),)) for place in range(count)]
    with pytest.raises(Refusal) as refused:
        refuse_refresh("s", RefreshEffect(tuple(effects)))
    return refused.value.reason.message


def use_of(_: Connection, count: int) -> str:
    uses = [(subject_of(f"c{place}"), place) for place in range(count)]
    return _other_subject(subject_of("s"), 7, uses, "SUBJECT").reason.message


LISTINGS: dict[str, tuple[int, Callable[[Connection, int], str]]] = {
    "clashes": (NAMED_CLASHES, clash_of),
    "losses": (REFUSED_NAMES, loss_of),
    "uses": (NAMED_USES, use_of),
}


@pytest.mark.parametrize("listing", LISTINGS)
@pytest.mark.parametrize("further", [-1, 0, 1, 2])
def test_a_message_has_as_many_names_as_it_may_and_says_how_many_more(
    registry: Connection, listing: str, further: int
) -> None:
    limit, message_of = LISTINGS[listing]
    message = message_of(registry, limit + further)
    shown = [place for place in range(limit + further) if f"c{place}" in message]
    assert shown == list(range(min(limit, limit + further)))
    assert (f"(and {further} more)" in message) is (further > 0)
    assert ("more)" in message) is (further > 0)


# ------------------------------------------------------------------------------------------------------------- refresh


@pytest.mark.parametrize("name", ["b", "B", "Bb"])
@pytest.mark.parametrize("path", ["a", "A"])
def test_a_column_that_is_called_otherwise_is_followed_in_any_case(name: str, path: str) -> None:
    for wrap in (lambda kind: kind, lambda kind: Struct((Column("x", kind),))):
        effect = find_refresh_effect([Column("a", wrap(INT))], [Column(name, wrap(INT))], [ColumnRead("q", "a")], [(path, name)])  # fmt: skip
        assert [(one.kind, one.old, one.new, one.is_refused) for one in effect.effects] == [("renamed", "a", name, True)]  # fmt: skip


def test_no_column_takes_the_place_of_one_that_was_there() -> None:
    """A name that another column had is that column, whatever a rename says."""
    old, new = [Column("a", INT), Column("b", TEXT)], [Column("b", TEXT)]
    assert [one.kind for one in find_refresh_effect(old, new, [], [("a", "b")]).effects] == ["gone"]


PLACES: dict[str, Callable[[Any], Any]] = {
    "a": lambda kind: kind,
    "a.x": lambda kind: Struct((Column("x", kind),)),
    "a.element": List,
    "a.key": lambda kind: Map(kind, INT),
    "a.value": lambda kind: Map(TEXT, kind),
}


@pytest.mark.parametrize("path", PLACES)
def test_another_type_at_any_place_is_refused_for_who_reads_it_there(path: str) -> None:
    wrap = PLACES[path]
    for reader, is_refused in ((path, True), ("a", True), ("b", False)):
        effect = find_refresh_effect([Column("a", wrap(INT))], [Column("a", wrap(Scalar("int64")))], [ColumnRead("q", reader)])  # fmt: skip
        assert [(one.kind, one.path, one.is_wider, one.is_refused) for one in effect.effects] == [("retyped", path, True, is_refused)]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "wider"),
    [
        (Decimal(9, 2), Decimal(9, 2), True),
        (Decimal(9, 2), Decimal(10, 3), True),
        (Decimal(9, 2), Decimal(9, 3), False),
        (Decimal(9, 2), Decimal(9, 1), False),
        (Decimal(9, 2), Decimal(20, 1), False),
        (INT, Decimal(10, 0), True),
        (INT, Decimal(9, 0), False),
        (INT, Decimal(11, 2), False),
        (Scalar("int64"), Decimal(19, 0), True),
        (Scalar("int64"), Decimal(18, 0), False),
        (TEXT, Decimal(38, 0), False),
        (Decimal(2, 0), INT, False),
        (Scalar("null"), List(INT), True),
        (Scalar("float32"), Scalar("float64"), True),
        (Scalar("float64"), Scalar("float32"), False),
    ],
)
def test_a_type_is_wider_that_holds_each_value_of_the_other(old: Any, new: Any, *, wider: bool) -> None:
    assert is_wider(old, new) is wider


def test_each_reader_of_a_source_counts_in_its_refresh(registry: Connection) -> None:
    metastore = Metastore(registry.registry, planning=PlanningOptions(SelectPlanner()))
    registry.ask(Register(subject_of("s-value"), Draft(record("a", "b", "c", "d"))))
    metastore.run("CREATE STREAM s WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')")
    for name in "abc":
        metastore.run(f"CREATE STREAM q{name} AS SELECT {name} FROM STREAM S")
    registry.ask(Register(subject_of("s-value"), Draft(record("e"))))
    effects = run_exchange(registry, plan_refresh("s")).effect.effects
    readers = {one.path: [read.reader for read in one.reads] for one in effects}
    assert readers == {"a": ["qa"], "b": ["qb"], "c": ["qc"], "d": [], "e": []}


@pytest.mark.parametrize("table", ["AVRO", "JSON", "PROTOBUF"])
def test_schemas_of_two_formats_have_no_renames(table: str) -> None:
    texts = {
        "AVRO": '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]}',
        "JSON": '{"type": "object", "properties": {"a": {"type": "integer"}}}',
        "PROTOBUF": 'syntax = "proto3"; message R { int32 a = 1; }',
    }
    for other in texts.keys() - {table}:
        assert list_renames(ResolvedSchema(table, texts[table]), ResolvedSchema(other, texts[other])) == ()


# ----------------------------------------------------------------------------------------------------- schemas and types

WHOLE = {"AVRO": '"int"', "JSON": '{"type": "integer"}'}


@pytest.mark.parametrize("format_", WHOLE)
@pytest.mark.parametrize("side", ["key", "value"])
def test_a_schema_of_one_value_is_a_column_with_the_name_of_its_side(format_: str, side: Any) -> None:
    columns = columns_of_schema(ResolvedSchema(format_, WHOLE[format_]), side=side)
    assert [one.name for one in columns] == [side]
    assert columns.whole


@pytest.mark.parametrize("format_", ["AVRO", "JSON"])
@pytest.mark.parametrize("say", ["", ", WRAP_SINGLE_VALUE = 'true'", ", WRAP_SINGLE_VALUE = 'false'"])
@pytest.mark.parametrize("is_whole", [False, True])
def test_a_single_column_is_wrapped_as_its_statement_or_else_the_latest_version_says(
    registry: Connection, format_: str, say: str, *, is_whole: bool
) -> None:
    fields = {"AVRO": record("v"), "JSON": '{"type": "object", "properties": {"v": {"type": "integer"}}}'}
    registry.ask(Register(subject_of("s-value"), Draft(WHOLE[format_] if is_whole else fields[format_], format_)))
    registry.ask(SetConfig(Scope(".", "s-value"), Config(level="NONE")))
    kind = "INT" if format_ == "AVRO" else "BIGINT"
    sql = f"CREATE STREAM s (v {kind}) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = '{format_}'{say})"
    if is_whole and "true" in say:
        assert "the latest version is" in refusal_of(registry, sql).reason.message
        return
    Metastore(registry.registry).run(sql)
    (row,) = Metastore(registry.registry).run("SELECT schema_id FROM treaty.sources")[0].rows
    assert (row[0] == 1) is (is_whole or "false" not in say)


@pytest.mark.parametrize("name", ["shop.Order", "an order", "1"])
@pytest.mark.parametrize("format_", FORMATS)
def test_a_title_of_json_is_any_text_and_a_name_of_the_others_is_a_name(
    registry: Connection, format_: str, name: str
) -> None:
    sql = f"CREATE STREAM s (v BIGINT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = '{format_}', VALUE_SCHEMA_FULL_NAME = '{name}')"
    if format_ == "JSON" or name == "shop.Order":
        assert Metastore(registry.registry).run(sql, dry_run=True)[0].message == "Stream s would be created"
    else:
        assert refusal_of(registry, sql).reason.rule == "SCHEMA_NAME"


@pytest.mark.parametrize("format_", ["", *FORMATS])
@pytest.mark.parametrize("side", ["KEY", "VALUE"])
def test_wrappers_are_for_protobuf_or_for_what_the_schema_is(registry: Connection, format_: str, side: str) -> None:
    text = 'syntax = "proto3"; message R { int32 a = 1; }'
    registry.ask(Register(subject_of(f"s-{side.lower()}"), Draft(text, "PROTOBUF")))
    other = "VALUE" if side == "KEY" else "KEY"
    says = [f"{side}_FORMAT = '{format_}'"] * bool(format_) + [f"{side}_PROTOBUF_NULLABLE_REPRESENTATION = 'WRAPPER'"]
    says += ["KEY_SUBJECT = 's-key'"] * (side == "KEY") + ["VALUE_FORMAT = 'AVRO'"] * (other == "VALUE")
    column = "(v INT) " if other == "VALUE" else ""
    sql = f"CREATE STREAM s {column}WITH (KAFKA_TOPIC = 's', {', '.join(says)})"
    if format_ in {"", "PROTOBUF"}:
        assert Metastore(registry.registry).run(sql, dry_run=True)[0].message == "Stream s would be created"
    else:
        refused = refusal_of(registry, sql).reason
        assert (refused.rule, refused.path) == ("SOURCE_FORMAT", f"{side}_PROTOBUF_NULLABLE_REPRESENTATION")


def test_a_decimal_has_one_digit_at_least_and_no_more_than_the_limit_none_to_all_of_them_behind_the_point() -> None:
    for precision in (0, 1, 2, DECIMAL_DIGITS - 1, DECIMAL_DIGITS, DECIMAL_DIGITS + 1):
        for scale in (-1, 0, 1, precision - 1, precision, precision + 1):
            is_decimal = 1 <= precision <= DECIMAL_DIGITS and 0 <= scale <= precision
            for format_ in FORMATS:
                for wrap in (lambda kind: kind, List, lambda kind: Map(TEXT, kind), lambda kind: Struct((Column("x", kind),))):  # fmt: skip
                    absent = list(list_absent_types([Column("c", wrap(Decimal(precision, scale)))], format_))
                    assert (absent == []) is is_decimal, (precision, scale, format_)


def test_columns_are_cast_whose_types_differ_in_more_than_what_may_be_null() -> None:
    """Types print alike where they differ only in null: rows need no cast then."""
    decoded = [Column("a", List(INT, nullable=True)), Column("b", INT), Column("c", INT), Column("e", INT)]
    own = [Column("a", List(INT)), Column("b", INT), Column("c", Scalar("int64")), Column("d", INT)]
    assert list(list_casts(own, decoded)) == [("c", "INT", "BIGINT")]
    assert list(list_casts(own, Columns(tuple(decoded)).columns)) == [("c", "INT", "BIGINT")]


# ---------------------------------------------------------------------------------------------------------- own columns


def test_a_column_in_other_letters_is_the_same_to_who_reads_it() -> None:
    effect = find_refresh_effect([Column("a", INT)], [Column("A", INT)], [ColumnRead("q", "a")])
    assert [(one.kind, one.old, one.new, one.is_refused) for one in effect.effects] == [("renamed", "a", "A", False)]


@pytest.mark.parametrize("kind", ["STREAM", "TABLE"])
def test_a_source_needs_its_time_and_the_columns_of_properties_and_a_table_its_key(kind: str) -> None:
    columns = (SourceColumn("K", "INT", role="key"), SourceColumn("At", "TIMESTAMP"), SourceColumn("v", "INT"))
    properties = (("DEDUPLICATE", "k, V"), ("WATERMARK", "`at` DELAY OF INTERVAL 1 second"), ("LABEL", "v"))
    source = Source(kind, "s", "", columns, 1, timestamp="At", properties=properties)
    own = [("PRIMARY KEY", "K")] if kind == "TABLE" else []
    reads = [(one.reader, one.path) for one in _list_own_reads(source)]
    assert reads == [*own, ("TIMESTAMP", "At"), ("DEDUPLICATE", "K"), ("DEDUPLICATE", "v"), ("WATERMARK", "At")]


@pytest.mark.parametrize("message", ["", "B", ".B", "p.B", ".p.B"])
def test_a_message_is_named_with_its_package_or_without(message: str) -> None:
    text = 'syntax = "proto3"; package p; message A {{ int32 a{0} = 1; }} message B {{ int32 b{0} = 1; }}'
    old, new = (ResolvedSchema("PROTOBUF", text.format(word)) for word in ("", "x"))
    renames = (("b", "bx"),) if message else (("a", "ax"),)
    assert list_renames(old, new, message=message) == renames


def test_a_refresh_in_a_dry_run_binds_nothing_anew(registry: Connection) -> None:
    registry.ask(Register(subject_of("s-value"), Draft(record("a"))))
    metastore = Metastore(registry.registry)
    metastore.run("CREATE STREAM s WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')")
    registry.ask(Register(subject_of("s-value"), Draft(record("a", "b"))))
    for dry_run, names in ((True, ["a"]), (False, ["a", "b"])):
        metastore.refresh_schema("s", dry_run=dry_run)
        assert [one.name for one in metastore.describe("s").source.columns] == names

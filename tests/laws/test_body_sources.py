"""Sources as a body may read them, the columns that come out of it, and refusals in plain words: no Spark runs here."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pyspark.errors import PySparkException

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.core.messages.metastore.sources import CreateSource, SourceDefinition
from treaty.core.registry import run_exchange
from treaty.core.sources import QueryPlan, SourceColumn, SourceRead
from treaty.metastore import Metastore
from treaty.spark.planner.errors import refuse
from treaty.spark.planner.output import read_output, refuse_bad_keys
from treaty.spark.planner.pseudo_columns import PSEUDO, PSEUDO_TYPES, add_pseudo_columns
from treaty.spark.planner.questions import BodyRefusedError, ReadableSource
from treaty.spark.planner.registry_sources import find_columns, find_readable_source
from treaty.spark.planner.state_parts import _describe_window, _duration
from treaty.spark.planner.views import keep_columns, refuse_bad_watermark, split_watermark


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as opened:
        yield opened


def read(registry: Connection, name: str) -> ReadableSource:
    found = run_exchange(registry.registry, find_readable_source(name))
    assert found is not None
    return found


COLUMNS = "(id INT NOT NULL KEY, `Odd` place NOT NULL, at TIMESTAMP NOT NULL, n INT NOT NULL, v INT)"


@pytest.mark.parametrize("kind", ["STREAM", "TABLE"])
@pytest.mark.parametrize(("format_", "required"), [("AVRO", "Odd at n"), ("PROTOBUF", "n"), ("JSON", "")])
def test_a_source_is_read_as_its_row_says(registry: Connection, kind: str, format_: str, required: str) -> None:
    metastore, columns = Metastore(registry.registry), COLUMNS
    metastore.run("CREATE TYPE place AS STRUCT<x: INT, y: STRING>")
    if kind == "TABLE":
        columns = columns.replace("KEY", "PRIMARY KEY")
    options = (
        "WATERMARK = 'at DELAY OF INTERVAL 10 seconds', DEDUPLICATE = ' v , `odd`'"
        if kind == "STREAM"
        else "MATERIALIZE = 'delta'"
    )
    metastore.run(f"CREATE {kind} s {columns} WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = '{format_}', {options})")
    source = read(registry, "S")
    assert (source.name, source.kind, source.has_records, source.revision) == ("s", kind, True, 1)
    assert {one.name: one.type for one in source.columns} == {
        "id": "INT", "Odd": "STRUCT<x: INT, y: STRING>", "at": "TIMESTAMP", "n": "INT", "v": "INT"
    }  # fmt: skip
    never_null = {one.name for one in source.columns if not one.nullable}
    assert never_null == {*required.split(), *(["id"] if kind == "TABLE" else [])}
    assert source.deduplicate == (("v", "odd") if kind == "STREAM" else ())
    assert (source.watermark != "", source.is_joinable) == (kind == "STREAM", kind == "TABLE")
    assert source.value is not None
    assert source.value.ordinal == registry.version("s-value").ordinal
    listed = run_exchange(registry.registry, find_columns("s"))
    assert listed is not None
    assert [one.type for one in listed][1] == "place"
    metastore.run(f"ALTER {kind} s ADD COLUMN w INT")
    assert read(registry, "s").revision == 2
    assert run_exchange(registry.registry, find_columns("t")) is None
    assert run_exchange(registry.registry, find_readable_source("t")) is None


QUERY = QueryPlan("SELECT 1", (SourceRead("flights", 1, "flights"),))


@pytest.mark.parametrize("kind", ["STREAM", "TABLE"])
@pytest.mark.parametrize(
    ("connector", "query", "never_null"),
    [
        ("delta", QUERY, "v"), ("delta", None, ""), ("iceberg", QUERY, ""), ("iceberg", None, ""), ("files", None, ""),
    ],
    ids=["our delta", "a delta of others", "our iceberg", "an iceberg of others", "files"],
)  # fmt: skip
def test_rows_of_others_may_have_nulls_in_columns_that_say_they_have_none(
    registry: Connection, connector: str, query: QueryPlan | None, never_null: str, kind: str
) -> None:
    """What others write is not checked, and a row of a table has a key."""
    columns = (
        SourceColumn("id", "INT", nullable=False, role="key"), SourceColumn("v", "INT", nullable=False), SourceColumn("w", "INT"),
    )  # fmt: skip
    flights = SourceDefinition("flights", "STREAM", "", (SourceColumn("id", "INT"),), place="flights")
    registry.ask(CreateSource(flights))
    definition = SourceDefinition("s", kind, "", columns, connector=connector, place="p", query=query)
    registry.ask(CreateSource(definition))
    has_key = kind == "TABLE" or never_null
    expected = {*never_null, *(["id"] if has_key else [])}
    assert {column.name for column in read(registry, "s").columns if not column.nullable} == expected


# ------------------------------------------------------------------------------------------------- columns that a body reads

TIMED = ReadableSource(
    "Flights", "STREAM", 1,
    (SourceColumn("z", "INT"), SourceColumn("Ts", "TIMESTAMP"), SourceColumn("a", "INT"), SourceColumn("D", "INT")),
    "ts DELAY OF INTERVAL 10 seconds", ("d",), has_records=True,
)  # fmt: skip
BARE = replace(TIMED, watermark="", deduplicate=())


@pytest.mark.parametrize(
    ("source", "needed", "words", "kept"),
    [
        (TIMED, {}, (), "D Ts"), (TIMED, {"flights": {"z"}}, (), "D Ts z"), (TIMED, {}, ("a",), "D Ts a"), (BARE, {}, (), "z"),
        (BARE, {"flights": {"a", "ts"}}, (), "Ts a"), (BARE, {"other": {"a"}}, (), "z"),
    ],
)  # fmt: skip
def test_a_state_is_of_the_columns_that_a_body_needs_in_the_order_of_their_names(
    source: ReadableSource, needed: dict[str, set[str]], words: tuple[str, ...], kept: str
) -> None:
    (made,) = keep_columns([source], needed, words)
    assert [one.name for one in made.columns] == kept.split()
    assert replace(made, columns=source.columns) == source


def test_columns_of_a_record_are_there_where_they_are_named_and_no_own_one_has_their_name() -> None:
    def added(source: ReadableSource, *words: str) -> list[str]:
        made = add_pseudo_columns(source, words)
        assert made.columns[: len(source.columns)] == source.columns
        assert all(
            (one.role, one.type) == (PSEUDO, PSEUDO_TYPES[one.name]) for one in made.columns[len(source.columns) :]
        )
        return [one.name for one in made.columns[len(source.columns) :]]

    assert added(BARE, "_offset", "a", "_topic", "nothing") == ["_topic", "_offset"]
    assert added(BARE) == []
    assert added(replace(BARE, has_records=False), "_offset") == []
    assert added(replace(BARE, watermark="`_timestamp` DELAY OF INTERVAL 1 second", deduplicate=("_OFFSET",))) == [
        "_offset", "_timestamp",
    ]  # fmt: skip
    own = replace(BARE, columns=(*BARE.columns, SourceColumn("_Offset", "STRING")))
    assert added(own, "_offset", "_partition") == ["_partition"]


def test_a_watermark_is_a_column_and_a_delay() -> None:
    assert split_watermark("ts DELAY OF INTERVAL 10 seconds") == ("ts", "10 seconds")
    assert split_watermark("`a``b c` DELAY OF INTERVAL 1 hour 3 minutes") == ("a`b c", "1 hour 3 minutes")
    for source in (TIMED, BARE, replace(TIMED, deduplicate=())):
        refuse_bad_watermark(source)
    with pytest.raises(BodyRefusedError, match="Flights has DEDUPLICATE and no WATERMARK"):
        refuse_bad_watermark(replace(BARE, deduplicate=("a",)))


# ----------------------------------------------------------------------------------------------------- columns that come out


def field(name: str, kind: Any, *, nullable: bool = True, **metadata: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": nullable, "metadata": metadata}


def struct(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": [*fields]}


KINDS: list[tuple[Any, str]] = [
    ("byte", "TINYINT"), ("short", "SMALLINT"), ("integer", "INT"), ("long", "BIGINT"), ("float", "FLOAT"), ("double", "DOUBLE"),
    ("boolean", "BOOLEAN"), ("string", "STRING"), ("binary", "BINARY"), ("date", "DATE"), ("timestamp", "TIMESTAMP"),
    ("timestamp_ntz", "TIMESTAMP_NTZ"), ("variant", "VARIANT"), ("decimal(10,2)", "DECIMAL(10, 2)"), ("char(3)", "STRING"),
    ("varchar(3)", "STRING"), ("string collate UNICODE", "STRING"),
    ({"type": "array", "elementType": "long"}, "ARRAY<BIGINT>"), ({"type": "map", "keyType": "string", "valueType": "integer"}, "MAP<STRING, INT>"),
    (struct(field("x", "integer", nullable=False), field("y", struct(field("z", "date")))), "STRUCT<x: INT NOT NULL, y: STRUCT<z: DATE>>"),
]  # fmt: skip


def test_columns_come_out_with_their_types_names_nulls_and_comments() -> None:
    fields = [field(f"c{place}", kind) for place, (kind, _) in enumerate(KINDS)]
    fields += [field("required", "long", nullable=False), field("told", "long", comment="why")]
    columns = read_output(json.dumps(struct(*fields)))
    assert [one.type for one in columns[: len(KINDS)]] == [told for _, told in KINDS]
    assert [one.name for one in columns] == [one["name"] for one in fields]
    assert [one.name for one in columns if not one.nullable] == ["required"]
    assert [(one.name, one.comment) for one in columns if one.comment] == [("told", "why")]
    for refused, code in (
        ([field("a", "long"), field("b", "long", __autoGeneratedAlias="true")], "COLUMN_UNNAMED"),
        ([field("a", "long"), field("b", "long"), field("A", "long")], "COLUMN_TWICE"), ([field("a", "long"), field("a", "long")], "COLUMN_TWICE"),
        ([field("a", "interval day")], "OUTPUT_TYPE"), ([field("a", {"type": "array", "elementType": "calendar"})], "OUTPUT_TYPE"),
    ):  # fmt: skip
        with pytest.raises(BodyRefusedError) as error:
            read_output(json.dumps(struct(*refused)))
        assert error.value.code == code


def test_a_key_has_no_map_inside_and_a_field_may_have_the_name_of_one() -> None:
    refuse_bad_keys(
        [SourceColumn("a", "STRUCT<map: INT, `MAP`: ARRAY<INT>, variant: STRING>"), SourceColumn("b", "ARRAY<INT>")]
    )
    for kind in (
        "MAP<INT, INT>",
        "VARIANT",
        "ARRAY<MAP<INT, INT>>",
        "STRUCT<x: VARIANT>",
        "STRUCT<map: MAP<INT, INT>>",
    ):
        with pytest.raises(BodyRefusedError, match="the column a is of the key and is"):
            refuse_bad_keys([SourceColumn("b", "INT"), SourceColumn("a", kind)])


# ------------------------------------------------------------------------------------------------------------ in plain words


def test_a_refusal_has_the_first_paragraph_of_spark_and_its_place() -> None:
    body = "SELECT a\nFROM x\nWHERE 1 +"
    said = "[NO_SUCH.THING] It is not there.\nAnd so on; line 3, pos 6;\n'Project [*]\n+- 'Filter"
    refused = refuse(PySparkException(message=said), body)
    assert (refused.code, refused.message) == ("BODY_WRONG", "It is not there. And so on")
    assert body[refused.start : refused.end] == "1"
    for text, told in {
        "[X] Too long. SQLSTATE: 42000 (line 1, pos 7)": "Too long.", "[X] If necessary set spark.sql.ansi.enabled to false. Then.": "Then.",
        "[X] one\n\ntwo": "one", "[X] one\n== SQL (line 1) ==\nSELECT": "one", "": "Spark refuses the query",
        "[X] the lambdafunction a#7": "Spark can't work out the query: a name, an operator or a function stands where it has no meaning, and Spark does not say which",
    }.items():  # fmt: skip
        assert refuse(PySparkException(message=text), body).message == told
    at = refuse(PySparkException(message="[X] no. (line 1, pos 7)"), body)
    assert body[at.start : at.end] == "a"
    end = refuse(PySparkException(message="[X] no. (line 3, pos 9)"), body)
    assert (end.start, end.end) == (len(body), len(body))
    for beyond in ("[X] no. (line 3, pos 10)", "[X] no."):
        other = refuse(PySparkException(message=beyond), body)
        assert (other.start, other.end) == (-1, -1)


def test_a_window_is_told_in_its_own_units() -> None:
    for microseconds, told in {
        1: "1 microsecond", 1_500_000: "1500000 microseconds", 1_000_000: "1 second", 90_000_000: "90 seconds", 60_000_000: "1 minute",
        7_200_000_000: "2 hours", 86_400_000_000: "1 day", 90_000_000_000: "25 hours",
    }.items():  # fmt: skip
        assert _duration(microseconds) == told
    plain = "(precisetimestampconversion(s.ts) % 60000000L) + 60000000L) + 0L)"
    assert _describe_window(plain) == "1 minute of s.ts"
    assert _describe_window(plain.replace("+ 60000000L", "+ 300000000L")) == "5 minutes of s.ts each 1 minute"
    several = plain.replace("+ 60000000L)", "+ 60000000L) + 300000000L)")
    assert _describe_window(several) == "5 minutes of s.ts each 1 minute"
    assert _describe_window("session_window(ts)") == "session_window(ts)"

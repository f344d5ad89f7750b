"""Records of sources at the edges: the last value that fits a type, what comes more than once, own columns in the place of others, other contexts."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from tests.behaviours.kept_records import KeptRecords
from tests.behaviours.test_record_reader import select, source_of
from treaty import connect
from treaty.client.connection import Connection
from treaty.client.kafka.consumer import TopicRecord
from treaty.client.kafka.producer import OutgoingRecord
from treaty.core.messages.encodings import ListEncodings
from treaty.core.messages.registration import Register
from treaty.core.names import subject_of
from treaty.core.refusals import Invalid
from treaty.core.schema import Draft
from treaty.metastore import Metastore
from treaty.metastore.records.reader import SourceReader
from treaty.metastore.records.selection import make_selection
from treaty.metastore.sql.values import format_time

FORMATS = ("AVRO", "PROTOBUF", "JSON")


@pytest.fixture
def kept() -> KeptRecords:
    return KeptRecords()


@pytest.fixture
def connection() -> Iterator[Connection]:
    with connect("memory:") as opened:
        yield opened


@pytest.fixture
def metastore(connection: Connection, kept: KeptRecords) -> Metastore:
    return Metastore(connection.registry, destination=kept)


def as_read(record: OutgoingRecord) -> TopicRecord:
    return TopicRecord(3, 7, record.key, record.value, record.headers, 1_700_000_000_123)


def read_back(metastore: Metastore, kept: KeptRecords, name: str = "s") -> list[dict[str, Any]]:
    reader = SourceReader(metastore.registry, source_of(metastore, name))
    decoded = [reader.decode(as_read(one)) for one in kept.records]
    assert [one.bad for one in decoded] == [{}] * len(decoded)
    return [reader.cells(one) for one in decoded]


# ------------------------------------------------------------------------------------------------- the last value that fits

LAST: dict[str, dict[str, Any]] = {
    "INT": {"2147483647": 2147483647, "-2147483648": -2147483648},
    "BIGINT": {"9223372036854775807": 9223372036854775807, "-9223372036854775808": -9223372036854775808},
    "FLOAT": {"16777216": 2.0**24, "-16777216": -(2.0**24), "0.5": 0.5},
    "DOUBLE": {"9007199254740992": 2.0**53, "-9007199254740992": -(2.0**53), "1E308": 1e308},
    "DECIMAL(2, 2)": {"0": "0.00", "0.99": "0.99", "-0.99": "-0.99", "0.500": "0.50"},
    "DECIMAL(5, 2)": {"999.99": "999.99", "-999.99": "-999.99", "0.0": "0.00", "100": "100.00"},
    "DECIMAL(3, 0)": {"999": "999", "1.0": "1"},
    "DATE": {"'0001-01-01'": "0001-01-01", "'9999-12-31'": "9999-12-31"},
    "BOOLEAN": {"TRUE": True, "FALSE": False},
}
"""By type, literals at the edge of what it takes, and what is read of each; those beyond are refused in `test_insert.py`."""


@pytest.mark.parametrize("format_", FORMATS)
def test_the_last_value_that_fits_a_type_is_written_and_read(
    metastore: Metastore, kept: KeptRecords, format_: str
) -> None:
    for number, (kind, literals) in enumerate(LAST.items()):
        kept.records.clear()
        rows = ", ".join(f"({one})" for one in literals)
        metastore.run(
            f"CREATE STREAM s{number} (c {kind} NOT NULL) WITH (KAFKA_TOPIC = 't{number}', VALUE_FORMAT = '{format_}');"
            f"INSERT INTO s{number} VALUES {rows}"
        )
        source = source_of(metastore, f"s{number}")
        cells = read_back(metastore, kept, f"s{number}")
        for row, (literal, value) in zip(cells, literals.items(), strict=True):
            same = (
                Decimal(str(row["c"])) == Decimal(value) if kind.startswith("DECIMAL") else str(row["c"]) == str(value)
            )
            assert same or float(row["c"]) == value, (kind, literal, row["c"])
            selection = make_selection(
                select(f"SELECT c FROM STREAM s{number} WHERE c = {literal} LIMIT 1"), source, {}
            )
            assert [selection.is_met(one) for one in cells] == [one is row for one in cells], (kind, literal)


def test_a_member_that_is_never_null_is_refused_wherever_it_stands(metastore: Metastore, kept: KeptRecords) -> None:
    inner = "STRUCT<a: INT NOT NULL, b: INT>"
    for number, (kind, form) in enumerate({inner: "{}", f"ARRAY<{inner}>": "ARRAY({})", f"MAP<STRING, {inner}>": "MAP('k', {})"}.items()):  # fmt: skip
        metastore.run(f"CREATE STREAM s{number} (c {kind}) WITH (KAFKA_TOPIC = 't{number}', VALUE_FORMAT = 'AVRO')")
        metastore.run(f"INSERT INTO s{number} VALUES ({form.format('STRUCT(a := 1, b := NULL)')})")
        with pytest.raises(Invalid) as refused:
            metastore.run(f"INSERT INTO s{number} VALUES ({form.format('STRUCT(a := NULL, b := 1)')})")
        assert refused.value.reason.rule == "VALUE_UNFIT"
        assert refused.value.reason.path.endswith(".a")
        assert "it is never NULL" in refused.value.reason.message
    assert len(kept.records) == 3


def test_all_values_that_do_not_fit_and_all_columns_that_there_are_not_are_named(metastore: Metastore) -> None:
    metastore.run("CREATE STREAM s (a INT, b INT, c DATE) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')")
    with pytest.raises(Invalid) as refused:
        metastore.run("INSERT INTO s VALUES ('x', 'y', 'z')")
    assert [name in refused.value.reason.message for name in ("a is INT", "b is INT", "c is DATE")] == [True] * 3
    with pytest.raises(Invalid) as refused:
        metastore.run("INSERT INTO s (aa, bb, c) VALUES (1, 2, 'z')")
    reason = refused.value.reason
    assert (reason.rule, reason.new) == ("COLUMN_UNKNOWN", "aa")
    assert [text in reason.message for text in ("no column aa", "no column bb", "c is DATE")] == [True] * 3
    assert "did you mean a?" in reason.allowed
    assert ["did you mean b?" in one for one in reason.details] == [True]


# ---------------------------------------------------------------------------------------------- own columns, headers and keys


def test_a_column_of_its_own_takes_the_place_of_a_pseudo_column(metastore: Metastore, kept: KeptRecords) -> None:
    metastore.run(
        "CREATE STREAM s (_timestamp STRING, rowtime INT, _partition STRING, _headers INT, _offset STRING, _topic BOOLEAN) "
        "WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO'); INSERT INTO s VALUES ('then', -5, 'west', 7, 'half', TRUE)"
    )
    (record,) = kept.records
    assert (record.time, record.partition, record.headers) == (0, -1, ())
    (cells,) = read_back(metastore, kept)
    row = {"_timestamp": "then", "rowtime": -5, "_partition": "west", "_headers": 7, "_offset": "half", "_topic": True}
    assert {name: cells[name] for name in row} == row
    source = source_of(metastore, "s")
    for condition, met in (("_offset = 'half'", True), ("_partition = 'west' AND _topic = TRUE", True), ("_headers = 7", True), ("_offset = '7'", False)):  # fmt: skip
        selection = make_selection(select(f"SELECT * FROM STREAM s WHERE {condition} LIMIT 1"), source, {})
        assert selection.is_met(cells) is met
        assert selection.columns == tuple(row), "each once"


def test_headers_of_all_columns_and_of_a_row_are_sent_and_read(metastore: Metastore, kept: KeptRecords) -> None:
    metastore.run(
        "CREATE STREAM s (one BINARY HEADER('h'), every ARRAY<STRUCT<key STRING, value BINARY>> HEADERS, v INT) "
        "WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO', FRAMING = 'header');"
        "INSERT INTO s (one, every, v, _headers) VALUES (X'61', ARRAY(STRUCT(key := 'b', value := X'62')), 1, MAP('h', X'63', 'd', X'64'))"
    )
    (record,) = kept.records
    names = [name for name, _ in record.headers]
    assert names == ["h", "b", "h", "d", "__value_schema_id"]
    (cells,) = read_back(metastore, kept)
    assert cells["one"] == "c", "of several headers of one name the last one counts"
    assert [one["key"] for one in cells["every"]] == ["h", "b", "h", "d"], (
        "what says the schema is no header of the row"
    )
    assert [one["key"] for one in cells["_headers"]] == names


@pytest.mark.parametrize("format_", FORMATS)
def test_a_key_of_several_columns_is_there_where_any_of_them_is(
    metastore: Metastore, kept: KeptRecords, format_: str
) -> None:
    metastore.run(
        f"CREATE STREAM s (k INT KEY, m STRING KEY, v INT) WITH (KAFKA_TOPIC = 's', FORMAT = '{format_}');"
        "INSERT INTO s VALUES (1, 'a', 1), (1, NULL, 2), (NULL, 'a', 3), (NULL, NULL, 4)"
    )
    assert [one.key is None for one in kept.records] == [False, False, False, True]
    rows = [(one["k"], one["m"], one["v"]) for one in read_back(metastore, kept)]
    assert rows == [(1, "a", 1), (1, None, 2), (None, "a", 3), (None, None, 4)]


def test_what_a_message_leaves_out_is_null_only_where_it_may_be(metastore: Metastore, kept: KeptRecords) -> None:
    metastore.run(
        "CREATE STREAM s (a INT, b INT NOT NULL, c STRING, d STRING NOT NULL) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'PROTOBUF');"
        "INSERT INTO s VALUES (NULL, 0, NULL, '')"
    )
    (cells,) = read_back(metastore, kept)
    assert [cells[name] for name in "abcd"] == [None, 0, None, ""]


# -------------------------------------------------------------------------------------------------------- framings and contexts


@pytest.mark.parametrize("framing", ["prefix", "header", "version", "md5", "single-object"])
def test_key_and_value_are_read_each_by_its_own_subject_also_by_versions_that_came_later(
    metastore: Metastore, connection: Connection, kept: KeptRecords, framing: str
) -> None:
    """The first version of either subject has the same head where this is its number; a reader is older than the next one."""
    metastore.run(
        f"CREATE STREAM s (k INT KEY, m INT KEY, v STRING) WITH (KAFKA_TOPIC = 's', FORMAT = 'AVRO', FRAMING = '{framing}');"
        "INSERT INTO s VALUES (1, 2, 'x')"
    )
    reader = SourceReader(connection.registry, source_of(metastore, "s"))
    first = reader.decode(as_read(kept.records[0]))
    assert (first.bad, first.key, first.value) == ({}, {"k": 1, "m": 2}, {"v": "x"})
    metastore.run("ALTER STREAM s ADD COLUMN w INT; INSERT INTO s VALUES (3, 4, 'y', 5)")
    second = reader.decode(as_read(kept.records[1]))
    assert (second.bad, second.key, second.value) == ({}, {"k": 3, "m": 4}, {"v": "y", "w": 5})


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "record"])
@pytest.mark.parametrize("framing", ["prefix", "header", "version", "none", "pravega"])
def test_records_of_another_context_are_read_by_its_schemas(
    metastore: Metastore, connection: Connection, kept: KeptRecords, framing: str, *, whole: bool
) -> None:
    """Ids are those of the context: the same ones are other schemas in the default context."""
    for text in ('{"type": "record", "name": "A", "fields": []}', '"bytes"', '{"type": "array", "items": "int"}'):
        connection.ask(Register(subject_of(f"other{len(text)}"), Draft(text)))
    schema = '"string"' if whole else '{"type": "record", "name": "R", "fields": [{"name": "value", "type": "string"}]}'
    connection.ask(Register(subject_of(":.team:s-value"), Draft(schema)))
    metastore.run(
        f"CREATE STREAM s WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO', SUBJECT = ':.team:s-value', FRAMING = '{framing}');"
        "INSERT INTO s VALUES ('x')"
    )
    (cells,) = read_back(metastore, kept)
    assert cells["value"] == "x"


def test_a_dry_run_of_an_insert_assigns_no_encoding(metastore: Metastore, connection: Connection) -> None:
    metastore.run(
        "CREATE STREAM s (k INT KEY, m INT KEY, v INT) WITH (KAFKA_TOPIC = 's', FORMAT = 'AVRO', FRAMING = 'pravega')"
    )
    for dry_run, assigned in ((True, 0), (False, 1)):
        metastore.run("INSERT INTO s VALUES (1, 2, 3)", dry_run=dry_run)
        for side in ("key", "value"):
            assert len(connection.ask(ListEncodings(subject_of(f"s-{side}"))).answer.ids) == assigned


EMPTY_VALUES = {'"int"': "0", '"string"': "''", '"boolean"': "FALSE", '"double"': "0E0", '"bytes"': "X''", '{"type": "array", "items": "int"}': "ARRAY()"}  # fmt: skip


@pytest.mark.parametrize("schema", EMPTY_VALUES)
@pytest.mark.parametrize("side", ["key", "value"])
def test_a_value_that_is_empty_or_zero_is_a_value(
    metastore: Metastore, connection: Connection, kept: KeptRecords, schema: str, side: str
) -> None:
    """A schema that is no record has one column; NULL alone is none of its values."""
    connection.ask(Register(subject_of(f"s-{side}"), Draft(schema)))
    says = "(v INT) WITH (KEY_SUBJECT = 's-key', " if side == "key" else "WITH ("
    metastore.run(f"CREATE STREAM s {says}KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')")
    metastore.run(f"INSERT INTO s ({side}) VALUES ({EMPTY_VALUES[schema]})")
    (cells,) = read_back(metastore, kept)
    assert cells[side] is not None
    assert not cells[side]


@pytest.mark.parametrize("framing", ["prefix", "header", "version", "none", "pravega"])
@pytest.mark.parametrize("name", ["", "A", "B"])
def test_a_message_behind_the_first_is_written_and_read(
    metastore: Metastore, connection: Connection, kept: KeptRecords, framing: str, name: str
) -> None:
    messages = 'syntax = "proto3"; message A { string a = 1; } message B { string b = 1; int32 c = 2; }'
    connection.ask(Register(subject_of("s-value"), Draft(messages, "PROTOBUF")))
    more = f", VALUE_SCHEMA_FULL_NAME = '{name}'" if name else ""
    metastore.run(f"CREATE STREAM s WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'PROTOBUF', FRAMING = '{framing}'{more})")
    column = "b" if name == "B" else "a"
    insert = f"INSERT INTO s ({column}) VALUES ('x')"
    if name == "B" and framing not in {"prefix", "header"}:
        return  # a head without the place of a message in its file
    metastore.run(insert)
    assert read_back(metastore, kept)[0][column] == "x"


@pytest.mark.parametrize("time", [None, 0, 1, 1_700_000_000_123])
def test_a_record_has_the_time_that_it_has(metastore: Metastore, kept: KeptRecords, time: int | None) -> None:
    metastore.run("CREATE STREAM s (v INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO'); INSERT INTO s VALUES (1)")
    reader = SourceReader(metastore.registry, source_of(metastore, "s"))
    record = TopicRecord(0, 0, kept.records[0].key, kept.records[0].value, (), time)
    cells = reader.cells(reader.decode(record))
    assert cells["_timestamp"] == (None if time is None else format_time(time))
    assert (cells["_partition"], cells["_offset"], cells["_topic"]) == (0, 0, "s")

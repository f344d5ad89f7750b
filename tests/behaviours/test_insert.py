"""INSERT, UPDATE and DELETE: values that fit no column, rows of tables, headers, framings, and where records go."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.behaviours.kept_records import KeptRecords
from treaty import connect, connect_async
from treaty.api.auth.authorization import AuthorizedRegistry
from treaty.client.serializers.frames import MAX_ID
from treaty.core.refusals import Invalid, NotOffered, NotPermitted, Refusal
from treaty.metastore import AsyncMetastore, Metastore
from treaty.metastore.records.destinations import RecordDestinations


@pytest.fixture
def kept() -> KeptRecords:
    return KeptRecords()


@pytest.fixture
def local(kept: KeptRecords) -> Iterator[Metastore]:
    with connect("memory:") as connection:
        yield Metastore(connection.registry, destination=kept)


# --------------------------------------------------------------------------------------------------- values that do not fit

WRONG: dict[str, tuple[str, ...]] = {
    "BOOLEAN": ("1", "0", "'true'", "1.5", "X'01'", "DATE '2026-01-01'", "ARRAY(TRUE)", "STRUCT(a := 1)"),
    "INT": ("2147483648", "-2147483649", "'1'", "1.0", "1.5", "1E3", "TRUE", "X'01'", "ARRAY(1)", "DATE '2026-01-01'"),
    "BIGINT": ("9223372036854775808", "-9223372036854775809", "'1'", "1.0", "1E3", "FALSE", "X'01'", "MAP('a', 1)"),
    "FLOAT": ("'1'", "1E39", "-1E39", "16777217", "TRUE", "X'00'", "ARRAY(1.0)", "TIMESTAMP '2026-01-01 00:00:00Z'"),
    "DOUBLE": ("'1'", "9007199254740993", "TRUE", "X'00'", "ARRAY(1.0)", "'inf'", "'nan'", "DATE '2026-01-01'"),
    "STRING": ("1", "1.5", "TRUE", "X'61'", "DATE '2026-01-01'", "ARRAY('a')", "STRUCT(a := 'a')", "MAP('a', 'b')"),
    "BINARY": ("'abc'", "1", "TRUE", "ARRAY(1)", "DATE '2026-01-01'", "1.5", "MAP('a', X'00')"),
    "DATE": ("'2026-02-30'", "'today'", "20260101", "DATE '2026-13-01'", "'2026-1-1'", "TRUE", "X'00'",
             "TIMESTAMP '2026-01-01 00:00:00Z'", "'0000-01-01'", "'20260101'"),
    "TIMESTAMP": ("'2026-02-30 00:00:00'", "'noon'", "1700000000", "TIMESTAMP '2026-01-01 25:00:00'", "'2026-01-01'",
                  "TIMESTAMP_NTZ '2026-01-01 00:00:00'", "TRUE", "'2026-01-01 00:00:00.1234567'", "DATE '2026-01-01'",
                  "'0001-01-01 00:00:00+01:00'"),
    "DECIMAL(5, 2)": ("1000", "999.999", "0.001", "'1'", "1E2", "TRUE", "-1000", "X'01'", "ARRAY(1)"),
    "ARRAY<INT>": ("1", "'a'", "ARRAY('a')", "ARRAY(1, 2147483648)", "MAP('a', 1)", "ARRAY(1.5)", "STRUCT(a := 1)", "TRUE"),
    "MAP<STRING, INT>": ("1", "ARRAY(1)", "MAP(1, 1)", "MAP('a', 'b')", "MAP('a', 1, 'a', 2)", "MAP(NULL, 1)", "STRUCT(a := 1)"),
    "STRUCT<a: INT, b: STRING>": ("1", "ARRAY(1)", "STRUCT(c := 1)", "STRUCT(a := 'x')", "STRUCT(a := 1, A := 2)", "MAP('a', 1)",
                                  "STRUCT(b := 1)"),
}  # fmt: skip
"""Literals that a column of a type does not take."""


@pytest.mark.parametrize("format_", ["AVRO", "PROTOBUF", "JSON"])
def test_a_value_that_does_not_fit_names_column_value_and_type_and_nothing_is_sent(
    local: Metastore, kept: KeptRecords, format_: str
) -> None:
    count = 0
    for number, (kind, literals) in enumerate(WRONG.items()):
        local.run(
            f"CREATE STREAM s{number} (k INT KEY, fine STRING, c {kind}) WITH (KAFKA_TOPIC = 't{number}', VALUE_FORMAT = '{format_}')"
        )
        for literal in literals:
            with pytest.raises(Invalid) as refused:
                local.run(f"INSERT INTO s{number} VALUES (1, 'a', NULL), (2, 'b', {literal})")
            reason = refused.value.reason
            assert reason.rule == "VALUE_UNFIT", (kind, literal, reason)
            assert reason.path.startswith("c"), (kind, literal, reason)
            assert reason.new, (kind, literal, reason)
            assert reason.old in reason.message, (kind, literal, reason)
            assert reason.message.startswith("row 2: "), (kind, literal, reason)
            assert reason.new in reason.message, (kind, literal, reason)
            count += 1
    assert count >= 67, "of three formats more than two hundred"
    assert kept.records == []


@pytest.mark.parametrize(
    ("values", "where"),
    [("(1, 'x')", ""), ("(1, 'x'), (2, 2)", "row 1: "), ("(1, 1), ('a', 'x')", "row 2: ")],
    ids=["the only one", "the first", "the second"],
)
def test_a_refusal_names_the_row_where_there_are_several(
    local: Metastore, kept: KeptRecords, values: str, where: str
) -> None:
    local.run("CREATE STREAM s (k INT KEY, v INT) WITH (KAFKA_TOPIC = 's', FORMAT = 'AVRO')")
    with pytest.raises(Invalid) as refused:
        local.run(f"INSERT INTO s VALUES {values}")
    column = "k is INT, and 'a'" if "'a'" in values else "v is INT, and 'x'"
    assert refused.value.reason.message.startswith(f"{where}{column} does not fit: ")
    for more in ("_timestamp", "_partition", "_headers"):
        with pytest.raises(Invalid, match=f"^{'row 1: ' if where else ''}{more} is "):
            local.run(f"INSERT INTO s (k, v, {more}) VALUES (1, 1, TRUE){', (2, 2, NULL)' if where else ''}")
    assert kept.records == []


# ------------------------------------------------------------------------------------------------------- rows of tables


def refuse(metastore: Metastore, sql: str) -> str:
    with pytest.raises(Refusal) as refused:
        metastore.run(sql)
    assert refused.value.reason.allowed
    return refused.value.reason.rule


def test_update_writes_a_whole_value_and_delete_a_tombstone(local: Metastore, kept: KeptRecords) -> None:
    local.run(
        "CREATE TABLE t (k STRING PRIMARY KEY, n INT PRIMARY KEY, v INT, w STRING) WITH (KAFKA_TOPIC = 't', FORMAT = 'AVRO')"
    )
    local.run("INSERT INTO t VALUES ('a', 1, 2, 'x'); UPDATE t SET v = 3, W = NULL WHERE n = 1 AND K = 'a'")
    local.run(
        "DELETE FROM t WHERE k = 'a' AND n = 1; INSERT INTO t (k, n) VALUES ('a', 1) AS DELETE; INSERT INTO t (k, n) VALUES ('a', 1)"
    )
    keys = {record.key for record in kept.records}
    values = [record.value and record.value[5:] for record in kept.records]
    assert (len(keys), values) == (1, [b"\x02\x04\x02\x02x", b"\x02\x06\x00", None, None, b"\x00\x00"])
    sent = len(kept.records)
    wrong = {
        "UPDATE t SET v = 3 WHERE k = 'a' AND n = 1": "UPDATE_COLUMNS",
        "UPDATE t SET v = 3, w = 'x', n = 2 WHERE k = 'a' AND n = 1": "UPDATE_KEY",
        "UPDATE t SET v = 3, w = 'x' WHERE k = 'a'": "KEY_CONDITION",
        "DELETE FROM t WHERE k = 'a' AND n = 1 AND v = 2": "KEY_CONDITION",
        "DELETE FROM t WHERE k = 'a' AND n = NULL": "KEY_NULL",
        "INSERT INTO t VALUES ('a', NULL, 2, 'x')": "KEY_NULL",
        "INSERT INTO t VALUES ('a', 1, 2, 'x') AS DELETE": "DELETE_VALUES",
        "INSERT INTO t VALUES ('a', 1, 2)": "VALUE_COUNT",
        "INSERT INTO t (k, n, K) VALUES ('a', 1, 'b')": "COLUMN_TWICE",
        "INSERT INTO t (k, n, u) VALUES ('a', 1, 'b')": "COLUMN_UNKNOWN",
    }  # fmt: skip
    assert {sql: refuse(local, sql) for sql in wrong} == wrong
    assert len(kept.records) == sent


def test_a_stream_keeps_its_records(local: Metastore, kept: KeptRecords) -> None:
    local.run("CREATE STREAM s (k INT KEY, v INT NOT NULL) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')")
    assert refuse(local, "UPDATE s SET v = 1 WHERE k = 1") == "NOT_A_TABLE"
    assert refuse(local, "DELETE FROM s WHERE k = 1") == "NOT_A_TABLE"
    assert refuse(local, "INSERT INTO s (k) VALUES (1)") == "VALUE_UNFIT"
    local.run("INSERT INTO s VALUES (NULL, 7); INSERT INTO s (v) VALUES (8)")
    assert [record.key for record in kept.records] == [None, None]


def test_headers_time_and_partition_are_set(local: Metastore, kept: KeptRecords) -> None:
    local.run(
        "CREATE STREAM s (v INT, trace BINARY HEADER('trace'), every ARRAY<STRUCT<key STRING, value BINARY>> HEADERS) "
        "WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO')"
    )
    local.run(
        "INSERT INTO s (v, trace, _timestamp, _partition, _headers) VALUES (1, X'01', TIMESTAMP '2026-01-01 00:00:00Z', 3, MAP('a', X'02'));"
        "INSERT INTO s (v, every, rowtime) VALUES (2, ARRAY(STRUCT(key := 'b', value := X'03')), 1700000000000);"
        "INSERT INTO s VALUES (3)"
    )
    first, second, third = kept.records
    assert (first.headers, first.time, first.partition) == ((("trace", b"\1"), ("a", b"\2")), 1_767_225_600_000, 3)
    assert (second.headers, second.time, second.partition) == ((("b", b"\3"),), 1_700_000_000_000, -1)
    assert (third.headers, third.time) == ((), 0)
    for word in ("_timestamp", "_partition"):
        assert refuse(local, f"INSERT INTO s (v, {word}) VALUES (1, -1)") == "VALUE_UNFIT"
    assert refuse(local, "INSERT INTO s (v, _headers) VALUES (1, MAP('__value_schema_id', X'00'))") == "HEADER_RESERVED"


@pytest.mark.parametrize(
    ("framing", "length"), [("prefix", 5), ("header", 0), ("version", 1), ("md5", 16), ("single-object", 10), ("none", 0), ("pravega", 5)]
)  # fmt: skip
def test_every_framing_has_its_head(local: Metastore, kept: KeptRecords, framing: str, length: int) -> None:
    local.run(
        f"CREATE STREAM s (v INT, w STRING) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO', FRAMING = '{framing}')"
    )
    local.run("INSERT INTO s VALUES (1, 'x')")
    (record,) = kept.records
    assert record.value is not None
    assert (len(record.value), record.value[length:]) == (length + 5, b"\x02\x02\x02\x02x")
    assert bool(record.headers) is (framing == "header")
    assert int.from_bytes(record.value[1:5]) <= MAX_ID


def test_a_default_of_the_schema_fills_what_a_row_leaves_out(local: Metastore, kept: KeptRecords) -> None:
    schema = '{"type":"record","name":"R","fields":[{"name":"a","type":"int","default":7},{"name":"b","type":{"type":"enum","name":"E","symbols":["X","Y"]}}]}'
    with connect("memory:") as connection:
        connection.register("t-value", schema)
        metastore = Metastore(connection.registry, destination=kept)
        metastore.run("CREATE STREAM t WITH (KAFKA_TOPIC = 't'); INSERT INTO t (b) VALUES ('Y')")
        assert [record.value and record.value[5:] for record in kept.records] == [b"\x0e\x02"]
        assert refuse(metastore, "INSERT INTO t VALUES (1, 'Z')") == "VALUE_UNFIT"


def test_a_dry_run_sends_nothing_and_checks_all(local: Metastore, kept: KeptRecords) -> None:
    local.run("CREATE STREAM s (v INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'JSON')")
    (result,) = local.run("INSERT INTO s VALUES (1), (2)", dry_run=True)
    assert (result.message, kept.records) == ("2 records would be written to s", [])
    with pytest.raises(Invalid):
        local.run("INSERT INTO s VALUES (1), ('2')", dry_run=True)


# --------------------------------------------------------------------------------------------- where records go and do not


def test_records_of_files_are_new_files_below_the_root(tmp_path: Path) -> None:
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry, destination=RecordDestinations(files=tmp_path))
        metastore.run(
            "CREATE STREAM s (k STRING KEY, v INT) WITH (CONNECTOR = 'files', PATH = 'a/b', VALUE_FORMAT = 'AVRO');"
            "INSERT INTO s VALUES ('x', 1), (NULL, 2); INSERT INTO s (v, _timestamp, _headers) VALUES (3, 1700000000000, MAP('h', X'01'));"
            "CREATE STREAM j (v INT) WITH (CONNECTOR = 'files', PATH = 'j', VALUE_FORMAT = 'JSON', FRAMING = 'none');"
            "INSERT INTO j VALUES (1), (2);"
            "CREATE STREAM out (v INT) WITH (CONNECTOR = 'files', PATH = 'out', VALUE_FORMAT = 'AVRO')"
        )
        sql = "CREATE STREAM up (v INT) WITH (CONNECTOR = 'files', PATH = '../out', VALUE_FORMAT = 'AVRO')"
        assert refuse(metastore, sql) == "PATH_SEGMENT"
        (tmp_path / "out").symlink_to(tmp_path.parent, target_is_directory=True)
        assert refuse(metastore, "INSERT INTO out VALUES (1)") == "PATH_OUTSIDE"
    files = [pq.read_table(path).to_pylist() for path in (tmp_path / "a" / "b").iterdir()]
    rows = sorted((row for file in files for row in file), key=lambda row: row["value"])
    assert len(files) == 2
    assert [(row["key"], row["value"][5:]) for row in rows] == [
        (b"x", b"\x02\x02"),
        (None, b"\x02\x04"),
        (None, b"\x02\x06"),
    ]
    assert (rows[2]["headers"], rows[2]["timestamp"].year) == ([{"key": "h", "value": b"\1"}], 2023)
    assert [path.read_text() for path in (tmp_path / "j").iterdir()] == ['{"v":1}\n{"v":2}\n']
    assert [path.name for path in tmp_path.rglob("_*")] == []


def test_what_no_setting_names_is_said_with_the_remedy(local: Metastore) -> None:
    local.run(
        "CREATE STREAM s (v INT) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO', CLUSTER = 'west');"
        "CREATE STREAM f (v INT) WITH (CONNECTOR = 'files', PATH = 'f', VALUE_FORMAT = 'AVRO')"
    )
    without = Metastore(local.registry)
    for name, remedy in (("s", "--cluster west=FILE"), ("f", "--files ROOT")):
        with pytest.raises(NotOffered, match=remedy):
            without.run(f"INSERT INTO {name} VALUES (1)")


@pytest.mark.parametrize("topic", ["_schemas", "__consumer_offsets", "_confluent-ksql-default__command_topic"])
def test_topics_of_registries_of_ksqldb_and_of_kafka_are_no_sources(local: Metastore, topic: str) -> None:
    sql = f"CREATE STREAM s (v INT) WITH (KAFKA_TOPIC = '{topic}', VALUE_FORMAT = 'AVRO')"
    assert refuse(local, sql) == "TOPIC_RESERVED"
    assert local.run("SHOW STREAMS")[0].rows == ()


def test_times_after_the_year_9999_are_written_to_files_and_paths_that_are_no_names_are_refused(tmp_path: Path) -> None:
    with connect("memory:") as connection:
        metastore = Metastore(connection.registry, destination=RecordDestinations(files=tmp_path))
        metastore.run("CREATE STREAM bank (v INT) WITH (CONNECTOR = 'files', PATH = 'bank', VALUE_FORMAT = 'AVRO')")
        metastore.run("INSERT INTO bank (v, _timestamp) VALUES (7, 253402300800000)")
        (path,) = (tmp_path / "bank").glob("*.parquet")
        assert pq.read_table(path)["timestamp"].cast("int64").to_pylist() == [253402300800000000]
        assert refuse(metastore, "INSERT INTO bank (v, _timestamp) VALUES (7, 9223372036854775807)") == "VALUE_UNFIT"
        metastore.run("CREATE STREAM vault (v INT) WITH (CONNECTOR = 'files', PATH = '/vault/', VALUE_FORMAT = 'AVRO')")
        assert metastore.run("INSERT INTO vault VALUES (1)")[0].message.startswith("1 record in the file vault/part-")
        for place in ("a\0b", "a\ud800b"):
            with pytest.raises(Invalid) as refused:
                RecordDestinations(files=tmp_path)._folder(place)
            assert refused.value.reason.rule == "PATH_OUTSIDE"


async def _ask_read_only() -> str:
    async with connect_async("memory:") as connection:
        server = AuthorizedRegistry(connection.registry, read_only=True)
        with pytest.raises(NotPermitted) as refused:
            await AsyncMetastore(server).run("INSERT INTO s VALUES (1)")
        return refused.value.reason.rule


def test_a_server_that_is_read_only_takes_no_records() -> None:
    assert asyncio.run(_ask_read_only()) == "READ_ONLY"

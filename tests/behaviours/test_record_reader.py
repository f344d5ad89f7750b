"""Records of sources as PRINT and SELECT FROM STREAM decode them: every framing, bad rows with their reason, and conditions."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.behaviours.kept_records import KeptRecords
from treaty import connect
from treaty.client.kafka.consumer import TopicRecord
from treaty.client.kafka.producer import OutgoingRecord
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.refusals import Invalid
from treaty.core.sources import Source
from treaty.metastore import Metastore
from treaty.metastore.records.reader import SourceReader
from treaty.metastore.records.selection import equals, make_selection
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import SelectRecordsStatement
from treaty.metastore.sql.values import format_time

COLUMNS = "k STRING KEY, i INT, l BIGINT, s STRING, p DECIMAL(9, 2), b BINARY, d DATE, at TIMESTAMP, a ARRAY<INT>, t BOOLEAN, x DOUBLE"
ROW = "'key', 1, 9007199254740993, 'ß', 1.5, X'00FF', DATE '2026-01-31', TIMESTAMP '2026-01-31 10:00:00.5Z', ARRAY(1, 2), TRUE, 0.5"
EQUAL = (
    "k = 'key'", "i = 1", "l = 9007199254740993", "s = 'ß'", "p = 1.50", "b = X'00FF'", "d = DATE '2026-01-31'", "t = TRUE", "x = 0.5",
    "at = TIMESTAMP '2026-01-31 11:00:00.5+01:00'", "_offset = 7", "_partition = 3", "K = 'key' AND _topic = 't'",
)  # fmt: skip
DIFFERENT = ("k = 'Key'", "i = 2", "l = 9007199254740992", "p = 1.51", "b = X'00'", "d = DATE '2026-01-30'", "t = FALSE", "s = NULL",
             "i = 1 AND x = 0.25", "at = TIMESTAMP '2026-01-31 10:00:00Z'")  # fmt: skip


@pytest.fixture
def kept() -> KeptRecords:
    return KeptRecords()


@pytest.fixture
def metastore(kept: KeptRecords) -> Iterator[Metastore]:
    with connect("memory:") as connection:
        yield Metastore(connection.registry, destination=kept)


def source_of(metastore: Metastore, name: str) -> Source:
    return metastore.registry.ask(DescribeSource(name)).answer.source


def as_read(record: OutgoingRecord) -> TopicRecord:
    return TopicRecord(3, 7, record.key, record.value, record.headers, 1_700_000_000_123)


def select(sql: str) -> SelectRecordsStatement:
    (parsed,) = parse_script(sql, {}).statements
    assert isinstance(parsed.value, SelectRecordsStatement)
    return parsed.value


@pytest.mark.parametrize(
    ("format_", "framing"),
    [
        *(("AVRO", one) for one in ("prefix", "header", "version", "md5", "single-object", "none", "pravega")),
        *(
            (format_, one)
            for format_ in ("PROTOBUF", "JSON")
            for one in ("prefix", "header", "version", "none", "pravega")
        ),
    ],
)
def test_what_was_inserted_is_read_in_every_framing(
    metastore: Metastore, kept: KeptRecords, format_: str, framing: str
) -> None:
    metastore.run(
        f"CREATE STREAM s ({COLUMNS}) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = '{format_}', FRAMING = '{framing}');"
        f"INSERT INTO s VALUES ({ROW})"
    )
    source = source_of(metastore, "s")
    reader = SourceReader(metastore.registry, source)
    decoded = reader.decode(as_read(kept.records[0]))
    assert decoded.bad == {}
    cells = reader.cells(decoded)
    for conditions, met in ((EQUAL, True), (DIFFERENT, False)):
        for one in conditions:
            selection = make_selection(select(f"SELECT * FROM STREAM s WHERE {one} LIMIT 1"), source, reader.types)
            assert selection.is_met(cells) is met, one
    chosen = make_selection(select("SELECT I, s, a, _timestamp FROM STREAM s LIMIT 1"), source, reader.types)
    assert (chosen.columns, chosen.row(cells)) == (
        ("i", "s", "a", "_timestamp"), [1, "ß", [1, 2], "2023-11-14T22:13:20.123Z"],
    )  # fmt: skip


def test_bad_rows_have_their_reason_and_keep_their_bytes(metastore: Metastore) -> None:
    metastore.run("CREATE STREAM s (k BIGINT KEY, v INT) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO')")
    reader = SourceReader(metastore.registry, source_of(metastore, "s"))
    wanted: dict[bytes, str] = {
        b"": "TOO_SHORT", b"junk!": "BAD_MAGIC", b"\0\0\0\0\x63ab": "UNKNOWN_ID", b"\0\0\0\0\1": "MALFORMED",
    }  # fmt: skip
    for value, code in wanted.items():
        decoded = reader.decode(TopicRecord(0, 0, b"short", value))
        assert [one for one, _ in decoded.bad.values()] == ["MALFORMED", code], value
        assert code in decoded.reason
        assert set(decoded.value) == {"base64"}


def test_a_topic_without_a_source_is_read_by_its_frames(metastore: Metastore, kept: KeptRecords) -> None:
    metastore.run("CREATE STREAM s (v INT) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO'); INSERT INTO s VALUES (5)")
    reader = SourceReader(metastore.registry, None)
    values: list[Any] = [
        reader.decode(TopicRecord(0, 0, b"k", one)).value for one in (kept.records[0].value, b"text", None)
    ]
    assert values == [{"v": 5}, "text", None]


def test_a_selection_names_columns_that_there_are(metastore: Metastore) -> None:
    metastore.run("CREATE STREAM s (v INT, a ARRAY<INT>) WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO')")
    source = source_of(metastore, "s")
    for sql, rule in {
        "SELECT w FROM STREAM s LIMIT 1": "COLUMN_UNKNOWN",
        "SELECT v FROM STREAM s WHERE v = 'x' LIMIT 1": "VALUE_UNFIT",
        "SELECT v FROM STREAM s WHERE a = ARRAY(1) LIMIT 1": "CONDITION_REFUSED",
    }.items():
        with pytest.raises(Invalid) as refused:
            make_selection(select(sql), source, {})
        assert refused.value.reason.rule == rule


def test_null_and_what_can_not_be_read_equal_nothing() -> None:
    assert not any(equals(cell, wanted) for cell, wanted in ((None, None), (None, 1), ("x", 1), ("?", b"1"), ([], 1.0)))
    assert format_time(10**17) == f"@{10**17}"

"""`treaty test`: rows that are given, a query, and rows that are expected."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession

from treaty.cli.main import group
from treaty.cli.metastore import wait_notice
from treaty.spark.sql_tests.differences import list_differences
from treaty.spark.sql_tests.execution import CaseResult, CaseRunner
from treaty.spark.sql_tests.files import InvalidCaseError, read_folder, read_test
from treaty.spark.sql_tests.junit import print_junit

SOURCES = """
CREATE STREAM flights (id BIGINT KEY, carrier STRING, delay INT, ts TIMESTAMP) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO');
CREATE TABLE carriers (code STRING PRIMARY KEY, nm STRING) WITH (KAFKA_TOPIC = 'carriers', VALUE_FORMAT = 'AVRO', MATERIALIZE = 'delta');
CREATE STREAM late AS SELECT id, carrier, delay FROM STREAM flights WHERE delay > 15;
CREATE TABLE delays AS SELECT carrier, count(*) AS n, avg(delay) AS mean FROM STREAM flights GROUP BY carrier;
CREATE TABLE named WITH (KEY_FORMAT = 'AVRO') AS SELECT c.nm AS name, count(*) AS n FROM STREAM late AS l JOIN carriers AS c ON l.carrier = c.code GROUP BY c.nm;
CREATE TABLE counts AS SELECT carrier, count(*) AS n FROM STREAM late GROUP BY carrier;
CREATE TABLE ratios WITH (KEY_FORMAT = 'AVRO') AS SELECT carrier, sum(CAST('NaN' AS DOUBLE)) AS r FROM STREAM flights GROUP BY carrier;
CREATE STREAM timed AS SELECT id, _timestamp AS written FROM STREAM flights WHERE _offset >= 0 OR _timestamp IS NOT NULL;
CREATE TYPE place AS STRUCT<city STRING, code STRING>;
CREATE STREAM visits (id BIGINT KEY, place place, `größe 😀` DOUBLE) WITH (KAFKA_TOPIC = 'visits', VALUE_FORMAT = 'JSON');
CREATE STREAM visited AS SELECT id, v.place.city AS city, v.`größe 😀` AS size, l.name AS name FROM STREAM visits AS v LEFT JOIN locked AS l ON v.place.code = l.code;
CREATE STREAM taken WITH (KAFKA_TOPIC = 'taken', VALUE_SUBJECT = 'others-value');
CREATE STREAM took AS SELECT amount + 1 AS amount FROM STREAM taken;
CREATE STREAM parts AS SELECT id, 10 / delay AS part FROM STREAM flights;
CREATE STREAM minutes AS SELECT window.start AS start, count(*) AS n FROM STREAM flights WATERMARK ts DELAY OF INTERVAL 1 MINUTE GROUP BY window(ts, '1 minute') EMIT FINAL;
"""
LOCK = """format = 1

[source."locked"]
kind = "TABLE"
columns = ["code STRING PRIMARY KEY", "name STRING"]

[subject."others-value"]
columns = ["amount INT"]
"""
GIVEN = "GIVEN flights (1, 'AA', 10, '2026-01-01 00:00:10Z'), (2, 'DL', 20, '2026-01-01 00:00:50Z'), (3, 'AA', 30, '2026-01-01 00:01:00Z');"
CASES = {
    "filter": "EXPECT late (2, 'DL', 20), (3, 'AA', 30);",
    "columns": "EXPECT late (carrier) VALUES ('DL'), ('AA');",
    "groups": "EXPECT delays ('AA', 2, 20.0), ('DL', 1, 20.0);",
    "chain": "GIVEN carriers ('AA', 'old'), ('DL', 'Delta'), ('AA', 'American'); EXPECT named ('American', 1), ('Delta', 1);",
    "result_given": "GIVEN carriers ('X', 'Ex'); GIVEN late (9, 'X', 99), (8, 'X', 98); EXPECT named ('Ex', 2);",
    "windows": "EXPECT minutes (TIMESTAMP '2026-01-01 00:00:00Z', 2), (TIMESTAMP '2026-01-01 00:01:00Z', 1);",
    "nothing": "GIVEN late (1, 'Q', 1); EXPECT named NOTHING;",
    "streamed": "GIVEN flights (4, 'AA', 1, '2026-01-01 00:09:00Z'); GIVEN flights (6, 'AA', 1, '2026-01-01 00:09:10Z'); GIVEN flights (5, 'UA', 1, '2026-01-01 00:00:30Z'); "
    "EXPECT STREAM minutes (TIMESTAMP '2026-01-01 00:00:00Z', 2), (TIMESTAMP '2026-01-01 00:01:00Z', 1);",
    "streamed_groups": "GIVEN flights (4, 'AA', 50, NULL); EXPECT STREAM counts ('DL', 1), ('AA', 2); EXPECT counts ('DL', 1), ('AA', 2);",
    "given_twice": "GIVEN flights (4, 'AA', 99, NULL); EXPECT late (id) VALUES (2), (3), (4);",
    "not_a_number": "EXPECT ratios ('AA', CAST('NaN' AS DOUBLE)), ('DL', CAST('NaN' AS DOUBLE));",
    "pseudo_columns": "GIVEN flights (id, _timestamp) VALUES (7, TIMESTAMP '2026-01-01 00:00:00Z'); EXPECT timed (7, TIMESTAMP '2026-01-01 00:00:00Z');",
    "type_and_lock": "GIVEN visits (1, struct('Århus', 'AAR'), 1.5), (2, NULL, NULL); GIVEN locked ('AAR', 'Aarhus'); "
    "EXPECT visited (1, 'Århus', 1.5, 'Aarhus'), (2, NULL, NULL, NULL);",
    "columns_of_a_locked_subject": "GIVEN taken (1), (2); EXPECT took (amount) VALUES (2), (3);",
    "not_ascii": "/* Größe 😀; */ GIVEN late (7, 'ÆØ', 7), (8, '漢字\\n', 8); EXPECT named NOTHING;",
    "several": "EXPECT late (id) VALUES (2), (3); EXPECT delays (carrier) VALUES ('AA'), ('DL');",
}
WRONG = {
    "value": ("EXPECT late (2, 'DL', 21), (3, 'AA', 30);", "late: id 2, carrier 'DL': delay is 20, expected 21"),
    "missing": (
        "EXPECT late (2, 'DL', 20), (3, 'AA', 30), (4, 'ZZ', 40);",
        "late: missing id 4, carrier 'ZZ', delay 40",
    ),
    "unexpected": ("EXPECT late (2, 'DL', 20);", "late: unexpected id 3, carrier 'AA', delay 30"),
    "twice": ("EXPECT late (2, 'DL', 20), (3, 'AA', 30), (3, 'AA', 30);", "late: missing id 3, carrier 'AA', delay 30"),
    "order": ("EXPECT ORDERED delays (carrier) VALUES ('ZZ'), ('AA');", "delays: row 1: carrier is"),
}
ERRORS = {
    "unknown_source": ("EXPECT nobody (1);", "there is no stream or table nobody"),
    "unknown_column": ("EXPECT late (colour) VALUES (1);", "late has no column colour"),
    "hostile_rows": ("EXPECT late (reflect('java.lang.System', 'nanoTime'), 'a', 1);", "reflect is refused"),
    "given_for_nothing": (
        "GIVEN carriers ('X', 'Y'); EXPECT late (id) VALUES (2), (3);",
        "carriers is given, and no query",
    ),
    "expected_of_a_lock": ("EXPECT locked (1, 2);", "no file of this folder creates locked"),
    "stream_of_no_query": ("EXPECT STREAM flights NOTHING;", "flights has no query"),
    "number_of_values": ("EXPECT late (1, 2);", ""),
    "wrong_type": ("EXPECT late (1, 'AA', 'ten');", 'The value \'ten\' of the type "STRING" cannot be cast to "INT"'),
    "column_twice": ("EXPECT late (id, ID) VALUES (1, 1);", "the column id is named twice"),
    "rows_of_a_source": ("EXPECT late ((SELECT 1 FROM flights), 'a', 1);", ""),
    "failing_query": ("GIVEN flights (9, 'AA', 0, NULL); EXPECT parts (1, 1.0);", "Division by zero"),
}


def write(folder: Path, cases: dict[str, str]) -> Path:
    (folder / "sources.sql").write_text(SOURCES)
    (folder / "treaty.lock").write_text(LOCK)
    for name, text in cases.items():
        given_rows = "" if any(f"GIVEN {one}" in text for one in ("late", "visits", "taken")) else GIVEN
        (folder / f"{name}.test.sql").write_text(f"-- {name}\n{given_rows}\n{text}\n")
    return folder


def run(spark: SparkSession, folder: Path, views: Path) -> dict[str, CaseResult]:
    found = read_folder(folder, {})
    runner = CaseRunner(spark, found, views)
    return {one.name: runner.run(one) for one in found.tests}


@pytest.mark.jvm
def test_rows_are_compared_by_row_and_column(
    spark: SparkSession, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    texts = CASES | {name: text for name, (text, _) in (WRONG | ERRORS).items()}
    results = run(spark, write(tmp_path, texts), tmp_path_factory.mktemp("views"))
    assert {name: (results[name].differences, results[name].error) for name in CASES} == dict.fromkeys(CASES, ((), ""))
    for name, (_, sentence) in WRONG.items():
        assert results[name].differences[0].startswith(sentence), results[name]
    for name, (_, sentence) in ERRORS.items():
        assert results[name].error, name
        assert sentence in results[name].error, results[name]
    suite = ET.fromstring(print_junit([*results.values()], "here"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == (
        str(len(texts)),
        str(len(WRONG)),
        str(len(ERRORS)),
    )


@pytest.mark.jvm
@pytest.mark.usefixtures("spark")
def test_the_command_says_what_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_notice, "FIRST_SECONDS", 0.0)
    write(tmp_path, {"filter": CASES["filter"], "value": WRONG["value"][0]})
    junit = tmp_path / "results.xml"
    ended = CliRunner().invoke(group, ["test", str(tmp_path), "--junit", str(junit), "--json"])
    assert ended.exit_code == 1, ended.output
    assert {one["name"]: one["passed"] for one in json.loads(ended.stdout)} == {"filter": True, "value": False}
    assert "running filter\n" in ended.stderr
    assert "1 of 2 tests failed" in ended.stderr
    assert ET.parse(junit).getroot().get("failures") == "1"


def test_what_is_no_test_says_how_one_is_written() -> None:
    for text, part in (
        ("GIVEN flights (1)", "nothing is expected"),
        ("EXPECT", "t.test.sql:1: EXPECT is no test"),
        ("\nTEST a (1);", "t.test.sql:2: TEST a ( 1 is no test"),
        ("EXPECT a 1;", "is no test"),
        ("EXPECT a NOTHING (1);", "is no test"),
        ("", "nothing is expected"),
        ("GIVEN a (1)\nEXPECT b (2);", "t.test.sql:2: a semicolon is missing before EXPECT"),
    ):
        with pytest.raises(InvalidCaseError) as wrong:
            read_test("t.test.sql", text)
        assert part in str(wrong.value)
        assert "EXPECT" in str(wrong.value)
    assert read_test("t.test.sql", "\ufeffEXPECT a (1);").expected[0].rows == "(1)"


def test_a_folder_that_can_not_be_read_says_where_and_why(tmp_path: Path) -> None:
    def read(**files: str | bytes) -> str:
        for name, text in {"a_test": "EXPECT a (1);", **files}.items():
            path = tmp_path / f"{name.replace('_test', '.test')}.sql"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(InvalidCaseError) as wrong:
            read_folder(tmp_path, {})
        return str(wrong.value)

    one = "CREATE STREAM a (id INT) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'JSON');"
    assert f"{tmp_path / 'b.sql'}:2: A is created twice in this folder" in read(
        a=one, b=f"\n{one.replace('STREAM a', 'STREAM A')}"
    )
    assert f"{tmp_path / 'b.sql'}:1:8: SYNTAX STREEM stands where" in read(b="CREATE STREEM b;")
    assert "can't be read" in read(b=b"\xff\xfe")
    (tmp_path / "treaty.lock").write_text("format = 7")
    assert "its format is not 1" in read(b="")


def test_long_values_are_shown_where_they_differ_and_any_character_fits_into_junit() -> None:
    text = "x" * 5_000
    (sentence,) = list_differences(["id", "t"], [(1, f"{text}y{text}")], [(1, f"{text}z{text}")])
    assert len(sentence) < 700
    assert "xy" in sentence
    assert "xz" in sentence
    (missing,) = list_differences(["t"], [(text,)], [])
    assert len(missing) < 300
    results = [CaseResult("a\x00", ("b\x1b",), "c\ud800"), CaseResult("d", ("\x01",)), CaseResult("e")]
    suite = ET.fromstring(print_junit(results, "f\x0c"))
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["3", "1", "1"]
    assert [len(one) for one in suite] == [1, 1, 0]

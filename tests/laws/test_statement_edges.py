"""Each clause of statements at its edge, on each of the statements that have it: depth by kind of value, conditions, limits, and where reading goes on
after an error."""

import pytest

from treaty.core.limits import TYPE_DEPTH
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import SYSTEM_TABLES

WITH = "WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO')"


def codes_of(text: str) -> list[str]:
    return [one.code for one in parse_script(text).diagnostics]


# ------------------------------------------------------------------------------------------------------------- values

NESTS = {
    "ARRAY(": ")",
    "ARRAY[": "]",
    "ARRAY(0, ": ")",
    "MAP(": " := 1)",
    "MAP(1, ": ")",
    "MAP(1 := ": ")",
    "STRUCT(a := ": ")",
    "STRUCT(a := 0, b := ": ")",
    "NAMED_STRUCT('a', ": ")",
}
"""What a value begins with that has another one inside, and how it ends."""


@pytest.mark.parametrize("opening", NESTS)
@pytest.mark.parametrize("statement", ["INSERT INTO s VALUES ({})", "UPDATE s SET v = {} WHERE k = 1", "DELETE FROM s WHERE k = {}"])  # fmt: skip
def test_values_of_each_kind_nest_as_deep_as_the_limit_says_and_no_deeper(opening: str, statement: str) -> None:
    for outer, close in {"": "", opening: NESTS[opening], "ARRAY(": ")"}.items():
        depth = TYPE_DEPTH - 2 if outer else TYPE_DEPTH - 1
        for count, codes in ((depth, []), (depth + 1, ["VALUES_TOO_DEEP"])):
            value = outer + opening * count + "1" + NESTS[opening] * count + close
            assert codes_of(statement.format(value)) == codes, (outer, count)


TWICE = {
    "INSERT INTO s VALUES (STRUCT(a := 1, a := 2))": ["COLUMN_TWICE"],
    "INSERT INTO s VALUES (STRUCT(a := 1, b := 2, a := 3))": ["COLUMN_TWICE"],
    "INSERT INTO s VALUES (NAMED_STRUCT('a', 1, 'a', 2))": ["COLUMN_TWICE"],
    "UPDATE s SET a = 1, a = 2 WHERE k = 1": ["COLUMN_TWICE"],
    "UPDATE s SET a = 1, A = 2 WHERE k = 1": ["COLUMN_TWICE"],
    "UPDATE s SET a = 1, b = 2, `A` = 3 WHERE k = 1": ["COLUMN_TWICE"],
    "INSERT INTO s (a, b) VALUES (1), (1, 2)": ["VALUE_REFUSED"],
    "INSERT INTO s (a, b) VALUES (1, 2), (1), (1, 2)": ["VALUE_REFUSED"],
    "INSERT INTO s (a, b) VALUES (1, 2), (1, 2), (1, 2, 3)": ["VALUE_REFUSED"],
    "INSERT INTO s VALUES (1), (1), (1, 2)": ["VALUE_REFUSED"],
}


@pytest.mark.parametrize("text", TWICE)
def test_a_row_has_each_name_once_and_as_many_values_as_the_others(text: str) -> None:
    assert codes_of(text) == TWICE[text]


@pytest.mark.parametrize("columns", ["", "(a) "])
@pytest.mark.parametrize("query", ["SELECT 1", "FROM r SELECT 1", "WITH c AS (SELECT 1) SELECT * FROM c", "(SELECT 1)"])
def test_an_insert_takes_no_query_however_it_begins(columns: str, query: str) -> None:
    assert codes_of(f"INSERT INTO s {columns}{query}") == ["INSERT_SELECT"]


# ------------------------------------------------------------------------------------------------- conditions and limits

CONDITIONED = {
    "UPDATE s SET a = 1 WHERE {}": False,
    "DELETE FROM s WHERE {}": False,
    "SELECT * FROM STREAM s WHERE {} LIMIT 1": False,
    "SELECT * FROM TABLE s WHERE {}": False,
    "SELECT * FROM treaty.sources WHERE {}": True,
}
"""Statements with conditions, and whether LIKE is one of them."""


@pytest.mark.parametrize("statement", CONDITIONED)
def test_patterns_are_conditions_of_system_tables_alone(statement: str) -> None:
    refused = [] if CONDITIONED[statement] else ["CONDITION_REFUSED"]
    assert codes_of(statement.format("k = 'x' AND l = 2")) == []
    assert codes_of(statement.format("k LIKE 'x%'")) == refused
    assert codes_of(statement.format("k = 1 AND l LIKE 'x%'")) == refused
    assert codes_of(statement.format("k < 1")) == ["CONDITION_REFUSED"]


LEAST = {
    "SELECT * FROM STREAM s LIMIT {}": 1,
    "SELECT * FROM TABLE s LIMIT {}": 1,
    "SELECT * FROM treaty.sources LIMIT {}": 0,
    "SELECT * FROM TABLE s AS OF VERSION {}": 0,
    "PRINT s LIMIT {}": 0,
    "PRINT s INTERVAL {}": 1,
    "ASSERT SCHEMA ID {}": 1,
    "ASSERT SCHEMA SUBJECT 's' TIMEOUT {} SECONDS": 0,
}
"""Statements with a number, and the least one that they take."""


@pytest.mark.parametrize("statement", LEAST)
def test_a_number_is_as_small_as_its_clause_says(statement: str) -> None:
    least = LEAST[statement]
    for number in (-1, 0, 1, 2):
        assert codes_of(statement.format(number)) == ([] if number >= least else ["SYNTAX"]), number


@pytest.mark.parametrize("table", SYSTEM_TABLES)
def test_a_system_table_without_its_schema_is_named_in_any_case(table: str) -> None:
    for spelling in (table, table.upper(), table.capitalize()):
        (error,) = parse_script(f"SELECT * FROM {spelling}").diagnostics
        assert (error.code, error.hint) == ("SELECT_REFUSED", f"did you mean treaty.{table}?")


# ---------------------------------------------------------------------------------------------- reading on after an error

FAULTS = {
    "a STRUCT<x: ARRAY<INT>, y: MAP<STRING, INT>> nonsense more": "SYNTAX",
    "a STRUCT<x: INT, y: INT> nonsense": "SYNTAX",
    "a STRUCT<x: ARRAY<INT nonsense>, y: INT>": "TYPE_SYNTAX",
    "a MAP<STRING, FOO(3)>": "TYPE_SYNTAX",
    "a MAP<STRING, INT": "TYPE_SYNTAX",
    "a DECIMAL(70, 3)": "TYPE_NUMBER",
    "a ARRAY<DECIMAL(70, 3)>": "TYPE_NUMBER",
    "a INT HEADER(x)": "SYNTAX",
    "a AS (b + 1)": "SYNTAX",
    "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND": "SYNTAX",
    "a": "TYPE_SYNTAX",
}
"""Entries of a head with an error each, and its code."""


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("before", ["", "z MAP<STRING, ARRAY<INT>>, "])
def test_a_head_is_read_on_behind_an_entry_with_an_error(fault: str, before: str) -> None:
    is_closed = fault != "a MAP<STRING, INT"
    expected = [FAULTS[fault], "COLUMN_TWICE"] if is_closed else [FAULTS[fault]]
    assert codes_of(f"CREATE STREAM s ({before}{fault}, b INT, b INT) {WITH}")[:2] == expected


@pytest.mark.parametrize("after", ["WITH (KAFKA_TOPIC = 't')", "AS SELECT 1", ""])
@pytest.mark.parametrize("entries", ["a INT", "a INT, b MAP<STRING, INT>"])
def test_a_missing_parenthesis_is_named_before_whatever_follows(after: str, entries: str) -> None:
    (error,) = parse_script(f"CREATE STREAM s ({entries} {after}").diagnostics
    assert error.code == "SYNTAX"
    assert error.hint == f"a ) is missing before {after.partition(' ')[0] or 'the end'}"


def test_two_signs_of_division_with_a_blank_between_begin_no_comment_of_other_languages() -> None:
    assert codes_of("CREATE STREAM x AS SELECT 1 / / 2") == []
    assert codes_of("CREATE STREAM x AS SELECT 1 // 2") == ["SYNTAX"]

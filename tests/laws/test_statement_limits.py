"""Limits of statements as they are parsed: as much as a limit says is taken, and one more is refused with the code of the limit."""

import gc
from collections.abc import Callable

import pytest

from treaty.core.limits import (
    NAME_LENGTH,
    NUMBER_DIGITS,
    RESULT_ROWS,
    SCRIPT_DIAGNOSTICS,
    SCRIPT_STATEMENTS,
    SOURCE_COLUMNS,
    SOURCE_PROPERTIES,
    STATEMENT_BYTES,
    TYPE_DEPTH,
)
from treaty.metastore.sql.properties import PROPERTIES
from treaty.metastore.sql.script import LARGE_TEXT, parse_script
from treaty.metastore.sql.values import format_time

WITH = "WITH (KAFKA_TOPIC = 't', VALUE_FORMAT = 'AVRO')"
INSERT = "INSERT INTO s VALUES ({})"
LIMITS: dict[str, tuple[int, Callable[[int], str]]] = {
    "TOO_MANY_COLUMNS": (
        SOURCE_COLUMNS,
        lambda count: f"CREATE STREAM s ({', '.join(f'c{place} INT' for place in range(count))}) {WITH}",
    ),
    "SCRIPT_TOO_LONG": (SCRIPT_STATEMENTS, lambda count: ";".join(["SHOW STREAMS"] * count)),
    "VALUES_TOO_DEEP": (TYPE_DEPTH, lambda count: INSERT.format("ARRAY(" * (count - 1) + "1" + ")" * (count - 1))),
    "VALUE_REFUSED": (NUMBER_DIGITS, lambda count: INSERT.format("1" * count)),
    "SYNTAX": (RESULT_ROWS, lambda count: f"SELECT * FROM STREAM s LIMIT {count}"),
    "STATEMENT_TOO_LARGE": (STATEMENT_BYTES, lambda count: INSERT.format(f"'{'x' * (count - len(INSERT))}'")),
    "PROPERTY_VALUE": (NAME_LENGTH, lambda count: f"CREATE STREAM s (v INT) WITH (KAFKA_TOPIC = '{'t' * count}')"),
}


@pytest.mark.parametrize("code", LIMITS)
def test_as_much_as_a_limit_says_is_taken_and_no_more(code: str) -> None:
    limit, text_of = LIMITS[code]
    for count in (limit - 1, limit):
        script = parse_script(text_of(count))
        assert script.diagnostics == ()
    assert [one.code for one in parse_script(text_of(limit + 1)).diagnostics] == [code]


def test_properties_are_counted_with_those_that_are_there_twice() -> None:
    words = [f"p{place} = 1" for place in range(SOURCE_PROPERTIES + 1)]
    for count, is_over in ((SOURCE_PROPERTIES, False), (SOURCE_PROPERTIES + 1, True)):
        codes = {
            one.code for one in parse_script(f"CREATE STREAM s (v INT) WITH ({', '.join(words[:count])})").diagnostics
        }
        assert ("TOO_MANY_PROPERTIES" in codes) == is_over


@pytest.mark.parametrize("count", [SCRIPT_DIAGNOSTICS - 1, SCRIPT_DIAGNOSTICS, SCRIPT_DIAGNOSTICS + 1])
@pytest.mark.parametrize("between", [";", ", "])
def test_as_many_errors_as_the_limit_says_are_listed(count: int, between: str) -> None:
    """Errors of several statements, or of one; a last entry says that there are more."""
    texts = ["nothing"] * count if between == ";" else [f"p{place} = 1" for place in range(count)]
    text = (
        between.join(texts)
        if between == ";"
        else f"CREATE STREAM s (v INT) WITH (KAFKA_TOPIC = 't'); UPDATE s SET {', '.join(['v = 1'] * (count + 1))} WHERE k = 1"
    )
    codes = [one.code for one in parse_script(text).diagnostics]
    assert codes.count(codes[0]) == min(count, SCRIPT_DIAGNOSTICS)
    assert len(codes) <= SCRIPT_DIAGNOSTICS + 1
    assert ("TOO_MANY_DIAGNOSTICS" in codes) == (
        count > SCRIPT_DIAGNOSTICS or (between != ";" and count == SCRIPT_DIAGNOSTICS)
    )


@pytest.mark.parametrize("is_enabled", [False, True])
def test_a_large_text_leaves_the_collector_as_it_was(*, is_enabled: bool) -> None:
    was_enabled = gc.isenabled()
    try:
        (gc.enable if is_enabled else gc.disable)()
        assert len(parse_script(f"SHOW STREAMS {' ' * LARGE_TEXT}").statements) == 1
        assert gc.isenabled() == is_enabled
    finally:
        (gc.enable if was_enabled else gc.disable)()


VALUES: dict[str, dict[str, str | None]] = {
    "TRIGGER": {"1 second": "1 second", "2 Seconds": "2 seconds", "0 seconds": None, "1": None, "1 week": None},
    "START": {
        "latest": "latest", "2026-01-31T00:00:00Z": "2026-01-31T00:00:00+00:00", "2026-01-31T00:00:00": None, "from_now": "latest", " latest ": "latest", " 2026-01-31T00:00:00Z ": "2026-01-31T00:00:00+00:00",
        "FROM_TIMESTAMP('2026-01-31T00:00:00+01:00')": "2026-01-31T00:00:00+01:00", "x": None,
    },
    "WATERMARK": {
        "ts 1 second": "ts DELAY OF INTERVAL 1 second", "`a b` DELAY OF INTERVAL '2 minutes'": "`a b` DELAY OF INTERVAL 2 minutes",
        "ts DELAY OF INTERVAL 0 seconds": None, "ts": None,
    },
    "DEDUPLICATE": {"a": "a", "a,b": "a, b", " a , b ": "a, b", "a,,b": None, "": None, ",": None},
    "SUBJECT": {"x": "x", "": None, "a\0b": None, "x" * NAME_LENGTH: "x" * NAME_LENGTH, "x" * (NAME_LENGTH + 1): None},
    "PARTITIONS": {"1": "1", "0": None, "100000": "100000", "100001": None, "01": "1", "-1": None, "1.0": None},
    "RETENTION_MS": {"-1": "-1", "-2": None, "0": "0"},
    "VALUE_SCHEMA_ID": {"1": "1", "0": None, "2147483647": "2147483647", "2147483648": None},
    "BAD_ROWS": {"TRUE": "true", "skip": "false", "dead_letter": "true", "yes": None},
    "MATERIALIZE": {"true": "delta", "false": "none", "ICEBERG": "iceberg"},
    "VALUE_FORMAT": {"json_sr": "JSON", "avro-confluent": "AVRO", "KAFKA": None, "NONE": None},
    "KEY_FORMAT": {"json_sr": "JSON", "kafka": "KAFKA", "none": "NONE"},
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_a_property_takes_its_values_in_their_canonical_form(name: str) -> None:
    read = PROPERTIES[name].read
    assert {value: read(value) for value in VALUES[name]} == VALUES[name]
    for canonical in filter(None, VALUES[name].values()):
        assert read(canonical) == canonical


def test_a_time_has_three_digits_of_milliseconds() -> None:
    times = {
        0: "1970-01-01T00:00:00.000Z",
        5: "1970-01-01T00:00:00.005Z",
        -1: "1969-12-31T23:59:59.999Z",
        10**18: f"@{10**18}",
        12_345: "1970-01-01T00:00:12.345Z",
    }
    assert {number: format_time(number) for number in times} == times

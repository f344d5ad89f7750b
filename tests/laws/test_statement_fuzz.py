"""No text breaks the parser: what comes are statements and errors with places in the text, and the work is linear in its length."""

import gc
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.instruction_counts import count_instructions
from tests.laws.statement_values import STATEMENTS
from treaty.core.limits import (
    SCRIPT_DIAGNOSTICS,
    SCRIPT_STATEMENTS,
    SOURCE_COLUMNS,
    SOURCE_PROPERTIES,
    STATEMENT_BYTES,
    TYPE_DEPTH,
)
from treaty.metastore.sql.diagnostics import STATEMENT_CODES
from treaty.metastore.sql.keywords import FIRST_WORDS
from treaty.metastore.sql.printer import print_statement
from treaty.metastore.sql.script import parse_script

SHARE = settings(settings.get_profile("share"), max_examples=80)
LONG = settings(settings.get_profile("long"), max_examples=10_000)
PIECES = (
    *FIRST_WORDS, "STREAM", "TABLE", "TYPE", "OR REPLACE", "IF NOT EXISTS", "IF EXISTS", "a", "`b c`", "(", ")", ",", "=", ";", ".", "<", ">", ":",
    "INT", "STRUCT<a INT>", "ARRAY<", "KEY", "PRIMARY KEY", "HEADER('x')", "NOT NULL", "COMMENT", "'text'", "'", '"', "`", "/*", "*/", "--", "\n", "\\",
    "WITH (", "KAFKA_TOPIC", "'x'", "FORMAT='AVRO'", "AS", "SELECT", "FROM STREAM s", "EMIT CHANGES", "EMIT FINAL", "WINDOW TUMBLING (", "PARTITION BY",
    "WITHIN 1 HOUR", "x AS y WATERMARK ts DELAY OF", "${x}", "$${x}", "${", "$", "VALUES (1, ", "NULL", "-1.5e3", "X'0'", "MAP('a' := ", "treaty.sources",
    "WHERE", "AND", "LIKE", "ORDER BY", "LIMIT", "r'\\'", "ſELECT", "\0", "\ufeff", "\ud800", "😀", "ADD COLUMN", "RENAME TO", "SET", "DIGEST 'ab'",
)  # fmt: skip
SOUP = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join)
BYTES = st.binary(max_size=40).map(lambda data: data.decode("utf-8", "surrogateescape"))


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A statement of which a piece is cut out, or has something else in its place."""
    text = print_statement(draw(STATEMENTS))
    start = draw(st.integers(0, len(text)))
    return text[:start] + draw(st.sampled_from(["", *PIECES])) + text[start + draw(st.integers(0, 6)) :]


TEXTS = SOUP | BYTES | damaged() | st.text(max_size=20)


def check_any(text: str) -> None:
    script = parse_script(text, {"x": "a'b", "y": ";"})
    for one in (*script.diagnostics, *script.warnings):
        assert one.code in STATEMENT_CODES
        assert 0 <= one.start <= one.end <= len(text)
        lines = text[: one.start].replace("\r\n", "\n").replace("\r", "\n")
        assert one.line == lines.count("\n") + 1 or text[one.start - 1 : one.start + 1] == "\r\n"
        assert one.message
        assert one.expected or one.hint, one
    for statement in script.statements:
        assert "${" in text or statement.text == text[statement.start : statement.end]
        assert parse_script(print_statement(statement.value)).statements[0].value == statement.value


@SHARE
@given(TEXTS)
@example("CREATE STREAM a AS SELECT 1 \r\n EMIT x")
@example("INSERT INTO a VALUES (1e999), (9e9BD), (5BD)")
@example("DEFINE a = '\\0'; CREATE STREAM a AS SELECT '${a}'")
def test_any_text_is_parsed_or_refused_at_places_in_it(text: str) -> None:
    check_any(text)


@pytest.mark.soak
@LONG
@given(TEXTS)
def test_whatever_is_sent_is_parsed_or_refused_at_places_in_it(text: str) -> None:
    check_any(text)


SHAPES = {
    "parentheses": "CREATE STREAM a AS SELECT {(}",
    "nested types": "CREATE STREAM a (b {ARRAY<}",
    "nested values": "INSERT INTO a VALUES ({ARRAY(}",
    "nested comments": "CREATE STREAM a AS SELECT {/*}",
    "quotes": "CREATE STREAM a AS SELECT {'}",
    "pairs of quotes": "CREATE STREAM a AS SELECT 1, '{''}",
    "backslashes": "CREATE STREAM a AS SELECT '{\\}",
    "back quotes": "CREATE STREAM a AS SELECT `{``}",
    "dollars": "CREATE STREAM a AS SELECT '{$}'",
    "dollars and braces": "CREATE STREAM a AS SELECT '{$${a}}'",
    "variables": "CREATE STREAM a AS SELECT '{${x}}'",
    "unknown variables": "CREATE STREAM a AS SELECT '{${unknown}}'",
    "comments": "{-- a\n}",
    "open strings": "{SELECT 'a\n;}",
    "statements": "{SHOW TYPES;}",
    "errors": "{SHO TYPES;}",
    "semicolons": "{;}",
    "properties": "CREATE STREAM a WITH ({TOPICK=1,}",
    "columns": "CREATE STREAM a ({a INT,}",
    "wrong columns": "CREATE STREAM a ({a < INT,}",
    "words of ksqlDB": "CREATE STREAM a AS SELECT 1 {PARTITION BY WITHIN 1 HOUR WINDOW TUMBLING ( ) }",
    "rows": "INSERT INTO a VALUES (1){,(1)}",
    "digits": "INSERT INTO a VALUES ({9})",
    "dots": "SET {a.}",
    "blanks": "{ \n}",
    "line ends": "CREATE {\r}",
    "letters": "SELECT {ſ}",
}


def grown(shape: str, length: int) -> str:
    """The shape with its part in braces repeated."""
    start, end = shape.index("{"), shape.rindex("}")
    part = shape[start + 1 : end]
    return shape[:start] + part * (length // len(part)) + shape[end + 1 :]


def work_of(text: str) -> int:
    return count_instructions(lambda: parse_script(text, {"x": "y"}), "")


@pytest.mark.parametrize("shape", SHAPES)
def test_work_is_linear(shape: str) -> None:
    small, large = (grown(SHAPES[shape], length) for length in (200, 1_200))
    parse_script(small)
    assert work_of(large) <= 1.3 * work_of(small) * len(large) / len(small)


def test_a_large_text_is_parsed_without_looks_for_garbage() -> None:
    """Tokens are in no cycles, and each look would go through all that were made."""
    text, begun = "SELECT " + "(" * 600_000, count_looks()
    parse_script(text)
    assert count_looks() - begun <= 2
    assert gc.isenabled()
    gc.disable()
    try:
        parse_script(text)
        assert not gc.isenabled(), "somebody else has paused them"
    finally:
        gc.enable()


def count_looks() -> int:
    """How often garbage was looked for among young objects."""
    return int(gc.get_stats()[0]["collections"])


@pytest.mark.soak
@pytest.mark.parametrize("shape", SHAPES)
def test_past_its_limit_a_statement_ends_in_errors(shape: str) -> None:
    script = parse_script(grown(SHAPES[shape], STATEMENT_BYTES + 100), {"x": "y" * 100})
    assert len(script.diagnostics) <= SCRIPT_DIAGNOSTICS + 1
    large, small = (work_of(grown(SHAPES[shape], length)) for length in (50_000, 5_000))
    assert large <= 13 * small


PAST_LIMITS = {
    "STATEMENT_TOO_LARGE": f"SHOW TYPES; CREATE STREAM a AS SELECT '{'x' * STATEMENT_BYTES}'; SHO",
    "SCRIPT_TOO_LONG": "SHOW TYPES;" * (SCRIPT_STATEMENTS + 1),
    "TOO_MANY_DIAGNOSTICS": "SHO;" * (SCRIPT_DIAGNOSTICS - 1) + "CREATE STREAM a (a INT, a INT, a INT)",
    "TOO_MANY_COLUMNS": f"CREATE STREAM a ({', '.join(f'c{n} INT' for n in range(SOURCE_COLUMNS + 1))})",
    "TOO_MANY_PROPERTIES": f"CREATE STREAM a WITH ({', '.join(['PARTITIONS = 1'] * (SOURCE_PROPERTIES + 1))})",
    "TYPE_DEPTH": f"CREATE TYPE a AS {'ARRAY<' * (TYPE_DEPTH + 1)}",
    "VALUES_TOO_DEEP": f"INSERT INTO a VALUES ({'ARRAY(' * (TYPE_DEPTH + 1)}",
}


@pytest.mark.parametrize("code", PAST_LIMITS)
def test_a_limit_is_an_error_with_its_name(code: str) -> None:
    script = parse_script(PAST_LIMITS[code])
    (past,) = [one for one in script.diagnostics if one.code == code]
    assert "the limit" in past.message
    assert past.hint


def test_one_statement_lists_as_many_errors_as_a_script() -> None:
    columns = ", ".join(["a INT"] * (SCRIPT_DIAGNOSTICS + 100))
    script = parse_script(f"CREATE STREAM a ({columns}); SHO")
    assert [one.code for one in script.diagnostics] == ["COLUMN_TWICE"] * SCRIPT_DIAGNOSTICS + ["TOO_MANY_DIAGNOSTICS"]


def test_a_cut_statement_has_no_error_before_the_cut() -> None:
    chance = random.Random(7)
    text = (
        "CREATE STREAM a (b STRUCT<c: INT NOT NULL>, d STRING KEY) WITH (KAFKA_TOPIC = 't', PARTITIONS = 3) AS SELECT 1"
    )
    for _ in range(30):
        cut = chance.randrange(1, text.index(" AS"))
        for one in parse_script(text[:cut]).diagnostics:
            assert one.end >= len(text[:cut].rstrip()) - 12

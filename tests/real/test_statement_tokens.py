"""Spark's own lexer and type parser beside those of the metastore: statements end, and strings and comments stand, in the same places."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from pyspark.sql import SparkSession

from tests.laws.statement_values import TYPES
from treaty.core.column_types import SqlScalar, SqlType, expand_type, print_column_type
from treaty.core.column_types.tokens import split_tokens

pytestmark = pytest.mark.jvm
QUOTED = {"STRING_LITERAL", "DOUBLEQUOTED_STRING", "BACKQUOTED_IDENTIFIER"}
PIECES = (
    "a", "'it''s;'", '"a;"', "`x;y`", "/* ; */", "/*/* ' */*/", "-- ;'\n", "--\\\n;\n", "( ", ")", "r'\\'", 'R"\\"', "1.5e3", "5L", "/*+ B(a) */",
    "/*", "*/", "'", '"', "`", "\\'", "\\", "--", "\n", " ", "''", "x'0'", "1a", "a1", ".5", "1.", "*/*", "/*/", "r", "R'a", "--\r", "\r\n", "''''",
    "/*+", "-", "*", "/", "$", ";",
)  # fmt: skip


def spark_tokens(spark: SparkSession, text: str) -> list[tuple[str, int, int]]:
    """Name and place of the tokens that Spark's parser sees."""
    jvm: Any = spark._jvm
    parser = jvm.org.apache.spark.sql.catalyst.parser
    lexer = parser.SqlBaseLexer(parser.UpperCaseCharStream(jvm.org.antlr.v4.runtime.CharStreams.fromString(text)))
    lexer.removeErrorListeners()
    names = lexer.getVocabulary()
    seen = (token for token in lexer.getAllTokens() if not token.getChannel())
    return [(names.getSymbolicName(one.getType()), one.getStartIndex(), one.getStopIndex() + 1) for one in seen]


def covered(places: list[tuple[int, int]]) -> set[int]:
    return {at for start, end in places for at in range(start, end)}


def test_words_strings_and_comments_are_where_spark_has_them(spark: SparkSession) -> None:
    chance = random.Random(5)
    for _ in range(150):
        text = "".join(chance.choices(PIECES, k=chance.randrange(1, 9)))
        tokens = split_tokens(text)[:-1]
        end = tokens[-1].start if tokens and tokens[-1].kind == "open" else len(text)
        theirs = [one for one in spark_tokens(spark, text) if one[1] < end]
        closed = [one for one in tokens if one.kind != "open"]
        assert covered([(one.start, one.end) for one in closed]) == {
            at for at in covered([(start, stop) for _, start, stop in theirs]) if at < end
        }, text
        strings = [(one.start, one.end) for one in closed if one.kind in {"text", "raw", "quoted"}]
        assert strings == [(start, stop) for name, start, stop in theirs if name in QUOTED], text


@settings(
    settings.get_profile("share"), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(TYPES)
def test_spark_takes_a_printed_type(spark: SparkSession, kind: SqlType) -> None:
    text = print_column_type(expand_type(kind, lambda _: SqlScalar("INT")))
    parser = spark._jsparkSession.sessionState().sqlParser()
    words = parser.parseDataType(text.replace("${", "$ {")).sql()
    assert words.startswith(text[:4])

"""Types of columns in SQL: the printed text means the same type, and no text or set of user types takes more than its limit."""

from typing import get_args

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.laws.statement_values import TYPES
from treaty.core.column_types import (
    SQL_SCALARS,
    ColumnTypeError,
    SqlArray,
    SqlDecimal,
    SqlField,
    SqlMap,
    SqlScalar,
    SqlStruct,
    SqlTime,
    SqlType,
    UserType,
    expand_type,
    list_type_names,
    parse_column_type,
    print_column_type,
)
from treaty.core.limits import TYPE_DEPTH, TYPE_PARTS

WORDS = "STRUCT ARRAY MAP < > , : ( ) INT DECIMAL 10 a `b` NOT NULL COMMENT 'x' ' ` /* -- \n $ ${a} . STRUCT<a: INT"


def parse(text: str) -> SqlType | ColumnTypeError:
    try:
        return parse_column_type(text)
    except ColumnTypeError as error:
        return error


@given(TYPES)
def test_a_type_is_read_back_from_its_text(kind: SqlType) -> None:
    text = print_column_type(kind)
    assert parse_column_type(text) == kind
    assert print_column_type(parse_column_type(text)) == text


@given(st.lists(st.sampled_from(WORDS.split(" ")), max_size=12).map(" ".join) | st.text(max_size=12))
@example("ſTRING")
@example("١")
def test_any_text_is_a_type_or_refused_at_a_place_in_it(text: str) -> None:
    outcome = parse(text)
    if isinstance(outcome, ColumnTypeError):
        assert 0 <= outcome.start <= outcome.end <= len(text)
        assert outcome.message
        assert outcome.expected or outcome.hint
    else:
        assert isinstance(outcome, get_args(SqlType))
        assert parse_column_type(print_column_type(outcome)) == outcome


SAME = {
    "integer": SqlScalar("INT"),
    "Long": SqlScalar("BIGINT"),
    "VARCHAR": SqlScalar("STRING"),
    "bytes": SqlScalar("BINARY"),
    "timestamp_ltz": SqlScalar("TIMESTAMP"),
    "Dec": SqlDecimal(10, 0),
    "NUMERIC(5)": SqlDecimal(5, 0),
    "decimal(38 /* digits */, 38)": SqlDecimal(38, 38),
    "TIME": SqlTime(6),
    "time(0)": SqlTime(0),
    "`int`": UserType("int"),
    "STRUCT<>": SqlStruct(()),
    "struct < a INT, `b c`: array<Address> not null comment 'it''s' >": SqlStruct(
        (
            SqlField("a", SqlScalar("INT")),
            SqlField("b c", SqlArray(UserType("Address")), nullable=False, comment="it's"),
        )
    ),
    "map<varchar, -- keys\n map<int,int>>": SqlMap(SqlScalar("STRING"), SqlMap(SqlScalar("INT"), SqlScalar("INT"))),
}
REFUSED = {
    "": ("TYPE_SYNTAX", 0),
    "ARRAY<INT": ("TYPE_SYNTAX", 9),
    "INT INT": ("TYPE_SYNTAX", 4),
    "ARRAY<`": ("TYPE_SYNTAX", 6),
    "straße": ("TYPE_SYNTAX", 0),
    "VARCHAR(10)": ("TYPE_LENGTH", 0),
    "STRUCT<a CHAR(1)>": ("TYPE_LENGTH", 9),
    "INTERVAL DAY": ("TYPE_UNKNOWN", 0),
    "DECIMAL(39)": ("TYPE_NUMBER", 8),
    "DECIMAL(3, 4)": ("TYPE_NUMBER", 7),
    "TIME(7)": ("TYPE_NUMBER", 5),
    "DECIMAL(99999999999999999999)": ("TYPE_NUMBER", 8),
    "DECIMAL(00009)": ("TYPE_NUMBER", 8),
    "DECIMAL(1.5)": ("TYPE_NUMBER", 8),
    "DECIMAL(1e1)": ("TYPE_NUMBER", 8),
    "DECIMAL(9, x)": ("TYPE_NUMBER", 11),
    "DECIMAL(0)": ("TYPE_NUMBER", 8),
    "STRUCT<a INT, a INT>": ("TYPE_FIELD_TWICE", 14),
    "ARRAY<" * TYPE_DEPTH + "INT" + ">" * TYPE_DEPTH: ("TYPE_DEPTH", TYPE_DEPTH * 6),
    "ARRAY<" * 10_000: ("TYPE_DEPTH", TYPE_DEPTH * 6),
}


@pytest.mark.parametrize("text", SAME)
def test_words_of_spark_and_ksqldb_are_taken(text: str) -> None:
    assert parse_column_type(text) == SAME[text]


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: f"{text[:20]} {len(text)}")
def test_a_refusal_has_a_code_and_a_place(text: str) -> None:
    with pytest.raises(ColumnTypeError) as caught:
        parse_column_type(text)
    assert (caught.value.code, caught.value.start) == REFUSED[text]


def test_the_deepest_type_is_read_and_printed() -> None:
    deepest = "ARRAY<" * (TYPE_DEPTH - 1) + "INT" + ">" * (TYPE_DEPTH - 1)
    assert print_column_type(parse_column_type(deepest)) == deepest


@given(TYPES, TYPES)
def test_written_out_no_name_is_left(kind: SqlType, stands: SqlType) -> None:
    plain = expand_type(stands, lambda key: SqlScalar("INT"))
    expanded = expand_type(kind, lambda key: plain)
    assert list_type_names(expanded) == ()
    asked: list[str] = []

    def lookup(key: str) -> SqlType:
        asked.append(key)
        return SqlScalar("INT")

    expand_type(kind, lookup)
    assert list_type_names(kind) == tuple(dict.fromkeys(asked))


@pytest.mark.parametrize(
    ("types", "code"),
    [
        ({}, "TYPE_UNKNOWN"),
        ({"t0": "ARRAY<T0>"}, "TYPE_RECURSIVE"),
        ({"t0": "t1", "t1": "STRUCT<a: MAP<INT, T0>>"}, "TYPE_RECURSIVE"),
        ({f"t{n}": f"STRUCT<a: t{n + 1}, b: t{n + 1}>" for n in range(40)} | {"t40": "INT"}, "TYPE_SIZE"),
        ({f"t{n}": f"ARRAY<t{n + 1}>" for n in range(200)} | {"t200": "INT"}, "TYPE_DEPTH"),
        ({f"t{n}": f"t{n + 1}" for n in range(5_000)} | {"t5000": "INT"}, "TYPE_DEPTH"),
    ],
    ids=["unknown", "in itself", "in a circle", "doubling", "deep", "names of names"],
)
def test_user_types_that_can_t_be_written_out_are_refused(types: dict[str, str], code: str) -> None:
    parsed = {name: parse_column_type(text) for name, text in types.items()}
    with pytest.raises(ColumnTypeError) as caught:
        expand_type(UserType("T0"), parsed.get)
    assert caught.value.code == code


def test_a_wide_type_has_a_limit() -> None:
    wide = ", ".join(f"c{n}: INT" for n in range(TYPE_PARTS))
    with pytest.raises(ColumnTypeError, match="TYPE_PARTS"):
        parse_column_type(f"STRUCT<{wide}>")
    assert len(SQL_SCALARS) == 14

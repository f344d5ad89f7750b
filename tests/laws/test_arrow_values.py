"""Values of JSON documents at their edges, as the columns of a plan take them or refuse them."""

import json
from decimal import Decimal
from typing import Any

import pytest

from treaty.arrow.jsonschema.rest import find_rest
from treaty.arrow.jsonschema.unfit import find_unfit
from treaty.arrow.jsonschema.values import (
    PLAIN_SCALARS,
    SCALARS,
    JsonMembers,
    OversizedValueError,
    WrongKindError,
    make_converter,
    print_double,
    read_number,
)
from treaty.core.state import columns as table
from treaty.core.state.columns import Column, Scalar, Struct

WRONG, LARGE = "wrong", "large"
DECODER = json.JSONDecoder(object_pairs_hook=JsonMembers, parse_float=read_number)
VALUES: dict[str, dict[str, Any]] = {
    "int32": {
        "2147483647": 2**31 - 1, "2147483648": LARGE, "-2147483648": -(2**31), "-2147483649": LARGE, "1.0": 1, "1.5": WRONG, "0.0500": WRONG,
        "100e-2": 1, "105e-2": WRONG, "1e9": 10**9, "1e10": LARGE, "true": WRONG, '"1"': WRONG, "0e999999999": 0,
    },
    "int64": {"9223372036854775807": 2**63 - 1, "9223372036854775808": LARGE, "1e18": 10**18, "1e19": LARGE, "1e999999999": LARGE, "-1e999999999": LARGE},
    "float64": {"1": 1.0, "1e400": float("inf"), "-1e400": float("-inf"), "true": WRONG, '"1"': WRONG},
    "boolean": {"true": True, "0": WRONG, '"true"': WRONG},
    "string": {'"a"': "a", '{"b": [1, 2.50, null]}': '{"b":[1,2.5,null]}', "true": "true", "1e7": "1.0E7", '"\\ud800"': "?"},
    "date": {
        '"1970-01-02"': 1, '"1970-1-2"': 1, '"1970"': 0, '"1970-02"': 31, '" 1970-01-02T09:00:00 "': 1, '"1970-02-30"': WRONG, '"0000-01-01"': -719528,
        '"-0001-01-01"': -719893, "1": WRONG, '"+5881580-07-11"': 2**31 - 1, '"+5881580-07-12"': LARGE,
    },
    "timestamp": {
        "1": 1_000_000, '"1970-01-01T00:00:01Z"': 1_000_000, '"1970-01-01t00:00:01.5z"': 1_500_000, '"1970-01-01T00:00:00.123456789Z"': 123_456,
        '"1970-01-01T18:00:00+18:00"': 0, '"1970-01-01T18:01:00+18:01"': WRONG, '"1970-01-01T00:00:00-00:30"': 1_800_000_000, '"1970-01-01T24:00:00Z"': WRONG,
        '"-0000-01-01T00:00:00Z"': WRONG, '"+294247-01-10T04:00:54.775807Z"': 2**63 - 1, '"+294247-01-10T04:00:54.775808Z"': LARGE,
        '"1970-01-01T00:00:00.0000019Z"': 1, '"1970-01-01"': WRONG, "9223372036854": 9223372036854 * 10**6, "9223372036855": LARGE,
    },
}  # fmt: skip
DECIMALS = {
    "99.94": Decimal("99.9"), "99.95": LARGE, "-99.95": LARGE, "99.949999": Decimal("99.9"), '"9,9.9"': Decimal("99.9"), '"-.5"': Decimal("-0.5"), "0.05": Decimal("0.1"),
    "-0.05": Decimal("-0.1"), "1e1": Decimal("10.0"), "1e2": LARGE, "true": WRONG, '"1e"': WRONG, "100": LARGE,
}  # fmt: skip


def read(kind: table.ColumnType, text: str, *, plain: bool = False) -> Any:
    try:
        return make_converter(kind, PLAIN_SCALARS if plain else SCALARS)(DECODER.decode(text))
    except OversizedValueError:
        return LARGE
    except ValueError:  # a WrongKindError, or a day that there is not
        return WRONG


@pytest.mark.parametrize("name", VALUES)
def test_a_scalar_takes_what_it_can_hold_and_says_of_the_rest_why_not(name: str) -> None:
    assert {text: read(Scalar(name), text) for text in VALUES[name]} == VALUES[name]


def test_a_decimal_is_rounded_half_up_before_its_digits_are_counted() -> None:
    assert {text: read(table.Decimal(3, 1), text) for text in DECIMALS} == DECIMALS


def test_a_whole_number_of_an_old_draft_has_no_point_and_no_exponent() -> None:
    assert [read(Scalar(name), text, plain=True) for name in ("int32", "int64") for text in ("1", "1.0", "1e0")] == [
        1,
        WRONG,
        WRONG,
    ] * 2


def test_doubles_are_printed_as_java_prints_them() -> None:
    texts = {
        0.0: "0.0", 1.0: "1.0", 9_999_999.0: "9999999.0", 1e7: "1.0E7", 1_234_567.5: "1234567.5", 12_345_678.9: "1.23456789E7", 0.001: "0.001",
        0.0001: "1.0E-4", 0.00123: "0.00123", 1e-300: "1.0E-300", 100.0: "100.0", -0.05: "-0.05", float("inf"): '"Infinity"', float("-inf"): '"-Infinity"',
    }  # fmt: skip
    assert {number: print_double(number) for number in texts} == texts
    assert print_double(-0.0) == "-0.0"


INNER = Struct((Column("a/b", Scalar("int32")), Column("c~d", Scalar("int32"))))
KIND = Struct(
    (
        Column("x", INNER),
        Column("y", table.List(INNER)),
        Column("m", table.Map(Scalar("string"), Scalar("int32"))),
        Column("rest", table.Map(Scalar("string"), Scalar("variant"))),
    )
)
UNFIT = {
    '{"x": {"a/b": 3000000000}}': "/x/a~1b",
    '{"x": {"c~d": 3000000000}}': "/x/c~0d",
    '{"y": [{"a/b": 1}, {"a/b": 3000000000}, {"a/b": 4000000000}]}': "/y/1/a~1b",
    '{"m": {"k/~": 3000000000}, "x": {"a/b": 3000000000}}': "/m/k~1~0",
    '{"rest": 3000000000, "x": {"a/b": 3000000000}}': "/x/a~1b",
    '{"x": {"rest": "text", "a/b": 3000000000}}': "/x/a~1b",
    '{"x": null, "y": [null]}': "",
}


@pytest.mark.parametrize("text", UNFIT)
def test_the_first_value_that_does_not_fit_is_named_by_its_pointer(text: str) -> None:
    said = find_unfit(KIND, DECODER.decode(text), SCALARS, without="rest")
    assert said.partition(": ")[0] == UNFIT[text]


def test_a_column_of_the_rest_is_one_of_the_topmost_struct_alone() -> None:
    inner = Struct((Column("x", Struct((Column("rest", Scalar("int32")),))), Column("rest", Scalar("variant"))))
    text = '{"rest": 1, "x": {"rest": 3000000000}}'
    assert find_unfit(inner, DECODER.decode(text), SCALARS, without="rest").startswith("/x/rest: ")
    assert make_converter(inner, SCALARS, without="rest")(DECODER.decode(text.replace("3000000000", "3"))) == {
        "x": {"rest": 3}
    }
    with pytest.raises(WrongKindError):
        find_unfit(inner, DECODER.decode(text.replace("3000000000", '"3"')), SCALARS, without="rest")


def test_members_without_a_column_are_texts_in_the_order_of_their_names() -> None:
    texts = {
        '{"b": 1, "a": 2, "c": {"z": 1.50, "y": "\\u001f"}}': [("a", "2"), ("c", '{"y":"\\u001F","z":1.5}')],
        '{"\\uffff": 1, "\\ud83d\\ude00": 2}': [("\U0001f600", "2"), ("\uffff", "1")],
        '{"\\ud800": 1}': [("?", "1")],
        f'{{"a": {10**37}, "c": {-(10**37)}}}': [("a", str(10**37)), ("c", str(-(10**37)))],
        f'{{"a": {10**38}, "c": {-(10**38 - 1)}}}': [("a", "1.0E38"), ("c", str(-(10**38 - 1)))],
        '{"a": 1e2, "c": 1.10, "d": 0.00}': [("a", "100.0"), ("c", "1.1"), ("d", "0")],
        f'{{"a": 0.{"0" * 37}1, "c": 0.{"0" * 38}1}}': [("a", f"0.{'0' * 37}1"), ("c", "1.0E-39")],
        '{"a": [{"k": 1}, {"k": 1, "k": 2}]}': None,
        '{"a": 1, "a": 1}': None,
        '{"b": {"k": 1, "k": 2}, "a": 1}': None,
    }
    assert {text: find_rest(DECODER.decode(text), {"b"}) for text in texts} == texts

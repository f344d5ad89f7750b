"""Words of other systems in queries: what stands for them is a form that a query may have."""

import re

import pytest

from treaty.core.column_types.tokens import split_tokens
from treaty.metastore.ksqldb.suggestions import FUNCTIONS, WORDS
from treaty.metastore.sql.foreign_bodies import COLUMN_FORMS, FUNCTION_FORMS, find_foreign_form
from treaty.spark.planner.functions import ALLOWED_FUNCTIONS, LAMBDA_FUNCTIONS

_CALL = re.compile(r"([a-z_0-9]+)\(")


@pytest.mark.parametrize("name", FUNCTION_FORMS)
def test_a_function_leads_to_functions_that_a_query_may_call(name: str) -> None:
    assert name.lower() not in ALLOWED_FUNCTIONS, "it works as it is"
    assert {one for one in _CALL.findall(FUNCTION_FORMS[name]) if one not in ALLOWED_FUNCTIONS} == set()


def test_what_an_import_writes_in_other_words_is_led_too() -> None:
    assert {name for name in FUNCTIONS if name.lower() not in ALLOWED_FUNCTIONS} <= FUNCTION_FORMS.keys()
    assert WORDS.keys() <= COLUMN_FORMS.keys()


@pytest.mark.parametrize(
    "body",
    [
        "SELECT transform(arr, x -> x + 1) AS a FROM s",
        "SELECT aggregate(arr, 0, (sum, x) -> sum + x, sum -> sum * 2) AS a FROM s",
        "SELECT array_sort(arr, (l, r) -> CASE WHEN l < r THEN -1 ELSE 1 END) AS a FROM s",
        "SELECT transform(filter(arr, x -> x > 1), x -> x - 1) AS a FROM s",
        "SELECT a AS varchar, b AS row FROM s",
        "SELECT coalesce(a, b) AS text, a - b > 1 AS c FROM s",
        "SELECT CAST(a AS STRING) AS char, CAST(b AS DECIMAL(4, 2)) AS uuid FROM s",
        "SELECT '->' AS a, `x->y` AS b FROM s",
        "SELECT tumble FROM s GROUP BY window(ts, '1 minute'), hop",
    ],
)
def test_what_spark_has_is_no_foreign_form(body: str) -> None:
    assert find_foreign_form(split_tokens(body), LAMBDA_FUNCTIONS) is None


@pytest.mark.parametrize(
    "body", ["", "->", "a->", "(->", "CAST(", "CAST(a AS VARCHAR", "::CHAR", "TUMBLE(TABLE", "x) -> y"]
)
def test_a_form_is_looked_for_in_any_text(body: str) -> None:
    form = find_foreign_form(split_tokens(body), LAMBDA_FUNCTIONS)
    assert form is None or 0 <= form.start <= form.end <= len(body)

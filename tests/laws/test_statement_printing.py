"""What is printed of a statement is the same statement, in a script too, and a statement is its head, body and tail byte for byte."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.statement_values import CREATES, SETTING_STATEMENTS, STATEMENTS
from treaty.metastore.sql.printer import print_head, print_statement
from treaty.metastore.sql.script import parse_script
from treaty.metastore.sql.statements import CreateSourceStatement, SqlStatement

LONG = settings(settings.get_profile("long"), max_examples=5_000)
SHARE = settings(settings.get_profile("share"), max_examples=60)
VARIABLES = {"x": "1"}


def read_back(statement: SqlStatement) -> None:
    text = print_statement(statement)
    script = parse_script(text, VARIABLES)
    assert script.diagnostics == ()
    (parsed,) = script.statements
    assert parsed.value == statement
    assert print_statement(parsed.value) == text
    if "${" not in text:
        assert parsed.text == text


@SHARE
@given(STATEMENTS | SETTING_STATEMENTS)
def test_a_statement_is_read_back_from_its_text(statement: SqlStatement) -> None:
    read_back(statement)


@pytest.mark.soak
@LONG
@given(STATEMENTS | SETTING_STATEMENTS)
def test_any_statement_is_read_back_from_its_text(statement: SqlStatement) -> None:
    read_back(statement)


@settings(SHARE, max_examples=20)
@given(st.lists(STATEMENTS, max_size=4), st.sampled_from([";", " ;\n", "; -- ;\n", ";;/* ; */ ; "]))
def test_a_script_is_its_statements_in_their_order(statements: list[SqlStatement], between: str) -> None:
    text = between.join(map(print_statement, statements))
    script = parse_script(text)
    assert script.diagnostics == ()
    assert [parsed.value for parsed in script.statements] == statements


@SHARE
@given(CREATES, st.sampled_from(["", "-- a\n", " /* ; */ "]), st.sampled_from(["", " -- z", "\n/* ; */\n"]))
def test_head_body_and_tail_are_the_statement(statement: CreateSourceStatement, before: str, after: str) -> None:
    text = before + print_statement(statement) + after
    script = parse_script(text, VARIABLES)
    (parsed,) = script.statements
    assert parsed.body == statement.body
    assert parsed.value == statement
    if "${" not in text:
        assert parsed.head + parsed.body + parsed.tail == text[parsed.start : parsed.end] == text.strip()
        assert parsed.head.endswith(print_head(statement)) if statement.body else parsed.body == parsed.tail == ""

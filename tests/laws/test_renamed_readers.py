"""A rename is decided in time: columns of what is read are split once, and wide ones not in an event loop."""

import pytest

from tests.laws.toy import Bench
from treaty.core.handlers.metastore.body_names import rename_in_statement
from treaty.core.handlers.metastore.renames import ColumnWords
from treaty.core.limits import LOOP_BYTES
from treaty.core.messages.metastore.sources import CreateSource, DropSource, SourceDefinition
from treaty.core.schema import InEventLoop, LargeTextError
from treaty.core.sources import QueryPlan, SourceColumn, SourceRead, StateFingerprint

NAMES = ("id", "code", "struct", "flights")


def plan_over(*names: str) -> QueryPlan:
    reads = tuple(SourceRead(name, 1, name) for name in names)
    return QueryPlan("SELECT 1", reads, "append", (), StateFingerprint("", ""))


def bench_with(columns: tuple[SourceColumn, ...]) -> Bench:
    bench = Bench()
    bench.do(CreateSource(SourceDefinition("w", "STREAM", "CREATE", columns, connector="delta", place="w")))
    return bench


def test_columns_of_a_source_are_split_once_for_all_its_readers() -> None:
    bench = bench_with((SourceColumn("ID", "INT"), SourceColumn("info", "STRUCT<Code: STRING>")))
    words = ColumnWords(bench.tables)
    assert words.list_met(plan_over("w"), NAMES) == {"id", "code", "struct"}
    bench.do(DropSource("w"))
    assert words.list_met(plan_over("w", "gone"), NAMES) == {"id", "code", "struct"}
    assert ColumnWords(bench.tables).list_met(plan_over("w"), NAMES) == set()


def test_wide_sources_are_split_on_a_thread() -> None:
    kind = "STRUCT<" + ", ".join(f"field_number_{at}: STRING" for at in range(40)) + ">"
    columns = tuple(SourceColumn(f"c{at}", kind) for at in range(LOOP_BYTES // 2 // len(kind) + 1))
    bench = bench_with(columns)
    with InEventLoop(), pytest.raises(LargeTextError):
        ColumnWords(bench.tables).list_met(plan_over("w"), NAMES)
    assert ColumnWords(bench.tables).list_met(plan_over("w"), ("field_number_7",)) == {"field_number_7"}


STATEMENTS = {
    "CREATE STREAM flights (id INT)": "CREATE STREAM `new one` (id INT)",
    "CREATE OR REPLACE TABLE `flights` (flights INT)": "CREATE OR REPLACE TABLE `new one` (flights INT)",
    "create stream if not exists FLIGHTS with (a = 'flights')": "create stream if not exists `new one` with (a = 'flights')",
    "CREATE MATERIALIZED VIEW -- flights\n flights AS SELECT 1": "CREATE MATERIALIZED VIEW -- flights\n `new one` AS SELECT 1",
    "CREATE STREAM other (flights INT)": "CREATE STREAM other (flights INT)",
    "flights": "flights",
    "": "",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_has_the_new_name_where_it_says_what_it_creates_and_nowhere_else(statement: str) -> None:
    assert rename_in_statement(statement, {"flights": "new one"}, ("", "")) == STATEMENTS[statement]
    assert rename_in_statement(statement, {}, ("", "")) == statement


@pytest.mark.parametrize("word", ["create", "or", "replace", "if", "not", "materialized"])
def test_a_source_that_is_called_like_a_word_before_it_is_renamed_at_its_own_place(word: str) -> None:
    """Also where the body says the name, which has its own way."""
    head = "CREATE OR REPLACE MATERIALIZED VIEW IF NOT EXISTS"
    renamed = rename_in_statement(f"{head} `{word}` AS SELECT 1", {word: "later"}, ("SELECT 1", "SELECT 2"))
    assert renamed == f"{head} later AS SELECT 2"

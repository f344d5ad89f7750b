"""A rename is decided in time: columns of what is read are split once, and wide ones not in an event loop."""

import pytest

from tests.laws.toy import Bench
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

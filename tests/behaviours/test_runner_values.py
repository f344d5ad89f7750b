"""What a runner compares and counts: which change of a source is another run, pages of its feed, rows of batches, differences of tests; no Spark is started."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from tests.planning import SelectPlanner
from treaty import connect
from treaty.client.connection import Connection
from treaty.core import limits
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.metastore.sources import DescribeSource
from treaty.core.messages.request import Request
from treaty.core.registry import CALL, CallOptions, Registry, Reply
from treaty.core.sources import BAD, OnceQuery, QueryPlan, Source, SourceColumn, SourceRead
from treaty.metastore import Metastore, PlanningOptions
from treaty.spark.runner.service.part_status import FieldReads, PartStatus, add_bad, add_progress, list_reads
from treaty.spark.runner.service.wanted import WantedPart, read_snapshot
from treaty.spark.runner.source_frames import BAD_OF, name_counts
from treaty.spark.sql_tests.differences import SHOWN, list_differences
from treaty.spark.sql_tests.files import InvalidCaseError, read_test

FLIGHTS = "CREATE STREAM {0} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO', BAD_ROWS = 'true')"


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        run(connection, f"{FLIGHTS.format('flights')}; {FLIGHTS.format('other')}")
        for name, source in (("late", "flights"), ("later", "late"), ("Third", "other")):
            run(connection, f"CREATE STREAM {name} AS SELECT carrier FROM STREAM {source}")
        yield connection


def run(registry: Connection, sql: str) -> None:
    Metastore(registry.registry, planning=PlanningOptions(SelectPlanner())).run(sql)


def describe(registry: Connection, name: str) -> Source:
    return registry.ask(DescribeSource(name)).answer.source


def test_whatever_a_run_depends_on_makes_another_run(registry: Connection) -> None:
    source = describe(registry, "late")
    assert source.query is not None
    upstream = describe(registry, "flights")
    part = WantedPart(source, upstreams=(upstream,))
    query = source.query
    others = {
        "began": replace(source, query=replace(query, began=query.began + 1)),
        "plan": replace(source, query=replace(query, plan=replace(query.plan, body="SELECT 2"))),
        "place": replace(source, place="elsewhere"),
        "cluster": replace(source, cluster="west"),
        "connector": replace(source, connector="delta"),
        "key": replace(source, key=None if source.key else describe(registry, "flights").key),
        "value": replace(source, value=None),
        "properties": replace(source, properties=(("TRIGGER", "1 minute"),)),
        "once": replace(source, once=(OnceQuery(7, query.plan),)),
    }
    for member, changed in others.items():
        assert WantedPart(changed, upstreams=(upstream,)).definition != part.definition, member
    moves: dict[str, Any] = {"generation": 99, "revision": 99, "place": "elsewhere", "cluster": "west"}
    for member, value in moves.items():
        moved = replace(upstream, **{member: value})
        assert WantedPart(source, upstreams=(moved,)).definition != part.definition, member
    assert WantedPart(source).definition != part.definition
    words: dict[str, Any] = {"comment": "x", "desired": "PAUSED", "author": "y"}
    for member, value in words.items():
        same = WantedPart(replace(source, **{member: value}), upstreams=(upstream,))
        assert same.definition == part.definition, member
    bad = describe(registry, "flights_bad")
    wider = replace(bad, columns=(*bad.columns, SourceColumn("x", "INT")))
    assert WantedPart(wider, BAD).definition != WantedPart(bad, BAD).definition
    assert WantedPart(bad, BAD).key != WantedPart(bad).key


class ChangingRegistry:
    """A registry in which something happens before its n-th page of the feed."""

    def __init__(self, inner: Registry, at: int, change: Any) -> None:
        self.inner, self.at, self.change, self.pages = inner, at, change, 0

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        if isinstance(request, ListQueries):
            self.pages += 1
            if self.pages == self.at:
                self.change()
        return self.inner.ask(request, call)

    def close(self) -> None:
        """Close nothing."""


def test_a_snapshot_of_several_pages_is_that_of_one_moment(
    registry: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = read_snapshot(registry.registry)
    assert whole is not None
    assert {one.source.name for one in whole.parts.values()} == {"late", "later", "Third", "flights_bad", "other_bad"}
    upstreams = {one.source.name: [each.name for each in one.upstreams] for one in whole.parts.values()}
    assert upstreams == {
        "late": ["flights"], "later": ["late"], "Third": ["other"], "flights_bad": ["flights"], "other_bad": ["other"],
    }  # fmt: skip
    assert read_snapshot(registry.registry, whole.token) is None
    monkeypatch.setattr(limits, "SOURCES_PAGE_CHARACTERS", 1)
    paged = read_snapshot(registry.registry)
    assert paged == whole
    changing = ChangingRegistry(registry.registry, 3, lambda: run(registry, "DROP STREAM Third"))
    changed = read_snapshot(changing)
    assert changed is not None
    assert changed == read_snapshot(registry.registry)
    assert "Third" not in {one.source.name for one in changed.parts.values()}


# ----------------------------------------------------------------------------------------------------------- rows of batches


def progress(batch: int, rows: int, **observed: dict[str, int]) -> dict[str, Any]:
    return {"batchId": batch, "numInputRows": rows, "observedMetrics": observed, "durationMs": {"triggerExecution": 5}}


def test_rows_of_batches_are_added_for_each_source_that_is_read() -> None:
    """A source over records is counted by itself, a table that is joined is not."""
    reads = (FieldReads("a", 1, ("x",)), FieldReads("b", 2), FieldReads("c", 3, rows=None))
    status = PartStatus("s", "query", 9, 9, reads=reads)
    for batch, (first, second) in enumerate(((2, 0), (0, 3), (1, 1)), 1):
        observed = {
            name_counts(1): {"rows": first, f"{BAD_OF}MALFORMED": first},
            name_counts(2): {"rows": second, f"{BAD_OF}MALFORMED": second, f"{BAD_OF}TRAILING": 0},
        }
        status = add_progress(status, progress(batch, first + second, **observed), batch * 10)
    assert [(one.rows, one.time) for one in status.reads] == [(3, 30), (4, 30), (None, 30)]
    assert (status.rows_in, status.batches, status.batch, status.batch_ms) == (7, 3, 3, 5)
    assert status.bad == (("MALFORMED", 7),)
    assert add_bad(add_bad(status, "TRAILING", 2), "MALFORMED", 1).bad == (("MALFORMED", 8), ("TRAILING", 2))
    alone = add_progress(PartStatus("s", "query", 9, 9, reads=reads[:1]), progress(1, 5), 7)
    assert [(one.rows, one.time) for one in alone.reads] == [(5, 7)], "one source has all rows"
    idle = add_progress(alone, progress(2, 0), 8)
    assert [(one.rows, one.time) for one in idle.reads] == [(5, 7)]


def test_what_is_read_is_called_as_it_is_called_now_and_tables_are_not_counted(registry: Connection) -> None:
    upstream = describe(registry, "flights")
    reads = (SourceRead("FLIGHTS", 1, columns=("carrier",)), SourceRead("gone", 5, mode="table"))
    source = describe(registry, "late")
    assert source.query is not None
    both = replace(source, query=replace(source.query, plan=QueryPlan("SELECT 1", reads)))
    renamed = list_reads(both, (upstream,))
    assert [(one.source, one.generation, one.columns, one.rows) for one in renamed] == [
        ("flights", upstream.generation, ("carrier",), 0),
        ("gone", 5, (), None),
    ]


# -------------------------------------------------------------------------------------------------------- rows of `treaty test`


def test_rows_are_the_same_in_any_order_and_as_often_as_they_are() -> None:
    rows = [(1, "a"), (1, "a"), (2, None), (3, math.nan), (4, {"x": [1], "y": None}), (5, b"\0")]
    same = [(1, "a"), (1, "a"), (2, None), (3, float("nan")), (4, {"y": None, "x": [1]}), (5, bytearray(b"\0"))]
    columns = ("k", "v")
    for order in [*permutations(same)][::97]:
        assert list_differences(columns, rows, list(order)) == []
    assert list_differences(columns, rows, same, ordered=True) == []
    for place in range(len(rows)):
        fewer = [*same[:place], *same[place + 1 :]]
        assert len(list_differences(columns, rows, fewer)) == 1
        assert len(list_differences(columns, fewer, rows)) == 1
        moved = [*same[place:], *same[:place]]
        assert bool(list_differences(columns, rows, moved, ordered=True)) is (place > 0)
    assert list_differences(columns, [(1, "a"), (2, "b")], [(1, "a"), (2, "c")]) == ["k 2: v is 'c', expected 'b'"]
    assert list_differences(columns, [(1, "a")], [(2, "b")]) == ["missing k 1, v 'a'", "unexpected k 2, v 'b'"]
    assert list_differences(columns, [(1, "a")], [(1, "a"), (2, "b")], ordered=True) == ["row 2: unexpected k 2, v 'b'"]
    for count in (SHOWN, SHOWN + 1):
        said = list_differences(columns, [(one, one) for one in range(count)], [])
        assert (len(said), said[-1].startswith("and 1 more")) == (count, count > SHOWN)


def test_a_file_of_tests_is_read_as_it_is_written() -> None:
    text = (
        "\ufeffGIVEN `a b` (1, 'x;y');\n\nGIVEN c (x, `Y z`) VALUES (1, 2), (3, 4);\n"
        "EXPECT STREAM ORDERED d (5);\nEXPECT ORDERED NOTHING;\nEXPECT stream (6); EXPECT ordered VALUES (7); EXPECT STREAM e NOTHING"
    )
    case = read_test("f.test.sql", text)
    assert [(one.source, one.columns, one.rows, one.line) for one in case.given] == [
        ("a b", (), "(1, 'x;y')", 1),
        ("c", ("x", "Y z"), "(1, 2), (3, 4)", 3),
    ]
    assert [(one.source, one.rows, one.line, one.is_ordered, one.is_streaming) for one in case.expected] == [
        ("d", "(5)", 4, True, True),
        ("ORDERED", "", 5, False, False),
        ("stream", "(6)", 6, False, False),
        ("ordered", "(7)", 6, False, False),
        ("e", "", 6, False, True),
    ]
    assert (case.name, case.path) == ("f", "f.test.sql")
    for wrong, line in (("GIVEN a (1)", "nothing is expected"), ("EXPECT a (1)\nEXPECT b (2)", ":2: a semicolon is missing"), ("EXPECT a", ":1: EXPECT a"), ("\nEXPECT a 5", ":2:"), ("GIVEN STREAM a (1); EXPECT b (1)", ":1: GIVEN STREAM a")):  # fmt: skip
        with pytest.raises(InvalidCaseError) as refused:
            read_test("f.test.sql", wrong)
        assert line in str(refused.value)

"""Rows of listings by the rows of the metastore: each column has the member that its name says, though all members differ."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import pytest

from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.query_feed import AssignedPart, FedQuery, FedRunner, QueryFeed
from treaty.core.refusals import NotPermitted
from treaty.core.sources import (
    FormerDefinition,
    Incarnation,
    OnceQuery,
    QueryPlan,
    SchemaPin,
    Source,
    SourceColumn,
    SourcePart,
    SourceRead,
    StoredType,
)
from treaty.metastore.execution.history import _list_rows
from treaty.metastore.execution.listings import show
from treaty.metastore.execution.pages import list_running
from treaty.metastore.execution.system_tables import select
from treaty.metastore.sql.script import parse_script

KEY = SourcePart("AVRO", pin=SchemaPin(".", "keys", 21, 22, 23))
VALUE = SourcePart("JSON", pin=SchemaPin(".", "values", 31, 32, 33))
READ = SourceRead("up", 41, "Upper", key=SchemaPin(".", "a", 1, 2, 43), value=SchemaPin(".", "b", 4, 5, 46))
MOVED = SourceRead("new", 42, "Former")
PLAN = QueryPlan("SELECT 1", (READ, MOVED), "update", ("k",), engine="spark-x")
QUERY = Incarnation(51, 52, PLAN, "planner", 53)
PLAIN = Source(
    "STREAM", "S", "CREATE x", (SourceColumn("v", "INT"),), 11, KEY, VALUE, "files", "west", "place", comment="noted",
    protected=True, revision=12, author="maker", time=13, changed_by="changer", changed=14,
)  # fmt: skip
FED = replace(PLAIN, name="Q", query=QUERY, desired="PAUSED")
BAD = replace(PLAIN, name="S_bad", origin="s", key=None, value=None, generation=15)
TYPE = StoredType("T", "STRUCT<a: U>", 61, ("u",), "typed", "owner", 62, "project")
NAMES = ("name", "kind", "connector", "cluster", "place", "generation", "revision", "author", "comment")


def answered(exchange: Generator[Any, Any, Any], *answers: Any) -> Any:
    """What an exchange returns, given the answers to its requests."""
    try:
        next(exchange)
        for answer in answers:
            exchange.throw(answer) if isinstance(answer, Exception) else exchange.send(answer)
    except StopIteration as end:
        return end.value
    raise AssertionError("the exchange asks for more")


def listed(sql: str, *answers: Any) -> list[dict[str, Any]]:
    (parsed,) = parse_script(sql).statements
    run: Any = select if sql.startswith("SELECT") else show
    rows = answered(run(parsed.value), *answers)
    return [dict(zip(rows.columns, row, strict=True)) for row in rows.rows]


@pytest.mark.parametrize(
    "sql", ["SHOW STREAMS", "SHOW TABLES", "SHOW STREAMS EXTENDED", "SELECT * FROM treaty.sources"]
)
def test_a_listing_of_sources_has_their_own_members(sql: str) -> None:
    plain, bad, fed = listed(sql, m.Sources((PLAIN, BAD, FED)))
    for source, row in ((PLAIN, plain), (BAD, bad), (FED, fed)):
        assert all(row[name] == getattr(source, name) for name in NAMES if name in row)
    nothing = None if sql.startswith("SELECT") else ""
    assert (plain["key_format"], plain["value_format"]) == ("AVRO", "JSON")
    assert (bad["key_format"], bad["value_format"]) == (nothing, nothing)
    state = "query_state" if sql.startswith("SELECT") else "query"
    assert [one[state] for one in (plain, bad, fed)] == [nothing, nothing, "PAUSED"]
    if sql.startswith("SELECT"):
        assert (plain["subject"], plain["schema_id"], plain["created"], plain["protected"]) == ("values", 33, 13, True)
        assert (bad["subject"], bad["schema_id"]) == (None, None)


def test_a_listing_of_types_and_of_what_was_dropped_has_their_own_members() -> None:
    (row,) = listed("SELECT * FROM treaty.types", m.Types((TYPE,)))
    assert row == {"name": "T", "definition": "STRUCT<a: U>", "generation": 61, "author": "owner", "created": 62, "comment": "typed", "label": "project"}  # fmt: skip
    (row,) = listed("SHOW TYPES", m.Types((TYPE,)))
    assert row == {"name": "T", "definition": "STRUCT<a: U>", "comment": "typed"}
    (row,) = listed("SHOW DROPPED", m.DroppedSources((m.DroppedListed("S", "TABLE", 71, "dropper", 72),)))
    assert row == {"name": "S", "kind": "TABLE", "generation": 71, "author": "dropper", "time": 72}


# ------------------------------------------------------------------------------------------------------------ queries

RUNNERS = (FedRunner("r1", 81, "h1", "http://one"), FedRunner("r2", 82, "h2", "http://two"))
PARTS = (AssignedPart("bad", "r1", 81), AssignedPart("query", "r2", 82))


def feed(*queries: FedQuery, last: str = "") -> QueryFeed:
    return QueryFeed("token", changed=True, queries=queries, last=last, runners=RUNNERS if last or queries else ())


def test_a_listing_of_what_runs_has_the_runner_of_each_part() -> None:
    """The query of a source and its bad rows have a runner each; a runner that is gone has no address."""
    once = replace(FED, once=(OnceQuery(91, PLAN), OnceQuery(90, PLAN)))
    answer = feed(FedQuery(once, PARTS), FedQuery(BAD, PARTS[:1]), FedQuery(FED, (AssignedPart("query", "gone", 1),)))
    query, bad, left = listed("SHOW QUERIES EXTENDED", answer)
    assert query == {
        "source": "Q", "kind": "STREAM", "part": "query", "state": "PAUSED", "reads": "Upper, Former", "incarnation": 51, "revision": 12,
        "output_mode": "update", "runner": "r2", "address": "http://two", "engine": "spark-x", "once": "91, 90", "body": "SELECT 1",
    }  # fmt: skip
    assert (bad["part"], bad["reads"], bad["incarnation"], bad["runner"], bad["address"]) == ("bad", "s", 15, "r1", "http://one")  # fmt: skip
    assert (left["runner"], left["address"]) == ("gone", "")
    table = listed("SELECT * FROM treaty.queries", answer)
    assert [(row["runner"], row["epoch"], row["incarnation"], row["revision"], row["generation"]) for row in table] == [("r2", 82, 51, 52, 11), ("gone", None, 51, 52, 11)]  # fmt: skip


@pytest.mark.parametrize(
    ("assigned", "state"),
    [
        (PARTS[1:], "RUNNING"),
        (PARTS, "RUNNING"),
        (PARTS[:1], "NO RUNNER"),
        ((AssignedPart("query", "gone", 1),), "NO RUNNER"),
        ((), "NO RUNNER"),
    ],
)
def test_a_query_runs_where_a_runner_that_is_there_has_the_query_itself(
    assigned: tuple[AssignedPart, ...], state: str
) -> None:
    running = replace(FED, desired="RUNNING")
    (row,) = listed("SHOW QUERIES", feed(FedQuery(running, assigned)), m.Sources((running,)))
    assert (row["source"], row["state"], row["reads"], row["incarnation"]) == ("Q", state, "Upper, Former", 51)
    (row,) = listed("SHOW QUERIES", feed(FedQuery(FED, assigned)), m.Sources((FED,)))
    assert row["state"] == "PAUSED"


def test_who_may_not_see_what_runs_sees_the_state_that_it_is_to_have() -> None:
    running = replace(FED, desired="RUNNING")
    (row,) = listed("SHOW QUERIES", NotPermitted.of("NOT_PERMITTED", "no"), m.Sources((running,)))
    assert row["state"] == "RUNNING"


@pytest.mark.parametrize("count", [1, 2, 3])
def test_what_runs_is_listed_to_the_last_page(count: int) -> None:
    names = [f"q{place}" for place in range(count)]
    pages = [feed(FedQuery(replace(FED, name=name), PARTS), last="" if name == names[-1] else name) for name in names]
    assert answered(list_running(), *pages) == set(names)


# ------------------------------------------------------------------------------------------------------------ history


def test_a_history_has_of_each_query_what_its_source_was_then() -> None:
    former_key = replace(KEY, pin=SchemaPin(".", "keys", 21, 0, 24))
    was = FormerDefinition("CREATE y", (), former_key, None)
    former = Incarnation(45, 46, PLAN, "before", 47, "BACKFILL", resumed=9, definition=was)
    source = replace(FED, previous=(former, replace(former, definition=None)), once=(OnceQuery(91, PLAN, "INSERT z", "asker", 92),))  # fmt: skip
    reads = "Upper, now up (43, 46), Former, now new (no schema)"
    assert list(_list_rows(source)) == [
        (51, 52, "PAUSED", "FIRST", "planner", 53, "23, 33", reads, "CREATE x"),
        (45, 46, "FORMER", "ROLLBACK to BACKFILL", "before", 47, "24", reads, "CREATE y"),
        (91, 1, "ONCE", "ONCE", "asker", 92, "23, 33", reads, "INSERT z"),
    ]
    same = replace(source, query=replace(QUERY, plan=replace(PLAN, reads=(replace(MOVED, spelling="NEW"),))), previous=(), once=())  # fmt: skip
    assert next(_list_rows(same))[7] == "NEW (no schema)"

"""INSERT INTO ONCE: a query that is run once into a table which another one fills; and what comes back after its rows were exchanged."""

from dataclasses import replace

import pytest

from tests.behaviours.test_query_changes import COLUMNS, WIDE, chain, create, describe, plan, registry, restart
from treaty.client.connection import Connection
from treaty.core import limits
from treaty.core.messages.metastore import sources as m
from treaty.core.refusals import NotPermitted, Refusal, TooLarge
from treaty.core.sources import QueryPlan, SourceColumn
from treaty.metastore.metastore import Metastore

__all__ = ["registry"]  # a fixture


def insert_once(
    registry: Connection, query: QueryPlan, columns: tuple[SourceColumn, ...] = COLUMNS, *, name: str = "t", place: str = "tables/t",
    kind: str = "TABLE", connector: str = "delta", dry_run: bool = False,
) -> m.SourceStored:  # fmt: skip
    statement = f"INSERT INTO ONCE {name} {query.body}"
    defined = m.SourceDefinition(name, kind, statement, columns, connector=connector, place=place, query=query)
    return registry.ask(m.CreateSource(defined, replace=True, once=True, dry_run=dry_run)).answer


def test_a_query_that_is_run_once_stands_beside_the_one_that_fills_the_table(registry: Connection) -> None:
    create(registry, plan(registry), WIDE)
    before, once = describe(registry), replace(plan(registry, "g"), body="SELECT once")
    assert insert_once(registry, once, dry_run=True).revision == before.revision + 1
    assert describe(registry) == before
    insert_once(registry, once)
    source = describe(registry)
    assert (source.query, source.columns, source.revision) == (before.query, WIDE, before.revision + 1)
    (wanted,) = source.once
    assert (wanted.plan.body, wanted.statement) == ("SELECT once", "INSERT INTO ONCE t SELECT once")
    insert_once(registry, replace(once, body="SELECT twice"))
    create(registry, replace(plan(registry), body="SELECT 2"), WIDE)
    assert [one.plan.body for one in describe(registry).once] == ["SELECT twice", "SELECT once"]
    metastore = Metastore(registry.registry)
    (queries,) = metastore.run("SHOW QUERIES EXTENDED")
    assert queries.rows[0][queries.columns.index("once")] == ", ".join(
        str(one.began) for one in describe(registry).once
    )
    (history,) = metastore.run("SHOW HISTORY OF t")
    assert [(row[0], row[2]) for row in history.rows][-2:] == [(one.began, "ONCE") for one in describe(registry).once]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (COLUMNS[1:], r"gives no k, which is the key in t"),
        ((*COLUMNS, SourceColumn("more", "INT")), "gives more INT, and t has no such column"),
        ((COLUMNS[0], SourceColumn("N", "INT")), "gives N INT, and t has n BIGINT"),
    ],
)
def test_its_columns_are_those_of_the_table(
    registry: Connection, columns: tuple[SourceColumn, ...], words: str
) -> None:
    create(registry, plan(registry), WIDE)
    query = replace(plan(registry, "g"), key=tuple(one.name for one in columns[:1]))
    with pytest.raises(NotPermitted, match=words) as refused:
        insert_once(
            registry, query, tuple(replace(one, role="key") if not at else one for at, one in enumerate(columns))
        )
    assert refused.value.reason.rule == "ONCE_COLUMNS"
    assert (
        "INT" not in words or "CAST" in refused.value.reason.allowed or "columns of t" in refused.value.reason.allowed
    )
    assert not describe(registry).once


def test_fields_may_have_other_comments_and_a_cast_is_named_where_it_helps(registry: Connection) -> None:
    def columns(type_: str) -> tuple[SourceColumn, ...]:
        return (*COLUMNS, SourceColumn("s", type_))

    create(registry, plan(registry), columns("ARRAY<STRUCT<a: INT NOT NULL COMMENT 'of a', b: STRING>>"))
    for type_ in (
        "ARRAY<STRUCT<a: INT NOT NULL, b: STRING COMMENT 'of b'>>",
        "ARRAY<STRUCT<a: INT NOT NULL, b: STRING>>",
    ):
        insert_once(registry, plan(registry, "g"), columns(type_))
    assert len(describe(registry).once) == 2
    for type_, remedy in (
        ("ARRAY<STRUCT<a: BIGINT NOT NULL, b: STRING>>", "CAST(s AS ARRAY<STRUCT<a: INT NOT NULL, b: STRING>>) AS s"),
        ("ARRAY<STRUCT<a: INT COMMENT 'of a', b: STRING>>", "fields of s that are never null"),
    ):
        with pytest.raises(NotPermitted) as refused:
            insert_once(registry, plan(registry, "g"), columns(type_))
        assert refused.value.reason.rule == "ONCE_COLUMNS"
        assert refused.value.reason.allowed.startswith(remedy)
        assert "COMMENT" not in str(refused.value)


def test_it_needs_a_query_that_fills_the_table_and_changes_nothing_else(registry: Connection) -> None:
    query = plan(registry, "g")
    with pytest.raises(Refusal, match="t"):
        insert_once(registry, query)
    create(registry, plan(registry))
    with pytest.raises(Refusal, match="is run once changes nothing of t"):
        insert_once(registry, query, place="elsewhere")
    with pytest.raises(Refusal, match="t is a table"):
        insert_once(registry, query, kind="STREAM")
    create(registry, plan(registry, "t"), name="u")
    with pytest.raises(Refusal, match="u reads t, which would read it"):
        insert_once(registry, plan(registry, "u"))
    with pytest.raises(Refusal, match="has no query"):
        insert_once(registry, query, kind="STREAM", name="f", connector="kafka", place="f")


def test_so_many_within_the_grace_are_too_many(registry: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ONCE_QUERIES", 2)
    create(registry, plan(registry))
    for _ in range(2):
        insert_once(registry, plan(registry, "g"))
    with pytest.raises(TooLarge, match="too many queries that are run once"):
        insert_once(registry, plan(registry, "g"))
    monkeypatch.setattr(limits, "DROP_GRACE", -3_600_000)
    insert_once(registry, plan(registry, "g"))
    assert len(describe(registry).once) == 1


@pytest.mark.parametrize("body", ["SELECT k, n FROM STREAM g", "SELECT k, g.n AS later FROM STREAM g AS one JOIN g"])
def test_it_reads_the_same_source_by_its_new_name(registry: Connection, body: str) -> None:
    create(registry, plan(registry))
    query = plan(registry, "g")
    insert_once(registry, replace(query, body=body))
    before = describe(registry)
    registry.ask(m.ChangeSource("g", rename="later"))
    after = describe(registry)
    (once,), (read,) = after.once, query.reads
    is_clear = "AS later" not in body
    assert [(one.source, one.spelling, one.generation) for one in once.plan.reads] == [
        ("later", "later" if is_clear else read.spelling or read.source, read.generation)
    ]
    assert once.plan.body == (body.replace("g", "later") if is_clear else body)
    assert replace(after, once=before.once) == before


@pytest.mark.parametrize("way", ["REFRESH", "ROLLBACK"])
def test_who_comes_back_after_the_rows_before_it_were_exchanged_reads_all_again(registry: Connection, way: str) -> None:
    chain(registry)
    began = {name: describe(registry, name).query for name in "uvw"}
    create(registry, plan(registry, "t"), name="x", connector="kafka")
    for name in ("v", "u", "w", "x"):
        registry.ask(m.DropSource(name))
    registry.ask(m.UndropSource("w"))
    restart(registry, "REFRESH")
    if way == "ROLLBACK":
        restart(registry, "ROLLBACK")
    answer = registry.ask(m.UndropSource("u")).answer
    assert answer.notes == ("u reads all again: the rows of t were exchanged while it was dropped",)
    registry.ask(m.UndropSource("v"))
    for name in "uv":
        query, before = describe(registry, name).query, began[name]
        assert query is not None
        assert before is not None
        assert (query.start, query.after) == ("CASCADE", before.began)
        assert query.began > before.began
    after, before = describe(registry, "w").query, began["w"]
    assert after is not None
    assert before is not None
    assert after.began == before.began, "it has no offsets of the table"
    with pytest.raises(NotPermitted, match=r"x writes to kafka, .*; the rows of t, which it follows, were exchanged"):
        registry.ask(m.UndropSource("x"))


def test_who_comes_back_over_the_same_rows_continues(registry: Connection) -> None:
    chain(registry)
    restart(registry, "REFRESH", cascade=True)
    before = describe(registry, "v").query
    registry.ask(m.DropSource("v"))
    assert registry.ask(m.UndropSource("v")).answer.notes == ()
    after = describe(registry, "v").query
    assert before is not None
    assert after is not None
    assert (after.began, after.start) == (before.began, before.start)

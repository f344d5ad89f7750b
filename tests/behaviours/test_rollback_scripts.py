"""Queries of a chain go back together: several ROLLBACK are one commit, and what would begin two checkpoints in one is refused."""

from collections.abc import Iterator

import pytest

from treaty import connect
from treaty.client.connection import Connection
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.scripts import RunScript, ScriptMember
from treaty.core.refusals import Refusal
from treaty.core.sources import QueryPlan, SourceColumn, SourceRead
from treaty.metastore import Metastore

STREAM = "CREATE STREAM {0} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"


@pytest.fixture
def one() -> Iterator[Connection]:
    with connect("memory:") as connection:
        yield connection


def sequence_of(it: Connection) -> int:
    return it.ask(m.ListSources()).token.sequence


def made_chain(one: Connection) -> tuple[str, ...]:
    """Three tables, each filled from the one before, whose queries were replaced by compatible ones: the last first, as it goes back."""
    Metastore(one.registry).run(STREAM.format("s"))
    for revision in (1, 2):
        before = "s"
        for name in ("a", "b", "c"):
            there = one.ask(m.DescribeSource(before)).answer.source
            read = SourceRead(before, there.generation, before, columns=("id",), revision=there.revision)
            plan = QueryPlan(f"SELECT id + {revision} AS id FROM STREAM {before}", (read,))
            columns = (SourceColumn("id", "BIGINT"), *[SourceColumn("more", "BIGINT")] * (revision - 1))
            defined = m.SourceDefinition(name, "STREAM", plan.body, columns, connector="delta", place=name, query=plan)
            one.ask(m.CreateSource(defined, replace=True))
            before = name
    return ("c", "b", "a")


def bodies_of(one: Connection) -> list[str]:
    queries = [one.ask(m.DescribeSource(name)).answer.source.query for name in "abc"]
    return [query.plan.body.split(" AS")[0] for query in queries if query is not None]


def test_a_chain_of_three_queries_goes_back_and_forth_in_one_commit(one: Connection) -> None:
    names = made_chain(one)
    before, checkpoints = sequence_of(one), [one.ask(m.DescribeSource(name)).answer.source.query for name in names]
    assert bodies_of(one) == ["SELECT id + 2"] * 3
    Metastore(one.registry).run(";".join(f"ROLLBACK {name}" for name in names), atomic=True)
    assert (bodies_of(one), sequence_of(one)) == (["SELECT id + 1"] * 3, before + 1)
    later = [one.ask(m.DescribeSource(name)).answer.source.query for name in names]
    assert [query and query.began for query in later] == [query and query.began for query in checkpoints]
    Metastore(one.registry).run(";".join(f"ROLLBACK {name}" for name in names), atomic=True)
    assert bodies_of(one) == ["SELECT id + 2"] * 3


def test_a_chain_goes_back_whole_or_not_at_all(one: Connection) -> None:
    """A column that a reader downstream still needs is refused by name, and so is a query that has no former one."""
    made_chain(one)
    there = one.ask(m.DescribeSource("a")).answer.source
    read = SourceRead("a", there.generation, "a", columns=("more",), revision=there.revision)
    plan = QueryPlan("SELECT more FROM STREAM a", (read,))
    columns = (SourceColumn("more", "BIGINT"),)
    one.ask(
        m.CreateSource(m.SourceDefinition("d", "STREAM", plan.body, columns, connector="delta", place="d", query=plan))
    )
    before = sequence_of(one)
    for script, reason in (
        ("ROLLBACK c; ROLLBACK b; ROLLBACK a", "read by d"),
        ("ROLLBACK c; ROLLBACK d", "no former"),
    ):
        with pytest.raises(Refusal, match=reason):
            Metastore(one.registry).run(script, atomic=True)
    assert (bodies_of(one), sequence_of(one)) == (["SELECT id + 2"] * 3, before)


@pytest.mark.parametrize(
    "restarts", ["RESET b, RESET b", "REFRESH c, RESET c", "REFRESH b CASCADE, REFRESH c", "RESET b CASCADE, RESET c"]
)
def test_a_query_begins_one_checkpoint_in_one_commit(one: Connection, restarts: str) -> None:
    """The files of a checkpoint are named by its source and by the commit that began it."""
    made_chain(one)

    def members(text: str) -> tuple[ScriptMember, ...]:
        pairs = (word.split(" ") for word in text.split(", "))
        return tuple(
            ScriptMember(change=m.ChangeSource(name, restart=way, cascade=bool(more))) for way, name, *more in pairs
        )

    with pytest.raises(Refusal, match="distinguished") as refused:
        one.ask(RunScript(members(restarts)))
    assert refused.value.reason.rule == "SCRIPT_RUNNING"
    one.ask(RunScript(members("ROLLBACK c, RESET b")))
    one.ask(RunScript(members("RESET c, RESET b")))
    one.ask(RunScript(members("REFRESH b CASCADE")))

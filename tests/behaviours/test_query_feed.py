"""The feed of queries: it answers when a source, type, assignment or runner changed behind its token, and waits until then."""

import threading
from collections.abc import Iterator

import pytest

from tests.planning import SelectPlanner
from treaty import connect
from treaty.client.connection import Connection
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.messages.metastore.query_feed import ListQueries, QueryFeed
from treaty.core.registry import CallOptions
from treaty.metastore import Metastore, PlanningOptions

STREAM = "CREATE STREAM {0} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"
QUERY = "CREATE STREAM {0} AS SELECT carrier FROM STREAM flights"


@pytest.fixture
def one() -> Iterator[Connection]:
    with connect("memory:") as connection:
        metastore(connection).run(f"{STREAM.format('flights')}; {QUERY.format('late')}; {QUERY.format('lost')}")
        yield connection


def metastore(it: Connection) -> Metastore:
    return Metastore(it.registry, planning=PlanningOptions(SelectPlanner()))


def feed(it: Connection, token: str = "", wait: int = 0, after: str = "", limit: int = 1_000) -> QueryFeed:
    return it.ask(ListQueries(token, wait, after, limit)).answer


def names(answer: QueryFeed) -> list[str]:
    return [fed.source.name for fed in answer.queries]


def test_the_feed_has_what_is_run_page_by_page(one: Connection) -> None:
    first = feed(one, limit=1)
    rest = feed(one, first.token, after=first.last)
    assert (names(first), first.last, names(rest), rest.last) == (["late"], "late", ["lost"], "")
    assert first.token == rest.token


@pytest.mark.parametrize(
    "sql", ["PAUSE late", "DROP STREAM late", "CREATE TYPE t AS INT", "ALTER STREAM flights ADD COLUMN x INT"]
)
def test_a_change_of_a_source_or_type_is_another_state(one: Connection, sql: str) -> None:
    token = feed(one).token
    assert not feed(one, token).changed
    one.register("unlike", '"int"')
    assert not feed(one, token).changed
    metastore(one).run(sql)
    later = feed(one, token)
    assert later.changed
    assert later.token != token


def test_who_waits_hears_of_a_change_at_once(one: Connection) -> None:
    token, heard = feed(one).token, list[QueryFeed]()
    waiting = threading.Thread(target=lambda: heard.append(feed(one, token, wait=15)))
    waiting.start()
    metastore(one).run("PAUSE late")
    waiting.join(10)
    assert [fed.source.desired for fed in heard[0].queries] == ["PAUSED", "RUNNING"]


def test_who_may_not_read_a_source_does_not_see_its_query(one: Connection) -> None:
    access = Access((AccessRule(("user:a",), with_included(["read"]), sources=("lost",)),))
    answer = one.ask(ListQueries(), CallOptions(principal="user:a", access=access)).answer
    assert names(answer) == ["lost"]

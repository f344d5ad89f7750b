"""A source that is read gets another name: its readers go along in the same commit, or are named."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from treaty import connect
from treaty.client.connection import Connection
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.messages.metastore import sources as m
from treaty.core.refusals import Forbidden, NotPermitted, SourceUsed
from treaty.core.registry import CallOptions
from treaty.core.sources import QueryPlan, Source, SourceColumn, SourceRead, StateFingerprint
from treaty.metastore.execution.source_printer import print_source
from treaty.metastore.metastore import Metastore

OUTPUT = (SourceColumn("carrier", "STRING", role="key"), SourceColumn("n", "BIGINT"))
BODY = "SELECT\n  flights.carrier, -- of flights\n  count(*) AS n, 'flights' AS what FROM STREAM flights GROUP BY flights.carrier"
STATE = (("key", "flights.carrier"), ("filter", "(flights.delay > 3)"))


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        for name in ("flights", "gates"):
            Metastore(connection.registry).run(
                f"CREATE STREAM {name} (carrier STRING, delay INT, info STRUCT<code: STRING>) WITH (KAFKA_TOPIC = '{name}', VALUE_FORMAT = 'AVRO')"
            )
        yield connection


def describe(registry: Connection, name: str) -> Source:
    return registry.ask(m.DescribeSource(name)).answer.source


def plan(registry: Connection, body: str, *names: str) -> QueryPlan:
    sources = [describe(registry, name) for name in names]
    reads = tuple(
        SourceRead(
            one.name.lower(),
            one.generation,
            one.name,
            value=one.value.pin if one.value else None,
            revision=one.revision,
        )
        for one in sources
    )
    return QueryPlan(body, reads, "update", ("carrier",), StateFingerprint("p", "s"), state=STATE)


def create(registry: Connection, name: str, body: str, *names: str, **given: str) -> m.SourceStored:
    text = f"CREATE TABLE {name} WITH (CONNECTOR = 'delta', PATH = '{name}') AS {body} -- the end"
    query = plan(registry, body, *names)
    defined = m.SourceDefinition(name, "TABLE", text, OUTPUT, connector="delta", place=name, query=query)
    return registry.ask(m.CreateSource(defined, replace=True, **given)).answer  # type: ignore[arg-type]  # texts


def run(registry: Connection, sql: str) -> tuple[str, tuple[str, ...]]:
    (result,) = Metastore(registry.registry).run(sql)
    return result.message, result.warnings


def test_a_reader_goes_along_with_a_renamed_source(registry: Connection) -> None:
    create(registry, "delays", BODY, "flights")
    before = describe(registry, "delays")
    message, warnings = run(registry, "ALTER STREAM flights RENAME TO trips")
    assert message == "Stream trips changed"
    assert warnings == ("delays goes along: it reads the same source by its new name",)
    after = describe(registry, "delays")
    assert after.query is not None
    assert before.query is not None
    body = "SELECT\n  trips.carrier, -- of flights\n  count(*) AS n, 'flights' AS what FROM STREAM trips GROUP BY trips.carrier"
    assert after.query.plan.body == body
    assert after.statement == f"CREATE TABLE delays WITH (CONNECTOR = 'delta', PATH = 'delays') AS {body} -- the end"
    assert [(one.source, one.spelling, one.generation) for one in after.query.plan.reads] == [
        ("trips", "trips", describe(registry, "trips").generation)
    ]
    assert after.query.plan.state == (("key", "trips.carrier"), ("filter", "(trips.delay > 3)"))
    kept = (
        replace(after.query.plan, body="", reads=(), state=()),
        replace(before.query.plan, body="", reads=(), state=()),
    )
    assert kept[0] == kept[1]
    assert (after.query.began, after.query.revision) == (before.query.began, before.query.revision)
    assert (after.generation, after.revision, after.columns) == (before.generation, before.revision + 1, before.columns)
    assert registry.ask(m.ListDependents("trips")).answer.dependents[0].name == "delays"


def test_a_name_that_comes_back_brings_every_byte_back(registry: Connection) -> None:
    create(registry, "delays", BODY, "flights")
    before = describe(registry, "delays")
    run(registry, "ALTER STREAM flights RENAME TO `a trip`")
    assert "FROM STREAM `a trip` GROUP" in print_source(describe(registry, "delays"))
    run(registry, "ALTER STREAM `a trip` RENAME TO flights")
    after = describe(registry, "delays")
    assert replace(after, revision=0, changed=0) == replace(before, revision=0, changed=0)


def test_the_text_of_a_reader_recreates_it(registry: Connection) -> None:
    """What is exported after a rename, planned again, is the source that is there."""
    create(registry, "delays", BODY, "flights")
    run(registry, "ALTER STREAM flights RENAME TO trips")
    there = describe(registry, "delays")
    assert there.query is not None
    stored = create(registry, "delays", there.query.plan.body, "trips")
    assert (stored.replaced, stored.revision) == (False, there.revision)


def test_an_alias_of_the_name_stays(registry: Connection) -> None:
    create(registry, "delays", "SELECT carrier, count(*) AS flights FROM STREAM flights GROUP BY carrier", "flights")
    run(registry, "ALTER STREAM flights RENAME TO trips")
    query = describe(registry, "delays").query
    assert query is not None
    assert query.plan.body == "SELECT carrier, count(*) AS flights FROM STREAM trips GROUP BY carrier"


def test_the_name_of_a_hint_stays(registry: Connection) -> None:
    """A hint that has the name of a source is not the source; what it is about is."""
    sql = "CREATE STREAM broadcast (carrier STRING) WITH (KAFKA_TOPIC = 'b', VALUE_FORMAT = 'AVRO')"
    Metastore(registry.registry).run(sql)
    body = "SELECT /*+ BROADCAST(broadcast), broadcast */ carrier, 1 AS n FROM STREAM broadcast"
    create(registry, "delays", body, "broadcast")
    run(registry, "ALTER STREAM broadcast RENAME TO trips")
    query = describe(registry, "delays").query
    assert query is not None
    assert query.plan.body == "SELECT /*+ BROADCAST(trips), broadcast */ carrier, 1 AS n FROM STREAM trips"


def test_readers_of_both_follow_a_swap(registry: Connection) -> None:
    body = "SELECT f.carrier, count(*) AS n FROM STREAM flights AS f JOIN gates ON f.carrier = gates.carrier GROUP BY f.carrier"
    create(registry, "both", body, "flights", "gates")
    generations = {name: describe(registry, name).generation for name in ("flights", "gates")}
    run(registry, "ALTER STREAM flights SWAP WITH gates")
    query = describe(registry, "both").query
    assert query is not None
    assert query.plan.body == body.replace("flights", "X").replace("gates", "flights").replace("X", "gates")
    assert [(one.source, one.generation) for one in query.plan.reads] == [
        ("gates", generations["flights"]),
        ("flights", generations["gates"]),
    ]
    assert describe(registry, "gates").generation == generations["flights"]


def test_a_source_and_its_reader_exchange_their_names(registry: Connection) -> None:
    create(registry, "delays", BODY, "flights")
    run(registry, "ALTER STREAM flights SWAP WITH delays")
    query = describe(registry, "flights").query
    assert query is not None
    assert "FROM STREAM delays GROUP BY delays.carrier" in query.plan.body
    assert describe(registry, "flights").statement.startswith("CREATE TABLE flights WITH")
    assert [one.name for one in registry.ask(m.ListDependents("delays")).answer.dependents] == ["flights"]


def test_former_queries_and_the_way_back_follow(registry: Connection) -> None:
    create(registry, "delays", BODY, "flights")
    create(registry, "delays", BODY.replace("count(*)", "count(*) + 1"), "flights")
    run(registry, "ALTER STREAM flights RENAME TO trips")
    run(registry, "ROLLBACK delays")
    query = describe(registry, "delays").query
    assert query is not None
    assert "count(*) AS n" in query.plan.body
    assert "FROM STREAM trips" in query.plan.body
    history = Metastore(registry.registry).run("SHOW HISTORY OF delays")[0].rows
    assert all("FROM STREAM trips" in str(row) and "trips (1)" in str(row) for row in history)


def test_a_former_query_that_can_not_be_rewritten_knows_its_source_and_does_not_come_back(registry: Connection) -> None:
    create(
        registry,
        "delays",
        "SELECT carrier, n FROM (SELECT carrier, 1 AS trips, count(*) AS n FROM STREAM flights)",
        "flights",
    )
    create(registry, "delays", BODY, "flights")
    run(registry, "ALTER STREAM flights RENAME TO trips")
    (former,) = describe(registry, "delays").previous
    assert "FROM STREAM flights" in former.plan.body
    assert [(one.source, one.spelling) for one in former.plan.reads] == [("trips", "flights")]
    rows = Metastore(registry.registry).run("SHOW HISTORY OF delays")[0].rows
    assert "flights, now trips (1)" in str(rows[1])
    with pytest.raises(NotPermitted, match="flights, which is called trips by now"):
        registry.ask(m.ChangeSource("delays", restart="ROLLBACK"))


def test_a_former_query_follows_also_where_the_present_one_reads_something_else(registry: Connection) -> None:
    """ROLLBACK goes back to it, and SHOW HISTORY names what it read as that is called now; the query that runs is as it was."""
    create(registry, "delays", BODY, "flights")
    create(registry, "delays", BODY.replace("flights", "gates"), "gates", on_change="EMPTY")
    before = describe(registry, "delays")
    message, warnings = run(registry, "ALTER STREAM flights RENAME TO trips")
    assert (message, warnings) == ("Stream trips changed", ())
    there = describe(registry, "delays")
    assert replace(there, previous=()) == replace(before, previous=())
    assert [read.source for former in there.previous for read in former.plan.reads] == ["trips"]
    registry.ask(m.ChangeSource("delays", restart="ROLLBACK"))
    query = describe(registry, "delays").query
    assert query is not None
    assert "FROM STREAM trips GROUP BY trips.carrier" in query.plan.body


@pytest.mark.parametrize(
    ("body", "name", "reason"),
    [
        ("SELECT carrier, 1 AS n FROM STREAM gates", "trips", "no word of it is the source flights"),
        ("WITH flights AS (SELECT 1) SELECT * FROM flights", "trips", "flights stands where no source is named"),
        ("SELECT stream flights FROM STREAM flights", "trips", "flights stands where no source is named"),
        ("SELECT flights.carrier FROM STREAM gates, flights", "trips", "flights stands where no source is named"),
        (
            "SELECT flights.n FROM (SELECT n FROM STREAM flights) AS flights",
            "trips",
            "flights may be a column, or an alias",
        ),
        ("SELECT t.carrier FROM STREAM flights AS t", "t", "it has a word t already"),
        ("SELECT carrier FROM IDENTIFIER('flights')", "trips", "IDENTIFIER makes names of texts"),
        ("SELECT carrier FROM STREAM flights", "_topic", "_topic is a column of every record"),
        ("SELECT carrier FROM STREAM Flights", "STREAM", "it has a word STREAM already"),
        ("SELECT t.from flights FROM STREAM flights AS t", "trips", "flights stands where no source is named"),
        ("SELECT t.join flights FROM STREAM flights AS t", "trips", "flights stands where no source is named"),
        (
            "SELECT carrier FROM STREAM flights WHERE EXISTS (SELECT 1 FROM gates AS g WHERE flights.code = g.carrier)",
            "Info",
            "Info may be a column where the text says flights.",
        ),
        (
            "SELECT trim(g.carrier FROM flights) FROM (SELECT inline(array(named_struct('flights', 'q'))) FROM STREAM flights)",
            "trips",
            "flights may be a column, or an alias",
        ),
        (
            "SELECT flights.a FROM (SELECT from_json(t.carrier, 'Flights STRUCT<a: INT>').* FROM STREAM flights AS t)",
            "trips",
            "flights may be a column, or an alias",
        ),
    ],
)
def test_a_reader_that_can_not_go_along_is_named_with_the_way_out(
    registry: Connection, body: str, name: str, reason: str
) -> None:
    create(registry, "delays", body, "flights")
    before = describe(registry, "delays"), describe(registry, "flights")
    with pytest.raises(SourceUsed) as refused:
        registry.ask(m.ChangeSource("flights", rename=name))
    refusal = refused.value.reason
    assert refusal.message.startswith(f"flights is read by delays, whose text can't be changed along ({reason}")
    assert refusal.allowed.startswith("CREATE OR REPLACE delays with an alias behind each source")
    assert (refusal.rule, refusal.path, refusal.old, refusal.new) == ("SOURCE_READ", "/rename", "flights", name)
    assert (describe(registry, "delays"), describe(registry, "flights")) == before


@pytest.mark.parametrize("word", ["info", "code", "carrier", "STRING"])
def test_a_word_that_may_be_a_column_is_left_alone(registry: Connection, word: str) -> None:
    """`FROM` stands in functions too, and a word before a dot may be a column with fields."""
    sql = f"CREATE TABLE {word} (carrier STRING PRIMARY KEY, info STRUCT<code: STRING>) WITH (CONNECTOR = 'delta', PATH = 'x')"
    Metastore(registry.registry).run(sql)
    create(registry, "delays", f"SELECT {word}.carrier, 1 AS n FROM {word}", word)
    with pytest.raises(SourceUsed, match=f"{word} may be a column, or an alias of the query"):
        registry.ask(m.ChangeSource(word, rename="other"))
    create(registry, "delays", f"SELECT o.carrier, 1 AS n FROM STREAM flights AS o JOIN {word} AS p ON o.carrier = p.carrier", "flights", word, on_change="EMPTY")  # fmt: skip
    assert registry.ask(m.ChangeSource(word, rename="other")).answer.notes


def test_the_caller_needs_rights_on_every_reader(registry: Connection) -> None:
    create(registry, "delays", BODY, "flights")
    change = m.ChangeSource("flights", rename="trips")

    def access(*rules: tuple[str, tuple[str, ...]]) -> CallOptions:
        listed = (AccessRule(("u",), with_included((may,)), (), (".",), ("*",), sources=names) for may, names in rules)  # type: ignore[arg-type]  # a permission
        return CallOptions(principal="u", access=Access(tuple(listed)))

    with pytest.raises(SourceUsed, match="flights is read by 1 that you may not see"):
        registry.ask(change, access(("register", ("flights", "trips"))))
    with pytest.raises(Forbidden, match="delays"):
        registry.ask(change, access(("register", ("flights", "trips")), ("read", ("delays",))))
    assert registry.ask(change, access(("register", ("flights", "trips", "delays")))).answer.name == "trips"
    assert describe(registry, "delays").changed_by == "u"

"""Where queries write, and who may stand over a folder."""

from collections.abc import Iterator

import pytest

from treaty import connect
from treaty.client.connection import Connection
from treaty.core.access.rights import Access, AccessRule, Permission, with_included
from treaty.core.messages.metastore import sources as m
from treaty.core.refusals import Refusal
from treaty.core.registry import CALL, CallOptions
from treaty.core.sources import QueryPlan, SourceColumn, SourceRead
from treaty.metastore import Metastore

BEGIN = """
CREATE STREAM a (v INT) WITH (KAFKA_TOPIC = 'ta', VALUE_FORMAT = 'AVRO');
CREATE STREAM f (v INT) WITH (CONNECTOR = 'files', PATH = 'team/f', VALUE_FORMAT = 'JSON', FRAMING = 'none', KEY_FORMAT = 'NONE');
"""
COLUMNS = (SourceColumn("v", "INT"),)


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        Metastore(connection.registry).run(BEGIN)
        yield connection


def create(
    registry: Connection, name: str, *reads: str, connector: str = "delta", place: str = "", call: CallOptions = CALL, body: str = "SELECT 1",
    replace: bool = False,
) -> str:  # fmt: skip
    """The rule that refuses a source, a query over others where it reads some; empty where none does."""
    there = [registry.ask(m.DescribeSource(one)).answer.source for one in reads]
    plan = QueryPlan(body, tuple(SourceRead(one.name, one.generation, revision=one.revision) for one in there))
    defined = m.SourceDefinition(
        name, "STREAM", "CREATE", COLUMNS, connector=connector, place=place or name, query=plan if reads else None
    )
    try:
        registry.ask(m.CreateSource(defined, replace=replace), call)
    except Refusal as refused:
        return refused.reason.rule if refused.reason.allowed else "a refusal without a remedy"
    return ""


@pytest.mark.parametrize(
    ("connector", "place", "rule"),
    [
        ("kafka", "ta", "SINK_TAKEN"),
        ("kafka", "tb", "SINK_TAKEN"),
        ("kafka", "tc", ""),
        ("delta", "team/f", "SINK_TAKEN"),
        ("iceberg", "/team//./f/", "SINK_TAKEN"),
        ("delta", "lake/b", "SINK_TAKEN"),
        ("delta", "lake/b/part", "SINK_TAKEN"),
        ("delta", "lake", "SINK_TAKEN"),
        ("delta", "lake/bb", ""),
        ("delta", "lake/b-2", ""),
        ("delta", "team", "SINK_TAKEN"),
        ("delta", "lake/../team/f", "PATH_SEGMENT"),
        ("delta", "lake/_delta_log", "PATH_SEGMENT"),
        ("delta", "//", "PATH_SEGMENT"),
        ("delta", "x" * 1025, "PATH_TEXT"),
    ],
)
def test_a_query_writes_where_no_other_source_is(registry: Connection, connector: str, place: str, rule: str) -> None:
    assert create(registry, "b", "a", connector="delta", place="lake/b") == ""
    assert create(registry, "k", "a", connector="kafka", place="tb") == ""
    assert create(registry, "c", "a", connector=connector, place=place) == rule


def test_what_a_query_writes_may_be_read_by_another_source_that_takes_no_records(registry: Connection) -> None:
    assert create(registry, "b", "a", connector="kafka", place="tb") == ""
    assert create(registry, "t", connector="kafka", place="tb") == ""
    assert create(registry, "l", "a", place="lines/b") == ""
    assert create(registry, "part", connector="files", place="lines/b/part") == ""
    for name in ("t", "part"):
        with pytest.raises(Refusal, match="a query writes there") as refused:
            registry.ask(m.GetDestination(name))
        assert refused.value.reason.rule == "SOURCE_WRITTEN"
    registry.ask(m.DropSource("b"))
    assert registry.ask(m.GetDestination("t")).answer.source.name == "t"
    with pytest.raises(Refusal) as back:
        registry.ask(m.UndropSource("b"))
    assert back.value.reason.rule == "SINK_TAKEN"


def test_a_query_does_not_read_what_it_writes(registry: Connection) -> None:
    assert create(registry, "b", "a", connector="kafka", place="tb") == ""
    assert create(registry, "t", connector="kafka", place="tb") == ""
    assert create(registry, "c", "t", connector="kafka", place="tc") == ""
    assert create(registry, "t2", connector="kafka", place="tc") == ""
    for name in ("t", "c", "t2"):
        assert create(registry, "b", name, connector="kafka", place="tb", body="SELECT 2", replace=True) == "SINK_READ"
    assert create(registry, "b", "a", connector="kafka", place="tb", body="SELECT 2", replace=True) == ""


@pytest.mark.parametrize(("connector", "place"), [("kafka", "other"), ("delta", "b2"), ("iceberg", "b")])
def test_a_query_and_what_is_read_stay_where_they_are(registry: Connection, connector: str, place: str) -> None:
    assert create(registry, "b", "a", place="b") == ""
    assert create(registry, "b", "a", connector=connector, place=place, replace=True) == "SINK_MOVED"
    assert create(registry, "b", "a", place="/b/", replace=True) == ""
    assert create(registry, "a", connector=connector, place=place, replace=True) == "PLACE_READ"
    assert create(registry, "f", connector="files", place="elsewhere", replace=True) == ""


def rule(*may: Permission, **members: tuple[str, ...]) -> AccessRule:
    return AccessRule(("user:a",), with_included(may), **({"sources": ("*",), "topics": (), "subjects": ()} | members))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "rule_"),
    [
        (rule("register", topics=("path:mine/*",)), ""),
        (rule("register", topics=("*",)), ""),
        (rule("register", topics=("mine/*",)), "RIGHTS"),
        (rule("register", topics=("path:mine",)), "RIGHTS"),
        (rule("query", topics=("path:mine/*",)), "RIGHTS"),
        (AccessRule(("user:a",), with_included(["register"]), ("mine/*", "n")), ""),
        (AccessRule(("user:a",), with_included(["register"]), ("yours-*", "n")), "RIGHTS"),
        (AccessRule(("user:a",), with_included(["register"]), ("mine/*", "n"), (".team",)), "RIGHTS"),
    ],
)
@pytest.mark.parametrize("place", ["mine/n", "/mine//./n/"])
def test_a_folder_is_a_resource_in_any_spelling(
    registry: Connection, given: AccessRule, rule_: str, place: str
) -> None:
    call = CallOptions(principal="user:a", access=Access((given,)))
    for connector in ("files", "delta", "iceberg"):
        assert create(registry, "n", connector=connector, place=place, call=call) == rule_
        if not rule_:
            registry.ask(m.DropSource("n"))


def test_records_and_queries_need_a_right_on_the_folder(registry: Connection) -> None:
    writer = CallOptions(principal="user:a", access=Access((rule("insert", topics=("path:team/*",)),)))
    assert registry.ask(m.GetDestination("f"), writer).answer.source.name == "f"
    other = CallOptions(principal="user:a", access=Access((rule("insert", topics=("team/*",)),)))
    with pytest.raises(Refusal, match="the folder 'team/f'"):
        registry.ask(m.GetDestination("f"), other)
    out = rule("register", topics=("path:out",))
    for topics, expected in ((("path:out",), "RIGHTS"), (("path:team/f",), "")):
        reader = CallOptions(principal="user:a", access=Access((out, rule("query", topics=topics))))
        assert create(registry, "out", "f", call=reader) == expected

"""Scripts of one commit: all statements are carried out or none, and each sees what those before it did."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.behaviours.neighbours import neighbours
from treaty import connect
from treaty.client.connection import Connection
from treaty.core.access.rights import Access, AccessRule, Permission, with_included
from treaty.core.messages import groups as g
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.scripts import PreviewScript, RunScript, SchemaAssertion, ScriptMember
from treaty.core.messages.registration import Register
from treaty.core.messages.schemas import GetSchema
from treaty.core.names import Subject
from treaty.core.refusals import Forbidden, Refusal
from treaty.core.registry import CallOptions
from treaty.core.schema import Draft
from treaty.core.sources import SourceColumn, SourcePart
from treaty.metastore import Metastore
from treaty.metastore.execution.results import InvalidStatementError

STREAM = "CREATE STREAM {0} (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"
SCRIPT = """
CREATE TYPE point AS STRUCT<x INT, y INT>;
CREATE STREAM flights (id BIGINT KEY, place point) WITH (KAFKA_TOPIC = 'flights', VALUE_FORMAT = 'AVRO');
ALTER STREAM flights ADD COLUMN carrier STRING;
ALTER STREAM flights RENAME TO trips;
CREATE STREAM copies WITH (KAFKA_TOPIC = 'copies', VALUE_FORMAT = 'AVRO', SUBJECT = 'flights-value');
ALTER STREAM copies SET PROTECTED = true;
ASSERT SCHEMA SUBJECT 'flights-value';
CREATE STREAM brief (a INT) WITH (KAFKA_TOPIC = 'brief', VALUE_FORMAT = 'AVRO');
DROP STREAM brief
"""


@pytest.fixture
def one() -> Iterator[Connection]:
    with connect("memory:") as connection:
        yield connection


def names_of(it: Connection) -> list[str]:
    return [each.name for each in it.ask(m.ListSources()).answer.sources]


def rows_of(it: Connection) -> Any:
    sources = it.ask(m.ListSources()).answer.sources
    return [(each.name, each.columns, each.protected, each.generation) for each in sources], it.subjects()


def sequence_of(it: Connection) -> int:
    return it.ask(m.ListSources()).token.sequence


def test_a_statement_takes_the_columns_of_a_schema_that_was_registered_after_another_one(one: Connection) -> None:
    head = "CREATE STREAM {0} (v INT) WITH (KAFKA_TOPIC = '{0}', VALUE_FORMAT = 'AVRO')"
    script = f"{head.format('b1')}; {head.format('b2')}; CREATE STREAM b3 WITH (KAFKA_TOPIC = 'b2')"
    Metastore(one.registry).run(script, atomic=True)
    pins = {name: one.ask(m.DescribeSource(name)).answer.source.value for name in ("b2", "b3")}
    assert pins["b2"] is not None
    assert pins["b2"].pin == (pins["b3"].pin if pins["b3"] else None)


def test_each_statement_sees_what_those_before_it_did_and_all_are_one_commit(one: Connection) -> None:
    before = sequence_of(one)
    results = Metastore(one.registry).run(SCRIPT, atomic=True)
    assert sequence_of(one) == before + 1
    assert {each.sequence for each in results} == {before + 1}
    assert [each.message for each in results] == [
        "Type point created",
        "Stream flights created",
        "Stream flights changed",
        "Stream trips changed",
        "Stream copies created",
        "Stream copies changed",
        "A schema with subject flights-value exists",
        "Stream brief created",
        "brief dropped",
    ]
    copies, trips = one.ask(m.ListSources()).answer.sources
    assert [column.name for column in trips.columns] == ["id", "place", "carrier"]
    assert [column.name for column in copies.columns] == ["place", "carrier"]
    assert copies.protected
    assert one.versions("flights-value") == (1, 2)


def test_a_dry_run_says_all_that_would_happen_and_writes_nothing(one: Connection) -> None:
    before = sequence_of(one)
    results = Metastore(one.registry).run(SCRIPT, atomic=True, dry_run=True)
    assert (sequence_of(one), names_of(one), one.subjects()) == (before, [], ())
    assert [each.message for each in results if each.kind.startswith("CREATE STREAM")] == [
        "Stream flights would be created",
        "Stream copies would be created",
        "Stream brief would be created",
    ]
    assert results[-1].message.startswith("brief would be dropped")


@pytest.mark.parametrize(
    ("last", "rule"),
    [
        ("DROP STREAM nosuch", "SOURCE_NOT_FOUND"),
        ("CREATE STREAM Trips (a INT) WITH (KAFKA_TOPIC = 'x', VALUE_FORMAT = 'AVRO')", "SOURCE_EXISTS"),
        ("ASSERT NOT EXISTS SCHEMA SUBJECT 'flights-value'", "ASSERT_FAILED"),
        ("ALTER STREAM trips ADD COLUMN carrier STRING", "COLUMN_TWICE"),
        ("DROP TYPE point", "TYPE_USED"),
        ("ALTER STREAM nosuch ADD COLUMN carrier STRING", "SOURCE_NOT_FOUND"),
    ],
)
def test_a_refusal_names_its_statement_and_leaves_nothing_of_the_script(one: Connection, last: str, rule: str) -> None:
    Metastore(one.registry).run(STREAM.format("kept"))
    before, text = rows_of(one), f"{SCRIPT};\n  {last}; DROP STREAM kept"
    outcome = Metastore(one.registry).run_script(text, atomic=True)
    assert isinstance(outcome.error, Refusal)
    assert (outcome.error.reason.rule, outcome.results, outcome.failed) == (rule, (), last)
    assert "members" not in outcome.error.reason.path
    assert outcome.place is not None
    assert (outcome.place.index, text[outcome.place.start : outcome.place.end]) == (9, last)
    assert rows_of(one) == before


@pytest.mark.parametrize(
    ("statement", "near"),
    [
        ("DROP STREAM kpet", "did you mean kept? "),
        ("CREATE STREAM x (p pointt) WITH (TOPIC = 'x', VALUE_FORMAT = 'AVRO')", "did you mean point? "),
        ("DROP STREAM elsewhere", ""),
    ],
)
def test_a_mistyped_name_leads_to_the_one_that_is_there_alone_and_in_a_script(
    one: Connection, statement: str, near: str
) -> None:
    metastore = Metastore(one.registry)
    metastore.run(f"{STREAM.format('kept')}; CREATE TYPE point AS INT")
    for atomic in (False, True):
        error = metastore.run_script(statement, atomic=atomic).error
        assert isinstance(error, Refusal)
        assert error.reason.allowed.startswith(near or "SHOW STREAMS"), error.reason.allowed


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("INSERT INTO s VALUES (1)", "INSERT writes records"),
        ("CREATE STREAM x AS SELECT a FROM STREAM s", "CREATE STREAM … AS waits for a planner"),
        ("ASSERT SCHEMA SUBJECT 's' TIMEOUT 9 SECONDS", "ASSERT SCHEMA with a TIMEOUT waits"),
        ("SHOW STREAMS", "SHOW STREAMS reads"),
        ("ASSERT TOPIC 't'", "ASSERT TOPIC asks Kafka"),
    ],
)
def test_what_is_no_part_of_one_commit_is_refused_with_its_place_and_the_remedy(
    one: Connection, statement: str, word: str
) -> None:
    with pytest.raises(InvalidStatementError) as refused:
        Metastore(one.registry).run(f"{STREAM.format('s')};\n{statement}; {statement}", atomic=True)
    first, second = refused.value.diagnostics
    assert (first.code, first.line, second.line) == ("ATOMIC_STATEMENT", 2, 2)
    assert word in first.message
    assert first.hint.startswith("send ")
    assert names_of(one) == []


def test_what_a_drop_frees_is_free_for_the_statements_after_it(one: Connection) -> None:
    Metastore(one.registry).run(
        "CREATE TYPE p AS INT; CREATE STREAM a (x p) WITH (KAFKA_TOPIC = 'a', VALUE_FORMAT = 'AVRO')"
    )
    Metastore(one.registry).run(
        "DROP STREAM a; DROP TYPE p; CREATE TYPE p AS STRING; CREATE STREAM b (x p) WITH (KAFKA_TOPIC = 'b', VALUE_FORMAT = 'AVRO')",
        atomic=True,
    )
    assert names_of(one) == ["b"]
    assert '"string"' in one.version("b-value", 1).text


def test_if_not_exists_holds_in_the_commit(one: Connection) -> None:
    metastore = Metastore(one.registry)
    metastore.run(STREAM.format("s"))
    results = metastore.run(
        f"{STREAM.format('IF NOT EXISTS s')}; SET START = 'earliest'; {STREAM.format('t')}", atomic=True
    )
    assert [each.message for each in results] == [
        "Stream s unchanged",
        "START = 'earliest' in the CREATE statements that follow",
        "Stream t created",
    ]


def test_a_cascade_is_confirmed_by_the_digest_of_its_dry_run(one: Connection) -> None:
    metastore = Metastore(one.registry)
    metastore.run(f"{STREAM.format('s')}; ALTER STREAM s SET COMMENT = 'x'")
    bad = "CREATE OR REPLACE STREAM s (id BIGINT KEY, carrier STRING) WITH (KAFKA_TOPIC = 's', VALUE_FORMAT = 'AVRO', BAD_ROWS = true)"
    metastore.run(bad)
    script = f"{STREAM.format('t')}; DROP STREAM s CASCADE{{}}"
    outcome = metastore.run_script(script.format(""), atomic=True)
    assert isinstance(outcome.error, Refusal)
    assert outcome.error.reason.rule == "CASCADE_DIGEST"
    dry = metastore.run(script.format(""), atomic=True, dry_run=True)
    digest = dry[1].message.rpartition("DIGEST ")[2]
    metastore.run(script.format(f" DIGEST {digest}"), atomic=True)
    assert names_of(one) == ["t"]


@pytest.mark.parametrize("atomic", [True, False])
def test_a_script_that_comes_again_is_answered_as_it_was_though_it_dropped_its_source(
    one: Connection, *, atomic: bool
) -> None:
    metastore = Metastore(one.registry, CallOptions(command_id="again"))
    script = f"{STREAM.format('s')}; SET START = 'earliest'; ALTER STREAM s ADD COLUMN more INT; PAUSE s; DROP STREAM s"
    script = script.replace("PAUSE s; ", "ALTER STREAM s SET COMMENT = 'x'; ")
    first = metastore.run(script, atomic=atomic)
    after = sequence_of(one)
    again = metastore.run(script, atomic=atomic)
    assert [(each.kind, each.message) for each in again] == [(each.kind, each.message) for each in first]
    assert (sequence_of(one), one.versions("s-value")) == (after, (1, 2))
    with pytest.raises(Refusal) as used:
        metastore.run(script.replace("more INT", "other INT"), atomic=atomic)
    assert used.value.reason.rule in {"COMMAND_ID_USED", "SOURCE_NOT_FOUND"}


@pytest.mark.parametrize("default", ["SET BAD_ROWS = 'true'", "SET CLUSTER = 'other'", "DEFINE word = 'other'"])
def test_a_statement_with_another_default_around_it_is_no_repetition(one: Connection, default: str) -> None:
    """What SET and DEFINE say belongs to the meaning of the statements after them."""
    create = STREAM.format("s").replace("WITH (", "COMMENT '${word}' WITH (") + "; SHOW TYPES"
    metastore = Metastore(one.registry, CallOptions(command_id="again"))
    first = metastore.run(f"DEFINE word = 'x'; SHOW TYPES; {create}")[2]
    after = sequence_of(one)
    again = metastore.run(f"DEFINE word = 'x'; SHOW TYPES; {create}")[2]
    assert (again.message, sequence_of(one)) == (first.message, after)
    other = f"DEFINE word = 'x'; {default}; {create}"
    with pytest.raises(Refusal) as used:
        metastore.run(other)
    assert (used.value.reason.rule, sequence_of(one)) == ("COMMAND_ID_USED", after)


@pytest.mark.parametrize("default", ["SET BAD_ROWS = 'true'", "SET CLUSTER = 'other'"])
def test_a_statement_that_comes_again_under_the_same_default_is_a_repetition(one: Connection, default: str) -> None:
    script = f"{default}; {STREAM.format('s')}"
    metastore = Metastore(one.registry, CallOptions(command_id="again"))
    messages: list[str] = []
    for _ in range(2):
        try:
            messages.append(metastore.run(script)[1].message)
        except Refusal as refused:
            messages.append(refused.reason.rule)
    assert messages[0].startswith("Stream s created")
    assert messages[1] == messages[0]


def test_a_statement_that_changed_nothing_is_decided_again_and_takes_effect_once(one: Connection) -> None:
    """It has left nothing, as if it had not come; once it has changed something, it is answered as it was."""
    metastore = Metastore(one.registry, CallOptions(command_id="again"))
    other = Metastore(one.registry)
    create = STREAM.format("IF NOT EXISTS s")
    other.run(create)
    empty = sequence_of(one)
    assert "already" in str(metastore.run(create)[0])
    assert sequence_of(one) == empty
    other.run("DROP STREAM s")
    made = metastore.run(create)[0]
    after = sequence_of(one)
    assert (made.message, metastore.run(create)[0].message, sequence_of(one)) == (
        "Stream s created",
        made.message,
        after,
    )
    other.run("DROP STREAM s")
    gone = sequence_of(one)
    assert (metastore.run(create)[0].message, sequence_of(one), names_of(one)) == (made.message, gone, [])


@pytest.mark.parametrize("owned", [True, False])
def test_one_commit_over_http_at_a_node_of_several(*, owned: bool) -> None:
    with neighbours(2, owned=owned) as (_, (_, other)):
        url = f"{other.url}/metastore/v1/statements"
        good = httpx2.post(url, json={"sql": SCRIPT, "atomic": True}, headers={"Treaty-Command": "c1"}, timeout=60)
        again = httpx2.post(url, json={"sql": SCRIPT, "atomic": True}, headers={"Treaty-Command": "c1"}, timeout=60)
        bad = httpx2.post(url, json={"sql": "CREATE TYPE q AS INT;\n DROP TYPE nosuch", "atomic": True}, timeout=60)
        with connect(other.url) as it:
            assert names_of(it) == ["copies", "trips"]
    assert (good.status_code, again.status_code, bad.status_code) == (200, 200, 404)
    assert [each["message"] for each in good.json()["results"]] == [each["message"] for each in again.json()["results"]]
    assert bad.json()["place"] == {"index": 1, "start": 23, "end": 39, "line": 2, "column": 2}


def may(*permissions: Permission, names: str) -> CallOptions:
    rule = AccessRule(("ada",), with_included(permissions), (names, f"{names}-*"), (".",), (names,), sources=(names,))
    return CallOptions(principal="ada", access=Access((rule,)))


def test_a_script_needs_what_each_of_its_statements_needs(one: Connection) -> None:
    script = f"{STREAM.format('a')}; {STREAM.format('b')}"
    outcome = Metastore(one.registry, may("register", "read", names="a")).run_script(script, atomic=True)
    assert isinstance(outcome.error, Refusal)
    assert (outcome.error.reason.rule, outcome.place and outcome.place.index, names_of(one)) == ("RIGHTS", 1, [])
    Metastore(one.registry, may("register", "read", names="*")).run(script, atomic=True)
    dropping = Metastore(one.registry, may("register", "read", names="*")).run_script(
        "CREATE TYPE t AS INT; DROP STREAM b", atomic=True
    )
    assert isinstance(dropping.error, Refusal)
    assert (dropping.error.reason.rule, dropping.place and dropping.place.index, names_of(one)) == (
        "RIGHTS",
        1,
        ["a", "b"],
    )


def test_a_script_of_as_many_statements_as_are_allowed_is_one_commit(one: Connection) -> None:
    sql = "; ".join(
        f"CREATE TYPE t{n} AS STRUCT<a t{n - 1}>" if n % 4 else f"CREATE TYPE t{n} AS INT" for n in range(200)
    )
    before = sequence_of(one)
    assert len(Metastore(one.registry).run(sql, atomic=True)) == 200
    assert sequence_of(one) == before + 1


def test_statements_that_depend_on_each_other_are_bounded(one: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each statement about a source that the script changes lets all commands before it about that source be decided again."""
    monkeypatch.setattr("treaty.metastore.execution.atomic.SCRIPT_REPLAYED", 6)
    metastore = Metastore(one.registry)
    alters = [f"ALTER STREAM s ADD COLUMN c{n} INT" for n in range(3)]
    outcome = metastore.run_script("; ".join([STREAM.format("s"), *alters]), atomic=True)
    assert isinstance(outcome.error, Refusal)
    assert (outcome.error.reason.rule, outcome.failed, names_of(one)) == ("SCRIPT_REPLAYED", alters[2], [])
    metastore.run("; ".join(STREAM.format(f"s{n}") for n in range(20)), atomic=True)
    assert len(names_of(one)) == 20


def test_two_sources_do_not_begin_to_run_in_one_commit(one: Connection) -> None:
    files = (
        "CREATE STREAM {0} (id BIGINT) WITH (CONNECTOR = 'files', PATH = '{0}', VALUE_FORMAT = 'AVRO', BAD_ROWS = true)"
    )
    before = sequence_of(one)
    with pytest.raises(Refusal, match="distinguished") as refused:
        Metastore(one.registry).run(f"{files.format('a')};\n{files.format('b')}", atomic=True)
    assert (refused.value.reason.rule, sequence_of(one)) == ("SCRIPT_RUNNING", before)
    Metastore(one.registry).run(f"{files.format('a')};\n{STREAM.format('b')}", atomic=True)
    assert names_of(one) == ["a", "a_bad", "b"]


def test_what_a_script_drops_does_not_come_back_in_it(one: Connection) -> None:
    metastore = Metastore(one.registry)
    metastore.run(STREAM.format("s"))
    before = sequence_of(one)
    with pytest.raises(Refusal, match="does not come back") as refused:
        metastore.run("DROP STREAM s;\nUNDROP STREAM s", atomic=True)
    assert (refused.value.reason.rule, sequence_of(one), names_of(one)) == ("SCRIPT_UNDROP", before, ["s"])
    metastore.run("DROP STREAM s")
    metastore.run(f"UNDROP STREAM s;\n{STREAM.format('t')}", atomic=True)
    assert names_of(one) == ["s", "t"]


SECRET = Subject(".", "com.acme/secret")


@pytest.fixture
def guarded(one: Connection) -> Connection:
    """A registry with a private subject, whose schema has the id 1."""
    one.ask(g.CreateSubject(SECRET, g.GroupSettings("iglu"), private=True))
    one.ask(Register(SECRET, Draft('{"type": "object", "description": "SECRETWORD"}', "JSON")))
    return one


def test_a_preview_and_an_assertion_say_nothing_of_a_private_subject(guarded: Connection) -> None:
    ada = may("register", "read", names="*")
    schema = Register(SECRET, Draft('{"type": "string"}', "JSON"))
    column = SourceColumn("a", "STRING")
    defined = m.SourceDefinition("s", "STREAM", "", (column,), value=SourcePart("JSON"), place="s")
    create = ScriptMember(create=m.CreateSource(defined, value_schema=schema))
    for asked in (
        PreviewScript((create,), source=m.DescribeSource("s")),
        PreviewScript((create,), schema=GetSchema(1)),
        RunScript((create, ScriptMember(assertion=SchemaAssertion(str(SECRET), 1)))),
        RunScript((create,)),
    ):
        with pytest.raises(Forbidden) as forbidden:
            guarded.ask(asked, ada)
        assert "SECRETWORD" not in str(forbidden.value)
    for assertion in (SchemaAssertion(str(SECRET)), SchemaAssertion(str(SECRET), 1), SchemaAssertion("", 1)):
        with pytest.raises(Refusal, match="does not exist"):
            guarded.ask(RunScript((ScriptMember(assertion=assertion),), dry_run=True), ada)
        assert guarded.ask(RunScript((ScriptMember(assertion=assertion),), dry_run=True)).answer.answers

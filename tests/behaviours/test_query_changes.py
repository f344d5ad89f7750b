"""A query is changed while it runs: the assessment, the checkpoint that it continues from, and the way back."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from treaty import connect
from treaty.cli.main import group
from treaty.client.connection import Connection
from treaty.core import limits
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.assessments import ChangeAssessment, LostColumn
from treaty.core.refusals import Invalid, NotPermitted, Refusal
from treaty.core.registry import CallOptions
from treaty.core.sources import QueryPlan, Source, SourceColumn, SourceRead, StateFingerprint
from treaty.metastore.metastore import Metastore

COLUMNS = (SourceColumn("k", "STRING", role="key"), SourceColumn("n", "BIGINT"))
WIDE = (*COLUMNS, SourceColumn("total", "BIGINT"))
GROUPS = (("key", "f.carrier"), ("aggregate", "count(1)"), ("filter", "(f.delay > 3)"))
STATE = StateFingerprint("p1", "s1")
FLIGHTS = "CREATE STREAM f (carrier STRING, delay INT) WITH (KAFKA_TOPIC = 'f', VALUE_FORMAT = 'AVRO')"


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as connection:
        for name in ("f", "g"):
            Metastore(connection.registry).run(
                f"CREATE STREAM {name} (carrier STRING, delay INT) WITH (KAFKA_TOPIC = '{name}', VALUE_FORMAT = 'AVRO')"
            )
        yield connection


def describe(registry: Connection, name: str = "t") -> Source:
    return registry.ask(m.DescribeSource(name)).answer.source


def plan(
    registry: Connection, name: str = "f", *, body: str = "SELECT 1", state: StateFingerprint = STATE
) -> QueryPlan:
    source = describe(registry, name)
    value = source.value.pin if source.value else None
    read = SourceRead(source.name, source.generation, name, columns=(), value=value, revision=source.revision)
    return QueryPlan(body, (read,), "update", ("k",), state, state=GROUPS if state.plan else ())


def create(registry: Connection, query: QueryPlan, columns: tuple[SourceColumn, ...] = COLUMNS, *, name: str = "t",
           connector: str = "delta", on_change: str = "", assess: bool = False) -> m.SourceStored:  # fmt: skip
    defined = m.SourceDefinition(
        name, "TABLE", f"CREATE {query.body}", columns, connector=connector, place=f"tables/{name}", query=query
    )
    return registry.ask(m.CreateSource(defined, replace=True, on_change=on_change, assess=assess)).answer


def assess(
    registry: Connection, query: QueryPlan, columns: tuple[SourceColumn, ...] = COLUMNS, on_change: str = ""
) -> ChangeAssessment:
    sequence = describe(registry).revision
    assessment = create(registry, query, columns, on_change=on_change, assess=True).assessment
    assert describe(registry).revision == sequence
    assert assessment is not None
    return assessment


def other_state(query: QueryPlan, *parts: tuple[str, str]) -> QueryPlan:
    return replace(query, fingerprint=StateFingerprint("p2", "s1"), state=parts)


def test_a_assessment_names_what_differs_and_writes_nothing(registry: Connection) -> None:
    query = plan(registry)
    assert create(registry, query, assess=True).assessment == ChangeAssessment("new")
    create(registry, query)
    assert assess(registry, query) == ChangeAssessment("same")
    assessment = assess(registry, replace(query, body="SELECT 2"))
    assert (assessment.kind, assessment.refused, assessment.ways) == ("compatible", False, ())
    later = other_state(query, *GROUPS[:2], ("filter", "(f.delay > 5)"))
    assessment = assess(registry, later)
    assert (assessment.kind, assessment.refused) == ("stateful change", True)
    assert assessment.reasons == ("filter: (f.delay > 3) → (f.delay > 5)",)
    assert ["empty" in assessment.ways[0], "backfill" in assessment.ways[1]] == [True, True]
    assert not assess(registry, later, on_change="EMPTY").refused
    assessment = assess(registry, plan(registry, "g"))
    assert (assessment.kind, assessment.reasons) == (
        "source change",
        ("the changes of f are not read any more", "the changes of g are read, and were not before"),
    )
    assessment = assess(registry, replace(query, key=("n",)))
    assert (assessment.kind, assessment.reasons) == ("stateful change", ("the key of the rows: k → n",))
    assessment = assess(registry, plan(registry, state=StateFingerprint()))
    assert assessment.reasons == (
        "the new query keeps no state, and the one that runs keeps some: key f.carrier; aggregate count(1); filter (f.delay > 3)",
    )


def test_a_assessment_names_the_columns_that_readers_lose(registry: Connection) -> None:
    query = plan(registry)
    create(registry, query, WIDE)
    create(
        registry,
        replace(plan(registry, "t"), reads=(replace(plan(registry, "t").reads[0], columns=("total",)),)),
        name="u",
    )
    assessment = assess(registry, replace(query, body="SELECT 2"))
    assert assessment.lost == (LostColumn("total", "BIGINT", "", ("u",)),)
    assert assessment.refused


def test_a_assessment_has_what_the_policy_of_the_schema_says(registry: Connection) -> None:
    metastore = Metastore(registry.registry)
    sql = "CREATE STREAM p ({}) WITH (KAFKA_TOPIC = 'p', VALUE_FORMAT = 'AVRO')"
    metastore.run(sql.format("a INT NOT NULL"))
    for columns, words in (
        ("a INT NOT NULL, b INT", "a new version, which its policy accepts"),
        ("a STRING NOT NULL", "refused: "),
    ):
        (answer,) = metastore.run(f"EXPLAIN REPLACE {sql.format(columns)}")
        assert any(words in str(row) for row in answer.rows), answer.rows


def test_a_refusal_says_what_differs_and_the_ways_out(registry: Connection) -> None:
    query = plan(registry)
    create(registry, query)
    with pytest.raises(NotPermitted, match=r"it is a stateful change: filter: \(f.delay > 3\) → none") as refused:
        create(registry, other_state(query, *GROUPS[:2]))
    reason = refused.value.reason
    assert (reason.rule, reason.old) == ("QUERY_STATE", "key f.carrier; aggregate count(1); filter (f.delay > 3)")
    assert "ON_CHANGE = 'empty'" in reason.allowed
    assert "ON_CHANGE = 'backfill'" in reason.allowed


@pytest.mark.parametrize("connector", ["kafka", "iceberg"])
def test_a_refusal_offers_no_exchange_where_rows_can_not_be_exchanged(registry: Connection, connector: str) -> None:
    query = plan(registry)
    create(registry, query, name="i", connector=connector)
    with pytest.raises(NotPermitted) as refused:
        create(registry, changed := other_state(query), name="i", connector=connector)
    assessment = create(registry, changed, name="i", connector=connector, assess=True).assessment
    for offered in (refused.value.reason.allowed, str(assessment)):
        found = [way for way in ("'empty'", "'backfill'", "'cascade'") if way in offered]
        assert found == ["'empty'"]
    create(registry, changed, name="i", connector=connector, on_change="EMPTY")


def test_a_refusal_does_not_offer_to_keep_rows_whose_columns_get_another_type(registry: Connection) -> None:
    query = plan(registry)
    create(registry, query)
    with pytest.raises(NotPermitted) as refused:
        create(registry, replace(query, body="SELECT 2"), (COLUMNS[0], SourceColumn("n", "STRING")))
    assert refused.value.reason.allowed.startswith("WITH (ON_CHANGE = 'backfill')")


@pytest.mark.parametrize("on_change", ["EMPTY", "BACKFILL"])
def test_a_new_checkpoint_begins_with_the_commit_and_the_old_one_is_kept(registry: Connection, on_change: str) -> None:
    query = plan(registry)
    create(registry, query)
    before = describe(registry).query
    assert before is not None
    create(registry, other_state(query), WIDE, on_change=on_change)
    source = describe(registry)
    assert source.query is not None
    assert (source.query.start, source.query.after, source.query.revision) == (on_change, before.began, 2)
    assert source.query.began > before.began
    (former,) = source.previous
    assert (former.began, former.definition and former.definition.columns) == (before.began, COLUMNS)


def test_what_goes_on_keeps_its_checkpoint_whatever_else_is_wanted(registry: Connection) -> None:
    query = plan(registry)
    create(registry, query)
    create(registry, replace(query, body="SELECT 2"), on_change="EMPTY")
    source = describe(registry)
    assert source.query is not None
    assert (source.query.began, source.query.start) == (source.generation, "")


def test_rows_are_exchanged_only_in_a_delta_table_that_nobody_follows(registry: Connection) -> None:
    query = plan(registry)
    create(registry, query)
    create(registry, query, name="i", connector="iceberg")
    with pytest.raises(NotPermitted, match="rows that are written can't be exchanged") as refused:
        create(registry, other_state(query), name="i", connector="iceberg", on_change="BACKFILL")
    reason = refused.value.reason
    assert (reason.rule, "RESET CHECKPOINT i KEEP DATA" in reason.allowed) == ("QUERY_PLACE", True)
    create(registry, plan(registry, "t"), name="u")
    with pytest.raises(Refusal, match="its changes are followed by u"):
        create(registry, other_state(query), on_change="BACKFILL")
    with pytest.raises(Refusal, match="its changes are followed by u") as followed:
        restart(registry, "REFRESH")
    assert followed.value.reason.rule == "QUERY_READERS"


def restart(registry: Connection, way: str, *, cascade: bool = False) -> m.SourceStored:
    return registry.ask(m.ChangeSource("t", restart=way, cascade=cascade)).answer


def chain(registry: Connection) -> QueryPlan:
    """t → u → v, and w that has rows of t beside a stream."""
    query = plan(registry)
    create(registry, query)
    create(registry, plan(registry, "t"), name="u")
    create(registry, plan(registry, "u"), name="v")
    beside = plan(registry, "t")
    create(registry, replace(beside, reads=(replace(beside.reads[0], mode="table"),)), name="w")
    return query


def checkpoints(registry: Connection) -> dict[str, tuple[str, bool]]:
    """How the checkpoint of each query began, and whether it began last of all."""
    queries = {name: describe(registry, name).query for name in "tuvw"}
    newest = max(one.began for one in queries.values() if one)
    return {name: (one.start, one.began == newest) for name, one in queries.items() if one}


NOTES = tuple(f"{name} goes along: it reads all again once the rows before it are exchanged" for name in "uv")
AGAIN = {"t": ("BACKFILL", True), "u": ("CASCADE", True), "v": ("CASCADE", True), "w": ("", False)}


def test_a_chain_is_replaced_in_one_commit_and_goes_back_in_one(registry: Connection) -> None:
    query = chain(registry)
    later = other_state(replace(query, body="SELECT 2"))
    assessment = assess(registry, later, on_change="CASCADE")
    assert (assessment.kind, assessment.refused, assessment.reasons[-2:]) == ("stateful change", False, NOTES)
    assert describe(registry, "u").revision == 1
    assert create(registry, later, on_change="CASCADE").notes == NOTES
    assert checkpoints(registry) == AGAIN
    assert [describe(registry, name).previous[0].definition is not None for name in "tuv"] == [True] * 3
    with pytest.raises(Refusal, match="its changes are followed by u"):
        restart(registry, "ROLLBACK")
    assert restart(registry, "ROLLBACK", cascade=True).notes == NOTES
    assert {name: start for name, (start, _) in checkpoints(registry).items()} == {
        "t": "",
        "u": "CASCADE",
        "v": "CASCADE",
        "w": "",
    }
    query_now = describe(registry).query
    assert query_now is not None
    assert (query_now.plan.body, query_now.resumed > query_now.began) == ("SELECT 1", True)
    (first,) = Metastore(registry.registry).run("REFRESH t FULL CASCADE")
    assert first.warnings == NOTES
    assert checkpoints(registry) == AGAIN


def test_who_went_along_goes_back_to_nothing_that_is_over_the_rows_before(registry: Connection) -> None:
    chain(registry)
    registry.ask(m.ChangeSource("t", restart="REFRESH", cascade=True))
    for cascade in (False, True):
        with pytest.raises(NotPermitted, match="its former checkpoint is over the rows before") as refused:
            registry.ask(m.ChangeSource("v", restart="ROLLBACK", cascade=cascade))
        assert refused.value.reason.rule == "QUERY_EXCHANGED"
    for way in ("REFRESH", "ROLLBACK", "ROLLBACK"):
        registry.ask(m.ChangeSource("v", restart=way))
    query = describe(registry, "v").query
    assert query is not None
    assert query.start == "BACKFILL", "what began behind the exchange may go back and forth"


def test_a_compatible_change_and_a_reset_take_nobody_along(registry: Connection) -> None:
    query = chain(registry)
    assert create(registry, replace(query, body="SELECT 2"), on_change="CASCADE").notes == ()
    assert checkpoints(registry)["u"][0] == ""
    restart(registry, "RESET")
    assert checkpoints(registry)["u"][0] == ""
    for change in (m.ChangeSource("t", restart="RESET CASCADE"), m.ChangeSource("t", cascade=True)):
        with pytest.raises(Refusal, match="is no way to restart a query"):
            registry.ask(change)


def test_a_reset_takes_along_what_follows_wherever_its_rows_are(registry: Connection) -> None:
    """All of them keep their rows, so that those of topics can be read again too."""
    chain(registry)
    create(registry, plan(registry, "v"), name="x", connector="kafka")
    notes = tuple(f"{name} goes along: it reads from the beginning again, and keeps its rows" for name in "uvx")
    assert Metastore(registry.registry).run("RESET CHECKPOINT t KEEP DATA CASCADE")[0].warnings == notes
    assert checkpoints(registry) == {**dict.fromkeys("tuv", ("RESET", True)), "w": ("", False)}


def test_a_chain_is_replaced_whole_or_not_at_all(registry: Connection) -> None:
    query = chain(registry)
    create(registry, plan(registry, "v"), name="x", connector="kafka")
    later = other_state(query)
    with pytest.raises(NotPermitted, match="x writes to kafka, where rows that are written can't be exchanged"):
        create(registry, later, on_change="CASCADE")
    assert assess(registry, later, on_change="CASCADE").refused
    assert {start for start, _ in checkpoints(registry).values()} == {""}

    def access(*names: str) -> CallOptions:
        rules = (
            AccessRule(("p",), with_included((may,)), (), (".",), ("*",), sources=("t", *names))
            for may in ("register", "query")
        )
        return CallOptions(principal="p", access=Access(tuple(rules)))

    registry.ask(m.DropSource("x"))
    change = m.ChangeSource("t", restart="REFRESH", cascade=True)
    with pytest.raises(Refusal, match="followed by u and 1 that you may not see"):
        registry.ask(change, access("u"))
    assert registry.ask(change, access("u", "v")).answer.notes == NOTES


def test_a_rollback_goes_back_and_forth(registry: Connection) -> None:
    query = plan(registry)
    create(registry, query)
    create(registry, other_state(replace(query, body="SELECT 2")), WIDE, on_change="EMPTY")
    old, new = describe(registry).previous[0], describe(registry).query
    assert new is not None
    restart(registry, "ROLLBACK")
    source = describe(registry)
    assert source.query is not None
    assert (source.columns, source.statement, source.query.plan.body) == (COLUMNS, "CREATE SELECT 1", "SELECT 1")
    assert (source.query.began, [one.began for one in source.previous]) == (old.began, [new.began])
    assert source.query.resumed > new.began
    restart(registry, "ROLLBACK")
    again = describe(registry)
    assert (again.columns, again.query and again.query.began) == (WIDE, new.began)


def test_a_rollback_is_refused_with_the_reason(registry: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    query = plan(registry)
    create(registry, query)
    with pytest.raises(NotPermitted, match="t has no former query to go back to"):
        restart(registry, "ROLLBACK")
    create(registry, replace(query, body="SELECT 2"), WIDE)
    reader = plan(registry, "t")
    create(registry, replace(reader, reads=(replace(reader.reads[0], columns=("total",)),)), name="u")
    with pytest.raises(Refusal, match="The column total is read by u"):
        restart(registry, "ROLLBACK")
    registry.ask(m.DropSource("u"))
    monkeypatch.setattr(limits, "DROP_GRACE", -1)
    with pytest.raises(NotPermitted, match="t has no former query to go back to"):
        restart(registry, "ROLLBACK")


def test_a_reset_and_a_refresh_begin_another_checkpoint_of_the_same_query(registry: Connection) -> None:
    create(registry, plan(registry))
    first = describe(registry).query
    restart(registry, "RESET")
    restart(registry, "REFRESH")
    source = describe(registry)
    assert first is not None
    assert source.query is not None
    assert (source.query.plan, source.query.start) == (first.plan, "BACKFILL")
    assert [one.start for one in source.previous] == ["RESET", ""]


def test_statements_restart_queries(registry: Connection) -> None:
    create(registry, plan(registry))
    metastore = Metastore(registry.registry)
    (answer,) = metastore.run("RESET CHECKPOINT t KEEP DATA")
    assert (answer.kind, "reads from the beginning again" in answer.message) == ("RESET", True)
    assert "would be changed" in metastore.run("REFRESH TABLE t FULL", dry_run=True)[0].message
    metastore.rollback("t")
    source = describe(registry)
    assert source.query is not None
    assert source.query.began == source.generation


def test_the_history_of_a_source_says_which_query_wrote_a_row(registry: Connection) -> None:
    query = plan(registry)
    create(registry, query)
    first = describe(registry).query
    create(registry, other_state(replace(query, body="SELECT 2")), on_change="EMPTY")
    (answer,) = Metastore(registry.registry).run("SHOW HISTORY OF t")
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    assert first is not None
    assert [one["statement"] for one in rows] == ["CREATE SELECT 2", "CREATE SELECT 1"]
    assert [(one["state"], one["start"]) for one in rows] == [("RUNNING", "EMPTY"), ("FORMER", "FIRST")]
    assert rows[1]["incarnation"] == first.began
    assert str(rows[0]["reads"]).startswith("f (")
    with pytest.raises(Refusal, match="f has no query"):
        Metastore(registry.registry).run("SHOW HISTORY OF f")


def test_the_command_of_the_history_prints_one_incarnation(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/r.db"
    with connect(url) as connection:
        Metastore(connection.registry).run(FLIGHTS)
        create(connection, plan(connection))
        query = describe(connection).query
    assert query is not None
    words = ["query", "of", "t", "--registry", url, "--incarnation"]
    run, missing = (CliRunner().invoke(group, [*words, began, "--json"]) for began in (str(query.began), "77"))
    assert json.loads(run.output)["statement"] == "CREATE SELECT 1"
    assert (missing.exit_code != 0, "keeps no incarnation 77" in missing.output) == (True, True)


def test_a_comparison_of_rows_says_where_it_runs(registry: Connection) -> None:
    create(registry, plan(registry))
    before = describe(registry)
    with pytest.raises(Invalid) as refused:
        Metastore(registry.registry).run("EXPLAIN REPLACE COMPARE TO latest CREATE TABLE t AS SELECT 2 AS k")
    assert refused.value.reason.rule == "COMPARE_ELSEWHERE"
    assert "treaty sql --planner local with --files ROOT" in refused.value.reason.allowed
    assert describe(registry) == before

"""Corners of the law that a change could break unseen: each case is one that a planted bug got past before."""

import json
from dataclasses import replace

import pytest

from tests.laws.toy import Bench, ToyGrammar, toy, version_row
from treaty.core import limits, outcomes
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.handlers.drafts.rules import refuse_bad_rules
from treaty.core.handlers.drafts.versions import metadata_for, rules_for
from treaty.core.messages.contexts import DeleteContext
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import Register
from treaty.core.messages.schemas import GetSchema, UsesOf
from treaty.core.messages.settings import Config, DeleteMode, GetMode, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, GetVersion, Lookup, VersionFound
from treaty.core.names import Subject
from treaty.core.outcomes import request_digest
from treaty.core.refusals import Conflicting, InvalidRules, InvalidSchema, NotFound, SchemaNotFound, SubjectNotFound
from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet
from treaty.core.state.commit import Commit, Position, make_append
from treaty.core.state.rows import Row, decode_row, encode_row
from treaty.core.state.state_tables import OUTCOME, TABLES
from treaty.core.state.values import Outcome
from treaty.core.state.view import Overlay

S, T, AWAY = Subject(".", "s"), Subject(".", "t"), Subject(".x", "s")


@pytest.fixture
def bench() -> Bench:
    return Bench()


def put(
    bench: Bench, subject: Subject, *names: str, refers: str = "", command_id: str = "", **members: object
) -> VersionFound:
    references = (Reference("n", refers, -1),) if refers else ()
    request = Register(subject, Draft(json.dumps(names), "TOY", references), **members)  # type: ignore[arg-type]
    return bench.do(request, command_id).version


def state(bench: Bench, subject: Subject, ordinal: int) -> str:
    row = version_row(bench, subject, ordinal)
    return row.state if row is not None else "gone"


def test_an_imported_version_replaces_the_one_with_its_number_and_keeps_their_schema(bench: Bench) -> None:
    bench.do(SetMode(Scope("."), "IMPORT"))
    put(bench, S, "a", schema_id=5, number=1)
    put(bench, S, "a", schema_id=5, number=1)
    assert (state(bench, S, 0), state(bench, S, 1)) == ("live", "gone")  # the same once more is no change
    bench.do(DeleteVersion(S, 1))
    put(bench, S, "a", schema_id=5, number=1)

    assert bench.do(GetSchema(5)).text == '["a"]'
    assert (state(bench, S, 0), state(bench, S, 1)) == ("gone", "live")
    put(bench, S, "b", schema_id=6, number=1)
    with pytest.raises(SchemaNotFound):
        bench.do(GetSchema(5))


def test_a_version_that_even_a_deleted_schema_refers_to_does_not_vanish(bench: Bench) -> None:
    put(bench, S, "a")
    put(bench, T, "x", refers="s")
    bench.do(DeleteSubject(T))
    bench.do(DeleteVersion(S, 1))
    put(bench, S, "a")

    assert state(bench, S, 0) == "soft"


def test_purging_takes_the_hidden_versions_of_that_schema_and_no_others(bench: Bench) -> None:
    bench.do(SetConfig(Scope("."), Config(level="NONE")))
    for names in (("a",), ("b",)):
        put(bench, S, *names)
    bench.do(DeleteSubject(S))
    for names in (("a",), ("b",)):
        put(bench, S, *names)
    assert [state(bench, S, ordinal) for ordinal in range(4)] == ["hidden", "hidden", "live", "live"]
    assert bench.do(GetSchema(1)).number == 3
    bench.do(DeleteVersion(S, 3))
    bench.do(DeleteVersion(S, 3, permanent=True))

    assert [state(bench, S, ordinal) for ordinal in range(4)] == ["gone", "hidden", "gone", "live"]
    with pytest.raises(SchemaNotFound):
        bench.do(GetSchema(1))


def test_new_schemas_need_not_be_strict_where_the_config_says_so(bench: Bench) -> None:
    with pytest.raises(InvalidSchema):
        put(bench, S, "-a")
    bench.do(SetConfig(Scope("."), Config(validate_new_schemas=False)))

    assert put(bench, S, "-a").number == 1


def test_an_import_is_never_normalised_or_judged(bench: Bench) -> None:
    bench.do(SetConfig(Scope("."), Config(normalize=True)))
    bench.do(SetMode(Scope("."), "IMPORT"))

    assert put(bench, S, "b", "-a", schema_id=3).text == '["b","-a"]'


def test_modes_of_subjects_go_only_with_their_context_and_only_when_asked(bench: Bench) -> None:
    for scope in (Scope("."), Scope(*S), Scope(*AWAY)):
        bench.do(SetMode(scope, "READONLY"))
    bench.do(DeleteMode(Scope(".")))
    assert bench.do(GetMode(Scope(*S))).mode == "READONLY"
    bench.do(DeleteMode(Scope("."), recursive=True))
    with pytest.raises(NotFound):
        bench.do(GetMode(Scope(*S)))
    assert bench.do(GetMode(Scope(*AWAY))).mode == "READONLY"
    bench.do(DeleteMode(Scope(*AWAY), recursive=True))
    assert bench.do(GetMode(Scope(*AWAY), resolve=True)).mode == "READWRITE"


def test_clearing_a_mode_that_is_not_there_writes_nothing(bench: Bench) -> None:
    assert not bench.verdict(SetMode(Scope(*S), None)).rows  # type: ignore[union-attr]
    bench.do(SetMode(Scope(*S), "READONLY"))
    bench.do(SetMode(Scope(*S), None))
    with pytest.raises(NotFound):
        bench.do(GetMode(Scope(*S)))


def test_a_context_takes_its_settings_along(bench: Bench) -> None:
    put(bench, AWAY, "a")
    bench.do(SetConfig(Scope(".x"), Config(level="NONE")))
    bench.do(DeleteSubject(AWAY))
    bench.do(DeleteSubject(AWAY, permanent=True))
    bench.do(DeleteContext(".x"))

    assert not [key for table in ("context", "config", "mode") for key in bench.tables.keys(TABLES[table])]
    assert not bench.verdict(DeleteContext(".x")).rows[:-1]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("scope", "left"),
    [(Scope(*S), {"t", ":.x:s"}), (Scope("."), {":.x:s"}), (Scope(".x"), {"s", "t"}), (Scope("*"), set())],
    ids=["subject", "context", "other-context", "everywhere"],
)
def test_import_purges_its_scope_and_nothing_else(bench: Bench, scope: Scope, left: set[str]) -> None:
    for subject in (S, T, AWAY):
        put(bench, subject, "a")
        bench.do(DeleteSubject(subject))
    bench.do(SetMode(scope, "IMPORT"))

    assert set(bench.do(ListSubjects(visible="all")).names) == left


def test_lists_keep_to_their_prefix_and_context(bench: Bench) -> None:
    for subject in (S, T, AWAY, Subject(".x", "tt")):
        put(bench, subject, "a")

    assert bench.do(ListSubjects(Subject("*", "t"))).names == (":.x:tt", "t")
    assert bench.do(ListSubjects(Subject(".x", ""))).names == (":.x:s", ":.x:tt")
    assert bench.do(ListSubjects(Subject(".", "s"))).names == ("s",)
    assert [version.subject for version in bench.do(ListSchemas(Subject(".", ""))).versions] == ["s", "t"]


def test_what_is_deleted_is_told_as_deleted(bench: Bench) -> None:
    put(bench, S, "a")
    put(bench, S, "a", "b?")
    bench.do(DeleteVersion(S, 1))

    assert bench.do(ListVersions(S, "all")).deleted == (1,)
    assert bench.do(GetVersion(S, 1, deleted=True)).deleted
    assert bench.do(GetSchema(1)).deleted
    assert not bench.do(GetSchema(2)).deleted
    assert (bench.do(GetSchema(1)).subject, bench.do(GetSchema(1)).number) == ("s", 1)
    assert bench.do(Lookup(S, Draft('["a"]', "TOY"), deleted=True)).number == 1
    with pytest.raises(SchemaNotFound):
        bench.do(Lookup(S, Draft('["a"]', "TOY")))
    assert bench.do(UsesOf(1, visible="all")).uses == (("s", 1),)
    assert bench.do(UsesOf(1)).uses == ()


def test_a_named_context_is_not_left(bench: Bench) -> None:
    put(bench, S, "a")

    with pytest.raises(SubjectNotFound):
        bench.do(Lookup(AWAY, Draft('["a"]', "TOY")))
    with pytest.raises(SubjectNotFound):
        bench.do(GetVersion(AWAY, 1))
    with pytest.raises(SchemaNotFound):
        bench.do(GetSchema(1, AWAY))
    put(bench, AWAY, "z")
    assert bench.do(GetSchema(1, AWAY)).text == '["z"]'
    assert bench.do(GetSchema(1, Subject(".", "s"))).text == '["a"]'


def test_the_oldest_outcome_falls_out(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "OUTCOMES", 2)
    for number, name in enumerate("abcd"):
        bench.do(SetConfig(Scope(".", name), Config(level="NONE")), f"command-{number}")

    assert bench.do(GetOutcome("command-3")).sequence == 4
    assert bench.do(GetOutcome("command-2")).sequence == 3
    with pytest.raises(NotFound):
        bench.do(GetOutcome("command-1"))
    assert limits.OUTCOMES > 1_000


def empty_commits(bench: Bench, count: int) -> None:
    """What strict reads and settlements write: commits without rows."""
    for _ in range(count):
        bench.clock += 1
        commit = Commit(bench.position.sequence + 1, ())
        bench.position = make_append(bench.position, bench.clock.to_bytes(16, "big"), (commit,), None).position
        bench.tables.apply((), bench.position)


def write(bench: Bench, name: str) -> int:
    """Write once; return how many outcomes the commit dropped."""
    bench.do(SetConfig(Scope(".", name), Config(level="NONE")), name)
    rows = [decode_row(row) for row in bench.commits[-1].rows]
    return sum(row.table == "outcome" and row.value is None for row in rows)


def remembered(bench: Bench) -> list[str]:
    return sorted(str(key[1]) for key in bench.tables.keys(OUTCOME))


def test_a_command_that_may_be_under_way_has_an_outcome_though_it_changes_nothing(bench: Bench) -> None:
    """Another node may have it too, and would do it again later."""
    bench.do(Register(S, toy("a")), "first")
    same = Register(S, toy("a"))
    for again in (False, True):
        verdict = decide(bench.tables, Command(same, "again", 5, again=again), ToyGrammar())
        assert isinstance(verdict, Decision)
        assert [row.table for row in verdict.rows] == ["outcome"] * again
        bench.apply(verdict.rows)
    bench.do(DeleteSubject(S))
    answer = decide(bench.tables, Command(same, "again", 6), ToyGrammar())
    assert isinstance(answer, Decision)
    assert (answer.rows, answer.answer.created) == ((), False)


def test_outcomes_that_empty_commits_passed_fall_out_with_the_next_commit(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcomes, "OUTCOMES", 4)
    for name in "abc":
        assert write(bench, name) == 0
    empty_commits(bench, 2)
    assert remembered(bench) == ["a", "b", "c"], "an empty commit changes nothing"
    assert write(bench, "d") == 2
    assert remembered(bench) == ["c", "d"]
    assert write(bench, "e") == 1
    assert remembered(bench) == ["d", "e"]


@pytest.mark.parametrize("empty", [2, 6, 30])
def test_outcomes_stay_bounded_however_many_empty_commits_there_are(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, empty: int
) -> None:
    monkeypatch.setattr(outcomes, "OUTCOMES", 20)
    counts = []
    for number in range(120):
        empty_commits(bench, empty)
        write(bench, f"c{number}")
        counts.append(len(remembered(bench)))

    assert max(counts) <= 20 // (empty + 1) + 1


def test_a_commit_drops_the_oldest_outcomes_and_not_too_many(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.OUTCOMES_DROPPED == 64
    monkeypatch.setattr(outcomes, "OUTCOMES", 200)
    for number in range(150):
        write(bench, f"a{number:03}")
    empty_commits(bench, 1_000)

    assert [write(bench, name) for name in "vwxyz"] == [64, 64, 22, 0, 0]
    assert remembered(bench) == ["v", "w", "x", "y", "z"]


REQUEST = request_digest(Register(S, Draft('["a"]', "TOY")))


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome(1, "Subscribed", (("answer", "{}"), ("request", REQUEST))),
        Outcome(1, "Subscribed"),
        Outcome(1, "deleted", (("answer", '{"count":3}'), ("request", REQUEST))),
        Outcome(1, "deleted", (("answer", "treaty-sealed:key:bytes"), ("request", REQUEST))),
        Outcome(1, "registered", (("request", REQUEST), ("subject", "s"))),
        Outcome(1, "registered", (("guid", "g"), ("id", "1"), ("number", "one"), ("ordinal", "0"), ("subject", "s"))),
    ],
    ids=["kind", "kind-alone", "shape", "sealed", "members", "numbers"],
)
def test_an_answer_that_cannot_be_read_is_told_as_done(bench: Bench, outcome: Outcome) -> None:
    bench.position = Position(b"i" * 16, 1, b"d" * 32)
    bench.tables.apply([encode_row(Row("outcome", ("", "theirs"), outcome))], bench.position)
    with pytest.raises(Conflicting, match="was done at sequence 1") as refused:
        put(bench, S, "a", command_id="theirs")
    assert (refused.value.reason.rule, refused.value.reason.old) == ("OUTCOME_UNREADABLE", outcome.kind)
    assert put(bench, S, "a").number == 1, "under another id it is another command"


def test_a_chain_drops_each_outcome_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcomes, "OUTCOMES", 3)
    for name in "abc":
        write(bench, name)
    view, dropped = Overlay(bench.tables), []
    for name in "defgh":
        verdict = decide(view, Command(SetConfig(Scope(".", name), Config(level="NONE")), name, 0), bench.engine)
        assert isinstance(verdict, Decision)
        dropped += [row.key[1] for row in verdict.rows if row.table == "outcome" and row.value is None]
        view.put(verdict.rows)

    assert dropped == ["a", "b", "c", "d", "e"]


def test_a_repeated_registration_is_told_even_after_its_version_has_gone(bench: Bench) -> None:
    request = Register(S, Draft('["a"]', "TOY"))
    answer = bench.do(request, "once")
    bench.do(DeleteSubject(S))
    assert bench.do(request, "once") == answer
    bench.do(DeleteSubject(S, permanent=True))
    again = bench.do(request, "once")

    assert again.version == replace(answer.version, text="", format="", time=0)


R = Rule("r", type="CEL", mode="WRITE")


def test_rules_are_merged_by_name_and_metadata_by_member() -> None:
    under = RuleSet(domain=(R, Rule("s", type="CEL")), enable_at="then")
    over = RuleSet(domain=(replace(R, expr="1"),))
    config = Config(default_rules=under, override_rules=RuleSet(enable_at="now"))

    assert rules_for(over, None, config) == RuleSet(
        domain=(Rule("s", type="CEL"), replace(R, expr="1")), enable_at="now"
    )
    assert rules_for(None, over, Config()) == over
    assert rules_for(None, None, Config(default_rules=under)) == under
    metadata = Metadata((("a", ("PII",)),), (("k", "1"),), ("k",))
    assert metadata_for(None, metadata, Config(default_metadata=Metadata(properties=(("d", "2"),)))) == Metadata(
        (("a", ("PII",)),), (("d", "2"), ("k", "1")), ("k",)
    )
    assert metadata_for(None, None, Config(override_metadata=metadata)) == metadata
    assert metadata_for(Metadata(), metadata, Config()) == Metadata()


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (RuleSet(domain=(replace(R, on_success="NONE,ERROR"),)), "Multiple actions"),
        (RuleSet(domain=(replace(R, mode="UPGRADE"),)), "Domain rules"),
        (RuleSet(migration=(replace(R, mode="WRITE"),)), "Migration rules"),
        (RuleSet(encoding=(replace(R, mode="UPDOWN"),)), "Encoding rules"),
        (RuleSet(domain=(R,), migration=(replace(R, mode="UPDOWN"),)), "duplicate"),
        (RuleSet(domain=(replace(R, type=""),)), "rule type"),
        (RuleSet(domain=(replace(R, name="x" * 300),)), "too long"),
        (RuleSet(domain=(replace(R, name="a b"),)), "Illegal character"),
        (RuleSet(domain=(replace(R, name=""),)), "Missing rule name"),
        (RuleSet(domain=(R,) * 300), "More than"),
    ],
    ids=["actions", "domain", "migration", "encoding", "duplicate", "type", "long", "character", "name", "many"],
)
def test_rules_for_rule_sets(rules: RuleSet, words: str) -> None:
    with pytest.raises(InvalidRules, match=words):
        refuse_bad_rules(rules)


def test_good_rule_sets_pass() -> None:
    refuse_bad_rules(None)
    refuse_bad_rules(RuleSet(domain=(replace(R, mode="WRITEREAD", on_failure="NONE,DLQ"),), migration=()))

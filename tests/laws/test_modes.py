"""Modes: which commands each of them refuses, at each scope at which it can be set."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from tests.laws.holder import ALL
from tests.laws.timed import TimedBench
from tests.laws.toy import toy
from treaty.core.command import Decision
from treaty.core.handlers.registration.state import NEXT
from treaty.core.handlers.settings import MODES
from treaty.core.messages import associations as t
from treaty.core.messages import groups as g
from treaty.core.messages import transfers as x
from treaty.core.messages.contexts import DeleteContext, MakeContext
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.scripts import RunScript, ScriptMember
from treaty.core.messages.registration import Derive, ForceReason, Register
from treaty.core.messages.request import Request
from treaty.core.messages.schemaver import DeletePublished, Publish, PutDraft
from treaty.core.messages.settings import Config, DeleteConfig, DeleteMode, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.operations import OPERATIONS
from treaty.core.policy import Level
from treaty.core.refusals import Refusal
from treaty.core.schema import Draft, Metadata, Rule, RuleSet
from treaty.core.sources import SourceColumn, SourcePart

S, X = Subject(".", "v/n/toy"), Scope(".x")
SCOPES = {"a subject": Scope(*S), "its context": Scope(S.context), "another context": X, "everything": Scope("*")}
TOPIC = t.Resource("t", "ns", "id-t")
WEAK, STRONG = t.AssociationSpec(subject=S, lifecycle="WEAK"), t.AssociationSpec(subject=S, lifecycle="STRONG")
SETTINGS = g.GroupSettings("treaty")
PUBLISHED = Publish(S, "1-0-0", toy("a"))
FIRST, SECOND = Register(S, toy("a")), Register(S, toy("a", "b?"))
SOURCE = m.CreateSource(
    m.SourceDefinition(
        "s", "STREAM", "", (SourceColumn("a", "INT"),), value=SourcePart("AVRO", "prefix"), connector="kafka", place="s"
    ),
    value_schema=SECOND,
)


def changed(op: Any, wish: t.AssociationSpec, *, cascade: bool = False) -> t.ChangeAssociations:
    return t.ChangeAssociations((t.ResourceChange(TOPIC, (t.AssociationChange(op, wish, cascade),)),))


Case = tuple[tuple[Request[Any], ...], Request[Any]]
CHANGES: dict[str, Case] = {
    "a subject": ((), FIRST),
    "a version": ((FIRST,), SECOND),
    "a name of a version that is there": ((FIRST,), replace(FIRST, names=(("x", "n"),))),
    "a version from another": ((FIRST,), Derive(S, 1, metadata=Metadata(properties=(("a", "b"),)))),
    "a softly deleted version": ((FIRST, SECOND), DeleteVersion(S, 1)),
    "a deleted version": ((FIRST, SECOND, DeleteVersion(S, 1)), DeleteVersion(S, 1, permanent=True)),
    "a softly deleted subject": ((FIRST,), DeleteSubject(S)),
    "a deleted subject": ((FIRST, DeleteSubject(S)), DeleteSubject(S, permanent=True)),
    "a deleted ordinal": ((FIRST, SECOND), g.DeleteOrdinal(S, 0)),
    "a subject without versions": ((), g.CreateSubject(S, SETTINGS)),
    "another level": ((FIRST,), g.ChangeSubject(S, level=Level())),
    "other properties": ((FIRST,), g.ChangeSubject(S, properties=(("a", "b"),))),
    "a subject that is removed": ((FIRST,), g.RemoveSubject(S)),
    "a codec": ((FIRST,), AddCodec(S, CodecType("gzip"))),
    "an encoding": ((FIRST,), AssignEncoding(S, 0)),
    "a config": ((FIRST,), SetConfig(Scope(*S), Config(level="FULL"))),
    "a config that is gone": ((FIRST, SetConfig(Scope(*S), Config(level="FULL"))), DeleteConfig(Scope(*S))),
    "a publication": ((), PUBLISHED),
    "a patch": ((PUBLISHED,), Publish(S, "1-0-0", toy("a", "b?"), patch=True)),
    "a publication that is deleted": ((PUBLISHED,), DeletePublished(S, "1-0-0")),
    "a draft": ((), PutDraft(S, 1, "[]")),
    "an association": ((FIRST,), t.Associate(TOPIC, (WEAK,))),
    "a schema for a topic": ((FIRST,), t.Associate(TOPIC, (replace(WEAK, schema=SECOND),))),
    "another lifecycle": ((FIRST, t.Associate(TOPIC, (WEAK,))), t.Associate(TOPIC, (STRONG,), update=True)),
    "an association that is gone": ((FIRST, t.Associate(TOPIC, (WEAK,))), t.Dissociate(TOPIC.id)),
    "a strong association that is gone": ((FIRST, t.Associate(TOPIC, (STRONG,))), t.Dissociate(TOPIC.id)),
    "a topic with its subject": ((FIRST, t.Associate(TOPIC, (STRONG,))), t.Dissociate(TOPIC.id, cascade=True)),
    "a batch with an association": ((FIRST,), changed("CREATE", WEAK)),
    "a batch without one": ((FIRST, t.Associate(TOPIC, (WEAK,))), changed("DELETE", t.AssociationSpec())),
    "a batch without a subject": (
        (FIRST, t.Associate(TOPIC, (STRONG,))), changed("DELETE", t.AssociationSpec(), cascade=True),
    ),
    "a source with a schema": ((FIRST,), SOURCE),
    "a script with a schema": ((FIRST,), RunScript((ScriptMember(SOURCE),))),
}  # fmt: skip
"""What was done before, and a change of a subject."""
FAR = Subject(X.context, "s")
EMPTIED = (Register(FAR, toy("a")), DeleteSubject(FAR), DeleteSubject(FAR, permanent=True))
OF_CONTEXTS: dict[str, Case] = {
    "a context that is gone": (EMPTIED, DeleteContext(X.context)),
    "a config of a context": ((), SetConfig(X, Config(level="FULL"))),
    "a config of a context that is gone": ((SetConfig(X, Config(level="FULL")),), DeleteConfig(X)),
}  # fmt: skip
"""Changes of a context, which the mode of a subject does not refuse."""
PASSING = {
    SetMode, DeleteMode, MakeContext,  # the mode itself, and what holds subjects
    x.ImportSubject, x.ImportVersion, x.ImportEncoding,  # which want a mode of their own
}  # fmt: skip
"""Commands about a subject or a context that READONLY does not refuse by itself."""
ELSEWHERE = ("policies", "api_keys", "metastore")
"""Modules of messages that are about no subject."""


def refusal_under(mode: str, at: Scope, before: Iterable[Request[Any]], request: Request[Any]) -> str:
    """What a mode says to a command, or to the entry of its batch; empty where rows are written."""
    bench = TimedBench()
    for earlier in before:
        bench.do(earlier)
    bench.do(SetMode(at, mode, force=True))
    refusal = refusal_of(bench, request)
    bench.access = ALL
    assert refusal_of(bench, request) == refusal, "rights change nothing"
    return refusal


def refusal_of(bench: TimedBench, request: Request[Any]) -> str:
    verdict = bench.verdict(request, "asked")
    if isinstance(verdict, Refusal):
        return verdict.reason.message
    assert isinstance(verdict, Decision)
    results = verdict.answer.results if isinstance(verdict.answer, t.AssociationResults) else ()
    refused = [entry.refused.reason.message for entry in results if entry.refused is not None]
    return "".join(refused) if refused or verdict.rows else "nothing is written"


def test_every_command_about_a_subject_is_in_the_table() -> None:
    """Those of a list of commands too: a new one is looked at under each mode."""
    tried = {type(request) for _, request in (*CHANGES.values(), *OF_CONTEXTS.values())}
    declared = {operation.request for operation in OPERATIONS.values() if operation.writes}
    about_subjects = {kind for kind in declared if not any(f".{part}" in kind.__module__ for part in ELSEWHERE)}
    assert about_subjects - PASSING <= tried
    assert not tried & PASSING


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("at", SCOPES)
def test_a_mode_that_only_reads_refuses_every_change_of_its_scope(mode: str, at: str) -> None:
    """The others refuse none for that; under IMPORT and FORWARD a change may lack the ids that a sender gives."""
    if mode == "FORWARD" and at != "everything":
        return
    cases = {"a subject": CHANGES, "its context": CHANGES, "another context": OF_CONTEXTS}.get(
        at, CHANGES | OF_CONTEXTS
    )
    refusals = {what: refusal_under(mode, SCOPES[at], *case) for what, case in cases.items()}
    if mode == "READWRITE":
        assert {*refusals.values()} == {""}, refusals
    else:
        refused = {what for what, refusal in refusals.items() if refusal.endswith("is in read-only mode")}
        assert refused == ({*cases} if mode.startswith("READONLY") else set()), {*cases} ^ refused


@pytest.mark.parametrize("mode", ["READONLY", "READONLY_OVERRIDE"])
@pytest.mark.parametrize("at", [Scope(S.context, "another"), Scope(".other")], ids=["subject", "context"])
def test_a_mode_elsewhere_refuses_nothing(mode: str, at: Scope) -> None:
    refusals = {what: refusal_under(mode, at, *case) for what, case in (CHANGES | OF_CONTEXTS).items()}
    assert {*refusals.values()} == {""}, refusals


@pytest.mark.parametrize("mode", ["READONLY", "READONLY_OVERRIDE"])
def test_the_mode_of_a_subject_counts_before_that_of_its_context(mode: str) -> None:
    own, context = SetMode(Scope(*S), "READWRITE"), Scope(S.context)
    refusals = {
        what: refusal_under(mode, context, (*before, own), request) for what, (before, request) in CHANGES.items()
    }
    assert {*refusals.values()} == {""}, refusals


GIVEN: dict[str, Case] = {
    "an id": ((), Register(S, toy("a"), schema_id=90)),
    "an id and a number": ((FIRST,), Register(S, toy("a", "b?"), schema_id=90, number=7)),
    "an imported subject": ((), x.ImportSubject(S, SETTINGS)),
    "an imported version": ((FIRST,), x.ImportVersion(S, toy("b?"), 4, 9)),
    "a version that is there, superseded": ((FIRST, SECOND), x.ImportVersion(S, toy("a"), 0, 1, superseded_by=1)),
    "numbers of a subject that is there": ((FIRST,), x.ImportSubject(S, SETTINGS, x.HighestNumbers(9))),
    "an imported encoding": ((FIRST,), x.ImportEncoding(S, 3, 0)),
    "an imported association": (
        (FIRST,), t.Associate(TOPIC, (replace(WEAK, given=t.ImportedAssociation(f"{1:032x}")),)),
    ),
}  # fmt: skip
"""Commands whose sender gives what the registry counts up otherwise."""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("at", ["a subject", "its context", "everything"])
def test_ids_are_given_in_the_modes_for_that_alone(mode: str, at: str) -> None:
    if mode == "FORWARD" and at != "everything":
        return
    refusals = {what: refusal_under(mode, SCOPES[at], *case) for what, case in GIVEN.items()}
    taken = {what for what, refusal in refusals.items() if refusal == ""}
    assert taken == ({*GIVEN} if mode in {"IMPORT", "FORWARD"} else set()), refusals


NAMED = Register(S, toy("a"), names=(("n", "1"),))
RENAMED = Register(S, toy("a"), names=(("n", "2"),))
OTHER_METADATA = Metadata(properties=(("a", "b"),))
COMPLETED = SetConfig(Scope(*S), Config(default_metadata=OTHER_METADATA))
NOTHING_NEW: dict[str, Case] = {
    "the latest version": ((FIRST,), FIRST),
    "an older version": ((FIRST, SECOND), FIRST),
    "a name that it has": ((NAMED,), NAMED),
    "one of its names": ((NAMED, RENAMED), NAMED),
    "no name": ((NAMED,), FIRST),
    "a reason to force it": ((FIRST,), replace(FIRST, force=ForceReason("a", "b"))),
    "properties that it lacks": ((FIRST,), replace(FIRST, properties=(("a", "b"),))),
    "a subject that is there": ((FIRST,), replace(FIRST, require_subject=True)),
    "an imported version": ((FIRST,), x.ImportVersion(S, toy("a"), 0, 1)),
    "an imported subject": ((FIRST,), x.ImportSubject(S, SETTINGS)),
    "a source over it": ((SECOND, SOURCE), replace(SOURCE, if_not_exists=True)),
}  # fmt: skip
"""Registrations after which all is as before."""
SOMETHING_NEW: dict[str, Case] = {
    "a name": ((FIRST,), NAMED),
    "a name of an older version": ((FIRST, SECOND), NAMED),
    "another name of the scheme": ((NAMED,), RENAMED),
    "a name beside one that it has": ((NAMED,), replace(NAMED, names=(("m", "1"), ("n", "1")))),
    "a name of the latest, which it is to be": ((FIRST,), replace(NAMED, number=NEXT)),
    "a name where the config completes": ((COMPLETED, FIRST), NAMED),
    "a name by force": ((FIRST,), replace(NAMED, force=ForceReason("a", "b"))),
    "a softly deleted version": ((FIRST, SECOND, DeleteVersion(S, 1)), FIRST),
    "the only version, softly deleted": ((FIRST, DeleteVersion(S, 1)), FIRST),
    "a softly deleted subject": ((FIRST, DeleteSubject(S)), FIRST),
    "a hidden version": ((FIRST, SECOND, g.DeleteOrdinal(S, 0)), FIRST),
    "an older version as the latest": ((FIRST, SECOND), replace(FIRST, number=NEXT)),
    "metadata": ((FIRST,), Register(S, toy("a", metadata=OTHER_METADATA))),
    "metadata alone": ((FIRST,), Register(S, Draft("", "TOY", metadata=OTHER_METADATA))),
    "rules": ((FIRST,), Register(S, toy("a", rules=RuleSet(domain=(Rule("r", type="T"),))))),
    "a copy with metadata": ((FIRST,), Derive(S, 1, metadata=OTHER_METADATA)),
}  # fmt: skip
"""Registrations of a schema that the subject has, which write rows all the same."""
STANDINGS = ("in read-only mode", "not in import mode", "not in read-write mode")
"""The endings of what a mode says to a registration."""


def standing_under(mode: str, at: Scope, case: Case) -> str:
    """What a mode says to a registration, with the id that its schema has or without one; empty where it says nothing."""
    refusal = refusal_under(mode, at, *case)
    return next((standing for standing in STANDINGS if refusal.endswith(standing)), "")


def with_id(case: Case) -> Case:
    """The same case; its registration gives the id of the first schema, which is that of `FIRST` in all of them."""
    before, request = case
    return before, replace(request, schema_id=1) if isinstance(request, Register) else request


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("at", ["a subject", "its context", "everything"])
def test_a_registration_that_changes_nothing_is_answered_in_every_mode(mode: str, at: str) -> None:
    if mode == "FORWARD" and at != "everything":
        return
    for cases in (NOTHING_NEW, {what: with_id(case) for what, case in NOTHING_NEW.items()}):
        refusals = {what: refusal_under(mode, SCOPES[at], *case) for what, case in cases.items()}
        assert {*refusals.values()} == {"nothing is written"}, refusals


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("at", ["a subject", "its context", "everything"])
def test_a_schema_that_is_there_is_changed_only_where_the_mode_lets_a_new_one_in(mode: str, at: str) -> None:
    """Without an id in the modes that count ids up, with one in the modes in which the sender gives it."""
    if mode == "FORWARD" and at != "everything":
        return
    expected = "in read-only mode" if mode.startswith("READONLY") else ""
    importing = mode in {"IMPORT", "FORWARD"}
    standings = {what: standing_under(mode, SCOPES[at], case) for what, case in SOMETHING_NEW.items()}
    assert {*standings.values()} == {expected or ("not in read-write mode" if importing else "")}, standings
    given = {what: with_id(case) for what, case in SOMETHING_NEW.items() if isinstance(case[1], Register)}
    standings = {what: standing_under(mode, SCOPES[at], case) for what, case in given.items()}
    assert {*standings.values()} == {expected or ("" if importing else "not in import mode")}, standings

"""What is promoted keeps all that it says of itself, whatever is promoted beside it, and a target is asked as each subject needs."""

from dataclasses import replace
from typing import Any

import pytest

from tests.laws.test_group_transfers import CLICK, filled
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.promotion import PromotionResult, promote, promotion
from treaty.core.messages import encodings as e
from treaty.core.messages import groups as g
from treaty.core.messages import schemaver as s
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.messages.transfers import ExportSubjects, ExportVersions, HighestNumbers
from treaty.core.messages.versions import GetVersion
from treaty.core.names import Subject
from treaty.core.refusals import NotOffered, SubjectNotFound
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet

VIEW = Subject(".", "com.acme/view/jsonschema")
ONE, TWO = Subject(".", "one"), Subject(".", "two")


def carry(source: Connection, target: Connection, *subjects: Subject, dry_run: bool = False) -> PromotionResult:
    plan = promotion(source, subjects, ".", ".", every=True)
    with connect("memory:") as rehearsal:
        return promote(plan, target, rehearsal, dry_run=dry_run)


def text(name: str) -> Draft:
    return Draft(f'{{"title":"{name}"}}', "JSON")


def publish(subject: Subject, label: str, *supersedes: str) -> s.Publish:
    return s.Publish(subject, label, text(f"{subject.name} {label}"), supersedes=supersedes)


def labels_of(registry: Connection, subject: Subject) -> dict[str, tuple[str, str]]:
    """The text of each label, and the label that supersedes it."""
    vendor, name, _ = subject.name.split("/")
    schemas = registry.ask(s.ListPublished(vendor, name)).answer.schemas
    return {one.label: (one.version.text, one.superseded_by) for one in schemas}


@pytest.mark.parametrize("subjects", [(CLICK, VIEW), (VIEW, CLICK)], ids=["one first", "the other first"])
def test_a_label_is_superseded_by_one_of_its_own_family(subjects: tuple[Subject, Subject]) -> None:
    script: list[Request[Any]] = [publish(one, label) for one in subjects for label in ("1-0-0", "1-0-1")]
    script += [publish(CLICK, "1-0-2", "1-0-0"), publish(VIEW, "1-0-2", "1-0-1")]
    script += [g.ChangeSubject(CLICK, label_policy="ignore")]
    with filled(script) as source, connect("memory:") as target:
        assert carry(source, target, *subjects).problems == ()
        for one in subjects:
            assert labels_of(target, one) == labels_of(source, one)
            assert target.group(one.name).label_policy == source.group(one.name).label_policy


FULL = Draft(
    '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}',
    metadata=Metadata(properties=(("owner", "ada"),)),
    rules=RuleSet(domain=(Rule("named", "CONDITION", "WRITE", "CEL", expr="true"),)),
)
MEMBERS: dict[str, dict[str, Any]] = {
    "metadata": {"draft": replace(FULL, rules=None)},
    "rules": {"draft": replace(FULL, metadata=None)},
    "properties": {"draft": text("a"), "properties": (("p", "1"),)},
    "names": {"draft": text("a"), "names": (("own", "first"), ("other", "second"))},
    "a type and bytes": {"draft": Draft('{ "type": "object" }', "JSON", type_name="other")},
    "imports": {
        "draft": Draft(
            'syntax = "proto3"; import "k.proto"; message M { K k = 1; }',
            "PROTOBUF",
            imports=(("k.proto", 'syntax = "proto3"; message K {}'),),
        )
    },
}
"""By name: a registration with a member of its version."""


def tell(registry: Connection, subject: Subject) -> Any:
    """All that a registry says of a subject and its versions, but for ids and times."""
    groups = registry.ask(ExportSubjects(subject)).answer.subjects
    versions = registry.ask(ExportVersions(subject)).answer.versions
    return [replace(one, highest=HighestNumbers()) for one in groups if one.subject == str(subject)], [
        (one.names, one.state, replace(one.version, schema_id=0, time=0, guid=""))
        for one in versions
        if one.version.subject == str(subject)
    ]


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("origin", ["pravega", "treaty"])
def test_a_promoted_version_says_of_itself_what_the_first_one_said(origin: str, member: str) -> None:
    codecs = [e.AddCodec(ONE, e.CodecType(name, (("level", "9"),))) for name in ("gzip", "own")]
    script = [
        g.CreateSubject(ONE, g.GroupSettings(origin, "many", identity="exact")),
        *codecs,
        Register(ONE, **MEMBERS[member]),
    ]
    with filled(script) as source, connect("memory:") as target:
        assert carry(source, target, ONE).problems == ()
        assert tell(target, ONE) == tell(source, ONE)


@pytest.mark.parametrize("order", [(ONE, TWO), (TWO, ONE)], ids=["the new one first", "the new one last"])
def test_a_subject_without_a_policy_beside_another_changes_nothing_for_it(order: tuple[Subject, Subject]) -> None:
    """One is created by the policy of its origin; the other has one in the target, which refuses it before anything is written."""
    free = g.GroupSettings("schema-repo", policy=Config(level="NONE"))
    script: list[Request[Any]] = [
        g.CreateSubject(ONE, free),
        *(Register(ONE, Draft(one)) for one in ('"int"', '"string"')),
    ]
    script += [Register(TWO, Draft('"string"'))]
    there: list[Request[Any]] = [Register(TWO, Draft('"int"')), SetConfig(Scope(*TWO), Config(level="FULL"))]
    with filled(script) as source, filled(there) as target:
        before = target.subjects()
        for dry_run in (True, False):
            done = carry(source, target, *order, dry_run=dry_run)
            assert [one.where for one in done.problems] == ["two version 1"]
            assert [step.target for step, _ in done.steps] == ([ONE, ONE] if order[0] == ONE else [])
            assert target.subjects() == before
        assert done.refused is not None
        target.ask(SetConfig(Scope(*TWO), Config(level="NONE")))
        assert carry(source, target, *order).problems == ()
        assert target.versions("one") == (1, 2)


class Plain:
    """A registry without groups."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        if isinstance(request, ExportSubjects | ExportVersions):
            raise NotOffered("it has no groups")
        return self.inner.ask(request, call)

    def close(self) -> None:
        """Leave the registry open."""


@pytest.mark.parametrize("member", ["metadata", "rules"])
def test_a_version_of_a_registry_without_groups_keeps_what_it_says(member: str) -> None:
    with filled([Register(ONE, **MEMBERS[member])]) as source, connect("memory:") as target:
        assert carry(Connection(Plain(source)), target, ONE).problems == ()
        before, after = source.version("one"), target.version("one")
        assert (after.text, after.metadata, after.rules) == (before.text, before.metadata, before.rules)
        assert getattr(after, member) is not None


@pytest.mark.parametrize("context", [".prod", ".shared"])
def test_a_reference_out_of_its_context_is_rehearsed_with_what_it_leads_to(context: str) -> None:
    """Also into the context that the versions go to."""
    part = Draft('{"$id":"part.json"}', "JSON")
    whole = Draft('{"$ref":"part.json"}', "JSON", (Reference("part.json", f":{context}:part", 1),))
    script: list[Request[Any]] = [Register(Subject(context, "part"), part), Register(Subject(".dev", "one"), whole)]
    with filled(script) as registry, connect("memory:") as rehearsal:
        plan = promotion(registry, [Subject(".dev", "one")], ".dev", ".prod")
        assert promote(plan, registry, rehearsal).problems == ()
        assert registry.version(":.prod:one").references == whole.references


class Wide:
    """A registry that knows nothing of `exact`: it answers with the subject of a name in another context."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        return self.inner.ask(replace(request, exact=False) if isinstance(request, GetVersion) else request, call)

    def close(self) -> None:
        """Leave the registry open."""


@pytest.mark.parametrize("wide", [False, True])
def test_a_subject_of_another_context_is_not_promoted_in_place_of_one(*, wide: bool) -> None:
    with filled([Register(Subject(".x", "one"), Draft('"int"'))]) as source, pytest.raises(SubjectNotFound):
        promotion(Wide(source) if wide else source, [ONE], ".", ".prod")


@pytest.mark.parametrize("number", [1, 2])
def test_a_label_refers_to_what_it_referred_to(number: int) -> None:
    """The target counts the versions that it refers to anew, behind another one; a second run finds the label there."""
    drafts = [Draft(f'{{"$id":"part.json","maxLength":{at}}}', "JSON") for at in (1, 2)]
    whole = Draft('{"$ref":"part.json"}', "JSON", (Reference("part.json", "one", number),))
    free: list[Request[Any]] = [SetConfig(Scope("."), Config(level="NONE"))]
    script = [*free, *(Register(ONE, draft) for draft in drafts), s.Publish(CLICK, "1-0-0", whole)]
    with filled(script) as source, filled([*free, Register(ONE, text("own"))]) as target:
        for created in (True, False):
            done = carry(source, target, CLICK)
            assert done.problems == ()
            assert [one.created for _, one in done.steps] == [created, created]
        (published,) = target.ask(s.ListPublished("com.acme", "click")).answer.schemas
        assert published.version.references == (Reference("part.json", "one", 2),)
        assert target.version("one", 2).text == source.version("one", number).text

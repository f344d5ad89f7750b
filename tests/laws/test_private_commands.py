"""Commands that would reach a private subject: its topics, dry runs, and what others hear of it."""

from dataclasses import replace
from typing import Any

import pytest

from tests.laws.private_bench import ADMIN, NICK, OUTER, RECORD, USED, USER, private_bench, verdict
from tests.laws.toy import Bench
from treaty.core.access.private_subjects import OWNED, PublicView, subject_of_row
from treaty.core.access.rights import Access
from treaty.core.command import Decision
from treaty.core.invariants import find_violations
from treaty.core.messages.associations import (
    Associate,
    AssociationChange,
    AssociationSpec,
    ChangeAssociations,
    Dissociate,
    Resource,
    ResourceChange,
)
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType
from treaty.core.messages.metastore.scripts import PreviewScript, RunScript, ScriptMember
from treaty.core.messages.metastore.sources import CreateSource, SourceDefinition
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.schemaver import Publish
from treaty.core.messages.settings import Scope, SetMode
from treaty.core.names import Subject
from treaty.core.refusals import AssociationNotFound, Forbidden, InvalidAssociation, NoLiveVersion, ResourceAssociated
from treaty.core.schema import Draft, Reference
from treaty.core.sources import SourceColumn, SourcePart
from treaty.core.state import state_tables as t
from treaty.core.state.association_table import ASSOCIATION

TOPIC = Resource("topic", "cluster", "id")
OF_DECISIONS = {
    t.VERSION_BY_SCHEMA, t.VERSION_BY_CONTENT, t.VERSION_BY_IDENTITY, t.SUBJECT_PRIVATE, t.CONFIG_BY_ALIAS, t.CONFIG_BY_POLICY,
    *ASSOCIATION.indexes,
}  # fmt: skip
"""Indexes that decisions see whole: by content and id, who uses what, and which topics are bound. What they name is hidden when its
row is read; of an association the command tells that it is there."""


@pytest.fixture
def bench() -> Bench:
    return private_bench()


def everything() -> Access:
    """The access of ADMIN that means private subjects too."""
    return Access((replace(ADMIN.rules[0], private=True),))


def test_every_index_that_names_a_subject_hides_a_private_one_from_commands(bench: Bench) -> None:
    far = Subject(".x", "p/far/avro")
    bench.do(Register(far, RECORD, create_with=SubjectCreation(private=True)))
    bench.do(AddCodec(USER, CodecType("gzip")))
    bench.do(AssignEncoding(USER, 0, "gzip"))
    refers = Draft(OUTER, "AVRO", (Reference("R", USED.name, 1),))
    bench.do(Publish(USER, "1-0-1", refers, supersedes=("1-0-0",)))
    bench.do(Associate(TOPIC, (AssociationSpec(subject=USER),)))
    view = PublicView(bench.tables, ADMIN)
    compared = set()
    for table in t.TABLES.values():
        for index in set(table.indexes) - OF_DECISIONS:
            for key in bench.tables.keys(table):
                if subject_of_row(table, key) not in {USER, far}:
                    continue
                for entry in index.entries(key, bench.tables.get(table, key)):
                    if index.key_of is None:  # others are walked only
                        assert key in set(bench.tables.find(index, entry))
                        assert key not in set(view.find(index, entry))
                    if index.ordered:
                        assert entry in set(bench.tables.walk(index, entry, (*entry, "")))
                        assert entry not in set(view.walk(index, entry, (*entry, "")))
                    compared.add(index)
    named = {index for table in (*OWNED, t.COUNTER) for index in table.indexes}
    assert compared == named - OF_DECISIONS


def test_a_resource_is_bound_to_a_private_subject_as_to_one_that_never_was(bench: Bench) -> None:
    refusals = [verdict(bench, Associate(TOPIC, (AssociationSpec(subject=subject),))) for subject in (USER, NICK)]
    assert [type(refusal) for refusal in refusals] == [NoLiveVersion, NoLiveVersion]
    texts = [
        refusal.reason.message.replace(subject.name, "")
        for refusal, subject in zip(refusals, (USER, NICK), strict=True)
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("dry_run", [False, True])
def test_a_dry_run_is_refused_where_its_command_would_reach_a_private_subject(bench: Bench, *, dry_run: bool) -> None:
    """A dry run answered as if the subject were new, and the command itself was then refused."""
    bench.do(Register(NICK, RECORD, create_with=SubjectCreation(private=True)))
    schema = Register(NICK, RECORD)
    associate = Associate(TOPIC, (AssociationSpec(subject=NICK, schema=schema),), dry_run=dry_run)
    change = ResourceChange(TOPIC, (AssociationChange("CREATE", AssociationSpec(subject=NICK, schema=schema)),))
    columns = (SourceColumn("a", "INT"),)
    value = SourcePart("AVRO", "prefix")
    create = CreateSource(
        SourceDefinition("s", "STREAM", "CREATE", columns, value=value, connector="kafka", place="s"),
        value_schema=schema,
    )
    for request in (
        associate,
        ChangeAssociations((change,), dry_run=dry_run),
        replace(create, dry_run=dry_run),
        RunScript((ScriptMember(create),), dry_run=dry_run),
    ):
        assert isinstance(verdict(bench, request), Forbidden), request
        assert isinstance(verdict(bench, request, everything()), Decision), request


def test_a_topic_of_a_private_subject_gets_no_second_one_and_is_not_taken_from_it(bench: Bench) -> None:
    bench.do(Register(NICK, RECORD))
    bench.do(Associate(TOPIC, (AssociationSpec(subject=USER),)))
    for update in (False, True):
        refusal = verdict(bench, Associate(TOPIC, (AssociationSpec(subject=NICK),), update=update))
        assert isinstance(refusal, InvalidAssociation if update else ResourceAssociated)
        assert USER.name not in f"{refusal.reason}"
    assert isinstance(verdict(bench, Dissociate(TOPIC.id)), AssociationNotFound)
    assert not [*find_violations(bench.tables)]
    assert isinstance(verdict(bench, Dissociate(TOPIC.id), everything()), Decision)


@pytest.mark.parametrize("update", [False, True])
@pytest.mark.parametrize("lifecycle", ["WEAK", "STRONG"])
def test_who_guesses_the_private_subject_of_a_topic_hears_what_any_guess_hears(
    bench: Bench, lifecycle: str, *, update: bool
) -> None:
    bench.do(Register(NICK, RECORD))
    bench.do(Associate(TOPIC, (AssociationSpec("value", USER, lifecycle),)))

    def hear(resource: Resource, **wish: Any) -> set[tuple[type, str]]:
        heard = set()
        for subject in (USER, NICK, Subject(".", "never")) if resource == TOPIC else (USER, Subject(".", "never")):
            request = Associate(resource, (AssociationSpec("value", subject, **wish),), update=update)
            refusal = verdict(bench, request)
            heard.add((type(refusal), refusal.reason.rule))
        return heard

    for wish in ({}, {"lifecycle": "STRONG"}, {"frozen": True}, {"schema": Register(USER, RECORD)}):
        assert len(hear(TOPIC, **wish)) == 1, wish
    for wish in ({}, {"lifecycle": "STRONG"}):
        assert hear(Resource("other", "cluster", "id-2"), **wish) == {(NoLiveVersion, "NO_LIVE_VERSION")}


def test_a_dry_run_without_an_id_hears_no_id_of_a_topic_whose_subjects_are_private(bench: Bench) -> None:
    bench.do(Register(NICK, RECORD))
    bench.do(Associate(TOPIC, (AssociationSpec("value", USER),)))
    request = Associate(replace(TOPIC, id=""), (AssociationSpec("key", NICK),), dry_run=True)
    assert [verdict(bench, request, access).answer.resource.id for access in (ADMIN, everything())] == ["", TOPIC.id]


def test_the_guid_of_a_private_schema_is_not_said_by_a_registration_among_others(bench: Bench) -> None:
    bench.do(SetMode(Scope(*NICK), "IMPORT"))
    for request in (
        Register(NICK, RECORD, schema_id=2),
        Associate(TOPIC, (AssociationSpec("value", NICK, schema=Register(NICK, RECORD, schema_id=2)),)),
    ):
        refusals = [verdict(bench, request, access) for access in (ADMIN, everything())]
        assert [refusal.reason.rule for refusal in refusals] == ["ID_TAKEN", "ID_TAKEN"]
        assert [bool(refusal.reason.old) for refusal in refusals] == [False, True]


def test_a_preview_makes_no_private_subject_that_its_sender_may_not_read(bench: Bench) -> None:
    schema = Register(Subject(".", "new"), RECORD, create_with=SubjectCreation(private=True))
    value = SourcePart("AVRO", "prefix")
    defined = SourceDefinition(
        "s", "STREAM", "CREATE", (SourceColumn("a", "INT"),), value=value, connector="kafka", place="s"
    )
    members = (ScriptMember(CreateSource(defined, value_schema=schema)),)
    for request in (PreviewScript(members), RunScript(members), RunScript(members, dry_run=True)):
        assert isinstance(verdict(bench, request), Forbidden), request
        assert isinstance(verdict(bench, request, everything()), Decision), request

"""Associations as laws: what may be bound, changed and deleted, and every way in which the law says no."""

import pytest

from tests.laws.tied import NEXT, TOPIC, listed, made, refused, schema, strong, weak
from tests.laws.toy import OTHER, Bench, S, toy
from treaty.core import refusals as r
from treaty.core.invariants import find_violations
from treaty.core.limits import ASSOCIATIONS_PER_RESOURCE, ASSOCIATIONS_PER_SUBJECT
from treaty.core.messages import associations as t
from treaty.core.messages.contexts import ListContexts
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.metastore.sources import CreateSource, SourceDefinition
from treaty.core.messages.names import GetPin
from treaty.core.messages.registration import Register
from treaty.core.messages.request import LATEST
from treaty.core.messages.settings import GetMode, Scope, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.schema import Reference
from treaty.core.sources import SchemaPin, SourceColumn, SourcePart
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.values import Association


@pytest.fixture
def bench() -> Bench:
    return made()


# ---------------------------------------------------------------------------------------------------------- binding


def test_schemas_and_associations_are_one_commit() -> None:
    bench = Bench()
    wishes = (
        t.AssociationSpec("key", S, schema=schema("k")),
        t.AssociationSpec("value", OTHER, "STRONG", schema=schema("v")),
    )
    done = bench.do(t.Associate(TOPIC, wishes))

    assert len(bench.commits) == 1
    assert [
        (association.subject, association.lifecycle, association.schema and association.schema.text)
        for association in done.bound
    ] == [("s", "WEAK", '["k"]'), ("other", "STRONG", '["v"]')]
    assert listed(bench) == [("key", "s", "WEAK"), ("value", "other", "STRONG")]
    assert bench.do(ListSubjects()).names == ("other", "s")


def test_what_is_refused_in_the_end_leaves_nothing_of_the_beginning() -> None:
    bench = Bench()
    wishes = (t.AssociationSpec("key", S, schema=schema("k")), t.AssociationSpec("value", OTHER))

    assert isinstance(refused(bench, t.Associate(TOPIC, wishes)), r.NoLiveVersion)
    with pytest.raises(r.NoLiveVersion, match="version exists for subject 'other'"):
        bench.do(t.Associate(TOPIC, wishes))
    assert not bench.commits


def test_an_association_without_a_subject_has_the_usual_one() -> None:
    bench = Bench()
    done = bench.do(t.Associate(TOPIC, (t.AssociationSpec(schema=schema()),)))

    assert done.bound[0].subject == ":.lkc:orders-value"
    assert bench.do(ListContexts()).names == (".", ".lkc")


def test_a_dry_run_answers_and_writes_nothing(bench: Bench) -> None:
    before = dict(bench.tables.roots)
    wish = strong(Subject(".", "new"), schema=schema())
    done = bench.do(t.Associate(t.Resource("orders", "lkc"), (wish,), dry_run=True))

    assert (done.resource.id, done.bound[0].subject) == ("", "new")
    assert bench.tables.roots == before
    bench.do(t.Associate(TOPIC, (strong(),)))
    before = dict(bench.tables.roots)
    bench.do(t.Associate(TOPIC, (weak(),), update=True, dry_run=True))
    bench.do(t.Dissociate("id-1", cascade=True, dry_run=True))
    bench.do(
        t.ChangeAssociations(
            (t.ResourceChange(TOPIC, (t.AssociationChange("DELETE", t.AssociationSpec()),)),), dry_run=True
        )
    )
    assert bench.tables.roots == before


def test_creating_what_is_there_writes_nothing_and_something_else_is_refused(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (weak(),)))
    before = len(bench.commits)

    assert bench.do(t.Associate(TOPIC, (weak(),))).bound[0].lifecycle == "WEAK"
    assert len(bench.commits) == before
    no = refused(bench, t.Associate(TOPIC, (strong(),)))
    assert (type(no), str(no)) == (
        r.ResourceAssociated,
        "An association of type 'value' already exists for resource 'orders'",
    )
    assert isinstance(refused(bench, t.Associate(TOPIC, (weak(OTHER),))), r.ResourceAssociated)


def test_an_update_changes_lifecycle_and_keeps_guid_and_birth(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (weak(),)))
    (born,) = bench.do(t.ListAssociations(t.OfId("id-1"))).associations
    bench.do(t.Associate(TOPIC, (strong(),), update=True))
    (now,) = bench.do(t.ListAssociations(t.OfId("id-1"))).associations

    assert (now.guid, now.created, now.lifecycle) == (born.guid, born.created, "STRONG")
    assert now.updated > born.updated
    bench.do(t.Associate(TOPIC, (t.AssociationSpec(subject=S),), update=True))
    assert bench.do(t.ListAssociations(t.OfId("id-1"))).associations == (now,), "nothing was said, nothing changes"
    assert "cannot be changed" in str(refused(bench, t.Associate(TOPIC, (strong(OTHER),), update=True)))


def test_a_strong_association_stands_alone(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (weak(),)))
    bench.do(t.Associate(NEXT, (weak(),)))

    assert isinstance(refused(bench, t.Associate(TOPIC, (strong(),), update=True)), r.SubjectAssociated)
    assert isinstance(refused(bench, t.Associate(TOPIC, (strong(kind="key"),))), r.SubjectAssociated)
    bench.do(t.Dissociate("id-2"))
    bench.do(t.Associate(TOPIC, (strong(),), update=True))
    no = refused(bench, t.Associate(NEXT, (weak(),)))
    assert (type(no), str(no)) == (r.StronglyAssociated, "A strong association already exists for subject 's'")
    assert isinstance(refused(bench, t.Associate(NEXT, (strong(),))), r.SubjectAssociated)


def test_a_frozen_association_stays_until_it_is_thawed(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (t.AssociationSpec(subject=S, frozen=True),)))
    assert listed(bench) == [("value", "s", "STRONG")], "what is frozen is strong"

    no = refused(bench, t.Associate(TOPIC, (weak(),), update=True))
    assert (type(no), str(no)) == (r.Frozen, "The association of type  'value' is frozen for subject 's'")
    assert isinstance(refused(bench, t.Dissociate("id-1")), r.Frozen)
    bench.do(t.Associate(TOPIC, (t.AssociationSpec(subject=S),), update=True))
    bench.do(t.Associate(TOPIC, (weak(frozen=False),), update=True))
    assert listed(bench) == [("value", "s", "WEAK")]
    bench.do(t.Dissociate("id-1"))
    assert listed(bench) == []


def test_the_schema_of_a_frozen_association_may_evolve(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (t.AssociationSpec(subject=S, frozen=True),)))
    done = bench.do(t.Associate(TOPIC, (t.AssociationSpec(subject=S, schema=schema("a?", "c?")),), update=True))

    assert done.bound[0].schema is not None
    assert (done.bound[0].frozen, done.bound[0].schema.number) == (True, 2)


def test_a_topic_made_anew_must_lose_the_associations_of_the_old_one_first(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (weak(),)))

    again = t.Resource("orders", "lkc", "id-9")
    assert isinstance(refused(bench, t.Associate(again, (weak(kind="key"),))), r.ResourceAssociated)
    for other in (t.Resource("other", "lkc", "id-1"), t.Resource("orders", "elsewhere", "id-1")):
        assert "the id belongs to another resource" in str(refused(bench, t.Associate(other, (weak(),))))
    bench.do(t.Associate(t.Resource("orders", "elsewhere", "id-3"), (weak(),)))
    assert len(bench.do(t.ListAssociations(t.OfName("orders"))).associations) == 2


NAME = "must be a name of printable characters, and not '-'"
LONG = tuple(weak(Subject(".", f"s{number}")) for number in range(ASSOCIATIONS_PER_RESOURCE + 1))


@pytest.mark.parametrize(
    ("resource", "wishes", "member", "detail"),
    [
        (t.Resource("", "lkc", "i"), (weak(),), "resourceName", NAME),
        (t.Resource("-", "lkc", "i"), (weak(),), "resourceName", NAME),
        (t.Resource("a\n", "lkc", "i"), (weak(),), "resourceName", NAME),
        (t.Resource("a" * 5000, "lkc", "i"), (weak(),), "resourceName", NAME),
        (t.Resource("a", "", "i"), (weak(),), "resourceNamespace", NAME),
        (t.Resource("a", "-", "i"), (weak(),), "resourceNamespace", NAME),
        (t.Resource("a", "lkc", ""), (weak(),), "resourceId", "cannot be null or empty"),
        (t.Resource("a", "lkc", "i", "queue"), (weak(),), "resourceType", "must be 'topic'"),
        (TOPIC, (), "associations", "cannot be null or empty"),
        (TOPIC, (weak(kind="header"),), "associationType", "must be either 'key' or 'value'"),
        (TOPIC, (weak(), weak(OTHER)), "associationType", "'value' is listed twice"),
        (TOPIC, (t.AssociationSpec(subject=S, lifecycle="LOOSE"),), "lifecycle", "must be one of STRONG, WEAK"),
        (TOPIC, (weak(frozen=True),), "frozen", "association with lifecycle of WEAK cannot be frozen"),
        (
            TOPIC,
            (weak(given=t.ImportedAssociation("x")),),
            "guid",
            "may be given in mode IMPORT only, not in READWRITE",
        ),
    ],
)
def test_what_cannot_be_right(
    bench: Bench, resource: t.Resource, wishes: tuple[t.AssociationSpec, ...], member: str, detail: str
) -> None:
    no = refused(bench, t.Associate(resource, wishes))

    message = f"The association specified an invalid value for property: '{member}', detail: {detail}"
    assert (type(no), str(no), no.reason.path) == (r.InvalidAssociation, message, f"/{member}")
    assert no.reason.allowed


def test_one_request_names_so_many_associations_and_no_more(bench: Bench) -> None:
    no = refused(bench, t.Associate(TOPIC, LONG))
    assert (type(no), str(no)) == (r.TooManyAssociations, "A maximum of 100 associations already exist")


def test_a_subject_that_no_schema_may_have_is_refused(bench: Bench) -> None:
    assert isinstance(refused(bench, t.Associate(TOPIC, (weak(Subject(".", "__EMPTY")),))), r.InvalidSubject)


def test_an_embedded_schema_is_judged_as_any_other(bench: Bench) -> None:
    no = refused(bench, t.Associate(TOPIC, (weak(schema=schema("a?", "new")),)))
    assert isinstance(no, r.Incompatible)
    assert isinstance(refused(bench, t.Associate(TOPIC, (weak(schema=schema("-x")),))), r.InvalidSchema)
    bench.do(t.Associate(TOPIC, (weak(schema=schema("a?")),)))
    assert bench.do(ListVersions(S)).numbers == (1,), "it was there already"


def test_a_subject_has_so_many_associations_and_no_more() -> None:
    bench = Bench()
    bench.do(Register(S, toy("a?")))
    rows = [
        Row("association", (f"x-{n}", "value", "s"), Association("s", f"topic-{n}", "lkc", "value"))
        for n in range(ASSOCIATIONS_PER_SUBJECT)
    ]
    bench.tables.apply([encode_row(row) for row in rows], bench.position)

    no = refused(bench, t.Associate(TOPIC, (weak(),)))
    assert (type(no), str(no)) == (r.TooManyAssociations, "A maximum of 10000 associations already exist")
    bench.do(t.Dissociate("x-7"))
    bench.do(t.Associate(TOPIC, (weak(),)))


# --------------------------------------------------------------------------------------------------------- deleting


def test_a_subject_with_an_association_is_not_deleted(bench: Bench) -> None:
    bench.do(Register(S, toy("a?", "b?")))
    bench.do(t.Associate(TOPIC, (weak(),)))

    no = refused(bench, DeleteSubject(S))
    assert (type(no), str(no)) == (r.SubjectAssociated, "An association already exists for subject 's'")
    bench.do(DeleteVersion(S, 1))
    no = refused(bench, DeleteVersion(S, 2))
    assert (type(no), str(no)) == (r.NoLiveVersion, "No active (non-deleted) version exists for subject 's'")
    bench.do(DeleteVersion(S, 1, permanent=True))
    assert isinstance(refused(bench, DeleteVersion(S, LATEST)), r.NoLiveVersion)
    bench.do(t.Dissociate("id-1"))
    bench.do(DeleteSubject(S))


def test_deleting_an_association_leaves_its_subject(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (strong(), weak(OTHER, "key"))))
    bench.do(t.Dissociate("id-1", kinds=("key",), cascade=True))
    assert listed(bench) == [("value", "s", "STRONG")]
    bench.do(t.Dissociate("id-1"))
    assert bench.do(ListSubjects(Subject(".", ""))).names == ("other", "s")
    no = refused(bench, t.Dissociate("id-1"))
    assert (type(no), str(no)) == (r.AssociationNotFound, "Association for 'id-1' not found.")


def test_a_cascade_takes_the_subjects_of_strong_associations_with_all_they_had(bench: Bench) -> None:
    bench.do(Register(S, toy("a?", "c?")))
    bench.do(DeleteVersion(S, 1))
    bench.do(SetMode(Scope(*S), "READWRITE"))
    bench.do(t.Associate(TOPIC, (strong(frozen=True), weak(OTHER, "key"))))
    bench.do(t.Dissociate("id-1", cascade=True))

    assert bench.do(ListSubjects(Subject(".", ""), "all")).names == ("other",)
    assert isinstance(refused(bench, GetMode(Scope(*S))), r.SettingNotFound)
    assert not list(find_violations(bench.tables))


def test_a_cascade_stops_at_what_others_refer_to(bench: Bench) -> None:
    bench.do(Register(OTHER, toy("b?", "d?", references=(Reference("r", "s", 1),))))
    bench.do(t.Associate(TOPIC, (strong(),)))

    no = refused(bench, t.Dissociate("id-1", cascade=True))
    assert isinstance(no, r.Referenced)
    assert "other version 2" in no.reason.old
    assert listed(bench) == [("value", "s", "STRONG")]


@pytest.mark.parametrize("user", ["an encoding", "a source"])
def test_a_cascade_stops_at_what_payloads_and_sources_need(bench: Bench, user: str) -> None:
    """As a deletion for good does, whatever the association is."""
    if user == "an encoding":
        bench.do(AddCodec(S, CodecType("gzip")))
        bench.do(AssignEncoding(S, 0, "gzip"))
    else:
        found = bench.do(GetPin(S, LATEST))
        pin = SchemaPin(*S, found.generation, found.version.ordinal, found.version.schema_id)
        columns = (SourceColumn("id", "INT"),)
        bench.do(CreateSource(SourceDefinition("orders", "STREAM", "", columns, value=SourcePart("AVRO", pin=pin))))
    bench.do(t.Associate(TOPIC, (strong(),)))
    refusal = refused(bench, t.Dissociate("id-1", cascade=True))
    bench.do(t.Dissociate("id-1"))
    bench.do(DeleteSubject(S))
    assert refusal.reason.rule == refused(bench, DeleteSubject(S, permanent=True)).reason.rule


def test_nobody_may_refer_to_a_subject_that_belongs_to_a_resource(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (strong(),)))
    request = Register(OTHER, toy("b?", "d?", references=(Reference("r", "s", 1),)))
    no = refused(bench, request)

    assert (type(no), str(no)) == (r.NotPermitted, "Subject 's' has a strong association and cannot be referenced")
    bench.do(t.Associate(TOPIC, (weak(),), update=True))
    bench.do(request)
    bench.do(t.Associate(TOPIC, (strong(),), update=True))
    assert not bench.do(request).created, "what is there already is there"


def test_nothing_changes_where_the_subject_is_read_only(bench: Bench) -> None:
    bench.do(t.Associate(TOPIC, (weak(),)))
    bench.do(SetMode(Scope(*S), "READONLY"))

    for request in (
        t.Associate(TOPIC, (weak(kind="key"),)),
        t.Associate(TOPIC, (strong(),), update=True),
        t.Dissociate("id-1"),
    ):
        assert isinstance(refused(bench, request), r.NotPermitted), request
    bench.do(t.Associate(TOPIC, (weak(),)))


@pytest.mark.parametrize("spelling", ["00000000-0000-4000-8000-00000000000a", "{0000000000004000800000000000000A}"])
def test_what_comes_from_elsewhere_keeps_its_guid_where_ids_may_be_given(bench: Bench, spelling: str) -> None:
    bench.do(SetMode(Scope(*S), "IMPORT", force=True))
    given_ = t.ImportedAssociation(spelling, 5, 7)
    bench.do(t.Associate(TOPIC, (weak(given=given_),)))

    (association,) = bench.do(t.ListAssociations(t.OfId("id-1"))).associations
    assert (association.guid, association.created, association.updated) == (
        "00000000-0000-4000-8000-00000000000a",
        5,
        7,
    )
    assert "belongs to another" in str(refused(bench, t.Associate(NEXT, (weak(given=given_),))))
    assert "must be a UUID" in str(refused(bench, t.Associate(NEXT, (weak(given=t.ImportedAssociation("x")),))))

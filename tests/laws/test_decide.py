"""The law as its users see it: registration, deletion, references."""

from itertools import permutations

import pytest

from tests.laws.toy import EMPTY, OTHER, Bench, S, put, toy, version_row
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import DeleteContext, ListContexts
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import ExpectedVersion, ForceReason, Register, SubjectCreation
from treaty.core.messages.request import LATEST
from treaty.core.messages.schemas import GetGuidIds, GetSchema, ReferencedBy, UsesOf
from treaty.core.messages.settings import Config, DeleteMode, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, GetVersion, Lookup
from treaty.core.names import Subject
from treaty.core.policy import LATEST as NEWEST
from treaty.core.refusals import (
    AlreadyDeleted,
    Incompatible,
    InvalidRules,
    InvalidSchema,
    InvalidSetting,
    InvalidSubject,
    NameTaken,
    NotDeletedFirst,
    NotEmpty,
    NotLatest,
    Referenced,
    SchemaNotFound,
    SettingNotFound,
    SubjectNotFound,
    TooLarge,
    VersionNotFound,
)
from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet
from treaty.core.state.state_tables import CONTENT, SUBJECT, ContentKey
from treaty.core.state.values import PolicyValue, Version


def test_the_same_schema_has_one_id_everywhere_and_one_version_per_subject(bench: Bench) -> None:
    first, again, elsewhere = put(bench, S, "a"), put(bench, S, "a"), put(bench, OTHER, "a")

    assert first == again
    assert (elsewhere.schema_id, elsewhere.number) == (first.schema_id, 1)
    assert bench.do(UsesOf(1)).uses == (("other", 1), ("s", 1))


def test_a_schema_that_is_there_writes_nothing(bench: Bench) -> None:
    put(bench, S, "a")
    before = bench.position

    assert not bench.do(Register(S, toy("a"))).created
    assert bench.position == before


def test_an_incompatible_schema_is_refused_with_the_version_and_the_reason(bench: Bench) -> None:
    put(bench, S, "a")

    with pytest.raises(Incompatible) as caught:
        put(bench, S, "a", "b")

    assert caught.value.findings[0].rule == "NO_DEFAULT"
    assert "{oldSchemaVersion: 1}" in caught.value.reason.details


@pytest.mark.parametrize(
    ("level", "fits"),
    [("NONE", True), ("BACKWARD", True), ("BACKWARD_TRANSITIVE", False), ("FORWARD", True), ("FULL_TRANSITIVE", False)],
)
def test_transitive_levels_compare_with_every_version(bench: Bench, level: str, fits: bool) -> None:  # noqa: FBT001
    bench.do(SetConfig(Scope(*S), Config(level="NONE")))
    put(bench, S, "a")
    put(bench, S, "b")
    bench.do(SetConfig(Scope(*S), Config(level=level)))

    assert bench.do(Check(S, toy("b", "c?"))).compatible is fits


def test_only_versions_of_one_group_are_compared(bench: Bench) -> None:
    bench.do(SetConfig(Scope(*S), Config(group="major")))
    one, two = Metadata(properties=(("major", "1"),)), Metadata(properties=(("major", "2"),))
    bench.do(Register(S, toy("a", metadata=one)))
    bench.do(Register(S, toy("b", metadata=two)))

    with pytest.raises(Incompatible):
        bench.do(Register(S, toy("c", metadata=one)))
    with pytest.raises(Incompatible):
        bench.do(Register(S, toy("c", metadata=two)))
    assert bench.do(Register(S, toy("a", "d?", metadata=one))).version.number == 3


def test_a_version_keeps_the_policy_it_passed(bench: Bench) -> None:
    bench.do(SetConfig(Scope(*S), Config(level="FULL")))
    put(bench, S, "a")
    bench.do(SetConfig(Scope(*S), Config(level="NONE")))
    row = version_row(bench, S, 0)

    assert isinstance(row, Version)
    assert row.policy == PolicyValue(NEWEST, NEWEST)


def test_force_is_written_down(bench: Bench) -> None:
    put(bench, S, "a")
    put(bench, S, "b", force=ForceReason("ann", "migration"))
    row = version_row(bench, S, 1)

    assert isinstance(row, Version)
    assert row.forced is not None
    assert (row.forced.who, row.forced.why) == ("ann", "migration")


def test_expected_latest_is_compare_and_set(bench: Bench) -> None:
    put(bench, S, "a", expected=ExpectedVersion("number", -1))
    put(bench, S, "a", "b?", expected=ExpectedVersion("ordinal", 0))

    with pytest.raises(NotLatest, match="not the expected"):
        put(bench, S, "a", "c?", expected=ExpectedVersion("schema_id", 1))


def test_an_explicit_number_must_be_the_next_one(bench: Bench) -> None:
    put(bench, S, "a")

    with pytest.raises(InvalidSchema, match="not one more"):
        put(bench, S, "a", "b?", number=5)
    assert put(bench, S, "a", "b?", number=2).metadata == Metadata(properties=(("confluent:version", "2"),))


def test_names_are_unique_in_their_scheme(bench: Bench) -> None:
    put(bench, S, "a", names=(("imported", "x1"),))

    with pytest.raises(NameTaken):
        put(bench, S, "a", "b?", names=(("imported", "x1"),))
    assert put(bench, S, "a", "b?", names=(("other", "x1"),)).number == 2


def test_deletion_has_two_steps(bench: Bench) -> None:
    put(bench, S, "a")
    with pytest.raises(NotDeletedFirst):
        bench.do(DeleteVersion(S, 1, permanent=True))
    assert bench.do(DeleteVersion(S, LATEST)).numbers == (1,)
    with pytest.raises(AlreadyDeleted):
        bench.do(DeleteVersion(S, 1))
    assert bench.do(GetSchema(1)).deleted
    assert bench.do(DeleteVersion(S, 1, permanent=True)).numbers == (1,)
    with pytest.raises(SubjectNotFound):
        bench.do(GetVersion(S, 1, deleted=True))
    with pytest.raises(SchemaNotFound):
        bench.do(GetSchema(1))


def test_an_id_is_never_given_again(bench: Bench) -> None:
    first = put(bench, S, "a")
    bench.do(DeleteSubject(S))
    bench.do(DeleteSubject(S, permanent=True))
    again = put(bench, S, "a")

    assert (first.schema_id, again.schema_id) == (1, 2)
    assert (first.number, again.number) == (1, 1)
    assert (first.ordinal, again.ordinal) == (0, 0), "ordinals count for one generation of a subject"


def test_registering_again_after_soft_deletion_gives_the_id_and_the_next_number(bench: Bench) -> None:
    put(bench, S, "a")
    put(bench, S, "a", "b?")
    bench.do(DeleteSubject(S))
    again = put(bench, S, "a")

    assert (again.schema_id, again.number) == (1, 3)
    assert bench.do(ListVersions(S, "all")).numbers == (2, 3)
    hidden = version_row(bench, S, 0)
    assert isinstance(hidden, Version)
    assert hidden.state == "hidden"


def test_a_made_again_subject_is_somebody_else(bench: Bench) -> None:
    put(bench, S, "a", create_with=SubjectCreation(properties=(("owner", "x"),)))
    first = bench.tables.get(SUBJECT, S)
    bench.do(DeleteSubject(S))
    bench.do(DeleteSubject(S, permanent=True))
    put(bench, S, "a")
    second = bench.tables.get(SUBJECT, S)

    assert first is not None
    assert second is not None
    assert first.generation < second.generation


def test_what_is_referred_to_stays(bench: Bench) -> None:
    put(bench, S, "a")
    refers = bench.do(Register(OTHER, toy("x", references=(Reference("n", "s", -1),)))).version

    assert refers.references == (Reference("n", "s", 1),)
    assert bench.do(ReferencedBy(S, 1)).ids == (2,)
    with pytest.raises(Referenced, match="subject=s,version=1"):
        bench.do(DeleteVersion(S, 1))
    with pytest.raises(Referenced):
        bench.do(DeleteSubject(S))
    bench.do(DeleteSubject(OTHER))
    bench.do(DeleteVersion(S, 1))
    with pytest.raises(Referenced):
        bench.do(DeleteVersion(S, 1, permanent=True))
    bench.do(DeleteSubject(OTHER, permanent=True))
    assert bench.do(DeleteVersion(S, 1, permanent=True)).numbers == (1,)


def test_references_inside_a_subject_do_not_hold_it(bench: Bench) -> None:
    put(bench, S, "a")
    bench.do(Register(S, toy("a", "b?", references=(Reference("n", "s", 1),))))

    assert bench.do(DeleteSubject(S)).numbers == (1, 2)
    assert bench.do(DeleteSubject(S, permanent=True)).numbers == (1, 2)


@pytest.mark.parametrize(
    "reference", [Reference("n", "s", 7), Reference("n", "none", 1), Reference("", "s", 1), Reference("n", "s", 0)]
)
def test_a_reference_that_leads_nowhere_is_refused(bench: Bench, reference: Reference) -> None:
    put(bench, S, "a")

    with pytest.raises(InvalidSchema, match=r"reference"):
        bench.do(Register(OTHER, toy("x", references=(reference,))))


def test_an_inlined_schema_is_found_by_its_likeness(bench: Bench) -> None:
    put(bench, S, "a")
    bench.do(Register(OTHER, toy("x", references=(Reference("n", "s", 1),))))

    assert bench.do(Lookup(OTHER, toy("x", "a"))).number == 1
    assert not bench.do(Register(OTHER, toy("x", "a"))).created


def test_of_versions_with_the_same_schema_the_newest_is_found(bench: Bench) -> None:
    bench.do(SetMode(Scope("."), "IMPORT"))
    for number in (1, 2, 3):
        put(bench, S, "a", schema_id=7, number=number)

    assert bench.do(Lookup(S, toy("a"))).number == 3


def test_lookup_says_which_of_the_two_is_missing(bench: Bench) -> None:
    put(bench, S, "a")

    with pytest.raises(SchemaNotFound):
        bench.do(Lookup(S, toy("zz")))
    with pytest.raises(SubjectNotFound):
        bench.do(Lookup(OTHER, toy("a")))
    with pytest.raises(InvalidSchema):
        bench.do(Lookup(S, Draft("[", "TOY")))


@EMPTY
def test_a_subject_is_found_in_another_context_where_the_default_has_none(bench: Bench) -> None:
    away = Subject(".x", "away")
    put(bench, away, "a")

    assert bench.do(Lookup(Subject(".", "away"), toy("a"))).subject == ":.x:away"
    assert bench.do(GetVersion(Subject(".", "away"), LATEST)).subject == ":.x:away"
    assert bench.do(ListContexts()).names == (".", ".x")
    assert bench.do(GetGuidIds(bench.do(GetVersion(away, 1)).guid)).ids == ((".x", 1),)
    with pytest.raises(NotEmpty):
        bench.do(DeleteContext(".x"))


def test_an_empty_text_takes_the_latest_one(bench: Bench) -> None:
    put(bench, S, "a")
    told = bench.do(Register(S, Draft("", "TOY", metadata=Metadata(properties=(("k", "v"),))))).version

    assert (told.text, told.number) == ('["a"]', 2)
    with pytest.raises(InvalidSchema, match="Empty"):
        bench.do(Register(OTHER, Draft("", "TOY")))


@pytest.mark.parametrize(
    ("request_", "refusal"),
    [
        (Register(Subject(".", "__GLOBAL"), toy("a")), InvalidSubject),
        (Register(Subject(".", "a\x00b"), toy("a")), InvalidSubject),
        (Register(Subject(".", "n" * 5000), toy("a")), InvalidSubject),
        (Register(S, Draft("x" * 2_000_000, "TOY")), TooLarge),
        (Register(S, toy("-bad")), InvalidSchema),
        (Register(S, toy("a", references=(Reference("n", "s", 1),) * 300)), TooLarge),
        (Register(S, toy("a", rules=RuleSet(domain=(Rule("1x"),)))), InvalidRules),
        (SetConfig(Scope("."), Config(level="SOMEWHAT")), InvalidSetting),
        (SetMode(Scope("."), "SLOW"), InvalidSetting),
        (SetMode(Scope("."), "FORWARD"), InvalidSetting),
        (GetVersion(S, 1), SubjectNotFound),
        (Check(S, toy("a"), 4), VersionNotFound),
        (DeleteMode(Scope(".", "s")), SettingNotFound),
    ],
    ids=[
        "reserved-name",
        "control-character",
        "long-name",
        "large-text",
        "bad-text",
        "many-references",
        "bad-rule",
        "bad-level",
        "bad-mode",
        "mode-out-of-scope",
        "no-subject",
        "no-version",
        "no-mode",
    ],
)
def test_bad_requests_are_refused_by_name(bench: Bench, request_: Register, refusal: type[Exception]) -> None:
    with pytest.raises(refusal):
        bench.do(request_)
    assert len(bench.commits) == bench.begun


def test_opaque_formats_are_kept_to_the_byte_and_never_compared(bench: Bench) -> None:
    made = SubjectCreation(origin="pravega")
    told = bench.do(Register(S, Draft(" anything \n", "THRIFT"), create_with=made)).version

    assert told.text == " anything \n"
    with pytest.raises(Incompatible) as caught:
        bench.do(Register(S, Draft("other", "THRIFT"), create_with=made))
    assert caught.value.findings[0].rule == "FORMAT_OPAQUE"
    bench.do(SetConfig(Scope("."), Config(level="NONE")))
    assert bench.do(Register(S, Draft("other", "THRIFT"), create_with=made)).version.number == 2
    with pytest.raises(InvalidSchema, match="Invalid schema type THRIFT"):
        bench.do(Register(S, Draft("third", "THRIFT")))


def test_the_bytes_as_sent_are_kept_where_they_differ(bench: Bench) -> None:
    put(bench, S, "a", "b")
    bench.do(DeleteSubject(S))
    row = version_row(bench, S, 0)
    assert isinstance(row, Version)
    content = bench.tables.get(CONTENT, ContentKey(row.content))
    bench.do(DeleteSubject(S, permanent=True))

    assert content is not None
    assert content is not None
    assert content.data == b'["a", "b"]'
    assert bench.tables.get(CONTENT, ContentKey(row.content)) is None


def test_a_command_that_comes_twice_is_one_command(bench: Bench) -> None:
    first = bench.do(Register(S, toy("a")), "same")
    before = bench.position
    again = bench.do(Register(S, toy("a")), "same")
    deleted = bench.do(DeleteSubject(S), "delete")
    repeated = bench.do(DeleteSubject(S), "delete")

    assert again == first
    assert before.sequence == bench.begun + 1
    assert repeated == deleted
    assert bench.do(GetOutcome("same")).sequence == bench.begun + 1
    assert bench.do(ListSubjects(Subject(".", ""))).names == ()
    assert bench.do(ListSubjects(Subject(".", ""), visible="deleted")).names == ("s",)


@EMPTY
@pytest.mark.parametrize("ids", list(permutations((5, 7, 9))))
def test_a_guid_means_the_lowest_of_its_ids_in_each_context(bench: Bench, ids: tuple[int, ...]) -> None:
    """One schema is imported under several ids of two contexts, in any order."""
    for context, by in ((".", 0), (".x", 10)):
        bench.do(SetMode(Scope(context), "IMPORT"))
        for schema_id in ids:
            subject = Subject(context, f"s{schema_id}")
            guid = bench.do(Register(subject, toy("a"), schema_id=schema_id + by, number=1)).version.guid
    assert bench.do(GetGuidIds(guid)).ids == ((".", 5), (".x", 15))

"""Versions of groups: types and identity of a subject say what a new version is compared with, and what it is already."""

import json
from dataclasses import replace

import pytest

from tests.laws.toy import Bench, Typed, put, toy
from treaty.core import limits
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.answers import Config, VersionFound
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.groups import (
    CheckReading,
    CreateSubject,
    DeleteOrdinal,
    FindSameSchema,
    FindSameVersion,
    GetHistory,
    GetOrdinal,
    GetTypedVersion,
    GroupSettings,
    GroupVersions,
    ListGroupVersions,
)
from treaty.core.handlers.versions import stored_versions
from treaty.core.invariants import find_violations
from treaty.core.names import Subject
from treaty.core.policy import ALL, LATEST, Level, VersionRange
from treaty.core.refusals import (
    Incompatible,
    Invalid,
    InvalidSchema,
    InvalidSetting,
    SchemaNotFound,
    SubjectNotFound,
    TooLarge,
    TypeNotAllowed,
    VersionNotFound,
)
from treaty.core.requests import (
    Check,
    Derive,
    ForceReason,
    GetSchema,
    GetVersion,
    Lookup,
    Register,
    Scope,
    SetConfig,
    SetMode,
    SubjectCreation,
)
from treaty.core.schema import Draft, Metadata
from treaty.core.schema_engine import Answer, ParsedSchema, Question
from treaty.core.state.values import Version

S = Subject(".", "s")
DENY = Level(deny=True)


def group(subject: Subject = S, **members: object) -> Bench:
    """A bench with a subject that takes any schema."""
    bench = Bench()
    add_group(bench, subject, **members)
    return bench


def add_group(bench: Bench, subject: Subject, **members: object) -> None:
    settings: GroupSettings = replace(GroupSettings("pravega", policy=Config(level="NONE")), **members)  # type: ignore[arg-type]
    bench.do(CreateSubject(subject, settings))


def spelled(text: str, **members: object) -> Draft:
    return replace(Draft(text, "TOY"), **members)  # type: ignore[arg-type]


def add(bench: Bench, draft: Draft, subject: Subject = S) -> VersionFound:
    """Register as a door of groups does."""
    return bench.do(Register(subject, draft, create_with=SubjectCreation("pravega"), require_subject=True)).version


def places(versions: GroupVersions) -> list[tuple[str, int]]:
    return [(one.subject, one.ordinal) for one in versions.versions]


class Contained(Typed):
    """Toys that are of one of their fields' types alone."""

    def ask(self, question: Question) -> Answer | None:
        answer = super().ask(question)
        if not isinstance(answer, ParsedSchema):
            return answer
        names = tuple(json.loads(answer.canonical))
        return replace(answer, type_name=names[0], type_names=names)


# ------------------------------------------------------------------------------------------------------------- types


def test_a_type_has_numbers_of_its_own() -> None:
    bench = group(types="many")
    found = [add(bench, toy(name, type_name=kind)) for name, kind in (("a", "T"), ("b", "U"), ("c", "T"), ("d", ""))]
    assert [(one.type_name, one.type_version, one.ordinal) for one in found] == [
        ("T", 0, 0), ("U", 0, 1), ("T", 1, 2), ("", 0, 3)
    ]  # fmt: skip
    assert bench.do(GetTypedVersion(S, "TOY", "T", 1)).ordinal == 2
    for kind, number in (("T", 2), ("V", 0), ("T", -1)):
        with pytest.raises(VersionNotFound):
            bench.do(GetTypedVersion(S, "TOY", kind, number))
    assert bench.do(GetVersion(S, 3)).type_version == 1


def test_one_schema_is_a_version_of_each_type() -> None:
    bench = group(types="many")
    one, other = add(bench, toy("a", type_name="T")), add(bench, toy("a", type_name="U"))
    assert (one.schema_id, one.guid) == (other.schema_id, other.guid)
    assert (one.ordinal, other.ordinal) == (0, 1)
    assert add(bench, toy("a", type_name="T")).ordinal == 0
    assert bench.do(FindSameVersion(S, toy("a", type_name="T"))).ordinal == 0
    with pytest.raises(SchemaNotFound):
        bench.do(FindSameVersion(S, toy("a", type_name="V")))
    assert bench.do(Lookup(S, toy("a"))).ordinal == 1, "Confluent's look-up has no word for types"
    assert bench.do(Lookup(S, toy("a", type_name="T"))).ordinal == 0


def test_a_subject_with_one_type_takes_no_other() -> None:
    bench = group(types="one")
    assert add(bench, toy("a", type_name="T")).type_name == "T"
    assert add(bench, toy("b")).type_name == "T", "who says no type means the only one"
    with pytest.raises(TypeNotAllowed) as refused:
        add(bench, toy("c", type_name="U"))
    assert (refused.value.reason.old, refused.value.reason.new) == ("T", "U")
    with pytest.raises(TypeNotAllowed):
        bench.do(Register(S, toy("c", type_name="U"), force=ForceReason("me", "why")))
    told = bench.do(Check(S, toy("c", type_name="U")))
    assert not told.compatible
    assert [one.rule for one in told.findings] == ["TYPE_NOT_ALLOWED"]
    assert bench.do(Check(S, toy("c", type_name="T"))).compatible
    bench.do(DeleteOrdinal(S, 0))
    bench.do(DeleteOrdinal(S, 1))
    assert add(bench, toy("c", type_name="U")).type_name == "U", "no live version has a type"


def test_a_text_contains_the_type_that_it_is_registered_under() -> None:
    bench = group(types="many")
    bench.engine = Contained()
    assert [add(bench, toy("a", "b", type_name=kind)).type_name for kind in ("", "b", "a")] == ["a", "b", "a"]
    for request in (
        Register(S, toy("a", type_name="c")),
        Check(S, toy("a", type_name="c")),
        Lookup(S, toy("a", type_name="c")),
    ):
        with pytest.raises(InvalidSchema) as refused:
            bench.do(request)
        assert (refused.value.reason.rule, refused.value.reason.allowed) == ("TYPE_MISSING", "a")


def test_an_only_type_that_the_text_lacks_is_another_type() -> None:
    bench = group(types="one")
    bench.engine = Contained()
    add(bench, toy("a", "b", type_name="b"))
    assert add(bench, toy("c", "b")).type_name == "b"
    with pytest.raises(TypeNotAllowed):
        add(bench, toy("c"))


def test_names_of_types_have_a_limit() -> None:
    with pytest.raises(TooLarge, match="type is too long"):
        add(group(types="many"), toy("a", type_name="t" * (limits.NAME_LENGTH + 1)))


@pytest.mark.parametrize(("types", "passes"), [("across", False), ("many", True)])
def test_versions_of_many_types_are_compared_within_their_type(types: str, passes: bool) -> None:  # noqa: FBT001
    bench = group(types=types, policy=Config(level="BACKWARD"))
    add(bench, toy("a", type_name="T"))
    other = toy("b", type_name="U")
    assert bench.do(Check(S, other)).compatible is passes
    if passes:
        assert add(bench, other).type_version == 0
    for kind in ("T", "U")[: 1 + passes]:
        with pytest.raises(Incompatible):
            add(bench, toy("c", type_name=kind))
    assert [one.policy and one.policy.partition for one in bench.do(GetHistory(S)).versions] == [
        "type" if passes else ""
    ] * (1 + passes)


def test_a_derived_version_keeps_its_type() -> None:
    bench = group(types="many")
    add(bench, toy("a", type_name="T"))
    made = bench.do(Derive(S, 1, metadata=Metadata(properties=(("owner", "me"),)))).version
    assert (made.type_name, made.type_version) == ("T", 1)
    changed = bench.do(Register(S, Draft("", "TOY", metadata=Metadata(properties=(("owner", "you"),))))).version
    assert (changed.type_name, changed.type_version) == ("T", 2)


# ---------------------------------------------------------------------------------------------------------- identity

SPELLINGS = ('["a","b"]', '[ "a", "b" ]', '["b","a"]')
"""The canonical text, the same with blanks, and another one with the same normal form."""


@pytest.mark.parametrize(
    ("identity", "ordinals", "ids"),
    [("canonical", [0, 0, 1], 2), ("normalised", [0, 0, 0], 1), ("exact", [0, 1, 2], 2)],
)
def test_the_identity_of_a_subject_says_what_is_the_same(identity: str, ordinals: list[int], ids: int) -> None:
    bench = group(identity=identity)
    for _ in range(2):
        assert [add(bench, spelled(text)).ordinal for text in SPELLINGS] == ordinals
        assert [bench.do(FindSameVersion(S, spelled(text))).ordinal for text in SPELLINGS] == ordinals
        assert [bench.do(Lookup(S, spelled(text))).ordinal for text in SPELLINGS] == ordinals
    live = bench.do(ListGroupVersions(S)).versions
    assert len({one.schema_id for one in live}) == ids
    assert [*find_violations(bench.tables)] == []


def test_a_normalised_version_keeps_its_text_and_guid() -> None:
    """The guid is over the canonical text as sent, as if the subject were any other."""
    bench, plain = group(identity="normalised"), Bench()
    sent = add(bench, spelled(SPELLINGS[2]))
    assert (sent.text, sent.guid) == (SPELLINGS[2], put(plain, S, "b", "a").guid)


def test_properties_of_versions_are_not_compared_and_metadata_is() -> None:
    bench = group(identity="normalised")
    add(bench, toy("a"))
    assert not bench.do(Register(S, toy("a"), properties=(("p", "1"),))).created
    assert bench.do(Register(S, toy("a", metadata=Metadata(properties=(("p", "1"),))))).created


def test_a_subject_is_created_with_its_identity_by_a_registration() -> None:
    bench = Bench()
    made = SubjectCreation("pravega", identity="normalised")
    assert [bench.do(Register(S, spelled(text), create_with=made)).version.ordinal for text in SPELLINGS] == [0, 0, 0]


def test_bytes_are_kept_as_they_were_sent() -> None:
    bench = group(identity="exact")
    sent = [*(spelled(text) for text in SPELLINGS), spelled(SPELLINGS[0], data=b"\x00proto")]
    for draft in sent:
        add(bench, draft)
    datas = [bench.do(GetOrdinal(S, ordinal)).data for ordinal in range(4)]
    assert datas == [None, SPELLINGS[1].encode(), None, b"\x00proto"]
    assert bench.do(GetOrdinal(S, 3)).text == SPELLINGS[0]
    assert add(bench, sent[3]).ordinal == 3
    assert bench.do(GetVersion(S, 2)).data is None, "Confluent's versions have a text alone"


def test_a_deleted_version_comes_back_as_another_one() -> None:
    bench = group(identity="exact", types="many")
    for text in SPELLINGS[:2]:
        for kind in ("T", "U"):
            add(bench, spelled(text, type_name=kind))
    for ordinal in range(4):
        bench.do(DeleteOrdinal(S, ordinal))
    with pytest.raises(SchemaNotFound):
        bench.do(FindSameVersion(S, spelled(SPELLINGS[0], type_name="T")))
    again = add(bench, spelled(SPELLINGS[0], type_name="T"))
    assert (again.ordinal, again.type_version, again.schema_id) == (4, 2, 1)
    assert bench.do(GetOrdinal(S, 0)).deleted
    states = [one[1].state for one in stored(bench)]
    assert states == ["hidden", "soft", "soft", "soft", "live"], "only what is the same again makes room"


def stored(bench: Bench) -> list[tuple[object, Version]]:
    return [*stored_versions(bench.tables, S)]


# ------------------------------------------------------------------------------------------------------------ opaque

BYTES = (b"<a/>", b"\xff\x00", b"data:;base64,AAAA", "ключ".encode())


def test_opaque_bytes_have_a_text_that_stands_for_them() -> None:
    bench = group()
    found = [add(bench, Draft("", "THRIFT", data=data)) for data in BYTES]
    assert [one.text for one in found] == ["<a/>", "data:;base64,/wA=", "data:;base64,ZGF0YTo7YmFzZTY0LEFBQUE=", "ключ"]
    assert [bench.do(GetOrdinal(S, at)).data for at in range(4)] == [None, *BYTES[1:3], None]
    assert [add(bench, Draft(one.text, "THRIFT")).ordinal for one in found] == [0, 1, 2, 3]
    assert [bench.do(FindSameVersion(S, Draft("", "THRIFT", data=data))).ordinal for data in BYTES] == [0, 1, 2, 3]
    assert bench.do(GetSchema(found[1].schema_id)).text == found[1].text
    assert [*find_violations(bench.tables)] == []


def test_the_same_bytes_in_two_formats_are_two_schemas() -> None:
    bench = group()
    one, other = (add(bench, Draft("", format_, data=b"<a/>")) for format_ in ("THRIFT", "XML"))
    assert one.guid != other.guid
    assert one.schema_id != other.schema_id


def test_opaque_bytes_that_can_not_be(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = group()
    with pytest.raises(InvalidSchema):
        add(bench, Draft("data:;base64,no", "THRIFT"))
    with pytest.raises(InvalidSchema):
        add(bench, Draft("", "THRIFT", data=b""))
    add(bench, Draft("", "THRIFT", data=b"x" * (limits.SCHEMA_BYTES + 1)))
    monkeypatch.setattr("treaty.core.handlers.schemas.OPAQUE_BYTES", 10)
    with pytest.raises(TooLarge, match="too large"):
        add(bench, Draft("", "THRIFT", data=b"\xff" * 11))
    with pytest.raises(TooLarge):
        add(bench, spelled("[]", data=b" " * (limits.SCHEMA_BYTES + 1)))


def test_an_opaque_schema_reads_what_it_writes() -> None:
    bench = group(policy=Config(exact_level=DENY))
    add(bench, Draft("", "THRIFT", data=b"a"))
    assert bench.do(CheckReading(S, Draft("", "THRIFT", data=b"a"))).compatible
    assert not bench.do(CheckReading(S, Draft("", "THRIFT", data=b"b"))).compatible


# --------------------------------------------------------------------------------------------------------- questions


def test_versions_are_listed_by_ordinal_and_newest_of_each_type() -> None:
    bench = group(types="many")
    for name, kind in (("a", "T"), ("b", "U"), ("c", "T"), ("d", "T")):
        add(bench, toy(name, type_name=kind))
    bench.do(DeleteOrdinal(S, 3))

    def listed(**members: object) -> list[int]:
        return [one.ordinal for one in bench.do(replace(ListGroupVersions(S), **members)).versions]  # type: ignore[arg-type]

    assert listed() == [0, 1, 2]
    assert listed(latest=True) == [1, 2]
    assert listed(type_name="T") == [0, 2]
    assert listed(type_name="T", latest=True) == [2]
    assert listed(type_name="V") == []
    assert bench.do(GetOrdinal(S, 3)).deleted
    assert bench.do(GetTypedVersion(S, "TOY", "T", 2)).deleted


def test_a_history_names_the_policy_of_each_version() -> None:
    bench = group()
    add(bench, toy("a"))
    bench.do(SetConfig(Scope(*S), Config(level="BACKWARD")))
    add(bench, toy("a", "b?"))
    told = bench.do(GetHistory(S)).versions
    assert [(one.version.ordinal, one.policy and one.policy.backward.kind) for one in told] == [
        (0, "none"),
        (1, "latest"),
    ]
    assert told[0].version.time < told[1].version.time


def test_questions_about_what_is_not_there() -> None:
    bench = Bench()
    draft = toy("a")
    for request in (
        GetOrdinal(S, 0), GetTypedVersion(S, "TOY", "", 0), ListGroupVersions(S), GetHistory(S), FindSameVersion(S, draft),
        CheckReading(S, draft), Register(S, draft, require_subject=True),
    ):  # fmt: skip
        with pytest.raises(SubjectNotFound):
            bench.do(request)
    bench = group()
    assert bench.do(ListGroupVersions(S)).versions == ()
    assert bench.do(GetHistory(S)).versions == ()
    for ordinal in (-1, 0):
        with pytest.raises(VersionNotFound):
            bench.do(GetOrdinal(S, ordinal))
    for request in (
        FindSameVersion(S, toy()),
        CheckReading(S, Draft("no", "TOY")),
        FindSameVersion(S, Draft("", "TOY")),
    ):
        with pytest.raises((InvalidSchema, SchemaNotFound)):
            bench.do(request)


def test_a_schema_is_found_in_all_subjects_of_a_context_by_their_identities() -> None:
    bench = group()
    names = {name: Subject(".", name) for name in ("canonical", "normalised", "exact")}
    for name, subject in names.items():
        add_group(bench, subject, identity=name)
        add(bench, spelled(SPELLINGS[1]), subject)
    add(bench, toy("z"))
    elsewhere = Subject(".x", "exact")
    add_group(bench, elsewhere)
    add(bench, spelled(SPELLINGS[1]), elsewhere)

    def found(text: str, context: str = ".") -> list[tuple[str, int]]:
        return places(bench.do(FindSameSchema(context, spelled(text))))

    assert found(SPELLINGS[0]) == [("canonical", 0), ("normalised", 0)]
    assert found(SPELLINGS[1]) == [("canonical", 0), ("exact", 0), ("normalised", 0)]
    assert found(SPELLINGS[2]) == [("normalised", 0)]
    assert found(SPELLINGS[1], ".x") == [(":.x:exact", 0)]
    assert found('["never"]') == []
    bench.do(DeleteOrdinal(names["exact"], 0))
    assert found(SPELLINGS[1]) == [("canonical", 0), ("normalised", 0)]
    bench.do(SetConfig(Scope(*names["canonical"]), Config(normalize=True)))
    add(bench, spelled('["y","x"]'), names["canonical"])
    assert found('["y","x"]') == [("canonical", 1)], "its text is the normal form"


def test_a_schema_is_found_where_the_caller_may_read() -> None:
    bench = group()
    add_group(bench, Subject(".", "other"))
    for subject in (S, Subject(".", "other")):
        add(bench, toy("a"), subject)
    access = Access((AccessRule(("*",), with_included(["read"]), ("oth*",)),))
    request = FindSameSchema(".", toy("a"))
    told = decide(bench.tables, Command(request, "c", 1, access=access), bench.engine)
    assert isinstance(told, Decision)
    assert places(told.answer) == [("other", 0)]


# ----------------------------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize(
    ("level", "compatible"),
    [
        (Level(), True),
        (DENY, True),
        (Level(backward=LATEST), True),
        (Level(backward=ALL), False),
        (Level(backward=VersionRange("till", 1)), True),
        (Level(backward=VersionRange("till", 0)), False),
        (Level(forward=ALL), True),
    ],
)
def test_what_a_reader_can_read(level: Level, compatible: bool) -> None:  # noqa: FBT001
    """A reader that needs `b` reads the latest version alone, one that needs `a` reads both, and one that needs `c` none."""
    bench = group()
    add(bench, toy("a"))
    add(bench, toy("a", "b"))
    bench.do(SetConfig(Scope(*S), Config(exact_level=level)))
    assert bench.do(CheckReading(S, toy("a", "b"))).compatible is compatible
    assert bench.do(CheckReading(S, toy("a"))).compatible
    assert bench.do(CheckReading(S, toy("c"))).compatible is (level == Level())


def test_every_reader_reads_what_nobody_wrote() -> None:
    bench = group(policy=Config(exact_level=DENY))
    assert bench.do(CheckReading(S, toy("a"))).compatible
    add(bench, toy("a"))
    assert not bench.do(CheckReading(S, toy("b"))).compatible
    bench.do(DeleteOrdinal(S, 0))
    assert bench.do(CheckReading(S, toy("b"))).compatible


def test_readers_of_one_type_are_not_compared_with_others() -> None:
    bench = group(types="many", policy=Config(level="BACKWARD"))
    add(bench, toy("a", type_name="T"))
    assert bench.do(CheckReading(S, toy("b", type_name="U"))).compatible
    assert not bench.do(CheckReading(S, toy("b", type_name="T"))).compatible


def test_a_check_may_say_its_level() -> None:
    bench = group()
    add(bench, toy("a"))
    add(bench, toy("b"))
    assert bench.do(Check(S, toy("c"))).compatible
    assert not bench.do(Check(S, toy("c"), level=Level(backward=LATEST))).compatible
    assert bench.do(Check(S, toy("b"), level=Level(backward=VersionRange("till", 1)))).compatible
    assert not bench.do(Check(S, toy("b"), level=Level(backward=VersionRange("till", 0)))).compatible
    assert not bench.do(Check(S, toy("a", "b"), level=DENY)).compatible
    with pytest.raises(VersionNotFound):
        bench.do(Check(S, toy("c"), level=Level(backward=VersionRange("till", 7))))
    with pytest.raises(InvalidSetting):
        bench.do(Check(S, toy("c"), level=Level(backward=VersionRange("some"))))
    with pytest.raises(Invalid, match="either a level or a version"):
        bench.do(Check(S, toy("c"), 1, level=DENY))


def test_an_import_has_the_type_and_identity_of_its_subject() -> None:
    bench = group(types="many", identity="normalised")
    bench.do(SetMode(Scope(*S), "IMPORT"))

    def put_there(draft: Draft, number: int, schema_id: int) -> VersionFound:
        return bench.do(Register(S, draft, number=number, schema_id=schema_id)).version

    first = put_there(toy("a", type_name="T"), 1, 7)
    assert put_there(toy("a", type_name="T"), 1, 7) == first
    assert put_there(toy("a", type_name="U"), 2, 7).type_version == 0
    assert [one.type_name for one in bench.do(ListGroupVersions(S)).versions] == ["T", "U"]
    assert [*find_violations(bench.tables)] == []

"""Versions of groups: their types, what is asked about them, and what readers can read."""

import json
from dataclasses import replace
from itertools import permutations

import pytest

from tests.laws.grouped import SPELLINGS, S, add, add_group, group, spelled
from tests.laws.toy import Bench, Typed, toy
from treaty.core import limits
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.messages.compatibility import Check
from treaty.core.messages.groups import (
    CheckReading,
    DeleteOrdinal,
    FindSameSchema,
    FindSameVersion,
    GetHistory,
    GetOrdinal,
    GetTypedVersion,
    GroupVersions,
    ListGroupVersions,
)
from treaty.core.messages.registration import Derive, ForceReason, Register
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.transfers import ImportVersion
from treaty.core.messages.versions import GetVersion, Lookup
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
from treaty.core.schema import Draft, Metadata
from treaty.core.schema_engine import Answer, ParsedSchema, Question

DENY = Level(deny=True)


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
    denied = bench.do(Check(S, toy("c", type_name="U"), level=Level(deny=True)))
    assert [one.rule for one in denied.findings] == ["TYPE_NOT_ALLOWED", "POLICY_DENIES"], "all reasons are told"
    assert len(denied.messages) == 2
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


def test_a_range_that_begins_at_a_deleted_version_leaves_the_latest() -> None:
    bench = group()
    add(bench, toy("a"))
    add(bench, toy("a", "b"))
    bench.do(SetConfig(Scope(*S), Config(exact_level=Level(backward=VersionRange("till", 1)))))
    bench.do(DeleteOrdinal(S, 1))
    assert bench.do(CheckReading(S, toy("a"))).compatible
    assert not bench.do(CheckReading(S, toy("b"))).compatible


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


@pytest.mark.parametrize("numbers", list(permutations((2, 5, 9))))
def test_the_newest_of_a_type_has_its_highest_ordinal_whatever_its_number(numbers: tuple[int, ...]) -> None:
    """Imports give numbers that rise with the ordinals, that fall, and that do neither; types take turns."""
    bench = group(types="many")
    bench.do(SetMode(Scope("."), "IMPORT", force=True))
    for ordinal, number in enumerate(numbers):
        for step, kind in enumerate("TU"):
            draft = toy(f"{kind}{ordinal}", type_name=kind)
            bench.do(ImportVersion(S, draft, 2 * ordinal + step, 2 * number + step))
    assert places(bench.do(ListGroupVersions(S, latest=True))) == [("s", 4), ("s", 5)]
    assert places(bench.do(ListGroupVersions(S, latest=True, type_name="T"))) == [("s", 4)]
    assert places(bench.do(ListGroupVersions(S))) == [("s", ordinal) for ordinal in range(6)]

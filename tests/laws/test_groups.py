"""Groups: a subject has a life of its own, with versions and without, and settings that whoever uses it can rely on."""

from dataclasses import replace

import pytest

from tests.laws.grouped import PRAVEGA, S, create, get
from tests.laws.toy import Bench, put, toy
from treaty.core import limits
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.invariants import find_violations
from treaty.core.messages.contexts import DeleteContext
from treaty.core.messages.encodings import AddCodec, CodecType
from treaty.core.messages.groups import (
    ANY_FORMAT,
    FORMAT,
    ChangeSubject,
    CreateSubject,
    DeleteOrdinal,
    GroupFound,
    GroupSettings,
    ListGroups,
    RemoveSubject,
)
from treaty.core.messages.listings import ListSubjects, ListVersions
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, DeleteConfig, GetConfig, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteVersion
from treaty.core.names import Subject, subject_of
from treaty.core.policy import LEVELS, Level, VersionRange
from treaty.core.refusals import (
    FormatNotAllowed,
    InvalidSetting,
    InvalidSubject,
    NotPermitted,
    PreviousLevelDiffers,
    Refusal,
    SubjectNotFound,
    TooLarge,
    VersionNotFound,
)
from treaty.core.schema import Draft
from treaty.core.state.view import Overlay


def test_a_subject_exists_before_its_first_version() -> None:
    bench = Bench()
    policy = Config(level="FULL", validators=("NAME_SHORT",))
    made = create(bench, policy=policy, properties=(("team", "a"),))
    assert made == GroupFound(
        "s", "pravega", "many", "registration", "normalised", ANY_FORMAT, LEVELS["FULL"], policy, (("team", "a"),), -1
    )
    assert get(bench) == made
    assert bench.do(ListSubjects()).names == (), "Confluent's lists have subjects with a live version"
    assert bench.do(GetConfig(Scope(*S))).config.level == "FULL"
    with pytest.raises(SubjectNotFound):
        bench.do(ListVersions(S))
    assert bench.do(AddCodec(S, CodecType("gzip"))).created
    put(bench, S, "a")
    assert get(bench) == replace(made, format="TOY", latest=0)
    assert bench.do(ListSubjects()).names == ("s",)
    assert [*find_violations(bench.tables)] == []


def test_one_that_is_there_keeps_its_settings() -> None:
    bench = Bench()
    first = create(bench)
    again = bench.do(CreateSubject(S, GroupSettings("schema-repo", identity="exact", policy=Config(level="NONE"))))
    assert (again.group, again.created) == (first, False)
    put(bench, Subject(".", "t"), "a")
    confluent = bench.do(CreateSubject(Subject(".", "t"), PRAVEGA))
    assert (confluent.group.origin, confluent.created, confluent.group.latest) == ("confluent", False, 0)


def test_a_new_context_comes_with_its_first_subject() -> None:
    bench = Bench()
    create(bench, Subject(".x", "s"))
    with pytest.raises(Refusal, match="not empty"):
        bench.do(DeleteContext(".x"))
    bench.do(RemoveSubject(Subject(".x", "s")))
    bench.do(DeleteContext(".x"))


@pytest.mark.parametrize(
    ("members", "refusal"),
    [
        ({"types": "several"}, InvalidSetting),
        ({"order": "random"}, InvalidSetting),
        ({"identity": "none"}, InvalidSetting),
        ({"origin": ""}, InvalidSetting),
        ({"policy": Config(level="SIDEWAYS")}, InvalidSetting),
        ({"policy": Config(validators=("nobody",))}, InvalidSetting),
        ({"policy": Config(alias="t")}, InvalidSetting),
        ({"policy": Config(exact_level=Level(VersionRange("till", 0)))}, VersionNotFound),
        ({"properties": (("a", "1"), ("a", "2"))}, InvalidSetting),
        ({"properties": (("treaty.other", "1"),)}, InvalidSetting),
        ({"properties": ((FORMAT, "avro"),)}, InvalidSetting),
        ({"properties": ((FORMAT, ""),)}, InvalidSetting),
        ({"properties": ((FORMAT, "A B"),)}, InvalidSetting),
        ({"properties": (("a", "x" * limits.GROUP_PROPERTY_CHARACTERS),)}, TooLarge),
        ({"properties": tuple((str(at), "") for at in range(limits.GROUP_PROPERTIES + 1))}, TooLarge),
    ],
)
def test_subjects_that_can_not_be(members: dict[str, object], refusal: type[Refusal]) -> None:
    bench = Bench()
    with pytest.raises(refusal) as refused:
        create(bench, S, **members)
    assert refused.value.reason.path.startswith("/settings/")
    with pytest.raises(SubjectNotFound):
        get(bench)
    create(bench)
    if refusal is not VersionNotFound:  # what is wrong in any state is refused in this one too
        with pytest.raises(refusal):
            create(bench, S, **members)


def test_a_subject_has_a_name_that_a_registration_may_make() -> None:
    with pytest.raises(InvalidSubject):
        create(Bench(), Subject(".", "a\nb"))
    with pytest.raises(InvalidSubject):
        create(Bench(), Subject(".", "a\u200bb"))


def test_a_config_that_is_there_before_its_subject_is_completed_and_not_changed() -> None:
    bench = Bench()
    bench.do(SetConfig(Scope(*S), Config(level="FULL")))
    with pytest.raises(NotPermitted):
        create(bench, policy=Config(level="NONE"))
    assert create(bench, policy=Config(partition="type")).config == Config(level="FULL", partition="type")


# ------------------------------------------------------------------------------------------------------- changes


def test_a_change_sets_what_it_names() -> None:
    bench = Bench()
    create(bench, properties=(("a", "1"),))
    deny = Level(deny=True)
    changed = bench.do(ChangeSubject(S, level=deny)).group
    assert (changed.level, changed.properties, changed.config.exact_level) == (deny, (("a", "1"),), deny)
    changed = bench.do(ChangeSubject(S, validators=("NAME_SHORT",), properties=(("b", "2"),))).group
    assert (changed.level, changed.config.validators, changed.properties) == (deny, ("NAME_SHORT",), (("b", "2"),))
    assert get(bench) == changed
    commits = len(bench.commits)
    assert bench.do(ChangeSubject(S, level=deny, properties=(("b", "2"),))).group == changed
    assert len(bench.commits) == commits, "what is so already is not written"
    assert bench.do(ChangeSubject(S, properties=())).group.properties == ()


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (ChangeSubject(S, level=Level(VersionRange("sideways"))), InvalidSetting),
        (ChangeSubject(S, level=Level(VersionRange("till", 3))), VersionNotFound),
        (ChangeSubject(S, validators=("nobody",)), InvalidSetting),
        (ChangeSubject(S, properties=(("treaty.x", ""),)), InvalidSetting),
        (ChangeSubject(Subject(".", "nobody"), level=Level()), SubjectNotFound),
    ],
)
def test_changes_that_can_not_be(change: ChangeSubject, refusal: type[Refusal]) -> None:
    bench = Bench()
    create(bench)
    before = get(bench)
    with pytest.raises(refusal):
        bench.do(change)
    assert get(bench) == before


def test_a_change_may_say_which_level_it_expects() -> None:
    """The level in force counts, inherited or not; two who expect the same one do not both succeed."""
    bench = Bench()
    create(bench)
    full, none = LEVELS["FULL"], LEVELS["NONE"]
    with pytest.raises(PreviousLevelDiffers) as refused:
        bench.do(ChangeSubject(S, level=none, previous=full))
    assert (refused.value.reason.old, refused.value.reason.new) == ("BACKWARD", "FULL")
    bench.do(ChangeSubject(S, level=full, previous=LEVELS["BACKWARD"]))
    with pytest.raises(PreviousLevelDiffers):
        bench.do(ChangeSubject(S, level=none, previous=LEVELS["BACKWARD"]))
    bench.do(ChangeSubject(S, previous=full))
    assert get(bench).level == full
    bench.do(DeleteConfig(Scope(*S)))
    assert get(bench).level == LEVELS["BACKWARD"]


def test_an_expected_level_is_compared_again_after_a_lost_race() -> None:
    bench = Bench()
    create(bench)
    change = ChangeSubject(S, level=LEVELS["NONE"], previous=LEVELS["BACKWARD"])
    assert isinstance(bench.verdict(change, "late"), Decision)
    bench.do(SetConfig(Scope(*S), Config(level="FULL")))
    assert isinstance(bench.verdict(change, "late"), PreviousLevelDiffers)


def test_of_two_changes_in_one_append_that_expect_a_level_one_is_refused() -> None:
    """The second is decided over the rows of the first, which are not in the tables yet."""
    bench = Bench()
    create(bench)
    bench.do(SetConfig(Scope(*S), Config(level="FULL")))
    change = ChangeSubject(S, level=LEVELS["NONE"], previous=LEVELS["FULL"])
    verdict, view = bench.verdict(change, "first"), Overlay(bench.tables)
    assert isinstance(verdict, Decision)
    view.put(verdict.rows)
    second = decide(view, Command(change, "second", 2_000), bench.engine)
    assert isinstance(second, PreviousLevelDiffers)


# ------------------------------------------------------------------------------------------------------- the format


def test_a_subject_takes_the_format_that_it_names_alone() -> None:
    bench = Bench()
    create(bench, properties=((FORMAT, "AVRO"),))
    assert get(bench).format == "AVRO"
    with pytest.raises(FormatNotAllowed) as refused:
        put(bench, S, "a")
    assert (refused.value.reason.old, refused.value.reason.new) == ("AVRO", "TOY")
    bench.do(ChangeSubject(S, properties=((FORMAT, ANY_FORMAT),)))
    put(bench, S, "a")
    with pytest.raises(FormatNotAllowed):
        bench.do(ChangeSubject(S, properties=((FORMAT, "AVRO"),)))
    bench.do(ChangeSubject(S, properties=((FORMAT, "TOY"),)))
    put(bench, S, "a", "b?")
    assert get(bench).format == "TOY"


@pytest.mark.parametrize(
    ("creation", "refusal"),
    [
        (SubjectCreation(types="several"), InvalidSetting),
        (SubjectCreation(identity="none"), InvalidSetting),
        (SubjectCreation(""), InvalidSetting),
        (SubjectCreation(properties=(("treaty.x", "1"),)), InvalidSetting),
        (SubjectCreation(properties=((FORMAT, "toy"),)), InvalidSetting),
        (SubjectCreation(properties=((FORMAT, "AVRO"),)), FormatNotAllowed),
    ],
)
def test_a_registration_creates_no_subject_that_can_not_be(creation: SubjectCreation, refusal: type[Refusal]) -> None:
    bench = Bench()
    with pytest.raises(refusal):
        bench.do(Register(S, toy("a"), create_with=creation))
    with pytest.raises(SubjectNotFound):
        get(bench)
    bench.do(Register(S, toy("a"), create_with=SubjectCreation(properties=((FORMAT, "TOY"),))))
    assert get(bench).format == "TOY"


@pytest.mark.parametrize("other_format", ["OTHER", "ZOTHER"])
def test_the_format_is_that_of_all_live_versions(other_format: str) -> None:
    """Whether its name comes before that of the latest version's format, or after it."""
    bench = Bench()
    create(bench, policy=Config(level="NONE"))
    other = SubjectCreation("pravega")
    bench.do(Register(S, Draft("anything", other_format), create_with=other))
    assert get(bench).format == other_format
    put(bench, S, "a", "b?")
    assert get(bench).format == ANY_FORMAT
    bench.do(DeleteVersion(S, 1))
    assert get(bench).format == "TOY"


# -------------------------------------------------------------------------------------------------- mode and lists


def test_a_subject_that_may_only_be_read_does_not_change() -> None:
    bench = Bench()
    before = create(bench)
    put(bench, S, "a")
    bench.do(SetMode(Scope("."), "READONLY"))
    changes: tuple[Request[object], ...] = (
        CreateSubject(Subject(".", "new"), PRAVEGA),
        ChangeSubject(S, level=Level()),
        ChangeSubject(S, properties=(("a", "b"),)),
        RemoveSubject(S),
        DeleteOrdinal(S, 0),
    )
    for change in changes:
        with pytest.raises(NotPermitted):
            bench.do(change)
    assert bench.do(CreateSubject(S, PRAVEGA)).group == get(bench) == replace(before, format="TOY", latest=0)
    assert not bench.do(RemoveSubject(Subject(".", "nobody"))).removed


def listed(bench: Bench, request: ListGroups, access: Access | None = None) -> tuple[list[str], str]:
    told = decide(bench.tables, Command(request, "c", 1, "user:a", access), bench.engine)
    assert isinstance(told, Decision)
    return [one.subject for one in told.answer.groups], told.answer.last


def test_subjects_of_a_context_are_listed_by_name_page_by_page() -> None:
    bench = Bench()
    for name in ("b", "a", "c", ":.x:z"):
        create(bench, subject_of(name))
    put(bench, Subject(".", "d"), "a")
    assert listed(bench, ListGroups()) == (["a", "b", "c", "d"], "d")
    assert listed(bench, ListGroups(limit=2)) == (["a", "b"], "b")
    assert listed(bench, ListGroups(after="b", limit=2)) == (["c", "d"], "d")
    assert listed(bench, ListGroups(after="d")) == ([], "d")
    assert listed(bench, ListGroups(".x")) == ([":.x:z"], "z")
    assert listed(bench, ListGroups(".y")) == listed(bench, ListGroups(limit=-1)) == ([], "")


def test_a_list_shows_what_may_be_read_and_names_nothing_else() -> None:
    bench = Bench()
    for name in ("a", "b", "c", "d"):
        create(bench, Subject(".", name))
    access = Access((AccessRule(("user:a",), with_included(["read"]), ("[a]", "b", "c")),))
    assert listed(bench, ListGroups(limit=1), access) == (["b"], "b")
    assert listed(bench, ListGroups(after="b"), access) == (["c"], "c")
    assert listed(bench, ListGroups(after="c"), access) == ([], "c")

"""What the plan of an import makes of groups: whatever differs is written or said, in a context that takes it."""

from dataclasses import dataclass, fields, replace
from typing import Any
from uuid import UUID

import pytest

from treaty.client.transfer.api_keys import NO_KEYS
from treaty.client.transfer.group_plan import GroupPlan
from treaty.client.transfer.plan import ImportPlan, make_plan
from treaty.client.transfer.registry_image import RegistryImage, VersionFacts
from treaty.core.messages.api_keys import ApiKeyFound
from treaty.core.messages.associations import Resource, ResourceAssociation
from treaty.core.messages.encodings import CodecType
from treaty.core.messages.groups import GroupSettings
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.transfers import ExportedSubject, ExportedVersion, HighestNumbers
from treaty.core.messages.versions import VersionFound
from treaty.core.policy import ALL, Level, VersionRange
from treaty.core.state.values import PolicyValue

SUBJECT = ":.x:g"
SETTINGS = GroupSettings("pravega", "many", schemes=("md5",), properties=(("team", "a"),))
GZIP = CodecType("gzip", (("level", "9"), ("window", "15")))
GROUP = ExportedSubject(SUBJECT, SETTINGS, HighestNumbers(4, 3, (("AVRO", "", 4),)), (GZIP,))
FIRST, SECOND, DELETED = (
    VersionFound(
        SUBJECT, number, number - 1, number, str(UUID(int=number)), "AVRO", f'"{number}"', type_version=number - 1
    )
    for number in (1, 2, 4)
)
HIDDEN = ExportedVersion(
    VersionFound(SUBJECT, 3, 2, 3, str(UUID(int=3)), "AVRO", '"3"', type_version=2), "hidden", encodings=((2, "gzip"),)
)
FACTS = {
    (SUBJECT, 1): VersionFacts(encodings=((0, "gzip"),), superseded_by=1),
    (SUBJECT, 2): VersionFacts(type_version=1, encodings=((1, "gzip"),)),
    (SUBJECT, 4): VersionFacts(type_version=3),
}
BOUND = ResourceAssociation(SUBJECT, "guid", Resource("topic", "lkc", "id"), "value", "WEAK", False, 1, 2)
IMAGE = RegistryImage(
    (FIRST, SECOND, replace(DELETED, deleted=True)),
    ((Scope(".x", "g"), Config(level="FULL")),),
    contexts=(".", ".x"),
    associations=(BOUND,),
    native=True,
    exact=True,
    groups=(GROUP,),
    facts=FACTS,
    hidden=(HIDDEN,),
    policies=(("gold", PolicyValue(ALL)),),
    api_keys=(ApiKeyFound("0a" * 32, "com.acme", "READ"),),
)
"""A group that has something of everything."""


def with_group(**change: Any) -> RegistryImage:
    return replace(IMAGE, groups=(replace(GROUP, **change),))


def with_settings(**change: Any) -> RegistryImage:
    return with_group(settings=replace(SETTINGS, **change))


def with_facts(number: int, **change: Any) -> RegistryImage:
    place = (SUBJECT, number)
    return replace(IMAGE, facts={**FACTS, place: replace(FACTS[place], **change)})


@dataclass(frozen=True, slots=True)
class Difference:
    """A target that differs from the image, and the part of the plan that says so; `group` where it is one of the groups."""

    target: RegistryImage
    part: str
    group: bool = True


DIFFERENCES = {
    "no subject": Difference(replace(IMAGE, groups=(), versions=(), facts={}, hidden=()), "made"),
    "a removed subject": Difference(replace(with_group(removed=True), versions=(), facts={}, hidden=()), "made"),
    "origin": Difference(with_settings(origin="treaty"), "problems"),
    "types": Difference(with_settings(types="one"), "problems"),
    "order": Difference(with_settings(order="schemaver"), "problems"),
    "identity": Difference(with_settings(identity="exact"), "problems"),
    "schemes": Difference(with_settings(schemes=()), "problems"),
    "private": Difference(with_group(private=True), "problems"),
    "properties": Difference(with_settings(properties=()), "properties"),
    "label policy": Difference(with_group(label_policy="refuse"), "label_policies"),
    "no codec": Difference(with_group(codecs=()), "codecs"),
    "properties of a codec": Difference(with_group(codecs=(replace(GZIP, properties=()),)), "problems"),
    "highest ordinal": Difference(with_group(highest=HighestNumbers(3, 3, GROUP.highest.types)), "raised"),
    "highest encoding": Difference(with_group(highest=HighestNumbers(4, 2, GROUP.highest.types)), "raised"),
    "highest type": Difference(with_group(highest=HighestNumbers(4, 3, (("AVRO", "", 3),))), "raised"),
    "no hidden version": Difference(replace(IMAGE, hidden=()), "hidden"),
    "no encoding": Difference(with_facts(2, encodings=()), "encodings"),
    "no encoding of a hidden version": Difference(replace(IMAGE, hidden=(replace(HIDDEN, encodings=()),)), "encodings"),
    "an encoding of another version": Difference(with_facts(2, encodings=((0, "gzip"), (1, "gzip"))), "problems"),
    "an encoding with another codec": Difference(with_facts(2, encodings=((1, "own"),)), "problems"),
    "superseded by none": Difference(with_facts(1, superseded_by=-1), "superseded"),
    "superseded by another": Difference(with_facts(1, superseded_by=3), "superseded"),
    "no version": Difference(replace(IMAGE, versions=(FIRST, IMAGE.versions[2])), "versions"),
    "a live version": Difference(replace(IMAGE, versions=(FIRST, SECOND, DELETED)), "deletions", False),
    "a config": Difference(replace(IMAGE, configs=()), "configs", False),
    "an association": Difference(replace(IMAGE, associations=()), "associations", False),
    "a named policy": Difference(replace(IMAGE, policies=()), "policies", False),
    "an API key": Difference(replace(IMAGE, api_keys=()), "api_keys", False),
    "a mode": Difference(replace(IMAGE, modes=((Scope(".x", "g"), "READONLY"),)), "", False),
}
OUTSIDE = {"a named policy", "an API key"}
"""What belongs to no context."""


def list_written(plan: ImportPlan) -> dict[str, int]:
    """How much of each part a plan writes."""
    said = {"lifted", "conflicts", "left_out", "notes", "groups", "native", "there", "numbers", "waves"}
    parts = {one.name: getattr(plan, one.name) for one in fields(ImportPlan) if one.name not in said}
    parts |= {one.name: getattr(plan.groups, one.name) for one in fields(GroupPlan)}
    sizes = {name: len(part) for name, part in parts.items() if name not in {"exact", "problems", "versions"}}
    return {name: size for name, size in {**sizes, "waves": sum(map(len, plan.waves))}.items() if size}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_whatever_differs_is_written_or_said(name: str) -> None:
    difference = DIFFERENCES[name]
    plan = make_plan(IMAGE, difference.target)
    parts = plan.groups if difference.group else plan
    assert not difference.part or len(getattr(parts, difference.part)) == 1
    assert len(plan.deletions) == (difference.part == "deletions"), "a version with its ordinal is written as deleted"
    assert bool(plan.conflicts) == (difference.part == "problems")
    assert plan.size == sum(list_written(plan).values())
    assert (plan.size > 0) == (difference.part not in {"", "problems"})


@pytest.mark.parametrize("name", DIFFERENCES)
def test_a_context_takes_an_import_as_long_as_something_of_it_is_written(name: str) -> None:
    """And so does the subject, if it has a mode of its own; both have theirs again in the end."""
    modes = ((Scope(".x"), "READWRITE"), (Scope(".x", "g"), "READONLY"))
    source = replace(IMAGE, modes=modes)
    plan = make_plan(source, replace(DIFFERENCES[name].target, modes=modes))
    assert plan.lifted == (modes if plan.size and name not in OUTSIDE else ())


def test_an_image_lacks_nothing_of_itself() -> None:
    plan = make_plan(IMAGE, IMAGE)
    assert (plan.size, plan.lifted, plan.conflicts, plan.left_out, plan.notes) == (0, (), (), (), ())
    assert plan.there == len(IMAGE.versions)
    turned = with_group(codecs=(replace(GZIP, properties=GZIP.properties[::-1]),))
    assert make_plan(IMAGE, turned) == plan, "properties of a codec have no order"


def test_versions_that_are_counted_in_another_way_keep_back_what_goes_by_ordinals() -> None:
    other = tuple(replace(one, ordinal=one.ordinal + 1) for one in IMAGE.versions)
    for target in (replace(IMAGE, versions=other), replace(IMAGE, versions=other[1:], hidden=())):
        plan = make_plan(IMAGE, target)
        assert plan.groups.exact == frozenset()
        assert [one.what for one in plan.groups.problems] == ["not written whole"]
        assert (plan.groups.hidden, plan.groups.encodings, plan.groups.raised) == ((), (), ())
    for source, count in ((replace(IMAGE, hidden=()), 1), (replace(IMAGE, hidden=(), facts={}), 0)):
        assert len(make_plan(source, replace(source, versions=other)).groups.problems) == count


@pytest.mark.parametrize("version", [replace(FIRST, number=9, schema_id=9), replace(FIRST, ordinal=9)])
def test_an_ordinal_belongs_to_one_number_and_a_number_to_one_ordinal(version: VersionFound) -> None:
    target = replace(IMAGE, versions=(version,), facts={}, hidden=())
    assert make_plan(IMAGE, target).groups.exact == frozenset()


def test_a_former_text_has_the_number_of_its_version_and_an_ordinal_of_its_own() -> None:
    former = replace(HIDDEN, version=replace(HIDDEN.version, number=1, ordinal=4), revision_of=0)
    source = replace(IMAGE, hidden=(former,))
    assert make_plan(source, source).groups.exact == {SUBJECT}


def test_a_subject_that_was_removed_is_made_nowhere_and_changed_nowhere() -> None:
    removed = replace(with_group(removed=True, label_policy="refuse"), versions=(), facts={}, hidden=())
    for target in (RegistryImage(native=True, exact=True), IMAGE):
        plan = make_plan(removed, target)
        assert (plan.groups.made, plan.groups.label_policies, plan.conflicts) == ((), (), ())


def test_a_range_that_begins_at_a_hidden_version_is_the_same_where_ordinals_are() -> None:
    config = Config(exact_level=Level(VersionRange("till", HIDDEN.version.ordinal), VersionRange("till", 0)))
    source = replace(IMAGE, configs=((Scope(".x", "g"), config),))
    assert make_plan(source, source).size == 0
    plan = make_plan(source, IMAGE)
    assert (plan.configs, plan.numbers) == (source.configs, {}), "and goes there as it is"


def test_what_is_not_written_has_no_encodings_and_is_superseded_by_nothing() -> None:
    """A hidden version of the same number is another one, which is written with its encodings."""
    hidden = replace(HIDDEN, version=replace(HIDDEN.version, number=1))
    taken = VersionFound(":.x:other", 1, 0, 1, str(UUID(int=9)), "AVRO", '"other"')
    target = replace(IMAGE, versions=(taken,), groups=(), facts={}, hidden=())
    plan = make_plan(replace(IMAGE, hidden=(hidden,)), target)
    assert [one.where for one in plan.conflicts] == [f"{SUBJECT} version 1"]
    assert plan.groups.superseded == ()
    assert sorted(one.encoding_id for one in plan.groups.encodings) == [1, 2]
    assert plan.there == 0


PLAIN = replace(GROUP, settings=GroupSettings("confluent"), highest=HighestNumbers(4), codecs=())
CONFLUENT = RegistryImage((FIRST, SECOND), exact=True, groups=(PLAIN,))
"""A subject that Confluent's API made."""


@pytest.mark.parametrize(
    "change",
    [
        {"versions": ()},
        {"versions": (replace(FIRST, imports=(("k.proto", ""),)), SECOND)},
        {"hidden": (replace(HIDDEN, encodings=()),)},
        {"facts": {(SUBJECT, 1): VersionFacts(names=(("md5", "0a"),))}},
        {"groups": (replace(PLAIN, highest=HighestNumbers(4, 0)),)},
        {"groups": (replace(PLAIN, codecs=(GZIP,)),)},
        {"groups": (replace(PLAIN, settings=GroupSettings("confluent", identity="exact")),)},
        {"groups": (replace(PLAIN, settings=GroupSettings("confluent", properties=(("team", "a"),))),)},
    ],
    ids=["no versions", "imports", "hidden", "names", "encodings", "codecs", "identity", "properties"],
)
def test_a_registry_without_groups_lacks_whatever_is_not_plain(change: dict[str, Any]) -> None:
    assert make_plan(CONFLUENT, RegistryImage()).left_out == ()
    (note,) = make_plan(replace(CONFLUENT, **change), RegistryImage()).left_out
    assert SUBJECT in note


@pytest.mark.parametrize("count", [1, 5, 6, 7])
def test_a_note_names_five_subjects_and_counts_the_others(count: int) -> None:
    groups = tuple(replace(GROUP, subject=f"s{at}") for at in range(count))
    (note, *_) = make_plan(RegistryImage(groups=groups, exact=True), RegistryImage()).left_out
    assert (", s4" in note, "s5" in note) == (count >= 5, False)
    assert (f"and {count - 5} more" in note) == (count > 5)
    assert ("more" in note) == (count > 5)


@pytest.mark.parametrize("native", [True, False])
def test_keys_are_left_out_where_no_registry_has_them(*, native: bool) -> None:
    plan = make_plan(IMAGE, RegistryImage(native=native, exact=True))
    assert (NO_KEYS in plan.left_out) != native
    assert bool(plan.api_keys) == native
    assert bool(plan.policies) == native

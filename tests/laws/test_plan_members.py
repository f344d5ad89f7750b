"""An import plan member by member: what is the same in both is not written, what one lacks is, and each kind of target gets what it takes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from treaty.client.transfer.api_keys import NO_KEYS
from treaty.client.transfer.plan import NO_IDS, NO_TIMES, UNGIVEN, ImportPlan, make_plan
from treaty.client.transfer.registry_image import RegistryImage
from treaty.core.limits import ID_GAP
from treaty.core.messages.api_keys import ApiKeyFound
from treaty.core.messages.associations import Resource, ResourceAssociation
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import VersionFound
from treaty.core.policy import LATEST, Level, VersionRange
from treaty.core.schema import Reference
from treaty.core.state.values import PolicyValue

S = VersionFound("s", 1, 0, 1, "", "AVRO", '"int"', time=5)
NEXT = replace(S, number=2, schema_id=2, text='"long"')
GONE = replace(S, subject=":.x:t", deleted=True)
BOUND = ResourceAssociation("s", "guid", Resource("topic", "lkc", "id"), "value", "WEAK", False, 1, 2)
KEYS = tuple(ApiKeyFound(f"0{at}" * 32, "com.acme", "READ") for at in range(2))
WHOLE = RegistryImage(
    (S, NEXT, GONE),
    ((Scope("."), Config(level="FULL")), (Scope(".", "s"), Config(level="NONE", follows="gold"))),
    ((Scope(".", "s"), "READONLY"), (Scope(".x"), "READWRITE")),
    (".x", ".y"),
    ((".y", 7),),
    associations=(BOUND, replace(BOUND, kind="key")),
    native=True,
    policies=(("gold", PolicyValue(LATEST)),),
    api_keys=KEYS,
)
TREATY, OTHER = RegistryImage(native=True), RegistryImage()


def list_places(plan: ImportPlan) -> list[tuple[str, int]]:
    return [(one.subject, one.number) for wave in plan.waves for one in wave]


def test_what_is_there_is_not_written_again() -> None:
    plan = make_plan(WHOLE, WHOLE)
    assert (plan.size, plan.conflicts, plan.there, plan.left_out, plan.notes) == (0, (), 3, (), ())


LACKS: dict[str, tuple[Callable[[RegistryImage], RegistryImage], str, Any]] = {
    "a config": (lambda image: replace(image, configs=image.configs[:1]), "configs", WHOLE.configs[1:]),
    "another config": (
        lambda image: replace(image, configs=((Scope("."), Config(level="NONE")), *image.configs[1:])),
        "configs",
        WHOLE.configs[:1],
    ),
    "another normalization": (
        lambda image: replace(image, configs=((Scope("."), Config(level="FULL", normalize=True)), *image.configs[1:])),
        "configs",
        WHOLE.configs[:1],
    ),
    "a mode": (lambda image: replace(image, modes=image.modes[1:]), "modes", WHOLE.modes[:1]),
    "another mode": (
        lambda image: replace(image, modes=((Scope(".", "s"), "READWRITE"), *image.modes[1:])),
        "modes",
        WHOLE.modes[:1],
    ),
    "a context": (lambda image: replace(image, contexts=(".x",)), "made", ((".y", 0),)),
    "a highest id": (lambda image: replace(image, highest=((".y", 6),)), "made", ((".y", 7),)),
    "an association": (
        lambda image: replace(image, associations=image.associations[:1]),
        "associations",
        WHOLE.associations[1:],
    ),
    "the association of the value": (
        lambda image: replace(image, associations=image.associations[1:]),
        "associations",
        WHOLE.associations[:1],
    ),
    "a policy": (lambda image: replace(image, policies=()), "policies", WHOLE.policies),
    "a key": (lambda image: replace(image, api_keys=KEYS[:1]), "api_keys", KEYS[1:]),
    "a version": (lambda image: replace(image, versions=(S, GONE)), "waves", ((NEXT,),)),
    "a deletion": (
        lambda image: replace(image, versions=(S, NEXT, replace(GONE, deleted=False))),
        "deletions",
        (GONE,),
    ),
}
"""By name: a target that lacks something, the member of the plan that writes it, and what it has."""


@pytest.mark.parametrize("name", LACKS)
def test_what_a_target_lacks_is_written_and_nothing_else(name: str) -> None:
    cut, member, expected = LACKS[name]
    plan = make_plan(WHOLE, cut(WHOLE))
    assert (getattr(plan, member), plan.size, plan.conflicts) == (expected, 1, ())
    assert plan.there == len(WHOLE.versions) - (member == "waves")


def test_each_kind_of_target_gets_what_it_takes() -> None:
    treaty, other = (make_plan(WHOLE, target) for target in (TREATY, OTHER))
    assert (treaty.made, other.made) == (((".x", 0), (".y", 7)), ())
    assert (treaty.policies, other.policies) == (WHOLE.policies, ())
    assert (treaty.configs[1][1].follows, other.configs[1][1].follows) == ("gold", "gold")
    assert (treaty.native, other.native) == (True, False)
    assert (treaty.api_keys, NO_KEYS in treaty.left_out, NO_KEYS in other.left_out) == (KEYS, False, True)
    assert (NO_TIMES in treaty.left_out, NO_TIMES in other.left_out) == (False, True)
    assert treaty.size == 3 + 1 + 2 + 2 + 2 + 2 + 1 + 2, (
        "versions, deletions, configs, modes, contexts, associations, policies, keys"
    )


@pytest.mark.parametrize("times", [(5, 5), (5, 0), (0, 5), (0, 0)])
def test_times_are_left_out_where_any_version_has_one(times: tuple[int, int]) -> None:
    versions = tuple(replace(one, time=time) for one, time in zip((S, NEXT), times, strict=True))
    assert (NO_TIMES in make_plan(RegistryImage(versions), OTHER).left_out) == any(times)


def test_another_policy_of_a_name_is_a_conflict_and_what_follows_it_has_it_as_its_own() -> None:
    for target in (WHOLE, replace(WHOLE, native=False)):
        plan = make_plan(WHOLE, replace(target, policies=(("gold", PolicyValue()),)))
        assert [one.where for one in plan.conflicts] == ["policy gold"] * target.native
        assert plan.policies == ()
        follows = [config.follows for scope, config in plan.configs if scope.name]
        assert follows == ([None] if target.native else follows)


SAME = replace(S, subject="u")
VERSIONS: dict[str, tuple[VersionFound, VersionFound, str]] = {
    "the same": (S, S, ""),
    "another id": (replace(S, schema_id=9), S, "the target has another schema there, with id 1"),
    "another text": (replace(S, text='"long"'), S, "the target has another schema there, with id 1"),
    "another text without an id": (
        replace(S, text='"long"', schema_id=UNGIVEN),
        S,
        "the target has another schema there, with id 1",
    ),
    "the id of another subject": (
        S,
        replace(SAME, text='"long"'),
        "id 1 belongs to another schema there (u version 1)",
    ),
    "the id of another version": (
        replace(S, number=2, text='"long"'),
        S,
        "id 1 belongs to another schema there (s version 1)",
    ),
    "an id in another context": (S, replace(SAME, subject=":.x:u", text='"long"'), ""),
    "the id of the same schema": (S, SAME, ""),
    "no id, as one of the target": (replace(S, schema_id=UNGIVEN), replace(SAME, schema_id=UNGIVEN, text='"long"'), ""),
    "live where it is deleted": (S, replace(S, deleted=True), "the target has it softly deleted"),
    "deleted where it is live": (replace(S, deleted=True), S, ""),
    "deleted, with another text": (
        replace(S, deleted=True, text='"long"'),
        S,
        "the target has another schema there, with id 1",
    ),
    "deleted in both": (replace(S, deleted=True), replace(S, deleted=True), ""),
}
"""By name: a version of the source, one of the target, and why the first is not written."""


@pytest.mark.parametrize("name", VERSIONS)
def test_a_version_is_written_unless_its_place_or_its_id_is_another_one_s(name: str) -> None:
    version, there, why = VERSIONS[name]
    source, target = RegistryImage((version,)), RegistryImage((there,), native=True, exact=True)
    plan = make_plan(source, target)
    assert [one.why[: len(why)] for one in plan.conflicts] == ([why] if why else [])
    is_there = (version.subject, version.number) == (there.subject, there.number)
    assert list_places(plan) == ([] if why or is_there else [(version.subject, version.number)])
    assert plan.deletions == ((version,) if version.deleted and not there.deleted and not why else ())
    assert plan.there == int(is_there and not why)


@pytest.mark.parametrize("exact", [False, True])
def test_versions_without_ids_are_for_targets_that_give_them(*, exact: bool) -> None:
    source = RegistryImage((replace(S, schema_id=UNGIVEN),))
    plan = make_plan(source, RegistryImage(exact=exact, native=True))
    assert [one.why for one in plan.conflicts] == ([] if exact else [NO_IDS])
    assert dict(plan.made) == {}


def refer(subject: str, *references: tuple[str, int], schema_id: int = 5, number: int = 1) -> VersionFound:
    used = tuple(Reference(f"{name} {at}", name, at) for name, at in references)
    return replace(S, subject=subject, number=number, schema_id=schema_id, text=f'"{subject}"', references=used)


def test_what_refers_to_a_conflict_and_is_there_stays_there() -> None:
    user = refer("u", ("s", 1))
    plan = make_plan(RegistryImage((S, user)), RegistryImage((replace(S, text='"long"'), user)))
    assert [one.where for one in plan.conflicts] == ["s version 1"]


WAVES: dict[str, tuple[tuple[VersionFound, ...], list[list[str]]]] = {
    "one that needs two": ((refer("a", ("b", 1), ("c", 1)), refer("b", ("c", 1)), refer("c")), [["c"], ["b"], ["a"]]),
    "a context of its own": (
        (refer(":.x:a", ("b", 1)), refer(":.x:b"), refer("b", ("d", 1)), refer("d")),
        [[":.x:b", "d"], [":.x:a", "b"]],
    ),
    "another context": ((refer(":.x:a", (":.y:b", 1)), refer(":.y:b")), [[":.y:b"], [":.x:a"]]),
    "a circle behind one": ((refer("a", ("b", 1)), refer("b", ("a", 1)), refer("c")), [["c"], ["a", "b"]]),
    "itself": ((refer("a", ("a", 1)), refer("c")), [["c"], ["a"]]),
}


@pytest.mark.parametrize("name", WAVES)
def test_versions_come_in_waves_of_those_that_need_no_later_one(name: str) -> None:
    versions, expected = WAVES[name]
    plan = make_plan(RegistryImage(versions), TREATY)
    assert [sorted(one.subject for one in wave) for wave in plan.waves] == expected


MODES = {Scope(".", "s"): "READONLY", Scope("."): "READONLY", Scope(".x"): "READONLY", Scope("*"): "READONLY"}
LIFTED: dict[str, tuple[RegistryImage, set[Scope]]] = {
    "a version": (RegistryImage((S,)), {Scope("."), Scope(".", "s")}),
    "a version of another subject": (RegistryImage((SAME,)), {Scope(".")}),
    "an association": (RegistryImage(associations=(BOUND,)), {Scope("."), Scope(".", "s")}),
    "the config of a subject": (
        RegistryImage(configs=((Scope(".", "s"), Config(level="FULL")),)),
        {Scope("."), Scope(".", "s")},
    ),
    "the config of a context": (RegistryImage(configs=((Scope(".x"), Config(level="FULL")),)), {Scope(".x")}),
    "the config of all": (RegistryImage(configs=((Scope("*"), Config(level="FULL")),)), {Scope("*")}),
    "a context": (RegistryImage(contexts=(".y",)), {Scope(".y")}),
    "nothing": (RegistryImage(), set()),
}


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("name", LIFTED)
def test_the_modes_that_are_in_the_way_give_way_and_no_others(name: str, *, native: bool) -> None:
    source, expected = LIFTED[name]
    plan = make_plan(source, RegistryImage(modes=tuple(MODES.items()), native=native))
    if name == "a context" and not native:
        expected = set()  # it makes none
    assert dict(plan.lifted) == {scope: MODES.get(scope) for scope in expected}


@pytest.mark.parametrize("scope", [Scope("."), Scope(".", "u"), Scope(".x")])
def test_a_config_of_all_lifts_no_mode_that_is_not_there(scope: Scope) -> None:
    source = RegistryImage(configs=((Scope("*"), Config(level="FULL")),))
    assert make_plan(source, RegistryImage(modes=((scope, "READONLY"),))).lifted == ()
    assert make_plan(source, RegistryImage()).lifted == ()


@pytest.mark.parametrize("target", [TREATY, replace(TREATY, versions=(S,)), WHOLE])
def test_a_range_that_begins_at_a_version_on_its_way_is_written(target: RegistryImage) -> None:
    config = Config(exact_level=Level(VersionRange("till", 2)))
    versions = (S, replace(S, number=2, ordinal=2, schema_id=8, text='"bytes"', subject="w"))
    source = RegistryImage((*versions, replace(S, subject="w")), ((Scope(".", "w"), config),))
    assert make_plan(source, target).configs == source.configs


def test_the_default_context_is_made_by_nobody() -> None:
    assert make_plan(RegistryImage(contexts=(".", ".x")), TREATY).made == ((".x", 0),)


def test_versions_without_ids_change_nothing_for_the_ids_of_others() -> None:
    far = 2 + ID_GAP
    versions = (replace(S, subject=":.x:s", schema_id=UNGIVEN), replace(S, subject=":.x:t", schema_id=far, text='"t"'))
    for ids in (versions, versions[1:]):
        assert make_plan(RegistryImage(ids), replace(TREATY, exact=True)).made == ((".x", far),)


def test_a_deletion_in_a_target_that_is_read_only_lifts_its_mode() -> None:
    plan = make_plan(RegistryImage((replace(S, deleted=True),)), RegistryImage((S,), modes=tuple(MODES.items())))
    assert {scope for scope, _ in plan.lifted} == {Scope("."), Scope(".", "s")}


def test_a_context_counts_from_where_both_its_ids_and_its_versions_end() -> None:
    """The higher one counts."""
    for highest in (0, 9 + 2 * ID_GAP):
        version = replace(S, subject=":.x:s", schema_id=2 + ID_GAP)
        plan = make_plan(RegistryImage((version,), highest=((".x", highest),) if highest else ()), TREATY)
        assert plan.made == ((".x", max(highest, 2 + ID_GAP)),)

"""What an import takes for the same and what for another, member by member, and what its records come to."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer import registry_reader
from treaty.client.transfer.dry_run import find_latest_numbers
from treaty.client.transfer.dump import line_of
from treaty.client.transfer.image_writer import write
from treaty.client.transfer.plan import NO_CONTEXTS, NO_HIGHEST, NO_POLICIES, UNGIVEN, make_plan
from treaty.client.transfer.registry_image import RegistryImage, build_image
from treaty.core.limits import ID_GAP
from treaty.core.messages.api_keys import ApiKeyFound
from treaty.core.messages.associations import AssociationSpec, ListAssociations, Resource, ResourceAssociation
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.policy import ALL, Level, VersionRange
from treaty.core.registry import CALL, CallOptions, Reply
from treaty.core.schema import Metadata, Reference, Rule, RuleSet
from treaty.wire.confluent.records import VersionRecord

SCHEMA = VersionFound("s", 1, 0, 1, "", "AVRO", '"int"')
BOUND = ResourceAssociation("s", "guid", Resource("topic", "lkc", "id"), "value", "WEAK", False, 1, 2)
KEY = ApiKeyFound("0a" * 32, "com.acme", "READ")


def record_of(version: VersionFound) -> VersionRecord:
    return VersionRecord(version.subject, version.number, version)


@pytest.mark.parametrize(
    ("change", "is_other"),
    [
        ({"resource": Resource("topic", "lkc", "other")}, True),
        ({"subject": "t"}, True),
        ({"lifecycle": "STRONG"}, True),
        ({"frozen": True}, True),
        ({"guid": "other", "created": 9, "updated": 9}, False),
    ],
    ids=["id", "subject", "lifecycle", "frozen", "guid and times"],
)
def test_an_association_that_says_something_else_there_is_a_conflict(change: dict[str, Any], *, is_other: bool) -> None:
    source, target = RegistryImage(associations=(BOUND,)), RegistryImage(associations=(replace(BOUND, **change),))
    plan = make_plan(source, target)
    assert (len(plan.conflicts), plan.associations) == (int(is_other), ())


@pytest.mark.parametrize("change", [{"digest": "0b" * 32}, {"vendor": "org.acme"}, {"action": "BUMP"}])
def test_a_key_that_differs_in_anything_is_added(change: dict[str, Any]) -> None:
    source = RegistryImage(api_keys=(KEY,))
    same, other = (RegistryImage(api_keys=(one,), native=True) for one in (KEY, replace(KEY, **change)))
    assert make_plan(source, same).api_keys == ()
    assert make_plan(source, other).api_keys == (KEY,)


@pytest.mark.parametrize(("deleted", "deleted_there"), [(False, False), (True, True), (True, False), (False, True)])
def test_a_version_is_never_made_live_again_by_an_import(*, deleted: bool, deleted_there: bool) -> None:
    source, target = (RegistryImage((replace(SCHEMA, deleted=one),)) for one in (deleted, deleted_there))
    plan = make_plan(source, target)
    assert bool(plan.conflicts) == (deleted_there and not deleted)
    assert bool(plan.deletions) == (deleted and not deleted_there)


@pytest.mark.parametrize("order", [*permutations(range(4))])
def test_what_a_version_needs_comes_in_an_earlier_wave(order: tuple[int, ...]) -> None:
    """The version before it, and what it refers to."""
    versions = [replace(SCHEMA, number=at + 1, schema_id=at + 1, text=f'"{at}"') for at in range(3)]
    versions.append(replace(SCHEMA, subject="t", schema_id=9, text='"t"', references=(Reference("s", "s", 3),)))
    plan = make_plan(RegistryImage(tuple(versions[at] for at in order)), RegistryImage())
    waves = [[(one.subject, one.number) for one in wave] for wave in plan.waves]
    assert waves == [[("s", 1)], [("s", 2)], [("s", 3)], [("t", 1)]]


@pytest.mark.parametrize(
    "change",
    [
        {"format": "JSON"},
        {"text": '"long"'},
        {"references": (Reference("a", "b", 1),)},
        {"metadata": Metadata(properties=(("a", "b"),))},
        {"rules": RuleSet((Rule("a"),))},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_id_belongs_to_one_schema_as_long_as_any_version_has_it(change: dict[str, Any]) -> None:
    """Of several versions that have it, each may go."""
    same = [replace(SCHEMA, subject=name) for name in "abc"]
    other = replace(SCHEMA, subject="z", **change)
    for gone in range(4):
        records = [record_of(one) for one in same]
        records += [VersionRecord(one.subject, one.number, None) for one in same[:gone]]
        image = build_image((str(at), one) for at, one in enumerate([*records, record_of(other)]))
        assert [one.subject for one in image.versions] == [*"abc"[gone:], *("z" if gone == 3 else "")]
        assert bool(image.problems) == (gone < 3)


@pytest.mark.parametrize("value", [b"", b"null", b" null ", b"\r"])
def test_a_line_without_a_value_is_a_tombstone(value: bytes) -> None:
    line = line_of(b'{"keytype":"NOOP"}\t' + value)
    assert (line.key, line.value) == (b'{"keytype":"NOOP"}', None)


def test_the_latest_number_is_that_of_a_live_version() -> None:
    versions = tuple(replace(SCHEMA, number=number, deleted=number > 2) for number in (1, 2, 3))
    asked = (Subject(".", "s"), Subject(".", "t"))
    assert find_latest_numbers(RegistryImage(versions), asked) == dict(zip(asked, (2, -1), strict=True))


IN_X = replace(SCHEMA, subject=":.x:s")


def with_ids(*ids: int) -> RegistryImage:
    return RegistryImage(tuple(replace(IN_X, number=at, schema_id=id_) for at, id_ in enumerate(ids, 1)), native=True)


@pytest.mark.parametrize(
    ("ids", "highest", "raised_to"),
    [
        ((7 + ID_GAP,), 7, None),
        ((8 + ID_GAP,), 7, 8 + ID_GAP),
        ((1 + ID_GAP, 1 + 2 * ID_GAP), 1, 1 + 2 * ID_GAP),
        ((1 + ID_GAP, 2 + 2 * ID_GAP), 1, None),
        ((2 + ID_GAP, 3 + 2 * ID_GAP), 1, 2 + ID_GAP),
    ],
    ids=["the last", "above", "two", "one by mistake", "one above and one by mistake"],
)
def test_ids_are_raised_where_the_target_would_refuse_them(ids: tuple[int, ...], highest: int, raised_to: int) -> None:
    """Each id may lie as far as ID_GAP above the one before it."""
    made = make_plan(with_ids(*ids), replace(RegistryImage(native=True), highest=((".x", highest),))).made
    assert dict(made).get(".x") == raised_to


@pytest.mark.parametrize(("needed", "is_raised"), [(4, False), (5, False), (6, True)])
def test_a_context_counts_on_from_the_highest_id_that_it_ever_gave(needed: int, *, is_raised: bool) -> None:
    """That of a version, or of one that is gone."""
    for target in (with_ids(5), RegistryImage(highest=((".x", 5),), native=True)):
        source = RegistryImage(contexts=(".x",), highest=((".x", needed),))
        made = make_plan(source, replace(target, contexts=(".x",))).made
        assert made == ((".x", needed),) * is_raised


def test_what_refers_to_a_conflict_is_none_of_the_import_however_far_away() -> None:
    versions = [SCHEMA]
    for before, name in zip("sabc", "abcd", strict=True):
        versions.append(replace(SCHEMA, subject=name, schema_id=2, references=(Reference(before, before, 1),)))
    target = RegistryImage((replace(SCHEMA, text='"long"'),))
    for order in (versions, versions[::-1]):
        plan = make_plan(RegistryImage(tuple(order)), target)
        assert sorted(one.where[0] for one in plan.conflicts) == [*"abcds"]
        assert plan.waves == ()


def test_a_version_without_an_id_is_the_same_under_any_id() -> None:
    plan = make_plan(RegistryImage((replace(SCHEMA, schema_id=UNGIVEN),)), RegistryImage((SCHEMA,), exact=True))
    assert (plan.conflicts, plan.size) == ((), 0)


@pytest.mark.parametrize(("at", "there"), [((1, 2), True), ((1, 5), True), ((1, 9), False), ((9, 1), False)])
def test_a_range_is_compared_by_the_numbers_at_which_it_begins(at: tuple[int, int], *, there: bool) -> None:
    """In a target that counts ordinals from further up; one that lacks such a version gets the config later."""

    def config(ordinals: tuple[int, int]) -> tuple[tuple[Scope, Config], ...]:
        level = Level(VersionRange("till", ordinals[0]), VersionRange("till", ordinals[1]))
        return ((Scope(".", "s"), Config(exact_level=level)),)

    versions = [replace(SCHEMA, number=ordinal, ordinal=ordinal, schema_id=ordinal) for ordinal in (1, 2, 5, 9)]
    lower = tuple(replace(one, ordinal=at) for at, one in enumerate(versions[:3]))
    ordinals = {1: 0, 2: 1, 5: 2, 9: 3}
    target = RegistryImage(lower, config((ordinals[at[0]], ordinals[at[1]])), native=True)
    plan = make_plan(RegistryImage(tuple(versions), config(at)), target)
    assert (plan.configs == ()) == there


def test_what_another_kind_of_registry_does_not_take_is_named_once() -> None:
    level = Level(ALL, deny=True)
    configs = ((Scope(".", "exact"), Config(exact_level=level)), (Scope(".", "word"), Config(level="FULL")))
    source = RegistryImage((replace(SCHEMA, subject=":.y:s"),), configs, contexts=(".x", ".y"), highest=((".", 9),))
    plan = make_plan(source, RegistryImage())
    assert plan.left_out == (NO_CONTEXTS.format(".x"),)
    assert plan.notes == (NO_POLICIES.format("exact"), NO_HIGHEST)


INVISIBLE = "s\N{ZERO WIDTH SPACE}"


@pytest.mark.parametrize(
    "modes", [((Scope("*"), "READONLY"),), ((Scope("."), "IMPORT"),), ()], ids=["all", "left", "none"]
)
@pytest.mark.parametrize("scope", [Scope("*"), Scope("."), Scope(".", "s"), Scope(".", INVISIBLE)])
def test_modes_give_way_to_settings_and_one_that_an_import_left_behind_is_given_up(
    scope: Scope, modes: tuple[tuple[Scope, str], ...]
) -> None:
    """Where there is no mode at all nothing gives way, but to a name that is taken by imports alone."""
    plan = make_plan(RegistryImage(configs=((scope, Config(level="FULL")),)), RegistryImage(modes=modes))
    lifted = dict(plan.lifted)
    assert (Scope(".") in lifted) == (scope.context == "." and (bool(modes) or scope.name == INVISIBLE))
    assert lifted.get(Scope(".")) is None
    assert lifted.get(Scope("*")) == ("READONLY" if scope.context == "*" and dict(modes).get(scope) else None)


class Paged:
    """A registry that lists two associations at a time."""

    def __init__(self, inner: Connection) -> None:
        self.inner = inner

    def ask(self, request: Request[Any], call: CallOptions = CALL) -> Reply[Any]:
        return self.inner.ask(replace(request, limit=2) if isinstance(request, ListAssociations) else request, call)

    def close(self) -> None:
        """Leave the registry open."""


@pytest.fixture
def registry() -> Iterator[Connection]:
    with connect("memory:") as opened:
        opened.register("s", '"int"')
        yield opened


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_all_pages_of_associations_are_read(registry: Connection, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(count):
        registry.associate(Resource(f"t{at}", "lkc", f"id{at}"), AssociationSpec("value", subject_of("s")))
    whole = registry_reader.read(registry).associations
    monkeypatch.setattr(registry_reader, "ASSOCIATIONS_LISTED", 2)
    assert registry_reader.read(Paged(registry)).associations == whole
    assert len(whole) == count


@pytest.mark.parametrize("mode", ["READONLY", "READWRITE"])
@pytest.mark.parametrize("name", [None, "s"])
def test_a_mode_gives_way_to_a_config_and_is_there_again(registry: Connection, name: str | None, mode: str) -> None:
    scope = Scope(".", name)
    registry.set_mode(name or "", mode, force=True)
    report = write(RegistryImage(configs=((scope, Config(level="FULL")),)), registry)
    assert report.problems == ()
    assert registry.config(name or "", resolve=False).level == "FULL"
    assert registry.mode(name or "", resolve=False) == mode

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
from treaty.client.transfer.plan import make_plan
from treaty.client.transfer.registry_image import RegistryImage, build_image
from treaty.core.messages.api_keys import ApiKeyFound
from treaty.core.messages.associations import AssociationSpec, ListAssociations, Resource, ResourceAssociation
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject, subject_of
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

"""Parts of a transfer at their edges: what an older version hides, the latest numbers, names that begin alike, lines of a dump."""

import itertools
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.laws.test_talk import Net, said
from treaty.assemble import connect
from treaty.client.transfer.dry_run import collect, find_latest_numbers, read_whole, register, stand
from treaty.client.transfer.dump import line_of, read_lines
from treaty.client.transfer.policies import as_elsewhere, list_cleared_members
from treaty.client.transfer.registry_image import ImageBuilder, Place, RegistryImage
from treaty.client.transfer.sources.image import GroupSource, hide_older, image_of, version_of
from treaty.core.messages.groups import GroupSettings
from treaty.core.messages.registration import ExpectedVersion, Register
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.transfers import ExportedVersion, KeptState
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import NotOffered
from treaty.core.schema import Draft, Reference
from treaty.wire.confluent.records import ClearedRecord, DeletedRecord, VersionRecord

SUBJECT = Subject(".", "s")


def make_exported(ordinal: int, state: KeptState, draft: Draft, type_version: int = 0) -> ExportedVersion:
    return ExportedVersion(version_of(SUBJECT, ordinal, draft, type_version=type_version), state)


SAME = Draft('"int"', "AVRO", type_name="T", data=b"x")
OTHERS = [
    replace(SAME, text='"long"'),
    replace(SAME, format="JSON"),
    replace(SAME, type_name="U"),
    replace(SAME, data=b"y"),
    replace(SAME, data=None),
]


@pytest.mark.parametrize("later", [SAME, *OTHERS])
def test_only_a_deleted_version_that_came_again_is_hidden(later: Draft) -> None:
    """The same schema has the same format, type, text and bytes; the order of the list says nothing."""
    states: list[KeptState] = ["live", "soft", "hidden"]
    for first, second in itertools.product(states, repeat=2):
        versions = [make_exported(0, first, SAME), make_exported(1, second, later)]
        expected = ["hidden" if first == "soft" and later == SAME else first, second]
        for listed in (versions, versions[::-1]):
            assert [one.state for one in hide_older(listed)] == expected
            assert [one.version.ordinal for one in hide_older(listed)] == [0, 1]


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
@pytest.mark.parametrize("highest", [-1, 1, 5])
def test_the_highest_numbers_of_a_subject_are_those_of_all_its_versions(order: tuple[int, ...], highest: int) -> None:
    drafts = [(0, SAME, 0), (1, replace(SAME, type_name="U"), 0), (3, SAME, 1)]
    versions = tuple(make_exported(drafts[at][0], "live", drafts[at][1], drafts[at][2]) for at in order)
    group = GroupSource(SUBJECT, GroupSettings("pravega"), versions=versions, highest_ordinal=highest)
    (described,) = image_of([group], (), ()).groups
    assert described.highest.ordinal == max(3, highest)
    assert described.highest.types == (("AVRO", "T", 1), ("AVRO", "U", 0))
    (empty,) = image_of([replace(group, versions=())], (), ()).groups
    assert (empty.highest.ordinal, empty.highest.types) == (highest, ())


def make_version(
    subject: str, number: int, *, deleted: bool = False, text: str = '"int"', schema_id: int = 1
) -> VersionFound:
    return VersionFound(subject, number, number - 1, schema_id, "", "AVRO", text, deleted=deleted)


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
def test_the_latest_number_is_that_of_the_last_live_version(order: tuple[int, ...]) -> None:
    """In an image versions come by their ids."""
    versions = [make_version("s", 1), make_version("s", 2), make_version("s", 3, deleted=True)]
    image = RegistryImage(tuple(versions[at] for at in order))
    t = Subject(".", "t")
    assert find_latest_numbers(image, (SUBJECT, t)) == {SUBJECT: 2, t: -1}
    assert find_latest_numbers(RegistryImage((versions[2],)), (SUBJECT,)) == {SUBJECT: -1}


@pytest.mark.parametrize("is_expected", [True, False])
@pytest.mark.parametrize("is_offered", [True, False])
def test_a_registration_goes_without_the_expected_version_only_where_it_has_one(
    *, is_expected: bool, is_offered: bool
) -> None:
    """A server of another kind does not know expected versions; one that takes no schema at all is asked no second time."""

    def answer(step: Any) -> tuple[float, Any]:
        if step.method == "GET":
            return 0.001, said(200, b'{"mode":"READWRITE"}')
        body = b'{"id":7,"guid":"g","version":3,"schema":"\\"int\\""}'
        return 0.001, said(200, body) if is_offered else said(405)

    net = Net([answer])

    class Asked:
        def ask(self, request: Any) -> Any:
            return type("Reply", (), {"answer": net.ask(request)})

    request = Register(SUBJECT, Draft('"int"'), expected=ExpectedVersion("number", 2) if is_expected else None)
    asked: Any = Asked()
    if is_offered:
        assert register(asked, request).version.number == 3
    else:
        with pytest.raises(NotOffered):
            register(asked, request)
    assert [step.method for _, _, step in net.asked].count("POST") == 1


def test_of_subjects_whose_names_begin_alike_each_has_its_own_versions() -> None:
    with connect("memory:") as registry:
        for name in ("s", "s2", "s-value", ":.x:s"):
            for text in ('"int"', '"long"'):
                registry.register(name, text)
        groups, versions = read_whole(registry, ["s"])
        assert [one.subject for one in groups] == ["s"]
        assert [(one.version.subject, one.version.number) for one in versions] == [("s", 1), ("s", 2)]


def test_what_stands_under_names_has_deleted_and_hidden_versions_too() -> None:
    """And none of the subject of a name in another context."""
    with connect("memory:") as registry:
        registry.set_level("", "NONE")
        registry.register(":.x:s", '"string"')
        registry.register("s", '"int"')
        registry.register("s", '"long"')
        registry.delete_version("s", 1)
        registry.register("s", '"int"')
        registry.register("s", '"double"')
        registry.delete_version("s", 4)
        registry.register("t", '"string"')
        registry.delete_subject("t")
        image = stand(registry, (SUBJECT, Subject(".", "t"), Subject(".", "none"), SUBJECT))
        places = {(one.subject, one.number, one.deleted) for one in image.versions}
        every = {(name, number) for name in ("s", "t") for number in registry.versions(name, "all")}
        assert {(name, number) for name, number, _ in places} == every
        assert ("s", 4, True) in places
        assert ("t", 1, True) in places
        assert {*image.facts} == every
        assert [one.state for one in image.hidden] == ["hidden"] * len(image.hidden)
        assert [scope.name for scope, _ in image.configs] == ["s", "t", "none"]


def test_a_version_comes_behind_all_that_it_refers_to_in_their_order() -> None:
    with connect("memory:") as registry:
        for name in ("a", "b", "c"):
            registry.register(name, f'{{"type":"record","name":"{name.upper()}","fields":[]}}')
        references = tuple(Reference(name.upper(), name, 1) for name in ("c", "a", "b"))
        used = registry.register("u", Draft('["C","A","B"]', references=references)).version
        collected: dict[Place, VersionFound] = {}
        collect(registry, used, "*", collected)
        assert [name for name, _ in collected] == ["c", "a", "b", "u"]


# ----------------------------------------------------------------------------------------------------------------- dumps

KEY = b'{"keytype":"NOOP","magic":0}'


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r", b"\n\r\n"])
@pytest.mark.parametrize("value", [b"null", b"", b" null ", b" "])
def test_a_line_may_end_in_any_way_and_nothing_is_a_tombstone(end: bytes, value: bytes) -> None:
    assert line_of(KEY + b"\t" + value).value is None
    key = b'{"keytype":"CONFIG","subject":"s","magic":0}'
    line = key + b"\t" + b'{"subject":"s","compatibilityLevel":"FULL"}' + end
    image = read_lines([line, b"\r\n", b" \n", end])
    assert (image.configs, image.problems) == (((Scope(".", "s"), Config(level="FULL")),), ())
    assert read_lines([line, key + b"\t" + value + end]).configs == ()


# --------------------------------------------------------------------------------------------------------------- configs


def test_a_member_that_a_config_leaves_open_is_cleared_once() -> None:
    """Two forms of one setting are one: a group is not cleared where the config has the exact partition."""
    names = {*list_cleared_members(Config())}
    assert names == {*Config.__dataclass_fields__} - {"exact_level", "partition", "follows"}
    assert "group" not in list_cleared_members(Config(partition="type"))
    assert "group" not in list_cleared_members(Config(group="g"))
    assert {*list_cleared_members(Config(level="FULL", normalize=False, group=""))} == names - {
        "level",
        "normalize",
        "group",
    }


def test_elsewhere_a_config_has_no_member_that_only_treaty_knows() -> None:
    full = Config(level="FULL", follows="p", validators=("v",), partition="type", group="g", alias="a")
    assert as_elsewhere(full) == Config(level="FULL", group="g", alias="a")


# --------------------------------------------------------------------------------------------------------------- records


def test_records_of_versions_that_go_and_come_again_leave_what_is_there() -> None:
    """A deletion holds for the numbers up to its own; what is cleared takes the deleted ones alone; an id is free once nothing has it."""
    builder = ImageBuilder()

    def places() -> dict[tuple[str, int], bool]:
        return {(one.subject, one.number): one.deleted for one in builder.image().versions}

    for number in (1, 2, 3):
        builder.add(VersionRecord("s", number, make_version("s", number, text=f'"{number}"', schema_id=number)), "x")
    builder.add(VersionRecord("t", 1, make_version("t", 1, text='"1"', schema_id=1)), "x")
    builder.add(DeletedRecord("s", 2), "x")
    assert places() == {("s", 1): True, ("s", 2): True, ("s", 3): False, ("t", 1): False}
    builder.add(ClearedRecord(Scope(".", "s")), "x")
    assert places() == {("s", 3): False, ("t", 1): False}
    builder.add(DeletedRecord("s", 3), "x")
    assert places() == {("s", 3): True, ("t", 1): False}
    builder.add(VersionRecord("s", 3, None), "x")
    builder.add(DeletedRecord("s", 9), "x")
    builder.add(VersionRecord("s", 4, make_version("s", 4, text='"other"', schema_id=1)), "x")
    assert (places(), len(builder.image().problems)) == ({("t", 1): False}, 1)
    builder.add(VersionRecord("t", 1, None), "x")
    builder.add(VersionRecord("s", 4, make_version("s", 4, text='"other"', schema_id=1)), "x")
    assert (places(), len(builder.image().problems)) == ({("s", 4): False}, 1)


def test_a_line_is_json_with_a_key() -> None:
    line = line_of(msgspec.json.encode({"key": {"a": 1}, "value": '{"b":2}'}))
    assert (line.key, line.value, subject_of("s")) == (b'{"a":1}', b'{"b":2}', SUBJECT)

"""What an image keeps on its way through a dump, and what records come to one after the other."""

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import permutations

import pytest

from tests.laws.test_group_plans import DIFFERENCES, FACTS, IMAGE, SUBJECT
from treaty.client.transfer.dump import line_of, read_lines, write_lines
from treaty.client.transfer.registry_image import (
    ImageBuilder,
    RecordExtras,
    RegistryImage,
    TransferProblem,
    VersionFacts,
    build_image,
    find_unused_highest,
)
from treaty.core.limits import DUMP_LINE_BYTES, PROBLEM_CHARACTERS, TRANSFER_PROBLEMS
from treaty.core.messages.associations import Resource, ResourceAssociation
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import VersionFound
from treaty.core.policy import ALL, ForcedRegistration, Level
from treaty.core.state.values import PolicyValue
from treaty.wire.confluent.records import ClearedRecord, DeletedRecord, Record, RecordError, VersionRecord

EVERY_FACT = VersionFacts("T", 1, PolicyValue(ALL), (("own", "n"),), ((0, "gzip"),), b"\xff", (("k", "v"),), 2, -1, 3)
IN_RECORD = ("type_name", "type_version", "data", "imports")
"""Facts that a version has in its record as well."""
CHANGES: Mapping[str, RegistryImage] = {
    "nothing": IMAGE,
    **{name: one.target for name, one in DIFFERENCES.items()},
    **{
        f"fact {one.name}": replace(IMAGE, facts={**FACTS, (SUBJECT, 1): VersionFacts(**{one.name: value})})
        for one in fields(VersionFacts)
        for value in [getattr(EVERY_FACT, one.name)]
    },
    "every fact": replace(IMAGE, facts={**FACTS, (SUBJECT, 1): EVERY_FACT}),
    "a former text": replace(
        IMAGE,
        hidden=(*IMAGE.hidden, replace(IMAGE.hidden[0], version=replace(IMAGE.hidden[0].version, number=1, ordinal=4))),
    ),
    "who forced it": replace(
        IMAGE, versions=(replace(IMAGE.versions[0], forced=ForcedRegistration("bob", "moved")), *IMAGE.versions[1:])
    ),
    "properties": replace(IMAGE, versions=(replace(IMAGE.versions[0], properties=(("p", "1"),)), *IMAGE.versions[1:])),
    "highest": replace(IMAGE, highest=((".", 9), (".x", 8))),
    "no context": replace(IMAGE, contexts=()),
    "another context": replace(IMAGE, contexts=(".", ".x", ".y")),
    "modes": replace(IMAGE, modes=((Scope("*"), "READONLY"), (Scope("."), "IMPORT"), (Scope(".x", "g"), "READWRITE"))),
    "exact policy": replace(
        IMAGE, configs=((Scope("*"), Config(exact_level=Level(ALL, deny=True), partition="type")),)
    ),
    "named policy": replace(IMAGE, configs=((Scope(".x", "g"), Config(follows="gold")),)),
}


def as_dumped(image: RegistryImage) -> RegistryImage:
    """What a dump says of an image: what is kept of a version is in its record too, and contexts are those that something names."""
    versions = tuple(
        replace(one, **{name: getattr(image.facts[one.subject, one.number], name) for name in IN_RECORD})
        for one in image.versions
    )
    places = {(one.subject, one.number) for one in versions}
    contexts = {*image.contexts, *([".x"] if versions else ())} - {"."}
    return replace(
        image,
        versions=versions,
        contexts=tuple(sorted(contexts)),
        native=False,
        exact=bool(image.groups),
        facts={place: facts for place, facts in image.facts.items() if place in places},
    )


@pytest.mark.parametrize("name", CHANGES)
def test_a_dump_has_all_of_an_image(name: str) -> None:
    lines = [*write_lines(CHANGES[name])]
    image, expected = read_lines(lines), as_dumped(CHANGES[name])
    for member in fields(RegistryImage):
        assert getattr(image, member.name) == getattr(expected, member.name), member.name
    assert [*write_lines(image)] == lines


def test_who_imported_a_hidden_version_is_in_no_dump() -> None:
    hidden = tuple(replace(one, version=replace(one.version, imported=True)) for one in IMAGE.hidden)
    assert [*write_lines(replace(IMAGE, hidden=hidden))] == [*write_lines(IMAGE)]


LIVE = VersionFound("s", 1, 0, 1, "", "AVRO", '"int"')
STATES = {
    ("s", 1): "live",
    ("s", 2): "soft",
    ("s", 3): "live",
    (":.x:s", 1): "soft",
    ("t", 1): "soft",
    (":.x:t", 1): "live",
}
VERSIONS = [
    VersionRecord(subject, number, replace(LIVE, subject=subject, number=number, deleted=state == "soft"))
    for (subject, number), state in STATES.items()
]
SOFT = {place for place, state in STATES.items() if state == "soft"}


def left_after(*records: Record) -> dict[tuple[str, int], str]:
    image = build_image((str(at), one) for at, one in enumerate([*VERSIONS, *records]))
    assert image.problems == ()
    return {(one.subject, one.number): "soft" if one.deleted else "live" for one in image.versions}


@pytest.mark.parametrize(
    ("scope", "gone"),
    [
        (Scope("*"), SOFT),
        (Scope("."), {("s", 2), ("t", 1)}),
        (Scope(".x"), {(":.x:s", 1)}),
        (Scope(".", "s"), {("s", 2)}),
        (Scope(".x", "s"), {(":.x:s", 1)}),
        (Scope(".x", "t"), set()),
        (Scope(".y"), set()),
    ],
    ids=lambda value: f"{value.context} {value.name}" if isinstance(value, Scope) else f"{len(value)} versions",
)
def test_a_scope_is_cleared_of_what_is_softly_deleted_in_it(scope: Scope, gone: set[tuple[str, int]]) -> None:
    assert left_after(ClearedRecord(scope)) == {place: state for place, state in STATES.items() if place not in gone}


@pytest.mark.parametrize("number", [0, 1, 2, 3, 9])
def test_versions_up_to_a_number_are_deleted_with_it(number: int) -> None:
    deleted = {("s", at): "soft" for at in range(1, 4) if at <= number}
    assert left_after(DeletedRecord("s", number)) == STATES | deleted


def test_a_version_that_is_written_again_has_its_new_id_alone() -> None:
    """The old one may be that of another schema then."""
    again, other = replace(LIVE, schema_id=7), replace(LIVE, subject="t", text='"long"')
    records = [VersionRecord(one.subject, one.number, one) for one in (LIVE, again, other)]
    image = build_image((str(at), one) for at, one in enumerate(records))
    assert (image.versions, image.problems) == ((other, again), ())


@pytest.mark.parametrize("order", [*permutations((5, 9, 7))])
def test_a_context_has_given_the_highest_id_that_any_record_tells(order: tuple[int, ...]) -> None:
    """A version that is gone, or a mark; where it is that of a version nothing is said of it."""
    marked, written = ImageBuilder(), ImageBuilder()
    for id_ in order:
        marked.mark(RecordExtras(context=".x", highest_id=id_))
        version = replace(LIVE, subject=":.x:s", schema_id=id_, number=id_)
        written.add(VersionRecord(":.x:s", id_, version), "")
        written.add(VersionRecord(":.x:s", id_, None), "")
    assert marked.image().highest == written.image().highest == ((".x", 9),)
    for id_, highest in ((9, ()), (8, ((".x", 9),))):
        there = (replace(LIVE, subject=":.x:s", schema_id=id_), replace(LIVE, schema_id=20))
        assert find_unused_highest({".x": 9}, there) == highest


@pytest.mark.parametrize("member", [one.name for one in fields(TransferProblem)])
def test_each_word_of_a_problem_is_cut(member: str) -> None:
    problem = TransferProblem(**{**dict.fromkeys(("where", "what", "why"), "w"), member: "w" * PROBLEM_CHARACTERS * 2})
    assert len(getattr(problem, member)) <= PROBLEM_CHARACTERS


@pytest.mark.parametrize("more", [-1, 0, 1, 2])
def test_problems_past_the_limit_are_counted(more: int) -> None:
    lines = [b"{"] * (TRANSFER_PROBLEMS + more)
    image = read_lines(lines)
    assert (len(image.problems), image.more_problems) == (TRANSFER_PROBLEMS + min(more, 0), max(more, 0))
    assert [one.where for one in image.problems[:2]] == ["line 1", "line 2"]


def test_a_line_that_is_nested_too_deep_is_a_problem_of_its_own() -> None:
    deep = b'{"key":' + b"[" * 100_000
    image = read_lines([deep, *write_lines(IMAGE)])
    assert [one.where for one in image.problems] == ["line 1"]
    assert image.groups == IMAGE.groups


@pytest.mark.parametrize("more", [0, 1])
def test_a_line_is_read_up_to_the_limit(more: int) -> None:
    line = b'{"keytype":"NOOP"}\t'
    line += b" " * (DUMP_LINE_BYTES - len(line) + more)
    if more:
        with pytest.raises(RecordError, match="DUMP_LINE_BYTES"):
            line_of(line)
    else:
        assert line_of(line).value is None


def test_associations_are_ordered_by_resource_and_then_by_kind() -> None:
    """So that two registries that hold the same write the same dump."""
    bound = [
        ResourceAssociation("s", "", Resource(name, namespace, name), kind, "WEAK", False, 1, 2)
        for namespace in "ab"
        for name in "ab"
        for kind in ("key", "value")
    ]
    lines = [*write_lines(RegistryImage((LIVE,), associations=tuple(bound)))]
    for turned in (lines, lines[::-1]):
        assert read_lines(turned).associations == tuple(bound)

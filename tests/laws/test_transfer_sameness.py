"""What a transfer takes for the same schema, member by member, and where a range of versions begins in a copy."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from treaty.assemble import connect
from treaty.client.transfer.policies import at_known_ordinals, counted_from_zero, first_numbers
from treaty.client.transfer.registry_image import RegistryImage
from treaty.client.transfer.sameness import SchemaEquality
from treaty.core.limits import REFERENCE_DEPTH
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import GetVersion, VersionFound
from treaty.core.names import subject_of
from treaty.core.policy import Level, VersionRange
from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet

TEXT = 'syntax = "proto3"; import "base.proto"; import "k.proto"; message M { Base b = 1; K k = 2; }'
BASE = 'syntax = "proto3"; message Base {}'
OTHER_BASE = 'syntax = "proto3"; message Base { int32 a = 1; }'
REFERENCE = Reference("base.proto", "base", 1)
CHECK = Rule("check", "CONDITION", "WRITE", "CEL", expr="true")
EXTRAS: dict[str, Any] = {
    "references": (REFERENCE,),
    "metadata": Metadata(properties=(("owner", "ada"),)),
    "rules": RuleSet(domain=(CHECK,)),
    "imports": (("k.proto", 'syntax = "proto3"; message K {}'),),
}
OTHER_EXTRAS: dict[str, Any] = {
    "references": (replace(REFERENCE, version=2),),
    "metadata": Metadata(properties=(("owner", "bob"),)),
    "rules": RuleSet(domain=(replace(CHECK, name="other"),)),
    "imports": (("k.proto", 'syntax = "proto3"; message K { int32 a = 1; }'),),
}
MEMBERS = (*EXTRAS, "text", "format")


@pytest.fixture(scope="module", params=["", ":.x:"], ids=["default", "context"])
def stored(request: pytest.FixtureRequest) -> Iterator[tuple[VersionFound, ...]]:
    """A version with all that one may have, and both versions that it may refer to, as a registry has them."""
    home = request.param
    with connect("memory:") as registry:
        for text in (BASE, OTHER_BASE):
            registry.ask(Register(subject_of(f"{home}base"), Draft(text, "PROTOBUF")))
        registry.ask(Register(subject_of(f"{home}s"), Draft(TEXT, "PROTOBUF", **EXTRAS)))
        places = (("base", 1), ("base", 2), ("s", 1))
        yield tuple(registry.ask(GetVersion(subject_of(home + name), number)).answer for name, number in places)


def differs(stored: tuple[VersionFound, ...], target: VersionFound, source: VersionFound) -> bool:
    """Compare two versions, each in a registry that has what they may refer to."""
    sides = (RegistryImage((*stored[:2], version)) for version in (source, target))
    return SchemaEquality(*sides).differs(target, source)


def from_elsewhere(version: VersionFound, **change: Any) -> VersionFound:
    """A version as a source has it that knows no guids, in another layout."""
    return replace(version, **{"guid": "", "text": TEXT.replace("; ", ";\n  "), **change})


def test_a_layout_is_no_difference(stored: tuple[VersionFound, ...]) -> None:
    version = stored[-1]
    assert not differs(stored, version, from_elsewhere(version))
    assert not differs(stored, replace(version, guid=""), from_elsewhere(version))


@pytest.mark.parametrize("member", MEMBERS)
def test_a_schema_differs_in_any_member(stored: tuple[VersionFound, ...], member: str) -> None:
    version = stored[-1]
    other = {**OTHER_EXTRAS, "text": TEXT.replace("Base b", "Base c"), "format": "JSON"}[member]
    for source in (from_elsewhere(version, **{member: other}), replace(version, guid="", **{member: other})):
        assert differs(stored, version, source)
        assert differs(stored, replace(version, guid=""), source)


@pytest.mark.parametrize("kept", ["metadata", "rules", ""])
@pytest.mark.parametrize("changed", ["metadata", "rules"])
def test_what_a_target_without_guids_never_tells_is_no_difference(
    stored: tuple[VersionFound, ...], kept: str, changed: str
) -> None:
    """One that has metadata or rules tells both, wherever it has some."""
    target = replace(stored[-1], guid="", metadata=None, rules=None)
    target = replace(target, **{kept: EXTRAS[kept]}) if kept else target
    source = {"guid": "", "metadata": target.metadata, "rules": target.rules, changed: OTHER_EXTRAS[changed]}
    for text in (target.text, TEXT.replace("; ", ";\n  ")):
        assert differs(stored, target, replace(target, text=text, **source)) == bool(kept)


def test_a_guid_alone_decides_where_both_have_it(stored: tuple[VersionFound, ...]) -> None:
    version = stored[-1]
    assert not differs(stored, version, replace(version, text="", references=(), metadata=None, rules=None))


@pytest.mark.parametrize(("links", "is_read"), [(REFERENCE_DEPTH, True), (REFERENCE_DEPTH + 1, False)])
def test_references_are_followed_as_far_as_a_registry_allows(links: int, *, is_read: bool) -> None:
    chain = [VersionFound("s0", 1, 0, 1, "", "JSON", '{"type": "object"}')]
    for at in range(1, links + 1):
        uses = (Reference(f"s{at - 1}", f"s{at - 1}", 1),)
        chain.append(VersionFound(f"s{at}", 1, 0, at + 1, "", "JSON", f'{{"$ref": "s{at - 1}"}}', uses))
    image = RegistryImage(tuple(chain))
    other = replace(chain[-1], text=chain[-1].text.replace(" ", ""))
    assert SchemaEquality(image, image).differs(chain[-1], other) != is_read


# -------------------------------------------------------------------------------------------------------- ranges

ORDINALS = range(5)
KNOWN = [known for count in range(1, 5) for known in combinations(ORDINALS, count)]
"""The ordinals of versions that are there, of a few."""


def config_of(backward: int, forward: int) -> Config:
    return Config(exact_level=Level(VersionRange("till", backward), VersionRange("till", forward)))


def starts_of(config: Config) -> tuple[int, int]:
    assert config.exact_level is not None
    return config.exact_level.backward.ordinal, config.exact_level.forward.ordinal


def inside(known: tuple[int, ...], start: int) -> tuple[int, ...]:
    """The versions that a range has; where it has none, the last one stands for them."""
    return tuple(one for one in known if one >= start) or known[-1:]


@pytest.mark.parametrize("known", KNOWN, ids=str)
def test_a_range_has_the_same_versions_wherever_it_is_said_to_begin(known: tuple[int, ...]) -> None:
    """In both directions: at a version that is there, at a number, at an ordinal that is counted without gaps. Numbers fall
    where ordinals rise: the order is that of ordinals.
    """
    scope, numbers = Scope(".x", "s"), {ordinal: 10 - ordinal for ordinal in known}
    version = VersionFound(":.x:s", 1, 0, 1, "", "AVRO", '"int"')
    versions = [replace(version, number=numbers[ordinal], ordinal=ordinal) for ordinal in known]
    others = [replace(version, subject=name, number=9, ordinal=at) for name in ("s", ":.x:t") for at in ORDINALS]
    for backward in ORDINALS:
        forward = ORDINALS[-1] - backward
        config = config_of(backward, forward)
        moved = starts_of(at_known_ordinals(config, known[::-1]))
        assert set(moved) <= {*known}
        by_number = first_numbers(scope, config, [*others, *versions])
        counted, order = counted_from_zero(scope, config, [*others, *versions])
        assert order == {numbers[ordinal]: place for place, ordinal in enumerate(known)}
        for start, at, zero in zip((backward, forward), moved, starts_of(counted), strict=True):
            expected = inside(known, start)
            assert inside(known, at) == expected
            assert by_number[start] == numbers[expected[0]]
            assert known[zero:] == expected

"""Pravega's eleven compatibility policies become levels of the registry, and levels become policies."""

from collections.abc import Iterator, Mapping

from treaty.core.messages.versions import VersionFound
from treaty.core.policy import ALL, LATEST, NONE, PRAVEGA_LEVELS, Level, VersionRange
from treaty.core.refusals import Invalid
from treaty.wire.pravega.bodies import (
    POLICIES,
    BackwardAndForwardBody,
    BackwardPolicyBody,
    ForwardPolicyBody,
    GroupPolicyBody,
    PolicyRangeBody,
    VersionInfoBody,
)
from treaty.wire.pravega.formats import format_name

ADVANCED = "Advanced"
_WORDS = {level: word for word, level in PRAVEGA_LEVELS.items()}
RENAMED = {"None": "DenyAll", "Disabled": "AllowAny"}
"""Words of PDP-1 that its registry renamed, and their names today."""


def level_of(body: GroupPolicyBody | None, path: str = "/compatibility") -> Level:
    """Read a policy; raises `Invalid`."""
    word = "" if body is None else body.policy
    named = PRAVEGA_LEVELS.get(word)
    if named is not None:
        return named
    if body is None or word != ADVANCED:
        hint = f"{RENAMED[word]}, which is the name of {word} today" if word in RENAMED else ", ".join(POLICIES)
        raise _make_refusal(f"There is no compatibility policy '{word[:100]}'", f"{path}/policy", word, hint)
    halves = body.advanced or BackwardAndForwardBody()
    backward = None if halves.backward_policy is None else halves.backward_policy.backward_policy
    forward = None if halves.forward_policy is None else halves.forward_policy.forward_policy
    if backward is None and forward is None:
        allowed = "at least one of backwardPolicy and forwardPolicy"
        raise _make_refusal("An advanced policy has no direction", f"{path}/advanced", "", allowed)
    return Level(
        _range_of(backward, "Backward", f"{path}/advanced/backwardPolicy/backwardPolicy"),
        _range_of(forward, "Forward", f"{path}/advanced/forwardPolicy/forwardPolicy"),
    )


def _range_of(body: PolicyRangeBody | None, direction: str, path: str) -> VersionRange:
    if body is None:
        return NONE
    kinds = {direction: LATEST, f"{direction}Transitive": ALL}
    if body.name in kinds:
        return kinds[body.name]
    if body.name != f"{direction}Till":
        allowed = f"{direction}, {direction}Till, {direction}Transitive"
        raise _make_refusal(f"An advanced policy has no half '{body.name[:100]}'", f"{path}/name", body.name, allowed)
    if body.version_info is None or body.version_info.id < 0:
        new = "" if body.version_info is None else str(body.version_info.id)
        raise _make_refusal(
            f"{body.name} names no version", f"{path}/versionInfo", new, "the version at which the range begins"
        )
    return VersionRange("till", body.version_info.id)


def _make_refusal(message: str, path: str, new: str, allowed: str) -> Invalid:
    return Invalid.of("COMPATIBILITY", message, path=path, new=new[:100], allowed=allowed)


def ordinals_in(level: Level) -> Iterator[int]:
    """Return the ordinals of the versions that a policy names."""
    return (one.ordinal for one in (level.backward, level.forward) if one.kind == "till")


def compatibility_body(level: Level, named: Mapping[int, VersionFound]) -> GroupPolicyBody:
    """Print a level. `named` has the versions at which its ranges begin, by ordinal, as far as they are known."""
    if level.deny:
        return GroupPolicyBody("DenyAll")
    word = _WORDS.get(level)
    if word is not None:
        return GroupPolicyBody(word)
    backward, forward = _range_body(level.backward, "Backward", named), _range_body(level.forward, "Forward", named)
    halves = BackwardAndForwardBody(
        None if backward is None else BackwardPolicyBody(backward),
        None if forward is None else ForwardPolicyBody(forward),
    )
    return GroupPolicyBody(ADVANCED, halves)


def _range_body(range_: VersionRange, direction: str, named: Mapping[int, VersionFound]) -> PolicyRangeBody | None:
    if range_.kind == "none":
        return None
    if range_.kind == "till":
        named_version = named.get(range_.ordinal)
        version = VersionInfoBody(range_.ordinal) if named_version is None else version_body(named_version)
        return PolicyRangeBody(f"{direction}Till", version)
    return PolicyRangeBody(direction if range_ == LATEST else f"{direction}Transitive")


def version_body(version: VersionFound) -> VersionInfoBody:
    """Print the name of a version."""
    return VersionInfoBody(
        version.ordinal, version.type_name, format_name(version.format, version.properties), version.type_version
    )

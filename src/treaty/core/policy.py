"""Compatibility levels: for each direction the range of earlier versions that a new schema is compared with, or `deny`.

Confluent's seven level names are some of these values; any other is shown as the nearest stricter name. Validators stand
beside the level: a name, with parameters in parentheses, such as ``documentation(type,field)``. A version that was registered
by force says who skipped them, and why.
"""

import re
from collections.abc import Mapping
from typing import ClassVar

from treaty.light_dataclass import dataclass

DEFAULT_LEVEL = "BACKWARD"
STRICTNESS = ("STRICT", "LENIENT", "LOGICAL")
"""Confluent's compatibility policies: how strict the rules are. The first one is the default."""
RANGES = ("none", "latest", "till", "all")
"""Kinds of ranges."""
BY_TYPE = "type"
"""The partition by format and type."""
BY_PROPERTY = "property:"
"""Prefix of a partition by a metadata property, before the name of the property."""


@dataclass(frozen=True, slots=True)
class VersionRange:
    """The earlier live versions compared in one direction: none, the latest, those from an ordinal on (till), or all.

    `ordinal` is that of the oldest version of a `till`, and 0 for the other kinds.
    """

    kind: str = "none"
    ordinal: int = 0


NONE, LATEST, ALL = VersionRange(), VersionRange("latest"), VersionRange("all")


@dataclass(frozen=True, slots=True)
class Level:
    """A compatibility level. `backward`: the new schema reads data of these versions; `forward`: these versions read
    data of the new schema; `deny`: every version after the first is refused.
    """

    backward: VersionRange = NONE
    forward: VersionRange = NONE
    deny: bool = False
    shared: ClassVar[bool] = True


LEVELS: Mapping[str, Level] = {
    "NONE": Level(),
    "BACKWARD": Level(backward=LATEST),
    "FORWARD": Level(forward=LATEST),
    "FULL": Level(backward=LATEST, forward=LATEST),
    "BACKWARD_TRANSITIVE": Level(backward=ALL),
    "FORWARD_TRANSITIVE": Level(forward=ALL),
    "FULL_TRANSITIVE": Level(backward=ALL, forward=ALL),
}
"""Confluent's seven level names."""

PRAVEGA_LEVELS: Mapping[str, Level] = {
    "AllowAny": LEVELS["NONE"],
    "DenyAll": Level(deny=True),
    "Backward": LEVELS["BACKWARD"],
    "BackwardTransitive": LEVELS["BACKWARD_TRANSITIVE"],
    "Forward": LEVELS["FORWARD"],
    "ForwardTransitive": LEVELS["FORWARD_TRANSITIVE"],
    "Full": LEVELS["FULL"],
    "FullTransitive": LEVELS["FULL_TRANSITIVE"],
}
"""Pravega's policies without versions; `TILL_POLICIES` are the others."""
TILL_POLICIES: Mapping[str, tuple[str, ...]] = {
    "BackwardTill": ("backward",),
    "ForwardTill": ("forward",),
    "BackwardTillAndForwardTill": ("backward", "forward"),
}
"""Pravega's policies whose ranges begin at versions: directions of these ranges."""
BUILT_IN_POLICIES = (*LEVELS, *PRAVEGA_LEVELS, *TILL_POLICIES)
"""Names of policies that are always there; no named policy has one of them."""


def built_in_level(name: str, ordinals: tuple[str, ...] = ()) -> Level | None:
    """Return the level of a built-in policy, None for another name. Those of `TILL_POLICIES` need an ordinal for each
    range; raises `ValueError` for too many or too few, and for what is no ordinal.
    """
    level, directions = LEVELS.get(name) or PRAVEGA_LEVELS.get(name), TILL_POLICIES.get(name, ())
    if level is None and not directions:
        return None
    if len(ordinals) != len(directions) or not all(ordinal.isascii() and ordinal.isdecimal() for ordinal in ordinals):
        message = f"it needs {len(directions)} ordinals" if directions else "it takes no parameters"
        raise ValueError(message)
    ranges = {name: VersionRange("till", int(ordinal)) for name, ordinal in zip(directions, ordinals, strict=True)}
    return level or Level(ranges.get("backward", NONE), ranges.get("forward", NONE))


def word_of(level: Level) -> str:
    """Return the name of a level, or that of the nearest stricter level.

    A range from an ordinal on may contain every version, so only `all` is stricter. `deny` is shown as the strictest
    name.
    """
    kinds = {level.backward.kind, level.forward.kind} - {"none"}
    if level.deny:
        return "FULL_TRANSITIVE"
    if not kinds:
        return "NONE"
    backward, forward = level.backward.kind != "none", level.forward.kind != "none"
    direction = "FULL" if backward and forward else "BACKWARD" if backward else "FORWARD"
    return direction if kinds == {"latest"} else f"{direction}_TRANSITIVE"


def in_words(level: Level) -> str:
    """Return a level for messages: its name, as ``FULL``; without a name its ranges, as ``backward till 3``, or ``deny``."""
    word = word_of(level)
    if LEVELS[word] == level:
        return word
    if level.deny:
        return "deny"
    directions = (("backward", level.backward), ("forward", level.forward))
    return ", ".join(
        f"{name} {versions.kind}{f' {versions.ordinal}' if versions.kind == 'till' else ''}"
        for name, versions in directions
        if versions != NONE
    )


def exact_level(word: str | None, exact: Level | None) -> Level | None:
    """Return the level of a config: the exact one, else the named one; None if there is neither. Raises `KeyError` for
    an unknown name.
    """
    if exact is not None:
        return exact
    return None if word is None else LEVELS[word]


def nameless_level(level: Level) -> Level | None:
    """Return a level without a name; None for the others."""
    return None if LEVELS[word_of(level)] == level else level


def partition_of(group: str | None, partition: str | None) -> str | None:
    """Return the partition of a config: the exact one, else that of the group (Confluent's `compatibilityGroup`)."""
    if partition is not None or group is None:
        return partition
    return f"{BY_PROPERTY}{group}" if group else ""


def group_of(partition: str | None) -> str | None:
    """Return the group of a partition; None if no group expresses it."""
    if not partition:
        return partition
    return partition.removeprefix(BY_PROPERTY) if partition.startswith(BY_PROPERTY) else None


@dataclass(frozen=True, slots=True)
class ForcedRegistration:
    """The caller who skipped the policy, and the reason."""

    who: str
    why: str


# ------------------------------------------------------------------------------------------------------- validators

POLICY = "policy:"
"""Prefix of a validator that compares by a policy, before the policy's name."""
LINT = "lint:"
"""Prefix of a validator that is a lint, before the lint's id; the id alone names it too."""
WRITTEN = "a name, with parameters in parentheses where it has any, such as documentation(type,field)"
"""How a validator is written, for refusals."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]*")
_CALL = re.compile(rf"({_NAME.pattern})(?:\(([^()]*)\))?")
_LISTED = re.compile(r"[^,()]*\([^()]*\)[^,()]*|[^,]+")


@dataclass(frozen=True, slots=True)
class ValidatorCall:
    """A validator with its parameters, in order."""

    name: str
    parameters: tuple[str, ...] = ()


def parse_validator(text: str) -> ValidatorCall:
    """Parse a validator as a policy names it; raises `ValueError` for what is none."""
    written = _CALL.fullmatch(text.strip())
    if written is None:
        message = f"{text[:100]!r} is no validator; it is written as {WRITTEN}"
        raise ValueError(message)
    name, listed = written.groups()
    return ValidatorCall(name, tuple(part for part in map(str.strip, (listed or "").split(",")) if part))


def name_of_validator(text: str) -> str:
    """Return the name of a validator without its parameters; of what is none the text itself."""
    return text.partition("(")[0].strip()


def split_validators(text: str) -> tuple[str, ...]:
    """Return the validators of a list with commas between them; those inside parentheses belong to a validator."""
    return tuple(name for name in map(str.strip, _LISTED.findall(text)) if name)


def named_policies(validators: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the names of the policies by which validators compare, each once."""
    names = (name_of_validator(validator) for validator in validators or ())
    return tuple(dict.fromkeys(name.removeprefix(POLICY) for name in names if name.startswith(POLICY)))

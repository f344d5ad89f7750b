"""Levels: in each direction the earlier versions that a new schema is compared with, or no change at all."""

from tests.simulation.judging.model.refusing import No
from treaty.core.limits import COUNTER
from treaty.core.policy import Level, VersionRange
from treaty.core.refusals import InvalidSetting

NONE, LATEST, ALL = VersionRange("none"), VersionRange("latest"), VersionRange("all")
WORDS = {
    "NONE": Level(NONE, NONE),
    "BACKWARD": Level(LATEST, NONE),
    "BACKWARD_TRANSITIVE": Level(ALL, NONE),
    "FORWARD": Level(NONE, LATEST),
    "FORWARD_TRANSITIVE": Level(NONE, ALL),
    "FULL": Level(LATEST, LATEST),
    "FULL_TRANSITIVE": Level(ALL, ALL),
}
"""The levels that have a word."""
STRICTER = ("none", "latest", "till", "all")
"""Kinds of ranges: each may compare with a version that those before it leave out."""


def strictness_of(level: Level) -> tuple[int, int]:
    """How strict a level is in each direction."""
    return STRICTER.index(level.backward.kind), STRICTER.index(level.forward.kind)


def word_of(level: Level) -> str:
    """The word by which a level is shown: its own, else that of the least strict level that is stricter."""
    if level.deny:
        return "FULL_TRANSITIVE"
    backward, forward = strictness_of(level)
    fits = {word: strictness_of(one) for word, one in WORDS.items()}
    fits = {word: (back, fore) for word, (back, fore) in fits.items() if back >= backward and fore >= forward}
    return min(fits, key=lambda word: sum(fits[word]))


def refuse_bad_ranges(level: Level) -> None:
    """Kinds have to be known, only a range from an ordinal on has one, and where all is denied nothing is compared."""
    for one in (level.backward, level.forward):
        if one.kind not in STRICTER:
            raise No(InvalidSetting, "POLICY_RANGE", new=one.kind)
        if one.ordinal < 0 or one.ordinal > COUNTER or (one.ordinal and one.kind != "till"):
            raise No(InvalidSetting, "POLICY_ORDINAL", new=str(one.ordinal))
    if level.deny and (level.backward, level.forward) != (NONE, NONE):
        raise No(InvalidSetting, "POLICY_DENY")


def begins(level: Level) -> list[int]:
    """The ordinals at which ranges of a level begin."""
    return [one.ordinal for one in (level.backward, level.forward) if one.kind == "till"]

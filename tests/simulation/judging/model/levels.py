"""Levels: in each direction the earlier versions that a new schema is compared with, or no change at all."""

from treaty.core.policy import Level, Range

NONE, LATEST, ALL = Range("none"), Range("latest"), Range("all")
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


def begins(level: Level) -> list[int]:
    """The ordinals at which ranges of a level begin."""
    return [one.ordinal for one in (level.backward, level.forward) if one.kind == "till"]

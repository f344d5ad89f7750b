"""Policies on their way to another registry: levels without a word, and ranges that begin at a version, whose ordinals each
registry counts for itself.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.policy import VersionRange, exact_level

EXACT = ("exact_level", "partition", "follows")
"""Members of a config that only a registry of Treaty's kind takes."""


def begins_at(config: Config) -> tuple[int, ...]:
    """Return the ordinals at which the ranges of a config's level begin."""
    level = config.exact_level
    ranges = () if level is None else (level.backward, level.forward)
    return tuple(one.ordinal for one in ranges if one.kind == "till")


def in_words(config: Config) -> Config:
    """Return a config as registries take it that have nothing but words for levels and groups."""
    return replace(config, **dict.fromkeys(EXACT))


def as_elsewhere(config: Config) -> Config:
    """Return a config as registries of another kind take it: in words, and without validators."""
    return replace(in_words(config), validators=None)


def without_name(config: Config, kept_names: Container[str] = ()) -> Config:
    """Return a config with the policy that it follows as its own, unless the name is `kept_names`."""
    return config if config.follows in kept_names else replace(config, follows=None)


def exactly(config: Config) -> Config:
    """Return a config that replaces any level of its target, also one that is shown as the same word."""
    return replace(config, exact_level=exact_level(config.level, config.exact_level))


def list_cleared_members(config: Config) -> tuple[str, ...]:
    """Return the names of the members that a config leaves open; of two forms of one setting that of the word."""
    names = (name for name in Config.__dataclass_fields__ if name not in EXACT and getattr(config, name) is None)
    return tuple(name for name in names if name != "group" or config.partition is None)


def first_numbers(scope: Scope, config: Config, versions: Iterable[VersionFound]) -> dict[int, int]:
    """Return for each ordinal at which a range begins the number of the first version in it, else of the last one before it.

    Empty where no range begins at an ordinal, or the subject has no version.
    """
    subject = str(Subject(scope.context, scope.name or ""))
    ordinals = begins_at(config)
    pairs = sorted((one.ordinal, one.number) for one in versions if ordinals and one.subject == subject)
    if not pairs:
        return {}
    return {each: next((number for ordinal, number in pairs if ordinal >= each), pairs[-1][1]) for each in ordinals}


def at_known_ordinals(config: Config, ordinals: Iterable[int]) -> Config:
    """Return a config whose ranges begin at versions that are there: where the first one is gone at the next one, else at
    the last one. They have the same versions, but for the last case.
    """
    known_ordinals = sorted(ordinals)
    if not known_ordinals:
        return config
    range_starts = begins_at(config)
    return shift_ordinals(
        config,
        {each: next((one for one in known_ordinals if one >= each), known_ordinals[-1]) for each in range_starts},
    )


def counted_from_zero(scope: Scope, config: Config, versions: Iterable[VersionFound]) -> tuple[Config, dict[int, int]]:
    """Return a config whose ranges begin where they did, where the versions of its subject are counted without gaps, and that
    count by number. So two registries that hold the same versions say the same.
    """
    listed = [*versions]
    numbers = first_numbers(scope, config, listed)
    if not numbers:
        return config, {}
    subject = str(Subject(scope.context, scope.name or ""))
    own = sorted((one.ordinal, one.number) for one in listed if one.subject == subject)
    counted = {number: at for at, (_, number) in enumerate(own)}
    return shift_ordinals(config, {ordinal: counted[number] for ordinal, number in numbers.items()}), counted


def shift_ordinals(config: Config, ordinals: Mapping[int, int]) -> Config:
    """Return a config whose ranges begin at other ordinals."""
    level = config.exact_level
    if level is None:
        return config

    def shift_range(range_: VersionRange) -> VersionRange:
        return replace(range_, ordinal=ordinals[range_.ordinal]) if range_.kind == "till" else range_

    return replace(
        config, exact_level=replace(level, backward=shift_range(level.backward), forward=shift_range(level.forward))
    )

"""Which config, mode and policy are in force at a scope."""

import re
from dataclasses import replace
from typing import Any

from tests.simulation.judging.model.levels import WORDS, begins, refuse_bad_ranges, word_of
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.texts import Truth
from treaty.core.messages.settings import Config, Scope
from treaty.core.names import Subject
from treaty.core.policy import Level
from treaty.core.refusals import InvalidSetting, NotPermitted, VersionNotFound
from treaty.core.state.values import ConfigValue, PolicyValue

ROOT = Scope(".")
EVERYWHERE = Scope("*")
GIVING_IDS = ("IMPORT", "FORWARD")
"""Modes in which the sender gives the ids."""
FROM_THE_ROOT = (
    "normalize",
    "validate_fields",
    "validate_new_schemas",
    "validate_rules",
    "strictness",
    "partition",
    "validators",
)
"""What a subject's own config takes from the root's where it leaves it out."""
POLICY = ("level", "partition", "strictness", "validators")
"""What makes the policy of a config."""
SAME = (
    "follows", "alias", "alias_for_deks", "normalize", "validate_fields", "validate_new_schemas", "validate_rules", "validators",
    "default_metadata", "override_metadata", "default_rules", "override_rules",
)  # fmt: skip
"""Members that a row has as requests and answers have them."""


def row_scope(scope: Scope) -> Scope:
    """The scope under which something is kept: everywhere has no name."""
    return EVERYWHERE if scope.context == "*" else scope


def own_config(past: Past, scope: Scope) -> ConfigValue | None:
    """What a config says; one that follows a policy says what the policy does now."""
    kept = past.configs.get(row_scope(scope))
    return kept if kept is None else followed(past, kept)


def followed(past: Past, kept: ConfigValue) -> ConfigValue:
    if kept.follows is None:
        return kept
    policy = past.policies[kept.follows]
    level = Level(policy.backward, policy.forward, policy.deny)
    strictness = policy.strictness or "STRICT"
    return replace(kept, level=level, partition=policy.partition, strictness=strictness, validators=policy.validators)


def as_kept(config: ConfigValue) -> ConfigValue:
    """A config as its row keeps it: of a policy that it follows the name alone."""
    if config.follows is None:
        return config
    return replace(config, level=None, partition=None, strictness=None, validators=None)


def own_mode(past: Past, scope: Scope) -> str | None:
    return past.modes.get(row_scope(scope))


def chain(scope: Scope) -> list[Scope]:
    """The scopes whose settings hold at a scope, the nearest first."""
    if scope.context == "*":
        return [EVERYWHERE]
    if scope.name is None:
        return [scope, EVERYWHERE]
    return [scope, Scope(scope.context), EVERYWHERE]


def config_in_force(past: Past, scope: Scope) -> ConfigValue:
    """The nearest config, whole; one of a subject takes what it leaves out from the root. A level that is left out is
    the next one that is set, else BACKWARD.
    """
    set_there = [(place, own_config(past, place)) for place in chain(scope)]
    configs = [(place, config) for place, config in set_there if config is not None]
    place, nearest = configs[0] if configs else (EVERYWHERE, ConfigValue())
    if place.name is not None:
        root = own_config(past, ROOT) or ConfigValue()
        for name in FROM_THE_ROOT:
            if getattr(nearest, name) is None:
                nearest = replace(nearest, **{name: getattr(root, name)})
    if nearest.level is None:
        levels = [config.level for _, config in configs if config.level is not None]
        nearest = replace(nearest, level=levels[0] if levels else WORDS["BACKWARD"])
    return nearest


def mode_in_force(past: Past, scope: Scope) -> str:
    """The nearest mode, else READWRITE."""
    for place in chain(scope):
        mode = own_mode(past, place)
        if mode is not None:
            return mode
    return "READWRITE"


def policy_in_force(config: ConfigValue, types: str) -> PolicyValue:
    """What a new version has to pass: the level, and what goes with it, of the config in force.

    In a subject of many types versions are compared with those of their type, whatever else is set.
    """
    level = config.level or WORDS["BACKWARD"]
    return PolicyValue(
        backward=level.backward,
        forward=level.forward,
        deny=level.deny,
        partition="type" if types == "many" else config.partition or "",
        strictness=config.strictness or "",
        validators=config.validators or (),
    )


def refuse_bad_policy(past: Past, scope: Scope, change: Config) -> None:
    """Words have to be known and to say the same as the exact member beside them; a range may begin at any version that is
    there, and only a subject has such.
    """
    refuse_bad_words(past, change)
    if change.follows is not None:
        refuse_bad_following(past, scope, change)
    level, own = change.exact_level, own_config(past, scope)
    if level is not None and (own is None or own.level != level):
        refuse_missing_begins(
            past, scope, level
        )  # what is put back as it is may begin at a version that is gone by now


def refuse_bad_following(past: Past, scope: Scope, change: Config) -> None:
    """The policy has to be there, what is said beside its name has to be the same, and its ranges to begin at versions that
    are there.
    """
    if change.follows not in past.policies:
        raise No(InvalidSetting, "POLICY_UNKNOWN", new=change.follows)
    policy = followed(past, ConfigValue(follows=change.follows))
    assert policy.level is not None
    beside = changed(policy, replace(change, follows=None), ())
    if any(getattr(beside, name) != getattr(policy, name) for name in POLICY):
        raise No(InvalidSetting, "POLICY_FOLLOWED")
    own = own_config(past, scope)
    if own is None or own.level != policy.level:
        refuse_missing_begins(past, scope, policy.level)


def refuse_bad_words(past: Past, change: Config) -> None:
    """Words of a policy have to be known and to say the same as the exact member beside them."""
    level = change.exact_level
    if change.level is not None and change.level not in WORDS:
        raise No(InvalidSetting, "LEVEL", new=change.level)
    if level is not None:
        refuse_bad_ranges(level)
        if change.level not in {None, word_of(level)}:
            raise No(InvalidSetting, "POLICY_WORD", old=change.level, new=word_of(level))
    if change.partition is not None:
        if change.partition not in {"", "type"} and not change.partition.removeprefix("property:"):
            raise No(InvalidSetting, "POLICY_PARTITION", new=change.partition)
        if change.group is not None and change.partition != _of_group(change.group):
            raise No(InvalidSetting, "POLICY_GROUP", old=change.group, new=change.partition)
    if change.policy is not None and change.policy not in {"STRICT", "LENIENT", "LOGICAL"}:
        raise No(InvalidSetting, "COMPATIBILITY_POLICY", new=change.policy)
    refuse_bad_validators(past, change.validators or ())


def refuse_bad_validators(past: Past, named: tuple[str, ...]) -> None:
    """Validators are written as a name with words in parentheses, and are here; those of policies name one that is."""
    written = [re.fullmatch(r"([A-Za-z][\w.:-]*)(\([^()]*\))?", one) for one in named]
    if None in written:
        raise No(InvalidSetting, "VALIDATOR_MISSING")
    names = [one.partition("(")[0] for one in named]
    policies = {f"policy:{name}" for name in (*WORDS, "DenyAll", "AllowAny", "BackwardTill", *past.policies)}
    missing = [name for name in names if name not in Truth.validators and name not in policies]
    if missing:
        raise No(InvalidSetting, "VALIDATOR_MISSING", new=", ".join(missing))
    for one in named:
        name, _, words = one.partition("(")
        wants_words = name in {"required-metadata", "policy:BackwardTill"}
        if wants_words != bool(words.rstrip(")").strip()):
            raise No(InvalidSetting, "VALIDATOR_PARAMETERS")


def refuse_missing_begins(past: Past, scope: Scope, level: Level) -> None:
    for begin in begins(level):
        if scope.name is None:
            raise No(InvalidSetting, "POLICY_TILL", new=f"till {begin}")
        subject = Subject(scope.context, scope.name)
        if all(one.ordinal != begin for one in past.of(subject)):
            raise No(VersionNotFound, "POLICY_TILL_VERSION", subject=str(subject), version=str(begin))


def _of_group(group: str) -> str:
    return f"property:{group}" if group else ""


def told(config: ConfigValue) -> Config:
    """A config as it is told: the level by its word, and exactly too where no word names it."""
    level, partition = config.level, config.partition
    group = partition.removeprefix("property:") if partition and partition.startswith("property:") else None
    return Config(
        level=None if level is None else word_of(level),
        exact_level=None if level in {None, *WORDS.values()} else level,
        group="" if partition == "" else group,
        partition=partition if partition and group is None else None,
        policy=config.strictness,
        **{name: getattr(config, name) for name in SAME},
    )


def changed(old: ConfigValue | None, change: Config, clear: tuple[str, ...]) -> ConfigValue:
    """A config after a change: members that are cleared are forgotten, members that are given set; the rest stays.

    The word by which the level is shown changes nothing.
    """
    new = old or ConfigValue()
    if "follows" in clear and new.follows is not None:
        new = replace(new, follows=None, level=None, partition=None, strictness=None, validators=None)
    before = new
    for name in SAME:
        new = _with(new, name, getattr(change, name), gone=name in clear)
    new = _with(new, "strictness", change.policy, gone="policy" in clear)
    partition = change.partition
    if partition is None and change.group is not None:
        partition = _of_group(change.group)
    new = _with(new, "partition", partition, gone="group" in clear)
    level = change.exact_level
    if level is None and change.level is not None:
        level = WORDS[change.level]
        if new.level is not None and word_of(new.level) == change.level:
            level = new.level
    new = _with(new, "level", level, gone="level" in clear)
    if change.follows is None and any(getattr(new, name) != getattr(before, name) for name in POLICY):
        return replace(new, follows=None)  # it has a policy of its own now
    return new


def _with(config: ConfigValue, name: str, value: Any, *, gone: bool) -> ConfigValue:
    if gone or value is not None:
        member: dict[str, Any] = {name: None if gone else value}
        config = replace(config, **member)
    return config


def refuse_if_readonly(past: Past, scope: Scope) -> None:
    """READONLY and READONLY_OVERRIDE forbid every change but that of the mode."""
    mode = mode_in_force(past, scope)
    if mode in {"READONLY", "READONLY_OVERRIDE"}:
        raise No(NotPermitted, "MODE_READONLY", old=mode)

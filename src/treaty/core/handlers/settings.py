"""Settings: config and mode, where they are kept, and which of them is in force."""

from collections.abc import Iterable
from dataclasses import fields, replace
from functools import lru_cache
from operator import attrgetter

from treaty.core.messages.settings import Config, Scope
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject
from treaty.core.policy import (
    DEFAULT_LEVEL,
    LEVELS,
    STRICTNESS,
    Level,
    exact_level,
    group_of,
    nameless_level,
    partition_of,
    word_of,
)
from treaty.core.refusals import NotPermitted
from treaty.core.state.policy_table import POLICY, PolicyKey
from treaty.core.state.rows import Row, make_row, make_tombstone
from treaty.core.state.state_tables import CONFIG, MODE, ScopeKey
from treaty.core.state.values import ConfigValue, NamedPolicy, PolicyValue
from treaty.core.state.view import View

DEFAULT_MODE = "READWRITE"
MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD")

IMPORTING = ("IMPORT", "FORWARD")
"""Modes in which the sender says ids and numbers."""

UNSET = ConfigValue()
"""A config in which nothing is set."""
_FILLED = (
    "normalize", "validate_fields", "validate_new_schemas", "validate_rules", "strictness", "partition", "validators"
)  # fmt: skip
"""Members that a subject's own config takes from the root where it leaves them unset."""
_STORED = {"exact_level": "level", "group": "partition", "policy": "strictness"}
"""Members of `Config` that stand under another name in the row: a word and the exact value beside it are one member."""
_SAME = tuple(
    member.name
    for member in fields(Config)
    if member.name not in {"level", "exact_level", "group", "partition", "policy"}
)
"""Members that a config and its row call alike."""
_MEMBERS = tuple(member.name for member in fields(ConfigValue))
_read_same, _read_members = attrgetter(*_SAME), attrgetter(*_MEMBERS)


def scope_key(scope: Scope) -> ScopeKey:
    """Return the key of a scope's row in the tables config and mode."""
    if scope.context == EVERYWHERE:
        return ScopeKey("everywhere", EVERYWHERE, "")
    if scope.name is None:
        return ScopeKey("context", scope.context, "")
    return ScopeKey("subject", scope.context, scope.name)


POLICY_MEMBERS = ("level", "partition", "strictness", "validators")
"""Members of the row that make up a policy."""
_read_policy = attrgetter(*POLICY_MEMBERS)
ROOT = Scope(DEFAULT_CONTEXT)
ALL = Scope(EVERYWHERE)
ALWAYS = (ROOT, ALL)
"""Scopes for which an unset value is answered with the default; for others it is not found."""


def own_value(view: View, scope: Scope) -> ConfigValue | None:
    """Return the row of the config kept at a scope, with the members of the policy that it follows, or None."""
    value = view.get(CONFIG, scope_key(scope))
    return value if value is None or value.follows is None else with_followed(view, value)


def policy_named(view: View, name: str) -> NamedPolicy | None:
    """Return the row of a named policy, or None."""
    return view.get(POLICY, PolicyKey(name))


def with_followed(view: View, value: ConfigValue) -> ConfigValue:
    """Return a row of a config with the members of the policy that it follows. One that is not there, which only a repair
    by hand can leave, denies every change.
    """
    if value.follows is None:
        return value
    named = policy_named(view, value.follows)
    policy = PolicyValue(deny=True) if named is None else named.policy
    return replace(
        value,
        level=Level(policy.backward, policy.forward, policy.deny),
        partition=policy.partition,
        strictness=policy.strictness or STRICTNESS[0],
        validators=policy.validators,
        packages=() if named is None else named.packages,
    )


def config_row(scope: Scope, value: ConfigValue) -> Row:
    """Return the row of a config. One that follows a policy keeps its name alone: a policy has one home."""
    if value.follows is not None:
        value = replace(value, level=None, partition=None, strictness=None, validators=None, packages=())
    return make_row(CONFIG, scope_key(scope), value)


def package_of(view: View, scope: Scope, validator: str) -> str:
    """Return the package that offers a validator in force at a scope, as the config that names it says; "" if none does."""
    for level in (scope, Scope(scope.context), ROOT, ALL):
        own = own_value(view, level)
        packages = {} if own is None else dict(own.packages)
        if validator in packages:
            return packages[validator]
    return ""


def own_config(view: View, scope: Scope) -> Config | None:
    """Return the config kept at a scope, or None."""
    value = own_value(view, scope)
    return None if value is None else config_of(value)


def own_alias(view: View, scope: Scope) -> str | None:
    """Return the subject that a scope's own config names as the one it stands for."""
    value = own_value(view, scope)
    return None if value is None else value.alias


def config_of(value: ConfigValue) -> Config:
    """Return a row of a config as it is answered: with the words for its level and its partition."""
    return _config_at(value, value.level)


@lru_cache(1_000)  # most subjects have no config, and every registration asks
def _config_at(value: ConfigValue, level: Level | None) -> Config:
    """Return a row of a config as it is answered, at this level."""
    return Config(
        level=None if level is None else word_of(level),
        exact_level=None if level is None else nameless_level(level),
        group=group_of(value.partition),
        partition=None if group_of(value.partition) is not None else value.partition,
        policy=value.strictness,
        **{name: getattr(value, name) for name in _SAME},
    )


def own_mode(view: View, scope: Scope) -> str | None:
    """Return the mode kept at a scope, or None."""
    value = view.get(MODE, scope_key(scope))
    return None if value is None else value.mode


def config_in_force(view: View, scope: Scope, own: ConfigValue | None = None) -> Config:
    """Follow the chain: the subject's own (gaps filled from the root), else its context's, else everywhere's, else
    the default. Every level but the first is used whole. `own` is the row that a subject's config is about to have.
    """
    if scope.name is not None:
        own = own or own_value(view, scope)
    if own is not None:
        root = own_value(view, ROOT) or UNSET
        gaps = {name: getattr(root, name) for name in _FILLED if getattr(own, name) is None}
        own = replace(own, **gaps) if any(value is not None for value in gaps.values()) else own
    rows = (view.get(CONFIG, key) for key in _keys_above(scope))
    above = (with_followed(view, row) for row in rows if row is not None)
    chosen = next(above, UNSET) if own is None else own
    level = chosen.level
    if level is None:
        level = next((value.level for value in above if value.level is not None), LEVELS[DEFAULT_LEVEL])
    return _config_at(chosen, level)


def mode_in_force(view: View, scope: Scope) -> str:
    """Follow the chain of modes: subject, context, everywhere, READWRITE."""
    own = None if scope.name is None else own_mode(view, scope)
    if own is not None:
        return own
    rows = (view.get(MODE, key) for key in _keys_above(scope))
    return next((row.mode for row in rows if row is not None), DEFAULT_MODE)


def _keys_above(scope: Scope) -> tuple[ScopeKey, ...]:
    """Return the keys of the scopes that a subject of this one's context follows: the context and everywhere."""
    everywhere = scope_key(ALL)
    return (everywhere,) if scope.context == EVERYWHERE else (scope_key(Scope(scope.context)), everywhere)


@lru_cache(1_000)  # one value for all versions that were admitted under the same policy
def policy_of(config: Config) -> PolicyValue:
    """Return the policy that a config in force is: what a new version has to pass, and what its row says of it."""
    level = exact_level(config.level, config.exact_level) or LEVELS[DEFAULT_LEVEL]
    return PolicyValue(
        level.backward,
        level.forward,
        level.deny,
        partition=partition_of(config.group, config.partition) or "",
        strictness=config.policy or "",
        validators=tuple(dict.fromkeys(config.validators or ())),
    )


def remove_settings(view: View, scope: Scope) -> list[Row]:
    """Return the tombstones for what is set at a scope."""
    key = scope_key(scope)
    config = [make_tombstone(CONFIG, key)] if view.get(CONFIG, key) is not None else []
    return [*config, make_tombstone(MODE, key)] if view.get(MODE, key) is not None else config


def refuse_if_readonly(view: View, scope: Scope) -> None:
    """Raise `NotPermitted` where the mode in force forbids changes."""
    mode = mode_in_force(view, scope)
    if mode.startswith("READONLY"):
        raise NotPermitted.of(
            "MODE_READONLY",
            f"Subject {_format_scope(scope)} in context {scope.context} is in read-only mode",
            subject=_format_scope(scope),
            old=mode,
            allowed="set the mode to READWRITE first",
        )


def _format_scope(scope: Scope) -> str:
    return "null" if scope.name is None else str(Subject(scope.context, scope.name))


def merge_config(old: ConfigValue | None, change: Config, clear: Iterable[str] = ()) -> ConfigValue:
    """Return the old config with the members that `change` sets, and without those that `clear` names.

    A word that is already the one of the old level leaves the level as it is: the word may stand for a stricter one,
    and who puts back what was shown changes nothing. A config that follows a policy stops to, and keeps the other members
    of it, where the change makes one of them another; where it ends the following alone, it keeps none.
    """
    new = old or UNSET
    if "follows" in clear and new.follows is not None:
        new = replace(new, follows=None, level=None, partition=None, strictness=None, validators=None, packages=())
    before = new
    level = exact_level(change.level, change.exact_level)
    if change.exact_level is None and new.level is not None and change.level == word_of(new.level):
        level = new.level
    values = dict(
        zip(_SAME, _read_same(change), strict=True),
        level=level, partition=partition_of(change.group, change.partition), strictness=change.policy,
    )  # fmt: skip
    news = {name: value for name, value in values.items() if value is not None}
    cleared = dict.fromkeys(_STORED.get(name, name) for name in clear)
    members = {} if new is UNSET else dict(zip(_MEMBERS, _read_members(new), strict=True))
    new = ConfigValue(**(members | news | cleared))
    if change.follows is not None or new.follows is None:
        return new
    return replace(new, follows=None) if _read_policy(new) != _read_policy(before) else new

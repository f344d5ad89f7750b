"""Settings: config and mode, where they are kept, and which of them is in force."""

from dataclasses import fields, replace
from functools import lru_cache

from treaty.core.answers import Config
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject
from treaty.core.policy import DEFAULT_LEVEL, LEVELS, completed, with_group
from treaty.core.refusals import InvalidSetting, NotPermitted
from treaty.core.requests import Scope
from treaty.core.rows import Key
from treaty.core.values import ConfigValue, Mode, PolicyValue
from treaty.core.values import Subject as SubjectValue
from treaty.core.view import View

DEFAULT_MODE = "READWRITE"
MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD")

IMPORTING = ("IMPORT", "FORWARD")
"""Modes in which the sender says ids and numbers."""

_FILLED = ("normalize", "validate_fields", "validate_new_schemas", "validate_rules", "policy", "group", "validators")
"""Members that a subject's own config takes from the root where it leaves them unset."""


def scope_key(scope: Scope) -> Key:
    """Return the key of a scope's row in the tables config and mode."""
    if scope.context == EVERYWHERE:
        return ("everywhere", EVERYWHERE, "")
    if scope.name is None:
        return ("context", scope.context, "")
    return ("subject", scope.context, scope.name)


ROOT = Scope(DEFAULT_CONTEXT)
ALL = Scope(EVERYWHERE)
ALWAYS = (ROOT, ALL)
"""Scopes that are told with the default where nothing is set at them; what others lack is not found."""


def own_config(view: View, scope: Scope) -> Config | None:
    """Return the config kept at a scope, or None."""
    value = view.get("config", scope_key(scope))
    return value.config if isinstance(value, ConfigValue) else None


def own_mode(view: View, scope: Scope) -> str | None:
    """Return the mode kept at a scope, or None."""
    value = view.get("mode", scope_key(scope))
    return value.mode if isinstance(value, Mode) else None


def config_in_force(view: View, scope: Scope) -> Config:
    """Follow the chain: the subject's own (gaps filled from the root), else its context's, else everywhere's, else
    the default. Every level but the first is used whole.
    """
    own = own_config(view, scope) if scope.name is not None else None
    if own is not None:
        root = own_config(view, ROOT) or Config()
        gaps = {name: getattr(root, name) for name in _FILLED if getattr(own, name) is None}
        own = replace(own, **gaps) if any(value is not None for value in gaps.values()) else own
    found = own
    if found is None and scope.context != EVERYWHERE:
        found = own_config(view, Scope(scope.context))
    if found is None:
        found = own_config(view, ALL) or Config()
    return found if found.level is not None else _at_level(found, _level_below(view, scope))


@lru_cache(1_000)  # most subjects have no config, and every registration asks
def _at_level(config: Config, level: str) -> Config:
    return replace(config, level=level)


def _level_below(view: View, scope: Scope) -> str:
    """The level for a config that leaves it out: the next scope's that has one, else the default."""
    chain = (Scope(scope.context), ALL) if scope.context != EVERYWHERE else (ALL,)
    for one in chain:
        config = own_config(view, one)
        if config is not None and config.level is not None:
            return config.level
    return DEFAULT_LEVEL


def mode_in_force(view: View, scope: Scope) -> str:
    """Follow the chain of modes: subject, context, everywhere, READWRITE."""
    if scope.name is not None:
        own = own_mode(view, scope)
        if own is not None:
            return own
    if scope.context != EVERYWHERE:
        own = own_mode(view, Scope(scope.context))
        if own is not None:
            return own
    return own_mode(view, ALL) or DEFAULT_MODE


def policy_in_force(view: View, subject: Subject, config: Config, created_with: str = "") -> PolicyValue:
    """Return the policy that a new version has to pass: the subject's own named one, else its level's.

    Either way the config adds its strictness where the policy names none, and the validators of subject and config
    are added. `created_with` is the policy of a subject that is about to be made. A policy that is named and not there
    refuses.
    """
    value = view.get("subject", tuple(subject))
    name = value.policy if isinstance(value, SubjectValue) else created_with
    own = value.validators if isinstance(value, SubjectValue) else ()
    policy = _named_policy(view, subject, name) if name else None
    if policy is None:
        policy = with_group(LEVELS[config.level or DEFAULT_LEVEL], config.group)
    return completed(policy, config.policy, (*own, *(config.validators or ())))


def _named_policy(view: View, subject: Subject, name: str) -> PolicyValue:
    """Named policies are rows; the names of Confluent's levels are there without one."""
    named = view.get("policy", (name,))
    if isinstance(named, PolicyValue):
        return named
    if name not in LEVELS:
        raise InvalidSetting.of(
            "POLICY_MISSING",
            f"Subject '{subject}' follows policy '{name}', and there is none of that name",
            path="/policy",
            subject=str(subject),
            new=name,
            allowed=", ".join((*sorted(str(key[0]) for key in view.keys("policy")), *LEVELS)),
        )
    return LEVELS[name]


def refuse_if_readonly(view: View, scope: Scope) -> None:
    """Raise `NotPermitted` where the mode in force forbids changes."""
    mode = mode_in_force(view, scope)
    if mode.startswith("READONLY"):
        raise NotPermitted.of(
            "MODE_READONLY",
            f"Subject {_shown(scope)} in context {scope.context} is in read-only mode",
            subject=_shown(scope),
            old=mode,
            allowed="set the mode to READWRITE first",
        )


def _shown(scope: Scope) -> str:
    return "null" if scope.name is None else str(Subject(scope.context, scope.name))


def merged(old: Config | None, change: Config, clear: tuple[str, ...]) -> Config:
    """Return the old config with the members that `change` sets, and without those that `clear` names."""
    new = old or Config()
    news = {one.name: getattr(change, one.name) for one in fields(Config) if getattr(change, one.name) is not None}
    return replace(new, **{**news, **dict.fromkeys(clear)})

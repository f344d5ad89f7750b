"""Which config, mode and policy are in force at a scope."""

from dataclasses import replace

from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from treaty.core.answers import Config
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSetting, NotPermitted
from treaty.core.requests import Scope
from treaty.core.values import PolicyValue

ROOT = Scope(".")
EVERYWHERE = Scope("*")
GIVING_IDS = ("IMPORT", "FORWARD")
"""Modes in which the sender gives the ids."""
LEVELS = {
    "NONE": PolicyValue(),
    "BACKWARD": PolicyValue(backward=True, range="latest"),
    "BACKWARD_TRANSITIVE": PolicyValue(backward=True, range="all"),
    "FORWARD": PolicyValue(forward=True, range="latest"),
    "FORWARD_TRANSITIVE": PolicyValue(forward=True, range="all"),
    "FULL": PolicyValue(backward=True, forward=True, range="latest"),
    "FULL_TRANSITIVE": PolicyValue(backward=True, forward=True, range="all"),
}
FROM_THE_ROOT = (
    "normalize",
    "validate_fields",
    "validate_new_schemas",
    "validate_rules",
    "policy",
    "group",
    "validators",
)
"""What a subject's own config takes from the root's where it leaves it out."""


def row_scope(scope: Scope) -> Scope:
    """The scope under which something is kept: everywhere has no name."""
    return EVERYWHERE if scope.context == "*" else scope


def own_config(past: Past, scope: Scope) -> Config | None:
    return past.configs.get(row_scope(scope))


def own_mode(past: Past, scope: Scope) -> str | None:
    return past.modes.get(row_scope(scope))


def chain(scope: Scope) -> list[Scope]:
    """The scopes whose settings hold at a scope, the nearest first."""
    if scope.context == "*":
        return [EVERYWHERE]
    if scope.name is None:
        return [scope, EVERYWHERE]
    return [scope, Scope(scope.context), EVERYWHERE]


def config_in_force(past: Past, scope: Scope) -> Config:
    """The nearest config, whole; one of a subject takes what it leaves out from the root. A level that is left out is
    the next one that is set, else BACKWARD.
    """
    set_there = [(place, own_config(past, place)) for place in chain(scope)]
    configs = [(place, config) for place, config in set_there if config is not None]
    place, nearest = configs[0] if configs else (EVERYWHERE, Config())
    if place.name is not None:
        root = own_config(past, ROOT) or Config()
        for name in FROM_THE_ROOT:
            if getattr(nearest, name) is None:
                nearest = replace(nearest, **{name: getattr(root, name)})
    if nearest.level is None:
        levels = [config.level for _, config in configs if config.level is not None]
        nearest = replace(nearest, level=levels[0] if levels else "BACKWARD")
    return nearest


def mode_in_force(past: Past, scope: Scope) -> str:
    """The nearest mode, else READWRITE."""
    for place in chain(scope):
        mode = own_mode(past, place)
        if mode is not None:
            return mode
    return "READWRITE"


def policy_in_force(past: Past, subject: Subject, config: Config, created_with: str = "") -> PolicyValue:
    """What a new version has to pass: the named policy of the subject, else the level of the config with its group."""
    there = past.subjects.get(subject)
    name = there.policy if there is not None else created_with
    if name and name not in LEVELS:
        raise No(InvalidSetting, "POLICY_MISSING", subject=str(subject), new=name)
    policy = LEVELS[name or config.level or "BACKWARD"]
    if not name and config.group:
        policy = replace(policy, partition=f"property:{config.group}")
    validators = tuple(dict.fromkeys((*(there.validators if there else ()), *(config.validators or ()))))
    return replace(policy, strictness=config.policy or "", validators=validators)


def refuse_if_readonly(past: Past, scope: Scope) -> None:
    """READONLY and READONLY_OVERRIDE forbid every change but that of the mode."""
    mode = mode_in_force(past, scope)
    if mode in {"READONLY", "READONLY_OVERRIDE"}:
        raise No(NotPermitted, "MODE_READONLY", old=mode)

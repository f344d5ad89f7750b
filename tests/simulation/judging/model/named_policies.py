"""Named policies: created, changed and deleted, and told."""

import re

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.events import PolicyChanged
from tests.simulation.judging.model.levels import WORDS, begins
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.settings import refuse_bad_words, refuse_missing_begins
from treaty.core import limits
from treaty.core.messages import policies as p
from treaty.core.messages.settings import Config
from treaty.core.policy import Level
from treaty.core.refusals import InvalidSetting, NotPermitted, PreviousLevelDiffers, SettingNotFound, TooLarge
from treaty.core.state.values import PolicyValue

BUILT_IN = {*(word.replace("_", "").lower() for word in WORDS), "none", "allowany", "denyall", "backwardtill", "forwardtill",
            "backwardtillandforwardtill"}  # fmt: skip
"""Names that no policy may have, in any spelling."""


def _level(policy: PolicyValue) -> Level:
    return Level(policy.backward, policy.forward, policy.deny)


def _refuse_bad_value(past: Past, policy: PolicyValue) -> None:
    for one in policy.validators:
        name = one.partition("(")[0].removeprefix("policy:")
        if one.startswith("policy:") and name.replace("_", "").lower() not in BUILT_IN:
            raise No(InvalidSetting, "POLICY_NESTED")
    refuse_bad_words(
        past,
        Config(
            exact_level=_level(policy),
            partition=policy.partition,
            policy=policy.strictness or None,
            validators=policy.validators,
        ),
    )


def _there(past: Past, name: str) -> PolicyValue:
    if name not in past.policies:
        raise No(SettingNotFound, "POLICY_NOT_FOUND", new=name)
    return past.policies[name]


def create_policy(past: Past, asking: Asking, request: p.CreatePolicy) -> Yes:
    """One of the same name and value is there already; of another value it is in the way."""
    name = request.name
    if len(name) > limits.POLICY_NAME:
        raise No(TooLarge, "POLICY_NAME")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) or name.replace("_", "").lower() in BUILT_IN:
        raise No(InvalidSetting, "POLICY_NAME", new=name)
    _refuse_bad_value(past, request.policy)
    found = p.PolicyFound(name, request.policy)
    if name not in past.policies:
        if len(past.policies) >= limits.POLICIES:
            raise No(TooLarge, "POLICIES")
        return Yes((PolicyChanged(name, request.policy),), p.PolicyStored(found, created=True))
    if past.policies[name] != request.policy:
        raise No(NotPermitted, "POLICY_EXISTS")
    return Yes((), p.PolicyStored(found))


def change_policy(past: Past, asking: Asking, request: p.ChangePolicy) -> Yes:
    """For all that follow it: a range begins at versions that they have."""
    _refuse_bad_value(past, request.policy)
    old = _there(past, request.name)
    if request.previous not in {None, old}:
        raise No(PreviousLevelDiffers, "POLICY_PREVIOUS")
    found = p.PolicyStored(p.PolicyFound(request.name, request.policy))
    if request.policy == old:
        return Yes((), found)
    if begins(_level(request.policy)):
        for scope in sorted(past.configs, key=_order):
            if past.configs[scope].follows == request.name and _level(request.policy) != _level(old):
                refuse_missing_begins(past, scope, _level(request.policy))
    return Yes((PolicyChanged(request.name, request.policy),), found)


def _order(scope: object) -> tuple[bool, str]:
    return (getattr(scope, "name", None) is not None, str(scope))


def delete_policy(past: Past, asking: Asking, request: p.DeletePolicy) -> Yes:
    """Nothing may follow it, and no validator compare by it."""
    old = _there(past, request.name)
    for config in past.configs.values():
        if config.follows == request.name or f"policy:{request.name}" in (config.validators or ()):
            raise No(NotPermitted, "POLICY_USED", new=request.name)
    return Yes((PolicyChanged(request.name, None),), p.PolicyDeleted(p.PolicyFound(request.name, old)))


def get_policy(past: Past, asking: Asking, request: p.GetPolicy) -> Yes:
    return Yes((), p.PolicyFound(request.name, _there(past, request.name)))


def list_policies(past: Past, asking: Asking, request: p.ListPolicies) -> Yes:
    """A page of policies by name; whoever sees anything sees them all."""
    names = sorted(name for name in past.policies if name > request.after)
    page = names[: max(0, min(request.limit, limits.POLICIES_PAGE))]
    found = tuple(p.PolicyFound(name, past.policies[name]) for name in page)
    return Yes((), p.Policies(found, page[-1] if page else request.after))

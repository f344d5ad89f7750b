"""Named policies are created, changed, deleted and listed. What a config that follows one has is computed from its row."""

import re
from itertools import islice

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.command import Command, Decision
from treaty.core.handlers.policies import refuse_bad_words, refuse_missing_version
from treaty.core.handlers.settings import policy_named
from treaty.core.handlers.uses import GoingRows, refuse_if_used
from treaty.core.messages.policies import (
    ChangePolicy,
    CreatePolicy,
    DeletePolicy,
    GetPolicy,
    ListPolicies,
    Policies,
    PolicyDeleted,
    PolicyFound,
    PolicyStored,
)
from treaty.core.messages.settings import Config, Scope
from treaty.core.policy import BUILT_IN_POLICIES, Level, in_words
from treaty.core.policy import named_policies as used_policies
from treaty.core.refusals import InvalidSetting, NotPermitted, PreviousLevelDiffers, SettingNotFound, TooLarge
from treaty.core.schema import Pairs
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.policy_table import POLICY, PolicyKey
from treaty.core.state.rows import make_row, make_tombstone
from treaty.core.state.state_tables import CONFIG, CONFIG_BY_POLICY
from treaty.core.state.values import NamedPolicy, PolicyValue
from treaty.core.state.view import ALL_KEYS, View, after

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TAKEN = frozenset(name.replace("_", "").casefold() for name in BUILT_IN_POLICIES)
"""Names of built-in policies, as they are read in any spelling."""


def create_policy(view: View, command: Command[CreatePolicy], engine: SchemaEngine) -> Decision[PolicyStored]:
    """Create a policy; one with the same value exists already."""
    request = command.request
    _refuse_bad_name(request.name)
    packages = _refuse_bad_value(view, request.policy, engine)
    stored = policy_named(view, request.name)
    if stored is None:
        _refuse_many(view)
        value = NamedPolicy(request.policy, packages)
        row = make_row(POLICY, PolicyKey(request.name), value)
        return Decision((row,), PolicyStored(_describe(request.name, value), created=True))
    if stored.policy != request.policy:
        raise NotPermitted.of(
            "POLICY_EXISTS",
            f"There is a policy {request.name} already, with another value",
            path="/policy",
            old=format_policy(stored.policy),
            new=format_policy(request.policy),
            allowed="another name, or a change of the policy",
        )
    return Decision((), PolicyStored(_describe(request.name, stored)))


def change_policy(view: View, command: Command[ChangePolicy], engine: SchemaEngine) -> Decision[PolicyStored]:
    """Replace a policy, if it is the expected one, and if it can be at everything that follows it."""
    request = command.request
    packages = _refuse_bad_value(view, request.policy, engine)
    stored = _find(view, request.name)
    if request.previous is not None and request.previous != stored.policy:
        raise PreviousLevelDiffers.of(
            "POLICY_PREVIOUS",
            f"The policy {request.name} is not the expected one",
            path="/previous",
            old=format_policy(stored.policy),
            new=format_policy(request.previous),
            allowed="read the policy and decide again",
        )
    if request.policy == stored.policy:
        return Decision((), PolicyStored(_describe(request.name, stored)))
    _refuse_missing_versions(view, request)
    value = NamedPolicy(request.policy, packages, stored.extra)
    row = make_row(POLICY, PolicyKey(request.name), value)
    return Decision((row,), PolicyStored(_describe(request.name, value)))


def delete_policy(view: View, command: Command[DeletePolicy], engine: SchemaEngine) -> Decision[PolicyDeleted]:
    """Delete a policy that nothing uses."""
    name = command.request.name
    stored = _find(view, name)
    refuse_if_used(view, POLICY, PolicyKey(name), GoingRows())
    return Decision((make_tombstone(POLICY, PolicyKey(name)),), PolicyDeleted(_describe(name, stored)))


def get_policy(view: View, command: Command[GetPolicy], engine: SchemaEngine) -> Decision[PolicyFound]:
    """Return a policy by its name."""
    return Decision((), _describe(command.request.name, _find(view, command.request.name)))


def list_policies(view: View, command: Command[ListPolicies], engine: SchemaEngine) -> Decision[Policies]:
    """List policies by name; a caller who may read something may read them all."""
    request = command.request
    base, _ = without_filter(view)
    low, high = ALL_KEYS
    keys = base.walk(POLICY, after((request.after,)) if request.after else low, high)
    page = islice(keys, max(0, min(request.limit, limits.POLICIES_PAGE)))
    rows = ((key.name, base.get(POLICY, key)) for key in page)
    described = tuple(_describe(name, value) for name, value in rows if value is not None)
    return Decision((), Policies(described, described[-1].name if described else request.after))


def format_policy(policy: PolicyValue) -> str:
    """Return a policy for messages: its level and what goes with it."""
    level = in_words(Level(policy.backward, policy.forward, policy.deny))
    members = {
        "level": level,
        "partition": policy.partition,
        "strictness": policy.strictness,
        "validators": ", ".join(policy.validators),
    }
    return "; ".join(f"{name} {value}" for name, value in members.items() if value)


def _describe(name: str, value: NamedPolicy) -> PolicyFound:
    return PolicyFound(name, value.policy)


def _find(view: View, name: str) -> NamedPolicy:
    stored = policy_named(view, name)
    if stored is None:
        message = f"There is no policy {name[:100]}"
        raise SettingNotFound.of(
            "POLICY_NOT_FOUND", message, path="/name", new=name[:100], allowed="a policy that is listed"
        )
    return stored


def _refuse_bad_name(name: str) -> None:
    if len(name) > limits.POLICY_NAME:
        allowed = f"at most {limits.POLICY_NAME} characters"
        raise TooLarge.of("POLICY_NAME", "The name of the policy is too long", path="/name", allowed=allowed)
    if not _NAME.fullmatch(name):
        raise InvalidSetting.of(
            "POLICY_NAME",
            f"'{name}' can't be the name of a policy",
            path="/name",
            new=name,
            allowed="letters, digits, points, hyphens and underscores, with a letter or digit first",
        )
    if name.replace("_", "").casefold() in _TAKEN:
        raise InvalidSetting.of(
            "POLICY_NAME",
            f"'{name}' is the name of a built-in policy",
            path="/name",
            new=name,
            allowed=f"a name that is not one of {', '.join(BUILT_IN_POLICIES)} in any spelling",
        )


def _refuse_many(view: View) -> None:
    if view.count(POLICY, ()) >= limits.POLICIES:
        raise TooLarge.of(
            "POLICIES", "There are too many policies", allowed=f"at most {limits.POLICIES}; delete unused ones"
        )


def _refuse_bad_value(view: View, policy: PolicyValue, engine: SchemaEngine) -> Pairs:
    """Return the packages of the plug-ins among the validators of a policy that can be."""
    nested = [name for name in used_policies(policy.validators) if name not in BUILT_IN_POLICIES]
    if nested:
        raise InvalidSetting.of(
            "POLICY_NESTED",
            "Invalid validators. A named policy can't compare by another one",
            path="/policy/validators",
            new=f"policy:{nested[0]}",
            allowed=f"policy: with one of {', '.join(BUILT_IN_POLICIES)}",
        )
    config = Config(
        exact_level=Level(policy.backward, policy.forward, policy.deny),
        partition=policy.partition,
        policy=policy.strictness or None,
        validators=policy.validators,
    )
    return refuse_bad_words(view, config, engine, "/policy")


def _refuse_missing_versions(view: View, request: ChangePolicy) -> None:
    """Ranges begin at versions that every subject that follows the policy has, and no context has versions."""
    level = Level(request.policy.backward, request.policy.forward, request.policy.deny)
    if "till" not in {level.backward.kind, level.forward.kind}:
        return
    for key in view.find(CONFIG_BY_POLICY, (request.name,)):
        config = view.get(CONFIG, key)
        if config is not None and config.follows == request.name:
            scope = Scope(key.context, key.subject if key.scope == "subject" else None)
            refuse_missing_version(view, scope, level, "/policy")

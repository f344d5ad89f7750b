"""Policies of format 1, and what they are today: a level in the config row of the subject, and what goes with it. Pure.

In format 1 a subject could follow a policy by name, past the level of its config; such a name was that of a level, or the key
of a row in the table ``policy``. Today the config row at a scope is the one home of its policy.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Members = dict[str, Any]
"""The members of a row, as JSON has them, without its format."""
Scope = tuple[str, str, str]
"""Kind of scope, context, subject: the key of a row in the table ``config``."""

ROOT_SCOPE: Scope = ("context", ".", "")
GLOBAL_SCOPE: Scope = ("everywhere", "*", "")
LEVELS: Mapping[str, Members] = {
    "NONE": {},
    "BACKWARD": {"backward": True},
    "FORWARD": {"forward": True},
    "FULL": {"backward": True, "forward": True},
    "BACKWARD_TRANSITIVE": {"backward": True, "range": "all"},
    "FORWARD_TRANSITIVE": {"forward": True, "range": "all"},
    "FULL_TRANSITIVE": {"backward": True, "forward": True, "range": "all"},
}
"""What the words meant as policies of format 1."""
DENY_POLICY: Members = {"deny": True}
"""What a policy comes to that was named and not there: every registration was refused."""
NEUTRAL_CONFIG: Members = {
    "normalize": False, "validate_fields": False, "validate_new_schemas": False, "validate_rules": False,
    "strictness": "STRICT", "partition": "", "validators": [],
}  # fmt: skip
"""Members that a subject's config took from that of the default context where it left them out, and what is as if unset."""
_OF_ONE_SCOPE = ("alias", "alias_for_deks")


@dataclass(frozen=True, slots=True)
class OldSubjectPolicy:
    """What the row of a subject said of its policy: a name or "", and validators of its own."""

    policy: str
    validators: tuple[str, ...]


def convert_level(policy: Members) -> Members:
    """Return the level that a policy of format 1 is."""
    kind = policy.get("range", "latest")
    reach: Members = {"kind": kind, "ordinal": policy.get("till", 0)} if kind == "till" else {"kind": kind}
    if kind == "till" and not reach["ordinal"]:
        del reach["ordinal"]
    level: Members = {name: reach for name in ("backward", "forward") if policy.get(name)}
    return {**level, "deny": True} if policy.get("deny") else level


def convert_policy(policy: Members) -> Members:
    """Return the policy of a version's row as it is written today; members that are not known stay."""
    known = ("backward", "forward", "range", "till", "deny")
    return {**{name: value for name, value in policy.items() if name not in known}, **convert_level(policy)}


def convert_config(members: Members) -> Members:
    """Return the members of a config row: in format 1 they stood in one member, with other names and the level as a word."""
    config = dict(members.get("config") or {})
    new = {name: value for name, value in members.items() if name != "config"}
    for name, value in config.items():
        if value is None:
            continue
        if name == "level":
            new["level"] = convert_level(LEVELS[value]) if value in LEVELS else value
        elif name == "group":
            new["partition"] = f"property:{value}" if value else ""
        else:
            new["strictness" if name == "policy" else name] = value
    return new


def merge_policy(
    configs: Mapping[Scope, Members], named: Mapping[str, Members], scope: Scope, own_policy: OldSubjectPolicy
) -> Members:
    """Return the config row that a subject gets in which its own policy stands, so that what is in force stays the same."""
    own, before = configs.get(scope), compute_config_in_force(configs, scope)
    root = configs.get(ROOT_SCOPE, {})
    if own is not None:
        row = dict(own)
    else:  # what the context's config says stays in force; what the default context's says is in force by itself
        row = {name: value for name, value in before.items() if name not in NEUTRAL_CONFIG or root.get(name) != value}
    want: Members = {name: before.get(name, value) for name, value in NEUTRAL_CONFIG.items()}
    validators = [*own_policy.validators, *want["validators"]]
    if own_policy.policy:
        policy = named.get(own_policy.policy, LEVELS.get(own_policy.policy, DENY_POLICY))
        row["level"] = convert_level(policy)
        want["partition"] = _read_partition(policy)
        want["strictness"] = policy.get("strictness") or want["strictness"]
        validators = [*policy.get("validators", ()), *validators]
    want["validators"] = [*dict.fromkeys(validators)]
    for name, value in want.items():
        if row.get(name, root.get(name, NEUTRAL_CONFIG[name])) != value:
            row[name] = value
    return row


def compute_old_policy(
    configs: Mapping[Scope, Members], named: Mapping[str, Members], scope: Scope, own_policy: OldSubjectPolicy
) -> Members:
    """Return the policy that a new version of a subject had to pass: its level and what goes with it, in today's words."""
    config = compute_config_in_force(configs, scope)
    level, partition = config.get("level"), config.get("partition", "")
    if level is None:
        chain = (configs.get(("context", scope[1], ""), {}), configs.get(GLOBAL_SCOPE, {}))
        level = next((one["level"] for one in chain if "level" in one), convert_level(LEVELS["BACKWARD"]))
    strictness, validators = config.get("strictness", "STRICT"), [*own_policy.validators, *config.get("validators", ())]
    if own_policy.policy:
        policy = named.get(own_policy.policy, LEVELS.get(own_policy.policy, DENY_POLICY))
        level, partition = convert_level(policy), _read_partition(policy)
        strictness = policy.get("strictness") or strictness
        validators = [*policy.get("validators", ()), *validators]
    return {
        "level": level,
        "partition": partition,
        "strictness": strictness,
        "validators": [*dict.fromkeys(validators)],
    }


def _read_partition(policy: Members) -> str:
    """The partition of a named policy; format 1 took any other word for none."""
    word = str(policy.get("partition", ""))
    return word if word == "type" or word.startswith("property:") else ""


def compute_config_in_force(configs: Mapping[Scope, Members], scope: Scope) -> Members:
    """Return the config in force at a subject: its own, gaps filled from the default context; else the next scope's, whole."""
    own = configs.get(scope)
    if own is None:
        return _inherit_config(configs, scope)
    root = configs.get(ROOT_SCOPE, {})
    return {**{name: root[name] for name in NEUTRAL_CONFIG if name in root}, **own}


def _inherit_config(configs: Mapping[Scope, Members], scope: Scope) -> Members:
    found = configs.get(("context", scope[1], ""))
    if found is None:
        found = configs.get(GLOBAL_SCOPE, {})
    return {name: value for name, value in found.items() if name not in _OF_ONE_SCOPE}

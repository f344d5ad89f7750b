"""Policies: directions × range × partition × strictness. Names such as FULL_TRANSITIVE are names for values."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from treaty.core.values import PolicyValue

DEFAULT_LEVEL = "BACKWARD"
STRICTNESS = ("STRICT", "LENIENT", "LOGICAL")
"""Confluent's compatibility policies: how strictly differences are judged. The first one is meant where none is named."""

LEVELS: Mapping[str, PolicyValue] = {
    "NONE": PolicyValue(),
    "BACKWARD": PolicyValue(backward=True),
    "FORWARD": PolicyValue(forward=True),
    "FULL": PolicyValue(backward=True, forward=True),
    "BACKWARD_TRANSITIVE": PolicyValue(backward=True, range="all"),
    "FORWARD_TRANSITIVE": PolicyValue(forward=True, range="all"),
    "FULL_TRANSITIVE": PolicyValue(backward=True, forward=True, range="all"),
}
"""Confluent's seven levels."""


def level_of(policy: PolicyValue) -> str:
    """Return the level that is this policy, or the nearest stricter one where no level is."""
    if policy.deny:
        return "FULL_TRANSITIVE"
    wide = policy.range != "latest"
    name = {(False, False): "NONE", (True, False): "BACKWARD", (False, True): "FORWARD", (True, True): "FULL"}[
        policy.backward, policy.forward
    ]
    return name if name == "NONE" or not wide else f"{name}_TRANSITIVE"


def with_group(policy: PolicyValue, group: str | None) -> PolicyValue:
    """Return the policy with versions parted by a metadata property (Confluent's `compatibilityGroup`)."""
    return replace(policy, partition=f"property:{group}") if group else policy


def completed(policy: PolicyValue, strictness: str | None, validators: Iterable[str]) -> PolicyValue:
    """Return the policy with what the config adds: a strictness where it has none, and further validators."""
    names = tuple(dict.fromkeys((*policy.validators, *validators)))
    strict = policy.strictness or strictness or ""
    if (strict, names) == (policy.strictness, policy.validators):
        return policy
    return replace(policy, strictness=strict, validators=names)

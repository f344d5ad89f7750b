"""Policies without a Confluent name as bodies: in the member `treaty` of a config, and in `createWith` of a
registration.
"""

from dataclasses import replace
from typing import TypeVar

from msgspec import UNSET, Struct, UnsetType

from treaty.core.messages.settings import Config
from treaty.core.policy import NONE, Level, VersionRange, exact_level, group_of, nameless_level, partition_of

T = TypeVar("T")

MISSING = -1
"""The ordinal of a range that needs one and has none; the handler refuses it."""


class RangeBody(Struct):
    """Which earlier versions count in a direction: none, latest, till (those from an ordinal on) or all."""

    range: str = ""
    ordinal: int | UnsetType = UNSET


class PolicyBody(Struct, rename="camel"):
    """A policy. `backward`, `forward` and `deny` are the level: where one of them is given, the others stand at none
    and false.

    `level` is one of Confluent's words, which says the same where they are left out. `partition` is empty, `type` or
    `property:NAME`; `strictness` and `validators` are those of the config. `name` is that of a policy that the config follows,
    which says all of them; null ends that.
    """

    backward: RangeBody | UnsetType = UNSET
    forward: RangeBody | UnsetType = UNSET
    deny: bool | UnsetType = UNSET
    partition: str | UnsetType = UNSET
    strictness: str | UnsetType = UNSET
    validators: list[str] | UnsetType = UNSET
    level: str | UnsetType = UNSET
    name: str | UnsetType | None = UNSET


class ConfigDetails(Struct, rename="camel"):
    """What a config can say and Confluent's members can't."""

    policy: PolicyBody | UnsetType = UNSET


def without_null(value: T | UnsetType | None) -> T | None:
    """Return a member that is there and not null, else None."""
    return None if isinstance(value, UnsetType) else value


def names_of(listed: list[str] | None) -> tuple[str, ...] | None:
    """Names, each once, in the order given: which validator speaks first is the owner's choice."""
    return None if listed is None else tuple(dict.fromkeys(listed))


def policy_of(body: PolicyBody) -> Config:
    """Read a policy as the members of a config that it is made of."""
    strictness, level = without_null(body.strictness), without_null(body.level)
    return Config(
        level=None if level is None else level.upper(),
        exact_level=_level_of(body),
        partition=without_null(body.partition),
        policy=None if strictness is None else strictness.upper(),
        validators=names_of(without_null(body.validators)),
        follows=without_null(body.name),
    )


def policy_body(config: Config) -> PolicyBody:
    """Print all that a config says of its policy."""
    level, partition = exact_level(config.level, config.exact_level), partition_of(config.group, config.partition)
    body = PolicyBody() if level is None else _level_body(level)
    body.partition = UNSET if partition is None else partition
    body.strictness = UNSET if config.policy is None else config.policy
    body.validators = UNSET if config.validators is None else list(config.validators)
    body.name = UNSET if config.follows is None else config.follows
    return body


def exact_policy_body(config: Config) -> PolicyBody | None:
    """Print what a config says of its policy beside the words for it; None where these say it all."""
    if config.exact_level is None and config.partition is None and config.follows is None:
        return None
    body = PolicyBody() if config.exact_level is None else _level_body(config.exact_level)
    body.partition = UNSET if config.partition is None else config.partition
    body.name = UNSET if config.follows is None else config.follows
    return body


def chosen_of(body: PolicyBody | str) -> Config | None:
    """Read the policy that a subject is to be made with: a word for its level, or all of it."""
    if isinstance(body, str):
        return Config(level=body.upper()) if body else None
    return policy_of(body)


def chosen_body(config: Config | None) -> PolicyBody | str:
    """Print the policy that a subject is to be made with."""
    if config is None:
        return ""
    if config.level is not None and config == Config(level=config.level):
        return config.level
    complete = replace(config, partition=partition_of(config.group, config.partition))
    body = exact_policy_body(complete) or PolicyBody()
    body.level = UNSET if config.level is None else config.level
    body.strictness = UNSET if config.policy is None else config.policy
    body.validators = UNSET if config.validators is None else list(config.validators)
    return body


def simplify_answer(config: Config) -> Config:
    """Return a config that was read from an answer as registries answer it: exact members only where no word says them."""
    exact, partition = config.exact_level, config.partition
    if exact is None and partition is None:
        return config
    group = group_of(partition)
    return replace(
        config,
        exact_level=None if exact is None else nameless_level(exact),
        group=config.group if group is None else group,
        partition=None if group is not None else partition,
    )


def _level_of(body: PolicyBody) -> Level | None:
    backward, forward, deny = without_null(body.backward), without_null(body.forward), without_null(body.deny)
    if backward is None and forward is None and deny is None:
        return None
    return Level(_range_of(backward), _range_of(forward), bool(deny))


def _range_of(body: RangeBody | None) -> VersionRange:
    if body is None:
        return NONE
    kind = body.range.lower()
    ordinal = without_null(body.ordinal)
    return VersionRange(kind, MISSING if ordinal is None and kind == "till" else ordinal or 0)


def _level_body(level: Level) -> PolicyBody:
    return PolicyBody(_range_body(level.backward), _range_body(level.forward), level.deny)


def _range_body(range_: VersionRange) -> RangeBody:
    return RangeBody(range_.kind, range_.ordinal if range_.kind == "till" else UNSET)

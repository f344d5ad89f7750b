"""Policies as they are set: what a config may say of them, and the config row that a new subject is made with."""

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import NoReturn

from treaty.core.handlers.settings import (
    POLICY_MEMBERS,
    config_in_force,
    config_of,
    merge_config,
    own_value,
    policy_named,
    with_followed,
)
from treaty.core.handlers.validators import refuse_bad_validators
from treaty.core.handlers.versions import with_ordinal
from treaty.core.limits import COUNTER
from treaty.core.messages.settings import Config, Scope
from treaty.core.names import Subject
from treaty.core.policy import (
    BY_PROPERTY,
    BY_TYPE,
    LEVELS,
    NONE,
    RANGES,
    STRICTNESS,
    Level,
    VersionRange,
    exact_level,
    in_words,
    partition_of,
    word_of,
)
from treaty.core.refusals import InvalidSetting, NotPermitted, VersionNotFound
from treaty.core.schema import Pairs
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.values import ConfigValue
from treaty.core.state.view import View

MEMBERS = ("level", "exact_level", "group", "partition", "policy", "validators", "follows")
"""Members of a config that make up a policy."""
PATHS = {
    "level": "/compatibility", "exact_level": "/treaty/policy", "group": "/compatibilityGroup",
    "partition": "/treaty/policy/partition", "policy": "/compatibilityPolicy", "validators": "/validators",
    "follows": "/treaty/policy/name",
}  # fmt: skip
"""Paths of these members in the body of a config."""
CREATE_WITH = "/treaty/createWith/policy"
"""Where a registration says which policy a new subject is made with."""


def refuse_bad_policy(view: View, scope: Scope, change: Config, engine: SchemaEngine, path: str = "") -> Pairs:
    """Return the packages of the plug-ins among the validators of a change.

    Raises `InvalidSetting` where a change of a config names a policy that can't be, or not at this scope.

    `path` is the one path of all members if they are not in the body of a config. Raises `VersionNotFound` where a
    range begins at a version that is not there; that is asked last, because it depends on the state.
    """
    packages = refuse_bad_words(view, change, engine, path)
    refuse_bad_following(view, scope, change, path or PATHS["follows"])
    if change.exact_level is not None:
        refuse_missing_version(view, scope, change.exact_level, path or PATHS["exact_level"])
    return packages


def refuse_bad_words(view: View, change: Config, engine: SchemaEngine, path: str = "") -> Pairs:
    """Raise `InvalidSetting` where a change of a config names a policy that can't be at any scope. Returns the packages of
    its plug-ins.
    """
    if change.level is not None and change.level not in LEVELS:
        raise InvalidSetting.of(
            "LEVEL",
            "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
            "forward_transitive, and full_transitive",
            path=path or PATHS["level"],
            new=change.level,
            allowed=", ".join(LEVELS),
        )
    if change.exact_level is not None:
        _refuse_bad_level(change.exact_level, change.level, path or PATHS["exact_level"])
    _refuse_bad_partition(change, path or PATHS["partition"])
    if change.policy is not None and change.policy not in STRICTNESS:
        raise InvalidSetting.of(
            "COMPATIBILITY_POLICY",
            "Invalid compatibility policy. Valid values are strict, lenient and logical",
            path=path or PATHS["policy"],
            new=change.policy,
            allowed=", ".join(STRICTNESS),
        )
    return refuse_bad_validators(view, change.validators, engine, path or PATHS["validators"])


def refuse_bad_level(view: View, scope: Scope, level: Level, path: str) -> None:
    """Raise `InvalidSetting` for a level that can't be, or not at this scope; `path` is its path.

    Raises `VersionNotFound` where a range begins at a version that is not there, unless this level is set already.
    """
    _refuse_bad_level(level, None, path)
    refuse_missing_version(view, scope, level, path)


def _refuse_bad_level(level: Level, word: str | None, path: str) -> None:
    """Raise `InvalidSetting` for a level that can't be, or not beside the word."""
    for direction in ("backward", "forward"):
        _refuse_bad_range(getattr(level, direction), f"{path}/{direction}")
    if level.deny and (level.backward, level.forward) != (NONE, NONE):
        raise InvalidSetting.of(
            "POLICY_DENY",
            "Invalid policy. Where every change is denied no version is compared",
            path=f"{path}/deny",
            new="true",
            allowed="no ranges beside deny, or ranges and no deny",
        )
    if word is not None and word != word_of(level):
        raise InvalidSetting.of(
            "POLICY_WORD",
            f"Invalid policy. The level {word} and the policy beside it are not the same",
            path=path,
            old=word,
            new=word_of(level),
            allowed=f"the level {word_of(level)} beside this policy, or one of the two",
        )


def _refuse_bad_range(range_: VersionRange, path: str) -> None:
    if range_.kind not in RANGES:
        raise InvalidSetting.of(
            "POLICY_RANGE",
            "Invalid range of a policy. Valid values are none, latest, till and all",
            path=path,
            new=range_.kind or "an empty word",
            allowed=", ".join(RANGES),
        )
    if not 0 <= range_.ordinal <= (COUNTER if range_.kind == "till" else 0):
        raise InvalidSetting.of(
            "POLICY_ORDINAL",
            f"Invalid range of a policy. The range {range_.kind} can't have the ordinal {range_.ordinal}",
            path=path,
            new=str(range_.ordinal),
            allowed=f"0 to {COUNTER} with till, and none with the other ranges",
        )


def refuse_missing_version(view: View, scope: Scope, level: Level, path: str) -> None:
    """Raise `InvalidSetting` or `VersionNotFound` for a range that begins at a version, unless the scope is a subject that has
    this version, or the level is set there already.
    """
    own = own_value(view, scope)
    if own is not None and own.level == level:
        return
    for direction in ("backward", "forward"):
        range_: VersionRange = getattr(level, direction)
        if range_.kind != "till":
            continue
        if scope.name is None:
            raise InvalidSetting.of(
                "POLICY_TILL",
                "Invalid range of a policy. Only a subject has versions from which a range can begin",
                path=f"{path}/{direction}",
                new=f"till {range_.ordinal}",
                allowed="none, latest or all, or this policy at a subject",
            )
        subject = Subject(scope.context, scope.name)
        if with_ordinal(view, subject, range_.ordinal) is None:
            raise VersionNotFound.of(
                "POLICY_TILL_VERSION",
                f"Subject '{subject}' has no version with the ordinal {range_.ordinal}",
                path=f"{path}/{direction}",
                subject=str(subject),
                version=str(range_.ordinal),
                new=f"till {range_.ordinal}",
                allowed="the ordinal of a version that is there",
            )


def _refuse_bad_partition(change: Config, path: str) -> None:
    partition, group = change.partition, change.group
    if partition is None:
        return
    if partition not in {"", BY_TYPE} and not (partition.startswith(BY_PROPERTY) and partition != BY_PROPERTY):
        raise InvalidSetting.of(
            "POLICY_PARTITION",
            f"Invalid partition of a policy. Valid values are {BY_TYPE}, {BY_PROPERTY}NAME and an empty one",
            path=path,
            new=partition,
            allowed=f"{BY_TYPE}, {BY_PROPERTY}NAME, or empty",
        )
    if group is not None and partition_of(group, None) != partition:
        raise InvalidSetting.of(
            "POLICY_GROUP",
            f"Invalid partition of a policy. The group {group} and the partition beside it are not the same",
            path=path,
            old=group,
            new=partition,
            allowed=f"{partition_of(group, None)} beside this group, or one of the two",
        )


def refuse_bad_following(view: View, scope: Scope, change: Config, path: str) -> None:
    """Raise `InvalidSetting` where a change follows a policy that is not there, or says something else beside it.

    Raises `VersionNotFound` where a range of the policy begins at a version that the subject lacks.
    """
    name = change.follows
    if name is None:
        return
    named = policy_named(view, name)
    if named is None:
        raise InvalidSetting.of(
            "POLICY_UNKNOWN",
            f"There is no policy {name[:100]}",
            path=path,
            new=name[:100],
            allowed="a policy that is listed, or ranges",
        )
    followed = with_followed(view, ConfigValue(follows=name))
    assert followed.level is not None
    level = exact_level(change.level, change.exact_level)
    beside = {
        "level": followed.level if level is None or change.level == word_of(followed.level) else level,
        "partition": partition_of(change.group, change.partition),
        "strictness": change.policy,
        "validators": change.validators,
    }
    differing = [member for member, value in beside.items() if value not in {None, getattr(followed, member)}]
    if differing:
        raise InvalidSetting.of(
            "POLICY_FOLLOWED",
            f"Invalid policy. The {differing[0]} beside the policy {name} is not the one of it",
            path=path,
            old=str(getattr(followed, differing[0])),
            new=str(beside[differing[0]]),
            allowed="the name alone, or a policy without a name",
        )
    refuse_missing_version(view, scope, followed.level, path)


def changed_config(
    view: View, old: ConfigValue | None, change: Config, clear: Iterable[str] = (), packages: Pairs = ()
) -> ConfigValue:
    """Return the config of a scope, which is `old`, after a change. `packages` are those of the plug-ins among its validators."""
    new = merge_config(old, change, clear)
    if change.validators is not None or "validators" in clear:
        new = replace(new, packages=packages)
    return with_followed(view, new)


# ------------------------------------------------------------------------------------------------ with a new subject


def refuse_bad_creation(view: View, chosen: Config, engine: SchemaEngine, path: str) -> None:
    """Raise `InvalidSetting` for a policy that no subject can be made with."""
    _refuse_other_members(chosen, path)
    refuse_bad_words(view, chosen, engine, path)


def created_config(
    view: View, subject: Subject, chosen: Config | None, engine: SchemaEngine, path: str = CREATE_WITH
) -> ConfigValue | None:
    """Return the config row that a subject is made with: what stands at its scope already, and the policy that a
    registration chose. None where it chose none.

    Raises `NotPermitted` where the subject is there, or its config says something else: a registration makes a policy
    and never changes one.
    """
    if chosen is None:
        return None
    if view.get(SUBJECT, subject) is not None:
        raise NotPermitted.of(
            "CREATE_WITH_POLICY",
            f"Subject {subject} is there already, so it can't be made with a policy",
            path=path,
            subject=str(subject),
            old=_format_config(config_in_force(view, Scope(*subject))),
            new=_format_config(chosen),
            allowed="leave createWith.policy out; the config of the subject sets its policy",
        )
    scope = Scope(*subject)
    _refuse_other_members(chosen, path)
    packages = refuse_bad_policy(view, scope, chosen, engine, path)
    old = own_value(view, scope)
    new = changed_config(view, old, chosen, packages=packages)
    if old is not None and any(getattr(old, name) not in {None, getattr(new, name)} for name in POLICY_MEMBERS):
        _refuse_other_config(subject, config_of(old), chosen, path)
    return new


def _refuse_other_members(chosen: Config, path: str) -> None:
    unsupported = [
        member.name
        for member in fields(Config)
        if member.name not in MEMBERS and getattr(chosen, member.name) is not None
    ]
    if unsupported:
        raise InvalidSetting.of(
            "CREATE_WITH_MEMBER",
            f"Invalid policy. A subject can't be made with {unsupported[0]}",
            path=path,
            new=", ".join(unsupported),
            allowed=", ".join(MEMBERS),
        )


def _refuse_other_config(subject: Subject, old: Config, chosen: Config, path: str) -> NoReturn:
    raise NotPermitted.of(
        "CREATE_WITH_CONFIG",
        f"Subject {subject} has a config with another policy already, so it can't be made with this one",
        path=path,
        subject=str(subject),
        old=_format_config(old),
        new=_format_config(chosen),
        allowed="leave createWith.policy out, or choose the policy of the config",
    )


def _format_config(config: Config) -> str:
    """The members of a policy that a config names, in words."""
    level = config.exact_level or LEVELS.get(config.level or "")  # nobody has looked yet whether it is a word
    members = {
        "level": config.level if level is None else in_words(level),
        "partition": partition_of(config.group, config.partition),
        "strictness": config.policy,
        "validators": None if config.validators is None else ", ".join(config.validators),
        "follows": config.follows,
    }
    return "; ".join(f"{name} {value}" for name, value in members.items() if value is not None)

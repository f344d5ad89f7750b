"""Config and mode as bodies. The level is `compatibility` in a PUT and `compatibilityLevel` in a GET; a member that is
null in a PUT is unset.
"""

from dataclasses import replace
from typing import TypeVar

from msgspec import UNSET, Struct, UnsetType

from treaty.core.handlers.settings_changes import refuse_unknown_members
from treaty.core.messages.settings import Config, Scope, ScopeSetting, SetConfig
from treaty.core.names import DEFAULT_CONTEXT, EVERYWHERE, Subject, subject_of
from treaty.core.refusals import Invalid
from treaty.wire.confluent.bodies import MetadataBody, RuleSetBody, metadata_body, metadata_of, rules_body, rules_of
from treaty.wire.confluent.policies import (
    ConfigDetails,
    PolicyBody,
    exact_policy_body,
    names_of,
    policy_body,
    policy_of,
    simplify_answer,
    without_null,
)

GLOBAL = "__GLOBAL"
"""The context word of settings that hold everywhere."""


class ConfigBody(Struct, rename="camel"):
    """A config, as put, and as answered. Of the two names of the level one is used at a time.

    `validators` and `treaty` are not Confluent's: clients that do not know them never see them, unless somebody has set
    them, or asked for them.
    """

    alias: str | UnsetType | None = UNSET
    alias_for_deks: str | UnsetType | None = UNSET
    normalize: bool | UnsetType | None = UNSET
    validate_fields: bool | UnsetType | None = UNSET
    validate_new_schemas: bool | UnsetType | None = UNSET
    validate_rules: bool | UnsetType | None = UNSET
    compatibility: str | UnsetType | None = UNSET
    compatibility_level: str | UnsetType | None = UNSET
    compatibility_policy: str | UnsetType | None = UNSET
    compatibility_group: str | UnsetType | None = UNSET
    validators: list[str] | UnsetType | None = UNSET
    default_metadata: MetadataBody | UnsetType | None = UNSET
    override_metadata: MetadataBody | UnsetType | None = UNSET
    default_rule_set: RuleSetBody | UnsetType | None = UNSET
    override_rule_set: RuleSetBody | UnsetType | None = UNSET
    treaty: ConfigDetails | UnsetType = UNSET


MEMBERS = {
    "level": "compatibility",
    "exact_level": "compatibility",
    "alias": "alias",
    "alias_for_deks": "alias_for_deks",
    "normalize": "normalize",
    "validate_fields": "validate_fields",
    "validate_new_schemas": "validate_new_schemas",
    "validate_rules": "validate_rules",
    "policy": "compatibility_policy",
    "group": "compatibility_group",
    "partition": "compatibility_group",
    "validators": "validators",
    "default_metadata": "default_metadata",
    "override_metadata": "override_metadata",
    "default_rules": "default_rule_set",
    "override_rules": "override_rule_set",
}
"""Members of `Config`, and what they are called here (before camel case); those that share a name are one setting."""
EXACT = ("exact_level", "partition")
"""Members in `treaty`, which are unset by the names of the corresponding words."""


class ModeBody(Struct):
    """A mode, as put (null clears it), and as answered."""

    mode: str | UnsetType | None = UNSET


class SettingBody(Struct, omit_defaults=True, rename="camel"):
    """What is set at a subject, a context (no `subject`) or everywhere (context ``*``), in a list."""

    context: str
    subject: str | None = None
    config: ConfigBody | None = None
    mode: str | None = None
    highest_id: int = 0


T = TypeVar("T")


def _unless_none(value: T | None) -> T | UnsetType:
    return UNSET if value is None else value


def _upper(value: str | None) -> str | None:
    return None if value is None else value.upper()


def config_of(body: ConfigBody) -> Config:
    """Read a config; words of levels and policies come out in capitals. The handler decides whether they exist.

    Raises `Invalid` where the exact policy says something else than the members beside it.
    """
    level = body.compatibility if body.compatibility is not UNSET else body.compatibility_level
    config = Config(
        level=_upper(without_null(level)),
        alias=without_null(body.alias),
        alias_for_deks=without_null(body.alias_for_deks),
        normalize=without_null(body.normalize),
        validate_fields=without_null(body.validate_fields),
        validate_new_schemas=without_null(body.validate_new_schemas),
        validate_rules=without_null(body.validate_rules),
        policy=_upper(without_null(body.compatibility_policy)),
        group=without_null(body.compatibility_group),
        validators=names_of(without_null(body.validators)),
        default_metadata=metadata_of(without_null(body.default_metadata)),
        override_metadata=metadata_of(without_null(body.override_metadata)),
        default_rules=rules_of(without_null(body.default_rule_set)),
        override_rules=rules_of(without_null(body.override_rule_set)),
    )
    details = without_null(body.treaty)
    exact = None if details is None else without_null(details.policy)
    return config if exact is None else _with_policy(config, policy_of(exact))


def _with_policy(config: Config, exact: Config) -> Config:
    """The config with the members of its exact policy. The handler compares words and exact values."""
    for name, member in (("level", "level"), ("policy", "strictness"), ("validators", "validators")):
        beside, inside = getattr(config, name), getattr(exact, name)
        if None not in {beside, inside} and beside != inside:
            raise Invalid.of(
                "POLICY_MEMBER",
                f"The member {member} of the policy is not the one of the config",
                path=f"/treaty/policy/{member}",
                old=str(beside),
                new=str(inside),
                allowed="the same in both, or one of the two",
            )
    return replace(
        config,
        level=config.level if exact.level is None else exact.level,
        exact_level=exact.exact_level,
        partition=exact.partition,
        policy=config.policy if exact.policy is None else exact.policy,
        validators=config.validators if exact.validators is None else exact.validators,
        follows=exact.follows,
    )


def answer_of(body: ConfigBody) -> Config:
    """Read a config that a registry answered."""
    return simplify_answer(config_of(body))


def config_body(config: Config, *, put: bool = False, details: bool = False) -> ConfigBody:
    """Print a config; `put` calls the level as requests and their answers do, `details` prints the exact policy too."""
    level = _unless_none(config.level)
    return ConfigBody(
        alias=_unless_none(config.alias),
        alias_for_deks=_unless_none(config.alias_for_deks),
        normalize=_unless_none(config.normalize),
        validate_fields=_unless_none(config.validate_fields),
        validate_new_schemas=_unless_none(config.validate_new_schemas),
        validate_rules=_unless_none(config.validate_rules),
        compatibility=level if put else UNSET,
        compatibility_level=UNSET if put else level,
        compatibility_policy=_unless_none(config.policy),
        compatibility_group=_unless_none(config.group),
        validators=UNSET if config.validators is None else list(config.validators),
        default_metadata=_unless_none(metadata_body(config.default_metadata)),
        override_metadata=_unless_none(metadata_body(config.override_metadata)),
        default_rule_set=_unless_none(rules_body(config.default_rules)),
        override_rule_set=_unless_none(rules_body(config.override_rules)),
        treaty=ConfigDetails(policy_body(config)) if details else UNSET,
    )


def setting_body(setting: ScopeSetting) -> SettingBody:
    """Print an entry of a list of settings; a policy that no words say stands beside the nearest stricter ones."""
    config = None if setting.config is None else exact_body(setting.config)
    return SettingBody(setting.context, setting.name, config, setting.mode, setting.highest_id)


def setting_of(body: SettingBody) -> ScopeSetting:
    """Read an entry of a list of settings."""
    config = None if body.config is None else answer_of(body.config)
    return ScopeSetting(body.context, body.subject, config, body.mode, body.highest_id)


def exact_body(config: Config, *, put: bool = False) -> ConfigBody:
    """Print a config, and beside its words what they do not say of the policy; `put` as for `config_body`."""
    body = config_body(config, put=put)
    exact = exact_policy_body(config)
    if exact is not None:
        body.treaty = ConfigDetails(exact)
    return body


def set_config_of(scope: Scope, body: ConfigBody) -> SetConfig:
    """Read a change of the config: what is given is set, what is null is cleared, what is absent stays."""
    clear = tuple(name for name, member in MEMBERS.items() if name not in EXACT and getattr(body, member) is None)
    details = without_null(body.treaty)
    policy = None if details is None else without_null(details.policy)
    if policy is not None and policy.name is None:
        clear = (*clear, "follows")
    return SetConfig(scope, config_of(body), clear)


def set_config_body(request: SetConfig) -> ConfigBody:
    """Print a change of the config; raises `InvalidSetting` for a member to forget that no config has."""
    refuse_unknown_members(request.clear)
    body = exact_body(request.change, put=True)
    for name in request.clear:
        if name == "follows":
            details = without_null(body.treaty) or ConfigDetails()
            policy = without_null(details.policy) or PolicyBody()
            policy.name = None
            body.treaty = ConfigDetails(policy)
        else:
            setattr(body, MEMBERS[name], None)
    return body


def scope_of(subject: str | None) -> Scope:
    """Read the scope that a path segment names (None: no segment): a subject, a context, or everywhere."""
    if not subject:
        return Scope(DEFAULT_CONTEXT, None)
    context, name = subject_of(subject)
    if context in {GLOBAL, f".{GLOBAL}"}:
        return Scope(EVERYWHERE, None)
    return Scope(context, name or None)


def scope_text(scope: Scope) -> str | None:
    """Print a scope as a path segment; None where there is none."""
    if scope.name is not None:
        return str(Subject(scope.context, scope.name))
    if scope.context == EVERYWHERE:
        return f":.{GLOBAL}:"
    return None if scope.context == DEFAULT_CONTEXT else f":{scope.context}:"

"""The requests that set, delete, read and list configs and modes of subjects, contexts and the registry: their members, defaults and answers; decided
in `core/handlers/settings_changes.py`, lists in `listings.py` beside it.
"""

from treaty.core.limits import SETTINGS_PAGE
from treaty.core.messages.request import Request
from treaty.core.names import Subject
from treaty.core.policy import Level
from treaty.core.schema import Metadata, RuleSet
from treaty.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """The scope of a setting: a subject (`name` set), a context (`name` None), or the registry (context ``*``)."""

    context: str = "."
    name: str | None = None


# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class Config:
    """Settings of a subject, a context or the registry; None is unset. Defaults of metadata and rules are completed by
    a new version's own, overrides replace them.
    """

    level: str | None = None
    """Compatibility level: NONE, BACKWARD, FORWARD, FULL and the _TRANSITIVE ones; in answers the nearest stricter one."""
    exact_level: Level | None = None
    """The exact level. In answers only if it has no name; `level` is then the nearest stricter one."""
    alias: str | None = None
    alias_for_deks: str | None = None
    normalize: bool | None = None
    validate_fields: bool | None = None
    validate_new_schemas: bool | None = None
    validate_rules: bool | None = None
    policy: str | None = None
    """STRICT, LENIENT or LOGICAL."""
    group: str | None = None
    """Name of the metadata property whose value partitions the versions that are compared; empty for none."""
    partition: str | None = None
    """The exact partition: empty, ``type`` (same format and type) or ``property:NAME``; in answers only if the group
    cannot express it.
    """
    validators: tuple[str, ...] | None = None
    """Validators that every new version must pass, with their parameters in parentheses."""
    default_metadata: Metadata | None = None
    override_metadata: Metadata | None = None
    default_rules: RuleSet | None = None
    override_rules: RuleSet | None = None
    follows: str | None = None
    """Name of a policy; level, partition, strictness and validators are then those of this policy."""


@dataclass(frozen=True, slots=True)
class ConfigStored:
    """The config at a scope, or the deleted one."""

    config: Config


@dataclass(frozen=True, slots=True)
class ModeStored:
    """The mode at a scope, or the deleted one; None if it was cleared."""

    mode: str | None


@dataclass(frozen=True, slots=True)
class ScopeSetting:
    """Settings of a subject, of a context (`name` None) or of the registry (context ``*``); None is unset. `highest_id`
    is the highest id ever assigned in a context, else 0.
    """

    context: str
    name: str | None
    config: Config | None = None
    mode: str | None = None
    highest_id: int = 0


@dataclass(frozen=True, slots=True)
class ScopeSettings:
    """Settings, by scope."""

    settings: tuple[ScopeSetting, ...]


# ------------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class SetConfig(Request[ConfigStored]):
    """Change members of the config at a scope: `change` has the new values, `clear` the names of members to unset."""

    scope: Scope
    change: Config
    clear: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteConfig(Request[ConfigStored]):
    """Delete the config at a scope; answers the deleted config."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class SetMode(Request[ModeStored]):
    """Set (or with None clear) the mode at a scope: READWRITE, READONLY, READONLY_OVERRIDE, IMPORT, FORWARD."""

    scope: Scope
    mode: str | None
    force: bool = False


@dataclass(frozen=True, slots=True)
class DeleteMode(Request[ModeStored]):
    """Delete the mode at a scope (`recursive`: also of the context's subjects); answers the deleted mode."""

    scope: Scope
    recursive: bool = False


# -------------------------------------------------------------------------------------------------------- queries


@dataclass(frozen=True, slots=True)
class GetConfig(Request[ConfigStored]):
    """The config at a scope; with `resolve` the one in force."""

    scope: Scope
    resolve: bool = False


@dataclass(frozen=True, slots=True)
class GetMode(Request[ModeStored]):
    """The mode at a scope; with `resolve` the one in force."""

    scope: Scope
    resolve: bool = False


@dataclass(frozen=True, slots=True)
class ListSettings(Request[ScopeSettings]):
    """Settings of contexts, of the registry, and of subjects that begin with `prefix`, in this order.

    With a name in the prefix only subjects are listed, else every context, with or without settings. A page has at most
    `SETTINGS_PAGE` entries; `after` is the last scope of the previous page and takes precedence over `offset`.
    """

    prefix: Subject = Subject("*", "")
    offset: int = 0
    limit: int = SETTINGS_PAGE
    after: Scope | None = None

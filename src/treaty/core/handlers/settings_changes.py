"""Config and mode are changed, deleted and read: which scopes and members can be, and what a change does to versions and names."""

from dataclasses import fields, replace
from itertools import chain

from treaty.core.command import Command, Decision
from treaty.core.handlers.contexts import refuse_invisible_name
from treaty.core.handlers.drafts.rules import refuse_bad_rules
from treaty.core.handlers.policies import changed_config, refuse_bad_policy
from treaty.core.handlers.settings import (
    ALL,
    ALWAYS,
    DEFAULT_MODE,
    IMPORTING,
    MODES,
    UNSET,
    config_in_force,
    config_of,
    config_row,
    mode_in_force,
    own_config,
    own_mode,
    own_value,
    refuse_if_readonly,
    scope_key,
)
from treaty.core.handlers.uses import (
    GoingRows,
    goes_with_versions,
    refuse_if_encoded,
    refuse_if_pinned,
    refuse_if_used,
    remove_subject,
    remove_versions,
)
from treaty.core.handlers.versions import stored_versions, subject_of_key
from treaty.core.limits import NAME_LENGTH
from treaty.core.messages.settings import (
    Config,
    ConfigStored,
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    ModeStored,
    Scope,
    SetConfig,
    SetMode,
)
from treaty.core.names import EVERYWHERE, Subject, is_subject_name, is_visible
from treaty.core.policy import DEFAULT_LEVEL
from treaty.core.refusals import InvalidSetting, InvalidSubject, NotPermitted, SettingNotFound
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.rows import Row, make_row, make_tombstone
from treaty.core.state.state_tables import CONFIG, MODE, SUBJECT, VERSION
from treaty.core.state.values import Mode
from treaty.core.state.view import ALL_KEYS, View, span

_MEMBERS = frozenset(member.name for member in fields(Config))


def set_config(view: View, command: Command[SetConfig], engine: SchemaEngine) -> Decision[ConfigStored]:
    """Change members of the config at a scope; the answer is all of it."""
    request = command.request
    _refuse_bad_scope(request.scope)
    change = request.change
    refuse_unknown_members(request.clear)
    packages = refuse_bad_policy(view, request.scope, change, engine)
    refuse_bad_rules(change.default_rules)
    refuse_bad_rules(change.override_rules)
    refuse_if_readonly(view, request.scope)
    old = own_value(view, request.scope)
    new = changed_config(view, old, change, request.clear, packages)
    if old is None and request.scope.name is not None and new != UNSET:
        _refuse_invisible_name(view, request.scope, request.scope.name)
    rows = () if new == old else (config_row(request.scope, new),)
    return Decision(rows, ConfigStored(config_of(new)))


def _refuse_invisible_name(view: View, scope: Scope, name: str) -> None:
    """Refuse a name that looks like another one: with an alias it answers like a subject."""
    if not is_visible(scope.context + name):
        importing = mode_in_force(view, scope) in IMPORTING
        refuse_invisible_name(view, Subject(scope.context, name), imported=importing)


def refuse_unknown_members(clear: tuple[str, ...]) -> None:
    """Raise `InvalidSetting` for a member to forget that no config has."""
    unknown = min(set(clear) - _MEMBERS, default=None)
    if unknown is not None:
        name, allowed = unknown[:100], ", ".join(sorted(_MEMBERS))
        message = f"a config has no member {name!r}"
        raise InvalidSetting.of("CONFIG_MEMBER", message, path="/clear", new=name, allowed=allowed)


def delete_config(view: View, command: Command[DeleteConfig], engine: SchemaEngine) -> Decision[ConfigStored]:
    """Forget the config at a scope; the answer is what it was."""
    request = command.request
    old = own_config(view, request.scope)
    if old is None and request.scope not in ALWAYS:
        raise _no_setting(request.scope)
    refuse_if_readonly(view, request.scope)
    rows = () if old is None else (make_tombstone(CONFIG, scope_key(request.scope)),)
    return Decision(rows, ConfigStored(old or Config(level=DEFAULT_LEVEL)))


def set_mode(view: View, command: Command[SetMode], engine: SchemaEngine) -> Decision[ModeStored]:
    """Set or clear the mode at a scope.

    IMPORT without `force` is refused in a scope with live versions, and purges what is soft-deleted there; with `force`
    everything stays as it is.
    """
    request = command.request
    _refuse_bad_scope(request.scope)
    mode = request.mode
    old = own_mode(view, request.scope)
    if mode is None:
        rows = () if old is None else (make_tombstone(MODE, scope_key(request.scope)),)
        return Decision(rows, ModeStored(None))
    if mode not in MODES:
        raise InvalidSetting.of(
            "MODE",
            "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.",
            path="/mode",
            new=mode,
            allowed=", ".join(MODES),
        )
    if mode == "FORWARD" and request.scope != ALL:
        raise InvalidSetting.of(
            "MODE_FORWARD", "Forward mode only supported on global level", path="/mode", new=mode, allowed=":.__GLOBAL:"
        )
    if old == mode:
        return Decision((), ModeStored(mode))
    purged = _purge_scope(view, request.scope) if mode == "IMPORT" and not request.force else []
    return Decision((*purged, make_row(MODE, scope_key(request.scope), Mode(mode))), ModeStored(mode))


def _purge_scope(view: View, scope: Scope) -> list[Row]:
    """Return rows that purge the soft-deleted versions of a scope, and the subjects that go with their last version
    (`goes_with_versions`); a subject that had no version stays. Raises `NotPermitted` where there is a live version.
    """
    versions = [stored for subject in _subjects(view, scope) for stored in stored_versions(view, subject)]
    if any(version.state == "live" for _, version in versions):
        raise NotPermitted.of(
            "IMPORT_NOT_EMPTY", "Cannot import since found existing subjects", allowed="an empty scope, or force=true"
        )
    inside = frozenset(subject_of_key(key) for key, _ in versions)
    for key, version in versions:
        if version.state == "soft":
            refuse_if_used(view, VERSION, key, GoingRows(subjects=inside))
    refuse_if_pinned(view, versions)
    refuse_if_encoded(view, versions)
    return [
        *remove_versions(view, versions),
        *chain.from_iterable(
            remove_subject(view, subject) for subject in sorted(inside) if goes_with_versions(view, subject)
        ),
    ]


def _subjects(view: View, scope: Scope) -> list[Subject]:
    if scope.name is not None:
        subject = Subject(scope.context, scope.name)
        return [subject] if view.get(SUBJECT, subject) is not None else []
    return [*view.walk(SUBJECT, *(ALL_KEYS if scope.context == EVERYWHERE else span((scope.context,))))]


def delete_mode(view: View, command: Command[DeleteMode], engine: SchemaEngine) -> Decision[ModeStored]:
    """Forget the mode at a scope; the answer is what it was."""
    request = command.request
    old = own_mode(view, request.scope)
    if old is None and request.scope not in ALWAYS and not request.recursive:
        raise _no_setting(request.scope)
    rows = [] if old is None else [make_tombstone(MODE, scope_key(request.scope))]
    if request.recursive and request.scope.name is None:
        inside = view.walk(MODE, *span(("subject", request.scope.context)))
        rows.extend(make_tombstone(MODE, key) for key in inside)
    return Decision(tuple(rows), ModeStored(old or DEFAULT_MODE))


def get_config(view: View, command: Command[GetConfig], engine: SchemaEngine) -> Decision[ConfigStored]:
    """Return the config at a scope, or the one in force."""
    request = command.request
    own = own_config(view, request.scope)
    if request.resolve:
        return Decision((), ConfigStored(config_in_force(view, request.scope)))
    if own is None and request.scope not in ALWAYS:
        raise SettingNotFound.of(
            "CONFIG_NOT_FOUND",
            f"Subject '{_format_scope(request.scope)}' does not have subject-level compatibility configured",
            subject=_format_scope(request.scope),
            allowed="defaultToGlobal=true shows what is in force",
        )
    return Decision((), ConfigStored(_with_level(own)))


def get_mode(view: View, command: Command[GetMode], engine: SchemaEngine) -> Decision[ModeStored]:
    """Return the mode at a scope, or the one in force."""
    request = command.request
    own = own_mode(view, request.scope)
    if own is None and request.scope not in ALWAYS and not request.resolve:
        raise SettingNotFound.of(
            "MODE_NOT_FOUND",
            f"Subject '{_format_scope(request.scope)}' does not have subject-level mode configured",
            subject=_format_scope(request.scope),
            allowed="defaultToGlobal=true shows what is in force",
        )
    return Decision((), ModeStored(mode_in_force(view, request.scope) if request.resolve else own or DEFAULT_MODE))


def _with_level(config: Config | None) -> Config:
    """Complete a config without level by the default one."""
    config = config or Config()
    return config if config.level is not None else replace(config, level=DEFAULT_LEVEL)


def _refuse_bad_scope(scope: Scope) -> None:
    name = scope.name or ""
    is_context = scope.context == EVERYWHERE or (scope.context.startswith(".") and ":" not in scope.context)
    if not is_context or not is_subject_name(name) or len(name) + len(scope.context) > NAME_LENGTH:
        full_name = _format_scope(scope)
        raise InvalidSubject.of(
            "SUBJECT_NAME", f"The specified subject '{full_name}' is not a valid.", subject=full_name
        )


def _no_setting(scope: Scope) -> SettingNotFound:
    return SettingNotFound.of(
        "SETTING_NOT_FOUND", f"Subject '{_format_scope(scope)}' not found.", subject=_format_scope(scope)
    )


def _format_scope(scope: Scope) -> str:
    return str(Subject(scope.context, scope.name or ""))

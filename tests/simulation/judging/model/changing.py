"""Deletes, config, mode and contexts: commands that make no version."""

from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.encodings import refuse_if_encoded
from tests.simulation.judging.model.events import (
    ConfigChanged,
    ContextDeleted,
    ContextMade,
    Event,
    IdsReserved,
    ModeChanged,
    SubjectPurged,
    VersionPurged,
    VersionTurned,
)
from tests.simulation.judging.model.making import going_with, refuse_many_contexts
from tests.simulation.judging.model.metastore.pinning import refuse_if_pinned, warned_of
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.referring import refuse_if_referred_to
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.rulesets import refuse_bad_rules
from tests.simulation.judging.model.selecting import describe, no_subject, select
from tests.simulation.judging.model.settings import (
    EVERYWHERE,
    GIVING_IDS,
    ROOT,
    as_kept,
    changed,
    config_in_force,
    followed,
    mode_in_force,
    own_config,
    own_mode,
    refuse_bad_policy,
    refuse_if_readonly,
    row_scope,
    told,
)
from tests.simulation.judging.model.subjects import is_name
from treaty.core.limits import COUNTER, NAME_LENGTH
from treaty.core.messages.contexts import ContextMade as ContextAnswer
from treaty.core.messages.contexts import DeleteContext, MakeContext
from treaty.core.messages.groups import DeleteOrdinal
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
from treaty.core.messages.versions import DeletedVersions, DeleteSubject, DeleteVersion
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import (
    AlreadyDeleted,
    InvalidSetting,
    InvalidSubject,
    NoLiveVersion,
    NotDeletedFirst,
    NotEmpty,
    NotPermitted,
    SettingNotFound,
    SubjectAssociated,
    TooLarge,
    VersionNotFound,
)
from treaty.core.state.values import ConfigValue

# -------------------------------------------------------------------------------------------------------- deletes


def has_association(past: Past, subject: Subject) -> bool:
    return any(subject_of(one.subject) == subject for one in past.associations.values())


def delete_version(past: Past, asking: Asking, request: DeleteVersion) -> Yes:
    """Existence first, then what refers to it, then the mode."""
    subject = request.subject
    one = select(past, subject, request.version, "live" if request.version == -1 else "all")
    facts = {"subject": str(subject), "version": str(one.number)}
    if one.state == "soft" and not request.permanent:
        raise No(AlreadyDeleted, "VERSION_SOFT_DELETED", **facts)
    if one.state == "live" and request.permanent:
        raise No(NotDeletedFirst, "VERSION_NOT_SOFT_DELETED", **facts)
    others = [each for each in past.shown(subject) if each != one]
    if has_association(past, subject) and not others:
        raise No(NoLiveVersion, "NO_LIVE_VERSION", subject=str(subject))
    refuse_if_referred_to(past, one, ("live", "soft") if request.permanent else ("live",))
    is_last = past.shown(subject, ("live", "soft")) == [one] and not survives(past, subject)
    gone = going_with(past, one)
    for each in (past.of(subject) if is_last else gone) if request.permanent else ():
        if each.version.revision_of >= 0:
            refuse_if_referred_to(past, each, ("live", "soft"))
    if request.permanent:
        refuse_if_pinned(past, past.of(subject) if is_last else gone)
    if request.permanent and not request.force:
        refuse_if_encoded(past, past.of(subject) if is_last else gone)
    refuse_if_readonly(past, Scope(*subject))
    answer = DeletedVersions((one.number,))
    if not request.permanent:
        warned = replace(answer, warnings=warned_of(past, asking, [one]))
        return Yes((VersionTurned(subject, one.ordinal, "soft"),), warned)
    if is_last:
        return Yes(tuple(purge_versions(past, subject)), answer)
    return Yes(tuple(VersionPurged(subject, each.ordinal) for each in gone), answer)


def delete_ordinal(past: Past, asking: Asking, request: DeleteOrdinal) -> Yes:
    """As a soft delete by number; a version of this ordinal that is deleted in any way can't be deleted again."""
    subject = request.subject
    if subject not in past.subjects:
        raise no_subject(subject)
    found = [one for one in past.of(subject) if one.ordinal == request.ordinal]
    if not found:
        raise No(VersionNotFound, "VERSION_NOT_FOUND", subject=str(subject), version=str(request.ordinal))
    (one,) = found
    if one.state != "live":
        raise No(AlreadyDeleted, "VERSION_SOFT_DELETED", subject=str(subject))
    if has_association(past, subject) and past.shown(subject) == [one]:
        raise No(NoLiveVersion, "NO_LIVE_VERSION", subject=str(subject))
    refuse_if_referred_to(past, one, ("live",))
    refuse_if_readonly(past, Scope(*subject))
    turned = VersionTurned(subject, one.ordinal, "soft")
    return Yes((turned,), replace(describe(one, names=True), deleted=True, warnings=warned_of(past, asking, [one])))


def delete_subject(past: Past, asking: Asking, request: DeleteSubject) -> Yes:
    """All versions at once; references inside the subject do not count."""
    subject = request.subject
    there, live = past.shown(subject, ("live", "soft")), past.shown(subject)
    if not there:
        raise no_subject(subject)
    if not live and not request.permanent:
        raise No(AlreadyDeleted, "SUBJECT_SOFT_DELETED", subject=str(subject))
    if live and request.permanent:
        raise No(NotDeletedFirst, "SUBJECT_NOT_SOFT_DELETED", subject=str(subject))
    if has_association(past, subject):
        raise No(SubjectAssociated, "SUBJECT_ASSOCIATED", subject=str(subject))
    taken = there if request.permanent else live
    for one in taken:
        refuse_if_referred_to(past, one, ("live", "soft") if request.permanent else ("live",), beside=(subject,))
    for one in past.of(subject) if request.permanent else ():
        if one.version.revision_of >= 0:
            refuse_if_referred_to(past, one, ("live", "soft"), beside=(subject,))
    if request.permanent:
        refuse_if_pinned(past, past.of(subject))
    if request.permanent and not request.force:
        refuse_if_encoded(past, past.of(subject))
    refuse_if_readonly(past, Scope(*subject))
    answer = DeletedVersions(tuple(one.number for one in taken))
    if request.permanent:
        return Yes(tuple(purge_versions(past, subject)), answer)
    warned = replace(answer, warnings=warned_of(past, asking, live))
    return Yes(tuple(VersionTurned(subject, one.ordinal, "soft") for one in live), warned)


def survives(past: Past, subject: Subject) -> bool:
    """Whether a subject outlives its last version: one that Confluent's requests made does not."""
    there = past.subjects.get(subject)
    return there is not None and there.origin != "confluent"


def purge_versions(past: Past, subject: Subject) -> list[Event]:
    """All versions of a subject, and the subject with them where it does not survive them."""
    if survives(past, subject):
        return [VersionPurged(subject, one.ordinal) for one in past.of(subject)]
    return purge_subject(past, subject)


def purge_subject(past: Past, subject: Subject) -> list[Event]:
    """A subject with all of its versions, its config and its mode."""
    events: list[Event] = [VersionPurged(subject, one.ordinal) for one in past.of(subject)]
    if subject in past.subjects:
        events.append(SubjectPurged(subject))
    scope = Scope(*subject)
    if scope in past.configs:
        events.append(ConfigChanged(scope, None))
    if scope in past.modes:
        events.append(ModeChanged(scope, None))
    return events


# --------------------------------------------------------------------------------------------------------- config


def _refuse_bad_scope(scope: Scope) -> None:
    name = scope.name or ""
    if not is_name(name) or len(name) + len(scope.context) > NAME_LENGTH:
        raise No(InvalidSubject, "SUBJECT_NAME")


def _name_of(scope: Scope) -> str:
    return str(Subject(scope.context, scope.name or ""))


def set_config(past: Past, asking: Asking, request: SetConfig) -> Yes:
    """Members that are given are set, members that are cleared forgotten, the rest stays."""
    _refuse_bad_scope(request.scope)
    change = request.change
    refuse_bad_policy(past, request.scope, change)
    refuse_bad_rules(change.default_rules)
    refuse_bad_rules(change.override_rules)
    refuse_if_readonly(past, request.scope)
    old = own_config(past, request.scope)
    new = followed(past, changed(old, change, request.clear))
    events = () if new == old else (ConfigChanged(row_scope(request.scope), as_kept(new)),)
    return Yes(events, ConfigStored(told(new)))


def delete_config(past: Past, asking: Asking, request: DeleteConfig) -> Yes:
    old = own_config(past, request.scope)
    if old is None and request.scope not in {ROOT, EVERYWHERE}:
        raise No(SettingNotFound, "SETTING_NOT_FOUND", subject=_name_of(request.scope))
    refuse_if_readonly(past, request.scope)
    if old is None:
        return Yes((), ConfigStored(Config(level="BACKWARD")))
    return Yes((ConfigChanged(row_scope(request.scope), None),), ConfigStored(told(old)))


def get_config(past: Past, asking: Asking, request: GetConfig) -> Yes:
    if request.resolve:
        return Yes((), ConfigStored(told(config_in_force(past, request.scope))))
    own = own_config(past, request.scope)
    if own is None and request.scope not in {ROOT, EVERYWHERE}:
        raise No(SettingNotFound, "CONFIG_NOT_FOUND", subject=_name_of(request.scope))
    shown = told(own or ConfigValue())
    return Yes((), ConfigStored(shown if shown.level is not None else replace(shown, level="BACKWARD")))


# ----------------------------------------------------------------------------------------------------------- mode


def set_mode(past: Past, asking: Asking, request: SetMode) -> Yes:
    """IMPORT wants a scope without live versions, and purges what is softly deleted there; empty subjects stay."""
    scope, mode = request.scope, request.mode
    _refuse_bad_scope(scope)
    old = own_mode(past, scope)
    if mode is None:
        return Yes(() if old is None else (ModeChanged(row_scope(scope), None),), ModeStored(None))
    if mode not in {"READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT", "FORWARD"}:
        raise No(InvalidSetting, "MODE", new=mode)
    if mode == "FORWARD" and scope != EVERYWHERE:
        raise No(InvalidSetting, "MODE_FORWARD", new=mode)
    if mode == old:
        return Yes((), ModeStored(mode))
    events = _emptied(past, scope) if mode == "IMPORT" and not request.force else []
    return Yes((*events, ModeChanged(row_scope(scope), mode)), ModeStored(mode))


def _emptied(past: Past, scope: Scope) -> list[Event]:
    inside = [
        subject
        for subject in past.subjects
        if scope.context in {"*", subject.context} and scope.name in {None, subject.name} and past.of(subject)
    ]
    versions = [one for subject in inside for one in past.of(subject)]
    if any(one.state == "live" for one in versions):
        raise No(NotPermitted, "IMPORT_NOT_EMPTY")
    for one in versions:
        if one.state == "soft":
            refuse_if_referred_to(past, one, ("live", "soft"), beside=tuple(inside))
    refuse_if_pinned(past, versions)
    refuse_if_encoded(past, versions)
    gone: list[Event] = [VersionPurged(one.subject, one.ordinal) for one in versions]
    return [*gone, *(SubjectPurged(subject) for subject in inside if not survives(past, subject))]


def delete_mode(past: Past, asking: Asking, request: DeleteMode) -> Yes:
    scope = request.scope
    old = own_mode(past, scope)
    if old is None and scope not in {ROOT, EVERYWHERE} and not request.recursive:
        raise No(SettingNotFound, "SETTING_NOT_FOUND", subject=_name_of(scope))
    gone = [row_scope(scope)] if old is not None else []
    if request.recursive and scope.name is None:
        gone += [one for one in past.modes if one.name is not None and one.context == scope.context]
    return Yes(tuple(ModeChanged(one, None) for one in gone), ModeStored(old or "READWRITE"))


def get_mode(past: Past, asking: Asking, request: GetMode) -> Yes:
    if request.resolve:
        return Yes((), ModeStored(mode_in_force(past, request.scope)))
    own = own_mode(past, request.scope)
    if own is None and request.scope not in {ROOT, EVERYWHERE}:
        raise No(SettingNotFound, "MODE_NOT_FOUND", subject=_name_of(request.scope))
    return Yes((), ModeStored(own or "READWRITE"))


# ------------------------------------------------------------------------------------------------------- contexts


def make_context(past: Past, asking: Asking, request: MakeContext) -> Yes:
    """For importers: the context is there before its first subject, and ids up to one count as given."""
    context = request.context
    named = context.startswith(".") and subject_of(str(Subject(context, "s"))) == Subject(context, "s")
    if not named or context == ".__GLOBAL" or not is_name(context) or len(context) > NAME_LENGTH:
        raise No(InvalidSubject, "CONTEXT_NAME")
    if not 0 <= request.highest_id <= COUNTER:
        raise No(TooLarge, "COUNTER")
    mode = mode_in_force(past, Scope(context))
    if mode not in GIVING_IDS:
        raise No(NotPermitted, "CONTEXT_NOT_IMPORTING", old=mode)
    highest = past.highest_id(context) or 0
    events: list[Event] = []
    if context not in past.contexts:
        refuse_many_contexts(past)
        events.append(ContextMade(context))
    if request.highest_id > highest:
        events.append(IdsReserved(context, request.highest_id))
    return Yes(tuple(events), ContextAnswer(context, max(highest, request.highest_id)))


def delete_context(past: Past, asking: Asking, request: DeleteContext) -> Yes:
    """Only an empty one; its settings go too. The default one stays, and so do its settings."""
    context = request.context
    if past.count_subjects(context):
        raise No(NotEmpty, "CONTEXT_NOT_EMPTY", old=context)
    refuse_if_readonly(past, Scope(context))
    if context == ".":
        return Yes((), DeletedVersions(()))
    scope = Scope(context)
    events: list[Event] = [ContextDeleted(context)] if context in past.contexts else []
    events += [ConfigChanged(scope, None)] if scope in past.configs else []
    events += [ModeChanged(scope, None)] if scope in past.modes else []
    return Yes(tuple(events), DeletedVersions(()))

"""Deletion: first softly (hidden from lists, still readable by id), then for good.

Existence is asked first, then references, then the mode: that is the order clients can observe.
"""

from collections.abc import Iterable
from dataclasses import replace

from treaty.core import limits
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision
from treaty.core.handlers.association_queries import has_association, no_live_version
from treaty.core.handlers.settings import refuse_if_readonly, remove_settings
from treaty.core.handlers.uses import (
    GoingRows,
    goes_with_versions,
    refuse_if_encoded,
    refuse_if_pinned,
    refuse_if_used,
    remove_subject,
    remove_versions,
    users_of,
    with_hidden,
)
from treaty.core.handlers.versions import (
    StoredVersion,
    describe_version,
    newest_first,
    no_ordinal,
    no_subject,
    select,
    stored_versions,
    subject_of_key,
    visible_versions,
    with_ordinal,
)
from treaty.core.messages.groups import DeleteOrdinal
from treaty.core.messages.request import Visible
from treaty.core.messages.settings import Scope
from treaty.core.messages.versions import DeletedVersions, DeleteSubject, DeleteVersion, VersionFound
from treaty.core.names import Subject
from treaty.core.refusals import AlreadyDeleted, NotDeletedFirst
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.metastore.tables import SOURCE
from treaty.core.state.rows import Row, make_row
from treaty.core.state.state_tables import SUBJECT, VERSION
from treaty.core.state.view import View


def delete_version(view: View, command: Command[DeleteVersion], engine: SchemaEngine) -> Decision[DeletedVersions]:
    """Delete one version, softly or for good."""
    request = command.request
    subject = request.subject
    stored = select(view, subject, request.version, "live" if request.version < 0 else "all")
    key, version = stored
    facts = {"subject": str(subject), "version": str(version.number)}
    if not request.permanent and version.state == "soft":
        raise AlreadyDeleted.of(
            "VERSION_SOFT_DELETED",
            f"Subject '{subject}' Version {version.number} was soft deleted.Set permanent=true to delete permanently",
            allowed="permanent=true",
            **facts,
        )
    if request.permanent and version.state == "live":
        raise NotDeletedFirst.of(
            "VERSION_NOT_SOFT_DELETED",
            f"Subject '{subject}' Version {version.number} was not deleted first before being permanently deleted",
            allowed="delete it without permanent=true first",
            **facts,
        )
    _refuse_if_needed(view, stored, "all" if request.permanent else "live")
    is_last = (
        request.permanent
        and goes_with_versions(view, subject)
        and all(other[0] == key for other in newest_first(view, subject, "all"))
    )
    going: list[StoredVersion] = []
    if request.permanent:
        going = stored_versions(view, subject) if is_last else with_hidden(view, stored)
        _refuse_if_former_text_used(view, going)
    refuse_if_pinned(view, going)
    if not request.force:
        refuse_if_encoded(view, going)
    refuse_if_readonly(view, Scope(*subject))
    answer = DeletedVersions((version.number,))
    if not request.permanent:
        return Decision(
            (_make_soft_row(stored),), replace(answer, warnings=warned_sources(view, command.access, [stored]))
        )
    return Decision(tuple(whole_subject(view, subject) if is_last else remove_versions(view, going)), answer)


def delete_ordinal(view: View, command: Command[DeleteOrdinal], engine: SchemaEngine) -> Decision[VersionFound]:
    """Delete the live version with an ordinal softly; the answer is what it is afterwards."""
    subject, ordinal = command.request.subject, command.request.ordinal
    if view.get(SUBJECT, subject) is None:
        raise no_subject(subject)
    stored = with_ordinal(view, subject, ordinal)
    if stored is None or stored[1].state == "purged":
        raise no_ordinal(subject, ordinal)
    if stored[1].state != "live":
        raise AlreadyDeleted.of(
            "VERSION_SOFT_DELETED",
            f"Subject '{subject}' Version with ordinal {ordinal} was soft deleted before",
            path="/ordinal",
            subject=str(subject),
            version=str(stored[1].number),
            old=stored[1].state,
            allowed="the ordinal of a live version",
        )
    answer = replace(describe_version(view, stored, names=True), deleted=True)
    warnings = warned_sources(view, command.access, [stored])
    return Decision((delete_live(view, stored),), replace(answer, warnings=warnings) if warnings else answer)


def delete_subject(view: View, command: Command[DeleteSubject], engine: SchemaEngine) -> Decision[DeletedVersions]:
    """Delete all versions of a subject, softly or for good."""
    request = command.request
    subject = request.subject
    versions, live = visible_versions(view, subject, "all"), visible_versions(view, subject)
    if not versions:
        raise no_subject(subject)
    if not request.permanent and not live:
        raise AlreadyDeleted.of(
            "SUBJECT_SOFT_DELETED",
            f"Subject '{subject}' was soft deleted.Set permanent=true to delete permanently",
            subject=str(subject),
            allowed="permanent=true",
        )
    if request.permanent and live:
        raise NotDeletedFirst.of(
            "SUBJECT_NOT_SOFT_DELETED",
            f"Subject '{subject}' was not deleted first before being permanently deleted",
            subject=str(subject),
            allowed="delete it without permanent=true first",
        )
    going = GoingRows(subjects=frozenset((subject,)), visible="all" if request.permanent else "live")
    refuse_if_used(view, SUBJECT, subject, going)
    deleted = versions if request.permanent else live
    for key, _ in deleted:
        refuse_if_used(view, VERSION, key, going)
    if request.permanent:
        stored = stored_versions(view, subject)
        _refuse_if_former_text_used(view, stored, going)
        refuse_if_pinned(view, stored)
        if not request.force:
            refuse_if_encoded(view, stored)
    refuse_if_readonly(view, Scope(*subject))
    answer = DeletedVersions(tuple(version.number for _, version in deleted))
    if request.permanent:
        return Decision(tuple(purge_subject(view, subject)), answer)
    warned = replace(answer, warnings=warned_sources(view, command.access, live))
    return Decision(tuple(_make_soft_row(version) for version in live), warned)


def _refuse_if_needed(view: View, stored: StoredVersion, visible: Visible) -> None:
    """Raise the refusal of an association that needs a live version, or of a schema that refers to this one."""
    subject = subject_of_key(stored[0])
    if has_association(view, subject) and not _lives_without(view, stored):
        raise no_live_version(subject, allowed="delete the association of the subject first, or keep a live version")
    refuse_if_used(view, VERSION, stored[0], GoingRows(visible=visible))


def _refuse_if_former_text_used(view: View, going: list[StoredVersion], rows: GoingRows | None = None) -> None:
    """Raise the refusal of a schema that refers to a former text of a version that goes for good."""
    for key, version in going:
        if version.revision_of >= 0:
            refuse_if_used(view, VERSION, key, rows or GoingRows())


def delete_live(view: View, stored: StoredVersion) -> Row:
    """Return the row with which a live version is deleted softly. Raises the refusal of who needs it, or of the mode."""
    _refuse_if_needed(view, stored, "live")
    refuse_if_readonly(view, Scope(*subject_of_key(stored[0])))
    return _make_soft_row(stored)


def warned_sources(view: View, access: Access | None, versions: Iterable[StoredVersion]) -> tuple[str, ...]:
    """Return the names of sources that pin versions which are deleted softly: the first ones that the caller may see."""
    names = set()
    for key, _ in versions:
        for _, user in users_of(view, VERSION, key, "warns", GoingRows()):
            source = view.get(SOURCE, user)
            if source is not None and (access is None or access.may_source("read", user.name)):
                names.add(source.name)
    return tuple(sorted(names)[: limits.WARNED_SOURCES])


def _lives_without(view: View, stored: StoredVersion) -> bool:
    return any(other[0] != stored[0] for other in newest_first(view, subject_of_key(stored[0])))


def _make_soft_row(stored: StoredVersion) -> Row:
    return make_row(VERSION, stored[0], replace(stored[1], state="soft"))


def whole_subject(view: View, subject: Subject) -> list[Row]:
    """Everything of a subject: what is made again under its name is somebody else."""
    versions = remove_versions(view, stored_versions(view, subject))
    return [*versions, *remove_subject(view, subject), *remove_settings(view, Scope(*subject))]


def purge_subject(view: View, subject: Subject) -> list[Row]:
    """All versions of a subject, and all else of it where it goes with its last version."""
    if goes_with_versions(view, subject):
        return whole_subject(view, subject)
    return remove_versions(view, stored_versions(view, subject))

"""Changes of associations: resources are associated with subjects, and dissociated again, step by step in one commit."""

import hashlib
import uuid
from dataclasses import replace
from typing import Any

from treaty.core.access.permissions import RequiredPermission, on_subject, on_topic, refuse_unless_met
from treaty.core.access.request_permissions import of_associate
from treaty.core.command import Command, Decision, StagedView
from treaty.core.handlers import association_queries as tied
from treaty.core.handlers.association_queries import (
    Tied,
    frozen_association,
    invalid_association,
    not_found,
    of_resource,
)
from treaty.core.handlers.contexts import refuse_bad_subject
from treaty.core.handlers.deletion import purge_subject
from treaty.core.handlers.registration.register import register
from treaty.core.handlers.settings import IMPORTING, mode_in_force, refuse_if_readonly
from treaty.core.handlers.uses import GoingRows, refuse_if_encoded, refuse_if_pinned, refuse_if_used, subject_associated
from treaty.core.handlers.versions import has_version, stored_versions
from treaty.core.limits import ASSOCIATIONS_PER_RESOURCE, ASSOCIATIONS_PER_SUBJECT, NAME_LENGTH
from treaty.core.messages.associations import (
    ANY,
    KINDS,
    LIFECYCLES,
    TOPIC,
    Associate,
    AssociatedSubject,
    AssociationChange,
    AssociationResult,
    AssociationResults,
    AssociationSpec,
    ChangeAssociations,
    Dissociate,
    EntryRefusal,
    ImportedAssociation,
    Op,
    Resource,
    ResourceBound,
    ResourceChange,
    subject_for,
)
from treaty.core.messages.settings import Scope
from treaty.core.messages.versions import DeletedVersions
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import (
    InvalidAssociation,
    Referenced,
    Refusal,
    ResourceAssociated,
    StronglyAssociated,
    TooManyAssociations,
)
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.association_table import ASSOCIATION, ASSOCIATION_BY_GUID, AssociationKey
from treaty.core.state.rows import Row, make_row, make_tombstone
from treaty.core.state.state_tables import SUBJECT, VERSION
from treaty.core.state.values import Association as Value
from treaty.core.state.values import Version
from treaty.core.state.view import View


def dissociate(view: View, command: Command[Dissociate], engine: SchemaEngine) -> Decision[DeletedVersions]:
    """Forget associations of a resource."""
    request = command.request
    stage = StagedView(view, command, engine, "dissociate")
    part(stage, request.resource_id, request.type, request.kinds, cascade=request.cascade)
    return Decision(stage.rows, DeletedVersions(()), rehearsal=request.dry_run)


def part(stage: StagedView, resource_id: str, type_: str, kinds: tuple[str, ...], *, cascade: bool) -> None:
    """Put the rows on stage that forget associations. What may not be read is as if it were not there."""
    access = stage.command.access
    ties = [
        tie
        for tie in of_resource(stage.view, resource_id)
        if tie[1].type == (type_ or TOPIC)
        and (not kinds or tie[1].kind in kinds)
        and (access is None or access.may("read", subject_of(tie[1].subject)))
        and (access is None or _is_visible(stage.view, tie[1]))
    ]
    if not ties:
        raise not_found(resource_id)
    for association in ties:
        if association[1].frozen and not cascade:
            raise frozen_association(association[1])
    going = frozenset(subject_of(tie[1].subject) for tie in ties if cascade and tie[1].lifecycle == "STRONG")
    for association in ties:
        _refuse_unfit(stage, association, going)
    stage.put(make_tombstone(ASSOCIATION, key) for key, _ in ties)
    for subject in sorted(going):
        stage.put(purge_subject(stage.view, subject))


def _refuse_unfit(stage: StagedView, association: Tied, going: frozenset[Subject]) -> None:
    subject = subject_of(association[1].subject)
    parted = on_topic("register", tied.resource_of(association), association[1].kind)
    _refuse_unless_allowed(stage, on_subject("register", subject), parted)
    if subject in going:
        _refuse_unless_allowed(stage, on_subject("delete", subject))
        versions = stored_versions(stage.view, subject)
        for key, _ in versions:
            refuse_if_used(stage.view, VERSION, key, GoingRows(subjects=going))
        refuse_if_pinned(stage.view, versions)
        refuse_if_encoded(stage.view, versions)
    refuse_if_readonly(stage.view, Scope(*subject))


def _refuse_unless_allowed(stage: StagedView, *required: RequiredPermission[Any]) -> None:
    """Which subjects a resource has is part of the state, so it can't be asked before."""
    access = stage.command.access
    if access is not None:
        refuse_unless_met(access, stage.command.principal, required, stage.operation)


def associate(view: View, command: Command[Associate], engine: SchemaEngine) -> Decision[ResourceBound]:
    """Bind kinds of a resource to subjects."""
    request = command.request
    stage = StagedView(view, command, engine, "associate", request.dry_run)
    op: Op = "UPSERT" if request.update else "CREATE"
    nameless = request.dry_run and not request.update
    _refuse_bad_resource(request.resource, nameless=nameless)
    _refuse_bad_count(len(request.wishes))
    kinds: set[str] = set()
    for spec in request.wishes:
        if spec.kind in kinds:
            raise invalid_association(
                "associationType", f"'{spec.kind[:100]}' is listed twice", spec.kind[:100], allowed="each type once"
            )
        kinds.add(spec.kind)
    change = ResourceChange(request.resource, tuple(AssociationChange(op, spec) for spec in request.wishes))
    bound = _apply_change(stage, change, nameless=nameless)
    return Decision(stage.rows, bound, rehearsal=request.dry_run)


def change_associations(
    view: View, command: Command[ChangeAssociations], engine: SchemaEngine
) -> Decision[AssociationResults]:
    """Carry out the entries of a batch; each sees what those before it did."""
    request = command.request
    tied.refuse_bad_batch(len(request.changes))
    stage = StagedView(view, command, engine, "change-associations", request.dry_run)
    results = tuple(_try_change(stage, change) for change in request.changes)
    return Decision(stage.rows, AssociationResults(results), rehearsal=request.dry_run)


def _try_change(stage: StagedView, change: ResourceChange) -> AssociationResult:
    command = stage.command
    entry = StagedView(stage.view, command, stage.engine, stage.operation, stage.rehearsal)
    try:
        if command.access is not None:
            wishes = tuple(operation.wish for operation in change.operations if operation.op != "DELETE")
            required = of_associate(Associate(change.resource, wishes))
            refuse_unless_met(command.access, command.principal, required, "associate")
        bound = _apply_change(entry, change, nameless=stage.rehearsal)
    except Refusal as no:
        if isinstance(no, Referenced) and command.access is not None:
            no = Referenced(replace(no.reason, old=""))  # who refers to it may be a secret
        return AssociationResult(refused=EntryRefusal.by(no))
    stage.put(entry.rows)
    return AssociationResult(bound)


def _apply_change(stage: StagedView, change: ResourceChange, *, nameless: bool) -> ResourceBound:
    _refuse_bad_resource(change.resource, nameless=nameless)
    resource = _find_known(stage.view, change.resource)
    _refuse_bad_count(len(change.operations))
    bound: dict[str, AssociatedSubject] = {}
    for operation in change.operations:
        bound.pop(operation.wish.kind, None)
        _refuse_bad_kind(operation.wish.kind)
        if operation.op == "DELETE":
            part(stage, resource.id, resource.type, (operation.wish.kind,), cascade=operation.cascade)
        else:
            bound[operation.wish.kind] = _tie(stage, resource, operation.wish, update=operation.op == "UPSERT")
    return ResourceBound(resource, tuple(bound.values()))


# ------------------------------------------------------------------------------------------------------- resources


def _refuse_bad_resource(resource: Resource, *, nameless: bool) -> None:
    """Raise `InvalidAssociation` for a resource that can't be; one that is not made yet (`nameless`) may lack its id."""
    for member, text in (("resourceName", resource.name), ("resourceNamespace", resource.namespace)):
        if not text or text == ANY or not text.isprintable() or len(text) > NAME_LENGTH:
            raise invalid_association(member, "must be a name of printable characters, and not '-'", text[:100])
    if resource.type != TOPIC:
        raise invalid_association("resourceType", f"must be '{TOPIC}'", resource.type[:100])
    if (not resource.id and not nameless) or not resource.id.isprintable() or len(resource.id) > NAME_LENGTH:
        raise invalid_association(
            "resourceId", "cannot be null or empty", resource.id[:100], allowed="printable characters"
        )


def _find_known(view: View, resource: Resource) -> Resource:
    """Return the resource with its id; refuses one whose name or id is another's."""
    named = tied.of_name(view, resource.name, resource.namespace)
    if not resource.id:
        return replace(resource, id=next((key.resource for key, value in named if _is_visible(view, value)), ""))
    if named and named[0][0].resource != resource.id:
        raise ResourceAssociated.of(
            "RESOURCE_ID",
            f"An association of type '{named[0][1].kind}' already exists for resource '{resource.name}'",
            path="/resourceId",
            new=resource.id,
            allowed="the id that the resource has; or delete the associations of the one that had its name before",
        )
    ties = tied.of_resource(view, resource.id)
    if ties and tied.resource_of(ties[0]) != resource:  # which one it is may be a secret
        raise invalid_association(
            "resourceName", "the id belongs to another resource", resource.name, allowed="the resource that has the id"
        )
    return resource


def _refuse_bad_count(count: int) -> None:
    if not count:
        raise invalid_association("associations", "cannot be null or empty", "", allowed="at least one association")
    if count > ASSOCIATIONS_PER_RESOURCE:
        raise TooManyAssociations.of(
            "ASSOCIATIONS_PER_RESOURCE",
            f"A maximum of {ASSOCIATIONS_PER_RESOURCE} associations already exist",
            path="/associations",
            new=str(count),
            allowed=f"at most {ASSOCIATIONS_PER_RESOURCE} associations in one request for a resource",
        )


def _refuse_bad_kind(kind: str) -> None:
    if kind not in KINDS:
        raise invalid_association("associationType", "must be either 'key' or 'value'", kind[:100])


# ---------------------------------------------------------------------------------------------------------- tying


def _tie(stage: StagedView, resource: Resource, spec: AssociationSpec, *, update: bool) -> AssociatedSubject:
    """Bind one kind of a resource; a schema that comes along is registered first."""
    subject = subject_for(resource, spec)
    refuse_bad_subject(subject)
    old = next((tie for tie in tied.of_resource(stage.view, resource.id) if tie[1].kind == spec.kind), None)
    if old is not None and not _is_visible(stage.view, old[1]):
        raise _subject_fixed(str(subject)) if update else _resource_associated(old[1])
    new = _build_value(stage, resource, spec, subject, old)
    if old is not None:
        _refuse_changed(old[1], new, spec, update=update)
    key = AssociationKey(resource.id, spec.kind, str(subject))
    _refuse_crowded(stage.view, subject, key, new, fresh=old is None)
    schema = None
    if spec.schema is not None:
        request = replace(spec.schema, subject=subject)
        decision = register(stage.view, replace(stage.command, request=request), stage.engine)
        undated = stage.command.time if stage.rehearsal and decision.answer.created else -1
        stage.put(_drop_dates(row, undated) for row in decision.rows)
        schema = decision.answer.version
        schema = replace(schema, time=0) if schema.time == undated else schema
    elif not has_version(stage.view, subject):
        raise tied.no_live_version(subject)
    if old is None or old[1] != new:
        refuse_if_readonly(stage.view, Scope(*subject))
        stage.put((make_row(ASSOCIATION, key, new),))
    return AssociatedSubject(str(subject), spec.kind, new.lifecycle, new.frozen, schema)


def _drop_dates(row: Row, time: int) -> Row:
    """A dry run has no time, so that its answer is always the same."""
    value = row.value
    return replace(row, value=replace(value, time=0)) if isinstance(value, Version) and value.time == time else row


def _build_value(
    stage: StagedView, resource: Resource, spec: AssociationSpec, subject: Subject, old: Tied | None
) -> Value:
    """The row that a spec asks for; the old one where that is as wished."""
    if spec.lifecycle not in {"", *LIFECYCLES}:
        raise invalid_association("lifecycle", f"must be one of {', '.join(LIFECYCLES)}", spec.lifecycle[:100])
    time = stage.command.time
    imported = _complete_import(stage, spec.given, subject) or ImportedAssociation(
        _guid(stage, resource, spec.kind), time, time
    )
    start = Value(
        str(subject), resource.name, resource.namespace, spec.kind, type=resource.type, guid=imported.guid,
        created=imported.created, updated=imported.updated,
    ) if old is None else replace(old[1], subject=str(subject))  # fmt: skip
    frozen = start.frozen if spec.frozen is None else spec.frozen
    lifecycle = spec.lifecycle or ("STRONG" if old is None and frozen else start.lifecycle)
    if spec.frozen:
        _refuse_frozen_weak(lifecycle)
    new = replace(start, lifecycle=lifecycle, frozen=frozen)
    return new if old is None or new == old[1] else replace(new, updated=time)


def _refuse_frozen_weak(lifecycle: str) -> None:
    if lifecycle != "STRONG":
        raise invalid_association(
            "frozen", "association with lifecycle of WEAK cannot be frozen", "true", allowed="STRONG"
        )


def _complete_import(
    stage: StagedView, imported: ImportedAssociation | None, subject: Subject
) -> ImportedAssociation | None:
    """What comes from elsewhere: only where ids may be given, and with an unused guid."""
    if imported is None:
        return None
    mode = mode_in_force(stage.view, Scope(*subject))
    if mode not in IMPORTING:
        raise invalid_association("guid", f"may be given in mode IMPORT only, not in {mode}", imported.guid[:100])
    try:
        guid = str(uuid.UUID(imported.guid))
    except ValueError:
        raise invalid_association("guid", "must be a UUID", imported.guid[:100]) from None
    if any(stage.view.find(ASSOCIATION_BY_GUID, (guid,))):
        raise invalid_association("guid", "belongs to another association", guid, allowed="a guid of no association")
    return replace(imported, guid=guid)


def _guid(stage: StagedView, resource: Resource, kind: str) -> str:
    """A guid that follows from the command, because handlers have no randomness."""
    seed = repr((stage.command.command_id, resource, kind))
    return str(uuid.UUID(bytes=hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest()[:16], version=4))


def _refuse_changed(old: Value, new: Value, spec: AssociationSpec, *, update: bool) -> None:
    """What is bound stays with its subject; a frozen association stays as it is, until it is said not to be frozen."""
    if new == old:
        return
    if not update:
        raise _resource_associated(old)
    if new.subject != old.subject:
        raise _subject_fixed(new.subject)
    if old.frozen and spec.frozen is not False:
        raise tied.frozen_association(old)


def _is_visible(view: View, value: Value) -> bool:
    """Return whether the caller may know the subject of an association. A hidden one has no row in the view of a command; the
    association itself is there, so that a resource has one subject of each kind.
    """
    return view.get(SUBJECT, subject_of(value.subject)) is not None


def _resource_associated(old: Value) -> ResourceAssociated:
    return ResourceAssociated.of(
        "RESOURCE_ASSOCIATED",
        f"An association of type '{old.kind}' already exists for resource '{old.resource}'",
        new=f"{old.kind} of {old.resource}",
        allowed="change it with a PUT, or delete it first",
    )


def _subject_fixed(new: str) -> InvalidAssociation:
    return invalid_association("subject", "cannot be changed", new, allowed="delete the association first")


def _refuse_crowded(view: View, subject: Subject, key: AssociationKey, new: Value, *, fresh: bool) -> None:
    """A strong association stands alone, and weak ones are counted. Nothing is said of those of a hidden subject."""
    if view.get(SUBJECT, subject) is None:
        return
    neighbours = [other for other in tied.of_subject(view, subject) if other != key]
    if neighbours and new.lifecycle == "STRONG":
        raise subject_associated(subject)
    if neighbours and tied.is_strong(view, subject):
        raise StronglyAssociated.of(
            "SUBJECT_STRONG",
            f"A strong association already exists for subject '{subject}'",
            subject=str(subject),
            new=new.lifecycle,
            allowed="another subject, or make that association WEAK first",
        )
    if fresh and len(neighbours) >= ASSOCIATIONS_PER_SUBJECT:
        raise TooManyAssociations.of(
            "ASSOCIATIONS_PER_SUBJECT",
            f"A maximum of {ASSOCIATIONS_PER_SUBJECT} associations already exist",
            subject=str(subject),
            allowed=f"at most {ASSOCIATIONS_PER_SUBJECT} associations of one subject",
        )

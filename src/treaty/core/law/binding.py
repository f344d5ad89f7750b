"""Binding: resources are associated with subjects, and part from them again.

Everything that a command wishes for, the registration of its schemas included, becomes one commit or none.
"""

import hashlib
import uuid
from dataclasses import replace

from treaty.core.associations import (
    ANY,
    KINDS,
    LIFECYCLES,
    Associate,
    AssociatedSubject,
    AssociationChange,
    AssociationResult,
    AssociationResults,
    AssociationSpec,
    ChangeAssociations,
    EntryRefusal,
    ImportedAssociation,
    Op,
    ResourceBound,
    ResourceChange,
    subject_for,
)
from treaty.core.command import Command, Decision
from treaty.core.law import associations as tied
from treaty.core.law.associations import Tied, invalid
from treaty.core.law.parting import part
from treaty.core.law.register import refuse_bad_subject, register
from treaty.core.law.settings import IMPORTING, mode_in_force, refuse_if_readonly
from treaty.core.law.stage import Stage
from treaty.core.law.uses import associated
from treaty.core.law.versions import has_version
from treaty.core.limits import ASSOCIATIONS_PER_RESOURCE, ASSOCIATIONS_PER_SUBJECT, NAME_LENGTH
from treaty.core.names import Subject
from treaty.core.permissions import of_associate, refuse_unless_met
from treaty.core.refusals import Referenced, Refusal, ResourceAssociated, StronglyAssociated, TooManyAssociations
from treaty.core.requests import Scope
from treaty.core.resource import TOPIC, Resource
from treaty.core.rows import Row, make_row
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state_tables import ASSOCIATION, ASSOCIATION_BY_GUID, AssociationKey
from treaty.core.values import Association as Value
from treaty.core.values import Version
from treaty.core.view import View


def associate(view: View, command: Command[Associate], engine: SchemaEngine) -> Decision[ResourceBound]:
    """Bind kinds of a resource to subjects."""
    request = command.request
    stage = Stage(view, command, engine, "associate", request.dry_run)
    op: Op = "UPSERT" if request.update else "CREATE"
    nameless = request.dry_run and not request.update
    _refuse_bad_resource(request.resource, nameless=nameless)
    _refuse_bad_count(len(request.wishes))
    kinds: set[str] = set()
    for wish in request.wishes:
        if wish.kind in kinds:
            raise invalid("associationType", f"'{wish.kind[:100]}' is listed twice", wish.kind[:100])
        kinds.add(wish.kind)
    change = ResourceChange(request.resource, tuple(AssociationChange(op, wish) for wish in request.wishes))
    done = _changed(stage, change, nameless=nameless)
    return Decision(() if request.dry_run else stage.rows, done)


def change_associations(
    view: View, command: Command[ChangeAssociations], engine: SchemaEngine
) -> Decision[AssociationResults]:
    """Carry out the entries of a batch; each sees what those before it did."""
    request = command.request
    tied.refuse_bad_batch(len(request.changes))
    stage = Stage(view, command, engine, "change-associations", request.dry_run)
    results = tuple(_tried(stage, one) for one in request.changes)
    return Decision(() if request.dry_run else stage.rows, AssociationResults(results))


def _tried(stage: Stage, change: ResourceChange) -> AssociationResult:
    command = stage.command
    entry = Stage(stage.view, command, stage.engine, stage.operation, stage.rehearsal)
    try:
        if command.access is not None:
            wishes = tuple(one.wish for one in change.operations if one.op != "DELETE")
            required = of_associate(Associate(change.resource, wishes))
            refuse_unless_met(command.access, command.principal, required, "associate")
        done = _changed(entry, change, nameless=stage.rehearsal)
    except Refusal as no:
        if isinstance(no, Referenced) and command.access is not None:
            no = Referenced(replace(no.reason, old=""))  # who refers to it may be a secret
        return AssociationResult(refused=EntryRefusal.by(no))
    stage.put(entry.rows)
    return AssociationResult(done)


def _changed(stage: Stage, change: ResourceChange, *, nameless: bool) -> ResourceBound:
    _refuse_bad_resource(change.resource, nameless=nameless)
    resource = _known(stage.view, change.resource)
    _refuse_bad_count(len(change.operations))
    bound: dict[str, AssociatedSubject] = {}
    for one in change.operations:
        bound.pop(one.wish.kind, None)
        _refuse_bad_kind(one.wish.kind)
        if one.op == "DELETE":
            part(stage, resource.id, resource.type, (one.wish.kind,), cascade=one.cascade)
        else:
            bound[one.wish.kind] = _tie(stage, resource, one.wish, update=one.op == "UPSERT")
    return ResourceBound(resource, tuple(bound.values()))


# ------------------------------------------------------------------------------------------------------- resources


def _refuse_bad_resource(resource: Resource, *, nameless: bool) -> None:
    """Raise `InvalidAssociation` for a resource that can't be; one that is not made yet (`nameless`) may lack its id."""
    for member, given in (("resourceName", resource.name), ("resourceNamespace", resource.namespace)):
        if not given or given == ANY or not given.isprintable() or len(given) > NAME_LENGTH:
            raise invalid(member, "must be a name of printable characters, and not '-'", given[:100])
    if resource.type != TOPIC:
        raise invalid("resourceType", f"must be '{TOPIC}'", resource.type[:100])
    if (not resource.id and not nameless) or not resource.id.isprintable() or len(resource.id) > NAME_LENGTH:
        raise invalid("resourceId", "cannot be null or empty", resource.id[:100], allowed="printable characters")


def _known(view: View, resource: Resource) -> Resource:
    """Return the resource with its id; refuses one whose name or id is another's."""
    named = tied.of_name(view, resource.name, resource.namespace)
    there = named[0][0].resource if named else resource.id
    if not resource.id:
        return replace(resource, id=there)
    if there != resource.id:
        raise ResourceAssociated.of(
            "RESOURCE_ID",
            f"An association of type '{named[0][1].kind}' already exists for resource '{resource.name}'",
            path="/resourceId",
            new=resource.id,
            allowed="the id that the resource has; or delete the associations of the one that had its name before",
        )
    ties = tied.of_resource(view, resource.id)
    if ties and tied.resource_of(ties[0]) != resource:  # which one it is may be a secret
        raise invalid("resourceName", "the id belongs to another resource", resource.name)
    return resource


def _refuse_bad_count(count: int) -> None:
    if not count:
        raise invalid("associations", "cannot be null or empty", "", allowed="at least one association")
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
        raise invalid("associationType", "must be either 'key' or 'value'", kind[:100])


# ---------------------------------------------------------------------------------------------------------- tying


def _tie(stage: Stage, resource: Resource, wish: AssociationSpec, *, update: bool) -> AssociatedSubject:
    """Bind one kind of a resource; a schema that comes along is registered first."""
    subject = subject_for(resource, wish)
    refuse_bad_subject(subject)
    old = next((one for one in tied.of_resource(stage.view, resource.id) if one[1].kind == wish.kind), None)
    new = _wished(stage, resource, wish, subject, old)
    if old is not None:
        _refuse_changed(old[1], new, wish, update=update)
    key = AssociationKey(resource.id, wish.kind, str(subject))
    _refuse_crowded(stage.view, subject, key, new, fresh=old is None)
    schema = None
    if wish.schema is not None:
        request = replace(wish.schema, subject=subject)
        decision = register(stage.view, replace(stage.command, request=request), stage.engine)
        undated = stage.command.time if stage.rehearsal and decision.answer.created else -1
        stage.put(_undated(row, undated) for row in decision.rows)
        schema = decision.answer.version
        schema = replace(schema, time=0) if schema.time == undated else schema
    elif not has_version(stage.view, subject):
        raise tied.no_live_version(subject)
    if old is None or old[1] != new:
        refuse_if_readonly(stage.view, Scope(*subject))
        stage.put((make_row(ASSOCIATION, key, new),))
    return AssociatedSubject(str(subject), wish.kind, new.lifecycle, new.frozen, schema)


def _undated(row: Row, time: int) -> Row:
    """What is only rehearsed has no time, so that asking twice tells the same."""
    value = row.value
    return replace(row, value=replace(value, time=0)) if isinstance(value, Version) and value.time == time else row


def _wished(stage: Stage, resource: Resource, wish: AssociationSpec, subject: Subject, old: Tied | None) -> Value:
    """The row that a wish asks for; the old one where that is as wished."""
    if wish.lifecycle not in {"", *LIFECYCLES}:
        raise invalid("lifecycle", f"must be one of {', '.join(LIFECYCLES)}", wish.lifecycle[:100])
    time = stage.command.time
    given = _given(stage, wish.given, subject) or ImportedAssociation(_guid(stage, resource, wish.kind), time, time)
    start = Value(
        str(subject), resource.name, resource.namespace, wish.kind, type=resource.type, guid=given.guid,
        created=given.created, updated=given.updated,
    ) if old is None else replace(old[1], subject=str(subject))  # fmt: skip
    frozen = start.frozen if wish.frozen is None else wish.frozen
    lifecycle = wish.lifecycle or ("STRONG" if old is None and frozen else start.lifecycle)
    if wish.frozen:
        _refuse_frozen_weak(lifecycle)
    new = replace(start, lifecycle=lifecycle, frozen=frozen)
    return new if old is None or new == old[1] else replace(new, updated=time)


def _refuse_frozen_weak(lifecycle: str) -> None:
    if lifecycle != "STRONG":
        raise invalid("frozen", "association with lifecycle of WEAK cannot be frozen", "true", allowed="STRONG")


def _given(stage: Stage, given: ImportedAssociation | None, subject: Subject) -> ImportedAssociation | None:
    """What comes from elsewhere: only where ids may be given, and a guid that nobody has."""
    if given is None:
        return None
    mode = mode_in_force(stage.view, Scope(*subject))
    if mode not in IMPORTING:
        raise invalid("guid", f"may be given in mode IMPORT only, not in {mode}", given.guid[:100])
    try:
        told = str(uuid.UUID(given.guid))
    except ValueError:
        raise invalid("guid", "must be a UUID", given.guid[:100]) from None
    if any(stage.view.find(ASSOCIATION_BY_GUID, (told,))):
        raise invalid("guid", "belongs to another association", told)
    return replace(given, guid=told)


def _guid(stage: Stage, resource: Resource, kind: str) -> str:
    """A guid that follows from the command, because the law has no chance of its own."""
    told = repr((stage.command.command_id, resource, kind))
    return str(uuid.UUID(bytes=hashlib.sha256(told.encode("utf-8", "surrogatepass")).digest()[:16], version=4))


def _refuse_changed(old: Value, new: Value, wish: AssociationSpec, *, update: bool) -> None:
    """What is bound stays with its subject; a frozen association stays as it is, until it is said not to be frozen."""
    if new == old:
        return
    if not update:
        raise ResourceAssociated.of(
            "RESOURCE_ASSOCIATED",
            f"An association of type '{old.kind}' already exists for resource '{old.resource}'",
            new=f"{wish.kind} of {old.resource}",
            allowed="change it with a PUT, or delete it first",
        )
    if new.subject != old.subject:
        raise invalid("subject", "cannot be changed", new.subject, allowed="delete the association first")
    if old.frozen and wish.frozen is not False:
        raise tied.frozen(old)


def _refuse_crowded(view: View, subject: Subject, key: AssociationKey, new: Value, *, fresh: bool) -> None:
    """A strong association stands alone, and weak ones are counted."""
    others = [other for other in tied.of_subject(view, subject) if other != key]
    if others and new.lifecycle == "STRONG":
        raise associated(subject)
    if others and tied.is_strong(view, subject):
        raise StronglyAssociated.of(
            "SUBJECT_STRONG",
            f"A strong association already exists for subject '{subject}'",
            subject=str(subject),
            new=new.lifecycle,
            allowed="another subject, or make that association WEAK first",
        )
    if fresh and len(others) >= ASSOCIATIONS_PER_SUBJECT:
        raise TooManyAssociations.of(
            "ASSOCIATIONS_PER_SUBJECT",
            f"A maximum of {ASSOCIATIONS_PER_SUBJECT} associations already exist",
            subject=str(subject),
            allowed=f"at most {ASSOCIATIONS_PER_SUBJECT} associations of one subject",
        )

"""Associations of topics with subjects: made, changed, taken apart, told."""

import hashlib
import uuid
from dataclasses import dataclass, replace
from typing import Any

from tests.simulation.judging.model.asking import Asking, Yes, done_or_rehearsed
from tests.simulation.judging.model.changing import purge_versions
from tests.simulation.judging.model.encodings import refuse_if_encoded
from tests.simulation.judging.model.events import Associated, Event, VersionMade
from tests.simulation.judging.model.facts import changes_something
from tests.simulation.judging.model.metastore.pinning import refuse_if_pinned
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.referring import refuse_if_referred_to
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.registering import register
from tests.simulation.judging.model.resources import may, may_bind
from tests.simulation.judging.model.rights import of_associate, refuse_unless_allowed
from tests.simulation.judging.model.selecting import describe
from tests.simulation.judging.model.settings import GIVING_IDS, mode_in_force, refuse_if_readonly
from tests.simulation.judging.model.subjects import refuse_bad_subject
from treaty.core import limits
from treaty.core.messages import associations as t
from treaty.core.messages.listings import ListSchemas
from treaty.core.messages.settings import Scope
from treaty.core.messages.versions import DeletedVersions
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import (
    AssociationNotFound,
    Forbidden,
    Frozen,
    InvalidAssociation,
    NoLiveVersion,
    ResourceAssociated,
    StronglyAssociated,
    SubjectAssociated,
    TooManyAssociations,
)
from treaty.core.state.values import Association as Value

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Entry:
    """What one entry of a batch comes to: an answer, or the model's no."""

    done: t.ResourceBound | None = None
    no: No | None = None


@dataclass(frozen=True, slots=True)
class Entries:
    """What a batch comes to."""

    results: tuple[Entry, ...]


def _invalid(member: str) -> No:
    return No(InvalidAssociation, "ASSOCIATION_INVALID", path=f"/{member}")


def _of_resource(past: Past, resource_id: str) -> list[tuple[Key, Value]]:
    return [(key, one) for key, one in past.associations.items() if key[0] == resource_id]


def _of_subject(past: Past, subject: Subject) -> list[tuple[Key, Value]]:
    return [(key, one) for key, one in past.associations.items() if subject_of(one.subject) == subject]


# ------------------------------------------------------------------------------------------------------- commands


def associate(past: Past, asking: Asking, request: t.Associate) -> Yes:
    """All wishes or none."""
    nameless = request.dry_run and not request.update
    _refuse_bad_resource(request.resource, nameless=nameless)
    _refuse_bad_count(len(request.wishes))
    kinds = [wish.kind for wish in request.wishes]
    if len(set(kinds)) < len(kinds):
        raise _invalid("associationType")
    op: t.Op = "UPSERT" if request.update else "CREATE"
    change = t.ResourceChange(request.resource, tuple(t.AssociationChange(op, wish) for wish in request.wishes))
    events, done = _carry_out(past, asking, change, rehearsal=request.dry_run, nameless=nameless)
    return done_or_rehearsed(events, done, rehearsal=request.dry_run)


def change_associations(past: Past, asking: Asking, request: t.ChangeAssociations) -> Yes:
    """Entry after entry; one that is refused leaves nothing."""
    _refuse_bad_batch(len(request.changes))
    events, results = list[Event](), []
    for change in request.changes:
        try:
            wishes = tuple(one.wish for one in change.operations if one.op != "DELETE")
            wished = t.Associate(change.resource, wishes)
            refuse_unless_allowed(asking, wished, of_associate(wished))
            news, done = _carry_out(
                past.then(events), asking, change, rehearsal=request.dry_run, nameless=request.dry_run
            )
        except No as no:
            results.append(Entry(no=no))
        else:
            events += news
            results.append(Entry(done))
    if not changes_something(past, tuple(events)):
        events = []
    return done_or_rehearsed(events, Entries(tuple(results)), rehearsal=request.dry_run)


def dissociate(past: Past, asking: Asking, request: t.Dissociate) -> Yes:
    events = _take_apart(past, asking, request.resource_id, request.type, request.kinds, cascade=request.cascade)
    return done_or_rehearsed(events, DeletedVersions(()), rehearsal=request.dry_run)


def _carry_out(
    past: Past, asking: Asking, change: t.ResourceChange, *, rehearsal: bool, nameless: bool
) -> tuple[list[Event], t.ResourceBound]:
    _refuse_bad_resource(change.resource, nameless=nameless)
    resource = _known(past, change.resource)
    _refuse_bad_count(len(change.operations))
    events, bound = list[Event](), dict[str, t.AssociatedSubject]()
    for one in change.operations:
        kind = one.wish.kind
        bound.pop(kind, None)
        if kind not in t.KINDS:
            raise _invalid("associationType")
        now = past.then(events)
        if one.op == "DELETE":
            events += _take_apart(now, asking, resource.id, resource.type, (kind,), cascade=one.cascade)
        else:
            news, bound[kind] = _tie(now, asking, resource, one.wish, update=one.op == "UPSERT", rehearsal=rehearsal)
            events += news
    return events, t.ResourceBound(resource, tuple(bound.values()))


def _refuse_bad_resource(resource: t.Resource, *, nameless: bool) -> None:
    for member, given in (("resourceName", resource.name), ("resourceNamespace", resource.namespace)):
        if not given or given == "-" or not given.isprintable() or len(given) > limits.NAME_LENGTH:
            raise _invalid(member)
    if resource.type != "topic":
        raise _invalid("resourceType")
    if (not resource.id and not nameless) or not resource.id.isprintable() or len(resource.id) > limits.NAME_LENGTH:
        raise _invalid("resourceId")


def _refuse_bad_count(count: int) -> None:
    if not count:
        raise _invalid("associations")
    if count > limits.ASSOCIATIONS_PER_RESOURCE:
        raise No(TooManyAssociations, "ASSOCIATIONS_PER_RESOURCE")


def _refuse_bad_batch(size: int) -> None:
    if not 1 <= size <= limits.ASSOCIATION_BATCH:
        raise _invalid("requests")


def _known(past: Past, resource: t.Resource) -> t.Resource:
    """The resource with its id: a name has one id, and an id one name."""
    named = [
        key
        for key, one in past.associations.items()
        if (one.resource, one.namespace) == (resource.name, resource.namespace)
    ]
    if not resource.id:
        visible = [key for key in named if subject_of(past.associations[key].subject) in past.subjects]
        return replace(resource, id=visible[0][0] if visible else "")
    if named and named[0][0] != resource.id:
        raise No(ResourceAssociated, "RESOURCE_ID", new=resource.id)
    for key, one in _of_resource(past, resource.id)[:1]:
        if t.Resource(one.resource, one.namespace, key[0], one.type) != resource:
            raise _invalid("resourceName")
    return resource


# ---------------------------------------------------------------------------------------------------------- tying


def _tie(
    past: Past, asking: Asking, resource: t.Resource, wish: t.AssociationSpec, *, update: bool, rehearsal: bool
) -> tuple[list[Event], t.AssociatedSubject]:
    subject = wish.subject or Subject(f".{resource.namespace}", f"{resource.name}-{wish.kind}")
    refuse_bad_subject(subject)
    old = next((one for key, one in _of_resource(past, resource.id) if key[1] == wish.kind), None)
    if old is not None and subject_of(old.subject) not in past.subjects:
        raise _invalid("subject") if update else No(ResourceAssociated, "RESOURCE_ASSOCIATED")
    new = _wished(past, asking, resource, wish, subject, old)
    if old is not None and new != old:
        if not update:
            raise No(ResourceAssociated, "RESOURCE_ASSOCIATED")
        if new.subject != old.subject:
            raise _invalid("subject")
        if old.frozen and wish.frozen is not False:
            raise No(Frozen, "ASSOCIATION_FROZEN", subject=old.subject)
    key = (resource.id, wish.kind, str(subject))
    if subject in past.subjects:
        _refuse_crowded(past, subject, key, new, fresh=old is None)
    events, schema = list[Event](), None
    if wish.schema is not None:
        registered = register(past, asking, replace(wish.schema, subject=subject))
        schema, dated = registered.answer.version, rehearsal and registered.answer.created
        events += [_without_time(one, asking.time) if dated else one for one in registered.events]
        if dated and schema.time == asking.time:
            schema = replace(schema, time=0)
    elif not past.shown(subject):
        raise No(NoLiveVersion, "NO_LIVE_VERSION", subject=str(subject))
    if new != old:
        refuse_if_readonly(past.then(events), Scope(*subject))
        events.append(Associated(key, new))
    return events, t.AssociatedSubject(str(subject), wish.kind, new.lifecycle, new.frozen, schema)


def _without_time(event: Event, time: int) -> Event:
    """A version of a dry run has no time, also where a later wish of it finds that version."""
    if isinstance(event, VersionMade) and event.version.time == time:
        return replace(event, version=replace(event.version, time=0))
    return event


def _wished(
    past: Past, asking: Asking, resource: t.Resource, wish: t.AssociationSpec, subject: Subject, old: Value | None
) -> Value:
    """The association as it is to be: what a wish leaves out stays, or begins weak and not frozen."""
    if wish.lifecycle not in {"", "STRONG", "WEAK"}:
        raise _invalid("lifecycle")
    given = wish.given
    if given is not None:
        given = replace(given, guid=_given_guid(past, given.guid, subject))
    if old is None:
        told = repr((asking.command_id, resource, wish.kind)).encode("utf-8", "surrogatepass")
        guid = str(uuid.UUID(bytes=hashlib.sha256(told).digest()[:16], version=4))
        start = Value(
            str(subject), resource.name, resource.namespace, wish.kind, type=resource.type,
            guid=given.guid if given else guid,
            created=given.created if given else asking.time,
            updated=given.updated if given else asking.time,
        )  # fmt: skip
    else:
        start = replace(old, subject=str(subject))
    frozen = start.frozen if wish.frozen is None else wish.frozen
    lifecycle = wish.lifecycle or ("STRONG" if old is None and frozen else start.lifecycle)
    if wish.frozen and lifecycle != "STRONG":
        raise _invalid("frozen")
    new = replace(start, lifecycle=lifecycle, frozen=frozen)
    return new if old is None or new == old else replace(new, updated=asking.time)


def _given_guid(past: Past, guid: str, subject: Subject) -> str:
    """Only where ids may be given, and one that nobody has."""
    if mode_in_force(past, Scope(*subject)) not in GIVING_IDS:
        raise _invalid("guid")
    try:
        word = str(uuid.UUID(guid))
    except ValueError:
        raise _invalid("guid") from None
    if any(one.guid == word for one in past.associations.values()):
        raise _invalid("guid")
    return word


def _refuse_crowded(past: Past, subject: Subject, key: Key, new: Value, *, fresh: bool) -> None:
    """A strong association stands alone."""
    others = [one for other, one in _of_subject(past, subject) if other != key]
    if others and new.lifecycle == "STRONG":
        raise No(SubjectAssociated, "SUBJECT_ASSOCIATED", subject=str(subject))
    if any(one.lifecycle == "STRONG" for one in others):
        raise No(StronglyAssociated, "SUBJECT_STRONG", subject=str(subject))
    if fresh and len(others) >= limits.ASSOCIATIONS_PER_SUBJECT:
        raise No(TooManyAssociations, "ASSOCIATIONS_PER_SUBJECT")


# ---------------------------------------------------------------------------------------------------------- apart


def _take_apart(
    past: Past, asking: Asking, resource_id: str, type_: str, kinds: tuple[str, ...], *, cascade: bool
) -> list[Event]:
    """Associations go, and with `cascade` the subjects of strong ones. What may not be read is not there."""
    access = asking.access
    ties = [
        (key, one)
        for key, one in _of_resource(past, resource_id)
        if one.type == (type_ or "topic")
        and (not kinds or one.kind in kinds)
        and (access is None or may(access, "read", *subject_of(one.subject)))
        and (access is None or subject_of(one.subject) in past.subjects)
    ]
    if not ties:
        raise No(AssociationNotFound, "ASSOCIATION_NOT_FOUND", new=resource_id)
    for _, one in ties:
        if one.frozen and not cascade:
            raise No(Frozen, "ASSOCIATION_FROZEN", subject=one.subject)
    going = tuple({subject_of(one.subject) for _, one in ties if cascade and one.lifecycle == "STRONG"})
    for _, one in ties:
        subject = subject_of(one.subject)
        topic = (one.resource, one.namespace, one.kind)
        if access is not None and may(access, "register", *subject) and not may_bind(access, topic):
            raise No(Forbidden, "RIGHTS", subject="")
        for permission in ("register", *(("delete",) if subject in going else ())):
            if access is not None and not may(access, permission, *subject):
                raise No(Forbidden, "RIGHTS", subject=str(subject))
        for version in past.of(subject) if subject in going else ():
            refuse_if_referred_to(past, version, ("live", "soft"), beside=going)
        refuse_if_pinned(past, past.of(subject) if subject in going else [])
        refuse_if_encoded(past, past.of(subject) if subject in going else [])
        refuse_if_readonly(past, Scope(*subject))
    events: list[Event] = [Associated(key, None) for key, _ in ties]
    for subject in sorted(going):
        events += purge_versions(past, subject)
    return events


# -------------------------------------------------------------------------------------------------------- queries


def told_association(key: Key, one: Value) -> t.ResourceAssociation:
    resource = t.Resource(one.resource, one.namespace, key[0], one.type)
    return t.ResourceAssociation(
        one.subject, one.guid, resource, one.kind, one.lifecycle, one.frozen, one.created, one.updated
    )


def _asked(past: Past, request: t.ListAssociations) -> list[tuple[Key, Value]]:
    of: Any = request.of
    chosen = []
    for key, one in past.associations.items():
        if isinstance(of, t.OfSubject):
            fits = subject_of(one.subject) == of.subject
        elif isinstance(of, t.OfId):
            fits = key[0] == of.id
        else:
            fits = of.name in {"-", one.resource} and of.namespace in {"-", one.namespace}
        fits = fits and one.type == (request.type or "topic") and request.lifecycle in {"", one.lifecycle}
        if fits and (not request.kinds or one.kind in request.kinds):
            chosen.append((key, one))
    chosen.sort(key=lambda tie: (tie[1].namespace, tie[1].resource, tie[1].kind, *subject_of(tie[1].subject)))
    limit = request.limit if 1 <= request.limit <= limits.ASSOCIATIONS_LISTED else limits.ASSOCIATIONS_LISTED
    return chosen[max(0, request.offset) :][:limit]


def list_associations(past: Past, asking: Asking, request: t.ListAssociations) -> Yes:
    return Yes((), t.Associations(tuple(told_association(*one) for one in _asked(past, request))))


def get_associations(past: Past, asking: Asking, request: t.GetAssociations) -> Yes:
    _refuse_bad_batch(len(request.gets))
    results = []
    for one in request.gets:
        try:
            results.append(Entry(_one_resource(past, one, schemas=request.schemas)))
        except No as no:
            results.append(Entry(no=no))
    return Yes((), Entries(tuple(results)))


def _one_resource(past: Past, request: t.ListAssociations, *, schemas: bool) -> t.ResourceBound:
    of: Any = request.of
    asked = of.id if isinstance(of, t.OfId) else getattr(of, "name", "")
    if isinstance(of, t.OfSubject) or not asked:
        raise _invalid("resourceId")
    ties = _asked(past, request)
    if not ties:
        raise No(AssociationNotFound, "ASSOCIATION_NOT_FOUND", new=asked)
    resources = {told_association(*one).resource for one in ties}
    if len(resources) > 1:
        raise _invalid("resourceNamespace")
    bound = []
    for _, one in ties:
        live = past.shown(subject_of(one.subject)) if schemas else []
        latest = describe(live[-1]) if live else None
        bound.append(t.AssociatedSubject(one.subject, one.kind, one.lifecycle, one.frozen, latest))
    return t.ResourceBound(resources.pop(), tuple(bound))


def listed_associations(past: Past, subject: Subject, request: ListSchemas) -> tuple[t.ResourceAssociation, ...]:
    """Associations of a subject that a list of schemas asks for."""
    return tuple(
        told_association(key, one)
        for key, one in _of_subject(past, subject)
        if request.resource_type in {"", one.type}
        and (not request.kinds or one.kind in request.kinds)
        and (not request.lifecycles or one.lifecycle in request.lifecycles)
    )


def is_listed(past: Past, subject: Subject, request: ListSchemas) -> bool:
    """Whether a subject is in a list that is narrowed by associations; the lifecycle NONE means that it has none."""
    there = listed_associations(past, subject, replace(request, lifecycles=()))
    if not request.lifecycles:
        return bool(there)
    return any(one.lifecycle in request.lifecycles for one in there) or (not there and "NONE" in request.lifecycles)

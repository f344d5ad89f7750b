"""The new version of a registration: its number, its ordinal, its schema id, and what goes because it comes."""

import hashlib
from dataclasses import dataclass, replace

from tests.simulation.judging.model.asking import Yes
from tests.simulation.judging.model.drafts import Home, ReadDraft
from tests.simulation.judging.model.encodings import refuse_if_encoded
from tests.simulation.judging.model.events import (
    ConfigChanged,
    ContextMade,
    Event,
    SubjectMade,
    VersionMade,
    VersionPurged,
    VersionTurned,
)
from tests.simulation.judging.model.metastore.pinning import refuse_if_pinned
from tests.simulation.judging.model.metastore.state import is_pinned
from tests.simulation.judging.model.naming import computed_names, refuse_many, refuse_taken
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.referring import is_referred_to, refuse_if_referred_to
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.reserving import is_within
from tests.simulation.judging.model.sameness import home_of, is_same, is_same_in
from tests.simulation.judging.model.selecting import as_sent, describe
from tests.simulation.judging.model.settings import GIVING_IDS
from tests.simulation.texts import FORMATS
from treaty.core import limits
from treaty.core.messages.registration import Register, RegisteredVersion
from treaty.core.names import Subject
from treaty.core.policy import ForcedRegistration
from treaty.core.refusals import InvalidSchema, NotPermitted, Referenced, TooLarge
from treaty.core.state import values


@dataclass(frozen=True, slots=True)
class Case:
    """What holds where a registration is to go."""

    past: Past
    request: Register
    config: values.ConfigValue
    mode: str
    policy: values.PolicyValue
    live: list[VersionNow]
    time: int
    label: str | None = None
    """The label of the version, in a subject with labels."""
    chosen: ConfigChanged | None = None
    """The config of a new subject whose policy the registration names; `past` has it already."""

    @property
    def home(self) -> Home:
        """The settings of the subject, or those with which it is made."""
        return home_of(self.past, self.request.subject, self.request.create_with)

    @property
    def gives_ids(self) -> bool:
        return self.mode in GIVING_IDS

    @property
    def normalize(self) -> bool:
        return bool(self.request.normalize) or bool(self.config.normalize)


def next_number(past: Past, subject: Subject) -> int:
    """One more than the highest number there is, softly deleted ones included."""
    return max([one.number for one in past.shown(subject, ("live", "soft"))], default=0) + 1


def new_version(case: Case, new: ReadDraft) -> Yes:
    """Everything that happens because a schema becomes a version, and the answer."""
    past, request = case.past, case.request
    ordinal = past.highest_ordinal(request.subject) + 1
    computed = computed_names(case.home, request.subject, ordinal, new)
    number = _number(case)
    schema_id, schema = schema_of(case.past, request, new)
    going = _taken_away(case, new, schema_id, number)
    home = _home(case)
    content = None if new.sent == new.parsed.canonical.encode() else new.sent
    highest = past.highest_of_type(request.subject, new.draft.format, new.type_name)
    version = values.Version(
        number=number,
        schema_id=schema_id,
        format=new.draft.format,
        type_name=new.type_name,
        type_version=highest + 1,
        content="" if content is None or new.draft.format not in FORMATS else hashlib.sha256(content).hexdigest(),
        forced=ForcedRegistration(request.force.who, request.force.why) if request.force else None,
        imported=case.gives_ids,
        policy=case.policy,
        properties=request.properties,
        time=case.time if request.time < 0 else request.time,
    )
    purged = [
        one
        for event in going
        if isinstance(event, VersionPurged)
        for one in past.of(request.subject)
        if one.ordinal == event.ordinal
    ]
    turned = {event.ordinal for event in going if isinstance(event, VersionTurned)}
    away = [one for one in past.of(request.subject) if one in purged or one.ordinal in turned]
    given = request.names if case.label is None else tuple(sorted({*request.names, ("schemaver", str(case.label))}))
    refuse_many(given)
    refuse_taken(past, request.subject, ordinal, given, schema_id, away)
    names = (*computed, *given)
    there = past.subjects.get(request.subject)
    generation = past.sequence + 1 if there is None else there.generation
    made = VersionMade(request.subject, generation, ordinal, version, schema, new.alike, content, names, new.normal)
    events: list[Event] = [*home, *going, made]
    told = describe(VersionNow.of(made), names=True)
    told = replace(told, metadata=new.draft.metadata, rules=new.draft.rules, references=as_sent(new.used))
    return Yes(tuple(events), RegisteredVersion(told, created=True))


def _number(case: Case) -> int:
    number = next_number(case.past, case.request.subject)
    if case.gives_ids and case.request.number > 0:
        number = case.request.number
    elif case.request.number > 0 and case.request.number != number:
        raise No(InvalidSchema, "VERSION_NUMBER", new=str(case.request.number), allowed=str(number))
    if number > limits.COUNTER:
        raise No(TooLarge, "COUNTER")
    return number


def schema_of(past: Past, request: Register, new: ReadDraft) -> tuple[int, values.Schema]:
    """The id and the row of a schema: the same identity in the same context has the same id, as long as it is in use."""
    context = request.subject.context
    schema = values.Schema(
        guid=new.guid,
        format=new.draft.format,
        text=new.parsed.canonical,
        lookup_digest="",
        references=new.used,
        metadata=new.draft.metadata,
        rules=new.draft.rules,
        type_name=new.parsed.type_name,
    )
    if request.schema_id >= 0:
        if request.schema_id > limits.COUNTER:
            raise No(TooLarge, "COUNTER")
        there = past.schema(context, request.schema_id)
        if there is not None and there.guid != new.guid:
            raise No(NotPermitted, "ID_TAKEN", subject=str(request.subject), new=new.guid)
        highest = max(past.highest_id(context) or 0, past.spared_ids or 0)
        if there is None and request.schema_id > highest + limits.ID_GAP:
            raise No(TooLarge, "ID_GAP", path="/id", new=str(request.schema_id))
        if there is None:
            _refuse_many_schemas(past, context)
        return request.schema_id, there or schema
    same = [one for one in past.versions if one.context == context and is_same(one, new)]
    if same:
        first = min(same, key=lambda one: one.schema_id)
        return first.schema_id, first.schema
    _refuse_many_schemas(past, context)
    highest = max(past.highest_id(context) or 0, past.spared_ids or 0)
    if highest >= limits.COUNTER:
        raise No(TooLarge, "COUNTER")
    given = highest + 1
    while is_within(given, past.ids_aside(context)):
        given += 1
    return given, schema


def _home(case: Case) -> list[Event]:
    past, subject, creation = case.past, case.request.subject, case.request.create_with
    events: list[Event] = []
    if subject.context not in past.contexts:
        refuse_many_contexts(past)
        events.append(ContextMade(subject.context))
    if subject not in past.subjects:
        if past.count_subjects(subject.context) >= limits.SUBJECTS_PER_CONTEXT:
            raise No(TooLarge, "SUBJECTS_PER_CONTEXT", subject=str(subject))
        made = values.SubjectValue(
            generation=past.sequence + 1,
            origin=creation.origin,
            types=creation.types,
            order=creation.order,
            identity=creation.identity,
            properties=creation.properties,
            private=creation.private,
            schemes=creation.schemes,
        )
        events.append(SubjectMade(subject, made))
    return events if case.chosen is None else [*events, case.chosen]


def _refuse_many_schemas(past: Past, context: str) -> None:
    if len({one.schema_id for one in past.versions if one.context == context}) >= limits.SCHEMAS_PER_CONTEXT:
        raise No(TooLarge, "SCHEMAS_PER_CONTEXT")


def refuse_many_contexts(past: Past) -> None:
    if len(past.contexts) >= limits.CONTEXTS:
        raise No(TooLarge, "CONTEXTS")


def _taken_away(case: Case, new: ReadDraft, schema_id: int, number: int) -> list[Event]:
    """What goes because the new version comes: an imported version takes the place of the one with its number; softly
    deleted versions of its schema that nobody refers to are hidden; and the oldest hidden ones make room.
    """
    past, events, gone = case.past, list[Event](), list[VersionNow]()
    there = past.of(case.request.subject)
    for one in there:
        if case.gives_ids and one.number == number and one.state != "hidden":
            away = going_with(past, one)
            for each in away:
                refuse_if_referred_to(past, each, ("live", "soft"))
            refuse_if_pinned(past, away)
            refuse_if_encoded(past, away)
            if any((one.subject.sibling(used.subject), used.version) == (one.subject, number) for used in new.used):
                raise No(Referenced, "REFERENCED", subject=str(one.subject), version=str(number))
            gone += away
    for one in there:
        again = one.state == "soft" and one.schema_id == schema_id and one not in gone
        again = again and one.version.type_name == new.type_name and is_same_in(case.home, one, new)
        if again and not is_referred_to(past, one, ("live", "soft")):
            events.append(VersionTurned(one.subject, one.ordinal, "hidden"))
    gone += making_room(case.past, case.request.subject, there, gone)
    return [*events, *(VersionPurged(one.subject, one.ordinal) for one in gone)]


def going_with(past: Past, one: VersionNow) -> list[VersionNow]:
    """A version and what goes with it: hidden ones of its schema, and its own former texts."""
    hidden = [each for each in past.of(one.subject) if each.state == "hidden"]
    same = [each for each in hidden if each.schema_id == one.schema_id and each.version.revision_of < 0]
    return [one, *same, *(each for each in hidden if each.version.revision_of == one.ordinal)]


def making_room(
    past: Past, subject: Subject, there: list[VersionNow], gone: list[VersionNow], *, live: bool = True
) -> list[VersionNow]:
    """The oldest hidden versions that nobody refers to, as many as there would be too many versions; `live`: one more is live."""
    if live and sum(one.state == "live" for one in there if one not in gone) >= limits.VERSIONS_PER_SUBJECT:
        raise No(TooLarge, "VERSIONS_PER_SUBJECT", subject=str(subject))
    excess = len(there) - len(gone) + 1 - limits.VERSIONS_KEPT_PER_SUBJECT
    if excess <= 0:
        return []
    hidden = [one for one in there if one.state == "hidden" and one not in gone]
    oldest = sorted(hidden, key=lambda one: (one.number, one.ordinal))[: limits.VERSIONS_DROPPED]
    free = (one for one in oldest if not past.encodings_of(one.subject, one.ordinal) and not is_pinned(past, one))
    room = [one for one in free if not is_referred_to(past, one, ("live", "soft"))][:excess]
    if not room and not gone:
        raise No(TooLarge, "VERSIONS_KEPT_PER_SUBJECT", subject=str(subject))
    return room

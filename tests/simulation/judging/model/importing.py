"""What goes from one registry to another: told whole by exports, and said again by imports, which give the numbers."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.drafts import ReadDraft, no_schema, read_draft, written
from tests.simulation.judging.model.events import (
    ContextMade,
    EncodingMade,
    Event,
    NumbersReserved,
    SubjectMade,
    VersionMade,
    VersionPurged,
    VersionsSuperseded,
)
from tests.simulation.judging.model.founding import refuse_bad_settings
from tests.simulation.judging.model.grouping import describe_group, of_group
from tests.simulation.judging.model.labelling import superseding
from tests.simulation.judging.model.making import making_room, refuse_many_contexts, schema_of
from tests.simulation.judging.model.naming import computed_names, refuse_bad_names, refuse_taken
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.reserving import is_left_of_private
from tests.simulation.judging.model.rulesets import refuse_bad_rules
from tests.simulation.judging.model.sameness import is_same, kinds_in
from tests.simulation.judging.model.seeing import hears_of_private
from tests.simulation.judging.model.selecting import as_sent, describe
from tests.simulation.judging.model.settings import GIVING_IDS, config_in_force, mode_in_force, policy_in_force
from tests.simulation.judging.model.subjects import refuse_bad_subject
from tests.simulation.texts import FORMATS
from treaty.core import limits
from treaty.core.messages import encodings as e
from treaty.core.messages import groups as g
from treaty.core.messages import transfers as x
from treaty.core.messages.registration import Register, RegisteredVersion
from treaty.core.messages.settings import Scope
from treaty.core.names import Subject
from treaty.core.refusals import (
    CodecNotFound,
    InvalidSchema,
    InvalidSetting,
    InvalidVersion,
    NotPermitted,
    TooLarge,
    VersionNotFound,
)
from treaty.core.schema_engine import InvalidText
from treaty.core.state import values

# ------------------------------------------------------------------------------------------------------- exports


def _exported(past: Past, prefix: Subject, subjects: Iterable[Subject]) -> list[Subject]:
    """Subjects of a prefix that may be read, by context and name."""
    return sorted(
        one
        for one in subjects
        if prefix.context in {"*", one.context} and one.name.startswith(prefix.name) and past.shows(Scope(*one))
    )


def export_subjects(past: Past, asking: Asking, request: x.ExportSubjects) -> Yes:
    named = _exported(past, request.prefix, {*past.subjects} | past.encoded)
    there = [one for one in named if request.after is None or one > request.after]
    there = [one for one in there if one in past.subjects or _may_hear_of_removed(past, asking, one)]
    told = tuple(_tell_subject(past, one) for one in there[: max(0, min(request.limit, limits.EXPORT_PAGE))])
    return Yes((), x.ExportedSubjects(told))


def _may_hear_of_removed(past: Past, asking: Asking, subject: Subject) -> bool:
    return not is_left_of_private(past, subject) or hears_of_private(asking.access, subject)


def _tell_subject(past: Past, subject: Subject) -> x.ExportedSubject:
    home = past.subjects.get(subject)
    if home is None:
        used = x.HighestNumbers(encoding=past.highest_encoding(subject))
        private = is_left_of_private(past, subject)
        return x.ExportedSubject(str(subject), g.GroupSettings("confluent"), used, private=private, removed=True)
    types = tuple(sorted((*kind, past.highest_of_type(subject, *kind)) for kind in kinds_in(past, subject)))
    settings = g.GroupSettings(home.origin, home.types, home.order, home.identity, None, home.properties, home.schemes)
    codecs = tuple(e.CodecType(name, properties) for name, properties in sorted(past.codecs_of(subject).items()))
    highest = x.HighestNumbers(past.highest_ordinal(subject), past.highest_encoding(subject), types)
    return x.ExportedSubject(str(subject), settings, highest, codecs, home.private, home.label_policy)


def export_versions(past: Past, asking: Asking, request: x.ExportVersions) -> Yes:
    """As many as a page takes, and none after those whose texts fill it."""
    last = None if request.after is None else (*request.after[0], request.after[1])
    told: list[x.ExportedVersion] = []
    size = 0
    for subject in _exported(past, request.prefix, past.subjects):
        for one in past.of(subject):
            if last is not None and (*subject, one.ordinal) <= last:
                continue
            if len(told) < min(request.limit, limits.EXPORT_PAGE) and size < limits.EXPORT_CHARACTERS:
                told.append(_tell_version(past, one))
                size += len(one.schema.text) + len(told[-1].version.data or b"")
    return Yes((), x.ExportedVersions(tuple(told)))


def _tell_version(past: Past, one: VersionNow) -> x.ExportedVersion:
    encodings = tuple(sorted((made.encoding, made.codec) for made in past.encodings_of(one.subject, one.ordinal)))
    state: x.KeptState = next(each for each in ("live", "soft", "hidden") if each == one.state)
    computed = past.subjects[one.subject].schemes
    names = tuple(sorted(pair for pair in one.names if pair[0] not in computed))
    by = superseding(past).get((one.subject, one.generation, one.ordinal), -1)
    seen = any(each.ordinal == by and each.state != "hidden" for each in past.of(one.subject))
    texts = (one.version.revision, one.version.revision_of, by if seen else -1)
    return x.ExportedVersion(describe(one, data=True), state, one.version.policy, names, encodings, *texts)


# ------------------------------------------------------------------------------------------------------- imports


def _refuse_unless_giving(past: Past, subject: Subject) -> None:
    mode = mode_in_force(past, Scope(*subject))
    if mode not in GIVING_IDS:
        raise No(NotPermitted, "MODE", subject=str(subject), old=mode)


def _refuse_far(highest: int, number: int) -> None:
    if number > limits.COUNTER:
        raise No(TooLarge, "COUNTER")
    if number > highest + limits.ID_GAP:
        raise No(TooLarge, "ID_GAP", new=str(number))


def import_subject(past: Past, asking: Asking, request: x.ImportSubject) -> Yes:
    """A subject is made once; numbers only rise."""
    subject, settings, highest = request.subject, request.settings, request.highest
    if request.removed:
        highest = x.HighestNumbers(encoding=highest.encoding)
    refuse_bad_subject(subject)
    refuse_bad_settings(settings)
    if request.label_policy not in {"warn", "refuse"}:
        raise No(InvalidSetting, "LABEL_POLICY", subject=str(subject))
    if settings.policy is not None:
        raise No(NotPermitted, "IMPORT_POLICY", subject=str(subject))
    there = past.subjects.get(subject)
    home = past if there is not None else Past()
    known = [(home.highest_ordinal(subject), highest.ordinal), (past.highest_encoding(subject), highest.encoding)]
    known += [(home.highest_of_type(subject, format_, name), number) for format_, name, number in highest.types]
    for before, number in known:
        _refuse_far(before, number)
    rises = any(number > before for before, number in known)
    if there is not None and not rises:
        return Yes((), g.GroupCreated(describe_group(past, subject), created=False))
    if rises or not request.removed:
        _refuse_unless_giving(past, subject)
    if request.removed:
        reserved = NumbersReserved(subject, 0 if there is None else there.generation, highest, request.private)
        return _import_removed(past, subject, settings, (reserved,) if rises else ())
    events: list[Event] = []
    if subject.context not in past.contexts:
        refuse_many_contexts(past)
        events.append(ContextMade(subject.context))
    generation = past.sequence + 1 if there is None else there.generation
    if there is None:
        if past.count_subjects(subject.context) >= limits.SUBJECTS_PER_CONTEXT:
            raise No(TooLarge, "SUBJECTS_PER_CONTEXT", subject=str(subject))
        made = values.SubjectValue(
            generation,
            settings.origin,
            settings.types,
            settings.order,
            settings.identity,
            schemes=settings.schemes,
            properties=settings.properties,
            private=request.private,
            label_policy=request.label_policy,
        )
        events.append(SubjectMade(subject, made))
    events += [NumbersReserved(subject, generation, highest)] if rises else []
    return Yes(tuple(events), g.GroupCreated(describe_group(past.then(events), subject), created=there is None))


def _import_removed(past: Past, subject: Subject, settings: g.GroupSettings, events: tuple[Event, ...]) -> Yes:
    """Nothing is made: what a removed subject used up is used up. One that has its name stays."""
    made = SubjectMade(subject, values.SubjectValue(past.sequence + 1, settings.origin))
    shown = past if subject in past.subjects else past.then([made])
    return Yes(events, g.GroupCreated(describe_group(shown, subject), created=False))


def _refuse_bad_place(request: x.ImportVersion) -> None:
    most = limits.COUNTER
    fine = 0 <= request.ordinal <= most and 1 <= request.number <= most
    fine = fine and -1 <= request.schema_id <= most and -1 <= request.type_version <= most and request.time >= 0
    fine = fine and 0 <= request.revision <= most and -1 <= request.revision_of <= most
    fine = fine and -1 <= request.superseded_by <= most
    if not fine:
        raise No(InvalidVersion, "IMPORT_NUMBER", subject=str(request.subject))
    if request.state not in {"live", "soft", "hidden"}:
        raise No(InvalidVersion, "IMPORT_STATE", subject=str(request.subject))


def import_version(past: Past, asking: Asking, request: x.ImportVersion) -> Yes:
    """Just as it is elsewhere: with its ordinal and numbers, which must be free, whatever the policy says."""
    subject = request.subject
    refuse_bad_rules(request.draft.rules)
    refuse_bad_names(request.names, several=True)
    _refuse_bad_place(request)
    home = of_group(past, subject)
    new = _read_import(past, request)
    draft = written(request.draft)
    for one in past.of(subject):
        if one.ordinal == request.ordinal:
            return _import_again(past, request, one, new)
    _refuse_unless_giving(past, subject)
    if request.time > asking.time + limits.TIME_AHEAD:
        raise No(NotPermitted, "TIME_AHEAD", subject=str(subject))
    type_version = _free_type_version(past, request, new)
    computed = computed_names(home, subject, request.ordinal, new)
    schema_id, schema = schema_of(past, Register(subject, draft, schema_id=request.schema_id), new)
    said = _superseded(past, request, home.generation)
    room = making_room(past, subject, past.of(subject), [], live=request.state == "live")
    refuse_taken(past, subject, request.ordinal, request.names, schema_id, room)
    content = None if new.sent == new.parsed.canonical.encode() or draft.format not in FORMATS else new.sent
    policy = request.policy or policy_in_force(config_in_force(past, Scope(*subject)), home.types)
    version = values.Version(
        request.number,
        schema_id,
        draft.format,
        new.type_name,
        type_version,
        request.state,
        content="" if content is None else hashlib.sha256(content).hexdigest(),
        forced=request.forced,
        imported=True,
        policy=policy,
        properties=request.properties,
        time=request.time,
        revision=request.revision,
        revision_of=request.revision_of,
    )
    place = (subject, home.generation, request.ordinal)
    made = VersionMade(*place, version, schema, new.alike, content, (*computed, *request.names), new.normal)
    told = replace(
        describe(VersionNow.of(made), names=True),
        metadata=draft.metadata,
        rules=draft.rules,
        references=as_sent(new.used),
    )
    purged = (VersionPurged(one.subject, one.ordinal) for one in room)
    return Yes((*purged, made, *said), RegisteredVersion(told, created=True))


def _read_import(past: Past, request: x.ImportVersion) -> ReadDraft:
    if request.draft.format == g.ANY_FORMAT:
        raise No(InvalidSchema, "FORMAT_UNKNOWN")
    draft = written(request.draft)
    if not draft.text:
        raise No(InvalidSchema, "SCHEMA_EMPTY")
    new = read_draft(past, request.subject, draft, "all", strict=False, normalize=False)
    if isinstance(new, InvalidText):
        raise no_schema(new)
    return new


def _import_again(past: Past, request: x.ImportVersion, one: VersionNow, new: ReadDraft) -> Yes:
    """The same version may be superseded since; another one keeps the ordinal."""
    if not _is_this(one, request, new):
        raise No(NotPermitted, "ORDINAL_TAKEN", subject=str(request.subject))
    said = _superseded(past, request, one.generation)
    if said:
        _refuse_unless_giving(past, request.subject)
    return Yes(tuple(said), RegisteredVersion(describe(one, names=True), created=False))


def _superseded(past: Past, request: x.ImportVersion, generation: int) -> list[VersionsSuperseded]:
    """Another version that is seen supersedes it, if one is named and did not before."""
    subject, by = request.subject, request.superseded_by
    if by < 0 or superseding(past).get((subject, generation, request.ordinal)) == by:
        return []
    seen = [one.ordinal for one in past.of(subject) if one.state != "hidden" and one.ordinal != request.ordinal]
    if by not in seen:
        raise No(InvalidVersion, "SUPERSEDING_MISSING", subject=str(subject), new=str(by))
    return [VersionsSuperseded(subject, generation, by, (request.ordinal,))]


def _is_this(one: VersionNow, request: x.ImportVersion, new: ReadDraft) -> bool:
    """Whether a version with the ordinal is the one that is to be imported."""
    found = one.version
    kind = (new.draft.format, new.type_name)
    return (
        is_same(one, new)
        and one.sent == new.sent
        and (found.number, found.format, found.type_name) == (request.number, *kind)
        and request.schema_id in {-1, found.schema_id}
        and request.type_version in {-1, found.type_version}
    )


def _free_type_version(past: Past, request: x.ImportVersion, new: ReadDraft) -> int:
    """The number among those of its format and type; it, the number and the ordinal must be free."""
    subject, there = request.subject, past.of(request.subject)
    shown = {one.number for one in there if one.state != "hidden"}
    if request.state != "hidden" and request.number in shown:
        raise No(NotPermitted, "NUMBER_TAKEN", subject=str(subject))
    _refuse_far(past.highest_ordinal(subject), request.ordinal)
    kind = (new.draft.format, new.type_name)
    highest = past.highest_of_type(subject, *kind)
    given = highest + 1 if request.type_version < 0 else request.type_version
    _refuse_far(highest, given)
    own = [one.version for one in there if one.version.revision_of < 0]
    numbered = [(one.format, one.type_name, one.type_version) for one in own]
    if request.revision_of < 0 and (*kind, given) in numbered:
        raise No(NotPermitted, "TYPE_VERSION_TAKEN", subject=str(subject))
    return given


def import_encoding(past: Past, asking: Asking, request: x.ImportEncoding) -> Yes:
    """An id stands for one pair, and a pair has one id."""
    subject, given = request.subject, request.encoding_id
    if not 0 <= given <= limits.COUNTER:
        raise No(InvalidVersion, "IMPORT_NUMBER", subject=str(subject))
    of_group(past, subject)
    found = [one for one in past.of(subject) if one.ordinal == request.ordinal]
    if not found:
        raise No(VersionNotFound, "VERSION_NOT_FOUND", subject=str(subject), version=str(request.ordinal))
    (one,) = found
    there = past.encodings.get((subject, given))
    wanted = EncodingMade(subject, given, one.generation, one.ordinal, one.schema_id, request.codec)
    if there == wanted:
        return Yes((), e.EncodingAssigned(given, created=False))
    if there is not None or any(made.codec == request.codec for made in past.encodings_of(subject, one.ordinal)):
        raise No(NotPermitted, "ENCODING_TAKEN", subject=str(subject))
    if request.codec and request.codec not in past.codecs_of(subject):
        raise No(CodecNotFound, "CODEC_NOT_FOUND", subject=str(subject))
    _refuse_unless_giving(past, subject)
    _refuse_far(past.highest_encoding(subject), given)
    return Yes((wanted,), e.EncodingAssigned(given, created=True))

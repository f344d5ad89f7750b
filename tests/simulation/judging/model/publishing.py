"""Publications: a schema becomes the version of a label, or the new text of one; what is asked of them, and drafts."""

import hashlib
import re
from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.changing import has_association
from tests.simulation.judging.model.comparing import Bar, inspect, refuse_faults, verdict
from tests.simulation.judging.model.drafts import no_schema, read_draft, written
from tests.simulation.judging.model.events import (
    DraftPut,
    Event,
    VersionMade,
    VersionPatched,
    VersionPurged,
    VersionsSuperseded,
    VersionTurned,
)
from tests.simulation.judging.model.founding import refuse_other_format
from tests.simulation.judging.model.labelling import (
    SCHEMAVER,
    Label,
    drafts,
    label,
    label_findings,
    label_of,
    labelled,
    superseding,
)
from tests.simulation.judging.model.making import Case, making_room, schema_of
from tests.simulation.judging.model.metastore.pinning import warned_of
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.referring import refuse_if_referred_to
from tests.simulation.judging.model.refusing import No, tag_of
from tests.simulation.judging.model.registering import admit, case_of, refuse_broken_label, refuse_foreign
from tests.simulation.judging.model.rulesets import refuse_bad_rules
from tests.simulation.judging.model.sameness import is_same_in
from tests.simulation.judging.model.seeing import may_private
from tests.simulation.judging.model.selecting import describe, no_subject
from tests.simulation.judging.model.settings import own_config, refuse_if_readonly
from tests.simulation.judging.model.subjects import refuse_bad_subject
from tests.simulation.texts import FORMATS
from treaty.core import limits
from treaty.core.finding import Finding
from treaty.core.messages import schemaver as s
from treaty.core.messages.registration import Register, RegisteredVersion, SubjectCreation
from treaty.core.messages.settings import Config, Scope
from treaty.core.names import Subject
from treaty.core.refusals import (
    Forbidden,
    Incompatible,
    InvalidSubject,
    InvalidVersion,
    LabelRefused,
    NoLiveVersion,
    TooLarge,
    VersionNotFound,
)
from treaty.core.schema_engine import InvalidText
from treaty.core.state.values import StoredDraft


def _refuse_other_names(subject: Subject) -> None:
    if subject.context != "." or not re.fullmatch(r"[\w.-]+/[\w-]+/[\w-]+", subject.name, re.ASCII):
        raise No(InvalidSubject, "SUBJECT_NOT_IGLU", subject=str(subject))


def publish(past: Past, asking: Asking, request: s.Publish) -> Yes:
    """Names first, then what the subject is, the label, the mode, and then as a registration."""
    subject = request.subject
    refuse_bad_subject(subject)
    refuse_bad_rules(request.draft.rules)
    _refuse_other_names(subject)
    name = label(request.label)
    wanted = [label(one) for one in request.supersedes]
    there, live = past.subjects.get(subject), labelled(past, subject)
    if there is not None and there.order != SCHEMAVER:
        raise No(LabelRefused, "SUBJECT_ORDER", subject=str(subject))
    if there is not None and request.private not in {None, there.private}:
        raise No(LabelRefused, "VISIBILITY_DIFFERS", subject=str(subject))
    if name in live and not request.patch:
        raise No(LabelRefused, "LABEL_EXISTS", subject=str(subject), version=str(name))
    scope = Scope(*subject)
    refuse_if_readonly(past, scope)
    policy = Config(level="NONE") if there is None and own_config(past, scope) is None else None
    made = SubjectCreation("iglu", order=SCHEMAVER, policy=policy, private=bool(request.private))
    register = Register(subject, written(request.draft), names=((SCHEMAVER, str(name)),), create_with=made)
    case = case_of(past, register, asking.time)
    if name in live:
        return _patch(case, live[name], name, live)
    _refuse_bad_targets(subject, name, wanted, live)
    done = admit(case, register.draft, None, None, label=str(name))
    assert isinstance(done.answer, RegisteredVersion)
    version = next(event for event in done.events if isinstance(event, VersionMade))
    others = _superseded(past, version, name, [live[one].ordinal for one in wanted if one != name])
    events: list[Event] = [*done.events]
    if others:
        events.append(VersionsSuperseded(subject, version.generation, version.ordinal, tuple(others)))
    later = past.then(events)
    found = [label_of(one) for one in later.of(subject) if one.ordinal in others]
    labels = tuple(str(one) for one in sorted(one for one in found if one is not None))
    told = s.PublishedSchema(done.answer.version, str(name), later.subjects[subject].private, labels)
    return Yes(tuple(events), s.PublishedVersion(told, created=True, warnings=done.answer.warnings))


def _refuse_bad_targets(subject: Subject, name: Label, wanted: list[Label], live: dict[Label, VersionNow]) -> None:
    for one in wanted:
        if one > name:
            raise No(LabelRefused, "SUPERSEDED_HIGHER", subject=str(subject), new=str(one))
        if one != name and one not in live:
            raise No(LabelRefused, "SUPERSEDED_MISSING", subject=str(subject), new=str(one))


def _superseded(past: Past, made: VersionMade, name: Label, chosen: list[int]) -> list[int]:
    """What is chosen and what that supersedes; none that a later live version supersedes."""
    home = (made.subject, made.generation)
    chosen = [*chosen, *(key[2] for key, by in superseding(past).items() if key[:2] == home and by in chosen)]
    live = {one.ordinal: label_of(one) for one in past.shown(made.subject)}
    found = set()
    for one in chosen:
        before = live.get(superseding(past).get((*home, one), -1))
        if before is None or before <= name:
            found.add(one)
    return sorted(found)


def _patch(case: Case, old: VersionNow, name: Label, live: dict[Label, VersionNow]) -> Yes:
    """The same ordinal and number, another text; the former one is hidden and keeps its encodings."""
    past, subject = case.past, case.request.subject
    strict = not case.gives_ids and case.config.validate_new_schemas is not False
    visible = "all" if case.gives_ids else "live"
    normalize = case.normalize and not case.gives_ids
    refuse_other_format(subject, case.home.properties, case.request.draft.format)
    new = read_draft(past, subject, case.request.draft, visible, strict=strict, normalize=normalize, home=case.home)
    if isinstance(new, InvalidText):
        raise no_schema(new)
    new = new.carrying(new.draft.metadata or old.schema.metadata, new.draft.rules or old.schema.rules)
    before = describe_published(past, old, name)
    if is_same_in(case.home, old, new):
        return Yes((), s.PublishedVersion(before, created=False))
    warnings: list[Finding] = []
    refuse_foreign(case, new)
    if not case.gives_ids:
        refuse_faults(subject, inspect(past, new, case.live, case.policy, case.home.types))
        checked = verdict(past, new, case.live, Bar(case.policy, case.config))
        if not checked.compatible:
            raise No(Incompatible, checked.findings[0].rule, path=checked.findings[0].path, subject=str(subject))
        warnings = label_findings(past, new, name, live)
        refuse_broken_label(past, subject, warnings)
    if [one for one in case.home.schemes if one != "sequence"]:
        raise No(LabelRefused, "PATCH_NAMED", subject=str(subject))
    schema_id, schema = schema_of(past, case.request, new)
    gone = making_room(past, subject, past.of(subject), [], live=False)
    content = None if new.sent == new.parsed.canonical.encode() else new.sent
    kind = (new.draft.format, new.type_name)
    same_type = (old.version.format, old.version.type_name) == kind
    version = replace(
        old.version,
        schema_id=schema_id,
        format=new.draft.format,
        type_name=new.type_name,
        type_version=old.version.type_version if same_type else past.highest_of_type(subject, *kind) + 1,
        revision=old.version.revision + 1,
        content="" if content is None or new.draft.format not in FORMATS else hashlib.sha256(content).hexdigest(),
        forced=None,
        imported=case.gives_ids,
        policy=case.policy,
    )
    former = past.highest_ordinal(subject) + 1
    patched = VersionPatched(subject, old.ordinal, former, version, schema, new.alike, content, new.normal)
    events: list[Event] = [*(VersionPurged(subject, one.ordinal) for one in gone), patched]
    later = past.then(events)
    now = next(one for one in later.of(subject) if one.ordinal == old.ordinal)
    told = replace(describe_published(later, now, name), revision=version.revision)
    schema_told = replace(told.version, metadata=new.draft.metadata, rules=new.draft.rules)
    told = replace(told, version=schema_told)
    return Yes(tuple(events), s.PublishedVersion(told, created=False, patched=True, warnings=tuple(warnings)))


# --------------------------------------------------------------------------------------------------------- queries


def describe_published(past: Past, one: VersionNow, name: Label) -> s.PublishedSchema:
    home = (one.subject, one.generation)
    live = {each.ordinal: label_of(each) for each in past.shown(one.subject)}
    by = live.get(superseding(past).get((*home, one.ordinal), -1))
    others = [live.get(key[2]) for key, each in superseding(past).items() if key[:2] == home and each == one.ordinal]
    labels = tuple(str(each) for each in sorted(each for each in others if each is not None))
    private = past.subjects[one.subject].private
    told = describe(one, data=True)
    return s.PublishedSchema(told, str(name), private, labels, "" if by is None else str(by), one.version.revision)


def _published(past: Past, subject: Subject, text: str) -> tuple[Label, VersionNow]:
    name = label(text)
    there = past.subjects.get(subject)
    if there is None or there.order != SCHEMAVER:
        raise no_subject(subject)
    live = labelled(past, subject)
    if name not in live:
        raise No(VersionNotFound, "VERSION_NOT_FOUND", subject=str(subject), version=str(name))
    return name, live[name]


def get_published(past: Past, asking: Asking, request: s.GetPublished) -> Yes:
    name, one = _published(past, request.subject, request.label)
    return Yes((), describe_published(past, one, name))


def delete_published(past: Past, asking: Asking, request: s.DeletePublished) -> Yes:
    subject = request.subject
    try:
        _, one = _published(past, subject, request.label)
    except No as absent:
        if absent.kind is InvalidVersion:
            raise
        return Yes((), s.PublishedDeleted(deleted=False))
    if has_association(past, subject) and past.shown(subject) == [one]:
        raise No(NoLiveVersion, "NO_LIVE_VERSION", subject=str(subject))
    refuse_if_referred_to(past, one, ("live",))
    refuse_if_readonly(past, Scope(*subject))
    return Yes(
        (VersionTurned(subject, one.ordinal, "soft"),),
        s.PublishedDeleted(deleted=True, warnings=warned_of(past, asking, [one])),
    )


def list_published(past: Past, asking: Asking, request: s.ListPublished) -> Yes:
    wanted = (request.vendor, request.name, request.format)
    found = []
    for subject, there in sorted(past.subjects.items(), key=lambda one: one[0].name):
        parts = subject.name.split("/")
        fits = len(parts) == 3 and all(want in {"", part} for want, part in zip(wanted, parts, strict=True))
        if subject.context != "." or there.order != SCHEMAVER or not fits or not past.shows(Scope(*subject)):
            continue
        for name, one in labelled(past, subject).items():
            after = request.after
            behind = after is None or subject.name > after[0] or (subject.name == after[0] and name > label(after[1]))
            if behind and request.model in {0, name.model}:
                found.append(describe_published(past, one, name))
    return Yes((), s.PublishedSchemas(tuple(found[: max(0, min(request.limit, limits.PUBLISHED_PAGE))])))


def put_draft(past: Past, asking: Asking, request: s.PutDraft) -> Yes:
    _refuse_other_names(request.subject)
    _refuse_bad_number(request.subject, request.number)
    if len(request.text.encode()) > limits.SCHEMA_BYTES:
        raise No(TooLarge, "SCHEMA_BYTES")
    refuse_if_readonly(past, Scope(*request.subject))
    there = drafts(past).get((request.subject, request.number))
    private = request.private or (there is not None and there.private)
    if private and asking.access is not None and not may_private(asking.access, "create", request.subject):
        raise No(Forbidden, "RIGHTS", new=tag_of(s.PutDraft))
    value = StoredDraft(request.text, request.private, asking.time)
    told = s.DraftFound(str(request.subject), request.number, value.text, value.private, value.time)
    return Yes((DraftPut(request.subject, request.number, value),), told)


def get_draft(past: Past, asking: Asking, request: s.GetDraft) -> Yes:
    _refuse_bad_number(request.subject, request.number)
    value = drafts(past).get((request.subject, request.number))
    access, shown = asking.access, past.shows(Scope(*request.subject))
    if value is not None and value.private and access is not None:
        shown = shown and may_private(access, "read", request.subject)
    if value is None or not shown:
        raise No(VersionNotFound, "DRAFT_NOT_FOUND", subject=str(request.subject))
    told = s.DraftFound(str(request.subject), request.number, value.text, value.private, value.time)
    return Yes((), told)


def _refuse_bad_number(subject: Subject, number: int) -> None:
    if not 1 <= number <= limits.COUNTER:
        raise No(InvalidVersion, "DRAFT_NUMBER", subject=str(subject))

"""Imports of subjects: settings, versions and encodings become what they are in another registry, which says their numbers.

What is wrong in any state is refused first; what is there already is no change and is asked before the mode.
"""

from treaty.core import limits
from treaty.core.command import Command, Decision
from treaty.core.handlers.capacity import make_room
from treaty.core.handlers.contexts import refuse_bad_subject
from treaty.core.handlers.drafts.names import NewNames, name_rows, new_names, packages_of, refuse_bad_names
from treaty.core.handlers.drafts.rules import refuse_bad_rules
from treaty.core.handlers.drafts.schemas import ParsedDraft, policy_for, read, refuse, version_rules, with_text
from treaty.core.handlers.groups.import_refusals import (
    highest_of,
    refuse_any_format,
    refuse_bad_place,
    refuse_far,
    refuse_far_time,
    refuse_other_version,
    refuse_taken_number,
    refuse_unless_importing,
)
from treaty.core.handlers.groups.properties import refuse_bad_label_policy, refuse_bad_settings
from treaty.core.handlers.groups.queries import describe_group, subject_row
from treaty.core.handlers.schema_ids import all_names, describe_new, make_home, other_rows, schema_of
from treaty.core.handlers.settings import config_in_force
from treaty.core.handlers.uses import remove_versions
from treaty.core.handlers.versions import StoredVersion, describe_version, no_ordinal, stored_versions, with_ordinal
from treaty.core.messages.encodings import NO_CODEC, EncodingAssigned
from treaty.core.messages.groups import GroupCreated
from treaty.core.messages.registration import Register, RegisteredVersion, SubjectCreation
from treaty.core.messages.settings import Scope
from treaty.core.messages.transfers import HighestNumbers, ImportEncoding, ImportSubject, ImportVersion
from treaty.core.names import Subject
from treaty.core.refusals import CodecNotFound, InvalidSchema, InvalidVersion, NotPermitted
from treaty.core.schema import Draft
from treaty.core.schema_engine import InvalidText, SchemaEngine
from treaty.core.state.rows import Row, make_row
from treaty.core.state.schemaver_tables import SUPERSEDED, SupersededKey
from treaty.core.state.state_tables import (
    CODEC,
    CONTENT,
    COUNTER,
    ENCODING,
    ENCODING_BY_VERSION,
    SUBJECT,
    VERSION,
    CodecKey,
    ContentKey,
    CounterKey,
    EncodingKey,
    VersionKey,
    encodings_key,
    ordinals_key,
    types_key,
)
from treaty.core.state.values import Content, Counter, Encoding, SubjectValue, SupersededVersion, Version
from treaty.core.state.view import View


def import_subject(view: View, command: Command[ImportSubject], engine: SchemaEngine) -> Decision[GroupCreated]:
    """Create a subject, or leave its settings, and raise its counters; of a removed one only that of encoding ids."""
    request = command.request
    subject, settings = request.subject, request.settings
    refuse_bad_subject(subject)
    refuse_bad_settings(settings, engine)
    refuse_bad_label_policy(subject, request.label_policy)
    _refuse_policy(request)
    existing = view.get(SUBJECT, subject)
    highest = HighestNumbers(encoding=request.highest.encoding) if request.removed else request.highest
    generation = view.sequence + 1 if existing is None else existing.generation
    raised = _raise_counters(view, subject, generation, highest, private=request.removed and request.private)
    if raised or not (existing or request.removed):
        refuse_unless_importing(view, subject)
    if request.removed or (existing is not None and not raised):
        value = existing or SubjectValue(view.sequence + 1, settings.origin)
        return Decision(raised, GroupCreated(describe_group(view, subject, value, None), created=False))
    creation = SubjectCreation(
        origin=settings.origin,
        types=settings.types,
        order=settings.order,
        identity=settings.identity,
        properties=settings.properties,
        schemes=settings.schemes,
        private=request.private,
    )
    home, _ = make_home(view, subject, creation, packages_of(settings.schemes, engine), request.label_policy)
    new_value = next((row.value for row in home if row.table == SUBJECT.name), existing)
    answer = GroupCreated(describe_group(view, subject, new_value, None), created=existing is None)  # type: ignore[arg-type]  # of its table
    return Decision((*home, *raised), answer)


def _refuse_policy(request: ImportSubject) -> None:
    if request.settings.policy is not None:
        raise NotPermitted.of(
            "IMPORT_POLICY",
            f"Subject {request.subject} is imported without a policy",
            path="/settings/policy",
            subject=str(request.subject),
            allowed="set the config of the subject after its versions",
        )


def _raise_counters(
    view: View, subject: Subject, generation: int, highest: HighestNumbers, *, private: bool
) -> tuple[Row, ...]:
    """Rows of the counters that are behind."""
    highest_numbers = [
        (ordinals_key(subject, generation), highest.ordinal, "ordinal"),
        (encodings_key(subject), highest.encoding, "encoding"),
    ]
    highest_numbers += [
        (types_key(subject, generation, format_, name), number, "types") for format_, name, number in highest.types
    ]
    raised: dict[CounterKey, int] = {}
    for key, number, member in highest_numbers:
        stored = max(highest_of(view, key), raised.get(key, -1))
        refuse_far(subject, key.kind, stored, number, f"/highest/{member}")
        if number > stored:
            raised[key] = number
    return tuple(make_row(COUNTER, key, Counter(number, private=private)) for key, number in raised.items())


# --------------------------------------------------------------------------------------------------------- versions


def import_version(view: View, command: Command[ImportVersion], engine: SchemaEngine) -> Decision[RegisteredVersion]:
    """Make a schema the version that it is in another registry, or find it there."""
    request = command.request
    subject = request.subject
    refuse_bad_rules(request.draft.rules)
    refuse_bad_names(request.names, engine, several=True)
    refuse_bad_place(request)
    home = subject_row(view, subject)
    draft, new = _read_draft(view, request, engine)
    stored = with_ordinal(view, subject, request.ordinal)
    if stored is not None:
        return _import_again(view, request, stored, new)
    refuse_unless_importing(view, subject)
    refuse_far_time(request, command.time)
    refuse_taken_number(view, request)
    ordinals = ordinals_key(subject, home.generation)
    types = types_key(subject, home.generation, draft.format, new.type_name)
    refuse_far(subject, ordinals.kind, highest_of(view, ordinals), request.ordinal, "/ordinal")
    type_version = _type_version(view, request, new, types)
    names = NewNames(new_names(subject, home, new, engine), request.names)
    as_register = _as_register(command, Register(subject, draft, schema_id=request.schema_id, names=request.names))
    schema_id, schema_rows = schema_of(view, as_register, new)
    config = config_in_force(view, Scope(*subject))
    version = Version(
        number=request.number,
        schema_id=schema_id,
        format=draft.format,
        type_name=new.type_name,
        type_version=type_version,
        state=request.state,
        content=new.content,
        forced=request.forced,
        imported=True,
        policy=request.policy or policy_for(config, version_rules(view, subject)),
        properties=request.properties,
        time=request.time,
        identity=new.identity,
        revision=request.revision,
        revision_of=request.revision_of,
    )
    key = VersionKey(*subject, home.generation, request.ordinal)
    superseding = _superseding_rows(view, key, request)
    rows = (*schema_rows, *_version_rows(view, key, new, version, names), *superseding)
    described_names = all_names(home, names, request.ordinal)
    answer = describe_new(as_register.request, new, version, request.ordinal, described_names)
    return Decision(rows, RegisteredVersion(answer, created=True))


def _read_draft(view: View, request: ImportVersion, engine: SchemaEngine) -> tuple[Draft, ParsedDraft]:
    """Return the draft with its text, and what it says. Raises `InvalidSchema` for one that can't be read."""
    refuse_any_format(request)
    draft = with_text(request.draft, engine)
    if not draft.text:
        raise InvalidSchema.of("SCHEMA_EMPTY", "Empty schema", path="/schema", allowed="a schema text")
    rules = version_rules(view, request.subject)
    new = read(view, request.subject, draft, engine, visible="all", strict=False, normalize=False, rules=rules)
    if isinstance(new, InvalidText):
        raise refuse(new, draft)
    return draft, new


def _import_again(
    view: View, request: ImportVersion, stored: StoredVersion, new: ParsedDraft
) -> Decision[RegisteredVersion]:
    """Decide about a version that has the ordinal already: the same one may be superseded since."""
    refuse_other_version(view, request, stored, new)
    rows = _superseding_rows(view, stored[0], request)
    if rows:
        refuse_unless_importing(view, request.subject)
    return Decision(rows, RegisteredVersion(describe_version(view, stored, names=True), created=False))


def _version_rows(view: View, key: VersionKey, new: ParsedDraft, version: Version, names: NewNames) -> tuple[Row, ...]:
    """Rows of a version, of its names and bytes, and of the counters, which do not fall; and what makes room for it."""
    subject = Subject(key.context, key.subject)
    ordinals = ordinals_key(subject, key.generation)
    types = types_key(subject, key.generation, version.format, version.type_name)
    highest = max(key.ordinal, highest_of(view, ordinals))
    going = make_room(view, subject, [], highest, live=version.state == "live")
    named = name_rows(view, key, version, names, {stored[0] for stored in going})
    sent = new.sent
    return (
        make_row(COUNTER, ordinals, Counter(highest)),
        make_row(COUNTER, types, Counter(max(version.type_version, highest_of(view, types)))),
        *other_rows(remove_versions(view, going, spare_schema=version.schema_id), named),
        *((make_row(CONTENT, ContentKey(version.content), Content(sent)),) if sent is not None else ()),
        make_row(VERSION, key, version),
        *named,
    )


def _superseding_rows(view: View, key: VersionKey, request: ImportVersion) -> tuple[Row, ...]:
    """Return the row that says which version supersedes one, if it is another than before. That version must be there."""
    place, ordinal = SupersededKey(*key), request.superseded_by
    before = view.get(SUPERSEDED, place)
    if ordinal < 0 or (before is not None and before.ordinal == ordinal):
        return ()
    by = None if ordinal == key.ordinal else with_ordinal(view, request.subject, ordinal)
    if by is None or by[1].state == "hidden":
        raise InvalidVersion.of(
            "SUPERSEDING_MISSING",
            f"No other version of {request.subject} with the ordinal {ordinal} can supersede one",
            path="/superseded_by",
            subject=str(request.subject),
            new=str(ordinal),
            allowed="the ordinal of another version that is there",
        )
    return (make_row(SUPERSEDED, place, SupersededVersion(ordinal)),)


def _as_register(command: Command[ImportVersion], request: Register) -> Command[Register]:
    """Return the command as one of a registration, which says where the schema and its names go."""
    return Command(request, command.command_id, command.time, command.principal, command.access, command.again)


def _type_version(view: View, request: ImportVersion, new: ParsedDraft, types: CounterKey) -> int:
    """Return the number among those of the same format and type; one that is given must be free. A former text has that of
    its version, unless a patch changed the type.
    """
    highest, type_version = highest_of(view, types), request.type_version
    if type_version < 0:
        type_version = highest + 1
    refuse_far(request.subject, types.kind, highest, type_version, "/type_version")
    kind = (new.draft.format, new.type_name, type_version)
    neighbours = (version for _, version in stored_versions(view, request.subject) if version.revision_of < 0)
    is_free = type_version > highest or request.revision_of >= 0
    if not is_free and any((version.format, version.type_name, version.type_version) == kind for version in neighbours):
        raise NotPermitted.of(
            "TYPE_VERSION_TAKEN",
            f"Subject '{request.subject}' has another version {type_version} of the format {kind[0]} and type {kind[1]}",
            path="/type_version",
            subject=str(request.subject),
            new=str(type_version),
            allowed="a number that is free",
        )
    return type_version


# -------------------------------------------------------------------------------------------------------- encodings


def import_encoding(view: View, command: Command[ImportEncoding], engine: SchemaEngine) -> Decision[EncodingAssigned]:
    """Let an encoding id stand for what it stands for in another registry."""
    request = command.request
    subject = request.subject
    if not 0 <= request.encoding_id <= limits.COUNTER:
        raise InvalidVersion.of(
            "IMPORT_NUMBER",
            f"No encoding has the id {request.encoding_id}",
            path="/encoding_id",
            subject=str(subject),
            new=str(request.encoding_id),
            allowed=f"0 to {limits.COUNTER}",
        )
    subject_row(view, subject)
    stored = with_ordinal(view, subject, request.ordinal)
    if stored is None:
        raise no_ordinal(subject, request.ordinal)
    key, version = stored
    value = Encoding(version.schema_id, key.generation, key.ordinal, request.codec)
    existing = view.get(ENCODING, EncodingKey(*subject, request.encoding_id))
    if existing == value:
        return Decision((), EncodingAssigned(request.encoding_id, created=False))
    if existing is not None:
        raise _other_encoding(request, f"ordinal {existing.ordinal} with the codec '{existing.codec}'")
    for other in view.find(ENCODING_BY_VERSION, (*key,)):
        encoding = view.get(ENCODING, other)
        if encoding is not None and encoding.codec == request.codec:
            raise _other_encoding(request, f"encoding {other.encoding} of the same version and codec")
    if request.codec != NO_CODEC and view.get(CODEC, CodecKey(*subject, request.codec)) is None:
        raise CodecNotFound.of(
            "CODEC_NOT_FOUND",
            f"Subject '{subject}' has no codec '{request.codec[:100]}'",
            path="/codec",
            subject=str(subject),
            new=request.codec[:100],
            allowed="a codec that was added to the subject before, or an empty name for none",
        )
    refuse_unless_importing(view, subject)
    counter = encodings_key(subject)
    highest = highest_of(view, counter)
    refuse_far(subject, counter.kind, highest, request.encoding_id, "/encoding_id")
    rows = (
        make_row(ENCODING, EncodingKey(*subject, request.encoding_id), value),
        make_row(COUNTER, counter, Counter(max(highest, request.encoding_id))),
    )
    return Decision(rows, EncodingAssigned(request.encoding_id, created=True))


def _other_encoding(request: ImportEncoding, old: str) -> NotPermitted:
    """Return the refusal of an id that stands for something else, or of a version and codec that have another id; `old` is
    the encoding that is there, in words.
    """
    return NotPermitted.of(
        "ENCODING_TAKEN",
        f"Encoding {request.encoding_id} of subject '{request.subject}' can't be imported: there is {old}",
        path="/encoding_id",
        subject=str(request.subject),
        old=old,
        new=f"ordinal {request.ordinal} with the codec '{request.codec[:100]}'",
        allowed="an id that is free, for a version and a codec that have none",
    )

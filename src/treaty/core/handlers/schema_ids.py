"""Which schema id, number and ordinal a new version gets, which id an import may not have (`ID_GAP`, reserved ones), and all rows of its commit."""

from dataclasses import replace

from treaty.core import limits
from treaty.core.command import Command, Decision
from treaty.core.handlers.capacity import make_room, refuse_new_context, refuse_new_schema, refuse_new_subject
from treaty.core.handlers.drafts.names import NewNames, name_rows
from treaty.core.handlers.drafts.schemas import EXACT, ParsedDraft
from treaty.core.handlers.settings import config_row, own_value
from treaty.core.handlers.uses import (
    GoingRows,
    referrers,
    refuse_if_encoded,
    refuse_if_pinned,
    refuse_if_used,
    remove_versions,
    with_hidden,
)
from treaty.core.handlers.versions import StoredVersion, as_sent, highest_number, version_with_number, with_schema
from treaty.core.limits import ID_GAP
from treaty.core.messages.names import SEQUENCE
from treaty.core.messages.registration import Register, RegisteredVersion, SubjectCreation
from treaty.core.messages.settings import Scope
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.policy import ForcedRegistration
from treaty.core.refusals import InvalidSchema, NotPermitted, Referenced, TooLarge
from treaty.core.schema import Pairs
from treaty.core.state.rows import Row, make_row
from treaty.core.state.state_tables import (
    CONTENT,
    CONTEXT,
    COUNTER,
    IDS_SPARED,
    NAME,
    SCHEMA,
    SCHEMA_BY_GUID,
    SUBJECT,
    USED_STATES,
    VERSION,
    VERSION_BY_SCHEMA,
    ContentKey,
    ContextKey,
    CounterKey,
    SchemaKey,
    VersionKey,
    ids_key,
    ordinals_key,
    types_key,
)
from treaty.core.state.values import ConfigValue, Content, Context, Counter, PolicyValue, Schema, SubjectValue, Version
from treaty.core.state.view import View


def id_counter(view: View, context: str) -> Counter:
    """Return the counter of a context's ids."""
    return view.get(COUNTER, ids_key(context)) or Counter(0)


def next_id(view: View, context: str, counter: Counter) -> int:
    """Return the id that the next new schema of a context gets, whose counter is given. Raises `TooLarge` where none is left."""
    schema_id = _find_highest(view, counter) + 1
    for low, high in counter.reserved:
        if low <= schema_id <= high:
            schema_id = high + 1
    while view.get(SCHEMA, SchemaKey(context, schema_id)) is not None:  # a counter that was lowered in another way
        schema_id += 1
    if schema_id > limits.COUNTER:
        raise TooLarge.of("COUNTER", "counter ids is used up", allowed=f"at most {limits.COUNTER}")
    return schema_id


def _find_highest(view: View, counter: Counter) -> int:
    spared = view.get(COUNTER, IDS_SPARED)
    return max(counter.highest, spared.highest if spared else 0)


def raise_counter(counter: Counter, schema_id: int) -> Counter:
    """Return the counter after an id was given: it only rises, and a reserved id does not raise it."""
    if schema_id <= counter.highest or any(low <= schema_id <= high for low, high in counter.reserved):
        return counter
    return replace(counter, highest=schema_id)


def refuse_far_id(view: View, context: str, schema_id: int) -> None:
    """Raise `TooLarge` for an id that an importer gives and that would use up too many below it."""
    if schema_id > limits.COUNTER:
        raise TooLarge.of("COUNTER", f"schema id {schema_id}", allowed=f"at most {limits.COUNTER}")
    counter = id_counter(view, context)
    highest = _find_highest(view, counter)
    if schema_id > highest + ID_GAP and not any(low <= schema_id <= high for low, high in counter.reserved):
        raise TooLarge.of(
            "ID_GAP",
            f"schema id {schema_id} lies more than {ID_GAP} above {highest}, the highest one of context {context}, and all "
            "between would be used up",
            path="/id",
            old=str(highest),
            new=str(schema_id),
            allowed=f"at most {highest + ID_GAP}; or raise highestId of the context first, with PUT /treaty/contexts/:{context}:",
        )


def next_number(view: View, subject: Subject) -> int:
    """Return the number that Confluent's rules give next: one more than the highest there is, deleted ones included."""
    return highest_number(view, subject) + 1


def new_version(
    view: View,
    command: Command[Register],
    new: ParsedDraft,
    *,
    home: SubjectValue | SubjectCreation,
    imported: bool,
    policy: PolicyValue,
    names: NewNames,
    config: ConfigValue | None = None,
) -> Decision[RegisteredVersion]:
    """Return the commit that makes a schema a version of its subject, and the answer.

    `home` is the row of the subject, or what it is created with. `config` is the config row that the subject is made with; it has then no row of its own yet, or one that this
    completes.
    """
    request = command.request
    number = _number(view, request, imported=imported)
    schema_id, schema_rows = schema_of(view, command, new)
    home_rows, generation = make_home(view, request.subject, request.create_with, names.packages)
    ordinals = ordinals_key(request.subject, generation)
    types = types_key(request.subject, generation, new.draft.format, new.type_name)
    ordinal, type_version = next_count(view, ordinals), next_count(view, types)
    removed = _find_replaced(view, request.subject, number, new) if imported else []
    vanishing = (
        [] if schema_rows else _hide_deleted(view, request.subject, schema_id, new, removed)
    )  # a new one has no version
    removed += make_room(view, request.subject, removed, ordinal)
    sent = new.sent
    version = Version(
        number=number,
        schema_id=schema_id,
        format=new.draft.format,
        type_name=new.type_name,
        type_version=type_version,
        content=new.content,
        forced=ForcedRegistration(request.force.who, request.force.why) if request.force else None,
        imported=imported,
        policy=policy,
        properties=request.properties,
        time=command.time if request.time < 0 else request.time,
        identity=new.identity,
    )
    key = VersionKey(*request.subject, generation, ordinal)
    going = {stored[0] for stored in removed} | {row.key for row in vanishing}
    named = name_rows(view, key, version, names, going)
    rows = (
        *home_rows,
        *own_config_rows(view, request.subject, config),
        *schema_rows,
        *vanishing,
        *(other_rows(remove_versions(view, removed, spare_schema=schema_id), named) if removed else ()),
        *((make_row(CONTENT, ContentKey(version.content), Content(sent)),) if sent is not None else ()),
        make_row(VERSION, key, version),
        make_row(COUNTER, ordinals, Counter(ordinal)),
        make_row(COUNTER, types, Counter(type_version)),
        *named,
    )
    all_given = all_names(home, names, ordinal)
    return Decision(rows, RegisteredVersion(describe_new(request, new, version, ordinal, all_given), created=True))


def other_rows(rows: list[Row], named: tuple[Row, ...]) -> list[Row]:
    """Return rows of versions that go, without those of names that the new version has too."""
    renamed = {row.key for row in named}
    return [row for row in rows if row.table != NAME.name or row.key not in renamed]


def all_names(home: SubjectValue | SubjectCreation, names: NewNames, ordinal: int) -> Pairs:
    """Return all names that a new version gets, sorted; `home` is the row of its subject, or what it is created with."""
    counted = ((SEQUENCE, str(ordinal + 1)),) if SEQUENCE in home.schemes else ()
    return tuple(sorted((*names.computed, *names.given, *counted)))


def describe_new(request: Register, new: ParsedDraft, version: Version, ordinal: int, names: Pairs) -> VersionFound:
    """Return the answer about a new version."""
    return VersionFound(
        subject=str(request.subject),
        number=version.number,
        ordinal=ordinal,
        schema_id=version.schema_id,
        guid=new.guid,
        format=version.format,
        text=new.parsed.canonical,
        references=as_sent(new.used),
        metadata=new.draft.metadata,
        rules=new.draft.rules,
        time=version.time,
        properties=version.properties,
        forced=version.forced,
        imported=version.imported,
        type_name=version.type_name,
        type_version=version.type_version,
        imports=new.draft.imports,
        names=names,
    )


def _number(view: View, request: Register, *, imported: bool) -> int:
    number = next_number(view, request.subject)
    if imported and request.number > 0:
        number = request.number
    elif request.number > 0 and request.number != number:
        raise InvalidSchema.of(
            "VERSION_NUMBER",
            "Version is not one more than previous version",
            path="/version",
            new=str(request.number),
            allowed=str(number),
        )
    if number > limits.COUNTER:
        raise TooLarge.of("COUNTER", f"version number {number}", allowed=f"at most {limits.COUNTER}")
    return number


def next_count(view: View, key: CounterKey) -> int:
    """Return the number after the highest that a counter ever gave; the first one is 0."""
    value = view.get(COUNTER, key)
    number = value.highest + 1 if value else 0
    if number > limits.COUNTER:
        raise TooLarge.of("COUNTER", f"counter {key.kind} is used up", allowed=f"at most {limits.COUNTER}")
    return number


def schema_of(view: View, command: Command[Register], new: ParsedDraft) -> tuple[int, tuple[Row, ...]]:
    """Return the schema id, and the rows that make it where it is new in this context."""
    request = command.request
    context = request.subject.context
    value = Schema(
        guid=new.guid,
        format=new.draft.format,
        text=new.parsed.canonical,
        lookup_digest=new.lookup_digest,
        references=new.used,
        metadata=new.draft.metadata,
        rules=new.draft.rules,
        type_name=new.parsed.type_name,
        imports=new.draft.imports,
    )
    key = ids_key(context)
    counter = view.get(COUNTER, key) or Counter(0)
    if request.schema_id < 0:
        for same in view.find(SCHEMA_BY_GUID, (context, new.guid)):
            if _is_same_schema(view, same, value):
                return same.id, ()
        refuse_new_schema(view, request.subject)
        schema_id = next_id(view, context, counter)
        raised = replace(counter, highest=schema_id)
        return schema_id, (make_row(SCHEMA, SchemaKey(context, schema_id), value), make_row(COUNTER, key, raised))
    chosen = SchemaKey(context, request.schema_id)
    stored = view.get(SCHEMA, chosen)
    if stored is not None:
        if stored.guid != new.guid:
            raise NotPermitted.of(
                "ID_TAKEN",
                f"Overwrite new schema with id {request.schema_id} in context {context} is not permitted.",
                subject=str(request.subject),
                old=stored.guid if _may_be_read(view, command, chosen) else "",
                new=new.guid,
                allowed="another id, or the schema that has this one",
            )
        return request.schema_id, ()
    refuse_far_id(view, context, request.schema_id)
    refuse_new_schema(view, request.subject)
    return request.schema_id, (
        make_row(SCHEMA, chosen, value),
        make_row(COUNTER, key, raise_counter(counter, request.schema_id)),
    )


def _may_be_read(view: View, command: Command[Register], schema: SchemaKey) -> bool:
    """Whether who asks may read some version of a schema; that its id is used is shown in any case. A hidden subject has no row."""
    access = command.access
    keys = (key for state in USED_STATES for key in view.find(VERSION_BY_SCHEMA, (state, *schema)))
    subjects = (Subject(key.context, key.subject) for key in keys)
    return access is None or any(
        access.may("read", subject) and view.get(SUBJECT, subject) is not None for subject in subjects
    )


def _is_same_schema(view: View, key: SchemaKey, value: Schema) -> bool:
    """A guid covers neither the format nor what stands at a reference, which may be another schema after a purge."""
    stored = view.get(SCHEMA, key)
    if stored is None or stored.imports != value.imports:
        return False
    return (stored.format, stored.references) == (value.format, value.references)


def _find_replaced(view: View, subject: Subject, number: int, new: ParsedDraft) -> list[StoredVersion]:
    """The version whose place an imported one takes, because it has its number, and those that go with it."""
    stored = version_with_number(view, subject, number, "all")
    if stored is None:
        return []
    for used in new.used:
        if (subject.sibling(used.subject), used.version) == (subject, number):
            raise Referenced.of(
                "REFERENCED",
                f"Version {number} of subject {subject} cannot be replaced by a schema that refers to it",
                subject=str(subject),
                version=str(number),
                path="/references",
                old=f"schema id {used.schema_id}",
                new=f"a reference {used.name!r} to version {number} of {subject}",
                allowed="another version number, or a reference to another version",
            )
    going = with_hidden(view, stored)
    for key, _ in going:
        refuse_if_used(view, VERSION, key, GoingRows())
    refuse_if_pinned(view, going)
    refuse_if_encoded(view, going)
    return going


def _hide_deleted(
    view: View, subject: Subject, schema_id: int, new: ParsedDraft, removed: list[StoredVersion]
) -> list[Row]:
    """Softly deleted versions of the same schema, type and (where identity is exact) bytes become hidden, unless
    something still refers to them. A draft without a type has that of its subject here.
    """
    return [
        make_row(VERSION, stored[0], replace(stored[1], state="hidden"))
        for stored in with_schema(view, subject, schema_id, ("soft",))
        if stored not in removed
        and (stored[1].format, stored[1].type_name) == (new.draft.format, new.type_name)
        and (new.rules.identity != EXACT or stored[1].content == new.content)
        and not any(referrers(view, stored[0], "all"))
    ]


def make_home(
    view: View, subject: Subject, creation: SubjectCreation, packages: Pairs = (), label_policy: str = "warn"
) -> tuple[tuple[Row, ...], int]:
    """Return the rows for a context and a subject that are not there yet, and the generation of the subject.

    `packages` are those of its id schemes.
    """
    rows: list[Row] = []
    if view.get(CONTEXT, ContextKey(subject.context)) is None:
        refuse_new_context(view)
        rows.append(make_row(CONTEXT, ContextKey(subject.context), Context()))
    row = view.get(SUBJECT, subject)
    if row is not None:
        return tuple(rows), row.generation
    refuse_new_subject(view, subject)
    value = SubjectValue(
        generation=view.sequence + 1,
        origin=creation.origin,
        types=creation.types,
        order=creation.order,
        identity=creation.identity,
        properties=creation.properties,
        private=creation.private,
        schemes=creation.schemes,
        packages=packages,
        label_policy=label_policy,
    )
    return (*rows, make_row(SUBJECT, subject, value)), value.generation


def own_config_rows(view: View, subject: Subject, config: ConfigValue | None) -> tuple[Row, ...]:
    """Return the row of the config that a subject is made with, unless it stands there already."""
    scope = Scope(*subject)
    return () if config is None or own_value(view, scope) == config else (config_row(scope, config),)

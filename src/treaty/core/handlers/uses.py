"""Uses: which rows need which others, what becomes of them when those go, and the rows that go.

A table declares its uses in `USES`, a line each. Who takes rows away says what goes together, and asks `users_of`.
Counters of ids and of encodings never go. Those of a subject's ordinals and types go with its row, because another
subject of the same name is another generation, which has counters of its own.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from heapq import merge
from itertools import chain
from typing import Any, Literal

from treaty.core.access.private_subjects import is_private
from treaty.core.handlers.versions import STATES, StoredVersion, rows_of, schema_row, subject_of_key, with_schema
from treaty.core.messages.request import Visible
from treaty.core.names import Subject
from treaty.core.refusals import Encoded, NotPermitted, Reason, Referenced, Refusal, SchemaPinned, SubjectAssociated
from treaty.core.sources import SchemaPin
from treaty.core.state import association_table, policy_table, schemaver_tables
from treaty.core.state import state_tables as t
from treaty.core.state.metastore import indexes as mi
from treaty.core.state.metastore import keys as mk
from treaty.core.state.metastore import tables as mt
from treaty.core.state.rows import Row, make_row, make_tombstone
from treaty.core.state.table import Key
from treaty.core.state.values import Version
from treaty.core.state.view import View, subject_span
from treaty.light_dataclass import dataclass

Effect = Literal["refuses", "goes along", "keeps alive", "needs force", "warns"]
"""What a user does to what it needs: it refuses that it goes, goes along, keeps it alive, lets it go by force alone, or
warns when it is deleted softly and refuses that it goes for good.
"""
CONFLUENT = "confluent"
"""The origin of subjects that were made by Confluent's API."""
TAKEN: tuple[Effect, ...] = ("goes along", "needs force")
"""Effects of users that are removed together with what they need; who removes it has asked for force before."""


@dataclass(frozen=True, slots=True)
class GoingRows:
    """What goes together, and which users count."""

    versions: frozenset[t.VersionKey] = frozenset()
    subjects: frozenset[Subject] = frozenset()
    """Subjects that go with all that is theirs."""
    visible: Visible = "all"
    """Versions through which a schema is a user: the live ones, or softly deleted ones too."""


@dataclass(frozen=True, slots=True)
class Use:
    """That rows of one table need rows of another one."""

    user: t.AnyTable
    of: t.AnyTable
    effect: Effect
    users: Callable[[View, Any, GoingRows], Iterator[Any]]
    """Keys of the rows that need the row with a key, and do not go with it, one by one."""
    refusal: Callable[[View, Any, Any, GoingRows], Refusal] | None = None
    """What a user that refuses says, from the key that it needs and its own; None where one refusal names all users, as
    those of sources, types and topics do.
    """
    rest: Callable[[View, Any, GoingRows], Row | None] = lambda _view, _user, _going: None
    """What is left of a user that goes along, because others need it too."""


def users_of(view: View, table: t.AnyTable, key: Key, effect: Effect, going: GoingRows) -> Iterator[tuple[Use, Any]]:
    """Return who needs a row and has this effect, one by one, in the order in which uses are declared."""
    declared = (use for use in USES if use.of is table and use.effect == effect)
    return ((use, user) for use in declared for user in use.users(view, key, going))


def refuse_if_used(view: View, table: t.AnyTable, key: Key, going: GoingRows) -> None:
    """Raise the refusal of the first user who refuses that a row goes."""
    for use, user in users_of(view, table, key, "refuses", going):
        assert use.refusal is not None, "who refuses says why"
        raise use.refusal(view, key, user, going)


def refuse_if_encoded(view: View, versions: Iterable[StoredVersion]) -> None:
    """Raise the refusal of the first user whose version goes by force alone."""
    for key, _ in versions:
        for use, user in users_of(view, t.VERSION, key, "needs force", GoingRows()):
            assert use.refusal is not None, "who needs force says why"
            raise use.refusal(view, key, user, GoingRows())


def refuse_if_pinned(view: View, versions: Iterable[StoredVersion]) -> None:
    """Raise the refusal of the sources that pin the first pinned one of versions that go for good."""
    for key, _ in versions:
        for use, user in users_of(view, t.VERSION, key, "warns", GoingRows()):
            assert use.refusal is not None, "who warns refuses too"
            raise use.refusal(view, key, user, GoingRows())


def pinning_sources(view: View, key: t.VersionKey) -> list[str]:
    """Return the names of the sources that pin a version, sorted."""
    users = (view.get(mt.SOURCE, user) for _, user in users_of(view, t.VERSION, key, "warns", GoingRows()))
    return sorted(source.name for source in users if source is not None)


def is_needed(view: View, key: t.VersionKey) -> bool:
    """Return whether somebody refers to a version, or its going needs force."""
    everything = GoingRows()
    return any(
        any(users_of(view, t.VERSION, key, effect, everything)) for effect in ("needs force", "refuses", "warns")
    )


# ------------------------------------------------------------------------------------------------------- references


def referrers(view: View, key: t.VersionKey, visible: Visible) -> Iterator[t.SchemaKey]:
    """Return the schemas that refer to a version and are in use by versions that count, one by one."""
    version = _version(view, key)
    return (
        user
        for user in view.find(t.SCHEMA_BY_TARGET, (str(subject_of_key(key)), version.number))
        if _refers_to(view, user, key, version) and is_used(view, user, STATES[visible])
    )


def _version(view: View, key: t.VersionKey) -> Version:
    value = view.get(t.VERSION, key)
    assert value is not None, f"version {[*key]} is missing"
    return value


def _refers_to(view: View, user: t.SchemaKey, key: t.VersionKey, version: Version) -> bool:
    target = str(subject_of_key(key))
    return any(
        used.schema_id == version.schema_id and str(Subject(user.context, "").sibling(used.subject)) == target
        for used in schema_row(view, *user).references
        if used.version == version.number
    )


def _referring_versions(view: View, key: t.VersionKey, going: GoingRows) -> Iterator[t.VersionKey]:
    """The first version of each schema that refers to a version, unless all of them are in subjects that go."""
    for schema in referrers(view, key, going.visible):
        users = version_keys_of(view, schema, STATES[going.visible])
        outside = next((user for user in users if subject_of_key(user) not in going.subjects), None)
        if outside is not None:
            yield outside


def _referenced_error(view: View, key: t.VersionKey, user: t.VersionKey, _going: GoingRows) -> Referenced:
    subject, number, by = subject_of_key(key), _version(view, key).number, view.get(t.VERSION, user)
    return Referenced.of(
        "REFERENCED",
        f"One or more references exist to the schema {{magic=1,keytype=SCHEMA,subject={subject},version={number}}}.",
        subject=str(subject),
        version=str(number),
        # a version of a private subject is missing from the view of who may not read it
        old="" if by is None else f"{subject_of_key(user)} version {by.number} (schema id {by.schema_id})",
        allowed="delete what refers to it first",
    )


def _encoded_error(view: View, key: t.VersionKey, user: t.EncodingKey, _going: GoingRows) -> Encoded:
    subject, number = subject_of_key(key), _version(view, key).number
    return Encoded.of(
        "VERSION_ENCODED",
        f"Subject '{subject}' Version {number} has encodings, and payloads that carry their ids could not be read without it",
        subject=str(subject),
        version=str(number),
        old=f"encoding {user.encoding}",
        allowed="a soft delete, which keeps its payloads readable; or force=true, which removes its encodings too",
    )


# --------------------------------------------------------------------------------------------- versions of a schema


def versions_of(
    view: View, schema: t.SchemaKey, states: tuple[str, ...] = t.USED_STATES, head: Key = ()
) -> Iterator[StoredVersion]:
    """Return the versions in one of these states that have a schema, by key, one by one; with `head` those alone whose
    key begins with it.
    """
    rows = ((key, view.get(t.VERSION, key)) for key in version_keys_of(view, schema, states, head))
    return ((key, value) for key, value in rows if value is not None)


def version_keys_of(
    view: View, schema: t.SchemaKey, states: tuple[str, ...] = t.USED_STATES, head: Key = ()
) -> Iterator[t.VersionKey]:
    """Return the keys of these versions."""
    walks = [view.find(t.VERSION_BY_SCHEMA, (state, *schema), head) for state in states]
    return walks[0] if len(walks) == 1 else merge(*walks)


def is_used(view: View, schema: t.SchemaKey, states: tuple[str, ...] = t.USED_STATES) -> bool:
    """Return whether a version in one of these states has a schema."""
    return any(any(view.find(t.VERSION_BY_SCHEMA, (state, *schema))) for state in states)


def _drop_going(keys: Iterator[t.VersionKey], going: GoingRows) -> Iterator[t.VersionKey]:
    return (key for key in keys if key not in going.versions)


# ----------------------------------------------------------------------------------------------------- associations


def subject_associated(subject: Subject) -> SubjectAssociated:
    """Return the refusal of a change that an association of the subject prevents."""
    return SubjectAssociated.of(
        "SUBJECT_ASSOCIATED",
        f"An association already exists for subject '{subject}'",
        subject=str(subject),
        allowed="delete the association first",
    )


def _policy_used(view: View, policy: policy_table.PolicyKey, user: t.ScopeKey) -> NotPermitted:
    where = {"subject": f"subject {Subject(user.context, user.subject)}", "context": f"context {user.context}"}
    # the config of a private subject is missing from the view of who may not read it
    scope = "a subject" if view.get(t.CONFIG, user) is None else where.get(user.scope, "everything")
    return NotPermitted.of(
        "POLICY_USED",
        f"The policy {policy.name} is used by the config of {scope}",
        path="/name",
        old=scope,
        new=policy.name,
        allowed="give what follows it another policy first, and take it from the validators",
    )


def _counters_of(view: View, subject: Subject, _going: GoingRows) -> Iterator[t.CounterKey]:
    walks = (view.walk(t.COUNTER_OF_SUBJECT, *subject_span(kind, *subject)) for kind in t.KINDS_OF_SUBJECT)
    return chain.from_iterable(walks)


def _superseding(view: View, key: t.VersionKey) -> Iterator[schemaver_tables.SupersededKey]:
    """The rows that say that a version supersedes others, or is superseded."""
    yield from view.find(schemaver_tables.SUPERSEDED_BY, key)
    own = schemaver_tables.SupersededKey(*key)
    if view.get(schemaver_tables.SUPERSEDED, own) is not None:
        yield own


def _name_of_others(view: View, key: t.NameKey, going: GoingRows) -> Row | None:
    """The row of a name that versions share, without those that go."""
    value = view.get(t.NAME, key)
    assert value is not None, f"name {[*key]} is missing"
    left = [
        ordinal for ordinal in (value.ordinal, *value.others) if t.VersionKey(*key[:3], ordinal) not in going.versions
    ]
    return make_row(t.NAME, key, replace(value, ordinal=left[0], others=tuple(left[1:]))) if left else None


# -------------------------------------------------------------------------------------------------------- metastore


def _find_pinning(view: View, key: t.VersionKey, _going: GoingRows) -> Iterator[mk.SourceKey]:
    """The sources that pin a version: by its ordinal, or by that of the version whose former text it is."""
    version = _version(view, key)
    yield from view.find(mi.SOURCE_BY_PIN, key)
    if version.revision_of >= 0:
        for source in view.find(mi.SOURCE_BY_PIN, (*key[:3], version.revision_of)):
            value = view.get(mt.SOURCE, source)
            if value is not None and any(_is_former(pin, key, version) for pin in mi.pins_of(value)):
                yield source


def _is_former(pin: SchemaPin, key: t.VersionKey, version: Version) -> bool:
    place = (pin.context, pin.subject, pin.generation, pin.ordinal, pin.schema_id)
    return place == (*key[:3], version.revision_of, version.schema_id)


def _refusal_of_pin(view: View, key: t.VersionKey, _user: mk.SourceKey, _going: GoingRows) -> Refusal:
    return schema_pinned(subject_of_key(key), _version(view, key).number, pinning_sources(view, key), 0)


def _sources_over(view: View, topic: mk.TopicKey) -> Iterator[mk.SourceKey]:
    row = view.get(mt.TOPIC, topic)
    return (mk.SourceKey(name) for name in (row.sources if row is not None else ()))


def _assignments_of(view: View, key: mk.SourceKey) -> Iterator[mk.AssignmentKey]:
    source = view.get(mt.SOURCE, key)
    keys = () if source is None else [mk.AssignmentKey(part, source.generation) for part in mi.parts_of(source)]
    return (assignment for assignment in keys if view.get(mt.ASSIGNMENT, assignment) is not None)


def schema_pinned(subject: Subject, number: int, names: list[str], hidden: int) -> SchemaPinned:
    """Return the refusal of a permanent deletion of a version that sources pin; `hidden` counts those without a name."""
    more = [f"{hidden} that you may not see"] if hidden else []
    sentence = (
        f"Subject '{subject}' Version {number} is pinned by {' and '.join(filter(None, (', '.join(names), *more)))}"
    )
    allowed = "drop or refresh these sources first; a soft delete, which they can read after"
    return SchemaPinned(
        Reason(
            "SOURCE_PINNED", sentence, allowed=allowed, subject=str(subject), version=str(number), details=tuple(names)
        )
    )


USES: tuple[Use, ...] = (
    Use(t.NAME, t.VERSION, "goes along", lambda view, key, _: view.find(t.NAME_BY_VERSION, key), rest=_name_of_others),
    Use(
        t.ENCODING, t.VERSION, "needs force", lambda view, key, _: view.find(t.ENCODING_BY_VERSION, key), _encoded_error,
    ),
    Use(
        schemaver_tables.SUPERSEDED, t.VERSION, "goes along", lambda view, key, _: _superseding(view, key),
    ),
    Use(t.VERSION, t.VERSION, "refuses", _referring_versions, _referenced_error),
    Use(t.VERSION, t.CONTENT, "keeps alive", lambda view, key, going: _drop_going(view.find(t.VERSION_BY_CONTENT, key), going)),
    Use(t.VERSION, t.SCHEMA, "keeps alive", lambda view, key, going: _drop_going(version_keys_of(view, key), going)),
    Use(t.COUNTER, t.SUBJECT, "goes along", _counters_of),
    Use(t.CODEC, t.SUBJECT, "goes along", lambda view, key, _: view.walk(t.CODEC, *subject_span(*key))),
    Use(
        t.CONFIG, policy_table.POLICY, "refuses", lambda view, key, _: view.find(t.CONFIG_BY_POLICY, key),
        lambda view, key, user, _going: _policy_used(view, key, user),
    ),
    Use(
        association_table.ASSOCIATION, t.SUBJECT, "refuses", lambda view, key, _: view.find(association_table.ASSOCIATION_BY_SUBJECT, key),
        lambda _view, subject, _user, _going: subject_associated(subject),
    ),
    Use(mt.SOURCE, mt.SOURCE, "refuses", lambda view, key, _: view.find(mi.SOURCE_BY_READ, key)),
    Use(mt.SOURCE, mt.SOURCE, "goes along", lambda view, key, _: view.find(mi.SOURCE_BY_ORIGIN, key)),
    Use(mt.SOURCE, mt.TYPE, "refuses", lambda view, key, _: view.find(mi.SOURCE_BY_TYPE, key)),
    Use(mt.TYPE, mt.TYPE, "refuses", lambda view, key, _: view.find(mi.TYPE_BY_TYPE, key)),
    Use(mt.SOURCE, t.VERSION, "warns", _find_pinning, _refusal_of_pin),
    Use(mt.SOURCE, mt.TOPIC, "refuses", lambda view, key, _: _sources_over(view, key)),
    Use(mt.ASSIGNMENT, mt.SOURCE, "goes along", lambda view, key, _: _assignments_of(view, key)),
)  # fmt: skip
"""Every use. A later kind of user declares its own here, and is asked wherever a row goes."""


# ------------------------------------------------------------------------------------------------------- rows that go


def with_hidden(view: View, stored: StoredVersion) -> list[StoredVersion]:
    """Return a version, and what goes with it: the hidden versions of the same schema in its subject, and its former
    texts.
    """
    key, version = stored
    subject = subject_of_key(key)
    same = with_schema(view, subject, version.schema_id, ("hidden",))
    numbered = view.walk(
        t.VERSION_BY_NUMBER, ("hidden", *subject, version.number), ("hidden", *subject, version.number + 1)
    )
    former = [version for version in rows_of(view, numbered) if version[1].revision_of == key.ordinal]
    return [stored, *(version for version in same if version[1].revision_of < 0), *former]


def goes_with_versions(view: View, subject: Subject) -> bool:
    """Return whether a subject goes with its last version, as those made by Confluent's API do; others stay without
    versions until they are removed.
    """
    row = view.get(t.SUBJECT, subject)
    return row is not None and row.origin == CONFLUENT


def remove_subject(view: View, subject: Subject) -> list[Row]:
    """Return the rows that remove a subject whose versions are all removed: its row, and what goes along with it. The
    counter of encoding ids stays, and says whether the subject was private.
    """
    along = users_of(view, t.SUBJECT, subject, "goes along", GoingRows(subjects=frozenset((subject,))))
    counter_key, counter = t.encodings_key(subject), view.get(t.COUNTER, t.encodings_key(subject))
    private = counter is not None and is_private(view, subject)
    return [
        make_tombstone(t.SUBJECT, subject),
        *(make_tombstone(use.user, key) for use, key in along),
        *(
            [make_row(t.COUNTER, counter_key, replace(counter, private=True))]
            if counter is not None and private
            else []
        ),
    ]


def remove_versions(view: View, versions: list[StoredVersion], *, spare_schema: int = 0) -> list[Row]:
    """Return the tombstones for versions, for what goes along with them, and for rows without further users.

    A schema goes with its last use, unless it is `spare_schema`; its id stays used up by its counter.
    """
    going = GoingRows(frozenset(key for key, _ in versions))
    rows = [make_tombstone(t.VERSION, key) for key, _ in versions]
    along: dict[tuple[str, Key], Row] = {}  # a row that several need is told once
    for gone in sorted(going.versions):
        for effect in TAKEN:
            for use, key in users_of(view, t.VERSION, gone, effect, going):
                along[use.user.name, key] = use.rest(view, key, going) or make_tombstone(use.user, key)
    rows.extend(along.values())
    contents = {t.ContentKey(version.content) for _, version in versions if version.content}
    schemas = {
        t.SchemaKey(key.context, version.schema_id) for key, version in versions if version.schema_id != spare_schema
    }
    return [*rows, *_delete_unused(view, t.CONTENT, contents, going), *_delete_unused(view, t.SCHEMA, schemas, going)]


def _delete_unused(view: View, table: t.AnyTable, keys: set[Any], going: GoingRows) -> list[Row]:
    return [
        make_tombstone(table, key) for key in sorted(keys) if not any(users_of(view, table, key, "keeps alive", going))
    ]

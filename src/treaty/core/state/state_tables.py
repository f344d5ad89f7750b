"""Every state table: its keys, values, indexes, order and counts. All else that depends on a table follows from this."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.policy import named_policies
from treaty.core.state import values
from treaty.core.state.association_table import ASSOCIATION
from treaty.core.state.metastore.tables import ASSIGNMENT, DROPPED, PLANNING, RUNNER, SOURCE, TOPIC, TOPIC_LEASE, TYPE
from treaty.core.state.policy_table import POLICY
from treaty.core.state.schemaver_tables import DRAFT, SUPERSEDED
from treaty.core.state.table import Index, Table


class ApiKeyDigest(NamedTuple):
    """Key of an API key: the SHA-256 of its text, in hex. The text itself is stored nowhere."""

    sha256: str


def _subject_private(key: Subject, value: values.SubjectValue) -> tuple[Subject, ...]:
    return (key,) if value.private else ()


SUBJECT_PRIVATE = Index("subject.private", Subject, _subject_private, (0, 1), ordered=True, by_value=True)
"""The private subjects, in order."""
API_KEY = Table("api_key", ApiKeyDigest, values.ApiKey, ordered=True)


class ContentKey(NamedTuple):
    """Key of a content: its digest."""

    sha256: str


class SchemaKey(NamedTuple):
    """Key of a schema."""

    context: str
    id: int


def _schema_by_guid(key: SchemaKey, value: values.Schema) -> tuple[tuple[str, str], ...]:
    return ((key.context, value.guid),)


def _schema_everywhere(_key: SchemaKey, value: values.Schema) -> tuple[tuple[str], ...]:
    return ((value.guid,),)


def _schema_by_lookup_digest(key: SchemaKey, value: values.Schema) -> tuple[tuple[str, str], ...]:
    return ((key.context, value.lookup_digest),)


def _schema_by_target(key: SchemaKey, value: values.Schema) -> tuple[tuple[str, int], ...]:
    if not value.references:
        return ()
    home = Subject(key.context, "")
    return tuple(dict.fromkeys((str(home.sibling(used.subject)), used.version) for used in value.references))


SCHEMA_BY_GUID = Index("schema.guid", SchemaKey, _schema_by_guid, (0, None))
"""By (context, guid)."""
SCHEMA_EVERYWHERE = Index("schema.everywhere", SchemaKey, _schema_everywhere, (None,))
"""By (guid)."""
SCHEMA_BY_LOOKUP_DIGEST = Index("schema.lookup_digest", SchemaKey, _schema_by_lookup_digest, (0, None))
"""By (context, lookup digest)."""
SCHEMA_BY_TARGET = Index("schema.referrers", SchemaKey, _schema_by_target, (None, None))
"""By (qualified subject, number) of what it refers to."""
CONTENT = Table("content", ContentKey, values.Content)
SCHEMA = Table(
    "schema", SchemaKey, values.Schema, counted=lambda key, _: key[:1],
    indexes=(SCHEMA_BY_GUID, SCHEMA_EVERYWHERE, SCHEMA_BY_LOOKUP_DIGEST, SCHEMA_BY_TARGET),
)  # fmt: skip
"""Counted by (context)."""


class VersionKey(NamedTuple):
    """Key of a version."""

    context: str
    subject: str
    generation: int
    ordinal: int


class NameKey(NamedTuple):
    """Key of a further name of a version."""

    context: str
    subject: str
    generation: int
    scheme: str
    name: str


class EncodingKey(NamedTuple):
    """Key of an encoding."""

    context: str
    subject: str
    encoding: int


class CodecKey(NamedTuple):
    """Key of a codec."""

    context: str
    subject: str
    name: str


VERSION_STATES = ("live", "soft", "hidden", "purged")
"""States of a version, by which indexes distinguish versions."""
USED_STATES = VERSION_STATES[:3]
"""States of versions that keep their schema in use."""
NumberEntry = tuple[str, str, str, int, int, int]
"""State, context, subject, number, generation, ordinal."""
ListedEntry = tuple[str, str, str]
"""State, context, subject."""


def _subject_elsewhere(key: Subject, _value: values.SubjectValue) -> tuple[tuple[str], ...]:
    """An unqualified name is looked for in the default context first; the others are found by this."""
    return () if key.context == DEFAULT_CONTEXT else ((key.name,),)


def _version_by_subject(key: VersionKey, _value: values.Version) -> tuple[tuple[str, str], ...]:
    return (key[:2],)


def _version_by_number(key: VersionKey, value: values.Version) -> tuple[NumberEntry, ...]:
    return ((_listed_state(value), key.context, key.subject, value.number, key.generation, key.ordinal),)


def _version_listed(key: VersionKey, value: values.Version) -> tuple[ListedEntry, ...]:
    return ((_listed_state(value), key.context, key.subject),)


def _listed_state(value: values.Version) -> str:
    """A state that this version of Treaty does not know counts as purged: it is not visible."""
    return value.state if value.state in VERSION_STATES else "purged"


def _version_by_schema(key: VersionKey, value: values.Version) -> tuple[tuple[str, str, int], ...]:
    """A state that this version of Treaty does not know keeps its schema in use, as a hidden version does."""
    if value.state == "purged":
        return ()
    return ((value.state if value.state in VERSION_STATES else "hidden", key.context, value.schema_id),)


def _version_by_content(_key: VersionKey, value: values.Version) -> tuple[tuple[str], ...]:
    return ((value.content,),) if value.content else ()


def _version_by_identity(key: VersionKey, value: values.Version) -> tuple[tuple[str, str], ...]:
    return ((key.context, value.identity),) if value.identity else ()


def _name_by_version(key: NameKey, value: values.Name) -> tuple[tuple[str, str, int, int], ...]:
    return tuple((*key[:3], ordinal) for ordinal in (value.ordinal, *value.others))


def _encoding_by_version(key: EncodingKey, value: values.Encoding) -> tuple[tuple[str, str, int, int], ...]:
    return ((key.context, key.subject, value.generation, value.ordinal),)


SUBJECT_ELSEWHERE = Index("subject.elsewhere", Subject, _subject_elsewhere, (1,))
"""By (name), subjects of other contexts than the default one."""
VERSION_BY_SUBJECT = Index("version.subject", VersionKey, _version_by_subject, (0, 1))
"""By (context, subject)."""
VERSION_BY_NUMBER = Index("version.number", VersionKey, _version_by_number, (None, 0, 1, None, 2, 3), ordered=True)
VERSION_LISTED = Index("version.listed", VersionKey, _version_listed, (None, 0, 1), ordered=True)
VERSION_BY_SCHEMA = Index("version.schema", VersionKey, _version_by_schema, (None, 0, None))
"""By (state, context, schema id)."""
VERSION_BY_CONTENT = Index("version.content", VersionKey, _version_by_content, (None,))
"""By (SHA-256)."""
VERSION_BY_IDENTITY = Index("version.identity", VersionKey, _version_by_identity, (0, None))
"""By (context, digest of the normal form), versions of subjects with the identity normalised."""
NAME_BY_VERSION = Index("name.version", NameKey, _name_by_version, (0, 1, 2, None))
"""By (context, subject, generation, ordinal)."""
ENCODING_BY_VERSION = Index("encoding.version", EncodingKey, _encoding_by_version, (0, 1, None, None))
"""By (context, subject, generation, ordinal)."""
SUBJECT = Table(
    "subject", Subject, values.SubjectValue, (SUBJECT_ELSEWHERE, SUBJECT_PRIVATE), ordered=True, counted=lambda key, _: key[:1],
    parts=(("context", str), ("subject", str)),
)  # fmt: skip
"""Counted by (context)."""
VERSION = Table(
    "version", VersionKey, values.Version, counted=lambda key, value: (_listed_state(value), key.context, key.subject),
    indexes=(VERSION_BY_SUBJECT, VERSION_BY_NUMBER, VERSION_LISTED, VERSION_BY_SCHEMA, VERSION_BY_CONTENT, VERSION_BY_IDENTITY),
)  # fmt: skip
"""Counted by (state, context, subject)."""
NAME = Table("name", NameKey, values.Name, (NAME_BY_VERSION,))
ENCODING = Table("encoding", EncodingKey, values.Encoding, (ENCODING_BY_VERSION,))
CODEC = Table("codec", CodecKey, values.Codec, ordered=True)

IDS, ENCODINGS, ORDINALS, TYPES = "ids", "encodings", "ordinals", "types"
KINDS_OF_SUBJECT = (ORDINALS, TYPES)
"""Counters of one generation of a subject: they go when it is removed for good."""
KINDS_FOR_EVER = (IDS, ENCODINGS)
"""Counters that never go, so that an id in an old payload never means something else."""


class CounterKey(NamedTuple):
    """Key of a counter. Parts that a kind does not need are empty, and the generation is 0."""

    kind: str
    context: str
    subject: str
    generation: int
    part: str


def ids_key(context: str) -> CounterKey:
    """Return the key of the counter of a context's schema ids."""
    return CounterKey(IDS, context, "", 0, "")


IDS_SPARED = ids_key("")
"""Key of the counter that a restore leaves: ids up to it are given in no context, known ones and new ones."""


def encodings_key(subject: Subject) -> CounterKey:
    """Return the key of the counter of a subject's encoding ids, which all its generations share."""
    return CounterKey(ENCODINGS, *subject, 0, "")


def ordinals_key(subject: Subject, generation: int) -> CounterKey:
    """Return the key of the counter of ordinals of one generation of a subject."""
    return CounterKey(ORDINALS, *subject, generation, "")


def types_key(subject: Subject, generation: int, format_: str, type_name: str) -> CounterKey:
    """Return the key of the counter of versions of one format and type, in one generation of a subject."""
    return CounterKey(TYPES, *subject, generation, f"{format_}:{type_name}")


def _counter_of_subject(key: CounterKey, _value: values.Counter) -> tuple[CounterKey, ...]:
    """Counters of a subject are found by its name, that of its encoding ids also when it is removed."""
    return () if key.kind == IDS else (key,)


COUNTER_OF_SUBJECT = Index("counter.subject", CounterKey, _counter_of_subject, (0, 1, 2, 3, 4), ordered=True)
COUNTER = Table("counter", CounterKey, values.Counter, (COUNTER_OF_SUBJECT,))


class ScopeKey(NamedTuple):
    """Key of a setting: scope is ``subject``, ``context`` or ``everywhere``."""

    scope: str
    context: str
    subject: str


class ContextKey(NamedTuple):
    """Key of a context."""

    context: str


class OutcomeKey(NamedTuple):
    """Key of an outcome: who sent the command, and its id."""

    principal: str
    command: str


def _config_by_alias(key: ScopeKey, value: values.ConfigValue) -> tuple[tuple[str, str], ...]:
    """The subject that another one stands for."""
    if not value.alias or key.scope != "subject":
        return ()
    context, subject = Subject(key.context, key.subject).sibling(value.alias)
    return ((context, subject),)


def _config_by_policy(_key: ScopeKey, value: values.ConfigValue) -> tuple[tuple[str], ...]:
    """A config uses the policy that it follows, and those by which its validators compare."""
    if value.follows is None and not value.validators:
        return ()
    followed = () if value.follows is None else (value.follows,)
    return tuple((name,) for name in dict.fromkeys((*followed, *named_policies(value.validators))))


def _outcome_by_sequence(key: OutcomeKey, value: values.Outcome) -> tuple[tuple[str, int, str, str], ...]:
    """An order's entries begin with a text, so that all of them have the same bounds."""
    return (("", value.sequence, key.principal, key.command),)


CONFIG_BY_ALIAS = Index("config.alias", ScopeKey, _config_by_alias, (None, None))
"""By (context, subject) that the alias leads to."""
CONFIG_BY_POLICY = Index("config.policy", ScopeKey, _config_by_policy, (None,))
"""By (name of a policy that the config uses)."""
OUTCOME_BY_SEQUENCE = Index("outcome.sequence", OutcomeKey, _outcome_by_sequence, (None, None, 0, 1), ordered=True)
"""Entries (an empty text, sequence, principal, command)."""
CONFIG = Table("config", ScopeKey, values.ConfigValue, (CONFIG_BY_ALIAS, CONFIG_BY_POLICY), ordered=True)
MODE = Table("mode", ScopeKey, values.Mode, ordered=True)
CONTEXT = Table("context", ContextKey, values.Context, counted=lambda _key, _: ())
"""Counted together."""
OUTCOME = Table("outcome", OutcomeKey, values.Outcome, (OUTCOME_BY_SEQUENCE,))


class EncryptionKeyName(NamedTuple):
    """Key of the use of an encryption key."""

    key: str


class LogOriginKey(NamedTuple):
    """Key of a place in another log: which part it has in this one's history."""

    role: str


class SnapshotKey(NamedTuple):
    """Key of a snapshot's row."""

    which: str


class QuarantineKey(NamedTuple):
    """Key of a row that was moved out of the way: where it was, as texts."""

    table: str
    key: str


ENCRYPTION_KEY = Table("encryption_key", EncryptionKeyName, values.EncryptionKeyUse)
LOG_ORIGIN = Table("log_origin", LogOriginKey, values.LogOrigin, rooted=False)
SNAPSHOT = Table("snapshot", SnapshotKey, values.SnapshotPointer, rooted=False)
QUARANTINE = Table("quarantine", QuarantineKey, values.QuarantinedRow)

AnyTable = Table[Any, Any]
AnyIndex = Index[Any, Any]
_ALL: tuple[AnyTable, ...] = (
    CONTENT, SCHEMA, SUBJECT, VERSION, NAME, SUPERSEDED, DRAFT, ENCODING, CODEC, COUNTER, CONFIG, MODE, ASSOCIATION, CONTEXT, OUTCOME,
    SOURCE, TYPE, DROPPED, TOPIC, TOPIC_LEASE, RUNNER, ASSIGNMENT, PLANNING, API_KEY, ENCRYPTION_KEY, LOG_ORIGIN, SNAPSHOT, QUARANTINE,
    POLICY,
)  # fmt: skip
TABLES: Mapping[str, AnyTable] = {table.name: table for table in _ALL}
"""Every state table by its name. Adding a member with a default to a value needs no new row format; changing a meaning
does.
"""
INDEXES: Mapping[str, AnyIndex] = {index.name: index for table in _ALL for index in table.indexes}
"""Every index by its name."""
ORDERS: Mapping[str, AnyTable | AnyIndex] = {
    **{name: table for name, table in TABLES.items() if table.ordered},
    **{name: index for name, index in INDEXES.items() if index.ordered},
}
"""All that can be walked: tables by their keys, indexes by their entries."""
UNROOTED = frozenset(table.name for table in _ALL if not table.rooted)
"""Names of the tables whose rows do not count in the state root."""

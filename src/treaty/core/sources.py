"""The values of rows of the metastore: sources, types, topics, runners, and what belongs to them (KLIP-18)."""

from treaty.core.schema import Pairs
from treaty.light_dataclass import dataclass

Extra = tuple[tuple[str, str], ...]
"""Members that this version of Treaty does not know: name and JSON text. They are kept."""
STREAM, TABLE_KIND = "STREAM", "TABLE"
KINDS = (STREAM, TABLE_KIND)
"""Kinds of sources, which share one namespace."""
RUNNING, PAUSED = "RUNNING", "PAUSED"
STATES = (RUNNING, PAUSED)
CHANGES = "changes"
"""The mode of a read that a query follows: its checkpoint has offsets of the source."""
"""Desired states of a query."""
QUERY, BAD = "query", "bad"
PARTS = (QUERY, BAD)
"""Parts of a source that run: its query, and what collects its bad rows."""


@dataclass(frozen=True, slots=True)
class SchemaPin:
    """The version of a subject that a source is bound to: its key, and the schema id that it meant."""

    context: str
    subject: str
    generation: int
    ordinal: int
    schema_id: int


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column: its type as SQL text, and where in a record it is (`role`: value, key or header)."""

    name: str
    type: str
    nullable: bool = True
    role: str = "value"
    header: str = ""
    """The record header of a column of headers; empty: all headers."""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class SourcePart:
    """How the key or the value of a record is encoded, and the schema that it is read and written with.

    `format`: AVRO, PROTOBUF, JSON, KAFKA (a primitive) or NONE. `framing` names where the schema id stands; `none`: bytes
    without a head, read by the pin. `full_name` is the type inside a schema of several.
    """

    format: str
    framing: str = "prefix"
    pin: SchemaPin | None = None
    full_name: str = ""


@dataclass(frozen=True, slots=True)
class SourceRead:
    """A source that a query reads: `spelling` is the name of the view in the body, `mode` is changes or table.

    `columns` are paths of the leaf columns that the body needs. `key` and `value` are the pins of the source then, and
    `revision` is its revision: a plan over another one is refused. `places` are those of its offsets in a checkpoint, from 0: a
    body that reads a source twice has two offsets of it. Without them the order of the reads is that of the offsets.
    """

    source: str
    generation: int
    spelling: str = ""
    mode: str = CHANGES
    columns: tuple[str, ...] = ()
    key: SchemaPin | None = None
    value: SchemaPin | None = None
    revision: int = 1
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StateFingerprint:
    """What state a query keeps: digests of its canonical plan up to the topmost stateful operator, and of its stores.

    Both are empty for a query without state.
    """

    plan: str = ""
    stores: str = ""


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """The body of a query with everything that gives it its meaning."""

    body: str
    reads: tuple[SourceRead, ...] = ()
    output_mode: str = "append"
    key: tuple[str, ...] = ()
    fingerprint: StateFingerprint = StateFingerprint()
    settings: Pairs = ()
    engine: str = ""
    state: Pairs = ()
    """What the state is made of, for people: kind (filter, key, window, aggregate, watermark, join) and text of each part."""


@dataclass(frozen=True, slots=True)
class FormerDefinition:
    """What a source was while a former query filled it; the members are those of `Source`.

    `reads` has a digest for each read of the query, as in `DroppedSource`.
    """

    statement: str
    columns: tuple[SourceColumn, ...]
    key: SourcePart | None = None
    value: SourcePart | None = None
    connector: str = "kafka"
    cluster: str = "main"
    place: str = ""
    timestamp: str = ""
    properties: Pairs = ()
    comment: str = ""
    reads: tuple[str, ...] = ()


EMPTY, BACKFILL, RESET, CASCADE = "EMPTY", "BACKFILL", "RESET", "CASCADE"
"""How a checkpoint begins that follows another one: without state at the offsets that the former has, from the earliest beside the
table until it has caught up, from the beginning into the rows that are there, or as a BACKFILL since a query that it follows exchanges its rows.
"""
EXCHANGES = (BACKFILL, CASCADE)
"""Those with which all rows of a table are exchanged."""


@dataclass(frozen=True, slots=True)
class Incarnation:
    """A query on one checkpoint. `began` is the sequence of the commit that began the checkpoint.

    `start` is EMPTY, BACKFILL, RESET or CASCADE where the checkpoint took the place of the one that began at `after`, and empty where it is the
    first of the source. `resumed` is the sequence of the commit by which the query was rolled back to (0: by none). `definition` is
    what the source was, of former queries alone.
    """

    began: int
    revision: int
    plan: QueryPlan
    author: str = ""
    time: int = 0
    start: str = ""
    after: int = 0
    resumed: int = 0
    definition: FormerDefinition | None = None


@dataclass(frozen=True, slots=True)
class OnceQuery:
    """A query that is run once into a source, beside the one that fills it. `began` is the sequence of the commit that wants it, which its rows
    carry as their incarnation.
    """

    began: int
    plan: QueryPlan
    statement: str = ""
    author: str = ""
    time: int = 0


@dataclass(frozen=True, slots=True)
class ImportedQuery:
    """The query of a source as another system has it, which nothing has planned, and which does not run here.

    `original` is its statement there, `id` its name there. `suggestion` is a CREATE statement in Spark's words to begin with, `notes`
    what it leaves open.
    """

    original: str
    suggestion: str = ""
    id: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """A stream or a table, with its query if it was made with AS.

    `generation` is the sequence of the commit that created it, and stays when it is replaced; `former` are the generations
    that it had before it was dropped and brought back, the newest first. `revision` counts its bodies and definitions. `statement` is the last CREATE as sent. `connector` is kafka, files, delta or iceberg, and `place`
    the topic or path. `types` are the keys of the named types that its columns use. `origin` is the key of the source whose
    bad rows it has. `imported` is a query that is to be planned: the source is PAUSED until it is replaced by one with a plan.
    """

    kind: str
    name: str
    """The spelling; the key of the row has A-Z as a-z."""
    statement: str
    columns: tuple[SourceColumn, ...]
    generation: int
    key: SourcePart | None = None
    value: SourcePart | None = None
    connector: str = "kafka"
    cluster: str = "main"
    place: str = ""
    timestamp: str = ""
    properties: Pairs = ()
    comment: str = ""
    types: tuple[str, ...] = ()
    origin: str = ""
    query: Incarnation | None = None
    previous: tuple[Incarnation, ...] = ()
    desired: str = RUNNING
    protected: bool = False
    revision: int = 1
    author: str = ""
    time: int = 0
    changed_by: str = ""
    changed: int = 0
    former: tuple[int, ...] = ()
    imported: ImportedQuery | None = None
    once: tuple[OnceQuery, ...] = ()
    """Queries that are run once into it, the newest first."""
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class DroppedSource:
    """A source that was dropped, as it was. Only the newest of a name is kept.

    `reads` has a digest for each read of its query: of the leaf columns that it read, with their types. A source that has
    other ones since is not read by it again. `types` has one for each of the source's named types: of what it meant.
    `sequence` is that of the commit that dropped it, by which a stream of bad rows is known that went along. `origin` is the
    generation that the source whose bad rows it has had then (0: it has none).
    """

    source: Source
    author: str = ""
    time: int = 0
    reads: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    sequence: int = 0
    origin: int = 0
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class StoredType:
    """A named SQL type: its definition as SQL text, the keys of the types that the definition uses, and the label of its project."""

    name: str
    definition: str
    generation: int
    types: tuple[str, ...] = ()
    comment: str = ""
    author: str = ""
    time: int = 0
    label: str = ""
    extra: Extra = ()


PRESENT, DELETED, DELETING = "present", "deleted", "deleting"
"""Desired states of a topic: there; to go once its time has come; and being deleted now, so that nothing may use it."""


@dataclass(frozen=True, slots=True)
class Topic:
    """The desired state of a topic, and the keys of all sources that stand over it. `due` is when a deleted one goes, in ms since
    the epoch.
    """

    desired: str = PRESENT
    sources: tuple[str, ...] = ()
    settings: Pairs = ()
    due: int = 0
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class TopicLease:
    """Who changes the topics of a cluster: the epoch (the sequence of the commit that took the lease), the holder, and how often it
    was renewed. There is none while no topic is to be changed.
    """

    epoch: int
    holder: str
    renewals: int = 0
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class Runner:
    """The lease of a runner: the epoch that fences its predecessors, who holds it, the address of its status, the id of its root, and
    the principal who took it.
    """

    epoch: int
    holder: str = ""
    address: str = ""
    root: str = ""
    sender: str = ""
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """Which runner has a part of a source, and with which epoch of its lease."""

    runner: str
    epoch: int
    extra: Extra = ()


@dataclass(frozen=True, slots=True)
class SenderRule:
    """A rule of rights that the sender of a statement had when it came; the members are those of `AccessRule`."""

    may: tuple[str, ...]
    subjects: tuple[str, ...] = ()
    contexts: tuple[str, ...] = ()
    topics: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    private: bool = False


@dataclass(frozen=True, slots=True)
class PlanningJob:
    """A statement with a query that waits for its plan.

    `properties` are those of the statement with the defaults of its script. `sender` is the principal who sent it by the command
    `command`, and `rules` their rights then (None: no rights are configured): the source is written as theirs. `began` is the
    sequence of the commit that wrote the row, `deadline` the end of the wait in ms since the epoch. `planner` works on it and was
    heard of last at `heard` (ms); `epoch` is the sequence of the commit by which it took the job. `attempts` is how often a plan came
    too late, for sources or schemas that had changed. `replace`, `dry_run` and what is expected (generation and revision, 0: nothing)
    are as in a CREATE.
    """

    statement: str
    properties: Pairs = ()
    sender: str = ""
    command: str = ""
    rules: tuple[SenderRule, ...] | None = None
    began: int = 0
    deadline: int = 0
    planner: str = ""
    heard: int = 0
    epoch: int = 0
    attempts: int = 0
    replace: bool = False
    if_not_exists: bool = False
    dry_run: bool = False
    expected_generation: int = 0
    expected_revision: int = 0
    extra: Extra = ()

"""The requests that create, change, drop, describe and list sources and types (KLIP-18): their members and defaults; decided in `core/handlers/metastore`."""

import hashlib
from typing import Literal

from treaty.core.limits import SOURCES_PAGE
from treaty.core.messages.metastore.assessments import ChangeAssessment
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.schema import Pairs
from treaty.core.sources import ImportedQuery, QueryPlan, Source, SourceColumn, SourcePart, StoredType
from treaty.light_dataclass import dataclass

# -------------------------------------------------------------------------------------------------------- values


@dataclass(frozen=True, slots=True)
class SourceDefinition:
    """What a CREATE says of a source; see `Source` for the members. The decision adds generation, types, times and author."""

    name: str
    kind: str
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
    query: QueryPlan | None = None
    bad_rows: bool = False
    """Whether ``NAME_bad`` is made too, a stream of the rows that could not be decoded."""
    imported: ImportedQuery | None = None


@dataclass(frozen=True, slots=True)
class ExpectedSource:
    """The generation and revision that a source must have for a change of it."""

    generation: int
    revision: int


@dataclass(frozen=True, slots=True)
class ExpectedType:
    """A user type that a schema or a plan was made with: its name, and the generation that it must still be of."""

    name: str
    generation: int


@dataclass(frozen=True, slots=True)
class Dependent:
    """A step of a closure: what needs what, and what becomes of it (`effect`): refuses, goes along, warns.

    `kind` is SOURCE, TYPE, VERSION or TOPIC. The names are those of people: a source's or type's spelling, ``subject
    version n``, a topic.
    """

    kind: str
    name: str
    needs: str
    effect: str
    depth: int = 1


def digest_statement(text: str, cluster: str = "main", properties: Pairs = (), *, bad_rows: bool = False) -> str:
    """Return the digest of a statement, by which a repetition of it is known: of its text, and of what SET before it adds to that."""
    parts = (text, cluster, "bad rows" if bad_rows else "", *(part for pair in properties for part in pair))
    joined = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class SourceFound:
    """A source as its row says, and who reads it: names that the caller may see, and how many others."""

    source: Source
    readers: tuple[str, ...] = ()
    hidden_readers: int = 0


@dataclass(frozen=True, slots=True)
class SourceStored:
    """A source that exists now: its name, generation and revision; `created` and `replaced` are False where nothing changed."""

    name: str
    kind: str
    generation: int
    revision: int = 1
    created: bool = False
    replaced: bool = False
    also: tuple[str, ...] = ()
    """Names of further sources that the command created: of bad rows."""
    notes: tuple[str, ...] = ()
    assessment: ChangeAssessment | None = None
    """What a CREATE that is only assessed would change."""
    statement: str = ""
    """Digest of the text of the statement, by which a repetition of it is known."""


@dataclass(frozen=True, slots=True)
class SourcesDropped:
    """What a DROP takes: names of sources in the order in which they go, and the digest that confirms a CASCADE.

    `dropped` is False where nothing was written: for a dry run, and for a missing source with IF EXISTS. `topic_due` is when its
    topic goes, in ms since the epoch; 0: it stays.
    """

    names: tuple[str, ...] = ()
    digest: str = ""
    dropped: bool = False
    closure: tuple[Dependent, ...] = ()
    notes: tuple[str, ...] = ()
    topic_due: int = 0


@dataclass(frozen=True, slots=True)
class Sources:
    """A page of sources by key. `last` is the key of the last one, for `after` of the next page; empty: no more."""

    sources: tuple[Source, ...]
    last: str = ""
    upstreams: tuple[Dependent, ...] = ()
    """What these sources need, where that was asked for: `needs` is the source."""


@dataclass(frozen=True, slots=True)
class DroppedListed:
    """A source that was dropped: name and kind, generation, who dropped it when (ms since the epoch)."""

    name: str
    kind: str
    generation: int
    author: str = ""
    time: int = 0


@dataclass(frozen=True, slots=True)
class DroppedSources:
    """A page of dropped sources by key; `last` as in `Sources`."""

    sources: tuple[DroppedListed, ...]
    last: str = ""


@dataclass(frozen=True, slots=True)
class TypeFound:
    """A type as its row says, its expanded definition, and who uses it: names of sources that the caller may see and of types."""

    type: StoredType
    expanded: str = ""
    users: tuple[str, ...] = ()
    hidden_users: int = 0


@dataclass(frozen=True, slots=True)
class TypeStored:
    """A type that exists now; `created` is False where it existed before."""

    name: str
    generation: int
    created: bool = False


@dataclass(frozen=True, slots=True)
class TypeDropped:
    """The type that was dropped; `dropped` is False where it was missing (IF EXISTS)."""

    name: str
    dropped: bool = False


@dataclass(frozen=True, slots=True)
class Types:
    """A page of types by key; `last` as in `Sources`."""

    types: tuple[StoredType, ...]
    last: str = ""


@dataclass(frozen=True, slots=True)
class Dependents:
    """Who needs a source, type or subject, nearest first; `hidden` counts those that the caller may not see."""

    dependents: tuple[Dependent, ...]
    hidden: int = 0
    upstreams: tuple[Dependent, ...] = ()
    """What it needs itself."""


# ------------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class CreateSource(Request[SourceStored]):
    """Create a source, or (`replace`) replace its definition.

    One of the same name, of either kind, is refused; with `if_not_exists` it is answered as it is, whatever its
    definition. `key_schema` and `value_schema` are registered in the same commit, through the policies of their subjects,
    and become the pins of key and value. `types` are the user types that these schemas have written out: one that is another
    since is refused. `on_change` says what becomes of a query that can't continue from the checkpoint of the one before: EMPTY begins
    without state at its offsets, BACKFILL from the earliest beside the table, CASCADE too and with all that follows it, and without a word
    it is refused. With `once` and `replace` the query is run once into the source that is there, and all else of it is as the source has it. With `assess` the answer has the assessment of the change, and with `dry_run` everything is checked; nothing is written
    then. `importer` says that an import from another metastore sends it, which a server with ``--ddl import`` takes, and one with
    ``--ddl off`` of callers with the permission import.
    """

    definition: SourceDefinition
    key_schema: Register | None = None
    value_schema: Register | None = None
    if_not_exists: bool = False
    replace: bool = False
    expected: ExpectedSource | None = None
    dry_run: bool = False
    types: tuple[ExpectedType, ...] = ()
    on_change: str = ""
    assess: bool = False
    importer: bool = False
    once: bool = False


@dataclass(frozen=True, slots=True)
class SourceColumnChange:
    """A column that is added (`op` add), is given up (drop), or has another type or comment now (set)."""

    op: Literal["add", "drop", "set"]
    column: SourceColumn


@dataclass(frozen=True, slots=True)
class ChangeSource(Request[SourceStored]):
    """Change a source in place; members at their default change nothing.

    `columns` change columns one by one, `properties` are set (an empty text unsets), `value` and `key` are other pins of
    a refreshed schema; `key_schema` and `value_schema` are registered in the same commit and become their pins, as in
    `CreateSource`. `rename` gives another name, and `swap` is the name of a source with which it exchanges names,
    alone: queries that read them go along, and where the text of one can't, both are refused. `restart`, alone too, is what becomes of its
    query: ROLLBACK to the one before, RESET of its checkpoint, or REFRESH of all rows; with `cascade` the queries that follow its rows go
    along, and read all again too. The source must be of this `kind`
    unless that is empty. `types` are user types as in `CreateSource`.
    """

    name: str
    statement: str = ""
    columns: tuple[SourceColumnChange, ...] = ()
    properties: Pairs = ()
    key: SourcePart | None = None
    value: SourcePart | None = None
    rename: str = ""
    protect: bool | None = None
    comment: str | None = None
    expected: ExpectedSource | None = None
    dry_run: bool = False
    types: tuple[ExpectedType, ...] = ()
    kind: str = ""
    swap: str = ""
    key_schema: Register | None = None
    value_schema: Register | None = None
    restart: str = ""
    cascade: bool = False


@dataclass(frozen=True, slots=True)
class SetSourceState(Request[SourceStored]):
    """Set the desired state of the query of a source: RUNNING or PAUSED. With `dry_run` nothing is written."""

    name: str
    state: str
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class DropSource(Request[SourcesDropped]):
    """Drop a source, of this `kind` unless it is empty.

    It is refused while others read it (RESTRICT). With `cascade` they go too, if `digest` is that of the closure; without
    a digest the closure is the answer, and nothing is written. `delete_topic` lets the topic go too, refused while another
    source stands over it. `importer` as in `CreateSource`.
    """

    name: str
    kind: str = ""
    if_exists: bool = False
    cascade: bool = False
    digest: str = ""
    delete_topic: bool = False
    expected: ExpectedSource | None = None
    dry_run: bool = False
    importer: bool = False


@dataclass(frozen=True, slots=True)
class UndropSource(Request[SourceStored]):
    """Bring a dropped source back, within its period of grace, as a new generation; everything that a CREATE checks holds.

    It must be of this `kind` unless that is empty. With `dry_run` everything is checked and nothing is written.
    """

    name: str
    kind: str = ""
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class CreateType(Request[TypeStored]):
    """Name a SQL type, of the project `label`. One of the same name is refused, or with `if_not_exists` answered as it is.
    With `dry_run` nothing is written. `importer` as in `CreateSource`.
    """

    name: str
    definition: str
    if_not_exists: bool = False
    comment: str = ""
    dry_run: bool = False
    importer: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class DropType(Request[TypeDropped]):
    """Drop a type that no source and no type uses. With `dry_run` nothing is written. `importer` as in `CreateSource`."""

    name: str
    if_exists: bool = False
    dry_run: bool = False
    importer: bool = False


DEFINITION_COMMANDS = (CreateSource, ChangeSource, SetSourceState, DropSource, UndropSource, CreateType, DropType)
"""Commands of statements that change sources and types."""


@dataclass(frozen=True, slots=True)
class DescribeSource(Request[SourceFound]):
    """A source by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class GetDestination(Request[SourceFound]):
    """A source that records are to be written to, for who may insert; the answer has no readers.

    Refused where a query writes it, where its connector takes no records, and where its topic is that of a log or a registry.
    """

    name: str


@dataclass(frozen=True, slots=True)
class ListSources(Request[Sources]):
    """Sources by key, of this `kind` unless it is empty; at most `limit` (one at least) after the key `after`."""

    kind: str = ""
    queries: bool = False
    """Only those with a query."""
    after: str = ""
    limit: int = SOURCES_PAGE
    upstreams: bool = False
    """Whether what they need is listed too: sources, types and versions that the caller may see."""


@dataclass(frozen=True, slots=True)
class ListDropped(Request[DroppedSources]):
    """Dropped sources by key; at most `limit` (one at least) after the key `after`."""

    after: str = ""
    limit: int = SOURCES_PAGE


@dataclass(frozen=True, slots=True)
class DescribeType(Request[TypeFound]):
    """A type by its name."""

    name: str


@dataclass(frozen=True, slots=True)
class ListTypes(Request[Types]):
    """Types by key; at most `limit` (one at least) after the key `after`."""

    after: str = ""
    limit: int = SOURCES_PAGE


@dataclass(frozen=True, slots=True)
class ListDependents(Request[Dependents]):
    """Who needs a source or type: directly, or (`recursive`) the whole closure; and what it needs itself."""

    name: str
    kind: str = "SOURCE"
    recursive: bool = False

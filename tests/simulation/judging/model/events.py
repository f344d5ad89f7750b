"""What has happened in a registry, one frozen class for each kind of event. A state is nothing but a list of these."""

from dataclasses import dataclass
from typing import Any

from treaty.core import sources as metastore_values
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Scope
from treaty.core.messages.transfers import HighestNumbers
from treaty.core.names import Subject
from treaty.core.schema import Pairs
from treaty.core.state import values

Alike = tuple[str, str]
"""What two texts have in common that are the same for a look-up: their format, and what they are with references inlined."""

Name = tuple[str, str]
"""Of a command: who sent it, and its id."""


@dataclass(frozen=True, slots=True)
class ContextMade:
    """A context came into being."""

    context: str


@dataclass(frozen=True, slots=True)
class ContextDeleted:
    """An empty context was forgotten."""

    context: str


@dataclass(frozen=True, slots=True)
class IdsReserved:
    """Ids up to this one count as given in a context."""

    context: str
    highest: int


@dataclass(frozen=True, slots=True)
class IdsFreed:
    """A repair lowered the counter of a context's ids; ids in these ranges above it count as given."""

    context: str
    highest: int
    aside: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SubjectMade:
    """A subject came into being."""

    subject: Subject
    value: values.SubjectValue


@dataclass(frozen=True, slots=True)
class SubjectChanged:
    """A subject has these properties now, and no others."""

    subject: Subject
    properties: Pairs
    label_policy: str = "warn"


@dataclass(frozen=True, slots=True)
class SubjectPurged:
    """A subject is gone for good."""

    subject: Subject


@dataclass(frozen=True, slots=True)
class VersionMade:
    """A schema became a version. `content` holds the bytes as sent where they are not the canonical text.

    `generation` is that of its subject.
    """

    subject: Subject
    generation: int
    ordinal: int
    version: values.Version
    schema: values.Schema
    alike: Alike
    content: bytes | None = None
    names: Pairs = ()
    normal: Alike | None = None
    """As `alike`, of the text in its normal form; in a subject with the identity normalised."""


@dataclass(frozen=True, slots=True)
class VersionNamed:
    """A version that is there got more names."""

    subject: Subject
    ordinal: int
    names: Pairs


@dataclass(frozen=True, slots=True)
class VersionPatched:
    """A version has another text; its former one is hidden, with an ordinal of its own and its encodings."""

    subject: Subject
    ordinal: int
    former: int
    version: values.Version
    schema: values.Schema
    alike: Alike
    content: bytes | None = None
    normal: Alike | None = None


@dataclass(frozen=True, slots=True)
class VersionsSuperseded:
    """A version supersedes others, by ordinal."""

    subject: Subject
    generation: int
    ordinal: int
    others: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DraftPut:
    """A draft is stored under a number."""

    subject: Subject
    number: int
    value: values.StoredDraft


@dataclass(frozen=True, slots=True)
class VersionTurned:
    """A version is in another state: soft or hidden."""

    subject: Subject
    ordinal: int
    state: str


@dataclass(frozen=True, slots=True)
class VersionPurged:
    """A version is gone for good."""

    subject: Subject
    ordinal: int


@dataclass(frozen=True, slots=True)
class CodecMade:
    """A codec was added to a subject."""

    subject: Subject
    name: str
    properties: Pairs


@dataclass(frozen=True, slots=True)
class EncodingMade:
    """An encoding id stands for a version and a codec now; it goes with the version."""

    subject: Subject
    encoding: int
    generation: int
    ordinal: int
    schema_id: int
    codec: str


@dataclass(frozen=True, slots=True)
class NumbersReserved:
    """Ordinals, encoding ids and numbers of types up to these count as given in a subject."""

    subject: Subject
    generation: int
    highest: HighestNumbers
    private: bool = False
    """Whether they are those of a private subject that was removed elsewhere."""


@dataclass(frozen=True, slots=True)
class KeyMade:
    """An API key was added."""

    digest: str
    value: values.ApiKey


@dataclass(frozen=True, slots=True)
class KeyRemoved:
    """An API key was removed."""

    digest: str


@dataclass(frozen=True, slots=True)
class ConfigChanged:
    """The config at a scope is this one now; None: there is none."""

    scope: Scope
    config: values.ConfigValue | None


@dataclass(frozen=True, slots=True)
class PolicyChanged:
    """The named policy is this one now; None: there is none."""

    name: str
    policy: values.PolicyValue | None


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The mode at a scope is this one now; None: there is none."""

    scope: Scope
    mode: str | None


@dataclass(frozen=True, slots=True)
class Associated:
    """An association, by resource id, kind and qualified subject, is this one now; None: there is none."""

    key: tuple[str, str, str]
    value: values.Association | None


@dataclass(frozen=True, slots=True)
class SourceChanged:
    """The source with a key is this one now; None: there is none."""

    key: str
    source: metastore_values.Source | None


@dataclass(frozen=True, slots=True)
class DroppedChanged:
    """What was dropped last under a key is this source; None: it came back, or is forgotten."""

    key: str
    dropped: metastore_values.DroppedSource | None


@dataclass(frozen=True, slots=True)
class TypeChanged:
    """The type with a key is this one now; None: there is none."""

    key: str
    type: metastore_values.StoredType | None


@dataclass(frozen=True, slots=True)
class TopicDeleted:
    """A topic, by its cluster and name, goes after the last source over it: how, or that it is gone (None)."""

    place: tuple[str, str]
    row: metastore_values.Topic | None


@dataclass(frozen=True, slots=True)
class LeaseChanged:
    """The lease on the topics of a cluster is this one now; None: there is none."""

    cluster: str
    lease: metastore_values.TopicLease | None


@dataclass(frozen=True, slots=True)
class PlanningChanged:
    """The statement that waits for its plan under a key is this one now; None: none does."""

    key: str
    job: metastore_values.PlanningJob | None


@dataclass(frozen=True, slots=True)
class RunnerChanged:
    """The lease of the runner with a name is this one now; None: nobody has it."""

    name: str
    runner: metastore_values.Runner | None


@dataclass(frozen=True, slots=True)
class AssignmentChanged:
    """A part of a generation belongs to this runner now; None: to nobody."""

    key: tuple[str, int]
    assignment: metastore_values.Assignment | None


@dataclass(frozen=True, slots=True)
class Answered:
    """A command was decided in the commit with this sequence; asked again it gets the same answer."""

    name: Name
    sequence: int
    requests: tuple[Request[Any], ...]
    """Its request; more than one where somebody used the id again, and the commit fits either."""
    answer: Any
    members: Pairs = ()
    """The answer as its row has it."""
    private: bool = False
    """Whether it was about a private subject, which may be gone."""


@dataclass(frozen=True, slots=True)
class OutcomeSettled:
    """An earlier command, if it is remembered, has another answer from now on."""

    name: Name
    answer: Any


@dataclass(frozen=True, slots=True)
class OutcomeDropped:
    """A command's outcome is too old to be remembered."""

    name: Name


@dataclass(frozen=True, slots=True)
class Restored:
    """A dump was restored: ids may have been given after it was taken, this many in every context."""

    gap: int


Event = (
    ContextMade | ContextDeleted | IdsReserved | IdsFreed | SubjectMade | SubjectChanged | SubjectPurged | VersionMade | VersionNamed | VersionPatched | VersionsSuperseded | DraftPut | VersionTurned
    | VersionPurged | CodecMade | EncodingMade | NumbersReserved | KeyMade | KeyRemoved | ConfigChanged | PolicyChanged | ModeChanged | Associated | SourceChanged | DroppedChanged | TypeChanged | TopicDeleted | LeaseChanged | PlanningChanged | RunnerChanged | AssignmentChanged | Answered | OutcomeSettled | OutcomeDropped | Restored
)  # fmt: skip

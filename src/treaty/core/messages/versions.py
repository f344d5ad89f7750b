"""The requests that read, look up and delete versions of subjects, and delete subjects: their members, defaults and answers; decided in `queries.py`,
`lookup.py` and `deletion.py` of `core/handlers`.
"""

from treaty.core.messages.request import Request, Selector
from treaty.core.names import Subject
from treaty.core.policy import ForcedRegistration
from treaty.core.schema import Draft, Metadata, Pairs, Reference, RuleSet, TaggedPath
from treaty.light_dataclass import dataclass

# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class VersionFound:
    """A version of a subject (qualified name), with its schema. `time` is in milliseconds since the epoch."""

    subject: str
    number: int
    ordinal: int
    schema_id: int
    guid: str
    format: str
    text: str
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rules: RuleSet | None = None
    time: int = 0
    deleted: bool = False
    properties: Pairs = ()
    forced: ForcedRegistration | None = None
    imported: bool = False
    """Whether it was imported with its id, without a compatibility check."""
    tags: tuple[TaggedPath, ...] = ()
    """Tags inside the text, if requested."""
    type_name: str = ""
    type_version: int = 0
    """The number among the versions of its format and type, from 0 on."""
    data: bytes | None = None
    """The bytes as sent, where they differ from the text; in answers to requests of groups and of encodings alone."""
    imports: Pairs = ()
    """Files that came with the text and that it imports, by path; no subject has them."""
    names: Pairs = ()
    """Its further names, (scheme, name); in answers to registrations and to requests of groups and of encodings alone."""
    warnings: tuple[str, ...] = ()
    """As in `DeletedVersions`; in answers to deletions alone."""


@dataclass(frozen=True, slots=True)
class DeletedVersions:
    """Numbers of the deleted versions, ascending.

    `warnings` are names of sources that are bound to versions that were deleted softly: they read them still, and keep them from
    going for good. The first limits.WARNED_SOURCES that the caller may see.
    """

    numbers: tuple[int, ...]
    warnings: tuple[str, ...] = ()


# ------------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class DeleteVersion(Request[DeletedVersions]):
    """Soft-delete a version, or (`permanent`) delete a soft-deleted one permanently."""

    subject: Subject
    version: Selector
    permanent: bool = False
    exact: bool = False
    """Use this subject even if it is an alias."""
    force: bool = False
    """Remove its encodings too. Payloads that carry their ids can't be read afterwards."""


@dataclass(frozen=True, slots=True)
class DeleteSubject(Request[DeletedVersions]):
    """Soft-delete all versions of a subject, or (`permanent`) delete a soft-deleted subject permanently.

    A subject that was not created by Confluent's API stays without versions; `RemoveSubject` removes it.
    """

    subject: Subject
    permanent: bool = False
    force: bool = False
    """Remove encodings too. Payloads that carry their ids can't be read afterwards."""


# -------------------------------------------------------------------------------------------------------- queries


@dataclass(frozen=True, slots=True)
class GetVersion(Request[VersionFound]):
    """One version of a subject."""

    subject: Subject
    version: Selector
    deleted: bool = False
    """Include soft-deleted versions."""
    find_tags: tuple[str, ...] = ()
    """Include the parts of the text with one of these tags; ``*`` is any."""
    exact: bool = False
    """Use this subject even if it is an alias, as references do."""


@dataclass(frozen=True, slots=True)
class FindVersion(Request[VersionFound]):
    """The newest version whose metadata has all these properties."""

    subject: Subject
    properties: Pairs
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Lookup(Request[VersionFound]):
    """The version of the subject with this schema, of any type unless the draft says one."""

    subject: Subject
    draft: Draft
    normalize: bool | None = None
    deleted: bool = False

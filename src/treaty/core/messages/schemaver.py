"""The requests that publish, read, list and delete versions with a label ``MODEL-REVISION-ADDITION`` (SchemaVer, Snowplow's Iglu), and drafts of
them: their members, defaults and answers; decided in `core/handlers/registration/publication.py` and `core/handlers/schemaver`.

A subject with the order `SCHEMAVER` names its versions by labels, ``1-0-0`` first and without gaps. Its versions are
ordered by label, model by model; Confluent's number counts registrations. What Iglu's API needs:

| Iglu | request | notes |
|---|---|---|
| PUT, POST of a schema | `Publish` | creates subject and version; with `patch` it replaces the text of a version that is there. `self` is put into the text |
| GET of a schema | `GetPublished` | `SchemaNotFound` or `SubjectNotFound` where it is absent, deleted or hidden |
| GET of a list | `ListPublished` | by vendor, name, format and model; pages by subject and label |
| DELETE | `DeletePublished` | soft: the id answers, the label is free again |
| PUT, GET of a draft | `PutDraft`, `GetDraft` | text under a whole number; seen through no other API |

Refusals of `Publish`: `InvalidVersion` (LABEL_INVALID) for what is no label, `InvalidSubject` (SUBJECT_NOT_IGLU) for a subject that
is not ``vendor/name/format`` in the default context, `InvalidSchema` (SELF_DIFFERS: `old` is what the text says, `new` what the
request says; META_SCHEMA; faults of the text), `LabelRefused` (LABEL_EXISTS, LABEL_NOT_SEQUENTIAL, LABEL_PRECEDING_MISSING,
VISIBILITY_DIFFERS, SUPERSEDED_MISSING, SUPERSEDED_HIGHER), `Incompatible` with findings where the subject's policy refuses the label,
`NotPermitted` for a mode that forbids. `PublishedVersion.warnings` has what is no reason to refuse.
"""

from dataclasses import dataclass

from treaty.core.finding import Finding
from treaty.core.messages.request import Request
from treaty.core.messages.versions import VersionFound
from treaty.core.names import Subject
from treaty.core.schema import Draft

SCHEMAVER = "schemaver"
"""The order of such subjects, and the id scheme of their labels."""
IGLU = "iglu"
"""The origin of subjects that `Publish` creates."""
JSON_SCHEMA = "jsonschema"
"""The last part of the names of subjects whose texts are parsed and hold `self`."""

# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class PublishedSchema:
    """A version with its label. The text has `self`; ``$supersedes`` and ``$supersededBy`` are members beside it."""

    version: VersionFound
    label: str
    private: bool = False
    supersedes: tuple[str, ...] = ()
    """Labels of the versions that this one supersedes, ascending."""
    superseded_by: str = ""
    """The label of the version that supersedes it; empty where none does."""
    revision: int = 0
    """How often its text was replaced."""


@dataclass(frozen=True, slots=True)
class PublishedVersion:
    """What was published: `created` for a new version, `patched` for a new text of one; neither where all was there."""

    schema: PublishedSchema
    created: bool
    patched: bool = False
    warnings: tuple[Finding, ...] = ()
    """What the policy `schemaver` found, with the label that would do as `remedy`; and order and gaps in mode IMPORT."""


@dataclass(frozen=True, slots=True)
class PublishedSchemas:
    """A page of versions by vendor, name, format and label."""

    schemas: tuple[PublishedSchema, ...]


@dataclass(frozen=True, slots=True)
class PublishedDeleted:
    """Whether there was such a version; `warnings` as in `DeletedVersions`."""

    deleted: bool
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftFound:
    """A draft: a text under a number, which is no version."""

    subject: str
    number: int
    text: str
    private: bool = False
    time: int = 0


# ------------------------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class Publish(Request[PublishedVersion]):
    """Publish a schema under a label. A subject that does not exist is created with the order `SCHEMAVER`."""

    subject: Subject
    """``vendor/name/format`` in the default context."""
    label: str
    draft: Draft
    private: bool | None = None
    """Whether the subject is private; a subject that exists must be so. None: as the subject is, a new one is public."""
    supersedes: tuple[str, ...] = ()
    """Labels of versions of this subject that the new version supersedes; of no effect on a patch."""
    patch: bool = False
    """Replace the text of a version that has this label. Without it such a label is refused."""


@dataclass(frozen=True, slots=True)
class DeletePublished(Request[PublishedDeleted]):
    """Soft-delete the version with a label; another one may then be published under it."""

    subject: Subject
    label: str


@dataclass(frozen=True, slots=True)
class PutDraft(Request[DraftFound]):
    """Store a draft under a number of 1 or more; one that is there is replaced."""

    subject: Subject
    number: int
    text: str
    private: bool = False


# -------------------------------------------------------------------------------------------------------- queries


@dataclass(frozen=True, slots=True)
class GetPublished(Request[PublishedSchema]):
    """The live version with a label."""

    subject: Subject
    label: str


@dataclass(frozen=True, slots=True)
class ListPublished(Request[PublishedSchemas]):
    """Live versions of the subjects of a vendor, by name, format and label; empty members stand for all.

    At most `limit` of them, after the last (subject, label) of the page before; a page that is not full is the last.
    """

    vendor: str = ""
    name: str = ""
    format: str = ""
    model: int = 0
    after: tuple[str, str] | None = None
    limit: int = 1000


@dataclass(frozen=True, slots=True)
class GetDraft(Request[DraftFound]):
    """The draft with a number."""

    subject: Subject
    number: int

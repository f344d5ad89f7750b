"""The requests for schemas by id and guid, the versions that have them, and the schemas that refer to them: their members, defaults and answers;
decided in `core/handlers/queries.py`.
"""

from treaty.core.messages.request import Request, Selector, Visible
from treaty.core.names import Subject
from treaty.core.schema import Metadata, Pairs, Reference, RuleSet, TaggedPath
from treaty.light_dataclass import dataclass

# -------------------------------------------------------------------------------------------------------- answers


@dataclass(frozen=True, slots=True)
class SchemaFound:
    """A schema by id or guid; `subject` and `number` are one of its versions, if known."""

    schema_id: int
    guid: str
    format: str
    text: str
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rules: RuleSet | None = None
    context: str = "."
    subject: str = ""
    """Qualified name of a subject that has it, or ""."""
    number: int = 0
    time: int = 0
    deleted: bool = False
    max_id: int | None = None
    tags: tuple[TaggedPath, ...] = ()
    """Tags inside the text, if requested."""
    imports: Pairs = ()
    """Files that came with the text and that it imports, by path; no subject has them."""


@dataclass(frozen=True, slots=True)
class GuidIds:
    """(context, id) pairs."""

    ids: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Uses:
    """(qualified subject, number) pairs."""

    uses: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class SchemaIds:
    """Schema ids, ascending."""

    ids: tuple[int, ...]


# ------------------------------------------------------------------------------------------------------- requests


@dataclass(frozen=True, slots=True)
class GetSchema(Request[SchemaFound]):
    """The schema with this id. `subject` determines the context, and the version in the answer."""

    schema_id: int
    subject: Subject | None = None
    max_id: bool = False
    """Include the highest id of the context."""
    find_tags: tuple[str, ...] = ()
    """Include the parts of the text with one of these tags; ``*`` is any."""


@dataclass(frozen=True, slots=True)
class GetGuid(Request[SchemaFound]):
    """The schema with this guid (32 hex digits, lower case, dashes as in a UUID)."""

    guid: str


@dataclass(frozen=True, slots=True)
class GetGuidIds(Request[GuidIds]):
    """The ids of a guid, one per context."""

    guid: str


@dataclass(frozen=True, slots=True)
class UsesOf(Request[Uses]):
    """Every (subject, number) that has the schema with this id."""

    schema_id: int
    subject: Subject | None = None
    visible: Visible = "live"


@dataclass(frozen=True, slots=True)
class ReferencedBy(Request[SchemaIds]):
    """Ids of schemas that refer to this version."""

    subject: Subject
    version: Selector
    deleted: bool = False

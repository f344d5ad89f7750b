"""What a description is made of: parameters, answers, operations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from treaty.wire.confluent.drafts import DraftBody

Kind = Literal["boolean", "integer", "string"]
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ApiParameter:
    """A member of a path or of a query. `also` are other names under which it is read; `choices` the words it may be."""

    name: str
    says: str
    kind: Kind = "string"
    example: object = None
    default: object = None
    repeated: bool = False
    also: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    whole: Schema | None = None
    """Its whole JSON Schema, where the members above can't say it."""

    @property
    def schema(self) -> Schema:
        """Its JSON Schema."""
        if self.whole is not None:
            return self.whole
        one: Schema = {"type": self.kind}
        if self.kind == "integer":
            one["format"] = "int32"
        if self.choices:
            one["enum"] = list(self.choices)
        if self.default is not None:
            one["default"] = self.default
        return {"type": "array", "items": one} if self.repeated else one


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """What is answered when all is well. `kind` is a type that msgspec prints, None where there is no body."""

    says: str
    kind: Any = None
    status: int = 200
    needed: tuple[str, ...] = ()
    """Members that this route always prints, of those that its type may have."""
    example: object = None
    whole: Schema | None = None
    """Its whole JSON Schema, where no type says it."""
    media: str = ""
    """Its media type, where it is not one of the dialect's."""
    also: Mapping[str, Schema] = field(default_factory=dict)
    """JSON Schemas of the same answer in further media types."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """What its own headers mean, by name."""


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One method of one path. `path` are the open segments in order; `errors` are codes beside those of every route."""

    group: str
    answer: ApiAnswer
    path: tuple[ApiParameter, ...] = ()
    query: tuple[ApiParameter, ...] = ()
    sent: Any = None
    sent_example: object = None
    errors: tuple[int, ...] = ()
    writes: bool = False
    sent_as: Mapping[str, Schema] = field(default_factory=dict)
    """JSON Schemas of a body by media type, where no type describes it; without one of a string the body is optional."""


Table = Mapping[str, Mapping[str, ApiOperation]]
"""Operations by path (open segments are ``{}``) and method."""


@dataclass(frozen=True, slots=True)
class ApiDialect:
    """A dialect beside Confluent's, with its own body of errors. `errors` of its operations are statuses."""

    name: str
    table: Table
    error: Any
    """The type of the body of errors, which msgspec prints."""
    error_example: object
    statuses: Mapping[int, str]
    """Meanings of statuses that differ from those of Confluent's dialect."""
    sentences: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """What each route does, by path and method."""
    media: str = "application/json"
    text: str = ""
    """The media type of errors that are a text, where a request accepts that."""


def flag(name: str, says: str, *also: str) -> ApiParameter:
    """A parameter that is off unless it is ``true``."""
    return ApiParameter(name, says, "boolean", default=False, also=also)


SUBJECT = ApiParameter("subject", "Name of a subject; in another context `:.context:name`", example="orders-value")
VERSION = ApiParameter(
    "version",
    "Number of a version, `latest` or -1",
    example="1",
    whole={"oneOf": [{"type": "integer", "minimum": 1, "maximum": 2**31 - 1}, {"enum": ["latest", "-1"]}]},
)
ID = ApiParameter("id", "Id of a schema, unique in its context", "integer", example=1)
GUID = ApiParameter(
    "guid",
    "Guid of a schema, with or without dashes; equal in every context and registry",
    example="b040db4b-fdae-23ea-4a07-95f3973b98c8",
)
DELETED = flag("deleted", "Include soft-deleted ones")
ONLY_DELETED = flag("deletedOnly", "Only soft-deleted ones; takes precedence over `deleted`", "deleted_only")
NORMALIZE = flag("normalize", "Compare and store the schema in its normalized form")
FORCE = flag("force", "With `permanent`: remove encodings of the version too; needs the permission `config`")
PERMANENT = flag("permanent", "Hard-delete what is soft-deleted already")
RESOLVED = flag("defaultToGlobal", "Include inherited settings")
OFFSET = ApiParameter("offset", "Entries to skip", "integer", default=0)
LIMIT = ApiParameter(
    "limit", "Maximum number of entries; a value out of range means the maximum of the server", "integer", default=-1
)
PAGE = (OFFSET, LIMIT)
FORMAT = ApiParameter(
    "format",
    "Form of the schema text: `resolved` (Avro) inlines references, `serialized` (Protobuf) is a descriptor in base64, "
    "`logical` is the SQL-like text of Logical Types; "
    "other words have no effect",
    example="resolved",
)
QUALIFIED = ApiParameter(
    "referenceFormat",
    "`qualified` adds the context to the subjects of references",
    also=("reference_format",),
    example="qualified",
)
TAGS = ApiParameter(
    "findTags",
    "Add `schemaTags`: the parts of the schema with one of these tags; `*` matches any",
    repeated=True,
    example=["PII"],
)
ITSELF = ApiParameter(
    "alias", "`false` reads an alias itself and not its target", choices=("false", "true"), default="true"
)
IN_SUBJECT = ApiParameter("subject", "A subject or a context (`:.context:`) whose ids are meant")
PREFIX = ApiParameter("subjectPrefix", "Prefix of the names; `:.context:` selects a context, `:*:` all")

AVRO = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
POSTED = {"schemaType": "AVRO", "schema": AVRO}
POSTED_SCHEMA = {"sent": DraftBody, "sent_example": POSTED}
SHOWN = {
    "subject": "orders-value",
    "version": 1,
    "id": 1,
    "guid": "b040db4b-fdae-23ea-4a07-95f3973b98c8",
    "schemaType": "AVRO",
    "schema": AVRO,
    "ts": 1767225600000,
    "deleted": False,
}
"""An example of a version in an answer."""
READING = (40401, 40402)
"""A subject or a version that is not there."""


@dataclass(frozen=True, slots=True)
class ApiDescription:
    """A whole description: groups with what they are about, and operations with the sentences of their endpoints."""

    groups: Mapping[str, str]
    table: Table
    sentences: Mapping[tuple[str, str], str] = field(default_factory=dict)

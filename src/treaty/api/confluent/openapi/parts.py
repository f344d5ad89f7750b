"""What a description is made of: parameters, answers, operations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from treaty.wire.confluent.drafts import DraftBody

Kind = Literal["boolean", "integer", "string"]
Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
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
class Answer:
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


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One method of one path. `path` are the open segments in order; `errors` are codes beside those of every route."""

    group: str
    answer: Answer
    path: tuple[Parameter, ...] = ()
    query: tuple[Parameter, ...] = ()
    sent: Any = None
    sent_example: object = None
    errors: tuple[int, ...] = ()
    writes: bool = False


Table = Mapping[str, Mapping[str, ApiOperation]]
"""Operations by path (open segments are ``{}``) and method."""


def flag(name: str, says: str, *also: str) -> Parameter:
    """A parameter that is off unless it is ``true``."""
    return Parameter(name, says, "boolean", default=False, also=also)


SUBJECT = Parameter(
    "subject", "Name of a subject; one in another context is written `:.context:name`", example="orders-value"
)
VERSION = Parameter(
    "version",
    "Number of a version, `latest` or -1",
    example="1",
    whole={"oneOf": [{"type": "integer", "minimum": 1, "maximum": 2**31 - 1}, {"enum": ["latest", "-1"]}]},
)
ID = Parameter("id", "Id of a schema, unique in its context", "integer", example=1)
GUID = Parameter(
    "guid",
    "Guid of a schema, with or without dashes: the same in every context and registry",
    example="b040db4b-fdae-23ea-4a07-95f3973b98c8",
)
DELETED = flag("deleted", "Softly deleted ones too")
ONLY_DELETED = flag("deletedOnly", "Softly deleted ones alone; wins over `deleted`", "deleted_only")
NORMALIZE = flag("normalize", "Compare and keep the schema in its normal form")
PERMANENT = flag("permanent", "Remove for good what was softly deleted before")
RESOLVED = flag("defaultToGlobal", "Follow the chain of scopes to what is in force")
OFFSET = Parameter("offset", "Entries to skip", "integer", default=0)
LIMIT = Parameter(
    "limit", "Entries to answer at most; what is out of its range means all that there may be", "integer", default=-1
)
PAGE = (OFFSET, LIMIT)
FORMAT = Parameter(
    "format",
    "Print the schema another way: `resolved` (Avro) has references inlined, `serialized` (Protobuf) is a descriptor in base64, "
    "`logical` has the SQL-like words of Logical Types; "
    "a word that its format doesn't know means nothing",
    example="resolved",
)
QUALIFIED = Parameter(
    "referenceFormat",
    "`qualified` names subjects of references with their context",
    also=("reference_format",),
    example="qualified",
)
TAGS = Parameter(
    "findTags",
    "Tell what inside the schema has one of these tags, as `schemaTags`; `*` is any",
    repeated=True,
    example=["PII"],
)
ITSELF = Parameter(
    "alias", "`false` asks for this subject itself where it is an alias", choices=("false", "true"), default="true"
)
IN_SUBJECT = Parameter("subject", "A subject or a context (`:.context:`) in which the id is meant")
PREFIX = Parameter("subjectPrefix", "Start of the names, which may be a context: `:.context:`, or `:*:` for all")

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
class Described:
    """A whole description: groups with what they are about, and operations with the sentences of their endpoints."""

    groups: Mapping[str, str]
    table: Table
    sentences: Mapping[tuple[str, str], str] = field(default_factory=dict)

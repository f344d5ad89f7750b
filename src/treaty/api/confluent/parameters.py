"""Parameters, answers and examples that routes of Confluent's dialect share."""

from treaty.api.dialects.description import AVRO, ApiAnswer, ApiParameter, flag
from treaty.wire.confluent.versions import SchemaBody

SUBJECT = ApiParameter("subject", "Name of a subject; in another context `:.context:name`", example="orders-value")
VERSION = ApiParameter(
    "version",
    "Number of a version, `latest` or -1",
    example="1",
    full_schema={"oneOf": [{"type": "integer", "minimum": 1, "maximum": 2**31 - 1}, {"enum": ["latest", "-1"]}]},
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

POSTED = {"schemaType": "AVRO", "schema": AVRO}
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
VERSION_MEMBERS = ("subject", "version", "id", "guid", "schemaType", "schema", "ts", "deleted")
ONE_VERSION = ApiAnswer("The version", SchemaBody, needed=VERSION_MEMBERS, example=SHOWN)
TEXT = ApiAnswer(
    "The text of the schema: JSON, or for Protobuf plain text",
    example={"type": "record"},
    schema={"description": "A schema"},
)

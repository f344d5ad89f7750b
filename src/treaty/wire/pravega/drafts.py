"""Schemas as Pravega's clients send them: bytes and a type, as drafts of the registry and back; the branch that is meant of an Avro union is chosen in `avro_unions`."""

from treaty.core.messages.versions import VersionFound
from treaty.core.refusals import Invalid, InvalidSchema, Reason
from treaty.core.schema import Draft, Pairs
from treaty.formats.format import InvalidSchemaError
from treaty.formats.jsonschema.draft3 import translate_draft3
from treaty.formats.protobuf.descriptor_sets import split_set
from treaty.formats.registry import find_formats
from treaty.wire.pravega.avro_unions import narrow_union
from treaty.wire.pravega.bodies import SchemaInfoBody, SchemaWithVersionBody
from treaty.wire.pravega.formats import format_body, refuse_kept_name, schema_format_of, shown_properties
from treaty.wire.pravega.policies import version_body


def draft_of(body: SchemaInfoBody | None) -> tuple[Draft, Pairs]:
    """Read a schema, and the properties of its version.

    Raises `Invalid` where a member is missing, and `InvalidSchema` for bytes that can't be a text or a set of
    descriptors.
    """
    if body is None or body.type is None or body.schema_data is None:
        member = "schemaInfo" if body is None else "type" if body.type is None else "schemaData"
        message = f"The member '{member}' is missing or null"
        raise Invalid.of("MEMBER", message, path=f"/{member}", new="null", allowed=f"a member '{member}'")
    word, format_properties = schema_format_of(body.serialization_format)
    own = body.properties or {}
    refuse_kept_name(own)
    properties = tuple(sorted({**own, **dict(format_properties)}.items()))
    return make_draft(word, body.type, body.schema_data), properties


def make_draft(word: str, type_name: str, data: bytes) -> Draft:
    """Return the draft of a format, a type and the bytes of a schema. Raises `InvalidSchema` for bytes that can't be a
    text or a set of descriptors.
    """
    if word == "PROTOBUF":
        text, imports = _descriptors(data, type_name)
        return Draft(text, word, type_name=type_name, data=data, imports=imports)
    if find_formats().find(word) is None:
        return Draft("", word, type_name=type_name, data=data)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InvalidSchema.of(
            "SCHEMA_TEXT",
            f"The schema is not text in UTF-8: byte {error.start} can't be read",
            path="/schemaData",
            new=f"byte {error.start}",
            allowed=f"a text of the format {word}, in UTF-8",
        ) from None
    read = narrow_union(text, type_name) if word == "AVRO" else translate_draft3(text) or text
    return Draft(read, word, type_name=type_name, data=None if read == text else data)


def _descriptors(data: bytes, type_name: str) -> tuple[str, Pairs]:
    """Return the base64 of the file that defines a type, which the registry reads as a schema, and what it imports."""
    try:
        return split_set(data, type_name)
    except InvalidSchemaError as error:
        first = error.faults[0]
        reason = Reason(
            first.rule,
            f"The descriptors are not valid: {first.message}",
            path="/schemaData",
            new=type_name[:100],
            allowed=first.expected,
        )
        raise InvalidSchema(reason, error.faults) from None


def schema_body(version: VersionFound) -> SchemaInfoBody:
    """Print the schema of a version: the bytes as they were sent."""
    data = version.data if version.data is not None else version.text.encode("utf-8", "surrogatepass")
    word = format_body(version.format, version.properties)
    return SchemaInfoBody(version.type_name, word, data, shown_properties(version.properties))


def schema_with_version(version: VersionFound) -> SchemaWithVersionBody:
    """Print a version with its schema."""
    return SchemaWithVersionBody(schema_body(version), version_body(version))

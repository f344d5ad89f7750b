"""Planted: answers are remembered by what a guid covers: a text, and names and numbers of its references."""

from treaty.core.schema_engine import (
    CompareSchemas,
    DescribeValidators,
    FindTags,
    InspectSchema,
    NameVersion,
    ParseSchema,
    Question,
    ResolvedSchema,
    RetagSchema,
    ValidateValue,
)
from treaty.node import schema_service

LAWS = {"1", "3", "5"}
PLACE, NAME = schema_service, "key_of"


def guid(meaning: ResolvedSchema) -> bytes:
    named = [(one.name, one.subject, one.version) for one in meaning.bindings]
    return f"{meaning.format} {meaning.text} {named}".encode()


def planted(question: Question) -> tuple[str, bytes, bytes, tuple[str, ...]]:
    match question:
        case ParseSchema(meaning, strict, normalize):
            return (f"parse {strict} {normalize}", guid(meaning), b"", ())
        case CompareSchemas(reader, writer, policy):
            return (policy, guid(reader), guid(writer), ())
        case DescribeValidators(validators):
            return ("validators", b"", b"", validators)
        case InspectSchema(meaning, validators):
            return ("inspect", guid(meaning), b"", validators)
        case ValidateValue(meaning, value):
            return ("value", guid(meaning), value, ())
        case FindTags(meaning):
            return ("tags", guid(meaning), b"", ())
        case NameVersion(meaning, sent, subject, type_name, schemes):
            return ("names", guid(meaning), repr((sent, subject, type_name)).encode(), schemes)
        case RetagSchema(meaning, add, remove, lenient):
            return ("retag", guid(meaning), repr((add, remove, lenient)).encode("utf-8", "backslashreplace"), ())

"""Advice about what people read: titles, descriptions and the draft."""

from collections.abc import Iterator

from treaty.formats.jsonschema.constraints import merge_constraints
from treaty.formats.jsonschema.drafts import DRAFTS, find_draft
from treaty.formats.jsonschema.lint.places import NEAR, Advice, list_properties, make_lint
from treaty.formats.jsonschema.model import Json, JsonSchema

_DRAFTS = ", ".join(draft.uri for draft in DRAFTS.values())


def _get_member(document: JsonSchema, word: str) -> Json:
    return document.root.value.get(word) if isinstance(document.root.value, dict) else None


def _is_blank(text: Json) -> bool:
    return not isinstance(text, str) or not text.strip()


def _doc_missing(document: JsonSchema) -> Iterator[Advice]:
    if _is_blank(_get_member(document, "description")):
        yield "", "the schema has no description", 'a member "description" that says what it is for'


def _title_missing(document: JsonSchema) -> Iterator[Advice]:
    if _is_blank(_get_member(document, "title")):
        yield "", "the schema has no title", 'a member "title", by which clients call the type'


def _field_doc_missing(document: JsonSchema) -> Iterator[Advice]:
    for name, node in list_properties(document):
        if node.value is not False and _is_blank(merge_constraints(document, [node], NEAR).doc):
            message = f"the property {name!r} has no description"
            yield node.place, message, 'a member "description", here or where its $ref leads'


def _draft_missing(document: JsonSchema) -> Iterator[Advice]:
    if _get_member(document, "$schema") is None:
        yield "", "the schema does not say in which draft it is written; it is read as draft-07", f"one of {_DRAFTS}"


def _draft_unknown(document: JsonSchema) -> Iterator[Advice]:
    uri = _get_member(document, "$schema")
    if uri is not None and find_draft(uri) is None:
        yield (
            "/$schema",
            f"the draft {uri!s:.100} is not known here; the schema is read as draft-07",
            f"one of {_DRAFTS}",
        )


DOCUMENTATION = (
    make_lint("DOC_MISSING", "A schema has a description.", _doc_missing),
    make_lint("TITLE_MISSING", "A schema has a title.", _title_missing),
    make_lint("FIELD_DOC_MISSING", "Every property has a description.", _field_doc_missing),
    make_lint("SCHEMA_DRAFT_MISSING", "A schema says in which draft it is written.", _draft_missing),
    make_lint("SCHEMA_DRAFT_UNKNOWN", "A schema is written in a draft that validators know.", _draft_unknown),
)
"""Advice about documentation."""

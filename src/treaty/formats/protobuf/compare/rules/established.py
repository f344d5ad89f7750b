"""The rules of Confluent's registry that refuse a schema, with its sentences (source: its 8.x checker)."""

from collections.abc import Mapping

from treaty.formats.rule import CompatibilityRule

PACKAGE_CHANGED = CompatibilityRule(
    "PACKAGE_CHANGED",
    "A schema keeps its package.",
    "The package at '{path}' in the {reader} schema does not match the package in the {writer} schema",
    "keep the package, or use another subject for the new one",
)
MESSAGE_REMOVED = CompatibilityRule(
    "MESSAGE_REMOVED",
    "A reader has every message that the writer has, at the same place among the others and under the same name.",
    "The {reader} schema is missing a MESSAGE type at path '{path}' in the {writer} schema",
    "keep the message where it is; an unused message may stay empty",
    "backward",
)
FIELD_KIND_CHANGED = CompatibilityRule(
    "FIELD_KIND_CHANGED",
    "A field stays what it is: a scalar or an enum, a message, or a map.",
    "The type of a field at path '{path}' in the {reader} schema does not match the {writer} schema",
    "add a field with a new number for the new type",
)
FIELD_SCALAR_KIND_CHANGED = CompatibilityRule(
    "FIELD_SCALAR_KIND_CHANGED",
    "A scalar field stays in its group: int32, int64, uint32, uint64, bool, enums; sint32, sint64; string, bytes; fixed32, "
    "sfixed32; fixed64, sfixed64; float; double.",
    "The kind of a SCALAR field at path '{path}' in the {reader} schema does not match its kind in the {writer} schema",
    "keep the type or take one of the same group, or add a field with a new number",
)
FIELD_NAMED_TYPE_CHANGED = CompatibilityRule(
    "FIELD_NAMED_TYPE_CHANGED",
    "A message field keeps its message, and a message from another file is one that can be read itself.",
    "The type of a MESSAGE field at path '{path}' in the {reader} schema does not match its type in the {writer} schema",
    "keep the message by its name without package, or add a field with a new number",
)
FIELD_NUMERIC_LABEL_CHANGED = CompatibilityRule(
    "FIELD_NUMERIC_LABEL_CHANGED",
    "A numeric field with a label keeps it where both schemas write one.",
    "The label for a NUMERIC field at path '{path}' in the {reader} schema does not match its label in the {writer} "
    "schema",
    "keep the label, or add a field with a new number",
)
REQUIRED_FIELD_ADDED = CompatibilityRule(
    "REQUIRED_FIELD_ADDED",
    "A field that the writer does not have is not required.",
    "A required field  at path '{path}' in the {reader} schema is missing in the {writer} schema",
    "make the field optional",
    "backward",
)
REQUIRED_FIELD_REMOVED = CompatibilityRule(
    "REQUIRED_FIELD_REMOVED",
    "A reader keeps the fields that the writer requires.",
    "The {reader} schema is missing a required field at path: '{path}' in the {writer} schema",
    "keep the field; make it optional first, and remove it in a later version",
    "backward",
)
ONEOF_FIELD_REMOVED = CompatibilityRule(
    "ONEOF_FIELD_REMOVED",
    "A reader keeps the fields of a oneof; without them it does not know which one the writer set.",
    "The {reader} schema is missing a oneof field at path '{path}' in the {writer} schema",
    "keep the field, in the oneof or outside of it",
    "backward",
)
MULTIPLE_FIELDS_MOVED_TO_ONEOF = CompatibilityRule(
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF",
    "No two fields that the writer may set together are in one oneof of the reader.",
    "Multiple fields in the oneof at path '{path}' in the {reader} schema are outside a oneof in the {writer} schema",
    "move one field into a new oneof, and leave the others outside",
    "backward",
)
FIELD_MOVED_TO_EXISTING_ONEOF = CompatibilityRule(
    "FIELD_MOVED_TO_EXISTING_ONEOF",
    "A field that the writer may set beside the fields of a oneof is not in that oneof.",
    "A field in the oneof at path '{path}' in the {reader} schema is outside an existing oneof in the {writer} schema",
    "leave the field outside, or give it a oneof of its own",
    "backward",
)

ESTABLISHED: Mapping[str, CompatibilityRule] = {
    rule.id: rule
    for rule in (
        PACKAGE_CHANGED,
        MESSAGE_REMOVED,
        FIELD_KIND_CHANGED,
        FIELD_SCALAR_KIND_CHANGED,
        FIELD_NAMED_TYPE_CHANGED,
        FIELD_NUMERIC_LABEL_CHANGED,
        REQUIRED_FIELD_ADDED,
        REQUIRED_FIELD_REMOVED,
        ONEOF_FIELD_REMOVED,
        MULTIPLE_FIELDS_MOVED_TO_ONEOF,
        FIELD_MOVED_TO_EXISTING_ONEOF,
    )
}
"""Confluent's rules by their identifiers."""

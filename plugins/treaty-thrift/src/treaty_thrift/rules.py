"""What differs between two schemas, as rows with sentence and remedy."""

from collections.abc import Mapping

from treaty.formats.rule import CompatibilityRule

FIELD_TYPE_CHANGED = CompatibilityRule(
    "FIELD_TYPE_CHANGED",
    "A field keeps its type: its bytes say which one they are, and no other is read from them.",
    "The type of the field at '{path}' in the {reader} schema is not that of the {writer} schema ({detail})",
    "keep the type, and add a field of the new type with a new id",
)
FIELD_ID_CHANGED = CompatibilityRule(
    "FIELD_ID_CHANGED",
    "A field keeps its id: payloads know fields by id alone.",
    "The field '{detail}' has another id in the {reader} schema than in the {writer} schema",
    "give the field its old id, or another name to the new field",
)
FIELD_REQUIRED_MISSING = CompatibilityRule(
    "FIELD_REQUIRED_MISSING",
    "A required field is in all data that is read.",
    "The {reader} schema requires the field '{detail}' at '{path}', which the {writer} schema does not have",
    "make the field optional, or give up required",
    harm="backward",
)
FIELD_REQUIRED_UNSURE = CompatibilityRule(
    "FIELD_REQUIRED_UNSURE",
    "A field that is not required may be missing, so a reader can't require it.",
    "The {reader} schema requires the field '{detail}' at '{path}', which the {writer} schema may leave out",
    "leave the field as it was",
    harm="backward",
)
ENUM_SYMBOL_GONE = CompatibilityRule(
    "ENUM_SYMBOL_GONE",
    "A reader knows the number of each symbol that a writer may use.",
    "The {reader} schema has no symbol for {detail} of the enum at '{path}' in the {writer} schema",
    "keep the symbol",
    harm="backward",
)
UNION_FIELD_GONE = CompatibilityRule(
    "UNION_FIELD_GONE",
    "A reader knows each field of a union that a writer may set.",
    "The {reader} schema does not have the field '{detail}' of the union at '{path}' in the {writer} schema",
    "keep the field",
    harm="backward",
)
KIND_CHANGED = CompatibilityRule(
    "KIND_CHANGED",
    "A struct stays a struct, and a union a union.",
    "The record at '{path}' is a {detail} in the {writer} schema, and no such in the {reader} schema",
    "keep the kind, and add a record of the other kind with another name",
)
ROOT_CHANGED = CompatibilityRule(
    "ROOT_CHANGED",
    "Payloads hold the last record of a schema.",
    "The last record of the {reader} schema is not '{detail}', which payloads of the {writer} schema hold",
    "keep the record of the payloads the last one of the text",
)
FIELD_ADDED = CompatibilityRule(
    "FIELD_ADDED", "Fields may be added.", "The field '{detail}' at '{path}' was added", "nothing", harm="none"
)
FIELD_REMOVED = CompatibilityRule(
    "FIELD_REMOVED", "Fields may be removed.", "The field '{detail}' at '{path}' was removed", "nothing", harm="none"
)
FIELD_RENAMED = CompatibilityRule(
    "FIELD_RENAMED",
    "Payloads know no names of fields.",
    "The field at '{path}' has another name ({detail})",
    "nothing",
    harm="none",
)
DEFAULT_CHANGED = CompatibilityRule(
    "DEFAULT_CHANGED",
    "A default belongs to the reader.",
    "The default of the field '{detail}' at '{path}' is another one",
    "nothing",
    harm="none",
)
REQUIREDNESS_CHANGED = CompatibilityRule(
    "REQUIREDNESS_CHANGED",
    "A field may be required no longer.",
    "The field '{detail}' at '{path}' is required, optional or neither as it was not before",
    "nothing",
    harm="none",
)
SYMBOL_ADDED = CompatibilityRule(
    "SYMBOL_ADDED", "Symbols may be added.", "The symbol '{detail}' at '{path}' was added", "nothing", harm="none"
)
SYMBOL_RENAMED = CompatibilityRule(
    "SYMBOL_RENAMED",
    "Payloads know no names of symbols.",
    "The symbol at '{path}' has another name ({detail})",
    "nothing",
    harm="none",
)
RULES: Mapping[str, CompatibilityRule] = {
    rule.id: rule
    for rule in (
        FIELD_TYPE_CHANGED,
        FIELD_ID_CHANGED,
        FIELD_REQUIRED_MISSING,
        FIELD_REQUIRED_UNSURE,
        ENUM_SYMBOL_GONE,
        UNION_FIELD_GONE,
        KIND_CHANGED,
        ROOT_CHANGED,
        FIELD_ADDED,
        FIELD_REMOVED,
        FIELD_RENAMED,
        DEFAULT_CHANGED,
        REQUIREDNESS_CHANGED,
        SYMBOL_ADDED,
        SYMBOL_RENAMED,
    )
}
"""All rules by their identifiers."""

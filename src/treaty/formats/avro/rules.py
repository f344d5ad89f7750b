"""The rules as rows: those of a valid schema, and those of reading data with another schema."""

from collections.abc import Mapping

from treaty.formats.rule import CompatibilityRule

EXPECTED: Mapping[str, str] = {
    "TYPE_NOT_READABLE": "a type name, an object with a type, or an array of union branches",
    "TYPE_MISSING": 'a member "type" that is a string',
    "NAME_MISSING": 'a member "name" that is a string',
    "NAME_ILLEGAL": "letters and digits of any script and underscores, not beginning with a digit",
    "NAME_OF_PRIMITIVE": "a name that no primitive type has, or a namespace before it",
    "NAME_REDEFINED": "one definition; later uses call the type by its name",
    "NAME_UNDEFINED": "a primitive type, a type defined in this text, or a reference to a schema that defines it",
    "FIELDS_MISSING": 'a member "fields" that is an array of objects',
    "FIELD_NAME_MISSING": 'an object with a member "name" that is a string',
    "FIELD_TYPE_MISSING": 'a member "type"',
    "FIELD_DUPLICATE": "field names that differ",
    "ORDER_UNKNOWN": "ascending, descending or ignore",
    "DEFAULT_INVALID": "a value of the field's type; for a union, of one of its branches",
    "DEFAULT_NOT_A_NUMBER": "a number, or its text",
    "SYMBOLS_MISSING": 'a member "symbols" that is an array of strings',
    "SYMBOL_DUPLICATE": "symbols that differ",
    "ENUM_DEFAULT_UNKNOWN": "one of the symbols",
    "ITEMS_MISSING": 'a member "items" with the type of the elements',
    "VALUES_MISSING": 'a member "values" with the type of the values',
    "SIZE_INVALID": "a whole number from 0 to 2147483639",
    "UNION_NESTED": "branches that are not unions themselves",
    "UNION_DUPLICATE": "at most one branch of each unnamed type and of each name",
    "ALIASES_INVALID": "an array of strings",
    "TOO_MANY": "fewer of them, or several schemas with references",
    "SCHEMA_TOO_DEEP": "fewer levels, or several schemas with references",
}
"""Rules of a valid schema, and what the text should have had instead."""


NAME_MISMATCH = CompatibilityRule(
    "NAME_MISMATCH",
    "A named type is found under its own name or one of its aliases.",
    "The name of the schema has changed (path '{path}')",
    "keep the name, or give the type of the reading schema the other full name as an alias",
    harm="both",
)
FIXED_SIZE_MISMATCH = CompatibilityRule(
    "FIXED_SIZE_MISMATCH",
    "A fixed type keeps its size.",
    "The size of FIXED type field at path '{path}' in the {reader} schema does not match with the {writer} schema",
    "keep the size, or add a new field of the new size with a default",
    harm="both",
)
MISSING_ENUM_SYMBOLS = CompatibilityRule(
    "MISSING_ENUM_SYMBOLS",
    "A reader knows every symbol that a writer may use.",
    "The {reader} schema is missing enum symbols '{detail}' at path '{path}' in the {writer} schema",
    "keep these symbols in the reading schema, or give its enum a default symbol",
    harm="backward",
)
READER_FIELD_MISSING_DEFAULT_VALUE = CompatibilityRule(
    "READER_FIELD_MISSING_DEFAULT_VALUE",
    "A field that the writer does not have has a default.",
    "The field '{detail}' at path '{path}' in the {reader} schema has no default value and is missing in the "
    "{writer} schema",
    "give the field a default in the reading schema, or the name that it has in the writing one as an alias",
    harm="backward",
)
TYPE_MISMATCH = CompatibilityRule(
    "TYPE_MISMATCH",
    "A value is of the same type, or of one that widens into it.",
    "The type (path '{path}') of a field in the {reader} schema does not match with the {writer} schema",
    "keep the type, widen it (int to long, float or double; long to float or double; float to double; string to and "
    "from bytes), or make it a union in the reading schema that also holds the writing schema's type",
    harm="both",
)
MISSING_UNION_BRANCH = CompatibilityRule(
    "MISSING_UNION_BRANCH",
    "A reader's union can read every type that the writer may use.",
    "The {reader} schema is missing a type inside a union field at path '{path}' in the {writer} schema",
    "keep the branch in the reading schema's union",
    harm="backward",
)
FIELD_MATCHES_SEVERAL = CompatibilityRule(
    "FIELD_MATCHES_SEVERAL",
    "A field of the reader leads to one field of the writer.",
    "The field '{detail}' at path '{path}' in the {reader} schema matches several fields in the {writer} schema",
    "leave only one name or alias that a field of the writing schema has",
    harm="backward",
)
DECIMAL_MISMATCH = CompatibilityRule(
    "DECIMAL_MISMATCH",
    "A decimal keeps its scale, and its precision does not shrink.",
    "The decimal at path '{path}' in the {reader} schema can't hold that of the {writer} schema",
    "keep the scale and at least the precision, or add a new field",
    harm="both",
    policies=("LOGICAL",),
)
LOGICAL_TYPE_MISMATCH = CompatibilityRule(
    "LOGICAL_TYPE_MISMATCH",
    "A value that both schemas give a meaning keeps it.",
    "The logical type at path '{path}' in the {reader} schema is another one than in the {writer} schema",
    "keep the logical type, or add a new field",
    harm="both",
    policies=("LOGICAL",),
)
COMPARISON_TOO_LARGE = CompatibilityRule(
    "COMPARISON_TOO_LARGE",
    "Two schemas can be compared in bounded time.",
    "Comparing the {reader} schema with the {writer} schema takes more than {detail} steps",
    "fewer branches in the unions that meet each other",
    harm="both",
)

RULES: Mapping[str, CompatibilityRule] = {
    rule.id: rule
    for rule in (
        NAME_MISMATCH,
        FIXED_SIZE_MISMATCH,
        MISSING_ENUM_SYMBOLS,
        READER_FIELD_MISSING_DEFAULT_VALUE,
        TYPE_MISMATCH,
        MISSING_UNION_BRANCH,
        FIELD_MATCHES_SEVERAL,
        DECIMAL_MISMATCH,
        LOGICAL_TYPE_MISMATCH,
        COMPARISON_TOO_LARGE,
    )
}
"""Rules of compatibility by their identifiers."""

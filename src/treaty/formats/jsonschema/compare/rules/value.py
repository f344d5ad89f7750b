"""Rules of single values: patterns, multiples, types, enumerations, and what is written about a schema."""

from collections.abc import Mapping

from treaty.formats.jsonschema.compare.rules.row import (
    DIFFERENT,
    FEWER,
    KEYWORD,
    MORE,
    TYPE,
    harmful,
    harmless,
    mutual,
    rows,
)
from treaty.formats.rule import CompatibilityRule

ID_CHANGED = harmless("ID_CHANGED", "A schema may have another identifier.", "the identifier changed")
TITLE_CHANGED = harmless("TITLE_CHANGED", "A schema may have another title.", "the title changed")
DESCRIPTION_CHANGED = harmless(
    "DESCRIPTION_CHANGED", "A schema may have another description.", "the description changed"
)
DEFAULT_CHANGED = harmless("DEFAULT_CHANGED", "A schema may have another default.", "the default changed")
SCHEMA_ADDED = harmful(
    "SCHEMA_ADDED",
    "A reader has no schema for items where the writer has none.",
    "The schema at path '{path}' in the {reader} schema is not present in the {writer} schema",
    "leave the schema out, or make it one that allows everything",
)
SCHEMA_REMOVED = harmless("SCHEMA_REMOVED", "A reader may have no schema for items.", "the schema was removed")
TYPE_CHANGED = mutual(
    "TYPE_CHANGED",
    "A value keeps its type.",
    TYPE,
    "keep the type, let the reading schema allow both (a type array or anyOf), or add a new property",
)
TYPE_EXTENDED = harmless("TYPE_EXTENDED", "A reader of numbers reads integers.", "integer became number")
TYPE_NARROWED = harmful(
    "TYPE_NARROWED", "A reader of integers can't read numbers.", TYPE, "keep number, or add a new property"
)
PATTERN_ADDED = harmful(
    "PATTERN_ADDED",
    "A reader has no pattern that the writer does not have.",
    KEYWORD,
    "leave pattern out, or add a new property that has it",
)
PATTERN_REMOVED = harmless("PATTERN_REMOVED", "A reader may drop a pattern.", "pattern was removed")
PATTERN_CHANGED = mutual(
    "PATTERN_CHANGED",
    "A pattern stays as it is written; whether two of them match the same strings is not looked at.",
    DIFFERENT,
    "keep the pattern, or remove it from the reading schema",
)
MULTIPLE_OF_ADDED = harmful(
    "MULTIPLE_OF_ADDED",
    "A reader asks for no multiples where the writer does not.",
    KEYWORD,
    "leave multipleOf out, or add a new property that has it",
)
MULTIPLE_OF_REMOVED = harmless("MULTIPLE_OF_REMOVED", "A reader may drop multipleOf.", "multipleOf was removed")
MULTIPLE_OF_EXPANDED = harmful(
    "MULTIPLE_OF_EXPANDED",
    "A reader's multipleOf is not a multiple of the writer's.",
    MORE,
    "keep multipleOf, or divide it by a whole number",
)
MULTIPLE_OF_REDUCED = harmless(
    "MULTIPLE_OF_REDUCED", "A reader's multipleOf may divide the writer's.", "multipleOf was divided by a whole number"
)
MULTIPLE_OF_CHANGED = mutual(
    "MULTIPLE_OF_CHANGED",
    "A reader's multipleOf divides the writer's.",
    DIFFERENT,
    "keep multipleOf, or divide it by a whole number",
)
ENUM_ARRAY_EXTENDED = harmless("ENUM_ARRAY_EXTENDED", "A reader may know more values.", "enum got more values")
ENUM_ARRAY_NARROWED = harmful(
    "ENUM_ARRAY_NARROWED",
    "A reader knows every value that a writer may use.",
    FEWER,
    "keep all values in the reading schema's enum; more may be added",
)
ENUM_ARRAY_CHANGED = mutual(
    "ENUM_ARRAY_CHANGED",
    "A reader's values are the writer's, and more at most.",
    TYPE,
    "keep all values in the reading schema's enum; a const can't change",
)

VALUE_RULES: Mapping[str, CompatibilityRule] = rows(
    ID_CHANGED,
    TITLE_CHANGED,
    DESCRIPTION_CHANGED,
    DEFAULT_CHANGED,
    SCHEMA_ADDED,
    SCHEMA_REMOVED,
    TYPE_CHANGED,
    TYPE_EXTENDED,
    TYPE_NARROWED,
    PATTERN_ADDED,
    PATTERN_REMOVED,
    PATTERN_CHANGED,
    MULTIPLE_OF_ADDED,
    MULTIPLE_OF_REMOVED,
    MULTIPLE_OF_EXPANDED,
    MULTIPLE_OF_REDUCED,
    MULTIPLE_OF_CHANGED,
    ENUM_ARRAY_EXTENDED,
    ENUM_ARRAY_NARROWED,
    ENUM_ARRAY_CHANGED,
)
"""All rows of single values by their identifiers."""

"""Rules of objects: their properties, those that are required, those that are not named, and dependencies."""

from collections.abc import Mapping

from treaty.formats.jsonschema.compare.rules.row import (
    ADDED_UNCOVERED,
    CLOSED,
    DIFFERENT,
    FEWER,
    FURTHER,
    KEYWORD,
    OPEN,
    REMOVED_UNCOVERED,
    UNOPEN,
    harmful,
    harmless,
    mutual,
    rows,
    strict,
)
from treaty.formats.rule import CompatibilityRule

REQUIRED_ATTRIBUTE_ADDED = harmful(
    "REQUIRED_ATTRIBUTE_ADDED",
    "A property that becomes required has a default.",
    KEYWORD,
    "give the property a default in the reading schema, or leave it optional",
)
REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED = harmless(
    "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED",
    "A property with a default may become required.",
    "a property with a default became required",
)
REQUIRED_ATTRIBUTE_REMOVED = harmless(
    "REQUIRED_ATTRIBUTE_REMOVED", "A required property may become optional.", "a property became optional"
)
DEPENDENCY_ARRAY_ADDED = harmful(
    "DEPENDENCY_ARRAY_ADDED",
    "A reader's property asks for others only where the writer's does.",
    KEYWORD,
    "leave the dependency out",
)
DEPENDENCY_ARRAY_REMOVED = harmless(
    "DEPENDENCY_ARRAY_REMOVED", "A reader may drop a dependency.", "a dependency was removed"
)
DEPENDENCY_ARRAY_EXTENDED = harmful(
    "DEPENDENCY_ARRAY_EXTENDED",
    "A dependency asks for no further properties.",
    FURTHER,
    "leave the further properties out of the dependency",
)
DEPENDENCY_ARRAY_NARROWED = harmless(
    "DEPENDENCY_ARRAY_NARROWED", "A dependency may ask for fewer properties.", "a dependency asks for fewer properties"
)
DEPENDENCY_ARRAY_CHANGED = mutual(
    "DEPENDENCY_ARRAY_CHANGED",
    "A dependency asks for the writer's properties at most.",
    DIFFERENT,
    "keep the dependency's properties, or some of them",
)
DEPENDENCY_SCHEMA_ADDED = harmful(
    "DEPENDENCY_SCHEMA_ADDED",
    "A reader's property brings a schema with it only where the writer's does.",
    KEYWORD,
    "leave the schema that depends on the property out",
)
DEPENDENCY_SCHEMA_REMOVED = harmless(
    "DEPENDENCY_SCHEMA_REMOVED", "A reader may drop a schema that depends on a property.", "a dependency was removed"
)
ADDITIONAL_PROPERTIES_ADDED = harmless(
    "ADDITIONAL_PROPERTIES_ADDED", "A reader may allow properties that it does not name.", "the object was opened"
)
ADDITIONAL_PROPERTIES_REMOVED = strict(
    "ADDITIONAL_PROPERTIES_REMOVED",
    "A reader allows properties that it does not name where the writer does.",
    KEYWORD,
    "leave additionalProperties out, or have it allow what the writing schema does",
)
ADDITIONAL_PROPERTIES_EXTENDED = harmless(
    "ADDITIONAL_PROPERTIES_EXTENDED",
    "A reader may allow anything in properties that it does not name.",
    "additionalProperties lost its schema",
)
ADDITIONAL_PROPERTIES_NARROWED = strict(
    "ADDITIONAL_PROPERTIES_NARROWED",
    "A reader asks nothing of properties that it does not name where the writer does not.",
    FEWER,
    "leave the schema under additionalProperties out",
)
UNEVALUATED_PROPERTIES_ADDED = harmless(
    "UNEVALUATED_PROPERTIES_ADDED",
    "A reader may allow unevaluated properties.",
    "unevaluated properties became allowed",
)
UNEVALUATED_PROPERTIES_REMOVED = strict(
    "UNEVALUATED_PROPERTIES_REMOVED",
    "A reader allows unevaluated properties where the writer does.",
    KEYWORD,
    "leave unevaluatedProperties out",
)
UNEVALUATED_PROPERTIES_EXTENDED = harmless(
    "UNEVALUATED_PROPERTIES_EXTENDED",
    "A reader may allow anything in unevaluated properties.",
    "unevaluatedProperties lost its schema",
)
UNEVALUATED_PROPERTIES_NARROWED = strict(
    "UNEVALUATED_PROPERTIES_NARROWED",
    "A reader asks nothing of unevaluated properties where the writer does not.",
    FEWER,
    "leave unevaluatedProperties out",
)
PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL = harmless(
    "PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL",
    "A reader may name a property and allow everything in it.",
    "a property that allows everything was added",
)
REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL = harmful(
    "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
    "A reader requires no property that the writer does not name.",
    OPEN,
    "make the property optional and allow everything in it, or first close the writing schema",
)
REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL = strict(
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL",
    "A reader asks nothing of a property that an open writer does not name: it may be there, and be anything.",
    OPEN,
    "allow everything in the property, first close the writing schema (additionalProperties: false), or ask for the "
    "lenient policy",
)
OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL = strict(
    "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL",
    "A reader asks nothing of a property that an open writer does not name: it may be there, and be anything.",
    OPEN,
    "allow everything in the property, first close the writing schema (additionalProperties: false), or ask for the "
    "lenient policy",
)
REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL = harmless(
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL",
    "A reader may require a property with a default that a closed writer forbids.",
    "a required property with a default was added",
)
REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL = harmful(
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
    "A required property that the writer does not have has a default.",
    UNOPEN,
    "give the property a default in the reading schema, or make it optional",
)
OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL = harmless(
    "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
    "A reader may name a property that a closed writer forbids.",
    "an optional property was added",
)
PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL = harmless(
    "PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL",
    "A reader may drop a property that can't be there.",
    "a forbidden property was removed",
)
PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL = harmless(
    "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL",
    "An open reader may drop a property.",
    "a property was removed and is still allowed",
)
PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL = strict(
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL",
    "A closed reader keeps every property of the writer.",
    CLOSED,
    "keep the property, or open the reading schema",
)
PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = harmless(
    "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "A reader may name a property that allows what the writer's unnamed ones may be.",
    "a property was added that allows what could stand there before",
)
PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = strict(
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "A new property of a reader allows what the writer's unnamed ones may be.",
    ADDED_UNCOVERED,
    "give the new property a schema that allows what unnamed ones could be",
)
PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = harmless(
    "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "A reader may drop a property that its schema of unnamed ones allows.",
    "a property was removed that unnamed ones cover",
)
PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL = strict(
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "A dropped property is allowed by the reader's schema of unnamed ones.",
    REMOVED_UNCOVERED,
    "keep the property, or let unnamed ones be of its kind too",
)

PROPERTY_RULES: Mapping[str, CompatibilityRule] = rows(
    REQUIRED_ATTRIBUTE_ADDED,
    REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED,
    REQUIRED_ATTRIBUTE_REMOVED,
    DEPENDENCY_ARRAY_ADDED,
    DEPENDENCY_ARRAY_REMOVED,
    DEPENDENCY_ARRAY_EXTENDED,
    DEPENDENCY_ARRAY_NARROWED,
    DEPENDENCY_ARRAY_CHANGED,
    DEPENDENCY_SCHEMA_ADDED,
    DEPENDENCY_SCHEMA_REMOVED,
    ADDITIONAL_PROPERTIES_ADDED,
    ADDITIONAL_PROPERTIES_REMOVED,
    ADDITIONAL_PROPERTIES_EXTENDED,
    ADDITIONAL_PROPERTIES_NARROWED,
    UNEVALUATED_PROPERTIES_ADDED,
    UNEVALUATED_PROPERTIES_REMOVED,
    UNEVALUATED_PROPERTIES_EXTENDED,
    UNEVALUATED_PROPERTIES_NARROWED,
    PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL,
    REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL,
    REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL,
    OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL,
    REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL,
    REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL,
    OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL,
    PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL,
    PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL,
    PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL,
    PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
    PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL,
)
"""All rows of objects by their identifiers."""

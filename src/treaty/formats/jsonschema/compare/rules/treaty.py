"""Rules of our own: what the established ones let pass although old data would be refused.

They speak only where no other rule found anything at that place and where a simple proof that nothing breaks was not
found. The lenient policy lets all of them pass but those that say that a comparison was not possible.
"""

from collections.abc import Mapping

from treaty.formats.jsonschema.compare.rules.row import harmful, mutual, rows, strict
from treaty.formats.rule import CompatibilityRule

_REFUSED = "The {reader} schema may refuse at path '{path}' what the {writer} schema allows"

TYPE_NOT_READ = strict(
    "TYPE_NOT_READ",
    "A reader names every type that the writer allows, also where the writer names none.",
    f"{_REFUSED}: not every type that may stand there is named",
    "leave type out where it was left out, or name more types",
)
VALUE_NOT_READ = strict(
    "VALUE_NOT_READ",
    "A reader's enum or const has every value that is left of the writer's when all its keywords are taken together.",
    f"{_REFUSED}: enum or const does not have every value",
    "name every value that the writing schema allows",
)
BOUND_NOT_READ = strict(
    "BOUND_NOT_READ",
    "A reader's keyword about a number or a string is one that the writer's keywords together imply.",
    f"{_REFUSED}: no keyword of the other side implies this one",
    "leave the keyword out, or write it in the same schema of the combination as before",
)
FORMAT_ADDED = strict(
    "FORMAT_ADDED",
    "Where format is checked (drafts 4 to 7), a reader asks for none that the writer does not ask for.",
    f"{_REFUSED}: format is new or another one",
    "keep format as it was, or move to draft 2019-09 or later, where format only describes",
)
CONTENT_ENCODING_ADDED = strict(
    "CONTENT_ENCODING_ADDED",
    "Where the content of strings is checked (drafts 6 and 7), a reader asks for none that the writer does not ask for.",
    f"{_REFUSED}: contentEncoding or contentMediaType is new or another one",
    "keep both as they were, or move to draft 2019-09 or later, where they only describe",
)
ITEMS_NOT_READ = strict(
    "ITEMS_NOT_READ",
    "A reader's keyword about an array as a whole is one that the writer's keywords together imply.",
    f"{_REFUSED}: no keyword of the other side implies this one",
    "leave the keyword out, or keep what implied it",
)
CONTAINS_ADDED = strict(
    "CONTAINS_ADDED",
    "A reader asks for contained items only where the writer asks for at least as many of that kind.",
    f"{_REFUSED}: contains is new or asks for more",
    "leave contains out, or ask for less",
)
REQUIRED_NAME_ADDED = strict(
    "REQUIRED_NAME_ADDED",
    "A reader requires what the writer requires, also by names that are not among the properties.",
    f"{_REFUSED}: a name is required that may be missing",
    "leave the name out of required, or give its property a default",
)
DEFAULT_NOT_VALID = strict(
    "DEFAULT_NOT_VALID",
    "A default that replaces a missing value is valid at its place.",
    f"{_REFUSED}: a property is required, and its default is not a value that the schema allows there",
    "write a default that the reading schema allows, beside keywords that do not depend on the property's absence",
)
PROPERTY_COUNT_NOT_READ = strict(
    "PROPERTY_COUNT_NOT_READ",
    "A reader's bound of the count of properties is one that the writer's keywords together imply.",
    f"{_REFUSED}: no keyword of the other side implies this count",
    "leave the keyword out, or keep what implied it",
)
PROPERTY_NAMES_ADDED = strict(
    "PROPERTY_NAMES_ADDED",
    "A reader asks nothing of the names of properties that the writer does not ask.",
    f"{_REFUSED}: propertyNames is new or asks for more",
    "leave propertyNames out, or allow every name that was allowed",
)
DEPENDENCY_NOT_READ = strict(
    "DEPENDENCY_NOT_READ",
    "What a reader's property asks of others is what the writer's keywords together imply.",
    f"{_REFUSED}: a property asks for others that may be missing",
    "leave the dependency out, or require what it asks for",
)
NOTHING_ALLOWED = strict(
    "NOTHING_ALLOWED",
    "A reader forbids only what the writer forbids.",
    f"{_REFUSED}: nothing may stand there any more",
    "allow what was allowed before",
)
ANY_OF_NOT_READ = strict(
    "ANY_OF_NOT_READ",
    "Whatever the writer allows fits one schema of the reader's anyOf.",
    f"{_REFUSED}: some values may fit no schema of anyOf",
    "keep the schemas of anyOf that were there, or let one of them allow more",
)
ONE_OF_NOT_READ = strict(
    "ONE_OF_NOT_READ",
    "Whatever the writer allows fits one schema of the reader's oneOf.",
    f"{_REFUSED}: some values may fit no schema of oneOf",
    "keep the schemas of oneOf that were there, or let one of them allow more",
)
ONE_OF_OVERLAP = strict(
    "ONE_OF_OVERLAP",
    "Whatever the writer allows fits only one schema of the reader's oneOf.",
    f"{_REFUSED}: some values may fit several schemas of oneOf",
    "write anyOf, or distinguish the schemas of oneOf: by their type, or by a required property with a const of its own",
)
NOT_ADDED = strict(
    "NOT_ADDED",
    "A reader excludes only what the writer can't allow.",
    f"{_REFUSED}: not excludes values that may be there",
    "leave not out, or exclude less",
)
CONDITION_ADDED = strict(
    "CONDITION_ADDED",
    "A reader's if, then and else ask for nothing that the writer does not ask for.",
    f"{_REFUSED}: if, then and else ask for more",
    "leave the condition out, or ask for less in then and else",
)
REFERENCE_UNRESOLVED = mutual(
    "REFERENCE_UNRESOLVED",
    "A reference leads to a schema that is known, or both sides have the very same one.",
    "The reference at path '{path}' in the {reader} or {writer} schema leads to no schema that is known here",
    "register the schema that is meant and name it among the references",
)
COMPARISON_TOO_LARGE = harmful(
    "COMPARISON_TOO_LARGE",
    "Two schemas can be compared in bounded time.",
    "Comparing the {reader} schema with the {writer} schema takes more than {detail}",
    "fewer schemas in the combinations that meet each other",
)

OWN_RULES: Mapping[str, CompatibilityRule] = rows(
    TYPE_NOT_READ,
    VALUE_NOT_READ,
    BOUND_NOT_READ,
    FORMAT_ADDED,
    CONTENT_ENCODING_ADDED,
    ITEMS_NOT_READ,
    CONTAINS_ADDED,
    REQUIRED_NAME_ADDED,
    DEFAULT_NOT_VALID,
    PROPERTY_COUNT_NOT_READ,
    PROPERTY_NAMES_ADDED,
    DEPENDENCY_NOT_READ,
    NOTHING_ALLOWED,
    ANY_OF_NOT_READ,
    ONE_OF_NOT_READ,
    ONE_OF_OVERLAP,
    NOT_ADDED,
    CONDITION_ADDED,
    REFERENCE_UNRESOLVED,
    COMPARISON_TOO_LARGE,
)
"""All rows of our own by their identifiers."""

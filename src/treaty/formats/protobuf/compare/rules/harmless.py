"""Differences that are never refused: Confluent's registry knows most of them by these names, the last ones are ours."""

from collections.abc import Mapping

from treaty.formats.rule import CompatibilityRule


def _make_rule(name: str, purpose: str, sentence: str) -> CompatibilityRule:
    return CompatibilityRule(name, purpose, f"{sentence} at path '{{path}}'", "nothing has to change", "none", ())


_NEW = "The {reader} schema has {what} that the {writer} schema does not have"
_GONE = "The {writer} schema has {what} that the {reader} schema does not have"


def _make_added(name: str, purpose: str, what: str) -> CompatibilityRule:
    return _make_rule(name, purpose, _NEW.replace("{what}", what))


def _make_removed(name: str, purpose: str, what: str) -> CompatibilityRule:
    return _make_rule(name, purpose, _GONE.replace("{what}", what))


MESSAGE_ADDED = _make_added("MESSAGE_ADDED", "A message may be added.", "a message")
MESSAGE_MOVED = _make_rule(
    "MESSAGE_MOVED",
    "A message may have another place among those beside it: data names the schema in whose order it counts.",
    "The {reader} and the {writer} schema have a message at different places",
)
ENUM_ADDED = _make_added("ENUM_ADDED", "An enum may be added.", "an enum")
ENUM_REMOVED = _make_removed("ENUM_REMOVED", "An enum may be removed: its values are numbers.", "an enum")
ENUM_CONST_ADDED = _make_added("ENUM_CONST_ADDED", "A value of an enum may be added.", "a value of an enum")
ENUM_CONST_CHANGED = _make_rule(
    "ENUM_CONST_CHANGED",
    "A value of an enum may have another name: only its number is written.",
    "The {reader} and the {writer} schema have different names for a value",
)
ENUM_CONST_REMOVED = _make_removed(
    "ENUM_CONST_REMOVED", "A value of an enum may be removed: readers keep its number.", "a value of an enum"
)
FIELD_ADDED = _make_added("FIELD_ADDED", "A field that is not required may be added.", "a field")
FIELD_REMOVED = _make_removed("FIELD_REMOVED", "A field that is not required may be removed.", "a field")
FIELD_NAME_CHANGED = _make_rule(
    "FIELD_NAME_CHANGED",
    "A field may have another name: only its number is written.",
    "The {reader} and the {writer} schema have different names for a field",
)
FIELD_STRING_OR_BYTES_LABEL_CHANGED = _make_rule(
    "FIELD_STRING_OR_BYTES_LABEL_CHANGED",
    "A string or bytes field may become a list, or take the last one of a list.",
    "The label of a string or bytes field differs between the {reader} and the {writer} schema",
)
ONEOF_ADDED = _make_added("ONEOF_ADDED", "A oneof may be added.", "a oneof")
ONEOF_REMOVED = _make_removed("ONEOF_REMOVED", "A oneof may be removed as a whole.", "a oneof")
ONEOF_FIELD_ADDED = _make_added("ONEOF_FIELD_ADDED", "A field may be added to a oneof.", "a field in a oneof")
ONEOF_FIELD_MOVED_TO_TOP_LEVEL = _make_rule(
    "ONEOF_FIELD_MOVED_TO_TOP_LEVEL",
    "A field may leave its oneof.",
    "The {reader} schema has a field outside of every oneof that is in one in the {writer} schema",
)
EXTENSION_ADDED = _make_added("EXTENSION_ADDED", "An extension may be added.", "an extension")
EXTENSION_REMOVED = _make_removed("EXTENSION_REMOVED", "An extension may be removed.", "an extension")
EXTENSION_RANGE_CHANGED = _make_rule(
    "EXTENSION_RANGE_CHANGED",
    "A message may offer other numbers to extensions: unknown fields are kept as they were written.",
    "The {reader} and the {writer} schema offer different numbers to extensions",
)
RESERVED_NUMBER_USED = _make_rule(
    "RESERVED_NUMBER_USED",
    "A number that was set aside is better not used again: old data may still hold what once had it.",
    "The {reader} schema uses a number that the {writer} schema reserves",
)
RESERVED_NAME_USED = _make_rule(
    "RESERVED_NAME_USED",
    "A name that was set aside is better not used again: JSON data may still hold what once had it.",
    "The {reader} schema uses a name that the {writer} schema reserves",
)

HARMLESS: Mapping[str, CompatibilityRule] = {
    rule.id: rule
    for rule in (
        MESSAGE_ADDED,
        MESSAGE_MOVED,
        ENUM_ADDED,
        ENUM_REMOVED,
        ENUM_CONST_ADDED,
        ENUM_CONST_CHANGED,
        ENUM_CONST_REMOVED,
        FIELD_ADDED,
        FIELD_REMOVED,
        FIELD_NAME_CHANGED,
        FIELD_STRING_OR_BYTES_LABEL_CHANGED,
        ONEOF_ADDED,
        ONEOF_REMOVED,
        ONEOF_FIELD_ADDED,
        ONEOF_FIELD_MOVED_TO_TOP_LEVEL,
        EXTENSION_ADDED,
        EXTENSION_REMOVED,
        EXTENSION_RANGE_CHANGED,
        RESERVED_NUMBER_USED,
        RESERVED_NAME_USED,
    )
}
"""Harmless differences by their identifiers."""

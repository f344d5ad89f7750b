"""Rules of our own: changes that the established ones let pass although bytes would not be read, or read as nothing."""

from collections.abc import Mapping

from treaty.formats.rule import CompatibilityRule

FIELD_BECAME_REQUIRED = CompatibilityRule(
    "FIELD_BECAME_REQUIRED",
    "A field that the writer may leave out is not required.",
    "A field at path '{path}' is required in the {reader} schema and may be missing in the {writer} schema",
    "leave the field optional",
    "backward",
)
REQUIRED_ENUM_NARROWED = CompatibilityRule(
    "REQUIRED_ENUM_NARROWED",
    "A required field of a closed enum knows every number that the writer may write: of any other it would be missing.",
    "A required field at path '{path}' has a closed enum in the {reader} schema, which lacks numbers of the {writer} schema",
    "keep the values of the enum, or make the field optional first",
    "backward",
)
FIELD_LIST_READ_AS_ONE = CompatibilityRule(
    "FIELD_LIST_READ_AS_ONE",
    "A list of numbers is not read as one number: packed ones would be skipped, of others all but the last.",
    "A NUMERIC field at path '{path}' is repeated in the {writer} schema and not in the {reader} schema",
    "keep the field repeated, or add a field with a new number",
    "backward",
)
FIELD_BYTES_READ_AS_TEXT = CompatibilityRule(
    "FIELD_BYTES_READ_AS_TEXT",
    "Bytes are not read as a string that has to be UTF-8: one wrong byte and the whole message is refused.",
    "A field at path '{path}' is bytes in the {writer} schema and a string that is checked in the {reader} schema",
    "keep bytes, or add a string field with a new number; a string may become bytes",
    "backward",
)
FIELD_ENCODING_CHANGED = CompatibilityRule(
    "FIELD_ENCODING_CHANGED",
    "A message field keeps its encoding: between marks as a group is, or with its length in front.",
    "A message field at path '{path}' is encoded in another way in the {reader} schema than in the {writer} schema",
    "keep the group a group (in editions: features.message_encoding), or add a field with a new number",
)
MESSAGE_SET_CHANGED = CompatibilityRule(
    "MESSAGE_SET_CHANGED",
    "A message keeps the option message_set_wire_format, which encodes its extensions in another way.",
    "The message at path '{path}' is a message set in one of the {reader} and the {writer} schema only",
    "keep the option, or use another message",
)
COMPARISON_TOO_LARGE = CompatibilityRule(
    "COMPARISON_TOO_LARGE",
    "Two schemas can be compared in bounded time, COMPARE_STEPS.",
    "The {reader} and the {writer} schema can't be compared within {detail} steps",
    "use fewer references, or several smaller schemas",
)

OWN: Mapping[str, CompatibilityRule] = {
    rule.id: rule
    for rule in (
        FIELD_BECAME_REQUIRED,
        REQUIRED_ENUM_NARROWED,
        FIELD_LIST_READ_AS_ONE,
        FIELD_BYTES_READ_AS_TEXT,
        FIELD_ENCODING_CHANGED,
        MESSAGE_SET_CHANGED,
        COMPARISON_TOO_LARGE,
    )
}
"""Our rules by their identifiers."""

"""Serialization formats: Pravega's words for them, those of the registry, and the names of custom ones.

The registry's word of a custom format is its full type name in capitals. The name as it was written is kept in a property
of the group or the version, which clients do not see.
"""

from collections.abc import Mapping

from treaty.core.messages.groups import ANY_FORMAT, FORMAT
from treaty.core.refusals import Invalid, InvalidSchema
from treaty.core.schema import Pairs
from treaty.wire.pravega.bodies import SerializationFormatBody

PARSED: Mapping[str, str] = {"Avro": "AVRO", "Protobuf": "PROTOBUF", "Json": "JSON"}
"""Formats that are parsed: Pravega's word and the registry's."""
ANY, CUSTOM = "Any", "Custom"
WORDS = (*PARSED, ANY, CUSTOM)
FULL_NAME = "pravega.full-type-name"
"""The property that keeps the name of a custom format as its clients write it."""
_PRAVEGA = {word: name for name, word in PARSED.items()}


def group_format_of(body: SerializationFormatBody | None) -> Pairs:
    """Read the format of a group as properties of its subject; raises `Invalid`."""
    if body is not None and body.serialization_format == ANY:
        return ((FORMAT, ANY_FORMAT),)
    word, format_properties = schema_format_of(body)
    return ((FORMAT, word), *format_properties)


def schema_format_of(body: SerializationFormatBody | None) -> tuple[str, Pairs]:
    """Read the format of a schema: the registry's word, and the property that keeps its name; raises `Invalid`."""
    name = "" if body is None else body.serialization_format
    if body is None or name not in WORDS or name == ANY:
        allowed = ", ".join(one for one in WORDS if one != ANY)
        raise Invalid.of(
            "SERIALIZATION_FORMAT",
            f"There is no serialization format '{name[:100]}' of a schema",
            path="/serializationFormat/serializationFormat",
            new=name[:100],
            allowed=f"{allowed}; {ANY} for a group",
        )
    if name in PARSED:
        return PARSED[name], ()
    return custom_format(body.full_type_name or "")


def custom_format(full: str) -> tuple[str, Pairs]:
    """Return the registry's word of a custom format, and the property that keeps its name; raises `Invalid`."""
    word = custom_word(full)
    return word, (((FULL_NAME, full),) if word != full else ())


def custom_word(full: str) -> str:
    """Return the registry's word of a custom format; raises `Invalid` for a name that can't be one."""
    word = full.upper()
    if not word or word in PARSED.values() or word == ANY_FORMAT.upper():
        raise Invalid.of(
            "FULL_TYPE_NAME",
            f"A custom serialization format can't have the full type name '{full[:100]}'",
            path="/serializationFormat/fullTypeName",
            new=full[:100],
            allowed="a name that is not that of a format of the registry",
        )
    return word


def format_in_path(text: str) -> str:
    """Return the registry's word for a format in a path, in any letter case."""
    return text.upper()


def format_body(word: str, properties: Pairs) -> SerializationFormatBody:
    """Print a format; `properties` are those of its group or version."""
    if word == ANY_FORMAT:
        return SerializationFormatBody(ANY, ANY)
    name = _PRAVEGA.get(word)
    return (
        SerializationFormatBody(name, name)
        if name is not None
        else SerializationFormatBody(CUSTOM, _full_name(word, properties))
    )


def format_name(word: str, properties: Pairs) -> str:
    """Return the full name of a version's format."""
    return _PRAVEGA.get(word) or _full_name(word, properties)


def _full_name(word: str, properties: Pairs) -> str:
    full_name = dict(properties).get(FULL_NAME, "")
    return full_name if full_name.upper() == word else word


def refuse_kept_name(properties: Mapping[str, str]) -> None:
    """Raise `InvalidSchema` for a property that a client may not set, because it keeps the name of the format."""
    if FULL_NAME in properties:
        raise InvalidSchema.of(
            "PROPERTY_RESERVED",
            f"The name '{FULL_NAME}' is reserved",
            path="/properties",
            new=FULL_NAME,
            allowed="another name",
        )


def shown_properties(properties: Pairs) -> dict[str, str]:
    """Return the properties that clients see: those that they set."""
    return {name: value for name, value in properties if name not in {FORMAT, FULL_NAME}}

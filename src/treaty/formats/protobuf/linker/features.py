"""Features: how a definition behaves under its syntax or edition, and what it inherits."""

from collections.abc import Iterable, Mapping

from treaty.formats.protobuf.model import (
    AggregateValue,
    Constant,
    Enum,
    IdentifierValue,
    Message,
    ProtoOption,
    ProtoSchema,
    ProtoSymbol,
)

Features = Mapping[str, str]
"""Names of features and of their values."""

_PROTO2: Features = {
    "field_presence": "EXPLICIT",
    "enum_type": "CLOSED",
    "repeated_field_encoding": "EXPANDED",
    "utf8_validation": "NONE",
    "message_encoding": "LENGTH_PREFIXED",
    "json_format": "LEGACY_BEST_EFFORT",
    "enforce_naming_style": "STYLE_LEGACY",
    "default_symbol_visibility": "EXPORT_ALL",
}
_PROTO3: Features = {
    **_PROTO2,
    "field_presence": "IMPLICIT",
    "enum_type": "OPEN",
    "repeated_field_encoding": "PACKED",
    "utf8_validation": "VERIFY",
    "json_format": "ALLOW",
}
_2023: Features = {**_PROTO3, "field_presence": "EXPLICIT"}
_2024: Features = {**_2023, "enforce_naming_style": "STYLE2024", "default_symbol_visibility": "EXPORT_TOP_LEVEL"}

DEFAULTS: Mapping[str, Features] = {"proto2": _PROTO2, "proto3": _PROTO3, "2023": _2023, "2024": _2024}
"""What a file begins with, by its dialect."""


def read_features(options: Iterable[ProtoOption]) -> dict[str, str]:
    """The features that a definition sets itself."""
    features: dict[str, str] = {}
    for option in options:
        if option.name[0] == "features":
            _put(features, option.name[1:], option.value)
    return features


def _put(features: dict[str, str], name: tuple[str, ...], value: Constant) -> None:
    if len(name) == 1 and isinstance(value, IdentifierValue):
        features[name[0]] = value.text
    elif not name and isinstance(value, AggregateValue):
        for member, inner in value.members:
            if isinstance(inner, IdentifierValue):
                features[member] = inner.text


def inherit_features(parent: Features, options: tuple[ProtoOption, ...]) -> Features:
    """The features of a definition inside one that has `parent`."""
    if not options:
        return parent
    own = read_features(options)
    return {**parent, **own} if own else parent


def get_features(schema: ProtoSchema, full: str) -> Features:
    """The features of a message or enum of a file, by its full name."""
    file = schema.file
    features = inherit_features(DEFAULTS[file.dialect], file.options)
    if not file.edition:
        return features
    rest = full[len(file.package) + 1 :] if file.package else full
    scope = file.package
    for part in rest.split("."):
        scope = f"{scope}.{part}" if scope else part
        symbol = schema.symbols.get(scope)
        if symbol is not None and isinstance(symbol.node, Message | Enum):
            features = inherit_features(features, symbol.node.options)
    return features


def is_closed(schema: ProtoSchema, symbol: ProtoSymbol) -> bool:
    """Whether an enum has no other values than its own; `schema` is any that needs its file."""
    home = schema.files.get(symbol.path, schema)
    return get_features(home, symbol.full)["enum_type"] == "CLOSED"

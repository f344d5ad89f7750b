"""Names that meet outside of Protobuf: in JSON, and in code that is made for enums."""

import re

from treaty.formats.protobuf.descriptors.names import get_json_name
from treaty.formats.protobuf.linker.diagnostics import DiagnosticList
from treaty.formats.protobuf.linker.features import Features
from treaty.formats.protobuf.model import Enum, Field, IdentifierValue, Message

_TITLE = re.compile(r"[A-Z][A-Za-z0-9]*")
_LOWER = re.compile(r"[a-z][a-z0-9]*(?:_[a-z][a-z0-9]*)*")
_UPPER = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z][A-Z0-9]*)*")
_STYLES = {
    "message": _TITLE,
    "enum": _TITLE,
    "service": _TITLE,
    "method": _TITLE,
    "field": _LOWER,
    "oneof": _LOWER,
    "extension": _LOWER,
    "value": _UPPER,
}


def is_unstyled(kind: str, name: str, features: Features) -> bool:
    """Whether a name is not in the style that the edition asks for."""
    return features["enforce_naming_style"] != "STYLE_LEGACY" and not _STYLES[kind].fullmatch(name)


def check_package_style(package: str, features: Features, faults: DiagnosticList) -> None:
    """Check the parts of a package's name."""
    if features["enforce_naming_style"] != "STYLE_LEGACY" and package:
        for part in package.split("."):
            if not _LOWER.fullmatch(part):
                faults.add("NAME_STYLE", package, f"the part {part!r} of the package", expected="lower_snake_case")


def get_custom_json_name(field: Field) -> str | None:
    """The name in JSON that a field's options give it, if that is not its default one."""
    for option in field.options:
        if option.name == ("json_name",) and isinstance(option.value, bytes):
            name = option.value.decode("utf-8", "replace")
            return None if name == get_json_name(field.name) else name
    return None


def check_json_names(message: Message, full: str, features: Features, faults: DiagnosticList) -> None:
    """Fields that have the same name in JSON: by default, or once given names count."""
    legacy = any(
        option.name == ("deprecated_legacy_json_field_conflicts",) and option.value == IdentifierValue("true")
        for option in message.options
    )
    strict = features["json_format"] == "ALLOW"
    by_default = strict and not legacy
    custom_names: list[tuple[Field, str]] = []
    default: dict[str, Field] = {}
    for field in message.all_fields:
        name = get_json_name(field.name)
        other = default.setdefault(name, field)
        if other is not field and by_default:
            message_ = f"{field.name!r} and {other.name!r} are both {name!r} in JSON"
            faults.add("JSON_NAME_CONFLICT", f"{full}.{field.name}", message_, field.place)
        if field.options:
            custom = get_custom_json_name(field)
            if custom is not None:
                custom_names.append((field, custom))
    if custom_names and not legacy:
        _given_names(custom_names, default, full, faults, strict=strict)


def _given_names(
    custom_names: list[tuple[Field, str]], default: dict[str, Field], full: str, faults: DiagnosticList, *, strict: bool
) -> None:
    """Given names against each other, and against the default names of the fields that have no other."""
    fields: dict[str, Field] = {}
    renamed = {field.name for field, _ in custom_names}
    for field, name in custom_names:
        path = f"{full}.{field.name}"
        if name.startswith("[") and name.endswith("]"):
            faults.add("JSON_NAME_ILLEGAL", path, f"the name {name!r} in JSON", field.place)
            continue
        other = fields.setdefault(name, field)
        if other is field and strict:
            other = default.get(name, field)
            other = field if other.name in renamed else other
        if other is not field:
            message = f"{field.name!r} and {other.name!r} are both {name!r} in JSON"
            faults.add("JSON_NAME_CONFLICT", path, message, field.place)


def check_alike_names(enum: Enum, faults: DiagnosticList, full: str) -> None:
    """Values whose names differ only in case, underscores, or the enum's name before them, and that are not the same."""
    bare = enum.name.replace("_", "").lower()
    by_name: dict[str, tuple[str, int]] = {}
    for value in enum.values:
        name = _pascal(_strip_prefix(value.name, bare))
        other, number = by_name.setdefault(name, (value.name, value.number))
        if other != value.name and number != value.number:
            message = f"{value.name!r} and {other!r} are alike"
            faults.add("ENUM_NAMES_ALIKE", f"{full}.{value.name}", message, value.place)


def _strip_prefix(name: str, prefix: str) -> str:
    """A value's name without the enum's before it, underscores and case not counted."""
    matched = 0
    for index, char in enumerate(name):
        if matched == len(prefix):
            return name[index:].lstrip("_") or name
        if char == "_":
            continue
        if char.lower() != prefix[matched]:
            return name
        matched += 1
    return name


def _pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:].lower() for part in name.split("_"))

"""Fields: labels, defaults, maps, and options that suit only some types."""

from dataclasses import dataclass

from treaty.formats.protobuf.linker.diagnostics import DiagnosticList
from treaty.formats.protobuf.linker.features import Features, is_closed, read_features
from treaty.formats.protobuf.model import (
    Constant,
    Enum,
    Field,
    IdentifierValue,
    Message,
    ProtoOption,
    ProtoSchema,
    ProtoSymbol,
    SignedZero,
)
from treaty.formats.protobuf.syntax.messages import SCALARS
from treaty.formats.protobuf.validation.constants import FLOATS, LIMITS, describe_constant
from treaty.formats.protobuf.validation.names import get_custom_json_name

_KEYS = frozenset(LIMITS) | {"bool", "string"}
_WIDE = frozenset(("int64", "uint64", "sint64", "fixed64", "sfixed64"))
_UNPACKED = frozenset(("string", "bytes"))


@dataclass(frozen=True, slots=True)
class FieldContext:
    """Where a field stands: its full name, its type if that is no scalar, its features, and what is around it."""

    full: str
    type: ProtoSymbol | None
    features: Features
    extends: ProtoSymbol | None = None
    in_oneof: bool = False


class FieldValidator:
    """Checks the fields of one file."""

    def __init__(self, schema: ProtoSchema, faults: DiagnosticList) -> None:
        """For this schema; faults go to `faults`."""
        self.schema = schema
        self.faults = faults
        self.dialect = schema.file.dialect
        self.proto3 = self.dialect == "proto3"
        self.editions = bool(schema.file.edition)
        self._closed: dict[str, bool] = {}
        self._values: dict[str, frozenset[str]] = {}

    def add(self, rule: str, field: Field, full: str, message: str, expected: str = "") -> None:
        """A fault of a field."""
        self.faults.add(rule, full, message, field.place, expected)

    def check(self, field: Field, here: FieldContext) -> None:
        """All rules of a field but those of its number, name and the options themselves."""
        full = here.full
        if field.label == "required":
            if here.extends is not None:
                self.add("REQUIRED_NOT_ALLOWED", field, full, "a required extension")
            elif self.proto3:
                self.add("REQUIRED_NOT_ALLOWED", field, full, "a required field in proto3")
        if self.proto3 and field.group is not None:
            self.add("GROUP_NOT_ALLOWED", field, full, f"the group {field.name!r} in proto3")
        if field.key:
            self.check_map(field, here)
        if here.type is not None:
            self.check_named(field, here)
        if field.options:
            self.options(field, here)
        if self.editions:
            self.check_features(field, here)

    def check_map(self, field: Field, here: FieldContext) -> None:
        """Keys and values of a map."""
        if field.key not in _KEYS:
            self.add("MAP_KEY", field, here.full, f"keys of the type {field.key!r}")
        node = here.type.node if here.type is not None else None
        if isinstance(node, Enum) and node.values and node.values[0].number != 0:
            self.add("MAP_VALUE", field, here.full, f"the enum {node.name!r} begins with {node.values[0].number}")

    def check_named(self, field: Field, here: FieldContext) -> None:
        """A field whose type is a message or enum."""
        assert here.type is not None
        if isinstance(here.type.node, Enum):
            if (self.proto3 or self.is_implicit(field, here, entries=True)) and self.is_closed(here.type):
                where = "a proto3 message" if self.proto3 else "a field of implicit presence"
                self.add("ENUM_CLOSED", field, here.full, f"the closed enum {here.type.full!r} in {where}")
        elif isinstance(here.type.node, Message) and any(one.name == ("map_entry",) for one in here.type.node.options):
            self.add("MAP_BY_HAND", field, here.full, f"{here.type.full!r} is the entry of a map")

    def is_closed(self, enum: ProtoSymbol) -> bool:
        """Whether an enum is closed, found out once."""
        found = self._closed.get(enum.full)
        if found is None:
            found = self._closed[enum.full] = is_closed(self.schema, enum)
        return found

    def has_value(self, enum: ProtoSymbol, value: Constant) -> bool:
        """Whether a constant names a value of an enum."""
        names = self._values.get(enum.full)
        if names is None:
            node = enum.node
            names = frozenset(one.name for one in node.values) if isinstance(node, Enum) else frozenset[str]()
            self._values[enum.full] = names
        return isinstance(value, IdentifierValue) and value.text in names

    def options(self, field: Field, here: FieldContext) -> None:
        """Default, name in JSON, and the options that suit only some types."""
        full = here.full
        once: set[tuple[str, ...]] = set()
        for option in field.options:
            name = option.name
            if name == ("default",):
                self.check_default(field, here, option.value)
            elif name == ("json_name",):
                self.check_json_name(field, here, option)
            if name in (("default",), ("json_name",)):
                if name in once:
                    self.add("OPTION_TWICE", field, full, f"{name[0]} is set twice")
                once.add(name)
        self.check_suited(field, here)

    def check_json_name(self, field: Field, here: FieldContext, option: ProtoOption) -> None:
        """The name in JSON that an option gives."""
        if not isinstance(option.value, bytes):
            self.add(
                "OPTION_VALUE",
                field,
                here.full,
                f"json_name is {describe_constant(option.value)}",
                "a string in quotes",
            )
        elif b"\0" in option.value or not _is_text(option.value):
            self.add("JSON_NAME_ILLEGAL", field, here.full, "a name in JSON with NUL in it, or that is no UTF-8")
        elif here.extends is not None and get_custom_json_name(field) is not None:
            self.add("JSON_NAME_ILLEGAL", field, here.full, "a name in JSON for an extension")

    def check_suited(self, field: Field, here: FieldContext) -> None:
        """Options that say something about single types."""
        set_to = {one.name[0]: one.value for one in field.options if len(one.name) == 1}
        true = IdentifierValue("true")
        repeated = field.label == "repeated" or bool(field.key)
        packable = repeated and not field.key and field.type not in _UNPACKED and not self.holds_message(here)
        scalar = field.type if not field.key else "message"
        if set_to.get("packed") == true and not packable:
            self.add_misplaced(field, here, "packed = true", "repeated fields of numbers, bools and enums")
        if "packed" in set_to and self.editions:
            self.add_misplaced(field, here, "packed", "proto2 and proto3; editions have repeated_field_encoding")
        delimited = field.group is not None or here.features["message_encoding"] == "DELIMITED"
        message = bool(field.key) or (self.holds_message(here) and not delimited)
        if true in (set_to.get("lazy"), set_to.get("unverified_lazy")) and not message:
            self.add_misplaced(field, here, "lazy", "fields that hold a message")
        if set_to.get("jstype", IdentifierValue("JS_NORMAL")) != IdentifierValue("JS_NORMAL") and scalar not in _WIDE:
            self.add_misplaced(field, here, "jstype", "fields of whole numbers with 64 bits")
        if "ctype" in set_to and self.editions and self.dialect >= "2024":
            self.add_misplaced(field, here, "ctype", "syntaxes before edition 2024")

    def add_misplaced(self, field: Field, here: FieldContext, what: str, where: str) -> None:
        """A fault for an option on a field that can't have it."""
        self.add("OPTION_MISPLACED", field, here.full, f"{what} on {field.name!r}", where)

    def is_implicit(self, field: Field, here: FieldContext, *, entries: bool = False) -> bool:
        """Whether a field of an edition that is not set can't be distinguished from one that has its type's zero.

        With `entries` a map counts as the field for its values.
        """
        alone = here.extends is None and not here.in_oneof and field.label != "repeated" and (entries or not field.key)
        return self.editions and alone and here.features["field_presence"] == "IMPLICIT"

    def holds_message(self, here: FieldContext) -> bool:
        """Whether a field's type is a message."""
        return here.type is not None and here.type.kind == "message"

    def check_default(self, field: Field, here: FieldContext, value: Constant) -> None:
        """A default: that there may be one, and that it is of the field's type."""
        full = here.full
        if self.proto3:
            self.add("DEFAULT_NOT_ALLOWED", field, full, "a default in proto3")
        elif field.label == "repeated" or field.key:
            self.add("DEFAULT_NOT_ALLOWED", field, full, "a default of a field that takes many values")
        elif self.holds_message(here) or field.group is not None:
            self.add("DEFAULT_NOT_ALLOWED", field, full, "a default of a message")
        elif self.is_implicit(field, here):
            self.add("DEFAULT_NOT_ALLOWED", field, full, "a default of a field without presence")
        elif field.type in SCALARS:
            expected = _unfit(field.type, value)
            if expected:
                self.add("DEFAULT_INVALID", field, full, f"the default is {describe_constant(value)}", expected)
        elif here.type is not None and not self.has_value(here.type, value):
            self.add(
                "DEFAULT_INVALID",
                field,
                full,
                f"the default is {describe_constant(value)}",
                f"a value of {here.type.full}",
            )

    def check_features(self, field: Field, here: FieldContext) -> None:
        """Features that a field sets itself, and what is left of them after inheritance."""
        features = here.features
        if here.extends is not None and features["field_presence"] == "LEGACY_REQUIRED":
            self.add("REQUIRED_NOT_ALLOWED", field, here.full, "an extension with LEGACY_REQUIRED")
        mine = read_features(field.options) if field.options else {}
        if not mine:
            return
        repeated = field.label == "repeated" or bool(field.key)
        message = self.holds_message(here)
        presence = mine.get("field_presence")
        if presence:
            if here.in_oneof or repeated:
                self.add_unfit(field, here, "field_presence", "fields outside of oneofs that are not repeated")
            elif here.extends is not None and presence != "LEGACY_REQUIRED":
                self.add_unfit(field, here, "field_presence", "fields that are no extensions")
            elif message and presence == "IMPLICIT":
                self.add_unfit(field, here, "field_presence = IMPLICIT", "fields that hold no message")
        packing = mine.get("repeated_field_encoding")
        if packing and not repeated:
            self.add_unfit(field, here, "repeated_field_encoding", "repeated fields")
        elif packing == "PACKED" and (field.key or message or field.type in _UNPACKED):
            self.add_unfit(field, here, "repeated_field_encoding = PACKED", "repeated numbers, bools and enums")
        if "utf8_validation" in mine and field.type != "string" and field.key != "string":
            self.add_unfit(field, here, "utf8_validation", "fields of strings")
        if "message_encoding" in mine and (not message or field.key):
            self.add_unfit(field, here, "message_encoding", "fields that hold a message")

    def add_unfit(self, field: Field, here: FieldContext, what: str, where: str) -> None:
        """A fault for a feature on a field that can't have it."""
        self.add("FEATURE_MISPLACED", field, here.full, f"{what} on {field.name!r}", where)


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _unfit(kind: str, value: Constant) -> str:
    """What a default of a scalar type should have been; empty where it is right."""
    bounds = LIMITS.get(kind)
    if bounds is not None:
        signless = not bounds[0] and isinstance(value, SignedZero)
        right = isinstance(value, int) and bounds[0] <= value <= bounds[1] and not signless
        return "" if right else f"a whole number from {bounds[0]} to {bounds[1]}"
    if kind in FLOATS:
        right = isinstance(value, int | float) or value in (IdentifierValue("inf"), IdentifierValue("nan"))
        return "" if right else "a number, inf or nan"
    if kind == "bool":
        return "" if value in (IdentifierValue("true"), IdentifierValue("false")) else "true or false"
    return "" if isinstance(value, bytes) else "a string in quotes"

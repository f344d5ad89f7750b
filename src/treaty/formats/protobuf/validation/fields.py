"""Rules of single fields: labels, defaults, maps, names in JSON, and options that suit only some types."""

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

    def check(self, field: Field, context: FieldContext) -> None:
        """All rules of a field but those of its number, name and the options themselves."""
        full = context.full
        if field.label == "required":
            if context.extends is not None:
                self.add("REQUIRED_NOT_ALLOWED", field, full, "a required extension")
            elif self.proto3:
                self.add("REQUIRED_NOT_ALLOWED", field, full, "a required field in proto3")
        if self.proto3 and field.group is not None:
            self.add("GROUP_NOT_ALLOWED", field, full, f"the group {field.name!r} in proto3")
        if field.key:
            self.check_map(field, context)
        if context.type is not None:
            self.check_named(field, context)
        if field.options:
            self.options(field, context)
        if self.editions:
            self.check_features(field, context)

    def check_map(self, field: Field, context: FieldContext) -> None:
        """Keys and values of a map."""
        if field.key not in _KEYS:
            self.add("MAP_KEY", field, context.full, f"keys of the type {field.key!r}")
        node = context.type.node if context.type is not None else None
        if isinstance(node, Enum) and node.values and node.values[0].number != 0:
            self.add("MAP_VALUE", field, context.full, f"the enum {node.name!r} begins with {node.values[0].number}")

    def check_named(self, field: Field, context: FieldContext) -> None:
        """A field whose type is a message or enum."""
        assert context.type is not None
        if isinstance(context.type.node, Enum):
            if (self.proto3 or self.is_implicit(field, context, entries=True)) and self.is_closed(context.type):
                where = "a proto3 message" if self.proto3 else "a field of implicit presence"
                self.add("ENUM_CLOSED", field, context.full, f"the closed enum {context.type.full!r} in {where}")
        elif isinstance(context.type.node, Message) and any(
            option.name == ("map_entry",) for option in context.type.node.options
        ):
            self.add("MAP_BY_HAND", field, context.full, f"{context.type.full!r} is the entry of a map")

    def is_closed(self, enum: ProtoSymbol) -> bool:
        """Whether an enum is closed, found out once."""
        closed = self._closed.get(enum.full)
        if closed is None:
            closed = self._closed[enum.full] = is_closed(self.schema, enum)
        return closed

    def has_value(self, enum: ProtoSymbol, value: Constant) -> bool:
        """Whether a constant names a value of an enum."""
        names = self._values.get(enum.full)
        if names is None:
            node = enum.node
            names = frozenset(one.name for one in node.values) if isinstance(node, Enum) else frozenset[str]()
            self._values[enum.full] = names
        return isinstance(value, IdentifierValue) and value.text in names

    def options(self, field: Field, context: FieldContext) -> None:
        """Default, name in JSON, and the options that suit only some types."""
        full = context.full
        once: set[tuple[str, ...]] = set()
        for option in field.options:
            name = option.name
            if name == ("default",):
                self.check_default(field, context, option.value)
            elif name == ("json_name",):
                self.check_json_name(field, context, option)
            if name in (("default",), ("json_name",)):
                if name in once:
                    self.add("OPTION_TWICE", field, full, f"{name[0]} is set twice")
                once.add(name)
        self.check_suited(field, context)

    def check_json_name(self, field: Field, context: FieldContext, option: ProtoOption) -> None:
        """The name in JSON that an option gives."""
        if not isinstance(option.value, bytes):
            self.add(
                "OPTION_VALUE",
                field,
                context.full,
                f"json_name is {describe_constant(option.value)}",
                "a string in quotes",
            )
        elif b"\0" in option.value or not _is_text(option.value):
            self.add("JSON_NAME_ILLEGAL", field, context.full, "a name in JSON with NUL in it, or that is no UTF-8")
        elif context.extends is not None and get_custom_json_name(field) is not None:
            self.add("JSON_NAME_ILLEGAL", field, context.full, "a name in JSON for an extension")

    def check_suited(self, field: Field, context: FieldContext) -> None:
        """Options that say something about single types."""
        set_to = {one.name[0]: one.value for one in field.options if len(one.name) == 1}
        true = IdentifierValue("true")
        repeated = field.label == "repeated" or bool(field.key)
        packable = repeated and not field.key and field.type not in _UNPACKED and not self.holds_message(context)
        scalar = field.type if not field.key else "message"
        if set_to.get("packed") == true and not packable:
            self.add_misplaced(field, context, "packed = true", "repeated fields of numbers, bools and enums")
        if "packed" in set_to and self.editions:
            self.add_misplaced(field, context, "packed", "proto2 and proto3; editions have repeated_field_encoding")
        delimited = field.group is not None or context.features["message_encoding"] == "DELIMITED"
        message = bool(field.key) or (self.holds_message(context) and not delimited)
        if true in (set_to.get("lazy"), set_to.get("unverified_lazy")) and not message:
            self.add_misplaced(field, context, "lazy", "fields that hold a message")
        if set_to.get("jstype", IdentifierValue("JS_NORMAL")) != IdentifierValue("JS_NORMAL") and scalar not in _WIDE:
            self.add_misplaced(field, context, "jstype", "fields of whole numbers with 64 bits")
        if "ctype" in set_to and self.editions and self.dialect >= "2024":
            self.add_misplaced(field, context, "ctype", "syntaxes before edition 2024")

    def add_misplaced(self, field: Field, context: FieldContext, what: str, where: str) -> None:
        """A fault for an option on a field that can't have it."""
        self.add("OPTION_MISPLACED", field, context.full, f"{what} on {field.name!r}", where)

    def is_implicit(self, field: Field, context: FieldContext, *, entries: bool = False) -> bool:
        """Whether a field of an edition that is not set can't be distinguished from one that has its type's zero.

        With `entries` a map counts as the field for its values.
        """
        alone = (
            context.extends is None
            and not context.in_oneof
            and field.label != "repeated"
            and (entries or not field.key)
        )
        return self.editions and alone and context.features["field_presence"] == "IMPLICIT"

    def holds_message(self, context: FieldContext) -> bool:
        """Whether a field's type is a message."""
        return context.type is not None and context.type.kind == "message"

    def check_default(self, field: Field, context: FieldContext, value: Constant) -> None:
        """A default: that there may be one, and that it is of the field's type."""
        full = context.full
        if self.proto3:
            self.add("DEFAULT_NOT_ALLOWED", field, full, "a default in proto3")
        elif field.label == "repeated" or field.key:
            self.add("DEFAULT_NOT_ALLOWED", field, full, "a default of a field that takes many values")
        elif self.holds_message(context) or field.group is not None:
            self.add("DEFAULT_NOT_ALLOWED", field, full, "a default of a message")
        elif self.is_implicit(field, context):
            self.add("DEFAULT_NOT_ALLOWED", field, full, "a default of a field without presence")
        elif field.type in SCALARS:
            expected = _find_expected(field.type, value)
            if expected:
                self.add("DEFAULT_INVALID", field, full, f"the default is {describe_constant(value)}", expected)
        elif context.type is not None and not self.has_value(context.type, value):
            self.add(
                "DEFAULT_INVALID",
                field,
                full,
                f"the default is {describe_constant(value)}",
                f"a value of {context.type.full}",
            )

    def check_features(self, field: Field, context: FieldContext) -> None:
        """Features that a field sets itself, and what is left of them after inheritance."""
        features = context.features
        if context.extends is not None and features["field_presence"] == "LEGACY_REQUIRED":
            self.add("REQUIRED_NOT_ALLOWED", field, context.full, "an extension with LEGACY_REQUIRED")
        own = read_features(field.options) if field.options else {}
        if not own:
            return
        repeated = field.label == "repeated" or bool(field.key)
        message = self.holds_message(context)
        presence = own.get("field_presence")
        if presence:
            if context.in_oneof or repeated:
                self.add_unfit(field, context, "field_presence", "fields outside of oneofs that are not repeated")
            elif context.extends is not None and presence != "LEGACY_REQUIRED":
                self.add_unfit(field, context, "field_presence", "fields that are no extensions")
            elif message and presence == "IMPLICIT":
                self.add_unfit(field, context, "field_presence = IMPLICIT", "fields that hold no message")
        packing = own.get("repeated_field_encoding")
        if packing and not repeated:
            self.add_unfit(field, context, "repeated_field_encoding", "repeated fields")
        elif packing == "PACKED" and (field.key or message or field.type in _UNPACKED):
            self.add_unfit(field, context, "repeated_field_encoding = PACKED", "repeated numbers, bools and enums")
        if "utf8_validation" in own and field.type != "string" and field.key != "string":
            self.add_unfit(field, context, "utf8_validation", "fields of strings")
        if "message_encoding" in own and (not message or field.key):
            self.add_unfit(field, context, "message_encoding", "fields that hold a message")

    def add_unfit(self, field: Field, context: FieldContext, what: str, where: str) -> None:
        """A fault for a feature on a field that can't have it."""
        self.add("FEATURE_MISPLACED", field, context.full, f"{what} on {field.name!r}", where)


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _find_expected(kind: str, value: Constant) -> str:
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

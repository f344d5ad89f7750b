"""A linked Protobuf file against all rules of its syntax or edition: which checks its messages, fields, enums and services go through."""

from treaty.formats.protobuf.linker.diagnostics import DiagnosticList
from treaty.formats.protobuf.linker.features import DEFAULTS, Features, inherit_features, read_features
from treaty.formats.protobuf.linker.types import TypeResolver
from treaty.formats.protobuf.model import (
    Enum,
    ExtendStatement,
    Field,
    Message,
    ProtoOption,
    ProtoSchema,
    ProtoSymbol,
    RpcService,
    SourceLocation,
)
from treaty.formats.protobuf.syntax.ranges import MAX_NUMBER
from treaty.formats.protobuf.validation import extensions, messages, names
from treaty.formats.protobuf.validation.fields import FieldContext, FieldValidator
from treaty.formats.protobuf.validation.options import OptionResolver


def check_file(schema: ProtoSchema, faults: DiagnosticList) -> None:
    """Check a linked file; everything that is wrong goes to `faults`."""
    _FileValidator(schema, faults).file()


class _FileValidator:
    """Walks through one file, from the outside inwards."""

    def __init__(self, schema: ProtoSchema, faults: DiagnosticList) -> None:
        self.schema = schema
        self.faults = faults
        self.types = TypeResolver(schema, faults)
        self.fields = FieldValidator(schema, faults)
        self._options: OptionResolver | None = None
        self.dialect = schema.file.dialect
        self.editions = bool(schema.file.edition)
        self.styled = schema.file.edition >= "2024"
        self.ranges = extensions.ExtensionRanges()
        self.numbers: dict[tuple[str, int], str] = {}

    def options(self, options: tuple[ProtoOption, ...], kind: str, full: str) -> None:
        """Check the options of one definition."""
        if self._options is None:
            self._options = OptionResolver(self.schema, self.faults)
        self._options.resolve_all(options, kind, full)
        if self.editions:
            for name, value in read_features(options).items():
                if value.endswith("_UNKNOWN"):
                    self.faults.add("OPTION_VALUE", full, f"the feature {name} is {value}", options[0].place)

    def style(self, kind: str, name: str, full: str, features: Features, place: SourceLocation) -> None:
        """Check a name where the edition has a style."""
        if self.styled and names.is_unstyled(kind, name, features):
            self.faults.add("NAME_STYLE", full, f"the name {name!r} of this {kind}", place)

    def file(self) -> None:
        """Everything."""
        file = self.schema.file
        if file.options:
            self.options(file.options, "file", "")
        features = inherit_features(DEFAULTS[self.dialect], file.options)
        if self.editions:
            self.edition(features)
        if self.styled:
            extensions.check_option_imports(self.schema, self.faults)
            names.check_package_style(file.package, features, self.faults)
        if not extensions.is_lite(file):
            for path, linked in self.schema.imports.items():
                if extensions.is_lite(linked.file):
                    self.faults.add("LITE_CONFLICT", path, f"the import {path!r} is for the small runtime alone")
        prefix = f"{file.package}." if file.package else ""
        for message in file.messages:
            self.message(message, prefix + message.name, features)
        for enum in file.enums:
            self.enum(enum, prefix + enum.name, features)
        for extend in file.extends:
            self.extend(extend, file.package, features)
        for service in file.services:
            self.service(service, prefix + service.name, features)

    def edition(self, features: Features) -> None:
        """What an edition does not let a whole file say."""
        if features["field_presence"] == "LEGACY_REQUIRED":
            message = "all fields of the file would be required"
            self.faults.add("FEATURE_MISPLACED", "", message, expected="LEGACY_REQUIRED on single fields")
        if messages.is_enabled(self.schema.file.options, "java_string_check_utf8"):
            expected = "the feature (pb.java).utf8_validation"
            self.faults.add("OPTION_MISPLACED", "", "java_string_check_utf8 in an edition", expected=expected)

    def message(self, message: Message, full: str, outer: Features) -> None:
        """A message with everything inside."""
        features = inherit_features(outer, message.options)
        faults = self.faults
        if message.options:
            self.options(message.options, "message", full)
            self.kind_of_message(message, full)
        self.style("message", message.name, full, features, message.place)
        self.check_visibility(message, full, features)
        messages.check_numbers(message, full, faults)
        names.check_json_names(message, full, features, faults)
        self.check_extension_ranges(message, full)
        for field in message.fields:
            self.field(field, full, features)
        for oneof in message.oneofs:
            path = f"{full}.{oneof.name}"
            if not oneof.fields:
                faults.add("ONEOF_EMPTY", path, f"the oneof {oneof.name!r} without fields", oneof.place)
            if oneof.options:
                self.options(oneof.options, "oneof", path)
            inside = inherit_features(features, oneof.options)
            self.style("oneof", oneof.name, path, inside, oneof.place)
            for field in oneof.fields:
                self.field(field, full, inside, in_oneof=True)
        for nested in message.messages:
            self.message(nested, f"{full}.{nested.name}", features)
        for enum in message.enums:
            self.enum(enum, f"{full}.{enum.name}", features, owner=message)
        for extend in message.extends:
            self.extend(extend, full, features)

    def kind_of_message(self, message: Message, full: str) -> None:
        """Options that make a message something else: an entry of a map, or a set."""
        if messages.is_enabled(message.options, "map_entry"):
            self.faults.add("MAP_BY_HAND", full, "map_entry on a message", message.place)
        if messages.is_enabled(message.options, "message_set_wire_format"):
            if self.dialect == "proto3":
                self.faults.add("MESSAGE_SET", full, "a message set in proto3", message.place)
            elif message.all_fields:
                self.faults.add("MESSAGE_SET", full, "a message set with fields", message.place)

    def check_visibility(
        self, definition: Message | Enum, full: str, features: Features, owner: Message | None = None
    ) -> None:
        """What a strict visibility does not let inner definitions say."""
        if definition.visibility != "export" or features["default_symbol_visibility"] != "STRICT":
            return
        home = full.rpartition(".")[0]
        if home == self.schema.file.package:
            return
        if owner is not None and home.rpartition(".")[0] == self.schema.file.package and _is_namespace(owner):
            return
        message = f"{definition.name!r} is exported from inside another message"
        self.faults.add("VISIBILITY_NOT_ALLOWED", full, message, definition.place)

    def check_extension_ranges(self, message: Message, full: str) -> None:
        """Numbers left to extensions."""
        if not message.extensions:
            return
        if self.dialect == "proto3":
            place = message.extensions[0].place
            self.faults.add("EXTENSION_NOT_ALLOWED", full, "numbers left to extensions in proto3", place)
        for statement in message.extensions:
            if statement.options:
                self.options(statement.options, "extension range", full)
        extensions.check_declarations(message, full, self.faults)

    def field(self, field: Field, scope: str, outer: Features, *, in_oneof: bool = False) -> None:
        """A field of a message."""
        full = f"{scope}.{field.name}"
        features = inherit_features(outer, field.options) if self.editions else outer
        held = self.types.resolve_field(field, full)
        self.check_field(field, FieldContext(full, held, features, None, in_oneof))
        self.group(field, scope, features)

    def check_field(self, field: Field, context: FieldContext) -> None:
        """What holds for fields and extensions."""
        if field.options:
            self.options(field.options, "field", context.full)
        if self.styled:
            self.style("field", field.name, context.full, context.features, field.place)
        self.fields.check(field, context)

    def group(self, field: Field, scope: str, features: Features) -> None:
        """The message that a group defines."""
        if field.group is not None:
            self.message(field.group, f"{scope}.{field.type}" if scope else field.type, features)

    def extend(self, extend: ExtendStatement, scope: str, outer: Features) -> None:
        """Extensions of one message."""
        prefix = f"{scope}." if scope else ""
        path = prefix + extend.fields[0].name
        extended = self.types.resolve_message(extend.extendee, scope, path, extend.place)
        for field in extend.fields:
            full = prefix + field.name
            features = inherit_features(outer, field.options)
            held = self.types.resolve_field(field, full)
            if extended is not None:
                context = FieldContext(full, held, features, extended)
                extensions.check_extension(field, context, self.schema, self.ranges, self.faults)
                self.check_unique(field, full, extended)
                self.check_field(field, context)
            self.group(field, scope, features)

    def check_unique(self, field: Field, full: str, extended: ProtoSymbol) -> None:
        """No two extensions of a file under one number."""
        other = self.numbers.setdefault((extended.full, field.number), full)
        if other != full:
            message = f"{full!r} has the number {field.number} of {other!r}"
            self.faults.add("NUMBER_DUPLICATE", full, message, field.place)

    def enum(self, enum: Enum, full: str, outer: Features, owner: Message | None = None) -> None:
        """An enum with its values."""
        features = inherit_features(outer, enum.options)
        if enum.options:
            self.options(enum.options, "enum", full)
        self.style("enum", enum.name, full, features, enum.place)
        self.check_visibility(enum, full, features, owner)
        scope = full.rpartition(".")[0]
        messages.check_enum(enum, full, features, self.faults, proto2=self.dialect == "proto2")
        for value in enum.values:
            if value.options:
                self.options(value.options, "enum entry", f"{scope}.{value.name}" if scope else value.name)
            if self.styled:
                path = f"{full}.{value.name}"
                self.style("value", value.name, path, inherit_features(features, value.options), value.place)

    def service(self, service: RpcService, full: str, outer: Features) -> None:
        """A service with its methods."""
        features = inherit_features(outer, service.options)
        if service.options:
            self.options(service.options, "service", full)
        self.style("service", service.name, full, features, service.place)
        file = self.schema.file
        generic = ("cc_generic_services", "java_generic_services")
        if extensions.is_lite(file) and any(messages.is_enabled(file.options, one) for one in generic):
            message = f"the service {service.name!r} of a file for the small runtime"
            self.faults.add("LITE_CONFLICT", full, message, service.place)
        for method in service.methods:
            path = f"{full}.{method.name}"
            for written in (method.takes, method.returns):
                self.types.resolve_message(written, full, path, method.place)
            if method.options:
                self.options(method.options, "method", path)
            self.style("method", method.name, path, inherit_features(features, method.options), method.place)


def _is_namespace(message: Message) -> bool:
    """Whether a message is there for the names of its enums alone: local, with all numbers reserved."""
    ranges = [one for kept in message.reserved for one in kept.ranges]
    return message.visibility != "export" and [(one.start, one.end) for one in ranges] == [(1, MAX_NUMBER)]

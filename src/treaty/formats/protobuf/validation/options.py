"""Options: that they are there, set once, of the right type, and meant for where they stand."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from treaty.formats.protobuf.linker.diagnostics import DiagnosticList
from treaty.formats.protobuf.linker.link import DESCRIPTOR, get_known_schema
from treaty.formats.protobuf.model import (
    AggregateValue,
    Constant,
    Enum,
    Field,
    IdentifierValue,
    Message,
    ProtoOption,
    ProtoSchema,
    ProtoSymbol,
    find_symbol,
)
from treaty.formats.protobuf.validation.constants import ConstantValidator, FieldSlot, InvalidConstantError

HOLDERS: Mapping[str, str] = {
    "file": "FileOptions",
    "message": "MessageOptions",
    "field": "FieldOptions",
    "oneof": "OneofOptions",
    "enum": "EnumOptions",
    "enum entry": "EnumValueOptions",
    "service": "ServiceOptions",
    "method": "MethodOptions",
    "extension range": "ExtensionRangeOptions",
}
_NUMBERS = {"EDITION_PROTO2": 998, "EDITION_PROTO3": 999, "EDITION_2023": 1000, "EDITION_2024": 1001}
_DIALECTS = {"proto2": 998, "proto3": 999, "2023": 1000, "2024": 1001}
_LATER = 9999
Path = tuple[str, ...]


def get_descriptor_schema(schema: ProtoSchema) -> ProtoSchema:
    """The file that defines what options there are, as a schema sees it."""
    descriptor = schema.files.get(DESCRIPTOR) or get_known_schema(DESCRIPTOR)
    assert descriptor is not None
    return descriptor


def is_unknown(schema: ProtoSchema, option: ProtoOption, full: str) -> bool:
    """Whether an option of the definition `full` is a custom one that no file defines which the schema imports.

    Such an option is kept as it was written; a lint names it.
    """
    first = option.name[0]
    return first.startswith("(") and find_symbol(schema.offered, get_scope(schema, full), first[1:-1]) is None


def get_scope(schema: ProtoSchema, full: str) -> str:
    """The scope in which the options of a definition are looked up; `full` is empty for the file."""
    return full.rpartition(".")[0] if full else schema.file.package


@dataclass(frozen=True, slots=True)
class ResolvedOption:
    """An option that has been understood: the fields that lead to what it sets, and the value."""

    way: tuple[FieldSlot, ...]
    value: Constant


class OptionResolver:
    """Understands the options of one file."""

    def __init__(self, schema: ProtoSchema, faults: DiagnosticList) -> None:
        """For the options of this schema; faults go to `faults`."""
        self.schema = schema
        self.faults = faults
        self.descriptor = get_descriptor_schema(schema)
        self.validator = ConstantValidator(schema, self.descriptor)
        self.edition = _DIALECTS[schema.file.dialect]
        self.lifetimes = OptionLifetimes(self.edition)
        self.legacy = not schema.file.edition

    def resolve_all(self, options: Iterable[ProtoOption], kind: str, full: str) -> list[ResolvedOption]:
        """The settings of a definition's options; `kind` is a key of the table above, `full` the definition's name."""
        settings: list[ResolvedOption] = []
        paths: set[Path] = set()
        holder = f"google.protobuf.{HOLDERS[kind]}"
        for option in options:
            if kind == "field" and option.name in (("default",), ("json_name",)):
                continue
            if is_unknown(self.schema, option, full):
                continue
            setting = self.resolve_option(option, holder, full)
            if setting is None:
                continue
            path = tuple(slot.full for slot in setting.way)
            if not setting.way[-1].repeated:
                if path in paths:
                    self.add("OPTION_TWICE", full, f"the option {_join_name(option)} is set twice", option)
                    continue
                paths.update(path[:end] for end in range(1, len(path) + 1))
                _note_members(paths, path, setting.value, self.validator, setting.way[-1])
            else:
                paths.update(path[:end] for end in range(1, len(path) + 1))
            self.check_target(setting, kind, full, option)
            settings.append(setting)
        return settings

    def add(self, rule: str, full: str, message: str, option: ProtoOption, expected: str = "") -> None:
        """A fault of an option."""
        self.faults.add(rule, full, message, option.place, expected)

    def resolve_option(self, option: ProtoOption, holder: str, full: str) -> ResolvedOption | None:
        """What one option sets; None with a fault."""
        target: ProtoSymbol | None = self.descriptor.symbols.get(holder)
        way: list[FieldSlot] = []
        for index, part in enumerate(option.name):
            slot = None if target is None else self.resolve_part(target, part, full)
            if slot is None or slot.field.name == "uninterpreted_option":
                self.add("OPTION_UNKNOWN", full, f"there is no option {_join_name(option)} here", option)
                return None
            way.append(slot)
            if index < len(option.name) - 1:
                target = None if slot.repeated else slot.type
                if target is None or target.kind != "message":
                    message = f"{part} in the option {_join_name(option)} is not a single message"
                    self.add("OPTION_UNKNOWN", full, message, option)
                    return None
        if self.legacy and way[0].field.name == "features":
            self.add("FEATURE_NOT_ALLOWED", full, f"the feature {_join_name(option)}", option)
            return None
        try:
            self.validator.check(way[-1], option.value)
        except InvalidConstantError as error:
            self.add("OPTION_VALUE", full, f"the option {_join_name(option)}: {error}", option, error.expected)
            return None
        return ResolvedOption(tuple(way), option.value)

    def resolve_part(self, target: ProtoSymbol, part: str, full: str) -> FieldSlot | None:
        """The field that one part of a name means."""
        if part.startswith("("):
            return self.validator.extension(target, part[1:-1], get_scope(self.schema, full))
        home = self.validator.home(target)
        name = f"{target.full}.{part}"
        symbol = home.symbols.get(name)
        if symbol is None or symbol.kind != "field" or not isinstance(symbol.node, Field):
            return None
        return FieldSlot(symbol.node, name, home)

    def check_target(self, setting: ResolvedOption, kind: str, full: str, option: ProtoOption) -> None:
        """Whether an option is meant for this kind of definition, and for this edition."""
        for slot in setting.way:
            self.check_allowed(slot, kind, full, option)
        self.check_values(setting.way[-1], setting.value, kind, full, option)

    def check_values(self, slot: FieldSlot, value: Constant, kind: str, full: str, option: ProtoOption) -> None:
        """The same for what stands inside a value."""
        if isinstance(value, IdentifierValue):
            target = slot.type if slot.field.type not in ("bool", "float", "double") else None
            if target is not None and isinstance(target.node, Enum):
                self.add_lifetimes(self.lifetimes.of_value(target.node, target.scope, value.text), full, option)
        elif isinstance(value, AggregateValue):
            target = slot.type
            if target is not None and not isinstance(target.node, Enum):
                for name, inner in value.members:
                    if "/" not in name:
                        member = self.validator.member(target, name)
                        self.check_allowed(member, kind, full, option)
                        self.check_values(member, inner, kind, full, option)

    def check_allowed(self, slot: FieldSlot, kind: str, full: str, option: ProtoOption) -> None:
        """Targets and lifetime of one field."""
        if not slot.field.options:
            return
        targets, sentences = self.lifetimes.of_field(slot)
        if targets and f"TARGET_TYPE_{kind.replace(' ', '_').upper()}" not in targets:
            meant = ", ".join(sorted(one.removeprefix("TARGET_TYPE_").lower().replace("_", " ") for one in targets))
            message = f"{slot.full} on this {kind} is meant for other definitions"
            self.add("OPTION_TARGET", full, message, option, f"{slot.full} on: {meant}")
        self.add_lifetimes(sentences, full, option)

    def add_lifetimes(self, sentences: Iterable[str], full: str, option: ProtoOption) -> None:
        """The faults of what is used and is not there in this edition."""
        for sentence in sentences:
            self.add("OPTION_LIFETIME", full, sentence, option)


class OptionLifetimes:
    """Targets of options, and the editions that they and values of enums are there in: each is looked at once, however often it is used."""

    def __init__(self, edition: int) -> None:
        """For a file of this edition."""
        self.edition = edition
        self.fields: dict[int, tuple[Field, frozenset[str], tuple[str, ...]]] = {}
        self.enums: dict[int, tuple[Enum, dict[str, tuple[str, ...]]]] = {}

    def of_field(self, slot: FieldSlot) -> tuple[frozenset[str], tuple[str, ...]]:
        """The targets of a field, and what is wrong with using it."""
        if id(slot.field) not in self.fields:
            targets = frozenset(
                option.value.text
                for option in slot.field.options
                if option.name == ("targets",) and isinstance(option.value, IdentifierValue)
            )
            self.fields[id(slot.field)] = slot.field, targets, self._list_sentences(slot.field.options, slot.full)
        _, targets, sentences = self.fields[id(slot.field)]
        return targets, sentences

    def of_value(self, enum: Enum, scope: str, name: str) -> tuple[str, ...]:
        """What is wrong with using a value of an enum."""
        if id(enum) not in self.enums:
            sentences = {
                value.name: self._list_sentences(value.options, f"{scope}.{value.name}")
                for value in enum.values
                if value.options
            }
            self.enums[id(enum)] = enum, sentences
        return self.enums[id(enum)][1].get(name, ())

    def _list_sentences(self, options: Iterable[ProtoOption], name: str) -> tuple[str, ...]:
        """Why there is no such option or value in this edition, each reason once."""
        sentences: dict[str, None] = {}
        for option in options:
            if option.name != ("feature_support",) or not isinstance(option.value, AggregateValue):
                continue
            for member, value in option.value.members:
                at = _NUMBERS.get(value.text, _LATER) if isinstance(value, IdentifierValue) else 0
                if member == "edition_introduced" and self.edition < at:
                    sentences[f"{name} comes with a later edition"] = None
                elif member == "edition_removed" and self.edition >= at:
                    sentences[f"{name} was removed from this edition"] = None
        return tuple(sentences)


def _join_name(option: ProtoOption) -> str:
    return ".".join(option.name)[:200]


def _note_members(paths: set[Path], path: Path, value: Constant, validator: ConstantValidator, slot: FieldSlot) -> None:
    """Note what a message as a value sets."""
    target = slot.type if isinstance(value, AggregateValue) else None
    if target is None or not isinstance(value, AggregateValue) or not isinstance(target.node, Message):
        return
    for name, inner in value.members:
        if "/" not in name:
            member = validator.member(target, name)
            paths.add((*path, member.full))
            _note_members(paths, (*path, member.full), inner, validator, member)

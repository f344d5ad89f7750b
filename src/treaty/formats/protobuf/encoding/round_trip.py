"""Does a text say what a descriptor says? Both as facts by path, so that nothing is lost or changed without a fault."""

from collections.abc import Iterator, Sequence

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
)
from google.protobuf.message import Message

from treaty.formats.protobuf.descriptors.classes import get_file_class
from treaty.formats.protobuf.descriptors.names import get_dialect, get_json_name
from treaty.formats.protobuf.linker.diagnostics import DiagnosticList

Facts = dict[tuple[str, str], dict[str, object]]
"""What is said of a definition, by its kind and full name."""
_LATER = "the compiler's choice"
"""A fact that a descriptor may leave to the compiler."""


def check_round_trip(proto: FileDescriptorProto, again: FileDescriptorProto, faults: DiagnosticList) -> None:
    """Report what a descriptor says and `again`, the descriptor of its own text, does not."""
    facts_before, facts_after = _facts(_without_unknown(proto)), _facts(_without_unknown(again))
    for key, facts in facts_before.items():
        kind, path = key
        facts_in_text = facts_after.get(key)
        if facts_in_text is None:
            faults.add("DESCRIPTOR_INVALID", path, f"no text can have this {kind} of a descriptor")
            continue
        for name, fact in facts.items():
            other = facts_in_text.get(name)
            if not _is_kept(name, fact, other):
                message = f"the {name} of this {kind} is {_show_fact(fact)}; in a text it is {_show_fact(other)}"
                faults.add("DESCRIPTOR_INVALID", path, message)
    for kind, path in facts_after.keys() - facts_before.keys():
        faults.add("DESCRIPTOR_INVALID", path, f"a text has a {kind} here that the descriptor does not have")


def _without_unknown(proto: FileDescriptorProto) -> FileDescriptorProto:
    """A copy without what this program does not know: options of files that are not imported."""
    copy = get_file_class().FromString(proto.SerializeToString())
    copy.DiscardUnknownFields()
    return copy


def _is_kept(name: str, before: object, after: object) -> bool:
    if before in (_LATER, after):
        return True
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return all(one in (_LATER, other) for one, other in zip(before, after, strict=True))
    relative = name in ("type_name", "extendee", "input", "output") and isinstance(before, str) and before[:1] != "."
    return relative and isinstance(after, str) and after.endswith(f".{before}")


def _show_fact(fact: object) -> str:
    return repr(fact)[:80]


def _facts(proto: FileDescriptorProto) -> Facts:
    """All facts of a file."""
    prefix = f"{proto.package}." if proto.package else ""
    facts: Facts = {
        ("file", proto.package): {
            "dialect": get_dialect(proto),
            "dependencies": sorted((*proto.dependency, *proto.option_dependency)),
            "public dependencies": sorted(proto.dependency[at] for at in proto.public_dependency),
            "weak dependencies": sorted(proto.dependency[at] for at in proto.weak_dependency),
            "options": _options(proto),
        }
    }
    for message in proto.message_type:
        facts.update(_message(message, prefix + message.name))
    for enum in proto.enum_type:
        facts.update(_enum(enum, prefix + enum.name))
    for service in proto.service:
        facts.update(_service(service, prefix + service.name))
    facts.update(_fields(proto.extension, "extension", prefix, ()))
    return facts


def _message(proto: DescriptorProto, full: str) -> Iterator[tuple[tuple[str, str], dict[str, object]]]:
    yield (
        ("message", full),
        {
            "visibility": proto.visibility,
            "reserved numbers": sorted((one.start, one.end) for one in proto.reserved_range),
            "reserved names": sorted(proto.reserved_name),
            "numbers left to extensions": sorted((one.start, one.end) for one in proto.extension_range),
            "options of extension ranges": [
                _options(extension_range)
                for extension_range in sorted(proto.extension_range, key=lambda extension_range: extension_range.start)
            ],
            "options": _options(proto),
        },
    )
    synthetic = {one.oneof_index for one in proto.field if one.proto3_optional}
    names = [one.name for one in proto.oneof_decl]
    for at, oneof in enumerate(proto.oneof_decl):
        if at not in synthetic:
            yield ("oneof", f"{full}.{oneof.name}"), {"options": _options(oneof)}
    yield from _fields(proto.field, "field", f"{full}.", names)
    yield from _fields(proto.extension, "extension", f"{full}.", ())
    for nested in proto.nested_type:
        yield from _message(nested, f"{full}.{nested.name}")
    for enum in proto.enum_type:
        yield from _enum(enum, f"{full}.{enum.name}")


def _fields(
    fields: Sequence[FieldDescriptorProto], kind: str, prefix: str, oneofs: Sequence[str]
) -> Iterator[tuple[tuple[str, str], dict[str, object]]]:
    for field in fields:
        oneof = "none"
        if field.proto3_optional:
            oneof = "one for the label alone"
        elif field.HasField("oneof_index") and 0 <= field.oneof_index < len(oneofs):
            oneof = oneofs[field.oneof_index]
        yield (
            (kind, prefix + field.name),
            {
                "number": field.number,
                "label": FieldDescriptorProto.Label.Name(field.label),
                "type": _type(field),
                "type_name": field.type_name,
                "extendee": field.extendee,
                "oneof": oneof,
                "json_name": field.json_name if field.HasField("json_name") else get_json_name(field.name),
                "default": "given" if field.HasField("default_value") else "none",
                "options": _options(field),
            },
        )


def _type(field: FieldDescriptorProto) -> str:
    if not field.HasField("type") and field.type_name:
        return _LATER
    return FieldDescriptorProto.Type.Name(field.type)


def _enum(proto: EnumDescriptorProto, full: str) -> Iterator[tuple[tuple[str, str], dict[str, object]]]:
    yield (
        ("enum", full),
        {
            "visibility": proto.visibility,
            "reserved numbers": sorted((one.start, one.end) for one in proto.reserved_range),
            "reserved names": sorted(proto.reserved_name),
            "values": [(one.name, one.number) for one in proto.value],
            "options of values": [_options(one) for one in proto.value],
            "options": _options(proto),
        },
    )


def _service(proto: ServiceDescriptorProto, full: str) -> Iterator[tuple[tuple[str, str], dict[str, object]]]:
    yield ("service", full), {"options": _options(proto)}
    for method in proto.method:
        streams = (method.client_streaming, method.server_streaming)
        facts: dict[str, object] = {"input": method.input_type, "output": method.output_type, "streams": streams}
        yield ("method", f"{full}.{method.name}"), {**facts, "options": _options(method)}


def _options(proto: Message) -> object:
    """The options of a definition as bytes; those that are not interpreted yet decide nothing, nor do features of none."""
    options: Message = proto.options  # type: ignore[attr-defined]  # every definition has them
    if options.HasField("features") and not options.features.ByteSize():  # type: ignore[attr-defined]  # all options have them
        options = type(options).FromString(options.SerializeToString())
        options.ClearField("features")
    if any(field.name == "uninterpreted_option" for field, _ in options.ListFields()):
        return _LATER
    return options.SerializeToString(deterministic=True)

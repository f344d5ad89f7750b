"""Types of a group: a schema under its name in the group, with the values that programs write and read by it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message import Message

from treaty.client.groups.settings import warn_of_slip
from treaty.client.serializers.avro_codec import full_name
from treaty.client.serializers.errors import BadValueError
from treaty.client.types.typed import TypedSchema, as_typed
from treaty.core.schema import Draft, Pairs
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.registry import find_formats
from treaty.wire.pravega.drafts import make_draft
from treaty.wire.pravega.formats import PARSED, custom_format


@dataclass(frozen=True, slots=True)
class GroupType:
    """A type of a group. `draft` is what is registered; `given` is the schema or class for the format's serializers.

    `kind` is the class of its values; None: values without a class. A custom format brings `write` and `read`.
    """

    draft: Draft
    given: Any = None
    kind: Any = None
    write: Callable[[Any], bytes] | None = None
    read: Callable[[bytes], Any] | None = None
    properties: Pairs = ()
    """Properties of its versions."""

    @property
    def name(self) -> str:
        """The name of the type in the group; "": the group's only one."""
        return self.draft.type_name


@dataclass(frozen=True, slots=True)
class WithSchema:
    """A value with its own schema, for serializers of groups with many types."""

    value: Any
    schema: "GroupType | Draft | str | TypedSchema | type[Any]"


SomeType = GroupType | Draft | str | TypedSchema | type[Any]
"""A type however it is given: with its schema, or a class with fields, or a generated message class of Protobuf."""


Resolve = Callable[[Draft], ResolvedSchema]
"""Returns a schema with the texts of its references."""


def _without_references(draft: Draft) -> ResolvedSchema:
    return ResolvedSchema(draft.format, draft.text)


def as_group_type(schema: SomeType, format_: str = "AVRO", resolve: Resolve = _without_references) -> GroupType:
    """Return the type for a schema or class; a text or class without a format of its own is of `format_`.

    The name of the type is that of the draft, else the full name of the Avro type or message, else the title of the JSON
    Schema or the name of the class, of other formats what their record says of the text. Raises `BadValueError` for a text
    that cannot be read, and for a class of a format that none becomes.
    """
    if isinstance(schema, GroupType):
        return schema
    if isinstance(schema, type) and issubclass(schema, Message):
        return _message_type(schema)
    if isinstance(schema, Draft) and schema.format == "PROTOBUF":
        return GroupType(schema)
    if isinstance(schema, type) and format_ not in _NAMES:
        raise BadValueError(f"no schema of {format_} is made of a class, and {schema.__name__} is one: give a Draft")
    typed = as_typed(schema, schema.format if isinstance(schema, Draft) else format_)
    assert typed is not None
    draft = typed.draft
    if not draft.type_name:
        find_name = _NAMES.get(draft.format)
        draft = replace(draft, type_name=find_name(typed) if find_name else _read_name(resolve(draft)))
    return GroupType(draft, typed, typed.kind)


def list_group_types(
    schemas: "SomeType | Sequence[SomeType]", format_: str, resolve: Resolve = _without_references
) -> tuple[GroupType, ...]:
    """Return the types of one schema or class, or of several in a list or tuple."""
    several = schemas if isinstance(schemas, list | tuple) else (schemas,)
    return tuple(as_group_type(one, format_, resolve) for one in several)


def without_class(group_type: GroupType) -> GroupType:
    """Return a type whose values have no class, if its format has such values."""
    return (
        replace(group_type, given=as_typed(group_type.draft, group_type.draft.format), kind=None)
        if isinstance(group_type.given, TypedSchema)
        else group_type
    )


def custom_type(
    format_: str,
    name: str,
    data: bytes,
    *,
    write: Callable[[Any], bytes] | None = None,
    read: Callable[[bytes], Any] | None = None,
    kind: type[Any] | None = None,
) -> GroupType:
    """Return a type of a custom format: the bytes of its schema, and the functions from values to payloads and back.

    Pravega's clients see the name of the format as it is written here. Raises `Invalid` for that of a parsed format, and warns of one
    that looks like it.
    """
    word, original = custom_format(format_)
    warn_of_slip(format_, PARSED.values())
    return GroupType(Draft("", word, type_name=name, data=data), None, kind, write, read, original)


def _message_type(kind: type[Message]) -> GroupType:
    """Return the type of a message class: the set of its file and of those that it imports."""
    descriptor = cast("Descriptor", kind.DESCRIPTOR)
    files: dict[str, FileDescriptor] = {}
    _collect(descriptor.file, files)
    file_set = FileDescriptorSet()
    for file in files.values():
        file.CopyToProto(file_set.file.add())
    data = file_set.SerializeToString(deterministic=True)
    return GroupType(make_draft("PROTOBUF", descriptor.full_name, data), kind, kind)


def _collect(file: FileDescriptor, collected: dict[str, FileDescriptor]) -> None:
    for imported in file.dependencies:
        if imported.name not in collected:
            _collect(imported, collected)
    collected[file.name] = file


def _label(typed: TypedSchema) -> str:
    if typed.name:
        return typed.name
    try:
        schema = json.loads(typed.draft.text)
    except (ValueError, RecursionError) as error:
        raise BadValueError(f"not a JSON Schema: {error}") from error
    title = schema.get("title") if isinstance(schema, dict) else None
    return title if isinstance(title, str) else ""


_NAMES: Mapping[str, Callable[[TypedSchema], str]] = {"AVRO": lambda typed: full_name(typed.draft.text), "JSON": _label}
"""Names of types in formats that classes become, and whose texts say their name without references."""


def _read_name(schema: ResolvedSchema) -> str:
    """The name of a text's type as a plug-in of its format says it; "" without one."""
    form = find_formats().find(schema.format)
    if form is None:
        return ""
    try:
        return form.show(form.parse(schema, False), False).type_name
    except InvalidSchemaError as error:
        raise BadValueError(f"no schema of {schema.format}: {error}") from error

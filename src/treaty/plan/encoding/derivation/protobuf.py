"""Protobuf files from columns: a proto3 message, or the latest version's with fields under numbers that were never used."""

import base64
import re
from collections.abc import Sequence

from google.protobuf.descriptor import Descriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto

from treaty.core.schema_engine import ResolvedSchema
from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.encoding.files import build_descriptor
from treaty.formats.protobuf.encoding.wire import encode_varint
from treaty.formats.protobuf.format import FORMAT
from treaty.formats.protobuf.runtime import build_pool
from treaty.plan.encoding.derivation.containment import is_held
from treaty.plan.encoding.options import DeriveOptions
from treaty.plan.encoding.protobuf import make_targets
from treaty.plan.encoding.target import FindTarget
from treaty.plan.errors import PlanError
from treaty.plan.registered_schema import RegisteredSchema

Field = FieldDescriptorProto
TYPES = {
    "boolean": Field.TYPE_BOOL,
    "int32": Field.TYPE_INT32,
    "int64": Field.TYPE_INT64,
    "float32": Field.TYPE_FLOAT,
    "float64": Field.TYPE_DOUBLE,
    "string": Field.TYPE_STRING,
    "binary": Field.TYPE_BYTES,
}
KEYS = frozenset({"boolean", "int32", "int64", "string"})
MESSAGES = {
    "date": ("google.type.Date", "google/type/date.proto"),
    "timestamp": ("google.protobuf.Timestamp", "google/protobuf/timestamp.proto"),
    "variant": ("google.protobuf.Value", "google/protobuf/struct.proto"),
}
WRAPPERS = {
    "boolean": "BoolValue",
    "int32": "Int32Value",
    "int64": "Int64Value",
    "float32": "FloatValue",
    "float64": "DoubleValue",
    "string": "StringValue",
    "binary": "BytesValue",
}
"""By scalar, the message of `WRAPPERS_FILE` that has one, or is not set."""
WRAPPERS_FILE = "google/protobuf/wrappers.proto"
DECIMAL = ("confluent.type.Decimal", "confluent/type/decimal.proto")
META, META_FILE = 1088, "confluent/meta.proto"
"""The number of Confluent's option for fields, and its file."""
RESERVED = range(19_000, 20_000)
"""Numbers that no field may have."""
LAST_NUMBER = 2**29 - 1
"""The highest number that a field may have."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def text(columns: Sequence[Column], name: str, options: DeriveOptions, latest: RegisteredSchema | None) -> str:
    """The text of a file whose message has these columns as fields."""
    package, _, short = name.rpartition(".")
    file = FileDescriptorProto(syntax="proto3", package=package)
    have = Struct(tuple(columns))
    if latest is None:
        maker, space = _ProtoFileBuilder(file, None, wraps=options.wrappers), f".{package}" if package else ""
        message = file.message_type.add(name=short)
        maker.message(message, have, f"{space}.{short}", None, "")
    else:
        file = FileDescriptorProto.FromString(build_descriptor(latest.schema).SerializeToString())
        maker, space = (
            _ProtoFileBuilder(file, make_targets(latest.schema), wraps=options.wrappers),
            f".{file.package}" if file.package else "",
        )
        messages = [one for one in file.message_type if not options.name or one.name == short]
        if not messages:
            raise PlanError(f"the latest version has no message {options.name or 'at all'}")
        full = f"{space}.{messages[0].name}"
        before = file.SerializeToString(deterministic=True)
        runtime = build_pool(latest.schema).FindMessageTypeByName(full[1:])
        maker.message(messages[0], have, full, runtime, "")
        if latest.meaning and file.SerializeToString(deterministic=True) == before:
            return latest.meaning.text
    bindings = latest.meaning.bindings if latest and latest.meaning else ()
    packed = base64.b64encode(file.SerializeToString(deterministic=True)).decode()
    try:
        return FORMAT.show(FORMAT.parse(ResolvedSchema(FORMAT.name, packed, bindings), False), False).canonical
    except InvalidSchemaError as error:
        raise PlanError(f"the columns make no valid file: {error}") from error


class _ProtoFileBuilder:
    """Adds fields to the messages of one file."""

    __slots__ = ("_file", "_find_target", "_names", "_wraps")

    def __init__(self, file: FileDescriptorProto, find_target: FindTarget | None, *, wraps: bool) -> None:
        self._wraps = wraps
        self._file = file
        self._find_target = find_target
        self._names: dict[str, set[str]] = {}

    def message(self, proto: DescriptorProto, have: Struct, full: str, old: Descriptor | None, path: str) -> None:
        """Add the columns that a message has no field for; `old` is the message as it was."""
        fields = {one.name: one for one in old.fields} if old is not None else {}
        self._names[full] = {one.name for one in have.columns} | fields.keys()
        for column in have.columns:
            field_path = f"{path}/{column.name}"
            field = fields.get(column.name)
            if field is None:
                self._add(proto, column, full, field_path)
            elif self._find_target is None or not is_held(self._find_target, field, column):
                inner = field.message_type
                kind = column.type.element if isinstance(column.type, List) else column.type
                nested = next((one for one in proto.nested_type if inner and inner.name == one.name), None)
                if not isinstance(kind, Struct) or inner is None or nested is None:
                    had = f"the field {column.name} of the latest version"
                    raise PlanError(
                        f"{field_path} does not fit into {had}, and a field keeps its type: rename the column"
                    )
                self.message(nested, kind, f"{full}.{nested.name}", inner, field_path)

    def _add(self, proto: DescriptorProto, column: Column, full: str, path: str) -> None:
        if not NAME.fullmatch(column.name):
            raise PlanError(f"{path} is no name in Protobuf: letters, digits and underscores are; rename the column")
        field = proto.field.add(name=column.name, number=_find_free_number(proto, path), label=Field.LABEL_OPTIONAL)
        kind = column.type
        if isinstance(kind, List | Map):
            field.label = Field.LABEL_REPEATED
        part = kind.element if isinstance(kind, List) else kind
        if isinstance(part, Map):
            if isinstance(kind, List):
                raise PlanError(f"{path} is a list of maps, which Protobuf does not have: put a struct around the map")
            self._map(proto, field, part, full, path)
            return
        if self._wraps and column.nullable and isinstance(kind, Scalar) and kind.name in WRAPPERS:
            self._refer(field, f"google.protobuf.{WRAPPERS[kind.name]}", WRAPPERS_FILE)
            return
        self._set_type(proto, field, part, (full, path, field.name))
        scalar = field.type != Field.TYPE_MESSAGE and field.label != Field.LABEL_REPEATED
        if column.nullable and scalar and self._file.syntax == "proto3":
            field.proto3_optional = True
            field.oneof_index = len(proto.oneof_decl)
            proto.oneof_decl.add(name=f"_{column.name}")

    def _map(self, proto: DescriptorProto, field: FieldDescriptorProto, kind: Map, full: str, path: str) -> None:
        if not isinstance(kind.key, Scalar) or kind.key.name not in KEYS:
            raise PlanError(f"{path} is a map whose keys are no strings, whole numbers or booleans: cast them")
        if isinstance(kind.value, List | Map):
            raise PlanError(f"{path} is a map of lists or maps, which Protobuf does not have: put a struct around them")
        name = "".join(word[:1].upper() + word[1:] for word in field.name.split("_")) + "Entry"
        entry = proto.nested_type.add(name=name)
        entry.options.map_entry = True
        key = entry.field.add(name="key", number=1, label=Field.LABEL_OPTIONAL, type=TYPES[kind.key.name])
        value = entry.field.add(name="value", number=2, label=Field.LABEL_OPTIONAL)
        del key
        self._set_type(proto, value, kind.value, (full, path, field.name))
        field.options.MergeFrom(value.options)  # what is said about the values stands at the map
        value.ClearField("options")
        field.type, field.type_name = Field.TYPE_MESSAGE, f"{full}.{name}"

    def _set_type(
        self, proto: DescriptorProto, field: FieldDescriptorProto, kind: ColumnType, spot: tuple[str, str, str]
    ) -> None:
        """Say the type of a field; `spot` is the message's full name, the path of the column, and what a new message is named after."""
        full, path, own = spot
        if isinstance(kind, List | Map):
            raise PlanError(
                f"{path} is a list of lists, which Protobuf does not have: put a struct around the inner one"
            )
        if isinstance(kind, Scalar) and kind.name in TYPES:
            field.type = TYPES[kind.name]
            return
        field.type = Field.TYPE_MESSAGE
        if isinstance(kind, Struct):
            name = _type_name(proto, own, self._names[full])
            field.type_name = name
            self.message(proto.nested_type.add(name=name), kind, f"{full}.{name}", None, path)
            return
        if isinstance(kind, Decimal):
            type_name, home = DECIMAL
            self._import(META_FILE)
            field.options.MergeFromString(_meta({"precision": str(kind.precision), "scale": str(kind.scale)}))
        elif kind.name in MESSAGES:
            type_name, home = MESSAGES[kind.name]
        else:
            raise PlanError(
                f"{path} is {kind.name}, which Protobuf has no type for: cast it, a local time to a timestamp"
            )
        self._refer(field, type_name, home)

    def _refer(self, field: FieldDescriptorProto, type_name: str, home: str) -> None:
        """Let a field have a message of another file."""
        self._import(home)
        shadowed = any(word in self._file.package.split(".") for word in ("google", "confluent"))
        field.type = Field.TYPE_MESSAGE
        field.type_name = f".{type_name}" if shadowed else type_name

    def _import(self, path: str) -> None:
        if path not in self._file.dependency:
            self._file.dependency.append(path)


def _find_free_number(proto: DescriptorProto, path: str) -> int:
    """A number above all that are or were used, which is not left to extensions. Raises `PlanError` where there is none."""
    numbers = [one.number for one in proto.field] + [one.end - 1 for one in proto.reserved_range]
    numbers += [one.end - 1 for one in proto.extension_range if one.end < RESERVED.start]
    number = max(numbers, default=0) + 1
    ranges = [(extensions.start, extensions.end) for extensions in proto.extension_range]
    for start, end in sorted((*ranges, (RESERVED.start, RESERVED.stop))):
        number = end if start <= number < end else number
    if number > LAST_NUMBER:
        raise PlanError(
            f"{path} finds no number in {proto.name}: those up to {LAST_NUMBER:,} are used, reserved or left to extensions"
        )
    return number


def _type_name(proto: DescriptorProto, field: str, fields: set[str]) -> str:
    name = "".join(word[:1].upper() + word[1:] for word in field.split("_")) or "Part"
    names = {one.name for one in proto.nested_type} | {one.name for one in proto.enum_type} | {proto.name} | fields
    while name in names:
        name += "_"
    return name


def _meta(parameters: dict[str, str]) -> bytes:
    """Confluent's option for a field with these parameters, as the bytes of field options."""
    pairs = (_bytes(2, _bytes(1, key.encode()) + _bytes(2, value.encode())) for key, value in parameters.items())
    return _bytes(META, b"".join(pairs))


def _bytes(number: int, content: bytes) -> bytes:
    return encode_varint(number << 3 | 2) + encode_varint(len(content)) + content

"""The normal form of a schema: fields, enum values and options in one order, names of types in full; texts that differ in these alone
are one version (source: Confluent's ``normalize``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from treaty.formats.protobuf.encoding.interpreted_options import normalize_default
from treaty.formats.protobuf.model import (
    Enum,
    EnumValue,
    ExtendStatement,
    ExtensionsStatement,
    Field,
    ImportStatement,
    Message,
    NumberRange,
    OneOf,
    ProtoFile,
    ProtoOption,
    ProtoSchema,
    ReservedStatement,
    RpcMethod,
    RpcService,
)
from treaty.formats.protobuf.printer.custom_options import CustomOptions
from treaty.formats.protobuf.syntax.messages import SCALARS
from treaty.formats.protobuf.validation.names import get_custom_json_name


def to_normal_form(schema: ProtoSchema) -> ProtoFile:
    """The file of a schema in normal form.

    Imports, options, fields, oneofs, values of enums and what is set aside are sorted, names of types are written in
    full, and ``syntax = "proto2"``, which says nothing, is left out. Definitions of types, services and methods keep
    their order, because messages are known by their place.
    """
    return _Normal(schema).file()


class _Normal:
    __slots__ = ("_customs", "_open", "_schema")

    def __init__(self, schema: ProtoSchema) -> None:
        self._schema = schema
        self._customs = CustomOptions(schema)
        self._open = schema.file.dialect != "proto2"

    def file(self) -> ProtoFile:
        file = self._schema.file
        scope = file.package
        return replace(
            file,
            syntax="" if file.syntax == "proto2" else file.syntax,
            imports=_imports(file.imports),
            options=self._options(file.options, "file", ""),
            messages=tuple(self._message(one, scope) for one in file.messages),
            enums=tuple(self._enum(one, scope) for one in file.enums),
            extends=self._extends(file.extends, scope),
            services=tuple(self._service(one, scope) for one in file.services),
        )

    def _options(self, options: tuple[ProtoOption, ...], kind: str, full: str) -> tuple[ProtoOption, ...]:
        return self._customs.normalize(options, kind, full) if options else options

    def _type(self, written: str, scope: str) -> str:
        if written in SCALARS:
            return written
        symbol = self._schema.resolve(scope, written)
        return f".{symbol.full}" if symbol is not None else written

    def _message(self, message: Message, scope: str) -> Message:
        inner = _join(scope, message.name)
        return replace(
            message,
            fields=self._fields(message.fields, inner),
            oneofs=tuple(sorted((self._oneof(oneof, inner) for oneof in message.oneofs), key=_lowest_number)),
            messages=tuple(self._message(one, inner) for one in message.messages),
            enums=tuple(self._enum(one, inner) for one in message.enums),
            extends=self._extends(message.extends, inner),
            extensions=tuple(self._extensions(message.extensions, inner)),
            reserved=_sort_reserved(message.reserved),
            options=self._options(message.options, "message", inner),
        )

    def _fields(self, fields: Iterable[Field], scope: str) -> tuple[Field, ...]:
        return tuple(sorted((self._field(one, scope) for one in fields), key=lambda one: one.number))

    def _field(self, field: Field, scope: str) -> Field:
        options = self._field_options(field, scope)
        if field.group is not None:
            return replace(field, options=options, group=self._message(field.group, scope))
        kind = self._type(field.type, scope)
        if kind is field.type and options is field.options:
            return field
        return replace(field, type=kind, options=options)

    def _field_options(self, field: Field, scope: str) -> tuple[ProtoOption, ...]:
        """Options of a field; a name in JSON that is derived anyway says nothing."""
        options = field.options
        if any(one.name == ("json_name",) for one in options) and get_custom_json_name(field) is None:
            options = tuple(one for one in options if one.name != ("json_name",))
        if any(one.name == ("default",) for one in options):
            options = tuple(normalize_default(field.type, one) if one.name == ("default",) else one for one in options)
        return self._options(options, "field", _join(scope, field.name))

    def _oneof(self, oneof: OneOf, scope: str) -> OneOf:
        options = self._options(oneof.options, "oneof", _join(scope, oneof.name))
        return replace(oneof, fields=self._fields(oneof.fields, scope), options=options)

    def _extends(self, extends: Iterable[ExtendStatement], scope: str) -> tuple[ExtendStatement, ...]:
        grouped: dict[str, list[Field]] = {}
        for statement in extends:
            grouped.setdefault(self._type(statement.extendee, scope), []).extend(statement.fields)
        return tuple(ExtendStatement(extendee, self._fields(fields, scope)) for extendee, fields in grouped.items())

    def _extensions(self, extensions: Iterable[ExtensionsStatement], scope: str) -> list[ExtensionsStatement]:
        split = [
            ExtensionsStatement((part,), self._options(statement.options, "extension range", scope))
            for statement in extensions
            for part in statement.ranges
        ]
        return sorted(split, key=lambda statement: (statement.ranges[0].start, statement.ranges[0].end))

    def _enum(self, enum: Enum, scope: str) -> Enum:
        values = (
            replace(value, options=self._options(value.options, "enum entry", _join(scope, value.name)))
            for value in enum.values
        )
        return replace(
            enum,
            values=tuple(sorted(values, key=self._place)),
            options=self._options(enum.options, "enum", _join(scope, enum.name)),
            reserved=_sort_reserved(enum.reserved),
        )

    def _place(self, value: EnumValue) -> tuple[bool, int, str]:
        """Where a value stands: by number and name, but the values of an open enum begin with zero."""
        return (self._open and value.number != 0, value.number, value.name)

    def _service(self, service: RpcService, scope: str) -> RpcService:
        inner = _join(scope, service.name)
        return replace(
            service,
            methods=tuple(self._method(one, inner) for one in service.methods),
            options=self._options(service.options, "service", inner),
        )

    def _method(self, method: RpcMethod, scope: str) -> RpcMethod:
        return replace(
            method,
            takes=self._type(method.takes, scope),
            returns=self._type(method.returns, scope),
            options=self._options(method.options, "method", _join(scope, method.name)),
        )


def _join(scope: str, name: str) -> str:
    return f"{scope}.{name}" if scope else name


def _lowest_number(oneof: OneOf) -> int:
    return min((one.number for one in oneof.fields), default=0)


def _imports(imports: Sequence[ImportStatement]) -> tuple[ImportStatement, ...]:
    paths = sorted({(one.kind, one.path) for one in imports}, key=lambda one: (one[0], one[1].encode("utf-16-be")))
    return tuple(ImportStatement(path, kind) for kind, path in paths)


def _sort_reserved(reserved: Iterable[ReservedStatement]) -> tuple[ReservedStatement, ...]:
    """A statement for every range, in the order of numbers, and then for every name."""
    ranges: list[NumberRange] = sorted(
        (one for each in reserved for one in each.ranges), key=lambda one: (one.start, one.end)
    )
    names = sorted(name for each in reserved for name in each.names)
    return (
        *(ReservedStatement(ranges=(one,)) for one in ranges),
        *(ReservedStatement(names=(name,)) for name in names),
    )

"""A file without extensions: what is left when custom options and the fields that extend messages are taken away."""

from collections.abc import Iterable
from dataclasses import replace

from treaty.formats.protobuf.model import Enum, Field, Message, OneOf, ProtoFile, ProtoOption, RpcMethod, RpcService

KEPT = "(confluent."
"""How the names of those custom options begin that stay: Confluent's own."""


def strip_extensions(file: ProtoFile) -> ProtoFile:
    """A file without custom options (Confluent's own stay), without extensions and numbers for them."""
    return replace(
        file,
        options=_options(file.options),
        messages=tuple(map(_message, file.messages)),
        enums=tuple(map(_enum, file.enums)),
        extends=(),
        services=tuple(map(_service, file.services)),
    )


def _options(options: Iterable[ProtoOption]) -> tuple[ProtoOption, ...]:
    return tuple(one for one in options if not one.name[0].startswith("(") or one.name[0].startswith(KEPT))


def _message(message: Message) -> Message:
    return replace(
        message,
        fields=tuple(map(_field, message.fields)),
        oneofs=tuple(map(_oneof, message.oneofs)),
        messages=tuple(map(_message, message.messages)),
        enums=tuple(map(_enum, message.enums)),
        extends=(),
        extensions=(),
        options=_options(message.options),
    )


def _field(field: Field) -> Field:
    group = _message(field.group) if field.group is not None else None
    return replace(field, options=_options(field.options), group=group)


def _oneof(oneof: OneOf) -> OneOf:
    return replace(oneof, fields=tuple(map(_field, oneof.fields)), options=_options(oneof.options))


def _enum(enum: Enum) -> Enum:
    values = tuple(replace(one, options=_options(one.options)) for one in enum.values)
    return replace(enum, values=values, options=_options(enum.options))


def _service(service: RpcService) -> RpcService:
    return replace(service, methods=tuple(map(_method, service.methods)), options=_options(service.options))


def _method(method: RpcMethod) -> RpcMethod:
    return replace(method, options=_options(method.options))

"""Treaty: a schema registry for Avro, Protobuf and JSON Schema, and its Spark pipeline.

`treaty.connect(url)` opens a registry. The other names here are what most programs need; each is loaded when it is first used,
so that a client loads no server and no Spark. `treaty.spark`, `treaty.arrow` and `treaty.testing` hold the rest.
"""

from typing import TYPE_CHECKING

from treaty.names import PUBLIC, load_name

if TYPE_CHECKING:
    from treaty import arrow as arrow
    from treaty import spark as spark
    from treaty import testing as testing
    from treaty.assemble import connect as connect
    from treaty.assemble import connect_async as connect_async
    from treaty.client.async_connection import AsyncConnection as AsyncConnection
    from treaty.client.connection import Connection as Connection
    from treaty.client.groups.codecs import PayloadCodec as PayloadCodec
    from treaty.client.groups.deserializer import GroupDeserializer as GroupDeserializer
    from treaty.client.groups.serializer import GroupSerializer as GroupSerializer
    from treaty.client.groups.settings import GroupReaderSettings as GroupReaderSettings
    from treaty.client.groups.settings import GroupWriterSettings as GroupWriterSettings
    from treaty.client.groups.settings import pravega_group as pravega_group
    from treaty.client.groups.types import WithSchema as WithSchema
    from treaty.client.groups.types import custom_type as custom_type
    from treaty.client.iglu import AsyncResolver as AsyncResolver
    from treaty.client.iglu import Resolver as Resolver
    from treaty.client.serializers.async_serializers import AsyncDeserializer as AsyncDeserializer
    from treaty.client.serializers.async_serializers import AsyncSerializer as AsyncSerializer
    from treaty.client.serializers.avro import AvroDeserializer as AvroDeserializer
    from treaty.client.serializers.avro import AvroSerializer as AvroSerializer
    from treaty.client.serializers.errors import BadRecordError as BadRecordError
    from treaty.client.serializers.errors import BadValueError as BadValueError
    from treaty.client.serializers.jsonschema import JsonDeserializer as JsonDeserializer
    from treaty.client.serializers.jsonschema import JsonSerializer as JsonSerializer
    from treaty.client.serializers.payloads import PayloadDeserializer as PayloadDeserializer
    from treaty.client.serializers.payloads import PayloadSerializer as PayloadSerializer
    from treaty.client.serializers.protobuf import ProtobufDeserializer as ProtobufDeserializer
    from treaty.client.serializers.protobuf import ProtobufSerializer as ProtobufSerializer
    from treaty.client.serializers.settings import AutoRegister as AutoRegister
    from treaty.client.serializers.settings import DeserializerSettings as DeserializerSettings
    from treaty.client.serializers.settings import MustExist as MustExist
    from treaty.client.serializers.settings import SerializerSettings as SerializerSettings
    from treaty.client.serializers.settings import UseId as UseId
    from treaty.client.serializers.settings import UseLatest as UseLatest
    from treaty.client.serializers.settings import UseLatestWith as UseLatestWith
    from treaty.client.settings import CachePolicy as CachePolicy
    from treaty.client.settings import ClientSettings as ClientSettings
    from treaty.client.types.classes import class_of as class_of
    from treaty.client.types.typed import typed_avro as typed_avro
    from treaty.client.types.typed import typed_json as typed_json
    from treaty.core.refusals import Forbidden as Forbidden
    from treaty.core.refusals import Incompatible as Incompatible
    from treaty.core.refusals import Invalid as Invalid
    from treaty.core.refusals import InvalidSchema as InvalidSchema
    from treaty.core.refusals import NotFound as NotFound
    from treaty.core.refusals import OutcomeUnknown as OutcomeUnknown
    from treaty.core.refusals import Refusal as Refusal
    from treaty.core.refusals import RegistryError as RegistryError
    from treaty.core.refusals import SchemaNotFound as SchemaNotFound
    from treaty.core.refusals import SubjectNotFound as SubjectNotFound
    from treaty.core.refusals import Unauthenticated as Unauthenticated
    from treaty.core.refusals import Unavailable as Unavailable
    from treaty.core.refusals import VersionNotFound as VersionNotFound
    from treaty.core.registry import CallOptions as CallOptions
    from treaty.core.registry import Registry as Registry
    from treaty.core.schema import Draft as Draft
    from treaty.core.schema import Metadata as Metadata
    from treaty.core.schema import Reference as Reference
    from treaty.core.schema import RuleSet as RuleSet

__all__ = list(PUBLIC)


if not TYPE_CHECKING:  # type checkers see the imports above, and no other name

    def __getattr__(name: str) -> object:
        return load_name(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLIC})

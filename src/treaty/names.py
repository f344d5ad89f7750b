"""The names that `from treaty import …` offers and where each lives. Nothing is loaded before its name is used."""

from collections.abc import Mapping
from importlib import import_module

MODULES: Mapping[str, tuple[str, ...]] = {
    "treaty.assemble": ("connect", "connect_async"),
    "treaty.client.async_connection": ("AsyncConnection",),
    "treaty.client.connection": ("Connection",),
    "treaty.client.groups.codecs": ("PayloadCodec",),
    "treaty.client.groups.deserializer": ("GroupDeserializer",),
    "treaty.client.groups.serializer": ("GroupSerializer",),
    "treaty.client.groups.settings": ("GroupReaderSettings", "GroupWriterSettings", "pravega_group"),
    "treaty.client.groups.types": ("WithSchema", "custom_type"),
    "treaty.client.iglu": ("AsyncResolver", "Resolver"),
    "treaty.client.serializers.async_serializers": ("AsyncDeserializer", "AsyncSerializer"),
    "treaty.client.serializers.avro": ("AvroDeserializer", "AvroSerializer"),
    "treaty.client.serializers.errors": ("BadRecordError", "BadValueError"),
    "treaty.client.serializers.jsonschema": ("JsonDeserializer", "JsonSerializer"),
    "treaty.client.serializers.payloads": ("PayloadDeserializer", "PayloadSerializer"),
    "treaty.client.serializers.protobuf": ("ProtobufDeserializer", "ProtobufSerializer"),
    "treaty.client.serializers.settings": (
        "AutoRegister",
        "DeserializerSettings",
        "MustExist",
        "SerializerSettings",
        "UseId",
        "UseLatest",
        "UseLatestWith",
    ),
    "treaty.client.settings": ("CachePolicy", "ClientSettings"),
    "treaty.client.types.classes": ("class_of",),
    "treaty.client.types.typed": ("typed_avro", "typed_json"),
    "treaty.core.refusals": (
        "Forbidden",
        "Incompatible",
        "Invalid",
        "InvalidSchema",
        "NotFound",
        "OutcomeUnknown",
        "Refusal",
        "RegistryError",
        "SchemaNotFound",
        "SubjectNotFound",
        "Unauthenticated",
        "Unavailable",
        "VersionNotFound",
    ),
    "treaty.core.registry": ("CallOptions", "Registry"),
    "treaty.core.schema": ("Draft", "Metadata", "Reference", "RuleSet"),
}
PACKAGES = ("arrow", "spark", "testing")
"""Packages that are loaded when they are first used as attributes of `treaty`."""
PUBLIC: Mapping[str, str] = {name: module for module, names in MODULES.items() for name in names}
"""By name: the module that has it."""


def load_name(name: str) -> object:
    """Return what `treaty.NAME` is. Raise AttributeError where there is no such name."""
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name]), name)
    if name in PACKAGES:
        return import_module(f"treaty.{name}")
    raise AttributeError(f"module 'treaty' has no attribute {name!r}")

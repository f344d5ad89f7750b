"""The names that `from treaty import …` offers and where each lives, and old names with the new ones (until 0.2).

Nothing is loaded before its name is used.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

MODULES: Mapping[str, tuple[str, ...]] = {
    "treaty.assemble": ("connect", "connect_async"),
    "treaty.client.async_connection": ("AsyncConnection",),
    "treaty.client.cache_policy": ("CachePolicy",),
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
    "treaty.client.settings": ("ClientSettings",),
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

RENAMED_MODULES: Mapping[str, str] = {
    "treaty.client.aio": "treaty.client.async_http_registry",
    "treaty.client.aiocache": "treaty.client.async_cache",
    "treaty.client.aioconnection": "treaty.client.async_connection",
    "treaty.client.keep": "treaty.client.cache_policy",
    "treaty.client.plugs": "treaty.client.adapters",
    "treaty.client.serializers.failures": "treaty.client.serializers.errors",
    "treaty.client.serializers.names": "treaty.client.serializers.subject_names",
    "treaty.client.serializers.waiting": "treaty.client.serializers.async_serializers",
    "treaty.client.sync": "treaty.client.http_registry",
    "treaty.formats.bind": "treaty.formats.resolution",
    "treaty.formats.table": "treaty.formats.registry",
    "treaty.formats.verdict": "treaty.formats.history",
    "treaty.plan.encoding.making": "treaty.plan.encoding.encode_plans",
    "treaty.plan.encoding.verdict": "treaty.plan.encoding.dry_run",
    "treaty.plan.encoding.wish": "treaty.plan.encoding.options",
    "treaty.plan.making": "treaty.plan.decode_plans",
    "treaty.plan.reasons": "treaty.plan.errors",
    "treaty.plan.wish": "treaty.plan.options",
    "treaty.spark.keyed.value": "treaty.spark.keyed.options",
    "treaty.spark.packages": "treaty.spark.jars",
}
"""By old module: the new one."""
RENAMED: Mapping[str, Mapping[str, str]] = {
    "treaty.client.cache": {"Cached": "CachedRegistry", "Memo": "LoadingCache"},
    "treaty.client.serializers.settings": {
        "Framed": "SerializedPart",
        "Opened": "DeserializedPart",
        "Reading": "DeserializerSettings",
        "Writing": "SerializerSettings",
    },
    "treaty.client.settings": {"Settings": "ClientSettings"},
    "treaty.core.registry": {"Call": "CallOptions"},
    "treaty.spark": {
        "Debezium": "DebeziumEnvelope",
        "Derive": "DeriveOptions",
        "EncodeWish": "EncodeOptions",
        "Keyed": "KeyedTableOptions",
        "Outgoing": "TopicFrames",
        "Preview": "PipelinePreview",
        "Replayed": "ReplayReport",
        "Report": "BatchReport",
        "Status": "PipelineStatus",
        "Step": "BatchEvent",
        "Table": "LakeTable",
        "Trigger": "StreamTrigger",
        "Verdict": "EncodeDryRun",
        "Written": "EncodeColumns",
        "still_bad": "remaining_bad_rows",
    },
}
"""By module and old name: the new name in the same module."""


def load_name(name: str) -> object:
    """Return what `treaty.NAME` is. Raise AttributeError where there is no such name."""
    if name in PUBLIC:
        return getattr(import_module(PUBLIC[name]), name)
    if name in PACKAGES:
        return import_module(f"treaty.{name}")
    raise AttributeError(f"module 'treaty' has no attribute {name!r}")


class RenamedModuleFinder:
    """The last finder of `sys.meta_path`: it finds nothing, and says where a renamed module went."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Raise ImportError for a module that was renamed."""
        del path, target
        if name in RENAMED_MODULES:
            raise ImportError(f"{name} is now {RENAMED_MODULES[name]}", name=name)
        return None


sys.meta_path.append(RenamedModuleFinder())


def refuse_renamed(module: str) -> Callable[[str], object]:
    """Return the `__getattr__` of a module: ImportError with the new name for an old one, AttributeError for any other."""

    def find_attribute(name: str) -> object:
        new = RENAMED[module].get(name)
        if new is not None:
            raise ImportError(f"{module}.{name} is now {module}.{new}", name=name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return find_attribute

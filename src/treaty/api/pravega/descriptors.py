"""Protobuf schemas that other APIs registered as texts, as the sets of descriptors that Pravega's clients read."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from treaty.api.pravega.exchange import PravegaExchange
from treaty.core.messages.versions import VersionFound
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.protobuf.encoding.files import build_descriptor_set
from treaty.formats.protobuf.parser import parse_schema
from treaty.wire.references import VIEW_BYTES, KnownSchemas, resolve_schema


async def with_descriptors(x: PravegaExchange, version: VersionFound) -> VersionFound:
    """Return a version with its descriptors as bytes, if it is a Protobuf schema that was sent as a text."""
    return (await all_with_descriptors(x, (version,)))[0]


async def all_with_descriptors(x: PravegaExchange, versions: Iterable[VersionFound]) -> list[VersionFound]:
    """Do that for several versions; what they refer to is read once."""
    known_schemas: KnownSchemas = {}
    completed = []
    for version in versions:
        if version.format != "PROTOBUF" or version.data is not None:
            completed.append(version)
            continue
        schema = await resolve_schema(x.registry.shared, x.registry.call, version, known_schemas)
        size = len(version.text) + sum(len(known_schema.text) for known_schema in known_schemas.values())
        data = _descriptors(schema) if size <= VIEW_BYTES else await asyncio.to_thread(_descriptors, schema)
        completed.append(replace(version, data=data))
    return completed


def _descriptors(schema: ResolvedSchema) -> bytes | None:
    """Return the descriptors of a file, each after those that it imports; None for a text that can't be read."""
    try:
        return build_descriptor_set(parse_schema(schema, strict=False)).SerializeToString(deterministic=True)
    except InvalidSchemaError:
        return None

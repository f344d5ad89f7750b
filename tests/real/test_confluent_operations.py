"""Every operation of confluent-kafka-python's client, unmodified, against `treaty serve` on SQLite: sync and async alike.

The story calls all public methods of the client's class; a method that a newer client brings fails the test until the
story has it.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import getmembers, isfunction
from typing import Any

import pytest
from confluent_kafka.schema_registry import (
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    AsyncSchemaRegistryClient,
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    ServerConfig,
)
from confluent_kafka.schema_registry.error import SchemaRegistryError

from tests.real.running import Running, serving

Ask = Callable[..., Any]
LOCAL = frozenset({"clear_caches", "clear_latest_caches", "close", "aclose", "config", "new_client"})
"""Methods that ask nothing of a server."""


def record(*fields: tuple[str, Any]) -> str:
    made = [
        {"name": name, "type": kind, **({"default": None} if isinstance(kind, list) else {})} for name, kind in fields
    ]
    return json.dumps({"type": "record", "name": "User", "namespace": "org.example", "fields": made})


V1 = Schema(record(("name", "string")), "AVRO")
V2 = Schema(record(("name", "string"), ("age", ["null", "int"])), "AVRO")
BROKEN = Schema(record(("name", "string"), ("must", "int")), "AVRO")
TYPES = {
    "AVRO": (V1.schema_str, V2.schema_str, BROKEN.schema_str),
    "JSON": (
        '{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}',
        '{"type":"object","properties":{"a":{"type":"number"}},"additionalProperties":false}',
        '{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}',
    ),
    "PROTOBUF": (
        'syntax = "proto3"; message A { int32 a = 1; }',
        'syntax = "proto3"; message A { int32 a = 1; string b = 2; }',
        'syntax = "proto3"; message A { string a = 1; }',
    ),
}
"""Of each format a first version, a compatible second one, and one that is not."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("server")
    with serving(folder, "--log", f"sqlite://{folder}/registry.db") as running:
        yield running


@contextmanager
def sync(url: str, called: set[str]) -> Iterator[Ask]:
    with SchemaRegistryClient({"url": url, "max.retries": 0}) as client:

        def ask(name: str, *words: Any, **more: Any) -> Any:
            called.add(name)
            client.clear_caches()
            return getattr(client, name)(*words, **more)

        yield ask


@contextmanager
def asynchronous(url: str, called: set[str]) -> Iterator[Ask]:
    with asyncio.Runner() as runner:
        client: Any = AsyncSchemaRegistryClient({"url": url, "max.retries": 0})

        async def answer(name: str, *words: Any, **more: Any) -> Any:
            await client.clear_caches()
            return await getattr(client, name)(*words, **more)

        def ask(name: str, *words: Any, **more: Any) -> Any:
            called.add(name)
            return runner.run(answer(name, *words, **more))

        yield ask
        runner.run(client.aclose())


KINDS = {"sync": (sync, SchemaRegistryClient), "async": (asynchronous, AsyncSchemaRegistryClient)}


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_operation(server: Running, kind: str) -> None:
    called: set[str] = set()
    opened, client = KINDS[kind]
    with opened(server.base, called) as ask:
        schemas(ask, f"{kind}-user-value")
        settings(ask, f"{kind}-set-value")
        contexts(ask, kind)
        associations(ask, kind)
        deletions(ask, f"{kind}-user-value")

    assert called == {name for name, _ in getmembers(client, isfunction) if not name.startswith("_")} - LOCAL


def schemas(ask: Ask, subject: str) -> None:
    first = ask("register_schema_full_response", subject, V1)
    assert (first.version, first.subject) == (1, subject)
    assert ask("register_schema", subject, V1) == first.schema_id
    assert ask("test_compatibility", subject, V2)
    assert ask("test_compatibility", subject, V2, version=1, verbose=True)
    assert not ask("test_compatibility", subject, BROKEN)
    assert ask("test_compatibility_all_versions", subject, V2)
    assert not ask("test_compatibility_all_versions", subject, BROKEN, verbose=True)
    with pytest.raises(SchemaRegistryError, match="Schema being registered is incompatible with an earlier schema"):
        ask("register_schema", subject, BROKEN)
    tagged: Any = Schema(V2.schema_str, "AVRO", [], Metadata(None, MetadataProperties({"major": "2"}), None), None)
    second = ask("register_schema_full_response", subject, tagged)
    assert second.version == 2
    assert ask("lookup_schema", subject, V1).version == 1
    assert ask("get_versions", subject) == [1, 2]
    assert ask("get_version", subject, 1).schema_id == first.schema_id
    assert ask("get_version", subject, "latest").schema_id == second.schema_id
    assert ask("get_latest_version", subject).guid == second.guid
    assert ask("get_latest_with_metadata", subject, {"major": "2"}).version == 2
    assert ask("get_schema", first.schema_id, subject_name=subject).schema_str == json.dumps(
        json.loads(str(V1.schema_str)), separators=(",", ":")
    )
    assert ask("get_schema_by_guid", second.guid).metadata.properties == tagged.metadata.properties
    assert subject in ask("get_subjects")
    assert ask("get_subjects", subject_prefix=subject) == [subject]
    assert subject in ask("get_subjects_by_schema_id", first.schema_id)
    assert (subject, 1) in [(one.subject, one.version) for one in ask("get_schema_versions", first.schema_id)]
    assert sorted(ask("get_schema_types")) == ["AVRO", "JSON", "PROTOBUF"]
    user = Schema(
        '{"type":"array","items":"org.example.User"}', "AVRO", [SchemaReference("org.example.User", subject, 2)]
    )
    holder = ask("register_schema", f"{subject}-list", user)
    assert ask("get_referenced_by", subject, 2) == [holder]
    for format_, (old, new, wrong) in TYPES.items():
        name = f"{subject}-{format_}"
        assert ask("register_schema_full_response", name, Schema(old, format_)).version == 1
        assert ask("register_schema_full_response", name, Schema(new, format_)).version == 2
        with pytest.raises(SchemaRegistryError) as refused:
            ask("register_schema", name, Schema(wrong, format_))
        assert (refused.value.http_status_code, refused.value.error_code) == (409, 40901)


def settings(ask: Ask, subject: str) -> None:
    ask("register_schema", subject, V1)
    assert ask("get_compatibility") == "BACKWARD"
    assert ask("set_compatibility", subject, "FULL")["compatibility"] == "FULL"
    assert ask("get_compatibility", subject) == "FULL"
    ask("set_config", subject, ServerConfig(compatibility=ConfigCompatibilityLevel.NONE, compatibility_group="major"))
    found = ask("get_config", subject)
    assert (found.compatibility_level, found.compatibility_group) == ("NONE", "major")
    ask("delete_config", subject)
    with pytest.raises(SchemaRegistryError) as gone:
        ask("get_config", subject)
    assert gone.value.error_code == 40408
    with pytest.raises(SchemaRegistryError, match="Invalid compatibility level"):
        ask("set_compatibility", subject, "SIDEWAYS")
    assert ask("get_global_mode") == "READWRITE"
    assert ask("update_mode", subject, "READONLY") == "READONLY"
    assert ask("get_mode", subject) == "READONLY"
    with pytest.raises(SchemaRegistryError) as locked:
        ask("register_schema", subject, V2)
    assert locked.value.error_code == 42205
    ask("delete_mode", subject)
    ask("update_global_mode", "IMPORT", force=True)
    assert ask("get_global_mode") == "IMPORT"
    ask("update_global_mode", "READWRITE")


def contexts(ask: Ask, kind: str) -> None:
    name = f":.{kind}:user-value"
    here = ask("register_schema_full_response", name, V1)
    assert (here.schema_id, here.subject) == (1, name)
    assert f".{kind}" in ask("get_contexts")
    assert ask("get_schema", 1, subject_name=name).schema_str


def associations(ask: Ask, kind: str) -> None:
    topic, resource = f"{kind}-topic", f"{kind}-resource"
    info = AssociationCreateOrUpdateInfo(subject=f"{kind}-set-value", association_type="value", lifecycle="WEAK")
    made = ask("create_association", AssociationCreateOrUpdateRequest(topic, "cluster", resource, "topic", [info]))
    assert [one.subject for one in made.associations] == [f"{kind}-set-value"]
    found = ask("get_associations_by_resource_name", topic, "-", "topic", ["value"])
    assert [(one.subject, one.resource_id) for one in found] == [(f"{kind}-set-value", resource)]
    ask("delete_associations", resource, "topic", ["value"])
    assert ask("get_associations_by_resource_name", topic, "-", "topic", ["value"]) == []


def deletions(ask: Ask, subject: str) -> None:
    with pytest.raises(SchemaRegistryError) as held:
        ask("delete_version", subject, 2)
    assert held.value.error_code == 42206
    ask("delete_subject", f"{subject}-list")
    ask("delete_subject", f"{subject}-list", permanent=True)
    assert ask("delete_version", subject, 1) == 1
    assert ask("get_versions", subject) == [2]
    assert ask("get_versions", subject, deleted=True) == [1, 2]
    assert ask("delete_version", subject, 1, permanent=True) == 1
    assert ask("delete_subject", subject) == [2]
    assert subject in ask("get_subjects", deleted=True)
    assert ask("delete_subject", subject, permanent=True) == [2]
    assert subject not in ask("get_subjects", deleted=True)

"""confluent-kafka-python, unmodified, with topics that are bound to subjects: its client, and serializers as they come."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import (
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    AsyncSchemaRegistryClient,
    Schema,
    SchemaRegistryClient,
)
from confluent_kafka.schema_registry.avro import AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError

import treaty
from tests.real.running import Running, serving
from treaty.client.serializers.avro import AvroSerializer as Ours
from treaty.client.serializers.settings import SerializerSettings
from treaty.client.serializers.subject_names import AssociatedNameStrategy

ORDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
WIDER = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"},{"name":"n","type":"int","default":0}]}'
KEY = '{"type":"string"}'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("associations"), "--log", "memory:") as running:
        yield running


def bind(client: SchemaRegistryClient, topic: str, *infos: AssociationCreateOrUpdateInfo) -> Any:
    return client.create_association(
        AssociationCreateOrUpdateRequest(topic, "lkc-1", f"id-{topic}", "topic", list(infos))
    )


def info(subject: str, kind: str = "value", lifecycle: str = "WEAK", schema: str | None = None) -> Any:
    text = None if schema is None else Schema(schema, "AVRO")
    return AssociationCreateOrUpdateInfo(subject, kind, lifecycle, None, text, None)


def at(topic: str, field: Any = MessageField.VALUE) -> SerializationContext:
    return SerializationContext(topic, field)


def test_schemas_come_with_an_association(server: Running) -> None:
    with SchemaRegistryClient({"url": server.base}) as client:
        made = bind(client, "a", info("a-shared", lifecycle="STRONG", schema=ORDER), info("a-key", "key", schema=KEY))

        assert [(one.subject, one.association_type, one.lifecycle, one.frozen) for one in made.associations] == [
            ("a-shared", "value", "STRONG", False),
            ("a-key", "key", "WEAK", False),
        ]
        assert made.associations[0].schema.schema_str == ORDER
        assert client.get_latest_version("a-shared").schema.schema_str == ORDER
        found = client.get_associations_by_resource_name("a", "-", "topic")
        assert {(one.subject, one.association_type, one.resource_id) for one in found} == {
            ("a-shared", "value", "id-a"),
            ("a-key", "key", "id-a"),
        }
        assert all(one.guid for one in found)
        assert len(client.get_associations_by_resource_name("a", "lkc-1", "topic", ["key"], 0, 1)) == 1
        client.delete_associations("id-a", "topic", ["value"], cascade_lifecycle=True)
        assert "a-shared" not in client.get_subjects(deleted=True)
        client.delete_associations("id-a")
        assert "a-key" in client.get_subjects()


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (info("none"), 40907),
        (info("e-strong"), 40905),
        (info("e-strong", lifecycle="STRONG"), 40904),
        (info("e-weak", schema=WIDER.replace(',"default":0', "")), 40901),
        (info("e-weak", "header"), 42212),
        (info("e-weak", schema="{"), 42201),
    ],
    ids=["no version", "strong there", "any there", "incompatible", "kind", "schema"],
)
def test_what_is_refused_has_the_code_that_the_client_knows(server: Running, wanted: Any, code: int) -> None:
    with SchemaRegistryClient({"url": server.base}) as client:
        client.register_schema("e-strong", Schema(ORDER, "AVRO"))
        client.register_schema("e-weak", Schema(ORDER, "AVRO"))
        bind(client, "e1", info("e-strong", lifecycle="STRONG"))
        with pytest.raises(SchemaRegistryError) as told:
            bind(client, "e2", wanted)
        assert (told.value.error_code, told.value.http_status_code) == (code, code // 100)
        with pytest.raises(SchemaRegistryError) as told:
            client.delete_subject("e-strong")
        assert told.value.error_code == 40904
        with pytest.raises(SchemaRegistryError) as told:
            client.delete_associations("id-e2")
        assert told.value.error_code == 40410


def test_serializers_as_they_come_find_the_bound_subject(server: Running) -> None:
    with SchemaRegistryClient({"url": server.base}) as client:
        bind(client, "orders", info("shop-order", lifecycle="STRONG", schema=ORDER))
        payload = AvroSerializer(client, WIDER)({"id": 7, "n": 1}, at("orders"))

        assert client.get_versions("shop-order") == [1, 2]
        assert "orders-value" not in client.get_subjects()
        assert AvroDeserializer(client)(payload, at("orders")) == {"id": 7, "n": 1}
        AvroSerializer(client, KEY)("k", at("orders", MessageField.KEY))
        assert client.get_versions("orders-key") == [1], "what is not bound keeps the usual name"
        again = AvroSerializer(client, conf={"auto.register.schemas": False, "use.latest.version": True})
        assert again({"id": 8, "n": 2}, at("orders"))[:5] == payload[:5]


def test_serializers_of_asyncio_programs_find_it_too(server: Running) -> None:
    async def story() -> None:
        async with AsyncSchemaRegistryClient({"url": server.base}) as client:
            request = AssociationCreateOrUpdateRequest(
                "later", "lkc-1", "id-later", "topic", [info("later-order", schema=ORDER)]
            )
            await client.create_association(request)
            serializer = await AsyncAvroSerializer(client, ORDER)
            assert await serializer({"id": 1}, at("later"))
            assert "later-value" not in await client.get_subjects()

    asyncio.run(story())


def test_json_goes_the_same_way_and_the_clusters_id_narrows_it(server: Running) -> None:
    schema = '{"title":"O","type":"object","properties":{"id":{"type":"integer"}}}'
    with SchemaRegistryClient({"url": server.base}) as client:
        client.register_schema("j-order", Schema(schema, "JSON"))
        bind(client, "j", info("j-order"))
        assert JSONSerializer(schema, client, lambda value, _: value)({"id": 1}, at("j"))
        assert "j-value" not in client.get_subjects()
        elsewhere = {"subject.name.strategy.conf": {"subject.name.strategy.kafka.cluster.id": "lkc-2"}}
        JSONSerializer(schema, client, lambda value, _: value, elsewhere)({"id": 1}, at("j"))
        assert client.get_versions("j-value") == [1]


def test_two_topics_of_one_name_stop_a_serializer_that_does_not_say_which(server: Running) -> None:
    with SchemaRegistryClient({"url": server.base}) as client:
        bind(client, "two", info("two-a", schema=ORDER))
        request = AssociationCreateOrUpdateRequest("two", "lkc-2", "id-two-2", "topic", [info("two-b", schema=ORDER)])
        client.create_association(request)
        with pytest.raises(SerializationError, match="Multiple associated subjects"):
            AvroSerializer(client, ORDER)({"id": 1}, at("two"))


def test_our_own_serializer_writes_what_theirs_writes(server: Running) -> None:
    with SchemaRegistryClient({"url": server.base}) as client, treaty.connect(server.base) as registry:
        bind(client, "same", info("same-order", schema=ORDER))
        theirs = AvroSerializer(client, ORDER)({"id": 3}, at("same"))
        serializer = Ours(registry, ORDER, SerializerSettings(name_strategy=AssociatedNameStrategy()))
        assert serializer({"id": 3}, "same").data == theirs
        assert "same-value" not in registry.subjects()

"""confluent-kafka-python's client and Avro serializers, unmodified, against a real server."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka.schema_registry import (
    ConfigCompatibilityLevel,
    Metadata,
    MetadataProperties,
    Rule,
    RuleKind,
    RuleMode,
    RuleSet,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    ServerConfig,
    header_schema_id_serializer,
    topic_subject_name_strategy,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.serialization import MessageField, SerializationContext

from tests.real.running import Running, serving

Client = Any
"""The client: its annotations are stricter than what it takes and gives."""


def record(*fields: dict[str, Any], name: str = "User") -> str:
    return json.dumps({"type": "record", "name": name, "namespace": "org.example", "fields": list(fields)})


NAME = {"name": "name", "type": "string"}
V1 = record(NAME)
V2 = record(NAME, {"name": "age", "type": ["null", "int"], "default": None})
BROKEN = record(NAME, {"name": "must", "type": "int"})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("server"), "--log", "memory:") as running:
        yield running


@pytest.fixture
def client(server: Running) -> Iterator[Client]:
    with SchemaRegistryClient({"url": server.base, "max.retries": 0}) as made:
        yield made


@pytest.fixture
def subject() -> str:
    return f"subject-{uuid4().hex}-value"


def avro(text: str, **more: Any) -> Schema:
    return Schema(text, "AVRO", **more)


def code(failure: pytest.ExceptionInfo[SchemaRegistryError]) -> int:
    return int(failure.value.error_code)


def test_register_get_look_up_and_list(client: Client, subject: str) -> None:
    first = client.register_schema_full_response(subject, avro(V1))
    second = client.register_schema_full_response(subject, avro(V2))
    assert (first.version, second.version) == (1, 2)
    assert first.guid
    assert client.register_schema(subject, avro(V1)) == first.schema_id
    client.clear_caches()
    assert client.get_schema(first.schema_id).schema_str == first.schema.schema_str
    assert client.get_schema_by_guid(first.guid).schema_str == first.schema.schema_str
    found = client.lookup_schema(subject, avro(V2))
    assert (found.schema_id, found.version, found.subject) == (second.schema_id, 2, subject)
    assert client.get_versions(subject) == [1, 2]
    latest = client.get_latest_version(subject)
    assert (latest.version, latest.schema_id, latest.guid) == (2, second.schema_id, second.guid)
    assert client.get_version(subject, 1).schema_id == first.schema_id
    assert subject in client.get_subjects()
    assert subject in client.get_subjects_by_schema_id(first.schema_id)
    assert (subject, 2) in [(one.subject, one.version) for one in client.get_schema_versions(second.schema_id)]
    assert "AVRO" in client.get_schema_types()


def test_the_same_schema_has_one_id_in_all_subjects(client: Client, subject: str) -> None:
    assert client.register_schema(subject, avro(V1)) == client.register_schema(f"{subject}-2", avro(V1))


def test_whitespace_does_not_make_a_schema_new(client: Client, subject: str) -> None:
    first = client.register_schema(subject, avro(V1))
    client.clear_caches()
    assert client.register_schema(subject, avro(json.dumps(json.loads(V1), indent=4))) == first


@pytest.mark.parametrize("name", ["with space", "with/slash", "mit-ümläut", "a%2Fb", "semi;colon?", "plus+"])
def test_subjects_with_any_name(client: Client, subject: str, name: str) -> None:
    odd = f"{name}-{subject}"
    schema_id = client.register_schema(odd, avro(V1))
    client.clear_caches()
    assert odd in client.get_subjects(subject_prefix=name)
    assert client.get_latest_version(odd).subject == odd
    assert client.get_schema(schema_id, subject_name=odd).schema_str
    assert client.delete_subject(odd) == [1]


def test_what_is_not_there_is_told_with_its_code(client: Client, subject: str) -> None:
    client.register_schema(subject, avro(V1))
    with pytest.raises(SchemaRegistryError, match=r"Subject .*not found.*") as failure:
        client.get_latest_version("nobody")
    assert code(failure) == 40401
    with pytest.raises(SchemaRegistryError, match=r"Version .*not found") as failure:
        client.get_version(subject, 9)
    assert code(failure) == 40402
    with pytest.raises(SchemaRegistryError, match=r"Schema .*not found.*") as failure:
        client.get_schema(999_999)
    assert code(failure) == 40403
    with pytest.raises(SchemaRegistryError, match=r"Schema .*not found.*") as failure:
        client.get_schema_by_guid(str(uuid4()))
    assert code(failure) == 40403
    with pytest.raises(SchemaRegistryError, match=r"Schema .*not found.*") as failure:
        client.lookup_schema(subject, avro(V2))
    assert code(failure) == 40403
    with pytest.raises(SchemaRegistryError, match=r"The specified version .*is not a valid version id.*") as failure:
        client.get_version(subject, 0)
    assert code(failure) == 42202


def test_an_incompatible_schema_is_refused_and_told_why(client: Client, subject: str) -> None:
    client.register_schema(subject, avro(V1))
    with pytest.raises(
        SchemaRegistryError, match="Schema being registered is incompatible with an earlier schema"
    ) as failure:
        client.register_schema(subject, avro(BROKEN))
    assert (code(failure), failure.value.http_status_code) == (40901, 409)
    assert "READER_FIELD_MISSING_DEFAULT_VALUE" in str(failure.value)
    assert "{oldSchemaVersion: 1}" in str(failure.value)
    assert client.get_versions(subject) == [1]


def test_an_invalid_schema_is_refused(client: Client, subject: str) -> None:
    for text in ('{"type":"record"}', "nonsense", '{"type":"enum","name":"E","symbols":["a","a"]}'):
        with pytest.raises(SchemaRegistryError, match="Invalid schema") as failure:
            client.register_schema(subject, avro(text))
        assert code(failure) == 42201


def test_compatibility_checks_write_nothing(client: Client, subject: str) -> None:
    assert client.test_compatibility(subject, avro(V1)) is True
    client.register_schema(subject, avro(V1))
    assert client.test_compatibility(subject, avro(V2)) is True
    assert client.test_compatibility(subject, avro(BROKEN)) is False
    assert client.test_compatibility(subject, avro(BROKEN), version=1) is False
    assert client.test_compatibility_all_versions(subject, avro(V2)) is True
    assert client.get_versions(subject) == [1]


def test_levels_are_set_shown_and_obeyed(client: Client, subject: str) -> None:
    assert client.get_compatibility() == "BACKWARD"
    with pytest.raises(SchemaRegistryError) as failure:
        client.get_compatibility(subject)
    assert code(failure) == 40408
    client.register_schema(subject, avro(V1))
    client.set_compatibility(subject, "none")
    assert client.get_compatibility(subject) == "NONE"
    client.register_schema(subject, avro(BROKEN))
    with pytest.raises(SchemaRegistryError, match="Invalid compatibility level") as failure:
        client.set_compatibility(subject, "sideways")
    assert code(failure) == 42203
    client.set_config(subject, ServerConfig(compatibility=ConfigCompatibilityLevel.FULL, compatibility_group="app"))
    config = client.get_config(subject)
    assert (config.compatibility_level, config.compatibility_group) == ("FULL", "app")
    assert client.delete_config(subject).compatibility_level == "FULL"
    with pytest.raises(SchemaRegistryError) as failure:
        client.get_config(subject)
    assert code(failure) == 40408


def test_read_only_subjects_refuse_writes_and_answer_reads(client: Client, subject: str) -> None:
    schema_id = client.register_schema(subject, avro(V1))
    client.update_mode(subject, "READONLY")
    assert client.get_mode(subject) == "READONLY"
    client.clear_caches()
    assert client.register_schema(subject, avro(V1)) == schema_id
    with pytest.raises(SchemaRegistryError, match="read-only") as failure:
        client.register_schema(subject, avro(V2))
    assert code(failure) == 42205
    with pytest.raises(SchemaRegistryError) as failure:
        client.delete_subject(subject)
    assert code(failure) == 42205
    assert client.delete_mode(subject) == "READONLY"
    with pytest.raises(SchemaRegistryError) as failure:
        client.get_mode(subject)
    assert code(failure) == 40409
    assert client.get_global_mode() == "READWRITE"
    with pytest.raises(SchemaRegistryError) as failure:
        client.update_mode(subject, "SOMETIMES")
    assert code(failure) == 42204


def test_deleting_takes_two_steps(client: Client, subject: str) -> None:
    first = client.register_schema(subject, avro(V1))
    client.register_schema(subject, avro(V2))
    with pytest.raises(SchemaRegistryError) as failure:
        client._rest_client.delete(f"subjects/{subject}?permanent=true")
    assert code(failure) == 40405
    assert client.delete_version(subject, 1) == 1
    assert client.get_versions(subject) == [2]
    assert client.get_versions(subject, deleted=True) == [1, 2]
    client.clear_caches()
    assert client.get_schema(first).schema_str
    with pytest.raises(SchemaRegistryError) as failure:
        client.delete_version(subject, 1)
    assert code(failure) == 40406
    with pytest.raises(SchemaRegistryError) as failure:
        client._rest_client.delete(f"subjects/{subject}/versions/2?permanent=true")
    assert code(failure) == 40407
    assert client.delete_subject(subject) == [2]
    with pytest.raises(SchemaRegistryError) as failure:
        client.delete_subject(subject)
    assert code(failure) == 40404
    assert client._rest_client.delete(f"subjects/{subject}?permanent=true") == [1, 2]
    with pytest.raises(SchemaRegistryError) as failure:
        client.get_versions(subject, deleted=True)
    assert code(failure) == 40401


def test_references_hold_what_they_refer_to(client: Client, subject: str) -> None:
    client.register_schema(f"{subject}-ref", avro(V1))
    reference = SchemaReference("org.example.User", f"{subject}-ref", 1)
    outer = record({"name": "user", "type": "org.example.User"}, name="Outer")
    schema_id = client.register_schema(subject, avro(outer, references=[reference]))
    client.clear_caches()
    back = client.get_schema(schema_id)
    assert [(one.name, one.subject, one.version) for one in back.references] == [
        ("org.example.User", f"{subject}-ref", 1)
    ]
    assert client.get_referenced_by(f"{subject}-ref", 1) == [schema_id]
    with pytest.raises(SchemaRegistryError, match="One or more references exist") as failure:
        client.delete_version(f"{subject}-ref", 1)
    assert code(failure) == 42206
    with pytest.raises(SchemaRegistryError) as failure:
        client.register_schema(f"{subject}-x", avro(outer))
    assert code(failure) == 42201


def test_metadata_and_rules_come_back_as_they_were_sent(client: Client, subject: str) -> None:
    rule = Rule(
        "check", None, RuleKind.CONDITION, RuleMode.WRITE, "CEL", None, None, "message.name != ''", None, None, False
    )
    metadata = Metadata(None, MetadataProperties({"owner": "data team", "a b": "c&d"}), None)
    schema = avro(V1, metadata=metadata, rule_set=RuleSet(None, [rule]))
    registered = client.register_schema_full_response(subject, schema)
    client.clear_caches()
    back = client.get_latest_version(subject).schema
    assert back.metadata.properties == metadata.properties
    assert [one.name for one in back.rule_set.domain_rules] == ["check"]
    assert registered.schema.metadata.properties == metadata.properties
    found = client.get_latest_with_metadata(subject, {"owner": "data team", "a b": "c&d"})
    assert found.version == 1
    with pytest.raises(SchemaRegistryError) as failure:
        client.get_latest_with_metadata(subject, {"owner": "nobody"})
    assert code(failure) == 40403


def test_contexts_are_worlds_of_their_own(client: Client, subject: str) -> None:
    client.register_schema(subject, avro(V2))
    context = f".ctx{uuid4().hex[:8]}"
    inside = f":{context}:{subject}"
    assert client.register_schema(inside, avro(V1)) == 1
    assert context in client.get_contexts()
    client.clear_caches()
    assert client.get_versions(inside) == [1]
    assert client.get_schema(1, subject_name=inside).schema_str == client.get_latest_version(inside).schema.schema_str
    assert inside in client.get_subjects(subject_prefix=f":{context}:")
    assert inside in client.get_subjects()


def test_lists_are_paged(client: Client, subject: str) -> None:
    names = [f"{subject}-{n}" for n in range(5)]
    for name in names:
        client.register_schema(name, avro(V1))
    assert client.get_subjects(subject_prefix=subject, offset=1, limit=2) == names[1:3]
    assert client.get_subjects(subject_prefix=subject, offset=4, limit=9) == names[4:]
    assert client.get_subjects(subject_prefix=subject) == names


def test_serializers_register_and_read_back(client: Client) -> None:
    topic = f"topic-{uuid4().hex}"
    where = SerializationContext(topic, MessageField.VALUE)
    old = AvroSerializer(client, V1)
    new = AvroSerializer(client, V2)
    frames = [old({"name": "ann"}, where), new({"name": "bob", "age": 3}, where)]
    assert client.get_versions(f"{topic}-value") == [1, 2]
    reader = AvroDeserializer(client, V2)
    assert [reader(frame, where) for frame in frames] == [{"name": "ann", "age": None}, {"name": "bob", "age": 3}]
    with pytest.raises(SchemaRegistryError):
        AvroSerializer(client, BROKEN)({"name": "cy", "must": 1}, where)


def test_serializers_that_use_the_latest_version(client: Client) -> None:
    topic = f"topic-{uuid4().hex}"
    where = SerializationContext(topic, MessageField.VALUE)
    client.register_schema(f"{topic}-value", avro(V2))
    config = {"auto.register.schemas": False, "use.latest.version": True}
    frame = AvroSerializer(client, None, conf=config)({"name": "ann", "age": 1}, where)
    assert AvroDeserializer(client)(frame, where) == {"name": "ann", "age": 1}


def test_serializers_that_only_look_up(client: Client) -> None:
    topic = f"topic-{uuid4().hex}"
    where = SerializationContext(topic, MessageField.VALUE)
    config = {"auto.register.schemas": False, "subject.name.strategy": topic_subject_name_strategy}
    with pytest.raises(SchemaRegistryError) as failure:
        AvroSerializer(client, V1, conf=config)({"name": "ann"}, where)
    assert code(failure) == 40401
    client.register_schema(f"{topic}-value", avro(V1))
    frame = AvroSerializer(client, V1, conf=config)({"name": "ann"}, where)
    assert AvroDeserializer(client)(frame, where) == {"name": "ann"}


def test_the_guid_in_a_header_is_enough(client: Client) -> None:
    topic = f"topic-{uuid4().hex}"
    headers: Any = []
    where = SerializationContext(topic, MessageField.VALUE, headers)
    config = {"schema.id.serializer": header_schema_id_serializer}
    frame = AvroSerializer(client, V1, conf=config)({"name": "annabelle"}, where)
    client.clear_caches()
    assert AvroDeserializer(client)(frame, where) == {"name": "annabelle"}


def test_the_same_names_in_both_spellings_of_booleans(server: Running, client: Client, subject: str) -> None:
    client.register_schema(subject, avro(V1))
    client.delete_subject(subject)
    assert server.get(f"/subjects/{subject}/versions?deleted=True") == [1]
    assert server.get(f"/subjects/{subject}/versions?deleted=true") == [1]


def test_what_the_client_sends_is_answered_from_memory_the_second_time(
    server: Running, client: Client, subject: str
) -> None:
    registered = client.register_schema_full_response(subject, avro(V1))
    before = server.get("/status")["worker"]["hotHits"]
    reads: list[Any] = [
        lambda: client.get_schema(registered.schema_id),
        lambda: client.get_schema(registered.schema_id, subject_name=subject),
        lambda: client.get_schema_by_guid(registered.guid),
        lambda: client.get_version(subject, 1),
    ]
    for read in [*reads, *reads]:
        client.clear_caches()  # or the client would not ask
        read()
    assert server.get("/status")["worker"]["hotHits"] == before + 4

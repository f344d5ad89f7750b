"""What a program prints of a refusal: which schema, which subject, and what to do; over a node, HTTP and every format."""

import re
from collections.abc import Callable, Iterator

import pytest

from tests.behaviours.served import served
from treaty import (
    AvroSerializer,
    Connection,
    GroupSerializer,
    GroupWriterSettings,
    Incompatible,
    MustExist,
    SchemaNotFound,
    SerializerSettings,
    connect,
    pravega_group,
)
from treaty.core.policy import LEVELS, PRAVEGA_LEVELS
from treaty.core.schema import Draft

ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]}'
REFUND = '{"type": "record", "name": "Refund", "fields": [{"name": "id", "type": "string"}]}'
WIDER = ORDER.replace('"string"', '"int"')
PROTO = 'syntax = "proto3"; message Order { string id = 1; }'
JSON = '{"title": "Order", "type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": false}'


@pytest.fixture(params=["node", "http"])
def registry(request: pytest.FixtureRequest) -> Iterator[Connection]:
    if request.param == "node":
        with connect("memory:") as found:
            yield found
    else:
        with served("memory:") as running, connect(running.url) as found:
            yield found


def by_group_serializer(registry: Connection) -> None:
    registry.create_subject("shop", pravega_group("AVRO", many_types=True))
    registry.register("shop", ORDER)
    GroupSerializer(registry, "shop", [REFUND], GroupWriterSettings(register_schema=False))


def by_serializer(registry: Connection) -> None:
    registry.register("shop-value", ORDER)
    AvroSerializer(registry, REFUND, SerializerSettings(choice=MustExist()))({"id": "1"}, "shop")


def by_lookup(registry: Connection) -> None:
    registry.register("shop", ORDER)
    registry.lookup("shop", REFUND)


def by_same_version(registry: Connection) -> None:
    registry.create_subject("shop", pravega_group("AVRO", many_types=True))
    registry.register("shop", ORDER)
    registry.find_same_version("shop", REFUND)


@pytest.mark.parametrize(
    ("ask", "wanted"),
    [
        (by_group_serializer, ("Refund", "AVRO", "shop", "register it first", "register_schema=True")),
        (by_serializer, ("Refund", "AVRO", "shop-value", "register it first", "AutoRegister()")),
        (by_lookup, ("AVRO", "shop", "register it first")),
        (by_same_version, ("Refund", "AVRO", "shop", "register it first")),
    ],
)
def test_a_schema_that_is_not_there_is_named_with_its_subject(
    registry: Connection, ask: Callable[[Connection], None], wanted: tuple[str, ...]
) -> None:
    with pytest.raises(SchemaNotFound) as caught:
        ask(registry)
    for word in wanted:
        assert word in str(caught.value)
    assert caught.value.reason.subject.startswith("shop")
    assert caught.value.reason.allowed


@pytest.mark.parametrize("level", ["BACKWARD", "FORWARD", "FULL", "FULL_TRANSITIVE"])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (Draft(ORDER), Draft(WIDER)),
        (Draft(JSON, "JSON"), Draft(JSON.replace('"id": {"type": "string"}', '"id": {"type": "boolean"}'), "JSON")),
        (Draft(PROTO, "PROTOBUF"), Draft(PROTO.replace("string id", "bool id"), "PROTOBUF")),
    ],
    ids=["avro", "json", "protobuf"],
)
def test_an_incompatible_schema_is_one_sentence_for_people(
    registry: Connection, old: Draft, new: Draft, level: str
) -> None:
    registry.set_level("shop", level)
    registry.register("shop", old)
    with pytest.raises(Incompatible) as caught:
        registry.register("shop", new)
    told, first = str(caught.value), caught.value.findings[0]

    assert told.startswith(f"the schema is incompatible with shop: {first.rule}: ")
    assert first.path in told
    assert first.remedy in told
    assert "{" not in told.replace(first.remedy, "")  # neither the members of Confluent's text nor a placeholder
    assert "errorType" not in told
    assert "oldSchema" not in told
    assert len(told) < 700


def test_a_policy_that_refuses_every_change_says_so(registry: Connection) -> None:
    registry.create_subject("shop", pravega_group("AVRO", "DenyAll"))
    registry.register("shop", ORDER)
    with pytest.raises(Incompatible, match=r"^the schema is incompatible with shop: "):
        registry.register("shop", WIDER)


@pytest.mark.parametrize("name", [*PRAVEGA_LEVELS, *LEVELS])
def test_a_group_has_a_policy_by_the_names_of_pravega_and_of_confluent(name: str) -> None:
    policy = pravega_group("AVRO", name).policy

    assert policy is not None
    assert policy.exact_level == {**PRAVEGA_LEVELS, **LEVELS}[name]


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("backward", "did you mean Backward or BACKWARD?"),
        ("Backwards", "did you mean Backward"),
        ("allow_any", "did you mean AllowAny?"),
        ("denyall", "did you mean DenyAll?"),
        ("Disabled", "its name is AllowAny today"),
        ("BackwardTill", "begins at a version"),
        ("x" * 100_000, "is no policy; there are AllowAny"),
    ],
)
def test_another_name_of_a_policy_is_refused_with_what_may_be_meant(word: str, hint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(hint)) as caught:
        pravega_group("AVRO", word)
    assert len(str(caught.value)) < 500

"""Formats, contexts, levels and aliases of one subject through all APIs that have a word for them."""

import asyncio
import base64

import httpx2
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from tests.facades.interfaces import (
    AVRO_1124,
    CONFLUENT,
    INTERFACES,
    PRAVEGA,
    SCHEMA_REPO,
    TREATY,
    Interface,
    pravega_schema,
)
from tests.facades.test_interfaces import optional, play, read_everywhere
from treaty.core.messages import groups as g
from treaty.core.messages.request import Request
from treaty.core.names import Subject
from treaty.wire.native import MEDIA, PATH, ask_bytes

ORDER = '{"type":"object","title":"shop.Order","properties":{"id":{"type":"integer"}},"additionalProperties":false}'
WIDER = ORDER.replace("}},", '},"note":{"type":"string"}},')
MONEY = 'syntax = "proto3";\npackage shop;\n\nmessage Money {\n  int64 cents = 1;\n}\n'
INVOICE = """syntax = "proto3";
package shop;

import "google/protobuf/timestamp.proto";
import "money.proto";

message Invoice {
  shop.Money total = 1;
  google.protobuf.Timestamp at = 2;
}
"""
LEVELS = {
    "AllowAny": "NONE",
    "Backward": "BACKWARD",
    "Forward": "FORWARD",
    "Full": "FULL",
    "BackwardTransitive": "BACKWARD_TRANSITIVE",
    "ForwardTransitive": "FORWARD_TRANSITIVE",
    "FullTransitive": "FULL_TRANSITIVE",
}
FORMATTED = (CONFLUENT, PRAVEGA, TREATY)
"""APIs that name the format of a schema."""


@pytest.mark.parametrize("one", FORMATTED, ids=lambda one: one.name)
def test_a_json_schema(one: Interface) -> None:
    async def story(http: httpx2.AsyncClient) -> None:
        if one is PRAVEGA:
            await one("create", http, "orders")
        assert (await one("register", http, "orders", ORDER, "JSON")).value == one.first
        for ordinal, other in enumerate(FORMATTED):
            text = ORDER if ordinal == 0 else WIDER
            await TREATY("register", http, "orders", text, "JSON")
            assert (await other("register", http, "orders", ORDER, "JSON")).value == other.first, other.name
        for other in INTERFACES:
            assert (await other("get", http, "orders", other.first)).value == ORDER, other.name
            if other in FORMATTED:
                assert (await other("find", http, "orders", ORDER, "JSON")).value == other.first, other.name
        assert (await SCHEMA_REPO("find", http, "orders", ORDER)).value == 0

    play(story)


async def descriptors(http: httpx2.AsyncClient, path: str) -> FileDescriptorSet:
    answer = (await http.get(path)).json()
    schema = answer.get("schemaInfo", answer)
    return FileDescriptorSet.FromString(base64.b64decode(schema["schemaData"]))


def test_a_protobuf_schema_of_confluents_api_is_a_set_of_descriptors_for_pravegas_clients() -> None:
    async def story(http: httpx2.AsyncClient) -> None:
        await CONFLUENT("register", http, "money", MONEY, "PROTOBUF")
        references = [{"name": "money.proto", "subject": "money", "version": 1}]
        posted = {"schema": INVOICE, "schemaType": "PROTOBUF", "references": references}
        assert (await http.post("/subjects/invoices/versions", json=posted)).status_code == 200
        for one in (CONFLUENT, SCHEMA_REPO, AVRO_1124, TREATY):
            assert (await one("get", http, "invoices", one.first)).value == INVOICE, one.name

        await http.put("/v1/groups/invoices/encodings", json={"versionInfo": {"id": 0}, "codecType": ""})
        group = "/v1/groups/invoices"
        versioned = f"{group}/schemas/format/Protobuf/type/shop.Invoice/versions/0"
        for path in (f"{group}/schemas/schema/0", versioned, f"{group}/encodings/0"):
            files = (await descriptors(http, path)).file
            assert [one.package for one in files] == ["google.protobuf", "shop", "shop"], path
            assert [one.name for one in files[-1].message_type] == ["Invoice"], path
        for path, member in (("schemas", "schemas"), ("schemas/versions", "schemas"), ("history", "history")):
            (listed,) = (await http.get(f"{group}/{path}")).json()[member]
            assert FileDescriptorSet.FromString(base64.b64decode(listed["schemaInfo"]["schemaData"])).file, path

        sent = (await http.get("/v1/groups/money/schemas/schema/0")).json()
        answer = await http.post("/v1/groups/money/schemas", json=sent)
        assert (answer.status_code, answer.json()["id"]) == (201, 0)  # what was read is not registered again

    play(story)


@pytest.mark.parametrize(("policy", "level"), LEVELS.items())
def test_a_level(policy: str, level: str) -> None:
    async def story(http: httpx2.AsyncClient) -> None:
        await PRAVEGA("create", http, "orders")
        changed = await http.put("/v1/groups/orders/compatibility", json={"compatibility": {"policy": policy}})
        assert changed.status_code == 200
        assert (await CONFLUENT("level", http, "orders")).value == level
        assert (await TREATY("level", http, "orders")).value == level
        other = "FULL" if level == "BACKWARD" else "BACKWARD"
        form = {"schema": optional(0), "compatibility_model": other}
        told = (await http.post("/avro-1124/schemas/orders", data=form)).headers["treaty-compatibility-model"]
        assert told == level

        made = {"schema": optional(0), "compatibility_model": level}
        assert (await http.post("/avro-1124/schemas/prices", data=made)).status_code == 200
        assert (await http.get("/v1/groups/prices")).json()["compatibility"] == {"policy": policy}

    play(story)


def test_a_namespace_is_a_context() -> None:
    async def story(http: httpx2.AsyncClient) -> None:
        await CONFLUENT("register", http, ":.x:orders", optional(0))
        answer = await http.post("/v1/namespace/x/groups/orders/schemas", json=pravega_schema(optional(1)))
        assert (answer.status_code, answer.json()["id"]) == (201, 1)
        asked: Request[g.GroupVersions] = g.ListGroupVersions(Subject(".x", "orders"))
        told = await http.post(PATH, content=ask_bytes(asked), headers={"content-type": MEDIA})
        assert [one["text"] for one in told.json()["answer"]["versions"]] == [optional(0), optional(1)]
        for one in (PRAVEGA, SCHEMA_REPO, AVRO_1124, TREATY):  # Confluent's look-up searches other contexts too
            assert (await one("list", http, "orders")).status == 404, one.name
        assert (await CONFLUENT("list", http, ":.x:orders")).value == [1, 2]
        assert (await SCHEMA_REPO("list", http, ":.x:orders")).status == 400

    play(story)


def test_an_alias_is_followed() -> None:
    async def story(http: httpx2.AsyncClient) -> None:
        await AVRO_1124("register", http, "orders", optional(0))
        assert (await http.put("/config/sales", json={"alias": "orders"})).status_code == 200
        await read_everywhere(http, "sales", {0: optional(0)}, 0)
        for ordinal, one in enumerate(INTERFACES, 1):
            assert (await one("register", http, "sales", optional(ordinal))).value == ordinal + one.first, one.name

    play(story)


def test_subjects_in_lists() -> None:
    """Confluent's list has subjects with a live version; the others have those without one, too."""

    async def story(http: httpx2.AsyncClient) -> None:
        await asyncio.gather(*(one("create", http, one.name) for one in (PRAVEGA, SCHEMA_REPO, TREATY)))
        await AVRO_1124("register", http, "avro-1124", optional(0))
        names = ["avro-1124", "pravega", "schema-repo", "treaty"]
        assert (await http.get("/subjects")).json() == ["avro-1124"]
        assert list((await http.get("/v1/groups")).json()["groups"]) == names
        assert (await http.get("/schema-repo")).text.split() == names
        assert (await http.get("/avro-1124/schemas")).text.split() == names

    play(story)

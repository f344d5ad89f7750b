"""What is said of a schema with very many faults at very long paths is bounded, at every API."""

import asyncio
import json
from typing import Any

import httpx2
import pytest

from treaty.api.application import build_application
from treaty.assemble import open_node
from treaty.core.limits import FAULT_CHARACTERS, FAULTS
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.registry import find_formats

BODY_BYTES = 262_144
"""More than 20 faults of three texts of FAULT_CHARACTERS each take, printed twice."""


def misspelt(names: int, length: int) -> dict[str, Any]:
    """A JSON Schema with a wrong pattern in each of so many properties with names of this length."""
    return {"type": "object", "properties": {f"{at}{'n' * length}": {"pattern": "("} for at in range(names)}}


LONG, MANY = json.dumps(misspelt(20, 50_000)), json.dumps(misspelt(190, 5_000))
AVRO = json.dumps(
    {"type": "record", "name": "R", "fields": [{"name": f"1{'n' * 45_000}{at}", "type": "int"} for at in range(20)]}
)
PROTO = 'syntax = "proto3"; message M { ' + " ".join(f"{'N' * 45_000}{at} f{at} = {at + 1};" for at in range(20)) + " }"
IGLU = "/api/schemas/com.acme/click/jsonschema/1-0-0"
ASKED: dict[str, tuple[str, str, Any]] = {
    "registering JSON, long names": ("POST", "/subjects/s/versions", {"schema": LONG, "schemaType": "JSON"}),
    "registering JSON, many names": ("POST", "/subjects/s/versions", {"schema": MANY, "schemaType": "JSON"}),
    "registering Avro": ("POST", "/subjects/s/versions", {"schema": AVRO}),
    "registering Protobuf": ("POST", "/subjects/s/versions", {"schema": PROTO, "schemaType": "PROTOBUF"}),
    "looking up": ("POST", "/subjects/s", {"schema": LONG, "schemaType": "JSON"}),
    "comparing": ("POST", "/compatibility/subjects/s/versions?verbose=true", {"schema": LONG, "schemaType": "JSON"}),
    "publishing at Iglu's": ("PUT", IGLU, misspelt(18, 5_000)),
    "publishing at Iglu's, long names": ("PUT", IGLU, misspelt(2, 45_000)),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_a_refusal_is_bounded_whatever_the_schema_holds(name: str) -> None:
    method, path, body = ASKED[name]

    async def ask() -> httpx2.Response:
        async with open_node("memory:") as node:
            transport = httpx2.ASGITransport(app=build_application(node).dispatcher)
            async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
                await client.post("/subjects/s/versions", json={"schema": "{}", "schemaType": "JSON"})
                return await client.request(method, path, content=json.dumps(body))

    answer = asyncio.run(ask())
    assert answer.status_code in {200, 400, 404, 409, 422}, answer.text[:300]
    assert len(answer.content) < BODY_BYTES


@pytest.mark.parametrize("schema", [LONG, MANY], ids=["long names", "many names"])
def test_each_text_of_a_fault_is_bounded(schema: str) -> None:
    with pytest.raises(InvalidSchemaError) as refused:
        find_formats()["JSON"].parse(ResolvedSchema("JSON", schema), True)
    faults = refused.value.faults
    assert len(faults) == FAULTS
    assert all(max(len(one.path), len(one.message), len(one.expected)) <= FAULT_CHARACTERS for one in faults)
    assert len(str(refused.value)) < 4 * FAULT_CHARACTERS

"""A reference to another document, in a schema that is published, allows everything: nothing is fetched, and a lint says so."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from tests.behaviours.iglu.loopback import respond, run_registry
from treaty.api.application import build_application
from treaty.assemble import open_node
from treaty.core.iglu_key import SELF_DESCRIBING

NAME = {"vendor": "com.acme", "name": "click", "format": "jsonschema"}
FAMILY = "com.acme/click/jsonschema"


@asynccontextmanager
async def registry() -> AsyncIterator[httpx2.AsyncClient]:
    async with open_node("memory:") as node:
        transport = httpx2.ASGITransport(app=build_application(node).dispatcher)
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
            yield client


async def by_put(client: httpx2.AsyncClient, version: str, schema: dict[str, Any]) -> list[str]:
    """Publish as Iglu's clients do; return the rules of the warnings."""
    answer = await client.put(f"/api/schemas/{FAMILY}/{version}", json=schema)
    assert answer.status_code == 201, answer.text
    return [one["rule"] for one in answer.json().get("treaty", {"warnings": []})["warnings"]]


async def by_ask(client: httpx2.AsyncClient, version: str, schema: dict[str, Any]) -> list[str]:
    """Publish by the operation itself; return the rules of the warnings."""
    draft = {"format": "JSON", "text": json.dumps(schema)}
    request = {"subject": [".", FAMILY], "label": version, "draft": draft}
    answer = await client.post("/treaty/v1/ask", json={"operation": "publish", "request": request})
    assert answer.status_code == 200, answer.text
    return [one["rule"] for one in answer.json()["answer"].get("warnings", [])]


@pytest.mark.parametrize("publish", [by_put, by_ask])
def test_it_is_bound_to_the_empty_schema(publish: Any) -> None:
    """Other data would not be valid under what stands there; a version that asks for it narrows, one that asks less does not."""

    async def hold(base: str) -> None:
        remote = {"type": "object", "properties": {"id": {"$ref": f"{base}/id.json#/definitions/id"}}}
        async with registry() as client:
            assert await publish(client, "1-0-0", remote) == []
            shown = (await client.get(f"/api/schemas/{FAMILY}/1-0-0")).json()
            assert shown == {"$schema": SELF_DESCRIBING, "self": {**NAME, "version": "1-0-0"}, **remote}
            for given in (5, "five", [None]):
                data = {"schema": f"iglu:{FAMILY}/1-0-0", "data": {"id": given}}
                told = await client.post("/api/validation/validate/instance", json=data)
                assert told.json() == {"message": f"Instance is valid iglu:{FAMILY}/1-0-0"}
            linted = await client.post("/api/validation/validate/schema/jsonschema", json=shown)
            (one,) = linted.json()["report"]
            assert (one["level"], one["pointer"]) == ("WARNING", "/properties/id/$ref")
            assert one["message"].endswith("is never fetched: it allows everything")
            assert await publish(client, "1-0-1", {"type": "object", "properties": {"id": {}}}) == []
            text = {"type": "object", "properties": {"id": {"type": "string"}}}
            assert await publish(client, "1-0-2", text) != []
            elsewhere = await client.post(
                "/subjects/x/versions", json={"schemaType": "JSON", "schema": json.dumps(remote)}
            )
            assert elsewhere.status_code == 422

    with run_registry({"/id.json": respond(200, b'{"definitions": {"id": {"type": "integer"}}}')}) as other:
        asyncio.run(hold(other.base))
        assert other.requests == []

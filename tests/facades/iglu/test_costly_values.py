"""A value that takes too long to check is refused for what it is: the stored schema is all right, and so is the server."""

import asyncio
import json
from typing import Any

import httpx2
import pytest

from treaty.api.application import build_application
from treaty.assemble import open_node

FAMILY = "com.acme/click/jsonschema"
TWICE = {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}


def nest(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


COSTLY: dict[str, tuple[Any, Any, str]] = {
    "steps": (
        {"anyOf": [{"properties": {"a": TWICE}}, {"properties": {"a": TWICE}}], "required": ["none"]},
        nest(30),
        "VALUE_STEPS",
    ),
    "comparisons": (
        {"properties": {"l": {"items": {"enum": [{"k": at} for at in range(4_000)]}}}},
        {"l": [{"k": -1}] * 6_000},
        "VALUE_COMPARISONS",
    ),
}


@pytest.mark.parametrize("name", COSTLY)
def test_a_value_that_takes_too_long_is_refused_with_the_reason(name: str) -> None:
    schema, value, limit = COSTLY[name]

    async def ask() -> tuple[list[Any], Any]:
        async with open_node("memory:") as node:
            transport = httpx2.ASGITransport(app=build_application(node).dispatcher)
            async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
                put = await client.put(f"/api/schemas/{FAMILY}/1-0-0", content=json.dumps({"type": "object", **schema}))
                assert put.status_code == 201, put.text
                named = {"schema": f"iglu:{FAMILY}/1-0-0", "data": value}
                answers = [
                    await client.post("/api/validation/validate/instance", json=named),
                    await client.post(f"/api/schemas/validate/{FAMILY}/1-0-0", json=value),
                ]
                small = await client.post("/api/validation/validate/instance", json={**named, "data": {}})
                return answers, small

    answers, small = asyncio.run(ask())
    assert small.status_code == 200
    for one in answers:
        assert one.status_code == 422
        assert limit in one.json()["message"]
        assert "schema" not in one.json()["message"]

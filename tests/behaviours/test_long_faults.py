"""What is said of a schema with very many faults at very long paths is bounded, at every API."""

import asyncio
import base64
import json
from typing import Any

import httpx2
import pytest

from treaty.api.application import build_application
from treaty.assemble import open_node
from treaty.core.iglu_key import SELF_DESCRIBING
from treaty.core.limits import FAULT_CHARACTERS, FAULTS
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import InvalidSchemaError
from treaty.formats.registry import find_formats

BODY_BYTES, FAULTS_BYTES = 65_536, 131_072
"""More than two findings take, printed twice; more than 20 faults of three texts of FAULT_CHARACTERS each."""
STATUSES = {200, 400, 403, 404, 409, 422}


def misspelt(names: int, length: int) -> dict[str, Any]:
    """A JSON Schema with a wrong pattern in each of so many properties with names of this length."""
    return {"type": "object", "properties": {f"{at}{'n' * length}": {"pattern": "("} for at in range(names)}}


LONG, MANY = json.dumps(misspelt(20, 50_000)), json.dumps(misspelt(190, 5_000))
DETAILS = {"Treaty-Details": "true"}
LONE = {
    "AVRO": '{"type":"record","name":"R","fields":[{"name":"f","type":{"type":"fixed","name":"%sNAME","size":1}}]}'.replace(
        "NAME", "n" * 300_000
    ),
    "JSON": '{"type":"object","properties":{"NAME":{"type":"%s"}}}'.replace("NAME", "n" * 300_000),
}
"""One field of this type; it, or its type, has a very long name."""
OLD = {"AVRO": LONE["AVRO"] % "int", "JSON": LONE["JSON"] % "integer"}
SELF = {"vendor": "com.acme", "name": "click", "format": "jsonschema", "version": "1-0-0"}
DEEP = {
    "$schema": SELF_DESCRIBING,
    "self": SELF,
    "type": "object",
    "properties": {"n" * 90_000: {"type": "integer", "minLength": 1}},
}


def info(format_: str) -> dict[str, Any]:
    """A schema that breaks the one before, as Pravega's clients send it."""
    data = base64.b64encode((LONE[format_] % "string").encode()).decode()
    form = {"serializationFormat": format_.title(), "fullTypeName": format_.title()}
    return {"type": "R", "serializationFormat": form, "schemaData": data, "properties": {}}


def make_calls(format_: str) -> dict[str, tuple[str, str, Any]]:
    """What compares the new schema of a format with the old one."""
    text = LONE[format_] % "string"
    body = {"schema": text, "schemaType": format_}
    drafted = {"subject": [".", format_], "draft": {"text": text, "format": format_}}
    group = f"/v1/groups/{format_}/schemas"
    groups = {
        "adding to a group": ("POST", group, info(format_)),
        "validating for a group": ("POST", f"{group}/versions/validate", {"schemaInfo": info(format_)}),
        "reading in a group": ("POST", f"{group}/versions/canRead", info(format_)),
    }
    return {
        "registering": ("POST", f"/subjects/{format_}/versions", body),
        "comparing": ("POST", f"/compatibility/subjects/{format_}/versions?verbose=true", body),
        "asking to register": ("POST", "/treaty/v1/ask", {"operation": "register", "request": drafted}),
        "asking to compare": ("POST", "/treaty/v1/ask", {"operation": "check", "request": drafted}),
        **(groups if format_ == "JSON" else {}),  # a group of Avro compares types of one name alone
        "registering at a repository": ("PUT", f"/schema-repo/{format_}/register", text),
    }


ASKED: dict[str, tuple[str, str, Any]] = {
    f"{name}, {format_}": call for format_ in LONE for name, call in make_calls(format_).items()
} | {
    "an invalid schema": ("POST", "/subjects/x/versions", {"schema": LONG, "schemaType": "JSON"}),
    "comparing an invalid one": ("POST", "/compatibility/subjects/JSON/versions?verbose=true", {"schema": LONG, "schemaType": "JSON"}),
    "publishing an invalid one at Iglu's": ("PUT", "/api/schemas/com.acme/click/jsonschema/1-0-0", misspelt(2, 45_000)),
    "linting for Iglu": ("POST", "/api/validation/validate/schema/jsonschema", DEEP),
}  # fmt: skip


async def ask_all(calls: dict[str, tuple[str, str, Any]]) -> dict[str, httpx2.Response]:
    """The answers of a server that has the old schemas."""
    async with open_node("memory:") as node:
        transport = httpx2.ASGITransport(app=build_application(node).dispatcher)
        async with httpx2.AsyncClient(transport=transport, base_url="http://test", timeout=60) as client:
            for format_, text in OLD.items():
                body = {"schema": text, "schemaType": format_}
                assert (await client.post(f"/subjects/{format_}/versions", json=body)).status_code == 200
                await client.put(f"/config/{format_}", json={"compatibility": "FULL_TRANSITIVE"})
            return {
                name: await client.request(
                    method, path, content=body if isinstance(body, str) else json.dumps(body), headers=DETAILS
                )
                for name, (method, path, body) in calls.items()
            }


def test_an_answer_is_bounded_whatever_the_schemas_hold() -> None:
    answers = asyncio.run(ask_all(ASKED))
    assert {name: one.text[:300] for name, one in answers.items() if one.status_code not in STATUSES} == {}
    most = {
        name: FAULTS_BYTES if "invalid one" in name or "an invalid schema" in name else BODY_BYTES for name in answers
    }
    most["publishing an invalid one at Iglu's"] = BODY_BYTES
    assert {name: len(one.content) for name, one in answers.items() if len(one.content) > most[name]} == {}
    assert {name for name, one in answers.items() if b"nnnnnnnn" not in one.content} == set()


@pytest.mark.parametrize("schema", [LONG, MANY], ids=["long names", "many names"])
def test_each_text_of_a_fault_is_bounded(schema: str) -> None:
    with pytest.raises(InvalidSchemaError) as refused:
        find_formats()["JSON"].parse(ResolvedSchema("JSON", schema), True)
    faults = refused.value.faults
    assert len(faults) == FAULTS
    assert all(max(len(one.path), len(one.message), len(one.expected)) <= FAULT_CHARACTERS for one in faults)
    assert len(str(refused.value)) < 4 * FAULT_CHARACTERS

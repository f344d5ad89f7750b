"""Nobody learns of a private schema: roles and keys by routes and APIs, for a private family and a public one.

A caller who may not read the private family gets, of every request, what they get where it does not exist at all.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.facades.doors import Door, basic, door, write_passwords
from treaty.api.protection import ProtectionSettings

SUPER = "10000000-0000-4000-8000-000000000001"
VENDOR, FAMILY = "com.acme", "com.acme/secret/jsonschema"
PRIVATE_GUID = "guid"
RULES = """
anonymous = true
[basic]
file = "passwords"
[api_keys]
super = ["{digest}"]
[[rule]]
who = ["user:reader", "anonymous"]
may = "read"
contexts = "*"
[[rule]]
who = "user:writer"
may = ["register", "delete", "config", "mode"]
contexts = "*"
[[rule]]
who = "user:admin"
may = "admin"
contexts = "*"
[[rule]]
who = "user:other"
may = "register"
vendors = ["com.other", "com.acmecorp"]
[[rule]]
who = "user:vendor"
may = "read"
vendors = ["com.acme"]
[[rule]]
who = "user:pattern"
may = "read"
subjects = "com.acme/*"
[[rule]]
who = "user:private"
may = "read"
private = true
"""
USERS = ("reader", "writer", "admin", "other", "vendor", "pattern", "private", "none")
SECRET = {"type": "object", "description": "SECRETWORD", "properties": {}}
OPEN = {"type": "object", "description": "open", "properties": {}}


@asynccontextmanager
async def registry(folder: Path, *, with_private: bool) -> AsyncIterator[tuple[Door, dict[str, dict[str, str]]]]:
    """A registry with a public family, with a private one or without it, and the headers of every caller."""
    await asyncio.to_thread(folder.mkdir)
    write_passwords(folder / "passwords", **dict.fromkeys(USERS, "secret"))
    digest = hashlib.sha256(SUPER.encode()).hexdigest()
    (folder / "rights.toml").write_text(RULES.format(digest=digest))
    async with door(ProtectionSettings(folder / "rights.toml")) as it:
        key = {"apikey": SUPER}
        for version in ("1-0-0", "1-0-1"):
            status, _ = await it.ask("PUT", f"/api/schemas/com.acme/open/jsonschema/{version}?isPublic=true", key, OPEN)
            assert status == 201
        if with_private:
            for version in ("1-0-0", "1-0-1"):
                status, _ = await it.ask("PUT", f"/api/schemas/{FAMILY}/{version}", key, SECRET)
                assert status == 201
        callers = {name: basic(name) for name in USERS}
        for vendor in (VENDOR, "com.other", "com.acme.sub"):
            status, pair = await it.ask("POST", "/api/auth/keygen", key, {"vendorPrefix": vendor})
            assert status == 200
            callers |= {f"{name} of {vendor}": {"apikey": one} for name, one in pair.items()}
        yield it, {**callers, "anonymous": {}, "super": key}


NAME = "com.acme%2Fsecret%2Fjsonschema"
ASKED: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/api/schemas", None),
    ("GET", "/api/schemas?repr=canonical", None),
    ("GET", "/api/schemas/com.acme?repr=meta", None),
    ("GET", "/api/schemas/com.acme/secret", None),
    ("GET", f"/api/schemas/{FAMILY}", None),
    ("GET", f"/api/schemas/{FAMILY}/1", None),
    ("GET", f"/api/schemas/{FAMILY}/1-0-0", None),
    ("GET", f"/api/schemas/{FAMILY}/1-0-1?repr=uri", None),
    ("GET", f"/api/drafts/{FAMILY}/1", None),
    ("POST", f"/api/schemas/validate/{FAMILY}/1-0-0", {}),
    ("POST", "/api/validation/validate/instance", {"schema": f"iglu:{FAMILY}/1-0-0", "data": {}}),
    ("GET", "/api/meta/server", None),
    ("GET", "/subjects", None),
    ("GET", "/subjects?deleted=true", None),
    ("GET", "/schemas", None),
    ("GET", "/contexts", None),
    ("GET", "/schemas/ids/2", None),
    ("GET", "/schemas/ids/3", None),
    ("GET", "/schemas/ids/3/versions", None),
    ("GET", "/schemas/ids/3/subjects", None),
    ("GET", "/schemas/ids/1?fetchMaxId=true", None),
    ("GET", f"/schemas/guids/{PRIVATE_GUID}", None),
    ("GET", f"/schemas/guids/{PRIVATE_GUID}/ids", None),
    ("GET", f"/subjects/{NAME}/versions", None),
    ("GET", f"/subjects/{NAME}/versions/latest", None),
    ("GET", f"/subjects/{NAME}/versions/1/schema", None),
    ("GET", f"/subjects/{NAME}/versions/1/referencedby", None),
    ("GET", f"/subjects/{NAME}/metadata?key=a&value=b", None),
    ("POST", f"/subjects/{NAME}", {"schema": json.dumps(SECRET), "schemaType": "JSON"}),
    ("POST", f"/compatibility/subjects/{NAME}/versions/latest", {"schema": "{}", "schemaType": "JSON"}),
    ("GET", f"/config/{NAME}", None),
    ("GET", f"/config/{NAME}?defaultToGlobal=true", None),
    ("GET", f"/mode/{NAME}?defaultToGlobal=true", None),
    ("GET", f"/associations/subjects/{NAME}", None),
    ("GET", "/v1/groups", None),
    ("GET", f"/v1/groups/{NAME}", None),
    ("GET", f"/v1/groups/{NAME}/history", None),
    ("GET", f"/v1/groups/{NAME}/schemas", None),
    ("GET", f"/v1/groups/{NAME}/schemas/schema/0", None),
    ("GET", "/schema-repo", None),
    ("GET", f"/schema-repo/{NAME}/all", None),
    ("GET", f"/schema-repo/{NAME}/latest", None),
    ("GET", "/avro-1124/schemas", None),
    ("POST", "/treaty/v1/ask", {"operation": "list-published", "request": {}}),
    ("POST", "/treaty/v1/ask", {"operation": "list-groups", "request": {}}),
    ("POST", "/treaty/v1/ask", {"operation": "list-settings", "request": {}}),
    ("POST", "/treaty/v1/ask", {"operation": "uses-of", "request": {"schema_id": 3}}),
    ("POST", "/treaty/v1/ask", {"operation": "get-published", "request": {"subject": [".", FAMILY], "label": "1-0-0"}}),
)  # fmt: skip
"""Reads through every API."""
CHANGES: tuple[tuple[str, str, Any], ...] = (
    ("DELETE", f"/subjects/{NAME}/versions/1", None),
    ("DELETE", f"/subjects/{NAME}", None),
    ("POST", f"/v1/groups/{NAME}/codecTypes", {"name": "c"}),
    ("POST", "/subjects/refers/versions", {"schema": '{"$ref": "s"}', "schemaType": "JSON", "references": [{"name": "s", "subject": FAMILY, "version": 1}]}),
)  # fmt: skip
"""Changes that are refused where there is no such subject."""
TIMES = re.compile(r'\d{4}-\d\d-\d\dT[0-9:.]*Z|\b\d{13}\b|(?<="generation":)\d+|(?<="token":")[0-9a-f]{32}')
ALLOWED = {"super", "vendor", "pattern", "private", "read of com.acme", "write of com.acme"}


async def answers(it: Door, who: dict[str, str], guid: str, asked: tuple[tuple[str, str, Any], ...]) -> list[Any]:
    found = []
    for method, path, body in asked:
        headers = dict(who)
        if not path.startswith("/api"):
            headers.pop("apikey", None)
        answer = await it.http.request(
            method, path.replace(PRIVATE_GUID + "", guid, 1) if "/guids/" in path else path, headers=headers, json=body
        )
        found.append((method, path, answer.status_code, TIMES.sub("TIME", answer.text)))
    return found


@pytest.mark.slow
def test_nobody_learns_of_a_private_schema(tmp_path: Path) -> None:
    asyncio.run(learn_of_a_private_schema(tmp_path))


async def learn_of_a_private_schema(tmp_path: Path) -> None:
    async with (
        registry(tmp_path / "with", with_private=True) as (it, callers),
        registry(tmp_path / "without", with_private=False) as (bare, others),
    ):
        _, found = await it.ask("GET", f"/subjects/{NAME}/versions/1", basic("vendor"))
        guid = found["guid"]
        for name, who in callers.items():
            mine = await answers(it, who, guid, ASKED)
            shown = [one for one in mine if "SECRETWORD" in one[3]]
            if name in ALLOWED:
                assert shown, name
                continue
            there = await answers(bare, others[name], guid, ASKED)
            assert not [pair for pair in zip(mine, there, strict=True) if pair[0] != pair[1]], name
            assert not shown, name


@pytest.mark.slow
def test_nobody_changes_a_private_schema_that_they_may_not_read(tmp_path: Path) -> None:
    asyncio.run(change_a_private_schema(tmp_path))


async def change_a_private_schema(tmp_path: Path) -> None:
    async with (
        registry(tmp_path / "with", with_private=True) as (it, callers),
        registry(tmp_path / "without", with_private=False) as (bare, others),
    ):
        for name in ("reader", "writer", "other", "none", "anonymous", "admin"):
            mine = await answers(it, callers[name], "", CHANGES)
            assert mine == await answers(bare, others[name], "", CHANGES), name
        before = await answers(it, callers["super"], "", ASKED[:8])
        for name in callers:
            if name not in ALLOWED:
                for method, path, body in (
                    ("PUT", f"/api/schemas/{FAMILY}/1-0-0", OPEN),
                    ("POST", f"/subjects/{NAME}/versions", {"schema": json.dumps(OPEN), "schemaType": "JSON"}),
                    ("PUT", f"/config/{NAME}", {"compatibility": "NONE"}),
                    ("PUT", f"/mode/{NAME}", {"mode": "READONLY"}),
                    ("PUT", f"/api/drafts/{FAMILY}/1", OPEN),
                    ("DELETE", f"/api/schemas/{FAMILY}/1-0-1", None),
                ):
                    status, _ = await it.ask(
                        method,
                        path,
                        {} if "apikey" in callers[name] and not path.startswith("/api") else callers[name],
                        body,
                    )
                    assert status in {401, 403, 404, 405, 409, 422}, (name, method, path, status)
        assert await answers(it, callers["super"], "", ASKED[:8]) == before

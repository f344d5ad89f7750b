"""Snowplow's own client in Scala, unmodified, resolves and validates against a server: with a key and without one."""

import hashlib
import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.facades.iglu.scala_client import resolver_config, run_client
from tests.real.running import Running, serving

SUPER = "10000000-0000-4000-8000-000000000001"
UNKNOWN = "20000000-0000-4000-8000-000000000002"
RULES = """
anonymous = true
[api_keys]
super = ["{digest}"]
[[rule]]
who = "anonymous"
may = "read"
contexts = "*"
"""
LOGIN = {
    "type": "object",
    "properties": {"user": {"type": "string", "maxLength": 8}},
    "required": ["user"],
    "additionalProperties": False,
}
PROPERTIES = {"user": {"type": "string", "maxLength": 8}, "age": {"type": "integer"}}
LATER = {**LOGIN, "properties": PROPERTIES}
FAMILIES = {"login": "?isPublic=true", "secret": ""}


def send(server: Running, method: str, path: str, body: Any = None) -> Any:
    """Send a request with the super key; return the answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.base + path, data, {"apikey": SUPER}, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read())


def uri(name: str, version: str) -> str:
    return f"iglu:com.acme/{name}/jsonschema/{version}"


def event(name: str, version: str, data: Any) -> dict[str, Any]:
    return {"schema": uri(name, version), "data": data}


def questions(name: str) -> list[tuple[str, Any]]:
    return [
        ("lookup", uri(name, "1-0-1")),
        ("lookup", uri(name, "1-0-2")),
        ("list", uri(name, "1-0-0")),
        ("check", event(name, "1-0-0", {"user": "ann"})),
        ("check", event(name, "1-0-0", {"user": "ann", "age": 5})),
        ("check", event(name, "1-0-1", {"user": "ann", "age": 5})),
        ("check", event(name, "1-0-1", {"user": "a long name", "age": "5"})),
    ]


@pytest.mark.jvm
def test_who_has_a_key_resolves_what_is_private_and_nobody_else_learns_of_it(tmp_path: Path) -> None:
    rights = tmp_path / "rights.toml"
    rights.write_text(RULES.format(digest=hashlib.sha256(SUPER.encode()).hexdigest()), "utf-8")
    with serving(tmp_path, "--log", f"sqlite://{tmp_path}/log.db", "--auth", str(rights)) as server:
        for name, public in FAMILIES.items():
            for version, schema in (("1-0-0", LOGIN), ("1-0-1", LATER)):
                send(server, "PUT", f"/api/schemas/com.acme/{name}/jsonschema/{version}{public}", schema)
        key = send(server, "POST", "/api/auth/keygen", {"vendorPrefix": "com.acme"})["read"]
        shown = {name: send(server, "GET", f"/api/schemas/com.acme/{name}/jsonschema/1-0-1") for name in FAMILIES}
        asked: list[tuple[str, Any]] = []
        for apikey in (key, None, UNKNOWN):
            asked.append(("config", resolver_config(f"{server.base}/api", apikey)))
            asked += [one for name in FAMILIES for one in questions(name)]
        answers = run_client(tmp_path, asked)

    hidden = "unresolved Iglu Client Embedded=NotFound*1, Treaty=NotFound*1"

    def found(name: str) -> list[str]:
        return [
            json.dumps(shown[name], sort_keys=True, separators=(",", ":")),
            hidden,
            f"{uri(name, '1-0-0')} {uri(name, '1-0-1')}",
            "valid",
            "invalid $ additionalProperties",
            "valid",
            "invalid $.age type, $.user maxLength",
        ]

    assert shown["login"]["self"] == {"vendor": "com.acme", "name": "login", "format": "jsonschema", "version": "1-0-1"}
    assert answers[:14] == found("login") + found("secret")
    for without in (answers[14:28], answers[28:]):
        assert without[:7] == found("login")
        assert without[7:] == [hidden] * 7

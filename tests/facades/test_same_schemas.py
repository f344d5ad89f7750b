"""Confluent's API where a schema is there already: numbers in the request and in metadata, configs that complete it, groups."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from tests.facades.test_interfaces import play

MARK = b"\xef\xbb\xbf"


def record(*fields: str, kind: str = "int") -> str:
    listed = [{"name": name, "type": kind, "default": "" if kind == "string" else 0} for name in fields]
    return json.dumps({"type": "record", "name": "R", "fields": listed})


A, B, C = record("a"), record("a", "b"), record("a", "b", "c")


def says(**properties: str) -> dict[str, Any]:
    return {"metadata": {"properties": properties}}


def number(text: str) -> dict[str, Any]:
    return {"metadata": {"properties": {"confluent:version": text}}}


Step = tuple[str, dict[str, Any], object]
"""What is sent: ``post``, ``look`` or ``check`` with a body, ``config`` or ``mode``; and the version, the error or the verdict."""


def schema(text: str, **members: Any) -> dict[str, Any]:
    return {"schema": text, **members}


STORIES: dict[str, list[Step]] = {
    "the latest again": [
        ("post", schema(A), 1), ("post", schema(B), 2), ("post", schema(A, version=-1), 3), ("post", schema(A, version=-1), 3),
        ("post", schema(A), 1), ("look", schema(A), 1), ("look", schema(A, **number("3")), 3), ("look", schema(A, **number("2")), 40403),
    ],
    "the latest is asked for after the mode": [
        ("post", schema(A), 1), ("mode", {"mode": "READONLY"}, 200), ("post", schema(A), 1), ("post", schema(A, version=-1), 42205),
        ("post", schema(A, version=1), 42205),
    ],
    "a number is that of the next version": [
        ("post", schema(A), 1), ("post", schema(A, version=1), 42201), ("post", schema(A, version=7), 42201), ("post", schema(A, version=2), 2),
    ],
    "a wrong number of what does not fit": [("post", schema(A), 1), ("post", schema(record("a", kind="string"), version=7), 40901)],
    "a number in metadata": [
        ("post", schema(A), 1), ("look", schema(A, **number("1")), 1), ("look", schema(A, **number("5")), 40403), ("post", schema(A, **number("1")), 1),
        ("post", schema(A, **number("0")), 2), ("look", schema(A, **number("2")), 2), ("look", schema(A), 1),
    ],
    "a text that is no number": [("post", schema(A), 1), ("look", schema(A, **number("one")), 40403)],
    "metadata that say nothing are not none": [("post", schema(A), 1), ("look", schema(A, metadata={}), 40403), ("post", schema(A, metadata={}), 2)],
    "a default beside what was sent": [
        ("config", {"defaultMetadata": {"properties": {"owner": "d"}}}, 200), ("post", schema(A, **says(k="v")), 1), ("look", schema(A, **says(k="v")), 1),
        ("post", schema(A, **says(k="v")), 1),
    ],
    "a config that came later": [
        ("post", schema(A), 1), ("config", {"overrideMetadata": {"properties": {"env": "p"}}}, 200), ("look", schema(A), 1), ("post", schema(A), 2),
        ("look", schema(A), 2), ("post", schema(A), 2),
    ],
    "rules of a config": [
        ("config", {"defaultRuleSet": {"domainRules": [{"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}]}}, 200),
        ("post", schema(A), 1), ("look", schema(A), 1), ("post", schema(A), 1),
    ],
    "groups": [
        ("config", {"compatibilityGroup": "major"}, 200), ("post", schema(A, **says(major="1")), 1), ("post", schema(record("x"), **says(major="2")), 2),
        ("check", schema(record("a", kind="string"), **says(major="3")), True), ("check", schema(record("x", kind="string"), **says(major="2")), False),
        ("check", schema(record("x", kind="string")), False),
    ],
    "nothing at all": [("post", schema(A), 1), ("post", {}, 42201), ("look", {}, 40403)],
}  # fmt: skip


@pytest.mark.parametrize("story", STORIES)
def test_what_is_there_already(story: str) -> None:
    async def tell(http: httpx2.AsyncClient) -> None:
        ways: dict[str, Callable[[dict[str, Any]], Awaitable[httpx2.Response]]] = {
            "post": lambda body: http.post("/subjects/s/versions", json=body),
            "look": lambda body: http.post("/subjects/s", json=body),
            "check": lambda body: http.post("/compatibility/subjects/s/versions/latest", json=body),
            "config": lambda body: http.put("/config/s", json=body),
            "mode": lambda body: http.put("/mode/s", json=body),
        }
        for at, (way, sent, expected) in enumerate(STORIES[story]):
            answer = await ways[way](sent)
            told = answer.json()
            known = told.get("version", told.get("is_compatible", told.get("error_code", answer.status_code)))
            assert known == expected, (at, way, told)

    play(tell)


BODIES = [
    ("POST", "/subjects/s/versions", {"schema": A}),
    ("PUT", "/config/s", {"compatibility": "NONE"}),
    ("POST", "/v1/groups", {"groupName": "g"}),
    ("POST", "/treaty/v1/ask", {"operation": "list-subjects", "request": {}}),
]


@pytest.mark.parametrize(("method", "path", "body"), BODIES)
def test_a_byte_order_mark_before_a_body_is_nothing(method: str, path: str, body: dict[str, Any]) -> None:
    answers: list[tuple[int, bytes]] = []

    for mark in (b"", MARK):

        async def send(http: httpx2.AsyncClient, mark: bytes = mark) -> None:
            headers = {"content-type": "application/json"}
            answer = await http.request(method, path, content=mark + json.dumps(body).encode(), headers=headers)
            told = {name: said for name, said in answer.json().items() if name not in {"ts", "position"}}
            answers.append((answer.status_code, json.dumps(told).encode()))

        play(send)

    assert answers[0] == answers[1]
    assert b"alformed JSON" not in answers[0][1]


def test_a_byte_order_mark_in_a_schema_is_a_fault_as_it_is_to_java() -> None:
    async def send(http: httpx2.AsyncClient) -> None:
        answer = await http.post("/subjects/s/versions", json={"schema": f"\ufeff{A}"})
        assert answer.json()["error_code"] == 42201

    play(send)

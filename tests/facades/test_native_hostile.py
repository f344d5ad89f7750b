"""Bodies that hurt at Treaty's native API: what cannot be right has its refusal, and nothing ends in a fault of the server."""

import asyncio
import random
import types
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import httpx2
import pytest
from starlette.testclient import TestClient

from tests.facades.test_native import STORY, post
from tests.facades.twin import Fixed
from treaty.api.application import build_application
from treaty.assemble import open_node
from treaty.core.limits import REQUEST_BYTES
from treaty.core.messages.contexts import ListContexts
from treaty.core.operations import OPERATIONS
from treaty.core.refusals import NotOffered, RegistryError
from treaty.wire.http_response import HttpResponse
from treaty.wire.native import PATH, read_answer


@pytest.mark.parametrize(
    ("body", "status", "rule", "path"),
    [
        (b"", 400, "BODY", ""),
        (b"null", 400, "BODY", ""),
        (b"[]", 400, "BODY", ""),
        (b"{", 400, "BODY", ""),
        (b'{"operation":"get-mode","x":"\xff"}', 400, "BODY", ""),
        (b'{"operation":"get-guid","request":{"guid":"\\ud800"}}', 400, "BODY", ""),
        (b"[" * 100_000, 400, "BODY", ""),
        (b'{"operation":"get-mode","request":' + b'{"scope":' * 100_000, 400, "BODY", ""),
        (b"{}", 404, "OPERATION", "/operation"),
        (b'{"operation":7}', 404, "OPERATION", "/operation"),
        (b'{"operation":"read-barrier"}', 404, "OPERATION", "/operation"),
        (b'{"operation":"get-mode","principal":"root"}', 400, "MEMBER", ""),
        (b'{"operation":"get-mode"}', 400, "MEMBER", "/request"),
        (b'{"operation":"get-mode","request":[]}', 400, "MEMBER", "/request"),
        (b'{"operation":"get-mode","request":{"scope":{"nam":"s"}}}', 400, "MEMBER", "/request"),
        (b'{"operation":"get-mode","request":{"scope":{},"access":null}}', 400, "MEMBER", "/request"),
        (b'{"operation":"get-schema","request":{"schema_id":"1"}}', 400, "MEMBER", "/request"),
        (b'{"operation":"get-schema","request":{"schema_id":true}}', 400, "MEMBER", "/request"),
        (b'{"operation":"get-schema","request":{"schema_id":1e3}}', 400, "MEMBER", "/request"),
        (b'{"operation":"get-version","request":{"subject":"s","version":1}}', 400, "MEMBER", "/request"),
        (b'{"operation":"get-version","request":{"subject":["s"],"version":1}}', 400, "MEMBER", "/request"),
        (b'{"operation":"list-associations","request":{"of":{}}}', 400, "MEMBER", "/request"),
        (b'{"operation":"list-associations","request":{"of":null}}', 400, "MEMBER", "/request"),
        (b'{"operation":"list-associations","request":{"of":{"id":"a","name":"b"}}}', 400, "MEMBER", "/request"),
        (b'{"operation":"list-subjects","request":{"visible":"hidden"}}', 400, "MEMBER", "/request"),
    ],
)
def test_bodies_that_can_not_be_right(
    http: TestClient, member: Fixed, body: bytes, status: int, rule: str, path: str
) -> None:
    got = http.post(PATH, content=body)
    assert got.status_code == status
    told = got.json()
    assert told["error_code"] == status
    reason = told["error"]["reason"]
    assert (reason["rule"], reason.get("path", "")) == (rule, path)
    assert reason["allowed"]
    assert len(got.content) < 5_000
    assert not member.asked
    received = HttpResponse(got.status_code, got.headers.get, got.content)
    with pytest.raises(NotOffered if rule == "OPERATION" else RegistryError):
        read_answer(ListContexts(), received)


@pytest.mark.parametrize(
    ("method", "options", "status"),
    [
        ("GET", {}, 405),
        ("PUT", {"content": b"{}"}, 405),
        ("POST", {"content": b"{}", "headers": {"content-type": "text/xml"}}, 415),
        ("POST", {"content": b"{}", "headers": {"accept": "text/html"}}, 406),
        ("POST", {"content": b" " * (REQUEST_BYTES + 1)}, 413),
    ],
)
def test_requests_that_http_refuses(
    http: TestClient, member: Fixed, method: str, options: dict[str, Any], status: int
) -> None:
    got = http.request(method, PATH, **options)
    assert (got.status_code, got.json()["error_code"]) == (status, status)
    assert not member.asked
    assert http.options(PATH).headers["allow"] == "OPTIONS, POST"


# ---------------------------------------------------------------------------------------------------------- strange

TEXTS = ("", "s", "open-a", ":.x:", "*", ".", "\0", "é\n", "x" * 5_000, "latest", "FULL", "IMPORT", "id-1", "value",
         "STRONG", "-", '"int"', "{", "property:a", "topic", "JSON")  # fmt: skip
NUMBERS = (0, 1, -1, 7, 2**31 - 1, 2**31, -(2**31), 2**63, -(2**63), 2**64 - 1)


def strange(hint: Any, chance: random.Random) -> Any:
    """A JSON value of a type, with what programs do not send."""
    plain = {str: TEXTS, int: NUMBERS, bool: (True, False), type(None): (None,)}
    origin, inside = get_origin(hint), get_args(hint)
    if hint in plain:
        return chance.choice(plain[hint])
    if origin is Literal:
        return chance.choice(inside)
    if origin in {Union, types.UnionType}:
        return strange(chance.choice(inside), chance)
    if origin is tuple and inside[-1] is not Ellipsis:
        return [strange(one, chance) for one in inside]
    if origin is not None:
        return [strange(inside[0], chance) for _ in range(chance.choice((0, 1, 1, 2)))]
    if not is_dataclass(hint):
        return [strange(one, chance) for one in get_type_hints(hint).values()]
    hints = get_type_hints(hint)
    needed = {one.name for one in fields(hint) if one.default is MISSING}
    return {name: strange(hints[name], chance) for name in hints if name in needed or chance.random() < 0.4}


def requests_of(seed: int) -> Iterator[dict[str, Any]]:
    chance = random.Random(seed)
    for kind in OPERATIONS.values():
        yield {"operation": kind.name, "request": strange(kind.request, chance)}


def test_whatever_is_asked_has_an_answer_or_a_refusal() -> None:
    async def run() -> None:
        async with open_node("memory:") as node:
            transport = httpx2.ASGITransport(app=build_application(node).dispatcher)
            async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
                for request in STORY[:9]:
                    await post(http, request)
                for seed in range(25):
                    for body in requests_of(seed):
                        got = await http.post(PATH, json=body)
                        is_search = body.get("operation") == "search"  # this node keeps no index
                        assert got.status_code < 500 or (is_search and got.status_code == 503), (seed, body, got.text)
                        assert ("error" in got.json()) is (got.status_code != 200)

    asyncio.run(run())

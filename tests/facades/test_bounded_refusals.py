"""A refusal is bounded whatever the request holds: of all operations each text in turn is very long, at the native API."""

import asyncio
import copy
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.facades.test_native import ASKED, STORY, post
from treaty.api.application import build_application
from treaty.assemble import open_node
from treaty.core.finding import Finding, shorten_text
from treaty.core.limits import ERROR_CHARACTERS, FAULT_CHARACTERS, FINDINGS_CHARACTERS, NAME_LENGTH
from treaty.core.refusals import Reason
from treaty.formats.engine import shorten_findings
from treaty.wire.native import PATH, ask_bytes

REFUSAL_BYTES = 2 * ERROR_CHARACTERS + 8 * NAME_LENGTH
"""The message of the dialect, that of the refusal, and its other texts."""
LONG = "/a" * 150_000
Place = tuple[str | int, ...]


def list_texts(value: Any, place: Place = ()) -> Iterator[Place]:
    """The places of all texts of a request."""
    if isinstance(value, dict | list):
        for name, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield from list_texts(inside, (*place, name))
    elif isinstance(value, str):
        yield place


def put_text(request: Any, place: Place, text: str) -> Any:
    """The request with another text at a place."""
    made = part = copy.deepcopy(request)
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = text
    return made


def list_requests() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each text of each operation once, made very long."""
    seen = set()
    for request in ASKED:
        body = json.loads(ask_bytes(request))
        for place in list_texts(body.get("request", {})):
            key = body["operation"], tuple("" if isinstance(step, int) else step for step in place)
            if key not in seen:
                seen.add(key)
                yield f"{key}", {**body, "request": put_text(body["request"], place, LONG)}


def test_a_refusal_is_bounded_whichever_text_of_whichever_operation_is_long() -> None:
    async def run() -> dict[str, int]:
        async with open_node("memory:") as node:
            transport = httpx2.ASGITransport(app=build_application(node).dispatcher)
            async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
                for request in STORY[:9]:
                    await post(http, request)
                sizes = {}
                for name, body in list_requests():
                    answer = await http.post(PATH, json=body)
                    if answer.status_code != 200:
                        sizes[name] = len(answer.content)
                return sizes

    sizes = asyncio.run(run())
    assert len(sizes) > 100
    assert {name: size for name, size in sizes.items() if size > REFUSAL_BYTES} == {}


@pytest.mark.parametrize("length", [0, 99, 100, 101, 5_000])
def test_a_text_is_shortened_once(length: int) -> None:
    text = "x" * length
    short = shorten_text(text, 100)
    assert len(short) == min(length, 100)
    assert shorten_text(short, 100) == short
    assert (short == text) is (length <= 100)


def test_all_texts_of_a_refusal_are_shortened() -> None:
    reason = Reason("R" * 10**6, LONG, LONG, LONG, LONG, LONG, LONG, LONG, ("d" * 10**5,) * 100)
    assert len(reason.message) == ERROR_CHARACTERS
    assert {len(getattr(reason, name)) for name in ("rule", "path", "old", "new", "allowed", "subject", "version")} == {
        NAME_LENGTH
    }
    assert 0 < sum(map(len, reason.details)) <= FINDINGS_CHARACTERS


@pytest.mark.parametrize(("count", "length"), [(1, 10**6), (3, 10**6), (5_000, 1_000)])
def test_findings_are_bounded_one_by_one_and_together(count: int, length: int) -> None:
    text = "x" * length
    found = shorten_findings((Finding("RULE", *[text] * 6),) * count)
    texts = [(one.path, one.sentence, one.detail, one.writer, one.reader, one.remedy) for one in found]
    assert 1 <= len(found) <= count
    assert max(len(each) for one in texts for each in one) <= FAULT_CHARACTERS
    assert sum(len(each) for one in texts for each in one) <= FINDINGS_CHARACTERS

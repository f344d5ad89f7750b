"""Conversations with a server as data: what a client sends, and every byte that matters of what it gets."""

import http.client
import json
from collections.abc import Iterable
from typing import Any

from tests.real.running import Running

Turn = tuple[str, str, Any, int, Any]
"""Method, target, body, status, answer; an `...` in an answer stands for anything."""

ANY = ...


def error(code: int, message: Any) -> dict[str, Any]:
    return {"error_code": code, "message": message}


def not_there(subject: str) -> dict[str, Any]:
    return error(40401, f"Subject '{subject}' not found.")


def version(subject: str, number: int, schema_id: int, text: str, **more: Any) -> dict[str, Any]:
    """A version as an answer, in its order of members; `schemaType` and what stands after it may be given."""
    deleted = more.pop("deleted", False)
    shown = {"subject": subject, "version": number, "id": schema_id, "guid": ANY, "schemaType": "AVRO"} | more
    return {**shown, "schema": text, "ts": ANY, "deleted": deleted}


def registered(number: int, schema_id: Any, text: Any, **more: Any) -> dict[str, Any]:
    """The answer to a registration; `ts` and `deleted` are there where it was registered before."""
    before: dict[str, Any] = {name: more.pop(name) for name in ("ts", "deleted") if name in more}
    shown = {"version": number, "id": schema_id, "guid": ANY, "schemaType": "AVRO"} | more
    return {**shown, "schema": text, **before}


def hold(server: Running, turns: Iterable[Turn]) -> None:
    """Say everything in turn, and compare what comes back."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        for place, (method, target, body, status, expected) in enumerate(turns):
            data = None if body is None else json.dumps(body)
            connection.request(method, target, data, {"Content-Type": "application/vnd.schemaregistry.v1+json"})
            answer = connection.getresponse()
            text = answer.read().decode()
            where = f"turn {place}: {method} {target} gave {answer.status} {text}"
            assert answer.status == status, where
            assert fits(expected, json.loads(text) if text else None), f"{where}\nexpected {expected}"
    finally:
        connection.close()


def fits(expected: Any, got: Any) -> bool:
    """Tell whether an answer is the expected one: members in this order, and no others."""
    if expected is ANY:
        return got is not None
    if isinstance(expected, dict):
        return (
            isinstance(got, dict)
            and list(expected) == list(got)
            and all(fits(value, got[name]) for name, value in expected.items())
        )
    if isinstance(expected, list):
        return isinstance(got, list) and len(got) == len(expected) and all(map(fits, expected, got))
    return bool(expected == got) and type(expected) is type(got)

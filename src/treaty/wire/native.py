"""Treaty's native API: any operation at one path, as lossless JSON.

    POST /treaty/v1/ask  {"operation": "get-mode", "request": {"scope": {"name": "orders"}}}  ->  {"answer": {"mode":
"READWRITE"}}

An error has Confluent's body, with the error itself beside it as the member `error`; that member distinguishes an
answer of this API from one of a server without it. Position, consistency and command id are headers, as everywhere.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import msgspec

from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.request import Request
from treaty.core.operations import NAMED_OPERATIONS, OPERATIONS, operation_name
from treaty.core.refusals import Invalid, NotOffered, RegistryError, Unavailable
from treaty.core.registry import Reply
from treaty.core.state.codec import DecodeError, Json, decode_message, encode_message
from treaty.core.state.commit import PositionToken
from treaty.wire.confluent.drafts import refuse_members_of_apis
from treaty.wire.confluent.headers import POSITION
from treaty.wire.confluent.http_responses import NOWHERE, decode_error_response
from treaty.wire.http_response import HttpResponse
from treaty.wire.peer.errors import decode_error, encode_error

A = TypeVar("A")

PATH = "/treaty/v1/ask"
MEDIA = "application/json"
"""What is sent and answered."""
_OPERATION = "OPERATION"
_MEMBERS = frozenset({"operation", "request"})


class UnknownOperationError(Invalid):
    """An operation that this version does not know."""


# --------------------------------------------------------------------------------------------------------- requests


def ask_bytes(request: Request[Any]) -> bytes:
    """Print a request as the body of a POST."""
    return msgspec.json.encode({"operation": operation_name(request), "request": encode_message(request)})


def request_from(data: bytes) -> Request[Any]:
    """Read the body of a POST.

    Raises `Invalid` with the rule BODY where it is no JSON or no object, MEMBER where a member is unknown, missing or
    of the wrong type, and CREATE_WITH for what only an API says of its subjects; `UnknownOperationError` with the rule
    OPERATION.
    """
    body = _object(data)
    strange = min(body.keys() - _MEMBERS, default=None)
    if strange is not None:
        allowed = ", ".join(sorted(_MEMBERS))
        message = f"the body has a member {strange[:100]!r}; allowed: {allowed}"
        raise Invalid.of("MEMBER", message, path="", new=strange[:100], allowed=allowed)
    word = body.get("operation")
    operation = NAMED_OPERATIONS.get(word) if isinstance(word, str) else None
    if operation is None:
        short_word, allowed = str(word)[:100], ", ".join(sorted(NAMED_OPERATIONS))
        message = f"no operation {short_word!r}; allowed: {allowed}"
        raise UnknownOperationError.of(_OPERATION, message, path="/operation", new=short_word, allowed=allowed)
    try:
        request: Request[Any] = decode_message(operation.request, body.get("request", {}))
    except DecodeError as error:
        allowed = ", ".join(creation.name for creation in fields(operation.request))
        message = f"not the request of {word}: {error}; its members: {allowed}"
        raise Invalid.of("MEMBER", message, path="/request", new=str(error)[:200], allowed=allowed) from None
    for creation in _creations(request) if operation.writes else ():
        refuse_members_of_apis(creation)
    return request


def _creations(value: object) -> Iterator[SubjectCreation]:
    """Find how subjects are to be made, wherever a request says it."""
    if isinstance(value, SubjectCreation):
        yield value
    elif isinstance(value, Register):
        yield value.create_with
    elif isinstance(value, tuple):
        for item in value:
            yield from _creations(item)
    elif is_dataclass(value):
        for member in fields(value):
            yield from _creations(getattr(value, member.name))


def _object(data: bytes) -> dict[str, Json]:
    allowed = '{"operation": its name, "request": its members}'
    try:
        body = msgspec.json.decode(data)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]
        raise Invalid.of("BODY", f"Malformed JSON: {why}; allowed: {allowed}", new=why, allowed=allowed) from None
    if not isinstance(body, dict):
        short_body = str(body)[:100]
        raise Invalid.of("BODY", f"the body is no object; allowed: {allowed}", new=short_body, allowed=allowed)
    return body


# ---------------------------------------------------------------------------------------------------------- answers


def answer_bytes(answer: object) -> bytes:
    """Print an answer."""
    return msgspec.json.encode({"answer": encode_message(answer)})


def error_members(error: RegistryError) -> dict[str, Json]:
    """Return what an error's body has beside Confluent's members."""
    return {"error": encode_error(error)}


def is_native(http: HttpResponse) -> bool:
    """Return whether this API sent an answer, and not a gate or proxy before it, or a server without this path."""
    return bool(_read_members(http.body))


def read_answer(request: Request[A], http: HttpResponse) -> Reply[A]:
    """Return the reply that this API sent.

    Raises the error that it sent, or the server before it in Confluent's form, `NotOffered` for an operation that it
    does not know, and `Unavailable` for an answer that is neither, or that this version cannot read.
    """
    members = _read_members(http.body)
    try:
        if "error" in members:
            error = decode_error(members["error"])
        elif "answer" in members and 200 <= http.status < 300:
            answer = decode_message(OPERATIONS[type(request)].answer, members["answer"])
            return Reply(answer, PositionToken.parse(http.header(POSITION) or "") or NOWHERE)
        elif http.status >= 300:
            error = decode_error_response(request, http)
        else:
            raise DecodeError("it has no answer")
    except DecodeError as decode_failure:
        raise Unavailable(
            f"status {http.status} with a body that is not the answer of a registry: {decode_failure}"
        ) from None
    if isinstance(error, Invalid) and error.reason.rule == _OPERATION:
        raise NotOffered(str(error))
    raise error


def _read_members(body: bytes) -> dict[str, Json]:
    """Return the members of an answer of this API; empty for every other body."""
    try:
        members = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(members, dict):
        return {}
    error = members.get("error")
    has_error = isinstance(error, dict) and isinstance(error.get("kind"), str)
    return members if has_error or members.keys() == {"answer"} else {}

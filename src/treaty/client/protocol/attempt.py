"""One request to one node: sending it by Treaty's native API or by Confluent's, and reading the reply."""

from dataclasses import dataclass
from typing import Any, TypeVar

from treaty.client.effects import Conversation, NoResponse, SendRequest
from treaty.client.protocol.client_state import ClientState
from treaty.client.protocol.delivery import LATER, NoResponseError, asked_pause, run_within, send_authenticated
from treaty.client.settings import ClientSettings
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetSchema
from treaty.core.messages.versions import GetVersion
from treaty.core.operations import is_command
from treaty.core.refusals import NotOffered, Unavailable
from treaty.core.registry import CallOptions, Reply
from treaty.wire.confluent.headers import V1, headers_of
from treaty.wire.confluent.http_requests import encode_request
from treaty.wire.confluent.http_responses import decode_response
from treaty.wire.http_response import HttpResponse
from treaty.wire.native import MEDIA, PATH, ask_bytes, is_native, read_answer

A = TypeVar("A")

CACHEABLE = frozenset({GetSchema, GetGuid, GetVersion})
"""Requests that are sent as GET to Confluent's routes, so that HTTP caches can answer."""
ABSENT = frozenset({405, 501})
"""Statuses of a server that lacks the route or method."""


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of an attempt. `native`: it used Treaty's native API, not Confluent's API."""

    event: HttpResponse | NoResponse
    native: bool = False


def send_request(
    request: Request[Any], call: CallOptions, settings: ClientSettings, state: ClientState, to: tuple[int, float]
) -> Conversation[AttemptResult]:
    """Send a request to a node with a time-out, follow redirects within that host, and return the result.

    A server without Treaty's native API has not executed the request, and gets it by Confluent's API within the same
    time-out.
    """
    node, timeout = to
    deadline, nodes = state.clock() + timeout, state.nodes
    base, connect = settings.urls[node], min(timeout, settings.connect_timeout)
    common = {**dict(settings.headers), **headers_of(call)}
    if type(request) not in CACHEABLE and nodes.is_native(node, state.clock()):
        headers = {**common, "Accept": MEDIA, "Content-Type": MEDIA}
        send = SendRequest("POST", base + PATH, headers, ask_bytes(request), timeout, connect)
        event = yield from run_within(
            deadline, state.clock, send_authenticated(send, settings.credentials, state.tokens, state.clock)
        )
        if isinstance(event, NoResponse) or not _lacks_native_api(event, query=not is_command(request)):
            return AttemptResult(event, native=True)
        nodes.note_native_api_missing(node, state.clock() + settings.native_recheck)
    message = encode_request(request)
    if message.body is not None:
        common |= {"Content-Type": V1, "Confluent-Accept-Unknown-Properties": "true"}
    send = SendRequest(message.method, base + message.target, common, message.body, timeout, connect)
    return AttemptResult(
        (
            yield from run_within(
                deadline, state.clock, send_authenticated(send, settings.credentials, state.tokens, state.clock)
            )
        )
    )


def _lacks_native_api(event: HttpResponse, *, query: bool) -> bool:
    """Return whether an answer at the path of Treaty's native API is from a server without it, or from a proxy.

    Refusals of the native API have their own JSON form, and statuses about authentication and retries mean the same
    everywhere. A page with status 200 is not an answer to a query; for a command it may hide a change that was made.
    """
    refused = (300 <= event.status < 500 and event.status not in {401, 413, *LATER}) or event.status == 501
    return (refused or (query and event.status < 300)) and not is_native(event)


def read_reply(request: Request[A], result: AttemptResult, base: str) -> Reply[A]:
    """Read an answer; returns its reply or error, and whether it is from a registry."""
    event = result.event
    if isinstance(event, NoResponse):
        raise NoResponseError(f"{base}: {event.message}")
    if not result.native and (event.status in ABSENT or (event.status == 204 and not is_command(request))):
        raise NotOffered(f"{base} does not have this operation (status {event.status})")
    try:
        return read_answer(request, event) if result.native else decode_response(request, event)
    except NotOffered as error:
        raise NotOffered(f"{base}: {error}") from None
    except Unavailable as error:
        if event.status == 404:
            raise NotOffered(f"{base} has no registry at this path: {error}") from error.__cause__
        raise Unavailable(f"{base}: {error}", asked_pause(event) or 1.0) from error.__cause__

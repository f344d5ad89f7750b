"""One request to one node: sending it, and classifying the answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

from treaty.client.credentials import Credentials
from treaty.client.effects import (
    Conversation,
    EffectResult,
    Headers,
    NoResponse,
    RunExclusively,
    SendRequest,
    WaitSeconds,
    expect_response,
)
from treaty.client.protocol.client_state import ClientState
from treaty.client.settings import ClientSettings
from treaty.core.operations import is_command
from treaty.core.refusals import NotOffered, RegistryError, Unavailable
from treaty.core.registry import CallOptions, Reply
from treaty.core.requests import GetGuid, GetSchema, GetVersion, Request
from treaty.wire.confluent.headers import V1, headers_of
from treaty.wire.confluent.http_requests import encode_request
from treaty.wire.confluent.http_responses import HttpResponse, decode_response
from treaty.wire.native import MEDIA, PATH, ask_bytes, is_native, read_answer

A = TypeVar("A")

CACHEABLE = frozenset({GetSchema, GetGuid, GetVersion})
"""Requests that are sent as GET to Confluent's routes, so that HTTP caches can answer."""
MAX_REDIRECTS = 3
"""Redirects followed in one attempt, all within one host."""
LATER = frozenset({408, 429})
"""Statuses below 500 after which a retry may succeed."""
ABSENT = frozenset({405, 501})
"""Statuses of a server that lacks the route or method."""


class NoResponseError(Unavailable):
    """No node answered: there was no connection, or no response in time."""


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
        event = yield from _run_within(deadline, state, _send_authenticated(send, settings.credentials, state))
        if isinstance(event, NoResponse) or not _lacks_native_api(event, query=not is_command(request)):
            return AttemptResult(event, native=True)
        nodes.note_native_api_missing(node, state.clock() + settings.native_recheck)
    message = encode_request(request)
    if message.body is not None:
        common |= {"Content-Type": V1, "Confluent-Accept-Unknown-Properties": "true"}
    send = SendRequest(message.method, base + message.target, common, message.body, timeout, connect)
    return AttemptResult(
        (yield from _run_within(deadline, state, _send_authenticated(send, settings.credentials, state)))
    )


def _lacks_native_api(event: HttpResponse, *, query: bool) -> bool:
    """Return whether an answer at the path of Treaty's native API is from a server without it, or from a proxy.

    Refusals of the native API have their own JSON form, and statuses about authentication and retries mean the same
    everywhere. A page with status 200 is not an answer to a query; for a command it may hide a change that was made.
    """
    refused = (300 <= event.status < 500 and event.status not in {401, 413, *LATER}) or event.status == 501
    return (refused or (query and event.status < 300)) and not is_native(event)


def _send_authenticated(
    send: SendRequest, credentials: Credentials | None, state: ClientState
) -> Conversation[HttpResponse | NoResponse]:
    """Send a request with credentials; after status 401 once more with new ones."""
    if credentials is None:
        return (yield from _follow_redirects(send))
    own = yield from credentials.headers(state.tokens, state.clock)
    event = yield from _follow_redirects(replace(send, headers={**send.headers, **own}))
    if isinstance(event, HttpResponse) and event.status == 401 and credentials.invalidate(state.tokens, own):
        own = yield from credentials.headers(state.tokens, state.clock)
        event = yield from _follow_redirects(replace(send, headers={**send.headers, **own}))
    return event


def _run_within(deadline: float, state: ClientState, conversation: Conversation[A]) -> Conversation[A]:
    """Run a generator of several effects within the time-out of one attempt."""
    event: EffectResult = None
    error: RegistryError | None = None
    while True:
        try:
            effect = conversation.send(event) if error is None else conversation.throw(error)
        except StopIteration as done:
            found: A = done.value
            return found
        left, event, error = max(0.0, deadline - state.clock()), None, None
        if isinstance(effect, SendRequest) and not left:
            event = NoResponse("no time is left", was_sent=False)
            continue
        if isinstance(effect, SendRequest):
            effect = replace(effect, timeout=min(effect.timeout, left), connect=min(effect.connect, left))
        elif isinstance(effect, WaitSeconds):
            effect = WaitSeconds(min(effect.seconds, left))
        elif isinstance(effect, RunExclusively):
            effect = RunExclusively(_bound_conversation(deadline, state, effect))
        try:
            event = yield effect
        except RegistryError as raised:
            error = raised


def _bound_conversation(
    deadline: float, state: ClientState, effect: RunExclusively
) -> Callable[[], Conversation[Headers]]:
    return lambda: _run_within(deadline, state, effect.conversation())


def _follow_redirects(send: SendRequest) -> Conversation[HttpResponse | NoResponse]:
    for _ in range(MAX_REDIRECTS):
        event = expect_response((yield send))
        target = _find_redirect(send, event)
        if target is None:
            return event
        send = replace(send, url=target)
    return NoResponse(f"more than {MAX_REDIRECTS} redirects", was_sent=False)


def _find_redirect(send: SendRequest, event: HttpResponse | NoResponse) -> str | None:
    """Return the request of a redirect: never to another host, and never with another method."""
    if isinstance(event, NoResponse) or event.status not in {301, 302, 307, 308}:
        return None
    if send.method != "GET" and event.status in {301, 302}:
        return None
    target = urljoin(send.url, event.header("Location") or "")
    here, there = urlsplit(send.url), urlsplit(target)
    return target if (here.scheme, here.netloc) == (there.scheme, there.netloc) and target != send.url else None


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


def may_be_done(event: HttpResponse | NoResponse) -> bool:
    """Return whether a failed command may have been executed: yes after an invalid answer with status 200, no after 503
    or 404.
    """
    if isinstance(event, NoResponse):
        return event.was_sent
    return event.status < 300 or (event.status >= 500 and event.status != 503)


def is_hopeless(event: HttpResponse | NoResponse) -> bool:
    """Return whether a refusal is not from a registry: a proxy that requires a password, or a redirect to another host."""
    return isinstance(event, HttpResponse) and 300 <= event.status < 500 and event.status not in LATER


def asked_pause(event: HttpResponse | NoResponse) -> float | None:
    """Return the seconds of ``Retry-After``; None if missing or invalid. A date is compared with the ``Date`` of the
    answer, so that clocks may differ.
    """
    text = None if isinstance(event, NoResponse) else event.header("Retry-After")
    if isinstance(event, NoResponse) or not text:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        seconds = parsedate_to_datetime(text) - parsedate_to_datetime(event.header("Date") or "")
    except (ValueError, TypeError):
        return None
    return max(0.0, seconds.total_seconds())

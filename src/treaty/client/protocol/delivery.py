"""What any request over HTTP needs: credentials, redirects within a host, a time limit; and after an error, whether it may be done already."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar
from urllib.parse import urljoin, urlsplit

from treaty.client.credentials import Clock, Credentials
from treaty.client.effects import (
    Conversation,
    EffectResult,
    Headers,
    NoResponse,
    RunExclusively,
    SendRequest,
    TokenCache,
    WaitSeconds,
    expect_response,
)
from treaty.core.refusals import RegistryError, Unavailable
from treaty.wire.http_response import HttpResponse

A = TypeVar("A")

MAX_REDIRECTS = 3
"""Redirects followed in one attempt, all within one host."""
LATER = frozenset({408, 429})
"""Statuses below 500 after which a retry may succeed."""


class NoResponseError(Unavailable):
    """No node answered: there was no connection, or no response in time."""


def send_authenticated(
    send: SendRequest, credentials: Credentials | None, tokens: TokenCache, clock: Clock
) -> Conversation[HttpResponse | NoResponse]:
    """Send a request with credentials; after status 401 once more with new ones."""
    if credentials is None:
        return (yield from _follow_redirects(send))
    own = yield from credentials.headers(tokens, clock)
    event = yield from _follow_redirects(replace(send, headers={**send.headers, **own}))
    if isinstance(event, HttpResponse) and event.status == 401 and credentials.invalidate(tokens, own):
        own = yield from credentials.headers(tokens, clock)
        event = yield from _follow_redirects(replace(send, headers={**send.headers, **own}))
    return event


def run_within(deadline: float, clock: Clock, conversation: Conversation[A]) -> Conversation[A]:
    """Run a generator of several effects within the time-out of one attempt."""
    event: EffectResult = None
    error: RegistryError | None = None
    while True:
        try:
            effect = conversation.send(event) if error is None else conversation.throw(error)
        except StopIteration as end:
            value: A = end.value
            return value
        left, event, error = max(0.0, deadline - clock()), None, None
        if isinstance(effect, SendRequest) and not left:
            event = NoResponse("no time is left", was_sent=False)
            continue
        if isinstance(effect, SendRequest):
            effect = replace(effect, timeout=min(effect.timeout, left), connect=min(effect.connect, left))
        elif isinstance(effect, WaitSeconds):
            effect = WaitSeconds(min(effect.seconds, left))
        elif isinstance(effect, RunExclusively):
            effect = RunExclusively(_bound_conversation(deadline, clock, effect))
        try:
            event = yield effect
        except RegistryError as raised:
            error = raised


def _bound_conversation(deadline: float, clock: Clock, effect: RunExclusively) -> Callable[[], Conversation[Headers]]:
    return lambda: run_within(deadline, clock, effect.conversation())


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
    try:
        target = urljoin(send.url, event.header("Location") or "")
        origin, destination = urlsplit(send.url), urlsplit(target)
    except ValueError:
        return None  # the server sent no URL
    return (
        target
        if (origin.scheme, origin.netloc) == (destination.scheme, destination.netloc) and target != send.url
        else None
    )


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
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 (few answers have a date)

    try:
        seconds = parsedate_to_datetime(text) - parsedate_to_datetime(event.header("Date") or "")
    except (ValueError, TypeError):
        return None
    return max(0.0, seconds.total_seconds())

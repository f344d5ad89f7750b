"""One request at one node: how it is sent, and what an answer says about the request and about the node."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

from treaty.client.credentials import Credentials
from treaty.client.settings import Settings
from treaty.client.steps import Alone, Event, Headers, Lost, Pause, Send, Talk, answered
from treaty.client.talk.world import World
from treaty.core.operations import is_command
from treaty.core.refusals import NotOffered, RegistryError, Unavailable
from treaty.core.registry import Call, Reply
from treaty.core.requests import GetGuid, GetSchema, GetVersion, Request
from treaty.wire.confluent.headers import V1, headers_of
from treaty.wire.confluent.receiving import Received, received
from treaty.wire.confluent.sending import sent
from treaty.wire.native import MEDIA, PATH, ask_bytes, is_native, read_answer

A = TypeVar("A")

CACHEABLE = frozenset({GetSchema, GetGuid, GetVersion})
"""Asked by routes of their own with GET, so that caches and proxies on the way can answer."""
MAX_REDIRECTS = 3
"""Redirects followed in one attempt, all within one host."""
LATER = frozenset({408, 429})
"""Statuses below 500 that say: later."""
ABSENT = frozenset({405, 501})
"""Statuses that say: not here, not in this way."""


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """What one attempt came to. `native`: Treaty's native API was asked, and not Confluent's API."""

    event: Received | Lost
    native: bool = False


def send_request(
    request: Request[Any], call: Call, settings: Settings, world: World, to: tuple[int, float]
) -> Talk[AttemptResult]:
    """Send a request to a node with a time-out, follow redirects within that host, return what came back.

    A server without Treaty's native API has done nothing with the request, and gets it by Confluent's API within the same time.
    """
    node, timeout = to
    deadline, nodes = world.clock() + timeout, world.nodes
    base, connect = settings.urls[node], min(timeout, settings.connect_timeout)
    common = {**dict(settings.headers), **headers_of(call)}
    if type(request) not in CACHEABLE and nodes.is_native(node, world.clock()):
        headers = {**common, "Accept": MEDIA, "Content-Type": MEDIA}
        send = Send("POST", base + PATH, headers, ask_bytes(request), timeout, connect)
        event = yield from _within(deadline, world, _known(send, settings.credentials, world))
        if isinstance(event, Lost) or not _lacks_native_api(event, query=not is_command(request)):
            return AttemptResult(event, native=True)
        nodes.lacks_native_api(node, world.clock() + settings.native_recheck)
    message = sent(request)
    if message.body is not None:
        common |= {"Content-Type": V1, "Confluent-Accept-Unknown-Properties": "true"}
    send = Send(message.method, base + message.target, common, message.body, timeout, connect)
    return AttemptResult((yield from _within(deadline, world, _known(send, settings.credentials, world))))


def _lacks_native_api(event: Received, *, query: bool) -> bool:
    """Tell whether who answered at the path of Treaty's native API is a server without one, or a proxy that refuses it.

    What that API itself refuses is in its own form, and statuses about who asks and when mean the same everywhere. A page
    with status 200 may stand for a change that was made, and is no answer to a query.
    """
    refused = (300 <= event.status < 500 and event.status not in {401, 413, *LATER}) or event.status == 501
    return (refused or (query and event.status < 300)) and not is_native(event)


def _known(send: Send, credentials: Credentials | None, world: World) -> Talk[Received | Lost]:
    """Say who is asking, and say it anew where that was refused."""
    if credentials is None:
        return (yield from _followed(send))
    told = yield from credentials.say(world.purse, world.clock)
    event = yield from _followed(replace(send, headers={**send.headers, **told}))
    if isinstance(event, Received) and event.status == 401 and credentials.forget(world.purse, told):
        told = yield from credentials.say(world.purse, world.clock)
        event = yield from _followed(replace(send, headers={**send.headers, **told}))
    return event


def _within(deadline: float, world: World, talk: Talk[A]) -> Talk[A]:
    """Hold a conversation of several steps within the time that one attempt may take."""
    event: Event = None
    error: RegistryError | None = None
    while True:
        try:
            step = talk.send(event) if error is None else talk.throw(error)
        except StopIteration as done:
            found: A = done.value
            return found
        left, event, error = max(0.0, deadline - world.clock()), None, None
        if isinstance(step, Send) and not left:
            event = Lost("no time is left", left=False)
            continue
        if isinstance(step, Send):
            step = replace(step, timeout=min(step.timeout, left), connect=min(step.connect, left))
        elif isinstance(step, Pause):
            step = Pause(min(step.seconds, left))
        elif isinstance(step, Alone):
            step = Alone(_bounded(deadline, world, step))
        try:
            event = yield step
        except RegistryError as told:
            error = told


def _bounded(deadline: float, world: World, step: Alone) -> Callable[[], Talk[Headers]]:
    return lambda: _within(deadline, world, step.talk())


def _followed(send: Send) -> Talk[Received | Lost]:
    for _ in range(MAX_REDIRECTS):
        event = answered((yield send))
        target = _redirect(send, event)
        if target is None:
            return event
        send = replace(send, url=target)
    return Lost(f"more than {MAX_REDIRECTS} redirects", left=False)


def _redirect(send: Send, event: Received | Lost) -> str | None:
    """Return where to go instead: never to another host, and never with another method."""
    if isinstance(event, Lost) or event.status not in {301, 302, 307, 308}:
        return None
    if send.method != "GET" and event.status in {301, 302}:
        return None
    target = urljoin(send.url, event.header("Location") or "")
    here, there = urlsplit(send.url), urlsplit(target)
    return target if (here.scheme, here.netloc) == (there.scheme, there.netloc) and target != send.url else None


def read_reply(request: Request[A], result: AttemptResult, base: str) -> Reply[A]:
    """Read what came back; raises what a `Registry` raises, and says whose answer it was."""
    event = result.event
    if isinstance(event, Lost):
        raise Unavailable(f"{base}: {event.message}")
    if not result.native and (event.status in ABSENT or (event.status == 204 and not is_command(request))):
        raise NotOffered(f"{base} does not know this operation (status {event.status})")
    try:
        return read_answer(request, event) if result.native else received(request, event)
    except NotOffered as error:
        raise NotOffered(f"{base}: {error}") from None
    except Unavailable as error:
        if event.status == 404:
            raise NotOffered(f"{base} has nothing at this address: {error}") from error.__cause__
        raise Unavailable(f"{base}: {error}", asked_pause(event) or 1.0) from error.__cause__


def may_be_done(event: Received | Lost) -> bool:
    """Tell whether a command that failed so may have been carried out; a garbled success may, a 503 or 404 did not."""
    if isinstance(event, Lost):
        return event.left
    return event.status < 300 or (event.status >= 500 and event.status != 503)


def hopeless(event: Received | Lost) -> bool:
    """Tell whether somebody who is not a registry said no: a proxy that wants a password, a redirect elsewhere."""
    return isinstance(event, Received) and 300 <= event.status < 500 and event.status not in LATER


def asked_pause(event: Received | Lost) -> float | None:
    """Return the seconds that a node wants to be left alone for; None where it does not say, or says nonsense.

    A date is compared with that of the answer, so that clocks need not agree.
    """
    text = None if isinstance(event, Lost) else event.header("Retry-After")
    if isinstance(event, Lost) or not text:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        seconds = parsedate_to_datetime(text) - parsedate_to_datetime(event.header("Date") or "")
    except (ValueError, TypeError):
        return None
    return max(0.0, seconds.total_seconds())

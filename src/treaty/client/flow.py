"""One request to a registry as a conversation over HTTP, without any I/O.

`converse` is a generator: it yields what to do (`Send`, `Pause`), receives what came of it (`Received`, `Lost`) and
returns the reply. It knows when to try again, at which node, and what a failure means; the drivers `sync` and `aio`
only move bytes. Retries of a command carry one command id, so that the registry runs it once.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import TypeVar, cast
from urllib.parse import urljoin, urlsplit

import msgspec

from treaty.client.settings import Settings
from treaty.core.answers import VersionFound, Versions
from treaty.core.calls import refuse_bad_call
from treaty.core.limits import COUNTER
from treaty.core.refusals import OutcomeUnknown, Refusal, SchemaNotFound, Unavailable
from treaty.core.registry import Call, Reply
from treaty.core.requests import (
    DeleteConfig,
    DeleteContext,
    DeleteMode,
    DeleteSubject,
    DeleteVersion,
    Derive,
    GetSchema,
    ListSchemas,
    Register,
    Request,
    SetConfig,
    SetMode,
    UsesOf,
)
from treaty.wire.confluent.errors import ErrorBody
from treaty.wire.confluent.headers import TOKEN, V1, headers_of
from treaty.wire.confluent.receiving import Received, received
from treaty.wire.confluent.sending import sent

A = TypeVar("A")

ONCE = (DeleteVersion, DeleteSubject, DeleteConfig, DeleteMode, DeleteContext)
"""Commands that are refused where they were done before."""

COMMANDS = (Register, Derive, SetConfig, SetMode, *ONCE)
"""Requests that write: they carry a command id."""

PAGE = 1000
"""Versions that a registry lists at once."""

MAX_REDIRECTS = 3
"""Redirects followed in one attempt, all within one host."""


@dataclass(frozen=True, slots=True)
class Send:
    """Send this and say what came back. `timeout` is in seconds."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None
    timeout: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer came back. `left` is False only where the request surely never left."""

    message: str
    left: bool = True


Event = Received | Lost | None
"""What came of a step; None after a pause."""
Talk = Generator[Send | Pause, Event, A]


@dataclass(slots=True)
class World:
    """What a conversation takes from outside, and what one tells the next: the node that worked last.

    `clock` counts seconds and never goes back, `chance` is uniform in [0, 1), `new_id` names a command.
    """

    clock: Callable[[], float]
    chance: Callable[[], float]
    new_id: Callable[[], str]
    preferred: int = 0


def converse(request: Request[A], call: Call, settings: Settings, world: World) -> Talk[Reply[A]]:
    """Return the reply to a request; raises what a `Registry` raises."""
    refuse_bad_call(call)
    if isinstance(request, COMMANDS) and not call.command_id:
        call = replace(call, command_id=world.new_id())
    if isinstance(request, (GetSchema, UsesOf)) and request.schema_id > COUNTER:
        raise SchemaNotFound.of(  # there is no such address, which a registry answers like a wrong path
            "SCHEMA_NOT_FOUND", f"Schema {request.schema_id} not found", version=str(request.schema_id)
        )
    if isinstance(request, ListSchemas) and request.limit > PAGE:
        return cast("Reply[A]", (yield from _pages(request, call, settings, world)))
    return (yield from _ask(request, call, settings, world))


def _pages(request: ListSchemas, call: Call, settings: Settings, world: World) -> Talk[Reply[Versions]]:
    """Ask for a long list in pages, each no older than the one before."""
    deadline = world.clock() + call.timeout
    found: list[VersionFound] = []
    while True:
        size = min(PAGE, request.limit - len(found))
        last = (found[-1].subject, found[-1].number) if found else request.after
        page = replace(request, offset=request.offset + len(found), limit=size, after=last)
        reply = yield from _ask(page, replace(call, timeout=deadline - world.clock()), settings, world)
        found += reply.answer.versions
        if len(reply.answer.versions) < size or len(found) >= request.limit:
            return Reply(Versions(tuple(found)), reply.token)
        call = replace(call, after=reply.token if reply.token.sequence else call.after)


def _ask(request: Request[A], call: Call, settings: Settings, world: World) -> Talk[Reply[A]]:
    """Try one node after the other until one of them answers or refuses."""
    deadline, nodes, first = world.clock() + call.timeout, settings.urls, world.preferred
    maybe, failure = False, Unavailable(f"no answer within {call.timeout} s")
    for attempt in range(settings.rounds * len(nodes)):
        if attempt and attempt % len(nodes) == 0:
            pause = _pause(attempt // len(nodes), failure, settings, world)
            yield Pause(max(0.0, min(pause, deadline - world.clock())))
        left, node = deadline - world.clock(), (first + attempt) % len(nodes)
        if left <= 0:
            break
        event = yield from _sent(request, call, settings, (nodes[node], min(left, settings.attempt_timeout)))
        try:
            reply = _understood(request, event, nodes[node])
        except OutcomeUnknown:
            maybe = True
        except Unavailable as error:
            maybe, failure = maybe or _may_be_done(event), error
            if _hopeless(event):
                break
        except Refusal:
            world.preferred = node
            if maybe and _only_once(request) and not _remembers(event):
                break
            raise
        else:
            world.preferred = node
            return reply
    if maybe and isinstance(request, COMMANDS):
        raise OutcomeUnknown(call.command_id) from failure
    raise failure


def _sent(request: Request[A], call: Call, settings: Settings, to: tuple[str, float]) -> Talk[Received | Lost]:
    """Send a request to a base URL with a time-out, follow redirects within that host, return what came back."""
    message, (base, timeout) = sent(request), to
    headers = {**dict(settings.headers), **headers_of(call)}
    if message.body is not None:
        headers |= {"Content-Type": V1, "Confluent-Accept-Unknown-Properties": "true"}
    if settings.authorize is not None:
        headers["Authorization"] = settings.authorize()
    send = Send(message.method, base + message.target, headers, message.body, timeout)
    for _ in range(MAX_REDIRECTS):
        event = yield send
        assert event is not None
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


def _understood(request: Request[A], event: Received | Lost, base: str) -> Reply[A]:
    if isinstance(event, Lost):
        raise Unavailable(f"{base}: {event.message}")
    try:
        return received(request, event)
    except Unavailable as error:
        raise Unavailable(f"{base}: {error}", error.retry_after) from error.__cause__


def _may_be_done(event: Received | Lost) -> bool:
    """Tell whether a command that failed so may have been carried out; a garbled success may, a 503 or 404 did not."""
    if isinstance(event, Lost):
        return event.left
    return event.status < 300 or (event.status >= 500 and event.status != 503)


def _only_once(request: Request[A]) -> bool:
    """Tell whether a command is refused where it was done before."""
    guarded = isinstance(request, (Register, Derive)) and bool(request.number)
    return isinstance(request, ONCE) or guarded or (isinstance(request, Register) and bool(request.expected))


def _hopeless(event: Received | Lost) -> bool:
    """Tell whether somebody who is not a registry said no: a proxy that wants a password, a redirect elsewhere."""
    return isinstance(event, Received) and 300 <= event.status < 500 and event.status not in {404, 408, 425, 429}


def _remembers(event: Received | Lost) -> bool:
    """Tell whether the registry knows command ids, so that its refusal is about this command's first arrival."""
    if isinstance(event, Lost):
        return False
    return event.header(TOKEN) is not None or msgspec.json.decode(event.body, type=ErrorBody).treaty is not None


def _pause(rounds: int, failure: Unavailable, settings: Settings, world: World) -> float:
    """Return the pause before another round: doubled each time, half of it by chance, never below what was asked."""
    longest = min(settings.pause * 2.0 ** (rounds - 1), settings.longest_pause)
    asked = min(failure.retry_after, settings.longest_pause) if failure.retry_after != 1.0 else 0.0
    return max(longest * (0.5 + world.chance() / 2), asked)

"""Effects: values that the sans-I/O protocol yields (send, wait, ask for a token), and that a synchronous or asynchronous registry
executes.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import field
from typing import TypeVar

from treaty.light_dataclass import dataclass
from treaty.wire.http_response import HttpResponse

A = TypeVar("A")

Headers = Mapping[str, str]
"""Headers that authenticate the client."""


@dataclass(frozen=True, slots=True)
class SendRequest:
    """Send a request and return the response. Time-outs are in seconds; `connect` is that of the connection alone."""

    method: str
    url: str
    headers: Headers = field(repr=False)
    body: bytes | None = field(repr=False)
    timeout: float
    connect: float


@dataclass(frozen=True, slots=True)
class WaitSeconds:
    """Wait this many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class CallProvider:
    """Call a function of the program and return its value; in asyncio programs it may return an awaitable."""

    function: Callable[[], Mapping[str, str] | str | Awaitable[Mapping[str, str] | str]]


@dataclass(frozen=True, slots=True)
class RunExclusively:
    """Run this generator under the lock of the client, and return its value."""

    conversation: Callable[[], "Conversation[Headers]"]


@dataclass(frozen=True, slots=True)
class NoResponse:
    """No response came. `was_sent` is False only where the request was certainly not sent; `timed_out`: the server may
    still hold the request and execute it later.
    """

    message: str
    was_sent: bool = True
    timed_out: bool = False


Effect = SendRequest | WaitSeconds | CallProvider | RunExclusively
EffectResult = HttpResponse | NoResponse | Mapping[str, str] | str | None
"""What an effect returns; None after a pause."""
Conversation = Generator[Effect, EffectResult, A]


@dataclass(slots=True)
class TokenCache:
    """The token of a client. `renew_at` and `expires_at` are times of the client's clock, in seconds."""

    headers: Headers | None = field(default=None, repr=False)
    renew_at: float = 0.0
    expires_at: float = 0.0


def expect_response(event: EffectResult) -> HttpResponse | NoResponse:
    """Return the result of a `SendRequest`."""
    assert isinstance(event, (HttpResponse, NoResponse))
    return event

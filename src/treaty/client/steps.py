"""Steps of a conversation over HTTP: what a generator asks its driver to do, and what came of it."""

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from treaty.wire.confluent.receiving import Received

A = TypeVar("A")

Headers = Mapping[str, str]
"""Headers that say who is asking."""


@dataclass(frozen=True, slots=True)
class Send:
    """Send this and say what came back. Times are in seconds; `connect` bounds the making of a connection alone."""

    method: str
    url: str
    headers: Headers = field(repr=False)
    body: bytes | None = field(repr=False)
    timeout: float
    connect: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Consult:
    """Call a function of the program, and give back what it returns; asyncio programs may return an awaitable."""

    function: Callable[[], Mapping[str, str] | str | Awaitable[Mapping[str, str] | str]]


@dataclass(frozen=True, slots=True)
class Alone:
    """Hold this conversation while no other one of the same client is held, and give back what it returns."""

    talk: Callable[[], "Talk[Headers]"]


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer came back. `left` is False only where the request surely never left; `waits` says that time was over, and
    the request may be waiting there still.
    """

    message: str
    left: bool = True
    waits: bool = False


Step = Send | Pause | Consult | Alone
Event = Received | Lost | Mapping[str, str] | str | None
"""What came of a step; None after a pause."""
Talk = Generator[Step, Event, A]


@dataclass(slots=True)
class Purse:
    """The token that a client holds at present. `renew` and `ends` are times of the client's clock, in seconds."""

    headers: Headers | None = field(default=None, repr=False)
    renew: float = 0.0
    ends: float = 0.0


def answered(event: Event) -> Received | Lost:
    """What came of a `Send`."""
    assert isinstance(event, (Received, Lost))
    return event

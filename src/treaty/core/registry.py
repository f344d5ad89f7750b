"""`Registry`: the one door. An embedded node and an HTTP client both stand behind it, and nobody can tell which."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from treaty.core.requests import Request
from treaty.core.rights import Access

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Token:
    """A place in a log's history: the state right after an append. Text form ``identity.sequence.digest``.

    `identity` is hex (empty for a log without an append), `digest` the hex digest of the append that ended at `sequence`.
    """

    identity: str
    sequence: int
    digest: str

    def __str__(self) -> str:
        return f"{self.identity}.{self.sequence}.{self.digest}"

    @staticmethod
    def parse(text: str) -> "Token | None":
        """Read the text form; None if it is not one."""
        parts = text.split(".")
        if len(parts) != 3 or not parts[1].isascii() or not parts[1].isdigit() or len(parts[1]) > 18:
            return None
        return Token(parts[0], int(parts[1]), parts[2])


@dataclass(frozen=True, slots=True)
class Call:
    """How a request is made.

    `consistency` is ``latest`` (look at the tip first), ``strict`` (the same, proven by an append where an old leader
    of the log may answer a look), ``eventual`` (memory is good enough) or empty (the default of the request's class). `after` is a token that the answer must not be older than. `command_id` makes a retry the
    same command; empty means that the registry gives one. `again` says that it was sent before and may wait somewhere still: then its outcome is
    remembered even where it changes nothing, so that the one that waits does nothing either. `timeout` is in seconds.
    `access` bounds what is done and shown (None: there are no rights here); it stays in this process.
    """

    consistency: str = ""
    after: Token | None = None
    command_id: str = ""
    timeout: float = 30.0
    principal: str = ""
    access: Access | None = None
    again: bool = False


CALL = Call()


@dataclass(frozen=True, slots=True)
class Reply(Generic[A]):
    """An answer and the token of the state it was taken from."""

    answer: A
    token: Token


class Registry(Protocol):
    """A registry, asked synchronously.

    Raises `Refusal` where the law says no (`NotFound` among them), `Unavailable` where it can't say now and nothing
    was written, `OutcomeUnknown` where a command may have been written.
    """

    def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:
        """Answer a request."""
        ...

    def close(self) -> None:
        """Give back connections, threads and files."""
        ...


class AsyncRegistry(Protocol):
    """The same door for asyncio programs."""

    async def ask(self, request: Request[A], call: Call = CALL) -> Reply[A]:
        """Answer a request."""
        ...

    async def close(self) -> None:
        """Give back connections, threads and files."""
        ...

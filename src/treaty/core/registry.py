"""`Registry`: the interface of everything that answers requests, and what a call may hold: the same for a node and an HTTP client."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from treaty.core.access.rights import Access
from treaty.core.limits import COMMAND_ID
from treaty.core.refusals import Invalid
from treaty.core.requests import Request
from treaty.core.state.commit import PositionToken
from treaty.names import refuse_renamed

A = TypeVar("A")

CONSISTENCIES = ("latest", "strict", "eventual")
"""What a call may ask for. `FRESH` are those that memory alone never answers."""
FRESH = frozenset({"latest", "strict"})


@dataclass(frozen=True, slots=True)
class CallOptions:
    """How a request is made.

    `consistency` is ``latest`` (look at the tip first), ``strict`` (the same, proven by an append where an old leader
    of the log may answer a look), ``eventual`` (memory is good enough) or empty (the default of the request's class). `after` is a token that the answer must not be older than. `command_id` makes a retry the
    same command; empty means that the registry gives one. `again` says that it was sent before and may wait somewhere still: then its outcome is
    remembered even where it changes nothing, so that the one that waits does nothing either. `timeout` is in seconds.
    `access` bounds what is done and shown (None: there are no rights here); `client` takes turns with others where many wait
    (empty: the principal does). Both stay in this process.
    """

    consistency: str = ""
    after: PositionToken | None = None
    command_id: str = ""
    timeout: float = 30.0
    principal: str = ""
    access: Access | None = None
    again: bool = False
    client: str = ""


CALL = CallOptions()


def refuse_bad_call(call: CallOptions) -> None:
    """Raise `Invalid` for a consistency, a command id or a token that is none."""
    if call.consistency not in {"", *CONSISTENCIES}:
        message = f"{call.consistency[:100]!r} is no consistency"
        raise Invalid.of("CONSISTENCY", message, new=call.consistency[:100], allowed=", ".join(CONSISTENCIES))
    word = call.command_id
    if len(word) > COMMAND_ID or not _is_word(word):
        shown, allowed = word[:COMMAND_ID], f"at most {COMMAND_ID} printable characters of ASCII"
        raise Invalid.of("COMMAND_ID", f"{shown!r} is no command id", new=shown, allowed=allowed)
    if call.after is not None:
        text = str(call.after)
        if not _is_word(text) or PositionToken.parse(text) != call.after:
            shown = text[:100]
            raise Invalid.of("TOKEN", f"{shown!r} is no token", new=shown, allowed="a token that a registry gave")


def _is_word(text: str) -> bool:
    return text.isascii() and text.isprintable()


@dataclass(frozen=True, slots=True)
class Reply(Generic[A]):
    """An answer and the token of the state it was taken from."""

    answer: A
    token: PositionToken


class Registry(Protocol):
    """A registry, asked synchronously.

    Raises `Refusal` where the law says no (`NotFound` among them), `Unavailable` where it can't say now and nothing
    was written, `OutcomeUnknown` where a command may have been written.
    """

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request."""
        ...

    def close(self) -> None:
        """Give back connections, threads and files."""
        ...


class AsyncRegistry(Protocol):
    """The same door for asyncio programs."""

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request."""
        ...

    async def close(self) -> None:
        """Give back connections, threads and files."""
        ...


if not TYPE_CHECKING:
    __getattr__ = refuse_renamed(__name__)

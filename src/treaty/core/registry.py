"""`Registry`: the interface of everything that answers requests, such as a node and an HTTP client; and the options of
a call.
"""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from treaty.core.access.rights import Access
from treaty.core.limits import COMMAND_ID
from treaty.core.refusals import Invalid
from treaty.core.requests import Request
from treaty.core.state.commit import PositionToken

A = TypeVar("A")

CONSISTENCIES = ("latest", "strict", "eventual")
"""The consistencies of a call. `FRESH` are those that need a read barrier."""
FRESH = frozenset({"latest", "strict"})


@dataclass(frozen=True, slots=True)
class CallOptions:
    """How a request is made.

    `consistency` is ``latest`` (read barrier first), ``strict`` (also proven by an append, if a deposed leader of the
    log may answer reads), ``eventual`` (answer from memory) or empty (the default of the operation). The answer is not
    older than the position token `after`. `command_id` is the idempotency key; if empty, the registry generates one.
    `again`: an earlier attempt may still be queued, so the outcome is stored even without changes, and that attempt
    then has no effect. `timeout` is in seconds. `access` limits what is done and shown (None: no rights are
    configured); `client` is the unit of fairness in queues (empty: the principal). Both are used in this process only.
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
    """Raise `Invalid` for an invalid consistency, command id or token."""
    if call.consistency not in {"", *CONSISTENCIES}:
        message = f"{call.consistency[:100]!r} is no consistency"
        raise Invalid.of("CONSISTENCY", message, new=call.consistency[:100], allowed=", ".join(CONSISTENCIES))
    word = call.command_id
    if len(word) > COMMAND_ID or not _is_word(word):
        cut, allowed = word[:COMMAND_ID], f"at most {COMMAND_ID} printable characters of ASCII"
        raise Invalid.of("COMMAND_ID", f"{cut!r} is no command id", new=cut, allowed=allowed)
    if call.after is not None:
        text = str(call.after)
        if not _is_word(text) or PositionToken.parse(text) != call.after:
            cut = text[:100]
            raise Invalid.of("TOKEN", f"{cut!r} is no token", new=cut, allowed="a token that a registry gave")


def _is_word(text: str) -> bool:
    return text.isascii() and text.isprintable()


@dataclass(frozen=True, slots=True)
class Reply(Generic[A]):
    """An answer with the position token of its state."""

    answer: A
    token: PositionToken


class Registry(Protocol):
    """A registry, asked synchronously.

    Raises `Refusal` for a request that a rule rejects (`NotFound` is one), `Unavailable` for a temporary failure
    without a write, `OutcomeUnknown` if a command may have been executed.
    """

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request."""
        ...

    def close(self) -> None:
        """Close connections, threads and files."""
        ...


class AsyncRegistry(Protocol):
    """The interface of a registry for asyncio programs."""

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request."""
        ...

    async def close(self) -> None:
        """Close connections, threads and files."""
        ...

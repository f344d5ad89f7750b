"""`Registry`: the interface of everything that answers requests, such as a node and an HTTP client; the options of
a call; and exchanges, which are several requests with one result.
"""

import inspect
from collections.abc import Callable, Generator
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, cast

from treaty.core.access.rights import Access
from treaty.core.limits import COMMAND_ID
from treaty.core.messages.request import Request
from treaty.core.refusals import Invalid, RegistryError
from treaty.core.state.commit import PositionToken
from treaty.light_dataclass import dataclass

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


# ----------------------------------------------------------------------------------------------------------- exchanges


Exchange: TypeAlias = Generator[Request[Any], Any, A]
"""A generator that yields requests, receives their answers and returns a value. It has no I/O: who runs it asks a registry for
each request, so that the same exchange serves programs with and without asyncio.
"""


def request_answer(request: Request[A]) -> Exchange[A]:
    """Send one request and return its answer."""
    return cast("A", (yield request))


def method_signature(exchange: Callable[..., Exchange[Any]]) -> inspect.Signature:
    """Return the signature of the method that runs an exchange: `self`, its parameters, and what it returns."""
    signature = inspect.signature(exchange)
    owner = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    returned = signature.return_annotation.__args__[2]
    return signature.replace(parameters=[owner, *signature.parameters.values()], return_annotation=returned)


def run_exchange(registry: Registry, exchange: Exchange[A], call: CallOptions = CALL) -> A:
    """Return the value of the exchange. An error of the registry is raised inside it, which may catch it."""
    try:
        request: Request[Any] = next(exchange)
        while True:
            try:
                answer = registry.ask(request, call).answer
            except RegistryError as refused:
                request = exchange.throw(refused)
            else:
                request = exchange.send(answer)
    except StopIteration as end:
        value: A = end.value
        return value

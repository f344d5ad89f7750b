"""The registry as the endpoint of one request asks it."""

from dataclasses import dataclass
from typing import TypeVar

from starlette.types import Scope

from treaty.api.request_scope import answer_size, ask_registry
from treaty.core.answers import DeletedVersions, VersionFound
from treaty.core.messages.schemaver import PublishedDeleted
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Reply
from treaty.core.requests import Request
from treaty.core.state.commit import PositionToken

A = TypeVar("A")


@dataclass(slots=True)
class RequestRegistry:
    """The registry with the options of a request. `question` and `token` are of the last question, for errors and headers."""

    shared: AsyncRegistry
    """The registry of all requests."""
    scope: Scope
    call: CallOptions
    question: Request[object] | None = None
    token: PositionToken | None = None
    size: int = 0
    """Characters and bytes of the schemas in the last answer."""
    warnings: tuple[str, ...] = ()
    """Names of the sources that a soft deletion warns of."""

    async def ask(self, request: Request[A], call: CallOptions | None = None) -> A:
        """Ask the registry, with the options of the request or with others. Raises the registry's refusals."""
        self.question = request
        reply = await ask_registry(self.scope, self.shared, request, call or self.call)
        self.token, self.size = reply.token, answer_size(reply.answer)
        if isinstance(reply.answer, DeletedVersions | VersionFound | PublishedDeleted) and reply.answer.warnings:
            self.warnings = reply.answer.warnings
        return reply.answer


@dataclass(frozen=True, slots=True)
class SharedRegistry:
    """The registry of a request as statements of the metastore ask it."""

    registry: RequestRegistry

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Ask the registry. Raises its refusals."""
        answer = await self.registry.ask(request, call)
        token = self.registry.token
        assert token is not None, "an answer has a token"
        return Reply(answer, token)

    async def close(self) -> None:
        """Close nothing: the registry is everybody's."""

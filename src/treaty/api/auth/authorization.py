"""`AuthorizedRegistry`: a registry as its caller may see it. Rights are checked here, once, for every dialect."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, cast

from treaty.api.caller import RequestCaller, caller
from treaty.core import answers as a
from treaty.core import requests as q
from treaty.core.access.rights import Access
from treaty.core.aliases import alias_candidate
from treaty.core.names import DEFAULT_CONTEXT, subject_of
from treaty.core.operations import OPERATIONS, is_command, operation_name, refuse_unless_allowed
from treaty.core.refusals import Forbidden, NotFound, NotPermitted, Reason, Referenced, Unauthenticated
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Reply
from treaty.core.requests import Request

A = TypeVar("A")
NAMES_AT_ONCE = 10_000
"""Names of subjects that are looked through before others have their turn."""
AskRegistry = Callable[[Request[Any], CallOptions], Awaitable[Reply[Any]]]


class AuditSink(Protocol):
    """Writes down what commands did: asks on, and keeps a line of it."""

    async def record_command(self, request: Request[Any], call: CallOptions, ask: AskRegistry) -> Reply[Any]:
        """Ask, write a line, and return or raise what came of it."""
        ...


@dataclass(frozen=True, slots=True)
class AuthorizedRegistry:
    """An `AsyncRegistry` before another one. `rights`: who was not let in is refused, whatever they ask.

    `read_only` refuses every command; `audit` writes the audit log.
    """

    registry: AsyncRegistry
    rights: bool = False
    read_only: bool = False
    audit: AuditSink | None = None

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request, if the caller may have it answered."""
        who = caller()
        if self.rights and (who is None or who.access is None):
            raise Unauthenticated(Reason("CREDENTIALS", "Unauthorized: this request is not authenticated"))
        who = who or RequestCaller()
        call = CallOptions(
            call.consistency,
            call.after,
            call.command_id,
            call.timeout,
            who.principal,
            who.access,
            call.again,
            who.client,
        )  # `replace` is slow
        if is_command(request):
            request = _sign_request(request, who.principal)
            if self.audit is not None:
                return await self.audit.record_command(request, call, self._ask)
        return await self._ask(request, call)

    async def _ask(self, request: Request[Any], call: CallOptions) -> Reply[Any]:
        who = caller()
        access = who.access if who is not None else None
        if access is not None:
            await self._refuse_unless_allowed(access, request, call)
        if self.read_only and is_command(request):
            raise NotPermitted.of(
                "READ_ONLY",
                "This server is read-only: it was started with --read-only",
                new=operation_name(request),
                allowed="reads; send changes to a server that writes",
            )
        try:
            reply = await self.registry.ask(request, call)
        except Referenced as told:
            if access is None or _may_hear_of(access, told.reason.old):
                raise
            raise Referenced(replace(told.reason, old="")) from None
        if call.access is None or call.access.sees_all:
            return reply
        if isinstance(request, q.ListContexts):
            return Reply(await self._contexts(reply.answer, call), reply.token)
        if isinstance(request, q.GetOutcome):
            return Reply(_hide_members(reply.answer, call.access), reply.token)
        return reply

    async def _refuse_unless_allowed(self, access: Access, request: Request[Any], call: CallOptions) -> None:
        """Raise `Forbidden` where the caller lacks what a request needs.

        A subject may be an alias of one that they have a right to. Where this member knows of one the law says the rest,
        which asks for rights to what it leads to in any case; other requests are refused here, and cost nobody anything.
        """
        try:
            refuse_unless_allowed(access, call.principal, request)
        except Forbidden:
            named = alias_candidate(request)
            if named is None:
                raise
            try:
                eventually = CallOptions("eventual", timeout=call.timeout)
                found = await self.registry.ask(q.GetConfig(q.Scope(*named)), eventually)
            except NotFound:
                found = None
            if found is None or not found.answer.config.alias:
                raise

    async def _contexts(self, found: a.Contexts, call: CallOptions) -> a.Contexts:
        """Keep the contexts that have something to read, the default one, and those that are all the caller's."""
        listed = await self.registry.ask(q.ListSubjects(visible="all"), replace(call, consistency="eventual"))
        seen: set[str] = set()
        for start in range(0, len(listed.answer.names), NAMES_AT_ONCE):
            seen |= _contexts_of(listed.answer.names[start : start + NAMES_AT_ONCE])
            await asyncio.sleep(0)
        access = cast("Access", call.access)
        return a.Contexts(
            tuple(name for name in found.names if name == "." or name in seen or access.may_whole("read", name))
        )

    async def close(self) -> None:
        """Close the registry."""
        await self.registry.close()


def _contexts_of(names: Iterable[str]) -> set[str]:
    """Return the contexts of subjects. Names of one context stand together; only those of others begin with ``:.``."""
    seen: set[str] = set()
    start = None
    for name in names:
        if not name.startswith(":."):
            seen.add(DEFAULT_CONTEXT)
        elif start is None or not name.startswith(start):
            context = subject_of(name).context
            seen.add(context)
            start = f":{context}:"
    return seen


def _sign_request(request: Request[A], principal: str) -> Request[A]:
    """Who forces something is who asks for it, whatever name was sent."""
    sign = OPERATIONS[type(request)].sign
    return request if sign is None else sign(request, principal)


def _may_hear_of(access: Access, place: str) -> bool:
    """Return whether somebody may know who refers to what they would delete (``subject version …``)."""
    return access.may("read", subject_of(place.rpartition(" version ")[0]))


def _hide_members(outcome: a.CommandOutcome, access: Access) -> a.CommandOutcome:
    """Tell of a command what became of it; its answer only where the caller may read its subject."""
    subject = dict(outcome.members).get("subject")
    if subject is not None and access.may("read", subject_of(subject)):
        return outcome
    return replace(outcome, members=())

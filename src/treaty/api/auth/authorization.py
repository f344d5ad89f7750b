"""`AuthorizedRegistry`: checks the caller's permissions, once for all dialects."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, cast

from treaty.api.request_scope import RequestCaller, caller
from treaty.core.access.rights import Access
from treaty.core.decide import alias_candidate
from treaty.core.messages.contexts import Contexts, ListContexts
from treaty.core.messages.listings import ListSubjects
from treaty.core.messages.metastore.plans import RequestPlan
from treaty.core.messages.metastore.scripts import RunScript, ScriptDone
from treaty.core.messages.metastore.sources import (
    DEFINITION_COMMANDS,
    GetDestination,
    SourcesDropped,
    SourceStored,
    TypeDropped,
    TypeStored,
)
from treaty.core.messages.outcomes import CommandOutcome, GetOutcome
from treaty.core.messages.request import Request
from treaty.core.messages.settings import GetConfig, Scope
from treaty.core.names import DEFAULT_CONTEXT, subject_of
from treaty.core.operations import OPERATIONS, is_command, operation_name, refuse_unless_allowed
from treaty.core.outcomes import read_outcome
from treaty.core.refusals import Forbidden, NotFound, NotPermitted, Reason, Referenced, Unauthenticated
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Reply
from treaty.core.state.metastore.keys import key_of_name

A = TypeVar("A")
NAMES_AT_ONCE = 10_000
"""Names of subjects that are filtered between two pauses."""
CHANGING_COMMANDS = (*DEFINITION_COMMANDS, RunScript, RequestPlan)
"""Commands that a server with ``--ddl off`` refuses: a plan that is asked for becomes a source once a planner has made it."""
AskRegistry = Callable[[Request[Any], CallOptions], Awaitable[Reply[Any]]]


class AuditSink(Protocol):
    """Executes commands and records them."""

    async def record_command(self, request: Request[Any], call: CallOptions, ask: AskRegistry) -> Reply[Any]:
        """Execute a command, write its line, and return or raise its result."""
        ...


@dataclass(frozen=True, slots=True)
class AuthorizedRegistry:
    """An `AsyncRegistry` in front of another one. With `rights` unauthenticated requests are refused. `read_only`
    refuses every command and the destination of records, and without `ddl` those that change sources and types are refused, but for an
    import by a caller whose permissions were checked, or by anybody with `imports`; `audit` writes the audit log.
    """

    registry: AsyncRegistry
    rights: bool = False
    read_only: bool = False
    ddl: bool = True
    audit: AuditSink | None = None
    imports: bool = False

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request, if the caller has the permissions."""
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
        if self.read_only and (is_command(request) or isinstance(request, GetDestination)):
            raise NotPermitted.of(
                "READ_ONLY",
                "This server is read-only: it was started with --read-only",
                new=operation_name(request),
                allowed="reads; send changes to a server that writes",
            )
        if (
            not self.ddl
            and isinstance(request, CHANGING_COMMANDS)
            and not _passes_without_ddl(request, imports=self.imports or access is not None)
        ):
            raise Forbidden.of(
                "DDL_OFF",
                f"This server takes no statements that change streams, tables or types: it was started with --ddl {'import' if self.imports else 'off'}",
                new=operation_name(request),
                allowed="queries and dry runs; a change of the files that it applies when it starts, or a server with --ddl on; for an import from ksqlDB --ddl import, or the permission import",
            )
        try:
            reply = await self.registry.ask(request, call)
        except Referenced as refusal:
            if access is None or _may_hear_of(access, refusal.reason.old):
                raise
            raise type(refusal)(replace(refusal.reason, old="")) from None
        if call.access is None or call.access.sees_all:
            return reply
        if isinstance(request, ListContexts):
            return Reply(await self._contexts(reply.answer, call), reply.token)
        if isinstance(request, GetOutcome):
            return Reply(_hide_members(reply.answer, call.access), reply.token)
        return reply

    async def _refuse_unless_allowed(self, access: Access, request: Request[Any], call: CallOptions) -> None:
        """Raise `Forbidden` if the caller lacks a permission.

        The subject may be an alias of one that the caller has a permission on. A known alias is left to the handler,
        which always checks the target; other requests are refused here.
        """
        try:
            refuse_unless_allowed(access, call.principal, request)
        except Forbidden:
            named = alias_candidate(request)
            if named is None:
                raise
            try:
                eventually = CallOptions("eventual", timeout=call.timeout)
                config = await self.registry.ask(GetConfig(Scope(*named)), eventually)
            except NotFound:
                config = None
            if config is None or not config.answer.config.alias:
                raise

    async def _contexts(self, contexts: Contexts, call: CallOptions) -> Contexts:
        """Filter contexts: those with a readable subject, the default one, and those that the caller may read entirely."""
        listed = await self.registry.ask(ListSubjects(visible="all"), replace(call, consistency="eventual"))
        readable: set[str] = set()
        for start in range(0, len(listed.answer.names), NAMES_AT_ONCE):
            readable |= _contexts_of(listed.answer.names[start : start + NAMES_AT_ONCE])
            await asyncio.sleep(0)
        access = cast("Access", call.access)
        return Contexts(
            tuple(name for name in contexts.names if name == "." or name in readable or access.may_whole("read", name))
        )

    async def close(self) -> None:
        """Close the registry."""
        await self.registry.close()


def _passes_without_ddl(request: object, *, imports: bool) -> bool:
    """Return whether a server takes a command with ``--ddl off``: a dry run, or one of an import where these are taken."""
    return bool(getattr(request, "dry_run", False) or (imports and getattr(request, "importer", False)))


def _contexts_of(names: Iterable[str]) -> set[str]:
    """Return the contexts of sorted qualified names."""
    contexts: set[str] = set()
    start = None
    for name in names:
        if not name.startswith(":."):
            contexts.add(DEFAULT_CONTEXT)
        elif start is None or not name.startswith(start):
            context = subject_of(name).context
            contexts.add(context)
            start = f":{context}:"
    return contexts


def _sign_request(request: Request[A], principal: str) -> Request[A]:
    """Return the request with the caller as the principal who skips the policy."""
    sign = OPERATIONS[type(request)].sign
    return request if sign is None else sign(request, principal)


def _may_hear_of(access: Access, place: str) -> bool:
    """Return whether the caller may read the schema that refers to a deleted one (``subject version …``)."""
    return access.may("read", subject_of(place.rpartition(" version ")[0]))


def _source_names(answer: Any) -> list[str]:
    """Return the sources and types that the answer of a statement or a script is about."""
    match answer:
        case SourceStored(name=name, also=also):
            return [name, *also]
        case SourcesDropped(names=names):
            return [*names]
        case TypeStored(name=name) | TypeDropped(name=name):
            return [name]
        case ScriptDone(answers=answers):
            return [name for answer in answers for name in _source_names(answer.answer)]
        case _:
            return []


def _hide_members(outcome: CommandOutcome, access: Access) -> CommandOutcome:
    """Return the outcome of a command; its answer only if the caller may read the subject, or the sources."""
    subject = dict(outcome.members).get("subject")
    if subject is not None and access.may("read", subject_of(subject)):
        return outcome
    names = _source_names(read_outcome(outcome))
    if names and all(access.may_source("read", key_of_name(name)) for name in names):
        return outcome
    return replace(outcome, members=())

"""The registry as a statement asks it: with the command id of its place in the script, and the sequence of the last answer kept."""

import asyncio
from dataclasses import replace
from typing import Any, TypeVar, cast

from treaty.core.limits import COMMAND_ID
from treaty.core.messages.metastore.sources import GetDestination, SourceFound
from treaty.core.messages.request import Request
from treaty.core.operations import is_command, operation_name
from treaty.core.refusals import Invalid
from treaty.core.registry import CALL, AsyncRegistry, CallOptions, Registry, Reply
from treaty.core.sources import Source
from treaty.core.state.commit import PositionToken
from treaty.metastore.records.steps import PauseStep, RecordDestination, StatementStep

A = TypeVar("A")

WITHDRAWAL = "withdraw-plan"
"""The operation that gives a plan up, which is no command of the statement."""


def statement_call(call: CallOptions, request: Request[Any], place: int) -> CallOptions:
    """Return the options of a request of the statement at a place of its script, from 0.

    The command of the first statement has the command id of the script, that of a later one has its place behind it, so that a
    script that comes again is the same commands. Raises `Invalid` for an id without room for the place.
    """
    if not call.command_id:
        return call
    if not is_command(request) or operation_name(request) == WITHDRAWAL:
        return replace(call, command_id="")
    return replace(call, command_id=command_id_at(call, place))


def command_id_at(call: CallOptions, place: int) -> str:
    """Return the command id of the statement at a place of its script. Raises `Invalid` for an id without room for the place."""
    suffix = f".{place}" if place and call.command_id else ""
    if len(call.command_id) + len(suffix) > COMMAND_ID:
        raise Invalid.of(
            "COMMAND_ID",
            f"The command id of a script needs room for the place of a statement, {suffix}",
            path="Treaty-Command",
            new=call.command_id,
            allowed=f"at most {COMMAND_ID - len(suffix)} characters",
        )
    return f"{call.command_id}{suffix}"


class SequenceRecorder:
    """A registry that remembers the sequence of its last answer, for the statement at a place of its script."""

    def __init__(self, registry: Registry, place: int, destination: RecordDestination) -> None:
        self.registry = registry
        self.place = place
        self.destination = destination
        self.token = PositionToken("", 0, "")

    @property
    def sequence(self) -> int:
        """Sequence of the state of the last answer."""
        return self.token.sequence

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Ask the registry, or the destination for what is about records and topics."""
        if isinstance(request, StatementStep):
            return Reply(cast("A", request.run(self.destination)), self.token)
        reply = self.registry.ask(request, statement_call(call, request, self.place))
        self.token = reply.token
        return reply

    def close(self) -> None:
        """Close the registry."""
        self.registry.close()


class AsyncSequenceRecorder:
    """An asynchronous registry that remembers the sequence of its last answer, as `SequenceRecorder` does."""

    def __init__(self, registry: AsyncRegistry, place: int, destination: RecordDestination) -> None:
        self.registry = registry
        self.place = place
        self.destination = destination
        self.token = PositionToken("", 0, "")
        self.source: Source | None = None

    @property
    def sequence(self) -> int:
        """Sequence of the state of the last answer."""
        return self.token.sequence

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Ask the registry, or the destination for what is about records and topics."""
        if isinstance(request, PauseStep):
            return Reply(cast("A", await asyncio.sleep(request.seconds)), self.token)
        if isinstance(request, StatementStep):
            return Reply(cast("A", await asyncio.to_thread(request.run, self.destination)), self.token)
        reply = await self.registry.ask(request, statement_call(call, request, self.place))
        self.token = reply.token
        if isinstance(reply.answer, SourceFound) and isinstance(request, GetDestination):
            self.source = reply.answer.source
        return reply

    async def close(self) -> None:
        """Close the registry."""
        await self.registry.close()

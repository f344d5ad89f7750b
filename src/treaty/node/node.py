"""`Node`: an `AsyncRegistry` over a log: which part answers a request (queue of commands, long queries, read barrier), how long it may
wait, and what a forwarded command is answered with.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from treaty.core.command import Command, Decision, OpenQuestions
from treaty.core.decide import decide
from treaty.core.limits import LONG_POLL_SECONDS
from treaty.core.messages.request import Request
from treaty.core.operations import OPERATIONS, is_command, is_pausing, needs_read_barrier
from treaty.core.refusals import Invalid, NotFound, Refusal, RegistryError, Unavailable
from treaty.core.registry import CALL, FRESH, CallOptions, Reply, refuse_bad_call
from treaty.core.schema import InEventLoop, LargeTextError
from treaty.core.schema_engine import ValidateValue, ValueValidated
from treaty.core.state.commit import PositionToken, as_root
from treaty.core.state.log_origin import explain_unfinished_restore
from treaty.core.state.tables import DictTables
from treaty.core.state.view import Tables
from treaty.log.log import Leader, Log, LogDamagedError, LogUnavailableError
from treaty.node.encryption import NO_KEYS, MetadataCipher, encrypt_decisions
from treaty.node.environment import Environment
from treaty.node.follower import Follower
from treaty.node.forwarder import CommandForwarder
from treaty.node.long_queries import LongQueries, TableChanges
from treaty.node.peer_batches import PeerTransport
from treaty.node.queue import READ_ONLY_SECONDS, CommandQueue
from treaty.node.queued_command import NotLeaderError, SequenceExceededError, refuse_token
from treaty.node.schema_service import SchemaService, SchemaSession, answered_engine
from treaty.node.segment.manager import StateFileManager
from treaty.node.status import NodeCounts, Status, StoredCounts
from treaty.node.writer import Writer
from treaty.wire.peer.message import (
    BarrierPassed,
    DecidedReply,
    FailedReply,
    ForwardedCommand,
    ForwardReply,
    NotLeaderReply,
    ReadBarrier,
    RefusedReply,
    SequenceExceededReply,
)

logger = logging.getLogger("treaty.node")

A = TypeVar("A")
T = TypeVar("T")

TOKEN_SECONDS = 2.0
"""Seconds that a request waits for a position token beyond the tip."""
QUARANTINE_SHOWN = 20


class Node:
    """A node that answers queries and writes commands. All its state is in the log, so it may be killed at any time.
    All methods belong to one event loop. Call `start` first and `close` last.
    """

    def __init__(
        self,
        log: Log,
        schemas: SchemaService,
        environment: Environment,
        tables: Tables | None = None,
        state_files: StateFileManager | None = None,
        *,
        cipher: MetadataCipher = NO_KEYS,
        transport: PeerTransport | None = None,
        log_topics: tuple[str, ...] = (),
    ) -> None:
        """Take a log, a schema service and the environment. Optional: the manager of a state file, the cipher of
        sensitive metadata, the transport to other nodes, and the topics that the log is in.
        """
        self._log_topics = log_topics
        self.counts = NodeCounts()
        self._log = log
        self._schemas = schemas
        self._environment = environment
        self._tables: Tables = DictTables() if tables is None else tables
        self._state_files = state_files
        self._cipher = cipher
        self._decide = encrypt_decisions(cipher, decide)
        self.follower = Follower(log, self._tables, environment, self.counts)
        self._long_queries = LongQueries(self.follower, environment, cipher)
        self._queue = CommandQueue(self.follower, schemas, environment, self.counts)
        self._transport = transport
        self._forwarder = CommandForwarder(
            self._queue,
            self.follower,
            log=log,
            transport=transport,
            counts=self.counts,
            decide=self._decide,
            run_large=environment.run_large,
        )
        self._writer = Writer(
            self._queue,
            self.follower,
            self._forwarder,
            log=log,
            environment=environment,
            counts=self.counts,
            decide=self._decide,
        )
        self._changes = TableChanges(self.follower)
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start following and writing. Returns immediately; early requests wait for the first look."""
        if self._state_files is not None:
            settling = self.follower.settle_in(partial(self._state_files.prepare, self._log))
            self._tasks.append(asyncio.create_task(settling, name="prepare"))  # the first task that reads
            self._tasks.append(asyncio.create_task(self._state_files.run(self.follower), name="keep"))
        self._tasks.append(asyncio.create_task(self.follower.follow(), name="follow"))
        self._tasks.append(asyncio.create_task(self._writer.run(), name="write"))

    async def close(self) -> None:
        """Stop and close the log. Waiting commands fail."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._forwarder.close()
        await self._queue.close()
        await self._schemas.close()
        await self.follower.close()
        await self._log.close()

    # ---------------------------------------------------------------------------------------------------- asking

    async def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Answer a request; raises the errors of `Registry`."""
        command_id = call.command_id or self._environment.random(16).hex()
        refuse_bad_call(call)
        command = Command(
            request, command_id, self._environment.wall(), call.principal, call.access, call.again, self._log_topics
        )
        if not is_command(request):
            self.counts.queries += 1
            return await self._in_time(self._query(command, call), call)
        self.counts.commands += 1
        begun = self._environment.now()
        if call.after is not None:
            await self._in_time(self._reach(call.after), call)
        request_id = self._transport.request_id() if self._transport is not None else ""
        try:
            left = call.timeout - (self._environment.now() - begun)
            return await self._queue.submit(command, left, request_id=request_id, after=call.after, client=call.client)
        except RegistryError as error:
            self.counts.count(error)
            raise

    async def validate_value(self, question: ValidateValue, call: CallOptions = CALL) -> ValueValidated:
        """Validate a value by a schema; a large one in the pool. Its work is stopped at the call's time-out, with `Unavailable`."""
        validating = self._schemas.validate_value(question, call.client or call.principal)
        return await self._in_time(validating, call)

    async def take(self, forwarded: ForwardedCommand) -> ForwardReply:
        """Decide a command of another, authenticated node, or name the leader."""
        self.counts.taken += 1
        begun = self._environment.now()
        try:
            if not self._has_reached(forwarded.place):
                await self._in_time(self._same_log(forwarded.place), CallOptions(timeout=forwarded.seconds))
            left = forwarded.seconds - (self._environment.now() - begun)
            if isinstance(forwarded.command.request, ReadBarrier):
                await self._in_time(self._barrier(for_peer=True), CallOptions(timeout=left))
                return DecidedReply(Reply(BarrierPassed(), self.follower.position.token))
            command = replace(forwarded.command, log_topics=self._log_topics)
            return DecidedReply(await self._queue.submit(command, left, forwarded))
        except NotLeaderError as moved:
            return NotLeaderReply(moved.address)
        except SequenceExceededError:
            return SequenceExceededReply()
        except RegistryError as error:
            self.counts.count(error)
            return RefusedReply(error, self.follower.position.token)
        except Exception as fault:
            logger.exception("a command that another node forwarded could not be decided")
            return FailedReply(type(fault).__name__)

    async def _same_log(self, place: PositionToken) -> None:
        """Wait for a position that another node has seen; raises `Unavailable` if it is not in this log."""
        try:
            await self._reach(place)
        except Invalid:
            message = "the node that was asked to decide has another log, or another history of it; see --advertise"
            raise Unavailable(message, READ_ONLY_SECONDS) from None

    async def _in_time(self, work: Awaitable[T], call: CallOptions) -> T:
        """Run a read within the time-out of a call; errors of the log become `Unavailable`."""
        try:
            async with asyncio.timeout(call.timeout):
                return await work
        except LogUnavailableError as error:
            raise Unavailable(f"the log is unreachable: {error}; {self.follower.standing}") from None
        except LogDamagedError as error:
            raise Unavailable(error.reason, READ_ONLY_SECONDS) from None
        except TimeoutError:
            reason = (
                f" ({self.follower.unreachable_reason}; {self.follower.standing})"
                if self.follower.unreachable_reason
                else ""
            )
            message = f"no answer within {call.timeout} seconds{reason}; nothing was written"
            raise Unavailable(message, self._schemas.queue.retry_after) from None

    async def _query(self, command: Command[Request[A]], call: CallOptions) -> Reply[A]:
        """Answer from memory if the consistency allows; otherwise, and before "not found", after a look."""
        if call.after is not None:
            await self._reach(call.after)
        consistency = call.consistency
        fresh = (
            consistency in FRESH or (not consistency and needs_read_barrier(command.request)) or not self.follower.done
        )
        fresh = fresh or self._tables.damaged or not self.follower.proven
        if consistency == "strict" and not self._log.linearizable:
            await self._barrier()
        elif fresh:
            await self.follower.catch_up()
        if call.after is not None:
            await self._reach(call.after)  # the look may have shown another history
        reason = explain_unfinished_restore(self._tables)
        if reason:
            raise Unavailable(reason, READ_ONLY_SECONDS)
        before = self._changes.count
        result = await self._decide_query(command, call.client)
        if isinstance(result, NotFound) and not fresh and not consistency:
            await self.follower.catch_up()
            if call.after is not None:
                await self._reach(call.after)
            if self._changes.count != before:
                result = await self._decide_query(command, call.client)
        if isinstance(result, Reply):
            result = await self._wait_for_news(command, call, result)
        if isinstance(result, Refusal):
            raise result
        return result

    async def _wait_for_news(
        self, command: Command[Request[A]], call: CallOptions, reply: Reply[A]
    ) -> Reply[A] | Refusal:
        """Decide a query that waits for a later state again at each change, for as long as its caller waits."""
        waits = OPERATIONS[type(command.request)].waits
        if waits is None:
            return reply
        now, result = self._environment.now, reply
        seconds = min(waits(command.request, reply.answer), LONG_POLL_SECONDS, call.timeout / 2)
        end = now() + seconds
        while waits(command.request, result.answer) > 0 and now() < end:
            if self.follower.position.token == result.token:
                await self._changes.wait(end - now())
            decided = await self._decide_query(command, call.client)
            if isinstance(decided, Refusal):
                return decided
            result = decided
        return result

    async def _barrier(self, *, for_peer: bool = False) -> None:
        """Wait for an accepted append that was sent after this call, which a deposed leader of the log cannot accept.
        `for_peer`: for another node.
        """
        if self._queue.read_only:
            raise Unavailable(
                f"this node is read-only and can prove nothing: {self._queue.read_only}", READ_ONLY_SECONDS
            )
        await self._queue.barriers.wait(for_peer=for_peer)

    async def _decide_query(self, command: Command[Request[A]], client: str = "") -> Reply[A] | Refusal:
        """Decide a query on the current tables; return the answer with its position token."""
        session = self._schemas.open_session(client or command.principal)
        while True:
            result: Reply[A] | Refusal | OpenQuestions
            if is_pausing(command.request):
                result = await self._long_queries.answer(command, session)
            else:
                result = await self._decide_once(command, session)
            if not isinstance(result, OpenQuestions):
                return result
            self.counts.parked += 1
            await self._schemas.answer_questions(session, result.questions)

    async def _decide_once(
        self, command: Command[Request[A]], session: SchemaSession
    ) -> Reply[A] | Refusal | OpenQuestions:
        """Decide a query; one about large texts on a thread, while the tables do not change."""
        try:
            with InEventLoop():
                result = self._decide(self._tables, command, session)
            token = self.follower.position.token
        except LargeTextError:
            async with self.follower.pause():
                work = partial(self._decide, self._tables, command, answered_engine(session))
                result, token = await self._environment.run_large(work), self.follower.position.token
        return Reply(result.answer, token) if isinstance(result, Decision) else result

    # ---------------------------------------------------------------------------------------------------- tokens

    async def _reach(self, token: PositionToken) -> None:
        """Wait until the tables show the position of a token; refuse tokens of other logs or histories."""
        if self._has_reached(token):
            return
        await self.follower.catch_up()
        if not self._shows(token):
            waited = asyncio.timeout(TOKEN_SECONDS)
            try:
                async with waited:
                    while not self._shows(token):
                        await self._log.wait(self.follower.position, TOKEN_SECONDS)
                        await self.follower.catch_up()
            except TimeoutError:
                if not waited.expired():
                    raise
                position = self.follower.position
                if position.sequence == 0 and not self._log.linearizable:  # an old leader may show an empty log
                    await self._barrier()
                    if self._shows(token):
                        return
                    position = self.follower.position
                if position.sequence == 0:  # a log begun anew never gets there
                    raise refuse_token(token, position) from None
                message = f"the token says sequence {token.sequence}, the log ends at {position.sequence}"
                raise Unavailable(message) from None

    def _has_reached(self, token: PositionToken) -> bool:
        """Return whether the tables are at or after the position of a token; if not, a look may help."""
        try:
            return token.sequence == 0 or (bool(self.follower.done) and self._shows(token))  # a first look proves it
        except Invalid:
            return False  # the log may have been put back or replaced since the last look

    def _shows(self, token: PositionToken) -> bool:
        position = self.follower.position
        digest = self.follower.remembers(token.sequence)
        if position.sequence == 0 or (token.sequence > position.sequence and token.identity == position.token.identity):
            return False
        if token.identity != position.token.identity or (digest is not None and digest.hex() != token.digest):
            raise refuse_token(token, position)
        return True

    # ---------------------------------------------------------------------------------------------------- showing

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call `callback` whenever commits have been applied, before any request is answered from them."""
        self.follower.on_change(callback)

    @property
    def halted(self) -> str:
        """Why this node does not write now; empty if it does."""
        return self._queue.read_only or self._queue.write_failure

    async def leader(self) -> Leader | None:
        """Return the node that decides changes, as far as this one knows; None where all nodes are alike, or the log is unreachable."""
        try:
            return await self._log.leader()
        except (LogUnavailableError, LogDamagedError):
            return None

    def status(self) -> Status:
        """Return the status of this node and its log."""
        position, follower = self.follower.position, self.follower
        looked = -1.0 if follower.caught_up_at is None else round(self._environment.now() - follower.caught_up_at, 3)
        written = None if self._state_files is None else self._state_files.written
        rows = [f"{table} {list(key)}: {why}" for (table, key), why in _list_shown(self._tables.quarantine)]
        return Status(
            log=self._log.url,
            kind=self._log.url.partition(":")[0],
            identity=position.token.identity,
            sequence=position.sequence,
            digest=position.digest.hex(),
            state_root=as_root(self._tables.roots).hex(),
            root_stated="" if follower.wrong is None else follower.wrong.tip.root.hex(),
            root_found="" if follower.wrong is None else follower.wrong.rows_root.hex(),
            first_sequence=follower.first_sequence,
            behind=max(0, follower.tip.sequence - position.sequence),
            looked=looked,
            queue=self._queue.waiting,
            read_only=self._queue.read_only,
            refusing=self._queue.write_failure,
            trouble=follower.unreachable_reason,
            quarantined=len(self._tables.quarantine),
            quarantine=tuple(rows),
            foreign_records=self._log.foreign_records,
            sealed_with=self._cipher.list_missing(self._tables),
            state_file_age=None if written is None else round(max(0, self._environment.wall() - written) / 1000, 1),
            kept=StoredCounts.of(self._tables),
            counts=self.counts,
        )


def _list_shown(quarantine: Any) -> list[Any]:
    return list(quarantine.items())[:QUARANTINE_SHOWN]

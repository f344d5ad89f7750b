"""Long queries: queries that may read very many rows, answered one at a time, in slices, on frozen tables, each after a pause as long as the one
before took, and cached until the next commit; and the changes that queries wait for.
"""

import asyncio
import gc
from collections import Counter, OrderedDict
from functools import partial
from typing import Any

from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision, OpenQuestions, finish_work
from treaty.core.decide import decide_with_pauses
from treaty.core.limits import LIST_ENTRIES_KEPT
from treaty.core.messages.listings import ListSubjects, Subjects
from treaty.core.messages.request import Request
from treaty.core.refusals import Refusal
from treaty.core.registry import Reply
from treaty.core.schema import InEventLoop, LargeTextError
from treaty.core.state.view import View
from treaty.node.encryption import MetadataCipher, decrypt_view
from treaty.node.environment import Environment
from treaty.node.follower import Follower
from treaty.node.schema_service import SchemaSession, answered_engine

SLICE_SECONDS = 0.002
"""Seconds of work between two pauses."""
ENTRIES_OF_LIST = 10
"""Weight of a cached list in names, besides its own: an empty list takes memory too."""

AnswerKey = tuple[Request[Any], Access | None]
"""The key of a cached list: the request, and the rights of the caller."""


class LongQueries:
    """Answers queries of operations that pause.

    The tables are frozen from the first slice to the last, so that an answer is that of one position. One query runs at
    a time, and the next starts after a pause as long as it took: meanwhile nothing is read from the log, and other
    requests get half of the time. Requests that wait for the same answer share one. Lists of names are cached per request
    and rights, up to `LIST_ENTRIES_KEPT`.
    """

    def __init__(self, follower: Follower, environment: Environment, cipher: MetadataCipher) -> None:
        """Start with an empty cache."""
        self._follower = follower
        self._environment = environment
        self._cipher = cipher
        self._kept: OrderedDict[AnswerKey, Subjects] = OrderedDict()
        self._entries = 0
        self._waiting: Counter[AnswerKey] = Counter()
        """How many wait for each answer."""
        self._awaited: dict[AnswerKey, tuple[Reply[Any], float]] = {}
        """Answers of the present position for which others wait, and the seconds that each took."""
        self._turn = asyncio.Lock()
        self._rest_until = 0.0
        follower.on_change(self._forget)

    def _forget(self) -> None:
        self._kept.clear()
        self._awaited.clear()
        self._entries = 0

    async def answer(
        self, command: Command[Request[Any]], session: SchemaSession
    ) -> Reply[Any] | Refusal | OpenQuestions:
        """Decide a query on the tables at its turn."""
        key = (command.request, command.access)
        cached_answer = self._kept.get(key)
        if cached_answer is not None:  # it is that of the present position: a commit forgets it
            self._kept.move_to_end(key)
            return Reply(cached_answer, self._follower.position.token)
        self._waiting[key] += 1
        try:
            async with self._turn:
                if key not in self._kept:
                    await self._rest()
                async with self._follower.pause():
                    reply = self._share(key) or await self._make(key, command, session)
        finally:
            self._waiting[key] -= 1
            if not self._waiting[key]:
                del self._waiting[key]
                self._awaited.pop(key, None)
        await self._environment.sleep(0)  # what is done with a long answer is another turn
        return reply

    def _share(self, key: AnswerKey) -> Reply[Any] | None:
        """Return the answer that was made for others too, if there is one. Printing it takes time, so a pause follows as after making it."""
        if key not in self._awaited:
            return None
        reply, took = self._awaited[key]
        if key not in self._kept:
            self._plan_rest(self._environment.now() - took)
        return reply

    async def _make(
        self, key: AnswerKey, command: Command[Request[Any]], session: SchemaSession
    ) -> Reply[Any] | Refusal | OpenQuestions:
        """Decide a query, and keep its answer for those who wait for the same one."""
        began, token = self._environment.now(), self._follower.position.token
        try:
            result = await self._decide(decrypt_view(self._cipher, self._follower.tables), command, session)
        finally:
            self._plan_rest(began)
        if not isinstance(result, Decision):
            return result
        if isinstance(result.answer, Subjects):
            self._keep(key, result.answer)
        reply = Reply(result.answer, token)
        if self._waiting[key] > 1:
            self._awaited[key] = reply, self._environment.now() - began
        return reply

    async def _rest(self) -> None:
        """Wait as long as the previous query took."""
        left = self._rest_until - self._environment.now()
        if left > 0:
            await self._environment.sleep(left)

    def _plan_rest(self, began: float) -> None:
        """Make the next query wait, except after a query of one slice."""
        now = self._environment.now()
        took = now - began
        self._rest_until = now + took if took > SLICE_SECONDS else 0.0

    async def _decide(
        self, view: View, command: Command[Request[Any]], session: SchemaSession
    ) -> Decision[Any] | Refusal | OpenQuestions:
        now = self._environment.now
        work, end = decide_with_pauses(view, command, session), now() + SLICE_SECONDS
        while True:
            try:
                with InEventLoop():
                    next(work)
            except LargeTextError:
                again = decide_with_pauses(view, command, answered_engine(session))
                return await self._environment.run_large(partial(finish_work, again))
            except StopIteration as ended:
                result: Decision[Any] | Refusal | OpenQuestions = ended.value
                return result
            if now() > end:
                # Rows are forgotten as fast as others are decoded, so Python does not notice how many are young.
                gc.collect(0)
                await self._environment.sleep(0)
                end = now() + SLICE_SECONDS

    def _keep(self, key: AnswerKey, answer: Subjects) -> None:
        size = _count_entries(key, answer)
        if size > LIST_ENTRIES_KEPT or key in self._kept:
            return
        self._kept[key] = answer
        self._entries += size
        while self._entries > LIST_ENTRIES_KEPT:
            self._entries -= _count_entries(*self._kept.popitem(last=False))


def _count_entries(key: AnswerKey, answer: Subjects) -> int:
    """Return the weight of a cached list: its names, and the characters of its request, which a client chooses."""
    request = key[0]
    assert isinstance(request, ListSubjects)
    characters = sum(map(len, request.prefix)) + len(request.after or "")
    return ENTRIES_OF_LIST + len(answer.names) + characters


class TableChanges:
    """The changes of a node's tables, for queries that wait for a later state."""

    def __init__(self, follower: Follower) -> None:
        """Hear of all changes of the tables of a follower."""
        self._waiting: set[asyncio.Future[None]] = set()
        self.count = 0
        """How many changes there were: while it stays the same, a query decided again has the same answer."""
        follower.on_change(self._wake)

    def _wake(self) -> None:
        self.count += 1
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self, seconds: float) -> None:
        """Return at the next change, or after that many seconds."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await asyncio.wait([future], timeout=seconds)
        finally:
            self._waiting.discard(future)

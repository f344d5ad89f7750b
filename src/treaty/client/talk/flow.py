"""One request to a registry as a conversation over HTTP, without any I/O: who is asked, and when again.

`ask` is a generator: it yields what to do (`steps`), receives what came of it and returns the reply; the drivers `sync`
and `aio` only move bytes. Retries of a command carry one command id, so that the registry runs it once.
"""

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from treaty.client.settings import Settings
from treaty.client.steps import Lost, Pause, Talk
from treaty.client.talk.attempt import AttemptResult, asked_pause, hopeless, may_be_done, read_reply, send_request
from treaty.client.talk.world import World
from treaty.core.operations import is_command, is_idempotent, needs_read_barrier
from treaty.core.refusals import Invalid, NotOffered, OutcomeUnknown, Refusal, RegistryError, Unavailable
from treaty.core.registry import Call, Reply
from treaty.core.requests import Request
from treaty.wire.confluent.headers import POSITION
from treaty.wire.confluent.receiving import Received, read_error
from treaty.wire.native import is_native

A = TypeVar("A")


def ask(request: Request[A], call: Call, settings: Settings, world: World) -> Talk[Reply[A]]:
    """Return the reply to a request; raises what a `Registry` raises."""
    carried = _carried(request, call, settings, world)
    try:
        reply = yield from _tried(_Attempts(request, carried, settings, world, world.clock() + call.timeout))
    except Invalid as refusal:
        if carried == call or refusal.reason.rule != "TOKEN":
            raise
        world.written = None  # the log is another one now: restored, or begun anew
        reply = yield from _tried(_Attempts(request, call, settings, world, world.clock() + call.timeout))
    if is_command(request):
        world.wrote(reply.token)
    return reply


def _carried(request: Request[Any], call: Call, settings: Settings, world: World) -> Call:
    """Let a read carry the place of the client's last write.

    Schemas by id and guid go without: they never change, and a node looks before it says "not found".
    """
    if world.written is None or call.after is not None or not settings.own_writes or is_command(request):
        return call
    if not needs_read_barrier(request) and call.consistency != "eventual":
        return call
    return replace(call, after=world.written)


@dataclass(slots=True)
class _Attempts(Generic[A]):
    """Where one request stands after the attempts so far."""

    request: Request[A]
    call: Call
    settings: Settings
    world: World
    deadline: float
    failure: Unavailable | None = None
    maybe: bool = False
    """It may have been carried out."""
    waits: bool = False
    """It may wait somewhere still, and be carried out after others have refused it."""
    over: bool = False
    """Nothing more is to be tried."""
    later: bool = False
    """Somebody may answer later."""

    def judged(self, node: int, result: AttemptResult) -> Reply[A] | None:
        """Take in what came back from a node: a reply, a refusal (raised), or None where it was neither."""
        nodes, now, event = self.world.nodes, self.world.clock(), result.event
        try:
            reply = read_reply(self.request, result, self.settings.urls[node])
        except OutcomeUnknown:
            self.maybe = self.later = True
        except NotOffered as error:
            self.failure = self.failure or error
        except Unavailable as error:
            self.maybe, self.failure = self.maybe or may_be_done(event), error
            self.waits |= isinstance(event, Lost) and event.waits and is_command(self.request)
            self.over, self.later = hopeless(event), True
            if not self.over:
                nodes.failed(node, now, asked_pause(event))
            if isinstance(event, Lost) and not event.left:
                nodes.lacks_native_api(node, now)  # it may come back as a newer version
        except Refusal as refused:
            nodes.worked(node)
            if not self.waits and (not self.maybe or is_idempotent(self.request) or _remembers(event)):
                raise
            self.over = True
            if self.waits:
                self.failure = Unavailable(f"nobody answered in time, and what was asked again was refused: {refused}")
        else:
            nodes.worked(node)
            self.world.kin = bool(reply.token.identity) or (
                isinstance(event, Received) and bool(event.header(POSITION))
            )
            return reply
        return None

    @property
    def under_way(self) -> bool:
        """Whether it may be carried out yet, beside what the next attempt comes to."""
        return (self.waits or self.maybe) and is_command(self.request)

    def given_up(self) -> RegistryError:
        """What to raise when nothing came of it."""
        failure = self.failure or Unavailable(f"no answer within {self.call.timeout} s")
        if not self.maybe or not is_command(self.request):
            return failure
        unknown = OutcomeUnknown(self.call.command_id)
        unknown.__cause__ = failure
        return unknown


def _tried(attempts: _Attempts[A]) -> Talk[Reply[A]]:
    """Try one node after the other until one of them answers or refuses."""
    settings, world = attempts.settings, attempts.world
    for turn in range(settings.rounds):
        if turn:
            pause = min(settings.pause * 2.0 ** (turn - 1), settings.longest_pause) * (0.5 + world.chance() / 2)
            yield Pause(max(0.0, min(pause, attempts.deadline - world.clock())))
        for node in world.nodes.turn(turn, world.clock()):
            if not (yield from _waited(attempts, node)):
                continue
            left = min(attempts.deadline - world.clock(), settings.attempt_timeout)
            try:
                call = replace(attempts.call, again=True) if attempts.under_way else attempts.call
                result = yield from send_request(attempts.request, call, settings, world, (node, left))
            except NotOffered as error:  # Confluent's API has no such request
                attempts.failure = attempts.failure or error
                continue
            except Unavailable as error:  # nobody can say now who is asking
                attempts.failure = attempts.failure or error
                raise attempts.given_up() from error
            reply = attempts.judged(node, result)
            if reply is not None:
                return reply
            if attempts.over:
                raise attempts.given_up()
        if not attempts.later:
            break
    raise attempts.given_up()


def _waited(attempts: _Attempts[Any], node: int) -> Talk[bool]:
    """Leave a node alone as long as it asked for; False where there is not as much time."""
    now = attempts.world.clock()
    left, wait = attempts.deadline - now, attempts.world.nodes.wait(node, now)
    if wait < left:
        if wait:
            yield Pause(wait)
        return True
    if wait:
        message = f"{attempts.settings.urls[node]} asks to be left alone for {wait:.1f} s more"
        attempts.failure = attempts.failure or Unavailable(message, wait)
    return False


def _remembers(event: Received | Lost) -> bool:
    """Tell whether the registry knows command ids, so that its refusal is about this command's first arrival."""
    if isinstance(event, Lost):
        return False
    told = read_error(event.body)
    return event.header(POSITION) is not None or (told is not None and told.treaty is not None) or is_native(event)

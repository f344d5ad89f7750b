"""One request is sent to the nodes of a registry, and again after an error, with pauses between rounds, until the time-out; sans I/O.

`ask_nodes` is a generator. It yields effects (`effects`), receives their results and returns the reply; `HttpRegistry`
and `AsyncHttpRegistry` execute the effects. Retries of a command have the same command id, so that the registry
executes it once.
"""

from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from treaty.client.effects import Conversation, NoResponse, WaitSeconds
from treaty.client.protocol.attempt import AttemptResult, read_reply, send_request
from treaty.client.protocol.client_state import ClientState
from treaty.client.protocol.delivery import NoResponseError, asked_pause, is_hopeless, may_be_done
from treaty.client.settings import ClientSettings
from treaty.core.messages.request import Request
from treaty.core.operations import is_command, is_idempotent, needs_read_barrier
from treaty.core.refusals import Invalid, NotOffered, OutcomeUnknown, Refusal, RegistryError, Unavailable
from treaty.core.registry import CallOptions, Reply
from treaty.wire.confluent.headers import POSITION
from treaty.wire.confluent.http_responses import read_error
from treaty.wire.http_response import HttpResponse
from treaty.wire.native import is_native

A = TypeVar("A")


def ask_nodes(
    request: Request[A], call: CallOptions, settings: ClientSettings, state: ClientState
) -> Conversation[Reply[A]]:
    """Return the reply to a request; raises the errors of `Registry`."""
    carried = _add_position(request, call, settings, state)
    try:
        reply = yield from _try_nodes(_Attempts(request, carried, settings, state, state.clock() + call.timeout))
    except Invalid as refusal:
        if carried == call or refusal.reason.rule != "TOKEN":
            raise
        state.last_write = None  # the log is another one now: restored, or a new one
        reply = yield from _try_nodes(_Attempts(request, call, settings, state, state.clock() + call.timeout))
    if is_command(request):
        state.note_write(reply.token)
    return reply


def _add_position(
    request: Request[Any], call: CallOptions, settings: ClientSettings, state: ClientState
) -> CallOptions:
    """Add the position of the client's last write to a read. Schemas by id and guid need none: they never change, and a
    node reads the end of the log before it answers "not found".
    """
    if state.last_write is None or call.after is not None or not settings.read_your_writes or is_command(request):
        return call
    if not needs_read_barrier(request) and call.consistency != "eventual":
        return call
    return replace(call, after=state.last_write)


@dataclass(slots=True)
class _Attempts(Generic[A]):
    """The state of one request after the attempts so far."""

    request: Request[A]
    call: CallOptions
    settings: ClientSettings
    state: ClientState
    deadline: float
    failure: Unavailable | None = None
    may_be_done: bool = False
    """A node may have executed it."""
    may_be_waiting: bool = False
    """A node may still have it queued, and execute it after another one has refused it."""
    is_over: bool = False
    """No further attempt can help."""
    is_later_useful: bool = False
    """A node may answer in a later round."""

    def read_result(self, node: int, result: AttemptResult) -> Reply[A] | None:
        """Return the reply in a result, or raise its refusal; None if it has neither."""
        nodes, now, event = self.state.nodes, self.state.clock(), result.event
        try:
            reply = read_reply(self.request, result, self.settings.urls[node])
        except OutcomeUnknown:
            self.may_be_done = self.is_later_useful = True
        except NotOffered as error:
            self.failure = self.failure or error
        except Unavailable as error:
            self.may_be_done, self.failure = self.may_be_done or may_be_done(event), error
            self.may_be_waiting |= isinstance(event, NoResponse) and event.timed_out and is_command(self.request)
            self.is_over, self.is_later_useful = is_hopeless(event), True
            if not self.is_over:
                nodes.note_failure(node, now, asked_pause(event))
            if isinstance(event, NoResponse) and not event.was_sent:
                nodes.note_native_api_missing(node, now)  # it may come back as a newer version
        except Refusal as refused:
            nodes.note_success(node)
            if not self.may_be_waiting and (
                not self.may_be_done or is_idempotent(self.request) or _knows_command_ids(event)
            ):
                raise
            self.is_over = True
            if self.may_be_waiting:
                self.failure = Unavailable(f"no node answered in time, and the retry was refused: {refused}")
        else:
            nodes.note_success(node)
            self.state.is_treaty = bool(reply.token.identity) or (
                isinstance(event, HttpResponse) and bool(event.header(POSITION))
            )
            return reply
        return None

    @property
    def is_under_way(self) -> bool:
        """Whether an earlier attempt may still be executed."""
        return (self.may_be_waiting or self.may_be_done) and is_command(self.request)

    def final_error(self) -> RegistryError:
        """Return the error for a request without a reply."""
        failure = self.failure or NoResponseError(f"no answer within {self.call.timeout} s")
        if not self.may_be_done or not is_command(self.request):
            return failure
        unknown = OutcomeUnknown(self.call.command_id)
        unknown.__cause__ = failure
        return unknown


def _try_nodes(attempts: _Attempts[A]) -> Conversation[Reply[A]]:
    """Try one node after the other until one of them answers or refuses."""
    settings, state = attempts.settings, attempts.state
    for turn in range(settings.rounds):
        if turn:
            pause = min(settings.pause * 2.0 ** (turn - 1), settings.max_pause) * (0.5 + state.chance() / 2)
            yield WaitSeconds(max(0.0, min(pause, attempts.deadline - state.clock())))
        for node in state.nodes.order_nodes(turn, state.clock()):
            if not (yield from _wait_for_node(attempts, node)):
                continue
            left = min(attempts.deadline - state.clock(), settings.attempt_timeout)
            try:
                call = replace(attempts.call, again=True) if attempts.is_under_way else attempts.call
                result = yield from send_request(attempts.request, call, settings, state, (node, left))
            except NotOffered as error:  # Confluent's API has no such request
                attempts.failure = attempts.failure or error
                continue
            except Unavailable as error:  # there is no token now
                attempts.failure = attempts.failure or error
                raise attempts.final_error() from error
            reply = attempts.read_result(node, result)
            if reply is not None:
                return reply
            if attempts.is_over:
                raise attempts.final_error()
        if not attempts.is_later_useful:
            break
    raise attempts.final_error()


def _wait_for_node(attempts: _Attempts[Any], node: int) -> Conversation[bool]:
    """Wait for the ``Retry-After`` of a node; return False if less time is left."""
    now = attempts.state.clock()
    left, wait = attempts.deadline - now, attempts.state.nodes.requested_wait(node, now)
    if wait < left:
        if wait:
            yield WaitSeconds(wait)
        return True
    if wait:
        message = f"{attempts.settings.urls[node]} asks for a pause of {wait:.1f} s (Retry-After)"
        attempts.failure = attempts.failure or Unavailable(message, wait)
    return False


def _knows_command_ids(event: HttpResponse | NoResponse) -> bool:
    """Return whether the registry supports command ids, so that its refusal is that of the first attempt."""
    if isinstance(event, NoResponse):
        return False
    body = read_error(event.body)
    return event.header(POSITION) is not None or (body is not None and body.treaty is not None) or is_native(event)

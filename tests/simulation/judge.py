"""The judge: knows what was durable when a request came and when it was answered, and whether the answer is right."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.simulation.history import TRUTH, Broken, History, of_the_log
from treaty.core.command import Command, Decision, Needs
from treaty.core.commit import Append
from treaty.core.decide import decide, is_command, looks
from treaty.core.refusals import Invalid, NotFound, OutcomeUnknown, Refusal, Unavailable
from treaty.core.registry import Call, Reply
from treaty.core.requests import Request


@dataclass(slots=True, eq=False)
class Asked:
    """One request at one node. `since` is the last sequence that was durable when it came."""

    request: Request[Any]
    call: Call
    since: int
    time: int
    state: str = "open"
    """open, told, refused, unavailable (nothing was left), unknown, lost (the node died)."""


class Judge:
    """Sees every request, every answer and every append."""

    def __init__(self, history: History, sent: set[str]) -> None:
        self.history = history
        self.sent = sent
        self.asked: dict[str, list[Asked]] = {}
        self.counts: Counter[str] = Counter()
        self.calm = False
        """From now on nothing fails, so everything has to be answered."""

    def arrives(self, request: Request[Any], call: Call, time: int) -> Asked:
        one = Asked(request, call, self.history.tip, time)
        known = self.history.requests.setdefault(call.command_id, [])
        if request not in known:
            known.append(request)
        self.asked.setdefault(call.command_id, []).append(one)
        return one

    def lands(self, append: Append) -> None:
        """Somebody must be waiting for what lands, or have been told that it may."""
        for commit in append.commits:
            states = {one.state for one in self.asked.get(commit.command_id, ())}
            if commit.rows and not of_the_log(commit) and not states & {"open", "unknown", "lost"}:
                told = sorted(states)
                raise Broken("2", f"command {commit.command_id} lands at {commit.sequence} after it was {told}")
        self.history.take(append)

    # ---------------------------------------------------------------------------------------------------- answers

    def told(self, one: Asked, reply: Reply[Any]) -> None:
        """Check an answer."""
        one.state = "told"
        self.counts["answers"] += 1
        token = reply.token
        end = self.history.ends.get(token.sequence)
        if end is None or end.token != token:
            raise Broken("3", f"{token} is no place where an append ended; {one.request}")
        if one.call.after is not None and token.sequence < one.call.after.sequence:
            raise Broken("3", f"asked for {one.call.after.sequence}, answered from {token.sequence}")
        if is_command(one.request):
            self._written(one, reply)
        else:
            self._read(one, reply)

    def _written(self, one: Asked, reply: Reply[Any]) -> None:
        landed = self.history.landed.get(one.call.command_id)
        if landed is not None and one.request != self.history.done[one.call.command_id]:
            # In one chain an answer that writes nothing may come before the other's commit, under the token of its end.
            if one.since >= landed:
                raise Broken("2", f"{one.request} was told {reply}, under an id that was another request's")
        elif landed is not None:
            same = reply.answer == self.history.answers[one.call.command_id]
            if same and reply.token.sequence >= landed:
                self.counts["written"] += 1
                return
        if not self._justified(one, Decision((), reply.answer), one.since):
            where = "is not durable" if landed is None else f"stands at {landed}"
            raise Broken("1", f"{one.request} was told {reply}, but {where}, and no state since {one.since} says so")
        self.counts["no-ops"] += 1

    def _read(self, one: Asked, reply: Reply[Any]) -> None:
        fresh = one.call.consistency == "latest" or (not one.call.consistency and looks(one.request))
        if fresh and reply.token.sequence < one.since:
            raise Broken("3", f"{one.request} was answered from {reply.token.sequence}; {one.since} was durable before")
        state = self.history.states[reply.token.sequence]
        verdict = decide(state, self._command(one), TRUTH)
        if not isinstance(verdict, Decision) or verdict.answer != reply.answer:
            raise Broken("3", f"{one.request} at {reply.token.sequence} is {verdict}, told {reply.answer}")
        self.counts["reads"] += 1

    def refused(self, one: Asked, refusal: Refusal) -> None:
        """Check a refusal: some state between the question and the answer must say so."""
        one.state = "refused"
        self.counts["refusals"] += 1
        if isinstance(refusal, Invalid) and refusal.reason.rule == "TOKEN":
            after = one.call.after
            end = self.history.ends.get(after.sequence) if after else None
            if after is None or (end is not None and end.token == after):
                raise Broken("3", f"the good token {after} was refused")
            return
        memory = one.call.consistency == "eventual" or not (isinstance(refusal, NotFound) or looks(one.request))
        since = 0 if memory and not is_command(one.request) else one.since
        if not self._justified(one, refusal, since):
            raise Broken("1", f"{one.request} was refused ({refusal!r}), but no state since {since} says so")

    def unavailable(self, one: Asked, error: Unavailable) -> None:
        """Nothing was left; that nothing lands later is checked when something lands."""
        one.state = "unavailable"
        self.counts["unavailable"] += 1
        beyond = one.call.after is not None and one.call.after.sequence > self.history.tip
        if self.calm and not beyond:
            raise Broken("6", f"{one.request} got no answer although all was well: {error}")
        landed = self.history.landed.get(one.call.command_id)
        if landed is not None and landed > one.since and len(self.asked[one.call.command_id]) == 1:
            raise Broken("2", f"{one.request} was told that nothing was left, and stands at {landed}")

    def unknown(self, one: Asked, error: OutcomeUnknown) -> None:
        """Only what was sent can be open."""
        one.state = "unknown"
        self.counts["told unknown"] += 1
        if self.calm:
            raise Broken("6", f"{one.request} stayed open although all was well")
        if one.call.command_id not in self.sent:
            raise Broken("2", f"{one.request} was told that it is open, and was never sent")

    def lost(self, one: Asked) -> None:
        """The node died before it answered."""
        one.state = "lost"

    def _command(self, one: Asked) -> Command[Any]:
        return Command(one.request, one.call.command_id, one.time, one.call.principal)

    def _justified(self, one: Asked, told: Decision[Any] | Refusal, since: int) -> bool:
        command = self._command(one)
        return any(
            _same(decide(self.history.states[place], command, TRUTH), told)
            for place in range(self.history.tip, since - 1, -1)
        )


def _same(verdict: Decision[Any] | Refusal | Needs, told: Decision[Any] | Refusal) -> bool:
    if isinstance(told, Decision):
        return isinstance(verdict, Decision) and not verdict.rows and bool(verdict.answer == told.answer)
    return isinstance(verdict, Refusal) and type(verdict) is type(told) and verdict.reason == told.reason

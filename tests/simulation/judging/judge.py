"""The judge: knows what was durable when a request came and when it was answered, and whether the answer is right."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from tests.simulation.history import History, name_in_commit
from tests.simulation.judging.broken import Broken
from tests.simulation.judging.doorway import from_memory, hears_too_much, signed, told_answers
from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.deciding import decide, has_to_look, is_command, same_answer, same_verdict
from tests.simulation.judging.model.events import Name
from tests.simulation.judging.model.metastore import planning
from tests.simulation.judging.model.metastore.state import dropped
from tests.simulation.judging.model.past import Past
from treaty.core import limits
from treaty.core.messages.metastore.scripts import PreviewScript, RunScript
from treaty.core.messages.metastore.sources import ListDropped, UndropSource
from treaty.core.messages.names import GetPin
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Scope
from treaty.core.messages.versions import GetVersion
from treaty.core.refusals import Forbidden, Invalid, NotFound, OutcomeUnknown, Refusal, Unavailable
from treaty.core.registry import CallOptions, Reply
from treaty.core.state.commit import Append, Commit, Position
from treaty.core.state.log_origin import explain_unfinished_restore

OF_THEIR_TIME = (UndropSource, ListDropped, RunScript, PreviewScript)
"""Requests whose answer or refusal depends on the time at which they are decided, by clocks that differ: early or late."""
LATE = 1 << 60


@dataclass(slots=True, eq=False)
class Asked:
    """One request at one node. `since` is the moment at which it came."""

    request: Request[Any]
    call: CallOptions
    since: int
    time: int
    kept: bool = False
    """Whether the answer was one that the server had kept."""
    state: str = "open"
    """open, told, refused, unavailable (nothing was left), unknown, lost (the node died)."""

    @property
    def asking(self) -> Asking:
        """The request as the rules see it."""
        return Asking(self.request, self.call.command_id, self.time, self.call.principal, self.call.access)


class Judge:
    """Sees every request, every answer and every append."""

    def __init__(self, history: History, sent: set[str]) -> None:
        self.history = history
        self.sent = sent
        self.asked: dict[Name, list[Asked]] = {}
        self.counts: Counter[str] = Counter()
        self.stale_looks = False
        """Whether an old leader of the log may answer looks, as it was a while ago."""
        self.calm = False
        """From now on nothing fails, so everything has to be answered."""

    def arrives(self, request: Request[Any], call: CallOptions, time: int) -> Asked:
        one = Asked(signed(request, call), call, self.history.now, time)
        asking = one.asking
        known = self.history.commands.setdefault(asking.name, [])
        if all(replace(each, time=time) != asking for each in known):
            known.append(asking)
        self.asked.setdefault(asking.name, []).append(one)
        return one

    def lands(self, append: Append) -> None:
        """Somebody must be waiting for what lands, or have been told that it may."""
        for commit in append.commits:
            name = name_in_commit(commit)
            states = {one.state for one in self.asked.get(name, ())}
            again = name in self.history.lost  # the log was put back after it had landed
            if commit.rows and commit.command_id and not again and not states & {"open", "unknown", "lost"}:
                told = sorted(states)
                raise Broken("2", f"command {commit.command_id} lands at {commit.sequence} after it was {told}")
        self.history.take(append)
        self.counts["writes with rights"] += sum(self._had_rights(commit) for commit in append.commits)

    def _had_rights(self, commit: Commit) -> bool:
        asked = self.asked.get(name_in_commit(commit), ())
        return bool(commit.rows) and any(one.call.access is not None for one in asked)

    # ---------------------------------------------------------------------------------------------------- answers

    def told(self, one: Asked, reply: Reply[Any]) -> None:
        """Check an answer."""
        one.state = "told"
        self.counts["answers"] += 1
        place = self.history.tokens.get(reply.token)
        if place is None:
            raise Broken("3", f"{reply.token} is no place where an append ended; {one.request}")
        self._follows(one, place)
        state = self.history.states[self.history.places[place]]
        if explain_unfinished_restore(state):
            raise Broken("log", f"{one.request} was answered from {place.sequence}, where the log is not whole")
        if not self.history.judged:
            return
        if is_command(one.request):
            self._written(one, reply, place)
        else:
            self._read(one, reply, place)

    def told_kept(self, one: Asked, reply: Reply[Any], here: Position) -> None:
        """Check an answer that a server had kept: it is of the place that its node shows, and the node would give it now."""
        if reply.token != here.token:
            raise Broken("3", f"{one.request} got an answer kept at {reply.token}; the node shows {here.token}")
        one.kept = True
        self.counts["kept answers"] += 1
        self.told(one, reply)

    def _follows(self, one: Asked, place: Position) -> None:
        """What a request asked to be after, its answer is after."""
        wanted = one.call.after
        if wanted is None or not wanted.sequence:
            return
        known = self.history.tokens.get(wanted)
        if known is None:
            raise Broken("3", f"asked for {wanted}, which never was, and answered from {place.token}")
        meanwhile = self.history.left.get(known, -1) > one.since  # the node may have seen it before it was lost
        if place.sequence and wanted.identity != place.token.identity and not meanwhile:
            raise Broken("3", f"asked for {wanted} of another log, answered from {place.token}")
        if known in self.history.left and known != place:
            self.counts["lost tokens taken"] += 1  # a node knows only what it has read, and may not have looked again
        elif place.sequence < wanted.sequence:
            raise Broken("3", f"asked for {wanted}, answered from {place.token}")

    def _written(self, one: Asked, reply: Reply[Any], place: Position) -> None:
        name = one.asking.name
        landed = self.history.landed.get(name)
        if any(same_answer(mine, reply.answer) for mine in self.history.lost.get(name, ())):
            self.counts["written and lost"] += 1
            return
        if landed is not None and one.request not in self.history.done[name]:
            # In one chain an answer that writes nothing may come before the other's commit, under the token of its end.
            if one.since >= landed and name in self.history.pasts[-1].outcomes:
                raise Broken("2", f"{one.request} was told {reply}, under an id that was another request's")
        elif landed is not None:
            same = same_answer(self.history.answers[name], reply.answer)
            if same and self.history.places[place] >= landed:
                self.counts["written"] += 1
                return
        if not self._justified(one, reply.answer, self._oldest(one)):
            where = "is not durable" if landed is None else f"stands at {landed}"
            raise Broken("1", f"{one.request} was told {reply}, but {where}, and no state since {one.since} says so")
        self.counts["no-ops"] += 1

    def _read(self, one: Asked, reply: Reply[Any], place: Position) -> None:
        moment = self.history.places[place]
        if not one.kept and has_to_look(one.request, one.call.consistency) and moment < self._oldest(one):
            raise Broken("3", f"{one.request} was answered from moment {moment}; {one.since} was durable before")
        past = self.history.pasts[moment]
        verdicts = [decide(past, replace(one.asking, time=time)) for time in _times(past, one.asking)]
        mine = (
            each
            for verdict in verdicts
            if isinstance(verdict, Yes)
            for each in told_answers(verdict.answer, one.asking, reversed(self.history.pasts))
        )
        if not any(same_answer(each, reply.answer) for each in mine):
            raise Broken("3", f"{one.request} at {reply.token.sequence} is {verdicts[0]}, told {reply.answer}")
        self.counts["reads"] += 1
        self.counts["strict reads"] += one.call.consistency == "strict"
        self.counts["reads with rights"] += one.call.access is not None
        self.counts["outcomes of others"] += isinstance(one.request, GetOutcome) and one.request.principal is not None
        self.counts["aliases followed"] += _is_alias(past, one.request)

    def refused(self, one: Asked, refusal: Refusal) -> None:
        """Check a refusal: some state between the question and the answer must say so."""
        one.state = "refused"
        self.counts["refusals"] += 1
        if isinstance(refusal, Invalid) and refusal.reason.rule == "TOKEN":
            after = one.call.after
            if after is None or self.history.tokens.get(after) in self.history.path:
                raise Broken("3", f"the good token {after} was refused")
            return
        if not self.history.judged:
            return
        looked = has_to_look(one.request, one.call.consistency) or isinstance(refusal, NotFound)
        looked = is_command(one.request) or (looked and one.call.consistency != "eventual")
        since = self._oldest(one) if looked and not from_memory(one.asking, refusal) else 0
        self.counts["refusals of rights"] += isinstance(refusal, Forbidden)
        if hears_too_much(self.history.pasts[-1], one.asking, refusal):
            raise Broken("rights", f"{one.call.principal} hears of what they may not read: {refusal.reason}")
        if refusal.reason.rule == "COMMAND_ID_USED" and self._fits_several(one):
            return
        if not self._justified(one, refusal, since):
            verdict = decide(self.history.pasts[-1], one.asking)
            raise Broken(
                "1",
                f"{one.request} was refused ({refusal!r} {refusal.reason}), but no state since {since} says so: {verdict}",
            )

    def _fits_several(self, one: Asked) -> bool:
        """Whether the commit under the request's id may be of another request too: the model can't tell which it is of."""
        kept = self.history.pasts[-1].outcomes.get(one.asking.name)
        return kept is not None and len(kept.requests) > 1

    def _oldest(self, one: Asked) -> int:
        """The first moment that an answer may be of. Where an old leader may answer, only a strict read is safe from it."""
        strict = one.call.consistency == "strict" and not is_command(one.request)
        return 0 if self.stale_looks and not strict else one.since

    def unavailable(self, one: Asked, error: Unavailable) -> None:
        """Nothing was left; that nothing lands later is checked when something lands."""
        one.state = "unavailable"
        self.counts["unavailable"] += 1
        beyond = one.call.after is not None and one.call.after.sequence > self.history.tip.sequence
        if self.calm and not beyond:
            raise Broken("6", f"{one.request} got no answer although all was well: {error}")
        landed = self.history.landed.get(one.asking.name)
        if landed is not None and landed > one.since and len(self.asked[one.asking.name]) == 1:
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

    def _justified(self, one: Asked, told: object, since: int) -> bool:
        """Whether some moment from `since` on says this, and nothing is written."""
        asking = one.asking
        return any(
            same_verdict(decide(self.history.pasts[moment], replace(asking, time=time)), told)
            for moment in range(self.history.now, since - 1, -1)
            for time in _times(self.history.pasts[moment], asking)
        )


def _times(past: Past, asking: Asking) -> Iterable[int]:
    """When a request may have been decided: of what expires, before each end and after it."""
    if not isinstance(asking.request, OF_THEIR_TIME):
        return planning.times_of(past, asking)
    ends = {gone.time + limits.DROP_GRACE for gone in dropped(past).values()}
    return (0, *sorted({*ends, *(end + 1 for end in ends)}), LATE)


def _is_alias(past: Past, request: Request[Any]) -> bool:
    """Whether a read names a subject that stands for another one; for the counts."""
    if not isinstance(request, GetVersion | GetPin) or (isinstance(request, GetVersion) and request.exact):
        return False
    config = past.configs.get(Scope(*request.subject))
    return config is not None and bool(config.alias)

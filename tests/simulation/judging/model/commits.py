"""Commits held against the model: the rows of each are what its request comes to after the past, no more and no less."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.simulation.judging.broken import Broken
from tests.simulation.judging.model.asking import Asking
from tests.simulation.judging.model.deciding import decide
from tests.simulation.judging.model.events import (
    Alike,
    Answered,
    Event,
    Name,
    OutcomeDropped,
    OutcomeSettled,
    VersionMade,
)
from tests.simulation.judging.model.facts import Place, fact, places
from tests.simulation.judging.model.outcomes import fits_row, too_old
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from treaty.core import limits
from treaty.core.messages.request import Request
from treaty.core.schema import Pairs
from treaty.core.state import values
from treaty.core.state.commit import Commit
from treaty.core.state.rows import Row


def name_in(row: Row) -> Name | None:
    """The name of the command that the row of an outcome is of; None for all other rows."""
    if row.table != "outcome":
        return None
    *principal, command_id = map(str, row.key)
    return ("".join(principal), command_id)


class Digests:
    """Digests whose recipe the model does not know: equal for what is equal, and for nothing else."""

    def __init__(self) -> None:
        self._requests: dict[str, Request[Any]] = {}
        self._of_requests: dict[Request[Any], str] = {}
        self._likeness: dict[Alike, str] = {}
        self._alike: dict[str, Alike] = {}

    def check_likeness(self, alike: Alike, digest: str) -> str:
        """Return what is wrong with the digest by which a look-up finds a schema; empty where nothing is."""
        if self._likeness.setdefault(alike, digest) != digest:
            return f"schemas that are alike have the digests {self._likeness[alike]} and {digest}"
        if self._alike.setdefault(digest, alike) != alike:
            return f"schemas that are not alike have the same digest {digest}"
        return ""

    def check_identity(self, normal: Alike | None, digest: str) -> str:
        """Return what is wrong with the digest of a version's normal form, which those of some subjects alone have."""
        if normal is None:
            return f"its subject compares no normal forms, and it has the digest {digest}" if digest else ""
        return self.check_likeness(normal, digest)

    def fits_request(self, request: Request[Any], members: Pairs) -> bool:
        """Whether the digest in an outcome's row may be that of a request."""
        digest = dict(members).get("request", "")
        return self._requests.get(digest, request) == request and self._of_requests.get(request, digest) == digest

    def learn_request(self, request: Request[Any], members: Pairs) -> None:
        """Remember that a digest is that of a request."""
        digest = dict(members).get("request", "")
        self._requests[digest], self._of_requests[request] = request, digest


def take_commit(
    past: Past, asked: Sequence[Asking], commit: Commit, rows: tuple[Row, ...], digests: Digests
) -> tuple[Past, Answered]:
    """Hold a commit against the requests that were sent under its id, and keep those that it fits. Raises `Broken`."""
    fitting: list[tuple[Past, Answered]] = []
    broken: list[Broken] = []
    for asking in asked:
        try:
            fitting.append(_take(past, replace(asking, time=commit.time), commit, rows, digests))
        except Broken as one:
            broken.append(one)
    if not fitting:
        raise broken[0] if len(broken) == 1 else Broken(broken[-1].law, "; or ".join(map(str, broken)))
    later, answered = fitting[0]
    requests = tuple(dict.fromkeys(request for _, other in fitting for request in other.requests))
    if len(requests) == 1:
        digests.learn_request(requests[0], answered.members)
        return later, answered
    kept = replace(answered, requests=requests)
    news = (kept if one == answered else one for one in later.events[len(past.events) :])
    return past.then(news, commit.sequence), kept


def _take(past: Past, asking: Asking, commit: Commit, rows: tuple[Row, ...], digests: Digests) -> tuple[Past, Answered]:
    """Hold a commit against the model; return the past with it, and what the model says. Raises `Broken`."""
    told = decide(past, asking)
    if isinstance(told, No):
        raise Broken("5", f"{asking.request} became the commit {commit.sequence}; the model refuses it: {told!r}")
    if told.repeated:
        raise Broken("2", f"{asking.request} became the commit {commit.sequence}, and was decided before")
    mine = next((row.value for row in rows if row.value is not None and name_in(row) == asking.name), None)
    members = mine.members if isinstance(mine, values.Outcome) else ()
    kept = Answered(asking.name, commit.sequence, (asking.request,), told.answer, members, told.private)
    events = _answer_settled(past, told.events, commit, rows)
    settled = [event.name for event in events if isinstance(event, Answered)]
    dropped = [OutcomeDropped(name) for name in _dropped(past, commit, rows, asking.name, settled)]
    after = past.then((*events, kept, *dropped), commit.sequence)
    _check_rows(past, after, events, commit, rows, digests)
    if not isinstance(mine, values.Outcome) or not fits_row(kept, mine):
        raise Broken("2", f"the commit at {commit.sequence} remembers {mine} of {asking.request}, not {told.answer}")
    if not digests.fits_request(asking.request, members):
        raise Broken("2", f"the commit at {commit.sequence} remembers {mine}, the digest of another request")
    return after, kept


def _answer_settled(past: Past, events: tuple[Event, ...], commit: Commit, rows: tuple[Row, ...]) -> tuple[Event, ...]:
    """The events with new answers of earlier commands, as the rows have them; what is too old to be remembered stays so."""
    found: list[Event] = [one for one in events if not isinstance(one, OutcomeSettled)]
    for event in {one.name: one for one in events if isinstance(one, OutcomeSettled)}.values():
        kept = past.outcomes.get(event.name)
        if kept is None or kept.sequence <= commit.sequence - limits.OUTCOMES:
            continue
        row = next((row.value for row in rows if row.value is not None and name_in(row) == event.name), None)
        if not isinstance(row, values.Outcome) or not fits_row(replace(kept, answer=event.answer), row):
            raise Broken("2", f"the commit at {commit.sequence} settles {event.name} by {row}, not {event.answer}")
        found.append(replace(kept, answer=event.answer, members=row.members))
    return tuple(found)


def _check_rows(
    past: Past, after: Past, events: tuple[Event, ...], commit: Commit, rows: tuple[Row, ...], digests: Digests
) -> None:
    said: dict[Place, object] = {(row.table, row.key): row.value for row in rows if row.table != "outcome"}
    made = next((one for one in events if isinstance(one, VersionMade)), None)
    for place, row in said.items():
        wanted, value = fact(after, place), row
        if isinstance(row, values.Schema):
            value = replace(row, lookup_digest="")
        if isinstance(row, values.Version):
            value = replace(row, identity="")
        if value != wanted:
            law = "4" if place[0] in {"counter", "schema"} or _other_id(value, wanted) else "5"
            raise Broken(
                law, f"the commit at {commit.sequence} says that {place} is {value}; it is {wanted} by {events}"
            )
    for place in places(past, events):
        if place not in said and fact(past, place) != fact(after, place):
            law = "4" if place[0] in {"counter", "schema"} and made is not None else "5"
            raise Broken(law, f"the commit at {commit.sequence} does not say that {place} is now {fact(after, place)}")
    for place, row in said.items():
        if isinstance(row, values.Schema):
            alike = next(one.alike for one in after.versions if (one.context, one.schema_id) == place[1])
            wrong = digests.check_likeness(alike, row.lookup_digest)
            if wrong:
                raise Broken("5", f"the commit at {commit.sequence} has {place}: {wrong}")
        if isinstance(row, values.Version):
            normal = next(
                one.normal
                for one in after.versions
                if one.version.schema_id == row.schema_id and (*one.subject, one.generation, one.ordinal) == place[1]
            )
            wrong = digests.check_identity(normal, row.identity)
            if wrong:
                raise Broken("5", f"the commit at {commit.sequence} has {place}: {wrong}")


def _other_id(value: object, wanted: object) -> bool:
    pair = (value, wanted)
    return all(isinstance(one, values.Version) for one in pair) and len({one.schema_id for one in pair}) > 1  # type: ignore[attr-defined]


def _dropped(past: Past, commit: Commit, rows: tuple[Row, ...], mine: Name, settled: list[Name]) -> list[Name]:
    """The outcomes that go: just those that are too old now."""
    wanted = [one for one in too_old(past, commit.sequence) if one not in {mine, *settled}]
    named = [(name_in(row), row.value) for row in rows if row.table == "outcome"]
    gone = sorted(name for name, value in named if name is not None and value is None)
    if gone != sorted(wanted):
        raise Broken("2", f"the commit at {commit.sequence} forgets {gone}; {wanted} are too old")
    kept = [name for name, value in named if value is not None]
    if len(kept) != len({*kept}) or {*kept} != {mine, *settled}:
        raise Broken("2", f"the commit at {commit.sequence} remembers {kept}, and is of {mine}")
    return gone

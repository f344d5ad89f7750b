"""Outcomes: what is remembered of a command, so that asking twice does nothing twice."""

import hashlib
import json
from collections.abc import Callable, Hashable
from dataclasses import fields, replace
from functools import cache, partial
from typing import Any, cast

from treaty.core import answers
from treaty.core.associating import AssociationResult, AssociationResults, Bound, Refused, ResourceBound
from treaty.core.codec import decode, dumps, encode
from treaty.core.command import Command, Decision
from treaty.core.law.versions import found
from treaty.core.limits import HANDED_WITHIN, OUTCOMES
from treaty.core.names import subject_of
from treaty.core.refusals import Invalid
from treaty.core.rows import Key, Row
from treaty.core.schema import Pairs
from treaty.core.values import Outcome, Schema, Version
from treaty.core.view import View

_KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        answers.Deleted,
        answers.ConfigStored,
        answers.ModeStored,
        answers.VersionFound,
        answers.ContextMade,
        ResourceBound,
        AssociationResults,
    )
}

_SCALARS = frozenset({str, int, bool, float, type(None)})


def remember(view: View, command: Command[Any], decision: Decision[Any]) -> Decision[Any]:
    """Add the rows of the command's outcome to a decision that writes; the oldest one falls out.

    One that changes nothing is remembered where the command may be under way elsewhere: there it may change something later.
    An empty commit takes no outcome along. There are at most HANDED_WITHIN of them in a row, so the one that stayed falls
    out that many commits later.
    """
    if not decision.rows and not command.again:
        return decision
    sequence = view.sequence + 1
    kind, facts = _members(decision.answer)
    members = tuple(sorted((*facts, ("request", request_digest(command.request)))))
    old = [
        key
        for late in (0, HANDED_WITHIN, 2 * HANDED_WITHIN)
        for key in view.find("outcome.sequence", (sequence - OUTCOMES - late,))
    ]
    rows = (
        *decision.rows,
        Row("outcome", (command.command_id,), Outcome(sequence, kind, members)),
        *(Row("outcome", key, None) for key in old if key != (command.command_id,)),
    )
    return Decision(rows, decision.answer)


def _members(answer: Any) -> tuple[str, Pairs]:
    if not isinstance(answer, answers.Registered):
        return type(answer).__name__, (("answer", dumps(encode(_told(answer, _bare)))),)
    version = answer.version
    facts = {
        "subject": version.subject,
        "ordinal": str(version.ordinal),
        "number": str(version.number),
        "id": str(version.schema_id),
        "guid": version.guid,
        **({} if answer.created else {"created": "no"}),
    }
    return "Registered", tuple(sorted(facts.items()))


def request_digest(request: object) -> str:
    """Return a digest of what a command asks for, by which another request under the same id is found out."""
    return hashlib.sha256(dumps(_plain(request)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _plain(value: Any) -> Any:
    """The JSON form of a request, without members at their default, so that a later version's new ones do not count."""
    kind: Any = type(value)
    if kind in _SCALARS:
        return value
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    kept = {name: member for name, default in _shape(kind) if (member := getattr(value, name)) != default}
    return [kind.__name__, {name: _plain(member) for name, member in kept.items()}]


@cache
def _shape(kind: Hashable) -> tuple[tuple[str, Any], ...]:
    return tuple((one.name, one.default) for one in fields(cast("Any", kind)))


def recall(view: View, command: Command[Any], outcome: Outcome) -> Any:
    """Return the answer that a command got, from its outcome.

    A registration is told with its schema where that is still there, else with its ids alone. Raises `Invalid` where
    the id was another request's.
    """
    members = dict(outcome.members)
    if members.get("request", "") not in {"", request_digest(command.request)}:
        raise Invalid.of(
            "COMMAND_ID_USED",
            f"The command id {command.command_id} was used for another request",
            path="Treaty-Command",
            old=f"the request that was decided at sequence {outcome.sequence}",
            new=type(command.request).__name__,
            allowed="a new id for every command; the same one only to repeat it",
        )
    if outcome.kind != "Registered":
        answer, _ = decode(_KINDS[outcome.kind], json.loads(members["answer"]), ignore=True)
        return _told(answer, partial(_found, view))
    return answers.Registered(_version(view, members), created="created" not in members)


def _version(view: View, members: dict[str, str]) -> answers.VersionFound:
    return _found(
        view,
        answers.VersionFound(
            subject=members["subject"],
            number=int(members["number"]),
            ordinal=int(members["ordinal"]),
            schema_id=int(members["id"]),
            guid=members["guid"],
            format="",
            text="",
        ),
    )


def _found(view: View, bare: answers.VersionFound) -> answers.VersionFound:
    """Fill in what is not remembered of a version; itself where its schema is gone."""
    key: Key = (*subject_of(bare.subject), bare.ordinal)
    value = view.get("version", key)
    if isinstance(value, Version) and isinstance(view.get("schema", (key[0], value.schema_id)), Schema):
        return replace(found(view, (key, value)), deleted=False)  # as it was told then, whatever came after
    return bare


def _bare(one: answers.VersionFound) -> answers.VersionFound:
    """What is remembered of a version: its names, and no text."""
    return answers.VersionFound(one.subject, one.number, one.ordinal, one.schema_id, one.guid, format="", text="")


def _told(answer: Any, change: Callable[[answers.VersionFound], answers.VersionFound]) -> Any:
    """Change the versions inside an answer about associations. Of a refusal the facts count, not all that was found."""
    if isinstance(answer, AssociationResults):
        return AssociationResults(tuple(_result(one, change) for one in answer.results))
    if not isinstance(answer, ResourceBound):
        return answer
    return replace(answer, bound=tuple(_bound(one, change) for one in answer.bound))


def _result(
    one: AssociationResult, change: Callable[[answers.VersionFound], answers.VersionFound]
) -> AssociationResult:
    if one.refused is None:
        return AssociationResult(_told(one.done, change))
    reason = replace(one.refused.reason, details=())
    return AssociationResult(refused=Refused(one.refused.kind, reason))


def _bound(one: Bound, change: Callable[[answers.VersionFound], answers.VersionFound]) -> Bound:
    return one if one.schema is None else replace(one, schema=change(one.schema))

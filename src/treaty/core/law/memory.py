"""Outcomes: what is remembered of a command, so that asking twice does nothing twice."""

import json
from dataclasses import replace
from typing import Any

from treaty.core import answers
from treaty.core.codec import decode, dumps, encode
from treaty.core.command import Command, Decision
from treaty.core.law.versions import found
from treaty.core.limits import OUTCOMES
from treaty.core.names import subject_of
from treaty.core.rows import Key, Row
from treaty.core.schema import Pairs
from treaty.core.values import Outcome, Schema, Version
from treaty.core.view import View

_KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (answers.Deleted, answers.ConfigStored, answers.ModeStored, answers.VersionFound)
}


def remember(view: View, command: Command[Any], decision: Decision[Any]) -> Decision[Any]:
    """Add the rows of the command's outcome to a decision that writes; the oldest one falls out."""
    if not decision.rows:
        return decision
    sequence = view.sequence + 1
    kind, members = _members(decision.answer)
    old = view.find("outcome.sequence", (sequence - OUTCOMES,))
    rows = (
        *decision.rows,
        Row("outcome", (command.command_id,), Outcome(sequence, kind, members)),
        *(Row("outcome", key, None) for key in old if key != (command.command_id,)),
    )
    return Decision(rows, decision.answer)


def _members(answer: Any) -> tuple[str, Pairs]:
    if not isinstance(answer, answers.Registered):
        return type(answer).__name__, (("answer", dumps(encode(answer))),)
    version = answer.version
    facts = {
        "subject": version.subject,
        "ordinal": str(version.ordinal),
        "number": str(version.number),
        "id": str(version.schema_id),
        "guid": version.guid,
    }
    return "Registered", tuple(sorted(facts.items()))


def recall(view: View, outcome: Outcome) -> Any:
    """Return the answer that a command got, from its outcome.

    A registration is told with its schema where that is still there, else with its ids alone.
    """
    members = dict(outcome.members)
    if outcome.kind != "Registered":
        answer, _ = decode(_KINDS[outcome.kind], json.loads(members["answer"]), ignore=True)
        return answer
    return answers.Registered(_version(view, members), created=True)


def _version(view: View, members: dict[str, str]) -> answers.VersionFound:
    key: Key = (*subject_of(members["subject"]), int(members["ordinal"]))
    value = view.get("version", key)
    if isinstance(value, Version) and isinstance(view.get("schema", (key[0], value.schema_id)), Schema):
        return replace(found(view, (key, value)), deleted=False)  # as it was told then, whatever came after
    return answers.VersionFound(
        subject=members["subject"],
        number=int(members["number"]),
        ordinal=int(members["ordinal"]),
        schema_id=int(members["id"]),
        guid=members["guid"],
        format="",
        text="",
    )

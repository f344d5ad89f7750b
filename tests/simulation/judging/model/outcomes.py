"""What is remembered of commands: the answer, for whoever sends the same command again."""

import json
from dataclasses import replace
from typing import Any

from tests.simulation.judging.model.asking import Asking, Yes, name_of
from tests.simulation.judging.model.associating import Entries, Entry
from tests.simulation.judging.model.events import Answered, Name
from tests.simulation.judging.model.metastore.comparing import as_compared
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No, tag_of
from tests.simulation.judging.model.seeing import hears_of_private
from tests.simulation.judging.model.selecting import describe
from treaty.core import limits
from treaty.core.messages import associations as t
from treaty.core.messages import schemaver as s
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.plans import PlanOutcome
from treaty.core.messages.metastore.scripts import ScriptDone
from treaty.core.messages.outcomes import GetOutcome
from treaty.core.messages.registration import RegisteredVersion
from treaty.core.messages.versions import DeletedVersions, VersionFound
from treaty.core.names import subject_of
from treaty.core.refusals import Invalid, NotFound
from treaty.core.state.codec import decode, dumps, encode
from treaty.core.state.values import Outcome


def recall(past: Past, asking: Asking) -> Yes:
    """The answer that the command got; a version as it stands now, where it is still there, else its names alone."""
    kept = past.outcomes[asking.name]
    if asking.request not in kept.requests:
        raise No(Invalid, "COMMAND_ID_USED", new=tag_of(type(asking.request)))
    return Yes((), _again(past, kept.answer, asking.name), repeated=True)


def _again(past: Past, answer: Any, name: Name) -> Any:
    if isinstance(answer, RegisteredVersion):
        return replace(answer, version=_version_again(past, answer.version, name), warnings=())
    if isinstance(answer, s.PublishedVersion):
        version = _version_again(past, answer.schema.version, name)
        return replace(answer, schema=replace(answer.schema, version=version))
    if isinstance(answer, VersionFound):
        return replace(_version_again(past, answer, name), deleted=answer.deleted, warnings=answer.warnings)
    if isinstance(answer, t.ResourceBound):
        return _bound_again(past, answer, name)
    if isinstance(answer, Entries):
        results = (one if one.done is None else Entry(_bound_again(past, one.done, name)) for one in answer.results)
        return Entries(tuple(results))
    return answer


def _bound_again(past: Past, answer: t.ResourceBound, name: Name) -> t.ResourceBound:
    bound = (
        one if one.schema is None else replace(one, schema=_version_again(past, one.schema, name))
        for one in answer.bound
    )
    return replace(answer, bound=tuple(bound))


def _version_again(past: Past, told: VersionFound, name: Name) -> VersionFound:
    """A subject that was deleted for good and made again gives the same ordinals to other versions."""
    for one in past.of(subject_of(told.subject)):
        if one.ordinal == told.ordinal:
            found = replace(describe(one, names=True), deleted=False)
            same = (found.number, found.schema_id, found.guid) == (told.number, told.schema_id, told.guid)
            return found if same and not past.is_younger(one.subject, name) else bare(told)
    return bare(told)


def bare(told: VersionFound) -> VersionFound:
    """What is kept of a version: its names, and no text."""
    return VersionFound(told.subject, told.number, told.ordinal, told.schema_id, told.guid, format="", text="")


def fits_row(kept: Answered, row: Outcome) -> bool:
    """Whether the row of an outcome says what the command was answered, at the sequence of its commit."""
    answer: Any = kept.answer
    members = dict(row.members)
    members.pop("request", "")
    if (row.sequence, row.private) != (kept.sequence, kept.private):
        return False
    if isinstance(answer, RegisteredVersion):
        version = answer.version
        wanted = {
            "subject": version.subject,
            "ordinal": str(version.ordinal),
            "number": str(version.number),
            "id": str(version.schema_id),
            "guid": version.guid,
        }
        return row.kind == "registered" and members == (wanted if answer.created else {**wanted, "created": "no"})
    told = json.loads(members.get("answer", "null"))
    if isinstance(answer, Entries):
        return row.kind == "association-results" and len(told["results"]) == len(answer.results)
    if isinstance(answer, t.ResourceBound):
        bound = (one if one.schema is None else replace(one, schema=bare(one.schema)) for one in answer.bound)
        answer = replace(answer, bound=tuple(bound))
    if isinstance(answer, VersionFound):
        answer = replace(bare(answer), deleted=answer.deleted, warnings=answer.warnings)
    if isinstance(answer, s.PublishedVersion):
        answer = replace(answer, schema=replace(answer.schema, version=bare(answer.schema.version)), warnings=())
        (told or {}).pop("warnings", None)
    if row.kind == tag_of(type(answer)) and isinstance(
        answer, m.SourcesDropped | m.SourceStored | PlanOutcome | ScriptDone | DeletedVersions
    ):
        return bool(as_compared(decode(type(answer), told)[0]) == as_compared(answer))
    return row.kind == tag_of(type(answer)) and told == json.loads(dumps(encode(answer)))


def too_old(past: Past, sequence: int) -> list[Name]:
    """The commands whose outcomes the commit at a sequence drops: the oldest of those that are too old."""
    old = [one for one in past.outcomes.values() if one.sequence <= sequence - limits.OUTCOMES]
    old.sort(key=lambda one: (one.sequence, one.name))
    return [one.name for one in old[: limits.OUTCOMES_DROPPED]]


def get_outcome(past: Past, asking: Asking, request: GetOutcome) -> Yes:
    principal = asking.principal if request.principal is None else request.principal
    kept = past.outcomes.get(name_of(principal, request.command_id))
    if kept is None:
        raise No(NotFound, "OUTCOME_UNKNOWN", version=request.command_id)
    named = dict(kept.members).get("subject")
    subject = None if named is None else subject_of(named)
    told = hears_of_private(asking.access, subject) if kept.private else past.tells_of(subject)
    return Yes((), kept if told else replace(kept, members=()))

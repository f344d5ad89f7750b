"""Outcomes: stored results of commands, so that a retry has no second effect."""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from treaty.core import operations
from treaty.core.command import Command, Decision
from treaty.core.handlers.versions import describe_version
from treaty.core.limits import OUTCOMES, OUTCOMES_DROPPED
from treaty.core.messages.outcomes import CommandOutcome
from treaty.core.messages.registration import RegisteredVersion
from treaty.core.messages.versions import VersionFound
from treaty.core.names import subject_of
from treaty.core.operations import OPERATIONS, operation_name
from treaty.core.refusals import Conflicting, Invalid
from treaty.core.schema import Pairs, has_large_draft
from treaty.core.state.codec import decode, dumps, dumps_in_steps, encode, encode_message
from treaty.core.state.rows import Row, make_row, make_tombstone
from treaty.core.state.state_tables import (
    LOG_ORIGIN,
    OUTCOME,
    OUTCOME_BY_SEQUENCE,
    SCHEMA,
    SUBJECT,
    VERSION,
    LogOriginKey,
    OutcomeKey,
    SchemaKey,
    VersionKey,
)
from treaty.core.state.values import Outcome, SubjectValue
from treaty.core.state.view import View

if TYPE_CHECKING:
    from treaty.core.messages import associations as t

_VERSION_FOUND = "version-found"
REGISTERED = "registered"
"""The kind of the stored answer of a registration."""


def answer_class(kind: str) -> type[Any] | None:
    """Return the class of a stored answer by its kind; None for one that this version does not know."""
    return VersionFound if kind == _VERSION_FOUND else operations.STORED_ANSWERS.get(kind)


def _kind_of(answer: Any, request: object) -> str:
    """Return the kind of an answer, which most often is that of the request's operation."""
    operation = OPERATIONS.get(type(request))
    if operation is not None and operation.writes and operation.answer is type(answer):
        return operation.answer_name
    if isinstance(answer, VersionFound):
        return _VERSION_FOUND
    return next(kind for kind, answer_type in operations.STORED_ANSWERS.items() if answer_type is type(answer))


def record_outcome(
    view: View, command: Command[Any], decision: Decision[Any], *, private: bool = False
) -> Decision[Any]:
    """Add the outcome of a command to a decision that writes, and delete outcomes older than OUTCOMES commits.

    An outcome without changes is stored if another node may be executing the command. Otherwise a command that changed nothing has
    left nothing, like one that never came, and its repetition is decided again: it takes effect once at most, and its answer is
    true at a moment of its call. Empty commits delete nothing, so
    a commit may find several expired outcomes; it deletes at most OUTCOMES_DROPPED of them, the oldest first. The command
    has none among them: while its outcome is there it is answered from that, and decides nothing. One about a private
    subject says so, because the subject may be gone when somebody asks for it.
    """
    if not decision.rows and not command.again:
        return decision
    sequence = view.sequence + 1
    kind, facts = _members(decision.answer, command.request)
    members = tuple(sorted((*facts, ("request", request_digest(command.request)))))
    rows = (
        *decision.rows,
        *_settled_rows(view, decision, sequence),
        make_row(OUTCOME, command.outcome_key, Outcome(sequence, kind, members, private)),
        *(make_tombstone(OUTCOME, key) for key in _too_old(view, sequence)),
    )
    return Decision(rows, decision.answer)


def _settled_rows(view: View, decision: Decision[Any], sequence: int) -> Iterator[Row]:
    """Return the outcomes of earlier commands with their final answers; those that are too old by now are gone.

    The sequence of the commit and the digest of the request stay: by them a node knows its commands, and a repetition.
    """
    for key, answer in dict(decision.settles).items():
        outcome = view.get(OUTCOME, key)
        if outcome is not None and outcome.sequence > sequence - OUTCOMES:
            kind, facts = _members(answer, None)
            request = (pair for pair in outcome.members if pair[0] == "request")
            yield make_row(OUTCOME, key, replace(outcome, kind=kind, members=tuple(sorted((*facts, *request)))))


def _too_old(view: View, sequence: int) -> Iterator[OutcomeKey]:
    """Return the expired outcomes that a commit at this sequence deletes."""
    entries = view.walk(OUTCOME_BY_SEQUENCE, (), ("", sequence - OUTCOMES + 1))
    return (OutcomeKey(principal, command) for _, _, principal, command in islice(entries, OUTCOMES_DROPPED))


def _members(answer: Any, request: object) -> tuple[str, Pairs]:
    if not isinstance(answer, RegisteredVersion):
        return _kind_of(answer, request), (("answer", dumps(encode(_change_versions(answer, _strip_text)))),)
    version = answer.version
    facts = {
        "subject": version.subject,
        "ordinal": str(version.ordinal),
        "number": str(version.number),
        "id": str(version.schema_id),
        "guid": version.guid,
        **({} if answer.created else {"created": "no"}),
    }
    return REGISTERED, tuple(sorted(facts.items()))


def request_digest(request: object) -> str:
    """Return a digest of a request, by which a different request with the same id is detected."""
    operation = OPERATIONS.get(type(request))
    plain = ["" if operation is None else operation.name, encode_message(request)]
    text = dumps_in_steps(plain) if has_large_draft(request) else dumps(plain)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def recall_answer(view: View, command: Command[Any], outcome: Outcome) -> Any:
    """Return the answer of a command from its outcome.

    A registration is answered with its schema if that still exists, else with its ids only. Raises `Invalid` if the id
    belongs to another request, and `Conflicting` if the answer is unreadable: of a newer version, or encrypted with a
    missing key.
    """
    members = dict(outcome.members)
    if members.get("request", "") not in {"", request_digest(command.request)}:
        raise Invalid.of(
            "COMMAND_ID_USED",
            f"The command id {command.command_id} was used for another request",
            path="Treaty-Command",
            old=f"the request that was decided at sequence {outcome.sequence}",
            new=operation_name(command.request),
            allowed="a new id for every command; the same one only to repeat it",
        )
    try:
        if outcome.kind != REGISTERED:
            kind = answer_class(outcome.kind)
            if kind is None:
                raise KeyError(outcome.kind)
            answer, _ = decode(kind, json.loads(members["answer"]), ignore=True)
            return _change_versions(answer, partial(_complete_version, view, outcome))
        return RegisteredVersion(_version(view, outcome, members), created="created" not in members)
    except (KeyError, ValueError):  # `DecodeError` is one
        raise Conflicting.of(
            "OUTCOME_UNREADABLE",
            f"The command {command.command_id} was done at sequence {outcome.sequence}; its answer of kind "
            f"{outcome.kind[:100]} can't be read by this version of Treaty",
            path="Treaty-Command",
            old=outcome.kind[:100],
            new=operation_name(command.request),
            allowed="ask a node of the version that wrote it; the command is not to be sent under another id",
        ) from None


def read_outcome(outcome: CommandOutcome) -> Any:
    """Return the stored answer of a command that is not a registration; None for one that can't be read."""
    members = dict(outcome.members)
    kind = answer_class(outcome.result)
    if kind is None or "answer" not in members:
        return None
    try:
        return decode(kind, json.loads(members["answer"]), ignore=True)[0]
    except ValueError:  # `DecodeError` is one
        return None


def _version(view: View, outcome: Outcome, members: dict[str, str]) -> VersionFound:
    return _complete_version(
        view,
        outcome,
        VersionFound(
            subject=members["subject"],
            number=int(members["number"]),
            ordinal=int(members["ordinal"]),
            schema_id=int(members["id"]),
            guid=members["guid"],
            format="",
            text="",
        ),
    )


def _complete_version(view: View, outcome: Outcome, bare: VersionFound) -> VersionFound:
    """Complete a stored version from the tables; unchanged if the version is deleted, or another one has its ordinal."""
    subject = subject_of(bare.subject)
    home = view.get(SUBJECT, subject)
    if home is None or _is_younger(view, home, outcome):
        return bare
    key = VersionKey(*subject, home.generation, bare.ordinal)
    value = view.get(VERSION, key)
    if value is None:
        return bare
    if view.get(SCHEMA, SchemaKey(key.context, value.schema_id)) is None:
        return bare
    described = replace(
        describe_version(view, (key, value), names=True), deleted=bare.deleted, warnings=bare.warnings
    )  # as it was told then, whatever came after
    same = (described.number, described.schema_id, described.guid) == (bare.number, bare.schema_id, bare.guid)
    return described if same else bare


def _is_younger(view: View, home: SubjectValue, outcome: Outcome) -> bool:
    """Return whether a subject was created after a command was executed. In a restored log both sequences may be of
    different logs.
    """
    return home.generation > outcome.sequence and view.get(LOG_ORIGIN, LogOriginKey("origin")) is None


def _strip_text(version: VersionFound) -> VersionFound:
    """Return the stored form of a version: its names, without text."""
    return VersionFound(
        version.subject, version.number, version.ordinal, version.schema_id, version.guid, format="", text="", deleted=version.deleted,
        warnings=version.warnings,
    )  # fmt: skip


_VERSIONS_INSIDE = {"treaty.core.messages.associations", "treaty.core.messages.schemaver"}
"""The modules of answers that have versions inside them."""


def _change_versions(answer: Any, change: Callable[[VersionFound], VersionFound]) -> Any:
    """Map the versions in an answer, or in one about associations; of a refusal only the facts are kept."""
    if isinstance(answer, VersionFound):
        return change(answer)
    if type(answer).__module__ not in _VERSIONS_INSIDE:
        return answer
    from treaty.core.messages import associations as t  # noqa: PLC0415 (no part of most programs)
    from treaty.core.messages.schemaver import PublishedVersion  # noqa: PLC0415 (as above)

    if isinstance(answer, PublishedVersion):
        return replace(answer, schema=replace(answer.schema, version=change(answer.schema.version)))
    if isinstance(answer, t.AssociationResults):
        return t.AssociationResults(tuple(_result(result, change) for result in answer.results))
    if not isinstance(answer, t.ResourceBound):
        return answer
    return replace(answer, bound=tuple(_change_bound(tie, change) for tie in answer.bound))


def _result(result: "t.AssociationResult", change: Callable[[VersionFound], VersionFound]) -> "t.AssociationResult":
    from treaty.core.messages import associations as t  # noqa: PLC0415 (as above)

    if result.refused is None:
        return t.AssociationResult(_change_versions(result.done, change))
    reason = replace(result.refused.reason, details=())
    return t.AssociationResult(refused=t.EntryRefusal(result.refused.kind, reason))


def _change_bound(
    association: "t.AssociatedSubject", change: Callable[[VersionFound], VersionFound]
) -> "t.AssociatedSubject":
    return association if association.schema is None else replace(association, schema=change(association.schema))

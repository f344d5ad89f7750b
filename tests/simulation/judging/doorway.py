"""What the door of a server with rights changes: who it sends away, and what it leaves out of answers."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from treaty.core.answers import Contexts, Outcome
from treaty.core.names import subject_of
from treaty.core.refusals import Forbidden, Reason, Referenced, Refusal
from treaty.core.registry import Call
from treaty.core.requests import Register, Request
from treaty.core.rights import Access
from treaty.core.tables import DictTables


def signed(request: Request[Any], call: Call) -> Request[Any]:
    """Return a request as it is meant where there are rights: who forces is who asks."""
    if call.access is not None and isinstance(request, Register) and request.force is not None:
        return replace(request, force=replace(request.force, who=call.principal))
    return request


def refusal_for(access: Access | None, refusal: Refusal) -> Refusal:
    """Return a refusal as somebody hears it: what they may not read is not named as a referrer."""
    if access is None or not isinstance(refusal, Referenced):
        return refusal
    referrer = subject_of(refusal.reason.old.rpartition(" version ")[0])
    return refusal if access.may("read", referrer) else Referenced(_without_old(refusal.reason))


def _without_old(reason: Reason) -> Reason:
    return replace(reason, old="")


def is_from_memory(access: Access | None, refusal: Refusal) -> bool:
    """Tell whether the door may refuse by what the node remembers: it looks for an alias there, and nowhere else."""
    return access is not None and isinstance(refusal, Forbidden)


def answers_for(access: Access | None, answer: Any, states: Iterable[DictTables]) -> list[Any]:
    """Return what somebody may be told for an answer. Contexts are left out by a list of subjects, which is of some state."""
    if access is None or access.sees_all:
        return [answer]
    if isinstance(answer, Outcome):
        subject = dict(answer.members).get("subject")
        hidden = subject is None or not access.may("read", subject_of(subject))
        return [replace(answer, members=()) if hidden else answer]
    if not isinstance(answer, Contexts):
        return [answer]
    return [_contexts(access, answer, state) for state in states]


def _contexts(access: Access, answer: Contexts, state: DictTables) -> Contexts:
    seen = {str(key[0]) for key in state.keys("subject") if access.may("read", subject_of(_name(key)))}
    return Contexts(tuple(one for one in answer.names if one == "." or one in seen or access.may_whole("read", one)))


def _name(key: tuple[object, ...]) -> str:
    context, name = key
    return str(name) if context == "." else f":{context}:{name}"

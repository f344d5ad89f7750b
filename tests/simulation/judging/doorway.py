"""What the door of a server with rights changes: in whose name it asks, who it sends away, and what it leaves out."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from tests.simulation.judging.model.asking import Asking
from tests.simulation.judging.model.events import Answered
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.resources import may, may_whole
from tests.simulation.judging.model.seeing import hidden_from, seen
from treaty.core.messages.associations import (
    Associate,
    AssociationChange,
    AssociationSpec,
    ChangeAssociations,
    ResourceChange,
)
from treaty.core.messages.contexts import Contexts
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.names import subject_of
from treaty.core.refusals import Forbidden, Referenced, Refusal
from treaty.core.registry import CallOptions


def signed(request: Request[Any], call: CallOptions) -> Request[Any]:
    """Return a request as it is meant where there are rights: who forces is who asks."""
    signed_: Request[Any] = request if call.access is None else _signed(request, call.principal)
    return signed_


def _signed(part: Any, who: str) -> Any:
    if isinstance(part, Register) and part.force is not None:
        return replace(part, force=replace(part.force, who=who))
    if isinstance(part, AssociationSpec) and part.schema is not None:
        return replace(part, schema=_signed(part.schema, who))
    if isinstance(part, Associate):
        return replace(part, wishes=tuple(_signed(one, who) for one in part.wishes))
    if isinstance(part, AssociationChange):
        return replace(part, wish=_signed(part.wish, who))
    if isinstance(part, ResourceChange):
        return replace(part, operations=tuple(_signed(one, who) for one in part.operations))
    if isinstance(part, ChangeAssociations):
        return replace(part, changes=tuple(_signed(one, who) for one in part.changes))
    return part


def from_memory(asking: Asking, refusal: Refusal) -> bool:
    """Return whether the door may refuse by what the node remembers: it looks for an alias there, and nowhere else."""
    return asking.access is not None and isinstance(refusal, Forbidden)


def hears_too_much(past: Past, asking: Asking, refusal: Refusal) -> bool:
    """Return whether a refusal names a referrer that who asks may not read."""
    if asking.access is None or not isinstance(refusal, Referenced) or not refusal.reason.old:
        return False
    named = [one.rpartition(" version ")[0] for one in refusal.reason.old.split(", ")]
    hidden = hidden_from(past, asking.access)
    return not all(may(asking.access, "read", *one) and one not in hidden for one in map(subject_of, named))


def told_answers(answer: Any, asking: Asking, pasts: Iterable[Past]) -> Iterator[Any]:
    """Return what somebody may be told for an answer. Contexts are left out by a list of subjects, which is of some past."""
    access = asking.access
    if access is None or may_whole(access, "read", "*"):
        yield answer
    elif isinstance(answer, Answered):
        subject = dict(answer.members).get("subject")
        shown = subject is not None and may(access, "read", *subject_of(subject))
        yield answer if shown else replace(answer, members=())
    elif isinstance(answer, Contexts):
        for past in pasts:
            there = {one.context for one in seen(past, access).versions if one.state != "hidden"}
            shown_names = (one for one in answer.names if one == "." or one in there or may_whole(access, "read", one))
            yield Contexts(tuple(shown_names))
    else:
        yield answer

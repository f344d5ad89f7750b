"""Aliases: a subject that stands for another one, one hop far."""

from dataclasses import replace
from typing import Any, cast

from tests.simulation.judging.model.asking import Asking
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.resources import may
from tests.simulation.judging.model.rights import EVERY
from treaty.core.messages import associations as t
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Scope
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Forbidden


def named_subject(request: Request[Any]) -> Subject | None:
    """The subject that a request names, if it may be an alias."""
    if isinstance(request, t.ListAssociations):
        return request.of.subject if isinstance(request.of, t.OfSubject) else None
    subject: Subject | None = None if getattr(request, "exact", False) else cast("Any", request).subject
    return subject


def follow_alias(past: Past, asking: Asking) -> Request[Any]:
    """The request as it is meant. An alias gives nobody a right to what it stands for."""
    request, named = asking.request, named_subject(asking.request)
    if named is None or not named.name or named.context == "*":
        return request
    config = past.configs.get(Scope(*named))
    if config is None or not config.alias:
        return request
    target = subject_of(config.alias, named.context)
    if asking.access is not None and not any(may(asking.access, permission, *target) for permission in EVERY):
        raise No(Forbidden, "RIGHTS", subject=str(named))
    if isinstance(request, t.ListAssociations):
        return replace(request, of=t.OfSubject(target))
    return replace(cast("Register", request), subject=target)  # whatever it is, it has a subject

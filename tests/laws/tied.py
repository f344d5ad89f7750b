"""Two topics and wishes for them, for the laws about associations."""

from typing import Any

from tests.laws.begun import begun
from tests.laws.toy import OTHER, Bench, S, toy
from treaty.core.messages import associations as t
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.names import Subject
from treaty.core.refusals import Refusal

TOPIC = t.Resource("orders", "lkc", "id-1")
NEXT = t.Resource("payments", "lkc", "id-2")


def schema(*names: str, **members: Any) -> Register:
    return Register(S, toy(*(names or ("a?",)), **members))


def weak(subject: Subject = S, kind: str = "value", **members: Any) -> t.AssociationSpec:
    return t.AssociationSpec(kind, subject, "WEAK", **members)


def strong(subject: Subject = S, kind: str = "value", **members: Any) -> t.AssociationSpec:
    return t.AssociationSpec(kind, subject, "STRONG", **members)


def made() -> Bench:
    """Two subjects with one version each, in a registry in which others have been at work."""
    bench = begun()
    bench.do(Register(S, toy("a?")))
    bench.do(Register(OTHER, toy("b?")))
    return bench


def refused(bench: Bench, request: Request[Any]) -> Refusal:
    verdict = bench.verdict(request, "another")
    assert isinstance(verdict, Refusal), verdict
    return verdict


def listed(bench: Bench, resource: t.Resource = TOPIC) -> list[tuple[str, str, str]]:
    associations = bench.do(t.ListAssociations(t.OfId(resource.id))).associations
    return [(association.kind, association.subject, association.lifecycle) for association in associations]


def batch(*changes: t.ResourceChange) -> t.ChangeAssociations:
    return t.ChangeAssociations(changes)


def step(op: t.Op, wish: t.AssociationSpec, *, cascade: bool = False) -> t.AssociationChange:
    return t.AssociationChange(op, wish, cascade)

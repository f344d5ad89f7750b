"""Parting: associations are forgotten, and subjects that belong to a resource may go with them."""

from treaty.core.answers import Deleted
from treaty.core.associations import Dissociate
from treaty.core.command import Command, Decision
from treaty.core.law.associations import Tied, frozen, not_found, of_resource
from treaty.core.law.deletion import whole_subject
from treaty.core.law.settings import refuse_if_readonly
from treaty.core.law.stage import Stage
from treaty.core.law.uses import Going, refuse_if_used
from treaty.core.law.versions import kept
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Forbidden
from treaty.core.requests import Scope
from treaty.core.resource import TOPIC
from treaty.core.rights import Access, Permission
from treaty.core.rows import make_tombstone
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state_tables import ASSOCIATION, VERSION
from treaty.core.view import View


def dissociate(view: View, command: Command[Dissociate], engine: SchemaEngine) -> Decision[Deleted]:
    """Forget associations of a resource."""
    request = command.request
    stage = Stage(view, command, engine, "dissociate")
    part(stage, request.resource_id, request.type, request.kinds, cascade=request.cascade)
    return Decision(() if request.dry_run else stage.rows, Deleted(()))


def part(stage: Stage, resource_id: str, type_: str, kinds: tuple[str, ...], *, cascade: bool) -> None:
    """Put the rows on stage that forget associations. What may not be read is as if it were not there."""
    access = stage.command.access
    ties = [
        one
        for one in of_resource(stage.view, resource_id)
        if one[1].type == (type_ or TOPIC)
        and (not kinds or one[1].kind in kinds)
        and (access is None or access.may("read", subject_of(one[1].subject)))
    ]
    if not ties:
        raise not_found(resource_id)
    for one in ties:
        if one[1].frozen and not cascade:
            raise frozen(one[1])
    going = frozenset(subject_of(one[1].subject) for one in ties if cascade and one[1].lifecycle == "STRONG")
    for one in ties:
        _refuse_unfit(stage, one, going)
    stage.put(make_tombstone(ASSOCIATION, key) for key, _ in ties)
    for subject in sorted(going):
        stage.put(whole_subject(stage.view, subject))


def _refuse_unfit(stage: Stage, one: Tied, going: frozenset[Subject]) -> None:
    subject = subject_of(one[1].subject)
    _refuse_unless_allowed(stage, subject, "register")
    if subject in going:
        _refuse_unless_allowed(stage, subject, "delete")
        for key, _ in kept(stage.view, subject):
            refuse_if_used(stage.view, VERSION, key, Going(subjects=going))
    refuse_if_readonly(stage.view, Scope(*subject))


def _refuse_unless_allowed(stage: Stage, subject: Subject, permission: Permission) -> None:
    """Which subjects a resource has is part of the state, so it can't be asked before."""
    access: Access | None = stage.command.access
    if access is not None and not access.may(permission, subject):
        raise Forbidden.of(
            "RIGHTS",
            f"{stage.command.principal} is not allowed to do this: it needs the permission {permission} on subject "
            f"'{subject}'",
            subject=str(subject),
            new=stage.operation,
            allowed=f"a rule that gives {permission}",
        )

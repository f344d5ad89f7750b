"""Who refers to a version."""

from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Referenced


def referring_versions(past: Past, target: VersionNow, states: tuple[str, ...]) -> list[VersionNow]:
    """The versions in these states whose schema has a reference to this version: subject, number and schema it meant."""
    return [
        one
        for one in past.versions
        if one.state in states
        and any(
            used.version == target.number
            and used.schema_id == target.schema_id
            and subject_of(used.subject, one.context) == target.subject
            for used in one.schema.references
        )
    ]


def is_referred_to(past: Past, target: VersionNow, states: tuple[str, ...]) -> bool:
    return bool(referring_versions(past, target, states))


def refuse_if_referred_to(
    past: Past, target: VersionNow, states: tuple[str, ...], *, beside: tuple[Subject, ...] = ()
) -> None:
    """Refuse where a version refers to it, unless it is of a subject that goes too."""
    if any(one.subject not in beside for one in referring_versions(past, target, states)):
        raise No(Referenced, "REFERENCED", subject=str(target.subject), version=str(target.number))


def refuse_if_others_refer_to(past: Past, subject: Subject) -> None:
    """Refuse where a version of another subject refers to any version of this one."""
    users = (user for one in past.of(subject) for user in referring_versions(past, one, ("live", "soft")))
    if any(user.subject != subject for user in users):
        raise No(Referenced, "SUBJECT_REFERENCED", subject=str(subject))

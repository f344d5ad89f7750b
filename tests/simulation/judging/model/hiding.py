"""Versions that are hidden: what a patch leaves of the former text, and which names hidden versions lose."""

from dataclasses import replace
from typing import Any

from tests.simulation.judging.model.events import VersionMade, VersionNamed, VersionPatched
from treaty.core.names import Subject

Versions = dict[tuple[Subject, int], Any]
"""Versions as they are now, by subject and ordinal."""


def take_from_hidden(there: Versions, event: VersionMade | VersionNamed) -> None:
    """What a version is called no other one of its subject is called that is hidden."""
    for place, one in there.items():
        other = place[0] == event.subject and place[1] != event.ordinal
        if other and one.state == "hidden" and set(one.names) & set(event.names):
            left = tuple(name for name in one.names if name not in event.names)
            there[place] = replace(one, names=left)


def hide_former(there: Versions, event: VersionPatched) -> None:
    """The former text is a hidden version at an ordinal of its own; the version has the new one."""
    former = there[event.subject, event.ordinal]
    hidden = replace(former.version, state="hidden", revision_of=event.ordinal)
    there[event.subject, event.former] = replace(former, ordinal=event.former, version=hidden, names=())
    there[event.subject, event.ordinal] = replace(
        former,
        version=event.version,
        schema=event.schema,
        alike=event.alike,
        content=event.content,
        normal=event.normal,
    )

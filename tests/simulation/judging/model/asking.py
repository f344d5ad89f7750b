"""A request as it came, and the model's yes to it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.simulation.judging.model.events import Event, Name
from treaty.core.messages.request import Request
from treaty.core.state.state_tables import OUTCOME

OF_PRINCIPALS = len(OUTCOME.parts) > 1
"""Whether ids of commands are their senders' own."""


def name_of(principal: str, command_id: str) -> Name:
    """The name of a command among all commands: the same id of somebody else is another command."""
    return (principal if OF_PRINCIPALS else "", command_id)


@dataclass(frozen=True, slots=True)
class Asking:
    """A request, the id of its command, when it came (milliseconds since the epoch), and what its sender may do.

    `access` has rules (`who`, `may`, `subjects`, `contexts`); None: there are no rights here.
    """

    request: Request[Any]
    command_id: str
    time: int
    principal: str = ""
    access: Any = None

    @property
    def name(self) -> Name:
        """The name of its command."""
        return name_of(self.principal, self.command_id)


@dataclass(frozen=True, slots=True)
class Yes:
    """What happens, in the order in which it does (nothing, where there is nothing to do), and the answer."""

    events: tuple[Event, ...]
    answer: Any
    repeated: bool = False
    """Whether the command was decided before."""
    private: bool = False
    """Whether a command was about a private subject."""
    rehearsed: tuple[Event, ...] = ()
    """What would happen, were it no dry run."""


def done_or_rehearsed(events: Iterable[Event], answer: Any, *, rehearsal: bool) -> Yes:
    """What a command comes to, or a dry run of it."""
    return Yes((), answer, rehearsed=tuple(events)) if rehearsal else Yes(tuple(events), answer)

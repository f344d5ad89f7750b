"""The request for the outcome of a command, by the id of the command: its members, defaults and answer; decided in `core/handlers/queries.py`."""

from dataclasses import field

from treaty.core.messages.request import Request
from treaty.core.schema import Pairs
from treaty.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CommandOutcome:
    """The outcome of a command: the sequence of its commit, and the answer in its portable form."""

    command_id: str
    sequence: int
    result: str = ""
    members: Pairs = field(default=())


@dataclass(frozen=True, slots=True)
class GetOutcome(Request[CommandOutcome]):
    """The outcome of a command by id: of the caller, or of the given principal."""

    command_id: str
    principal: str | None = None

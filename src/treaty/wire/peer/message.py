"""Forwarded commands, replies, and the path and headers of both."""

from dataclasses import field
from typing import Any

from treaty.core.command import Command
from treaty.core.messages.request import Request
from treaty.core.refusals import RegistryError
from treaty.core.registry import Reply
from treaty.core.state.commit import PositionToken
from treaty.light_dataclass import dataclass

PATH = "/treaty/peer/commands"
SECRET = "Treaty-Peer-Secret"  # noqa: S105 (the name of a header)
REFUSED = "treaty-peer"
"""Part of an answer of the endpoint that accepted no command: the sender knows that nothing is done."""


@dataclass(frozen=True, slots=True)
class BarrierPassed:
    """An append that was sent after the barrier came is in the log, at the reply's token or before it."""


@dataclass(frozen=True, slots=True)
class ReadBarrier(Request[BarrierPassed]):
    """No command: that node is to get an append into the log, with commands or empty, for a strict read of this one."""


@dataclass(frozen=True, slots=True)
class ForwardedCommand:
    """A command that another node is to decide in this one's place.

    Its commit has a sequence of at most `last`, or there is none: once the log is past it, the node that forwarded it
    knows its result from the log alone. It may be with a third node, which decides it up to `elsewhere` (0: it is not):
    an answer that writes nothing holds only at that sequence or later.
    """

    command: Command[Any]
    seconds: float
    """What is left of its time."""
    last: int
    elsewhere: int = 0
    place: PositionToken = field(default_factory=lambda: PositionToken("", 0, ""))
    """What the node that hands it over has read of the log."""
    request_id: str = field(default="", compare=False)
    """Of the request that it came with, for log lines."""
    sender: str = field(default="", compare=False)
    """The address of the node that forwarded it, as the node that takes it knows; it is not sent."""


@dataclass(frozen=True, slots=True)
class DecidedReply:
    """It was decided, and its answer is durable at the token's place."""

    reply: Reply[Any]


@dataclass(frozen=True, slots=True)
class RefusedReply:
    """A registry's no, as known at the token's place. Only `OutcomeUnknown` leaves open whether something was written."""

    error: RegistryError
    token: PositionToken


@dataclass(frozen=True, slots=True)
class NotLeaderReply:
    """Not for that node to decide (any more), and it will not; `address` is the node that had best, if it knows one."""

    address: str = ""


@dataclass(frozen=True, slots=True)
class SequenceExceededReply:
    """The log was past the last sequence before it could be decided; it will not be."""


@dataclass(frozen=True, slots=True)
class FailedReply:
    """A fault in that node; nothing was written."""

    message: str


@dataclass(frozen=True, slots=True)
class DeclinedReply:
    """That node did not take it, and it will not be done there: it can't read it, or has no room."""

    message: str


ForwardReply = DecidedReply | RefusedReply | NotLeaderReply | SequenceExceededReply | FailedReply | DeclinedReply
"""What a node says of a command that was handed to it."""


class PeerUnreachableError(Exception):
    """A node could not be asked, or its answer did not come. `left`: the command may have reached it all the same."""

    def __init__(self, message: str, *, left: bool) -> None:
        """Keep whether the command may be there."""
        super().__init__(message)
        self.left = left

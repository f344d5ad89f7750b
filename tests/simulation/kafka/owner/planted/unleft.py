"""Planted: when a batch breaks off, what was not answered in it is taken for never sent, though the other node has it."""

from treaty.node import peer_batches
from treaty.wire.peer.message import PeerUnreachableError

LAWS = {"1", "2"}
PLACE, NAME = peer_batches.OutgoingCommand, "fail"
original = peer_batches.OutgoingCommand.fail


def planted(self: peer_batches.OutgoingCommand, error: Exception) -> None:
    original(self, PeerUnreachableError(str(error), left=False) if isinstance(error, PeerUnreachableError) else error)

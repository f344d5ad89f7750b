"""Planted: when a batch breaks off, what was not answered in it is taken for never sent, though the other node has it."""

from treaty.node.peers import courier
from treaty.wire.peer.message import PeerAwayError

LAWS = {"1", "2"}
PLACE, NAME = courier.Letter, "lose"
original = courier.Letter.lose


def planted(self: courier.Letter, error: Exception) -> None:
    original(self, PeerAwayError(str(error), left=False) if isinstance(error, PeerAwayError) else error)

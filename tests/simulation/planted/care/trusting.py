"""Planted: any token is taken that is not beyond the tip, also those of other logs."""

from treaty.core.state.commit import PositionToken
from treaty.node.node import Node

LAWS = {"3"}
PLACE, NAME = Node, "_shows"


def planted(self: Node, token: PositionToken) -> bool:
    return 0 < self.follower.position.sequence >= token.sequence

"""Planted: the answers of a batch are given out in the order in which they come, and not to whom they are for."""

from treaty.core.state.codec import Json
from treaty.node import peer_batches
from treaty.wire.peer.batch import decode_replies

LAWS = {"1", "2", "4", "5"}
PLACE, NAME = peer_batches, "decode_replies"


def planted(line: bytes) -> list[tuple[int, Json]]:
    told = decode_replies(line)
    return [(place, said) for place, (_, said) in enumerate(told)]

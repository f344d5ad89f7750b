"""BlockHeads of an order: the first entry of each block, decoded when a search looks at it, because there may be very many."""

from array import array
from collections.abc import Sequence
from typing import overload

from treaty.core.state.table import Key
from treaty.node.segment.value_format import keys_of

DECODED = 1_024
"""BlockHeads that are kept decoded: a search begins with the same ones."""


class BlockHeads(Sequence[Key]):
    """The heads of one order, ascending."""

    def __init__(self, column: memoryview) -> None:
        """Take the column in which they stand, one a line."""
        self._column = column
        self._starts = array("Q", [0])
        self._decoded: dict[int, Key] = {}
        end, text = 0, bytes(column)
        while (end := text.find(b"\n", end) + 1) > 0:
            self._starts.append(end)
        self._starts.append(len(text) + 1)
        self._count = len(self._starts) - 1 if text else 0

    def __len__(self) -> int:
        """How many blocks there are."""
        return self._count

    @overload
    def __getitem__(self, place: int) -> Key: ...
    @overload
    def __getitem__(self, place: slice) -> list[Key]: ...
    def __getitem__(self, place: int | slice) -> Key | list[Key]:
        """The head of a block."""
        if isinstance(place, slice):
            return [self[one] for one in range(self._count)[place]]
        head = self._decoded.get(place)  # only places that are there have one
        return self._decode(place) if head is None else head

    def _decode(self, place: int) -> Key:
        if not 0 <= place < self._count:
            raise IndexError(place)
        line = bytes(self._column[self._starts[place] : self._starts[place + 1] - 1])
        (head,) = keys_of([line])
        if len(self._decoded) >= DECODED:
            self._decoded.clear()
        self._decoded[place] = head
        return head

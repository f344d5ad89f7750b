"""BlockHeads of an order: the first entry of each block, decoded when a search looks at it, because there may be very many."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache

from treaty.core.state.table import Key
from treaty.node.segment.value_format import keys_of

GROUP = 16
"""Heads that are decoded together. The first head of each group is always decoded, so a search decodes one group."""
GROUPS_KEPT = 1_024
"""Groups that are kept decoded."""


class BlockHeads:
    """The heads of one order, ascending."""

    def __init__(self, column: memoryview) -> None:
        """Take the column in which they stand, one a line."""
        self._column = column
        self._starts = array("Q", [0])
        end, text = 0, bytes(column)
        while (end := text.find(b"\n", end) + 1) > 0:
            self._starts.append(end)
        self._starts.append(len(text) + 1)
        self._count = len(self._starts) - 1 if text else 0
        self._firsts = keys_of([self._line(place) for place in range(0, self._count, GROUP)])
        self._group = lru_cache(GROUPS_KEPT)(self._read_group)

    def __len__(self) -> int:
        """How many blocks there are."""
        return self._count

    def __iter__(self) -> Iterator[Key]:
        """Yield the head of each block."""
        for number in range(len(self._firsts)):
            yield from self._read_group(number)

    def count_below(self, bound: Key) -> int:
        """How many blocks begin below a bound."""
        group = bisect_left(self._firsts, bound) - 1
        return 0 if group < 0 else group * GROUP + bisect_left(self._group(group), bound)

    def count_up_to(self, bound: Key) -> int:
        """How many blocks begin below a bound or with it."""
        group = bisect_right(self._firsts, bound) - 1
        return 0 if group < 0 else group * GROUP + bisect_right(self._group(group), bound)

    def _line(self, place: int) -> bytes:
        return bytes(self._column[self._starts[place] : self._starts[place + 1] - 1])

    def _read_group(self, number: int) -> list[Key]:
        places = range(number * GROUP, min(self._count, (number + 1) * GROUP))
        return keys_of([self._line(place) for place in places])

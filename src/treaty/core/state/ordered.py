"""`SortedKeys`: keys kept in order, in blocks, so that putting one in costs the same among few and among very many."""

from bisect import bisect_left, insort
from collections.abc import Iterator
from itertools import chain

from treaty.core.state.table import Key

BLOCK = 512
"""Keys of one block at most; a full one is cut in two."""
FEW = 4
"""Keys behind the lower bound among which the upper one is looked for first."""


class SortedKeys:
    """A set of keys in ascending order. All keys of one set can be compared with each other."""

    __slots__ = ("_blocks", "_last")

    def __init__(self) -> None:
        """Hold nothing."""
        self._blocks: list[list[Key]] = []
        self._last: list[Key] = []
        """The last key of each block."""

    def add(self, key: Key) -> None:
        """Put a key in that is not there."""
        if not self._blocks:
            self._blocks.append([key])
            self._last.append(key)
            return
        at = min(bisect_left(self._last, key), len(self._blocks) - 1)
        block = self._blocks[at]
        insort(block, key)
        if len(block) > BLOCK:
            half = len(block) // 2
            self._blocks[at : at + 1] = [block[:half], block[half:]]
            self._last[at : at + 1] = [block[half - 1], block[-1]]
        else:
            self._last[at] = block[-1]

    def remove(self, key: Key) -> None:
        """Take a key out that is there."""
        at = bisect_left(self._last, key)
        block = self._blocks[at]
        del block[bisect_left(block, key)]
        if block:
            self._last[at] = block[-1]
        else:
            del self._blocks[at], self._last[at]

    def ascend(self, low: Key, high: Key) -> Iterator[Key]:
        """Return the keys from `low` on that are below `high`, ascending; the set must not change meanwhile.

        Whole blocks are not looked at key by key, because a list of subjects may be very long.
        """
        first = bisect_left(self._last, low)
        if high <= low or first >= len(self._blocks):
            return iter(())
        head = self._blocks[first]
        start = bisect_left(head, low)
        if high <= self._last[first]:
            near = min(start + FEW, len(head))  # most walks take few
            near = near if high <= head[near - 1] else len(head)
            return iter(head[start : bisect_left(head, high, start, near)])
        end = bisect_left(self._last, high)
        tail = self._blocks[end] if end < len(self._blocks) else []
        middle = map(self._blocks.__getitem__, range(first + 1, end))
        return chain(head[start:], chain.from_iterable(middle), tail[: bisect_left(tail, high)])

    def descend(self, low: Key, high: Key) -> Iterator[Key]:
        """Return the same keys, descending; such a walk does not look up the first key."""
        if high <= low or not self._blocks:
            return iter(())
        place = min(bisect_left(self._last, high), len(self._blocks) - 1)
        block = self._blocks[place]
        end = bisect_left(block, high)
        near = max(end - FEW, 0)  # most walks take few
        start = bisect_left(block, low, near, end)
        if start > near or (not near and not place):
            return reversed(block[start:end])
        return self._descend_from(place, end, low)

    def _descend_from(self, place: int, end: int, low: Key) -> Iterator[Key]:
        """The keys before one place of a block, and those of the blocks before it."""
        for at in range(place, -1, -1):
            block = self._blocks[at]
            for key in reversed(block[:end] if at == place else block):
                if key < low:
                    return
                yield key

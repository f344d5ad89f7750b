"""Choices from a seed: the same seed makes the same choices on every machine."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
_MASK = 2**64 - 1


class SeededRandom:
    """A source of choices (SplitMix64, Steele, Lea and Flood 2014), not fit for secrets."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        """Start from a seed."""
        self._state = seed & _MASK

    def below(self, bound: int) -> int:
        """A whole number from 0 to `bound` - 1."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return (mixed ^ (mixed >> 31)) % bound

    def pick(self, choices: Sequence[T]) -> T:
        """One of the choices."""
        return choices[self.below(len(choices))]

    def chance(self, in_hundred: int) -> bool:
        """True in so many of a hundred cases."""
        return self.below(100) < in_hundred

"""What requests of all areas have in common: the base class, typed with the answer, and values that select versions. Members with a default may be
left out.

Commands change the state, queries do not; `decide` decides both. Dialects build requests and print answers, clients
send them over HTTP, nodes decide them.
"""

from typing import Generic, Literal, TypeVar

A = TypeVar("A", covariant=True)

LATEST = -1
Selector = int
"""A version number of 1 or more, or `LATEST`."""

Visible = Literal["live", "all", "deleted"]
"""The versions in a list: live ones, also soft-deleted ones, or only those."""


class Request(Generic[A]):
    """A request with an answer of type `A`."""

    __slots__ = ()

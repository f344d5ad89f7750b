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

NO_VERSION_ID = "The specified version '{version}' is not a valid version id"
"""The sentence about what no version of a subject is called."""
NO_VERSION_ID_IN_RANGE = f'{NO_VERSION_ID}. Allowed values are between [1, 2^31-1] and the string "latest"'
"""The same where a number or `latest` has to be, and nothing else may."""

Visible = Literal["live", "all", "deleted"]
"""The versions in a list: live ones, also soft-deleted ones, or only those."""


class Request(Generic[A]):
    """A request with an answer of type `A`."""

    __slots__ = ()

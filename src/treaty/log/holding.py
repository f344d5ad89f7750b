"""Who in this process holds a log: the task that took it, and the tasks that it began while it held it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_HELD: ContextVar[tuple[object, ...]] = ContextVar("holding", default=())


class Holding:
    """At most one holder at a time; somebody else has seen to that."""

    def __init__(self) -> None:
        """Nobody holds it."""
        self._holder: object = None

    @property
    def mine(self) -> bool:
        """Whether the running task acts for the holder."""
        return self._holder is not None and self._holder in _HELD.get()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Hold it while the block runs."""
        before = _HELD.get()
        self._holder = object()
        _HELD.set((*before, self._holder))
        try:
            yield
        finally:
            self._holder = None
            _HELD.set(before)

"""Large texts: work on one takes longer than a turn of an event loop may take, so it is done on a thread.

Who decides in an event loop does it inside `in_event_loop`: work on a large text then raises `LargeTextError`, and is
done again elsewhere, where nothing is raised.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from treaty.core.limits import LOOP_BYTES

_IS_IN_LOOP: ContextVar[bool] = ContextVar("is_in_loop", default=False)


class LargeTextError(Exception):
    """A text is too large to be worked on in the event loop. It is an answer for the node, never for a client."""


@contextmanager
def in_event_loop() -> Iterator[None]:
    """Let work on large texts raise `LargeTextError` inside."""
    token = _IS_IN_LOOP.set(True)
    try:
        yield
    finally:
        _IS_IN_LOOP.reset(token)


def refuse_large_text(text: str | bytes) -> None:
    """Raise `LargeTextError` in the event loop, if the text is large."""
    if len(text) > LOOP_BYTES and _IS_IN_LOOP.get():
        raise LargeTextError

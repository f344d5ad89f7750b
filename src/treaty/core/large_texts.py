"""Large texts: work on one takes longer than a turn of an event loop may take, so it is done on a thread.

Who decides in an event loop does it inside `in_event_loop`: work on a large text then raises `LargeTextError`, and is
done again elsewhere, where nothing is raised.
"""

from contextlib import AbstractContextManager
from contextvars import ContextVar

from treaty.core.limits import LOOP_BYTES
from treaty.core.schema import Draft

_IS_IN_LOOP: ContextVar[bool] = ContextVar("is_in_loop", default=False)


class LargeTextError(Exception):
    """A text is too large to be worked on in the event loop. It is an answer for the node, never for a client."""


class _InEventLoop:
    """What `in_event_loop` returns: each decision makes one, and a generator would take ten times as long."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _IS_IN_LOOP.set(True)

    def __exit__(self, *_: object) -> None:
        _IS_IN_LOOP.reset(self._token)


def in_event_loop() -> AbstractContextManager[None]:
    """Let work on large texts raise `LargeTextError` inside."""
    return _InEventLoop()


def refuse_large_text(text: str | bytes) -> None:
    """Raise `LargeTextError` in the event loop, if the text is large."""
    refuse_large_size(len(text))


def refuse_large_size(size: int) -> None:
    """Raise `LargeTextError` in the event loop, if a text of this size is large."""
    if size > LOOP_BYTES and _IS_IN_LOOP.get():
        raise LargeTextError


def refuse_large_draft(request: object) -> None:
    """Raise `LargeTextError` in the event loop, if a request brings a large schema."""
    if has_large_draft(request) and _IS_IN_LOOP.get():
        raise LargeTextError


def has_large_draft(request: object) -> bool:
    """Return whether a request brings a large schema."""
    draft = getattr(request, "draft", None)
    return isinstance(draft, Draft) and max(len(draft.text), len(draft.data or b"")) > LOOP_BYTES

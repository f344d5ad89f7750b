"""What the HTTP side needs of a running member besides the `AsyncRegistry`: to be told of changes, and facts to show."""

from collections.abc import Callable
from typing import Protocol

from treaty.core.registry import AsyncRegistry


class Member(AsyncRegistry, Protocol):
    """A running member of a registry."""

    def on_change(self, callback: Callable[[], None]) -> None:
        """Have `callback` called, in this event loop, whenever commits have been applied (before they are answered)."""
        ...

    @property
    def halted(self) -> str:
        """Why no change is written now; empty where changes are."""
        ...

    def status(self) -> object:
        """Facts for ``/status``: a dataclass or mapping that JSON can hold, with the log's identity and sequence."""
        ...

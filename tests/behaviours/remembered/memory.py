"""What is remembered: where, how long, what ends it, and a scene that asks before and after that."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Scene:
    """Something that is asked twice, changed, and asked again."""

    ask: Callable[[], Awaitable[object]]
    change: Callable[[], Awaitable[None]]


MakeScene = Callable[[Path], AbstractAsyncContextManager[Scene]]
"""Opens a scene, with a folder for its files."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A row of the table."""

    what: str
    where: tuple[str, ...]
    """`module:place` without ``treaty.``; a place is a function, or `Class.attribute`."""
    limit: str
    """The name of the limit, or what bounds it."""
    lifetime: str
    """How long it is remembered where nothing ends it."""
    ends: str
    """What must end it."""
    scene: MakeScene
    before: object
    """The answer before the change, from memory too."""
    after: object

"""What a conversation takes from outside, and what one tells the next."""

from collections.abc import Callable
from dataclasses import dataclass, field

from treaty.client.settings import Settings
from treaty.client.steps import Purse
from treaty.client.talk.nodes import Nodes
from treaty.core.state.commit import PositionToken


@dataclass(slots=True)
class World:
    """A client's clock, chance and memory.

    `clock` counts seconds and never goes back, `chance` is uniform in [0, 1), `new_id` names a command. `written` is
    the place of the client's last write, and `kin` tells whether it is Treaty that answers (None: not known yet).
    """

    clock: Callable[[], float]
    chance: Callable[[], float]
    new_id: Callable[[], str]
    nodes: Nodes
    purse: Purse = field(default_factory=Purse)
    written: PositionToken | None = None
    kin: bool | None = None

    def wrote(self, token: PositionToken) -> None:
        """Note the place of a write; the later one counts."""
        last = self.written
        if token.sequence and (last is None or last.identity != token.identity or last.sequence < token.sequence):
            self.written = token


def world_of(
    settings: Settings, clock: Callable[[], float], chance: Callable[[], float], new_id: Callable[[], str]
) -> World:
    """A world for a client with these settings, that knows nothing yet."""
    nodes = Nodes(len(settings.urls), chance, settings.pause, settings.longest_rest)
    return World(clock, chance, new_id, nodes)

"""`ClientState`: the clock and randomness of a client, and what one conversation leaves for the next."""

from collections.abc import Callable
from dataclasses import dataclass, field

from treaty.client.effects import TokenCache
from treaty.client.protocol.nodes import NodePool
from treaty.client.settings import ClientSettings
from treaty.core.state.commit import PositionToken


@dataclass(slots=True)
class ClientState:
    """Clock and randomness of a client, its nodes, its token and its last write.

    `clock` counts seconds and never goes back, `chance` is uniform in [0, 1), `new_id` makes ids of commands. `last_write` is
    the position of the client's last write; `is_treaty` is True for a server of Treaty (None: not known yet).
    """

    clock: Callable[[], float]
    chance: Callable[[], float]
    new_id: Callable[[], str]
    nodes: NodePool
    tokens: TokenCache = field(default_factory=TokenCache)
    last_write: PositionToken | None = None
    is_treaty: bool | None = None

    def note_write(self, token: PositionToken) -> None:
        """Note the position of a write; the later one counts."""
        last = self.last_write
        if token.sequence and (last is None or last.identity != token.identity or last.sequence < token.sequence):
            self.last_write = token


def make_client_state(
    settings: ClientSettings, clock: Callable[[], float], chance: Callable[[], float], new_id: Callable[[], str]
) -> ClientState:
    """Return the state of a client that has sent nothing yet."""
    nodes = NodePool(len(settings.urls), chance, settings.pause, settings.max_backoff)
    return ClientState(clock, chance, new_id, nodes)

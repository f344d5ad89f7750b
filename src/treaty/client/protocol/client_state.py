"""`ClientState`: the clock and randomness of a client, and its state between requests."""

from collections.abc import Callable
from dataclasses import dataclass, field

from treaty.client.effects import TokenCache
from treaty.client.protocol.nodes import NodePool
from treaty.client.settings import ClientSettings
from treaty.core.state.commit import PositionToken


@dataclass(slots=True)
class ClientState:
    """Clock and randomness of a client, its nodes, its token and its last write.

    `clock` is monotonic, in seconds; `chance` is uniform in [0, 1); `new_id` returns ids of commands. `last_write` is
    the position of the client's last write; `is_treaty` is True for a Treaty server (None: unknown).
    """

    clock: Callable[[], float]
    chance: Callable[[], float]
    new_id: Callable[[], str]
    nodes: NodePool
    tokens: TokenCache = field(default_factory=TokenCache)
    last_write: PositionToken | None = None
    is_treaty: bool | None = None

    def note_write(self, token: PositionToken) -> None:
        """Note the position of a write, if it is later than the last one."""
        last = self.last_write
        if token.sequence and (last is None or last.identity != token.identity or last.sequence < token.sequence):
            self.last_write = token


def make_client_state(
    settings: ClientSettings, clock: Callable[[], float], chance: Callable[[], float], new_id: Callable[[], str]
) -> ClientState:
    """Return the state of a new client."""
    nodes = NodePool(len(settings.urls), chance, settings.pause, settings.max_backoff)
    return ClientState(clock, chance, new_id, nodes)

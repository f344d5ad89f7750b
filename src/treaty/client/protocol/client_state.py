"""`ClientState`: the state of a client between requests, and `NodePool`: which node is asked next, and how long one that failed is left out.

The last node that answered is preferred; nodes in backoff after failures are left out.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from treaty.client.effects import TokenCache
from treaty.client.settings import ClientSettings
from treaty.core.state.commit import PositionToken


@dataclass(slots=True)
class _Node:
    failures: int = 0
    failed: float = 0.0
    """The time of its last failure."""
    backoff_until: float = 0.0
    """The end of its backoff; until then other nodes are preferred."""
    until: float = 0.0
    """The end of the pause that it requested (``Retry-After``); until then it is not used."""
    native: float = 0.0
    """Until this time it counts as a server without Treaty's native API."""


class NodePool:
    """The nodes of a client. `first` and `longest` are bounds of the backoff after a failure, in seconds."""

    def __init__(self, count: int, chance: Callable[[], float], first: float, longest: float) -> None:
        """Start with no failures; the first node is preferred."""
        self._nodes = tuple(_Node() for _ in range(count))
        self._chance = chance
        self._first = first
        self._longest = longest
        self.preferred = 0

    def order_nodes(self, round_number: int, now: float) -> tuple[int, ...]:
        """Return the nodes of a round (from 0), in order.

        The first round leaves out nodes in backoff if there are others. In later rounds, after all others have failed,
        nodes in backoff come last, and before them the node that failed last.
        """
        around = [(self.preferred + offset) % len(self._nodes) for offset in range(len(self._nodes))]
        ready = [node for node in around if self._nodes[node].backoff_until <= now]
        waiting = sorted(
            (node for node in around if node not in ready), key=lambda node: self._nodes[node].backoff_until
        )
        if round_number:
            return (*sorted(ready, key=lambda node: self._nodes[node].failed), *waiting)
        return tuple(ready or waiting[:1])

    def requested_wait(self, node: int, now: float) -> float:
        """Return the remaining seconds of a node's ``Retry-After``."""
        return max(0.0, self._nodes[node].until - now)

    def is_native(self, node: int, now: float) -> bool:
        """Return whether to try Treaty's native API at a node: unless the node is known to lack it."""
        return now >= self._nodes[node].native

    def note_native_api_missing(self, node: int, until: float) -> None:
        """Note that a node lacks Treaty's native API, for a while."""
        self._nodes[node].native = until

    def note_success(self, node: int) -> None:
        """Note an answer: this node is preferred from now on."""
        node_state = self._nodes[node]
        node_state.failures, node_state.backoff_until, node_state.until = 0, 0.0, 0.0
        self.preferred = node

    def note_failure(self, node: int, now: float, retry_after: float | None) -> None:
        """Note a failure, and the seconds of ``Retry-After`` in the answer (None: there are none)."""
        node_state = self._nodes[node]
        if now >= node_state.backoff_until:  # requests at the same time see the same failure
            node_state.failures += 1
        node_state.failed = now
        backoff = min(self._first * 2.0 ** min(node_state.failures - 1, 30), self._longest)
        node_state.backoff_until = max(node_state.backoff_until, now + backoff * (0.5 + self._chance() / 2))
        if retry_after is not None:
            node_state.until = max(node_state.until, now + min(retry_after, self._longest))
            node_state.backoff_until = max(node_state.backoff_until, node_state.until)


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

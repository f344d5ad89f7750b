"""Servers of one registry that hand commands to each other over HTTP; one of them owns the log, or has won last."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count

from tests.behaviours.nodes.crowns import Crown, CrownedLog
from tests.behaviours.served import Served
from treaty.api.peer import PeerAuthenticator
from treaty.api.request_scope import request_id
from treaty.client.peer_transport import HttpPeerTransport, PeerCredentials
from treaty.log.urls import open_log
from treaty.node.environment import real_environment
from treaty.node.node import Node
from treaty.node.schema_service import make_thread_service

SECRET = "a-secret-of-all-nodes"
TRUST = PeerAuthenticator((SECRET.encode(),))
_LOGS = count()


@contextmanager
def neighbours(
    number: int, *, owned: bool = True, secret: str = SECRET, trust: PeerAuthenticator | None = TRUST
) -> Iterator[tuple[Crown, list[Served]]]:
    """Serve one log in memory by several nodes, while the block runs; the first one leads."""
    crown, log = Crown(owned), f"memory:neighbours-{next(_LOGS)}"

    async def node_at(url: str) -> Node:
        source = CrownedLog(await open_log(log), crown, url)
        transport = HttpPeerTransport(PeerCredentials(secret, request_id=request_id))
        return Node(source, make_thread_service(), real_environment(), transport=transport)  # type: ignore[arg-type]  # nobody holds it

    servers: list[Served] = []
    with ExitStack() as stack:
        for _ in range(number):
            one = Served(log, at=node_at, trust=trust)
            stack.callback(one.stop)
            servers.append(one)
            crown.holder = crown.holder or one.url
        yield crown, servers

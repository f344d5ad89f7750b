"""What stands between clients and a node in a server: rights, and the memo of finished answers."""

import pickle
from typing import Any

from treaty.api.auth.authorization import AuthorizedRegistry
from treaty.api.request_scope import RequestCaller, set_caller
from treaty.api.response_cache import CacheableRequest, ResponseCache
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.schemas import GetGuid, GetSchema
from treaty.core.messages.versions import GetVersion
from treaty.core.registry import CallOptions, Reply
from treaty.node.node import Node

MEMO_BYTES = 20_000
"""Small, so that there is no room at times."""


class Front:
    """One life of a node as clients meet it. The memo is the server's own, emptied by the node's own callbacks."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._doorkeeper = AuthorizedRegistry(node, rights=True)
        self.memo = ResponseCache(limit=MEMO_BYTES)
        node.on_change(self.memo.empty)

    def kept(self, request: Request[Any], call: CallOptions) -> Reply[Any] | None:
        """Return the answer that is kept for a request, as the hot path of a server would."""
        if not is_hot(request, call):
            return None
        answer = self.memo.blocks.get(_block(call), {}).get(_line(request, call))
        return None if answer is None else _reply(answer)

    async def ask(self, request: Request[Any], call: CallOptions) -> Reply[Any]:
        """Answer a request the slow way, and keep the answer where a server would."""
        begun = CacheableRequest(self.memo, _line(request, call), _block(call), self.memo.epoch)
        reply: Reply[Any]
        if call.access is None:
            reply = await self._node.ask(request, call)
        else:
            begun = begun.for_rights(call.access, begun.until)
            set_caller(RequestCaller(call.principal, call.access))
            reply = await self._doorkeeper.ask(request, call)
        if is_hot(request, call):
            self.memo.keep(begun, (), pickle.dumps(reply))
        return reply


def _reply(answer: bytes) -> Reply[Any]:
    reply: Reply[Any] = pickle.loads(answer)
    return reply


def is_hot(request: Request[Any], call: CallOptions) -> bool:
    """Return whether a server keeps the answer: of what never changes, without headers that ask for more."""
    if call.after is not None or call.consistency not in {"", "eventual"}:
        return False
    return isinstance(request, GetSchema | GetGuid) or (isinstance(request, GetVersion) and request.version != LATEST)


def _line(request: Request[Any], call: CallOptions) -> bytes:
    return f"{request} {call.consistency}".encode()


def _block(call: CallOptions) -> bytes:
    """A header block: it is the same for all requests of a principal."""
    return call.principal.encode()

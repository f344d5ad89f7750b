"""The endpoint for peer nodes, which authenticate and send commands that this node decides."""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from treaty.api.bodies import read_body
from treaty.api.errors import HttpError
from treaty.api.request_scope import MAX_REQUEST_ID, PEER, RequestCaller, set_caller, set_request_id
from treaty.core.limits import PEER_BYTES, PEER_COMMANDS
from treaty.core.state.codec import DecodeError
from treaty.node.large_work import RunLargeWork, run_by_size, run_on_thread
from treaty.node.peer_batches import Take, answer_batch
from treaty.wire.peer.batch import KnownAccess, decode_batch, encode_replies
from treaty.wire.peer.message import PATH, REFUSED, SECRET, DeclinedReply, ForwardedCommand, ForwardReply

_SECRET = SECRET.lower().encode()


@dataclass(frozen=True, slots=True)
class PeerAuthenticator:
    """Accepts any of these secrets, and any verified certificate with one of these names (CN or DNS)."""

    secrets: tuple[bytes, ...] = ()
    names: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"PeerAuthenticator({len(self.secrets)} secrets, {sorted(self.names)})"

    def refuse_others(self, scope: Scope) -> None:
        """Raise `HttpError` for a request that is not of a peer: 401 without credentials, 403 for wrong ones."""
        secrets = [value for name, value in scope["headers"] if name == _SECRET]
        if len(secrets) == 1 and any([hmac.compare_digest(secrets[0], secret) for secret in self.secrets]):  # noqa: C419 (all are compared, however early one fits)
            return
        if self.names & _names(scope.get(PEER) or {}):
            return
        if secrets:
            raise refusal(403, "HTTP 403 Forbidden: wrong peer secret")
        if scope.get(PEER):
            raise refusal(
                403, "HTTP 403 Forbidden: the certificate does not have the name of a peer node (see --peer-name)"
            )
        raise refusal(401, "HTTP 401 Unauthorized: this endpoint is for peer nodes, which must authenticate")


def refusal(status: int, message: str) -> HttpError:
    """Return the error of a request of which this node takes no command: it surely does none of them."""
    return HttpError(status, message, **{REFUSED.replace("-", "_"): "refused"})


def _names(certificate: dict[str, Any]) -> frozenset[str]:
    common = [value for part in certificate.get("subject", ()) for name, value in part if name == "commonName"]
    return frozenset([*common, *(value for kind, value in certificate.get("subjectAltName", ()) if kind == "DNS")])


def _address_of(scope: Scope) -> str:
    """The address that a node asks from. Servers on one host have the same, and share their turns."""
    client = scope.get("client")
    return client[0] if client else ""


# ----------------------------------------------------------------------------------------------------------- the endpoint

LINES = "application/x-ndjson"
"""Answers come in lines of JSON, each as soon as there is one."""
_START = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", LINES.encode())]}


@dataclass(slots=True)
class PeerEndpoint:
    """An ASGI application for one path. Permissions are not checked here: each command carries its access."""

    take: Take
    authenticator: PeerAuthenticator
    path: bytes = PATH.encode()
    busy: int = 0
    """Commands in work."""
    classes: KnownAccess = field(default_factory=KnownAccess)
    run_large: RunLargeWork = run_on_thread
    """Decodes large batches."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; raises `HttpError` if no command was accepted."""
        set_caller(None)
        self.authenticator.refuse_others(scope)
        if scope["method"] != "POST":
            raise refusal(405, "HTTP 405 Method Not Allowed: commands are sent by POST")
        data = await read_body(HttpRequest(scope, receive), PEER_BYTES)
        try:
            decoded = await run_by_size(len(data), partial(decode_batch, data, self.classes), self.run_large)
            batch = self._admit(decoded, _address_of(scope))
        except DecodeError as error:
            raise refusal(400, f"HTTP 400 Bad Request: {error}") from None
        count = sum(isinstance(message, ForwardedCommand) for message in batch)
        left, begun = len(batch), False

        async def say(replies: Sequence[tuple[int, ForwardReply]]) -> None:
            nonlocal left, begun
            left -= len(replies)
            lines = encode_replies(replies)
            if not left and not begun:
                begun = True
                await Response(lines, media_type=LINES)(scope, receive, send)
                return
            if not begun:
                begun = True
                await send(_START)
            await send({"type": "http.response.body", "body": lines, "more_body": left > 0})

        self.busy += count
        try:
            await answer_batch(batch, self._decide, say)
        finally:
            self.busy -= count
        if not begun:
            await Response(b"", media_type=LINES)(scope, receive, send)
        elif left:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _admit(
        self, batch: Sequence[ForwardedCommand | DeclinedReply], sender: str
    ) -> tuple[ForwardedCommand | DeclinedReply, ...]:
        """Decline what there is no room for, and note who sent the rest."""
        room = PEER_COMMANDS - self.busy
        full = DeclinedReply(f"more than {PEER_COMMANDS} commands of other nodes wait (limit PEER_COMMANDS)")

        def admit(place: int, message: ForwardedCommand | DeclinedReply) -> ForwardedCommand | DeclinedReply:
            if place >= room:
                return full
            return replace(message, sender=sender) if isinstance(message, ForwardedCommand) else message

        return tuple(admit(place, message) for place, message in enumerate(batch))

    async def _decide(self, forwarded: ForwardedCommand) -> ForwardReply:
        """Decide one command, in a task with its caller."""
        request_id = forwarded.request_id
        fit = len(request_id) <= MAX_REQUEST_ID and request_id.isascii() and request_id.isprintable()
        if fit and request_id:
            set_request_id(request_id)
        set_caller(RequestCaller(forwarded.command.principal, forwarded.command.access, request_id if fit else ""))
        return await self.take(forwarded)

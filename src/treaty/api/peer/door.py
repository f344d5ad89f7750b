"""`InnerDoor`: the route by which commands of other nodes come in."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from treaty.api.bodies import read_body
from treaty.api.caller import Caller, enter, request_id_of
from treaty.api.peer.trust import Trust, refused
from treaty.core.limits import PEER_BYTES, PEER_COMMANDS
from treaty.wire.peer.forms import FormError
from treaty.wire.peer.headers import PATH
from treaty.wire.peer.message import Classes, Handed, Told, handed_from, told_bytes

Take = Callable[[Handed], Awaitable[Told]]
"""Decides a command that was handed over."""


@dataclass(slots=True)
class InnerDoor:
    """An ASGI application for one path. Rights are not asked here: what the command may do came along with it."""

    take: Take
    trust: Trust
    path: bytes = PATH.encode()
    busy: int = 0
    """Commands that are being decided."""
    classes: Classes = field(default_factory=Classes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; raises `HttpError` where no command was taken."""
        enter(None)
        self.trust.refuse_strangers(scope)
        if scope["method"] != "POST":
            raise refused(405, "HTTP 405 Method Not Allowed: commands are sent by POST")
        if self.busy >= PEER_COMMANDS:
            raise refused(503, f"more than {PEER_COMMANDS} commands of other nodes wait (limit PEER_COMMANDS)")
        self.busy += 1
        try:
            data = await read_body(HttpRequest(scope, receive), PEER_BYTES)
            try:
                handed = handed_from(data, self.classes)
            except FormError as wrong:
                raise refused(400, f"HTTP 400 Bad Request: {wrong}") from None
            request_id = request_id_of(scope).decode()
            enter(Caller(handed.command.principal, handed.command.access, request_id))
            told = told_bytes(await self.take(handed))
        finally:
            self.busy -= 1
        await Response(told, media_type="application/json")(scope, receive, send)

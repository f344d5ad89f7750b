"""`InnerDoor`: the route by which commands of other nodes come in."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from treaty.api.bodies import read_body
from treaty.api.caller import MAX_REQUEST_ID, Caller, answering, enter
from treaty.api.peer.trust import Trust, refused
from treaty.core.codec import DecodeError
from treaty.core.limits import PEER_BYTES, PEER_COMMANDS
from treaty.node.peers.taking import Take, answer
from treaty.wire.peer.batch import Classes, batch_from, line_bytes
from treaty.wire.peer.headers import PATH
from treaty.wire.peer.message import Declined, Handed, Told

LINES = "application/x-ndjson"
"""Answers come in lines of JSON, each as soon as there is one."""
_START = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", LINES.encode())]}


@dataclass(slots=True)
class InnerDoor:
    """An ASGI application for one path. Rights are not asked here: what each command may do came along with it."""

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
        data = await read_body(HttpRequest(scope, receive), PEER_BYTES)
        try:
            batch = self._admitted(batch_from(data, self.classes))
        except DecodeError as wrong:
            raise refused(400, f"HTTP 400 Bad Request: {wrong}") from None
        count = sum(isinstance(one, Handed) for one in batch)
        left, begun = len(batch), False

        async def say(told: Sequence[tuple[int, Told]]) -> None:
            nonlocal left, begun
            left -= len(told)
            lines = line_bytes(told)
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
            await answer(batch, self._decide, say)
        finally:
            self.busy -= count
        if not begun:
            await Response(b"", media_type=LINES)(scope, receive, send)
        elif left:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _admitted(self, batch: Sequence[Handed | Declined]) -> tuple[Handed | Declined, ...]:
        """Decline what there is no room for."""
        room = PEER_COMMANDS - self.busy
        full = Declined(f"more than {PEER_COMMANDS} commands of other nodes wait (limit PEER_COMMANDS)")
        return tuple(one if place < room else full for place, one in enumerate(batch))

    async def _decide(self, handed: Handed) -> Told:
        """Decide one command, in a task of its own that says whose it is."""
        asked = handed.request_id
        fit = len(asked) <= MAX_REQUEST_ID and asked.isascii() and asked.isprintable()
        if fit and asked:
            answering(asked)
        enter(Caller(handed.command.principal, handed.command.access, asked if fit else ""))
        return await self.take(handed)

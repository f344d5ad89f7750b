"""uvicorn's protocol for HTTP/1.1 with the response cache before it, and with the limits of one connection.

The class uses attributes of uvicorn's protocol that are not documented; where one is missing, every request takes
the slow path (see `is_supported`), and `pyproject.toml` keeps uvicorn within the range that was tested.
"""

import asyncio
from hashlib import blake2b, sha256
from typing import Any, ClassVar, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from treaty.api.errors import refuse_connection
from treaty.api.network.addresses import network_of
from treaty.api.network.connections import ConnectionTable
from treaty.api.network.descriptors import count_sent, is_closed
from treaty.api.network.http2_refusal import Http2Refusal, find_preface_end
from treaty.api.network.request_heads import (
    RefusedHeadError,
    head_without_upgrade,
    lacks_version,
    refuse_head,
    refused_version,
    to_origin_form,
)
from treaty.api.request_scope import PEER, set_cache_permit, set_connection
from treaty.api.response_cache import CacheableRequest, ResponseCache
from treaty.core.limits import REQUEST_SECONDS

CACHED_HEADERS = frozenset({
    b"accept", b"accept-encoding", b"accept-language", b"confluent-accept-unknown-properties",
    b"confluent-client-version", b"connection", b"content-type", b"host", b"http2-settings", b"treaty-details",
    b"user-agent",
})  # fmt: skip
"""Headers of which at most ``Accept`` and ``Treaty-Details`` change an answer, and these are part of its variant."""

BLOCK_BYTES = 8_192
"""Bytes of a header block that is remembered; a request with a longer one takes the slow path."""
HEAD_BYTES = 65_536
"""Bytes of a request before its headers are complete; a longer one is refused."""

TOO_LARGE = RefusedHeadError(431, "Request Header Fields Too Large")
UNREADABLE = RefusedHeadError(400, "Bad Request")

CACHED_HEADERS_WITH_RIGHTS = CACHED_HEADERS | {b"authorization"}
"""The same where there are rights: a block with credentials belongs to the rights of who they are."""


class CachingProtocol(HttpToolsProtocol):
    """uvicorn's protocol with a cache before it. Make a subclass for each server with `protocol`."""

    cache: ClassVar[ResponseCache]
    table: ClassVar[ConnectionTable]
    address = ""
    """What limits of connections count by."""
    at_rest = True
    """No byte of a message has come that is not complete yet."""
    messages = 0
    """Messages begun in the present chunk."""
    waiting = 0
    """Bytes of a message whose headers are not complete."""
    chunk = 0
    """Bytes of the present chunk."""
    refusing = UNREADABLE
    """What bytes are refused with that the parser gives up."""
    has_ended = False
    """No more requests are read: one was refused, or asked for a tunnel."""
    http2: Http2Refusal | None = None
    """The client has begun with HTTP/2."""
    is_upgrading = False
    """The present message asks for another protocol; it is read once more without that."""
    opened = 0.0
    """Loop time when the connection was made."""
    began = 0.0
    """Loop time when the message began that is not complete yet."""
    keyed_digest: "blake2b | None" = None
    """With rights: a digest that has the client's certificate in it, and takes a header block."""
    last_digest: tuple[bytes | None, bytes] = (None, b"")
    """With rights: this connection's last header block, and what it is known as."""
    certificate: dict[str, Any] | None = None
    """What the client's certificate says, where it has shown one."""
    last_answer = 0.0
    """Loop time of the last answer from memory; the keep-alive timer looks at it instead of being restarted."""

    query: "asyncio.Task[Any] | None" = None
    """The task that answers a query; it is cancelled when the client is gone."""
    earlier: tuple[RequestResponseCycle, ...] = ()
    """Requests before the last one that are not answered yet."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        """Note when it was, and who the client is by its certificate."""
        self.opened = self.loop.time()
        super().connection_made(transport)
        certificate = b""
        layer = transport.get_extra_info("ssl_object")
        if layer is not None and (peer_certificate := layer.getpeercert(binary_form=True)):
            certificate, self.certificate = sha256(peer_certificate).digest(), layer.getpeercert()
        if self.cache.digest_key:
            self.keyed_digest = blake2b(certificate, key=self.cache.digest_key, digest_size=32)
        self.address = network_of(self.client[0]) if self.client else ""
        limit = self.table.admit(self)
        if limit:
            transport.write(
                refuse_connection(503, "Service Unavailable", f"there is no room for more connections (limit {limit})")
            )
            transport.close() if layer is None else transport.abort()  # TLS would read on

    def connection_lost(self, exc: Exception | None) -> None:
        """Give back the connection's place."""
        self.table.discard(self)
        super().connection_lost(exc)
        if self.query is not None:
            self.query.cancel()
        for cycle in self.earlier:  # uvicorn knows the last one alone
            cycle.disconnected = True
            cycle.message_event.set()

    def pause_writing(self) -> None:
        """Note that the client does not take its answer as fast as it comes."""
        super().pause_writing()
        self.table.note_unread(self)
        if self.table.unread_bytes > self.table.most_unread:
            self.loop.call_soon(self.table.relieve)

    def resume_writing(self) -> None:
        """Note that it has taken all but a little."""
        super().resume_writing()
        self.table.forget_unread(self)

    def is_answering(self) -> bool:
        """Say whether a request is being answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def count_unread(self) -> int:
        """Return the bytes of answers that the operating system has not taken yet."""
        return self.transport.get_write_buffer_size()

    def count_sent(self) -> int:
        """Return the bytes that it has taken and the client's has not acknowledged, as far as known."""
        connected = self.transport.get_extra_info("socket")
        return 0 if connected is None else count_sent(connected.fileno())

    def close(self) -> None:
        """Close in order."""
        self.transport.close()

    def abort(self) -> None:
        """Close at once; what is unread is thrown away."""
        self.transport.abort()

    def is_gone(self) -> bool:
        """Say whether nothing can be sent any more."""
        return self.transport.is_closing()

    def is_abandoned(self) -> bool:
        """Return whether the client has left while a query is answered and no more requests are read, which hides it
        from the loop.
        """
        connected = self.transport.get_extra_info("socket")
        return (
            self.query is not None and bool(self.pipeline) and connected is not None and is_closed(connected.fileno())
        )

    def make_room(self, size: int) -> bool:
        """Say whether an answer of so many bytes has room beside all that clients have not read."""
        return self.table.make_room(self, size)

    def note_unread(self) -> None:
        """Count what the client has not read yet."""
        self.table.note_unread(self)

    async def wait_until_read(self) -> bool:
        """Wait until the client has taken the answers before this one; false where it is gone."""
        if not self.flow.write_paused:
            return True
        await self.flow.drain()
        return not self.is_gone()

    def is_overdue(self) -> bool:
        """Return whether the peer has kept the connection too long without a whole request."""
        now = self.loop.time()
        if not self.at_rest:
            return now - self.began > REQUEST_SECONDS
        silent: RequestResponseCycle | None = self.cycle
        return silent is None and now - max(self.opened, self.last_answer) > self.timeout_keep_alive

    def data_received(self, data: bytes) -> None:
        """Answer from memory, or feed the parser."""
        if self.at_rest:
            line, _, block = data.partition(b"\r\n")
            block_key = block if self.keyed_digest is None else self._digest_block(block)
            answers = self.cache.blocks.get(block_key)
            if answers is not None:
                answer = answers.get(line)
                if (
                    answer is not None
                    and self._is_free()
                    and not (self.cache.until and self.cache.has_expired(block_key))
                ):
                    self.transport.write(self.cache.head_for(self.server_state.default_headers) + answer)
                    self.cache.hits += 1
                    self.last_answer = self.loop.time()
                    if self.timeout_keep_alive_task is None:
                        self._arm(self.timeout_keep_alive)
                    return
            self._feed(data, line, block, block_key)
        else:
            self._parse_within_limits(data, self.messages)

    def _digest_block(self, block: bytes) -> bytes:
        """The digest of a header block and of this connection's certificate; most blocks are as the one before."""
        if block != self.last_digest[0]:
            assert self.keyed_digest is not None
            digest = self.keyed_digest.copy()
            digest.update(block)
            self.last_digest = (block if len(block) <= BLOCK_BYTES else None, digest.digest())
        return self.last_digest[1]

    def _is_free(self) -> bool:
        """Return whether nothing is being answered on this connection and the peer reads what it gets."""
        cycle: RequestResponseCycle | None = self.cycle
        is_complete = cycle is None or (cycle.response_complete and cycle.keep_alive)
        return is_complete and not self.flow.write_paused and not self.pipeline

    def _feed(self, data: bytes, line: bytes, block: bytes, block_key: bytes) -> None:
        """Let the parser have a chunk that begins a message, and give the slow path a permit if it was one message."""
        self.messages = 0
        self._parse_within_limits(data, 1)
        if self.messages != 1 or not self.at_rest or self.transport.is_closing() or len(block) > BLOCK_BYTES:
            return
        cycle = self.cycle
        if self.scope["method"] == "GET" and cycle.keep_alive and not cycle.response_complete and not self.pipeline:
            names = CACHED_HEADERS if self.keyed_digest is None else CACHED_HEADERS_WITH_RIGHTS
            harmless = all(name in names for name, _ in self.headers)
            if harmless and line.endswith(b" HTTP/1.1") and block.endswith(b"\r\n\r\n") and not cycle.body:
                set_cache_permit(
                    cast("dict[str, Any]", self.scope), CacheableRequest(self.cache, line, block_key, self.cache.epoch)
                )

    def _parse_within_limits(self, data: bytes, alone: int) -> None:
        """Let the parser have a chunk; refuse a message whose headers don't end.

        A chunk counts in full where it holds one message alone, the one of that number.
        """
        if self.has_ended:
            self._refuse_http2(data)
            return
        self.chunk = len(data)
        self._unset_keepalive_if_required()
        try:
            self._parse(data)
        except httptools.HttpParserError as failure:
            end = find_preface_end(data) if self.parser.get_method() == b"PRI" else -1
            if end >= 0 and not self.is_answering():
                self.http2 = Http2Refusal()
                self.has_ended = True
                self._refuse_http2(data[end:])
                return
            self._refuse(refused_version("") if "HTTP version" in str(failure) else self.refusing)
            return
        if self.at_rest or self.waiting < 0:
            return
        if self.messages == alone:
            self.waiting += self.chunk
        if self.waiting > HEAD_BYTES:
            self._refuse(TOO_LARGE)
        elif self.url and lacks_version(data, self.parser.get_method() + b" " + self.url):
            self._refuse(refused_version("0.9"))  # the parser would wait for headers, which such a request has not

    def _refuse_http2(self, data: bytes) -> None:
        """Answer a client that has begun with HTTP/2 once its first request is there."""
        answer = None if self.http2 is None or self.transport.is_closing() else self.http2.take(data)
        if answer is not None:
            self.transport.write(answer)
            self.transport.close()

    def _parse(self, data: bytes) -> None:
        """Feed the parser. It leaves HTTP behind a request for another protocol; we don't, and feed a new one."""
        rest: bytes | memoryview = data
        while rest:
            try:
                self.parser.feed_data(rest)
            except httptools.HttpParserUpgrade as upgrade:
                if not self.is_upgrading:  # CONNECT: what follows is not HTTP
                    self.has_ended = True
                    self.cycle.keep_alive = False
                    return
                rest = memoryview(rest)[upgrade.args[0] :]
                self._ignore_upgrade()
            else:
                return

    def _ignore_upgrade(self) -> None:
        """Begin the present message again, without the header that asks for another protocol (RFC 9110 7.8)."""
        before, began = self.parser, self.began
        head = head_without_upgrade(before.get_method(), self.url, before.get_http_version(), self.headers)
        self.is_upgrading = False
        self.messages -= 1
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn's
        self.parser.feed_data(head)
        self.began = began

    def _refuse(self, refused: RefusedHeadError) -> None:
        """Answer a refused message, unless others wait for answers before it, and read no more."""
        self.has_ended = True
        if self.transport.is_closing():
            return
        is_in_body = self.waiting < 0 and not self.at_rest
        if is_in_body and self.pipeline:  # its head was good, and it waits for its turn
            self.pipeline.popleft()
            self.cycle, is_in_body = self.earlier[-1], False
        if not is_in_body and self.is_answering():
            self.at_rest, self.cycle.keep_alive = True, False
            return
        if not (is_in_body and self.cycle.response_started):
            self.transport.write(refuse_connection(refused.status, refused.phrase, refused.why))
        self.transport.close()

    def on_message_begin(self) -> None:
        """Note that a message has begun."""
        self.at_rest = False
        self.began = self.loop.time()
        self.messages += 1
        self.waiting = 0
        super().on_message_begin()
        scope = cast("dict[str, Any]", self.scope)
        set_connection(scope, self)
        if self.certificate is not None:
            scope[PEER] = self.certificate

    def on_headers_complete(self) -> None:
        """Note that only a body can follow; refuse headers that are complete and too long, in however many chunks they
        came, and those that no server may act on.
        """
        try:
            if self.waiting + self.chunk > HEAD_BYTES and self._head() > HEAD_BYTES:
                raise TOO_LARGE
            if self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT":
                self.is_upgrading = True
                return
            refuse_head(self.parser.get_http_version(), self.headers)
            self.url = to_origin_form(self.url, self.headers)
        except RefusedHeadError as refused:  # the parser ends then
            self.refusing = refused
            raise
        before = (self.cycle,) if self.is_answering() else ()
        super().on_headers_complete()
        self.waiting = -1
        if before:
            self.earlier = (*(cycle for cycle in self.earlier if not cycle.response_complete), *before)

    def _head(self) -> int:
        """The bytes of a request line's target and of all headers, with what parts them."""
        return len(getattr(self, "url", b"")) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def on_message_complete(self) -> None:
        """Note that the message is complete."""
        if not self.is_upgrading:
            self.at_rest = True
            super().on_message_complete()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; one that was answered from memory meanwhile gets the rest of its time."""
        left = self.last_answer + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self._arm(left)
        else:
            super().timeout_keep_alive_handler()

    def _arm(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)


NEEDED = (
    "cycle", "flow", "headers", "loop", "parser", "pipeline", "scope", "server_state", "timeout_keep_alive",
    "timeout_keep_alive_task", "transport", "_unset_keepalive_if_required",
)  # fmt: skip
"""What `CachingProtocol` uses of a connection that uvicorn made."""
OVERRIDDEN = (
    "connection_made", "connection_lost", "pause_writing", "resume_writing", "data_received", "on_message_begin",
    "on_headers_complete", "on_message_complete", "timeout_keep_alive_handler",
)  # fmt: skip
"""What it puts in place of uvicorn's."""


def is_supported(kind: type[asyncio.Protocol], sample: asyncio.Protocol) -> bool:
    """Return whether a protocol of uvicorn, its class and one made of it, has all that the response cache needs."""
    return all(callable(getattr(kind, name, None)) for name in OVERRIDDEN) and all(hasattr(sample, n) for n in NEEDED)


def make_protocol(cache: ResponseCache, table: ConnectionTable | None = None) -> type[HttpToolsProtocol]:
    """Return the protocol class of one server, which shares `cache` and `table` among its connections."""
    members: dict[str, Any] = {"cache": cache, "table": table or ConnectionTable(asyncio.get_running_loop().time)}
    return type("ServerCachingProtocol", (CachingProtocol,), members)

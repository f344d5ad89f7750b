"""The transport between nodes sends commands over HTTP with persistent connections, and says whether another node was reached, refused the secret or
lost the answer.
"""

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from urllib.parse import SplitResult

import httpcore2

from treaty.core.urls import UrlError, hide_credentials, split_server_url
from treaty.wire.peer.batch import LINE_BYTES
from treaty.wire.peer.message import PATH, REFUSED, SECRET, PeerUnreachableError

CONNECTIONS = 128
"""The most connections to other nodes; a batch waits for a free one. Usually there is one per node."""
SHOWN_BYTES = 300
"""The most bytes of an error in a message."""
CONNECT_SECONDS = 3.0
_NOT_SENT = (httpcore2.ConnectError, httpcore2.ConnectTimeout, httpcore2.PoolTimeout)
_LOST = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, TimeoutError, OSError)


def no_request_id() -> str:
    """Return an empty request id."""
    return ""


def do_nothing() -> None:
    """Renew nothing."""


@dataclass(frozen=True, slots=True)
class PeerCredentials:
    """The secret and certificates by which nodes authenticate each other."""

    secret: str = field(default="", repr=False)
    """Sent over TLS or to this machine only; with `plaintext` also over plain HTTP."""
    tls: ssl.SSLContext | None = None
    """None: the system's CAs, and no client certificate."""
    plaintext: bool = False
    renew: Callable[[], None] = do_nothing
    """Called before each request: has new connections present the certificate that is in the files now."""
    request_id: Callable[[], str] = no_request_id
    """Return the id of the current request, for the log lines of the other node."""


class HttpPeerTransport:
    """Sends commands to the endpoints of other nodes. Belongs to the event loop that first uses it."""

    def __init__(self, credentials: PeerCredentials) -> None:
        """Open no connection yet."""
        self._credentials = credentials
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=credentials.tls, max_connections=CONNECTIONS, keepalive_expiry=30.0
        )

    def request_id(self) -> str:
        """The id of the current request; may be empty."""
        return self._credentials.request_id()

    async def send(
        self, address: str, body: bytes, take_line: Callable[[bytes], None], *, timeout: float, request_id: str
    ) -> None:
        """Send a body to the node at an address, and call `take_line` with each line of its answer.

        Raises `PeerUnreachableError`, at the latest after `timeout` seconds, and what `take_line` raises.
        """
        headers = self._headers(address, request_id)
        self._credentials.renew()
        wait = {**dict.fromkeys(("read", "write", "pool"), timeout), "connect": min(CONNECT_SECONDS, timeout)}
        url = f"{address.rstrip('/')}{PATH}"
        try:
            async with (
                asyncio.timeout(timeout),
                self._pool.stream("POST", url, headers=headers, content=body, extensions={"timeout": wait}) as response,
            ):
                chunks = response.aiter_stream()
                if response.status != 200:
                    raise await _read_refusal(address, response, chunks)
                await read_lines(address, chunks, take_line)
        except _NOT_SENT as error:
            raise PeerUnreachableError(f"{address} can't be reached: {_describe_error(error)}", left=False) from None
        except _LOST as error:
            raise PeerUnreachableError(f"{address} did not answer: {_describe_error(error)}", left=True) from None

    def _headers(self, address: str, request_id: str) -> list[tuple[str, str]]:
        try:
            parts = split_server_url(address)
        except UrlError as error:
            raise PeerUnreachableError(f"the address of a node is wrong: {error}", left=False) from None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise PeerUnreachableError(f"{hide_credentials(address)[:200]!r} is no address of a node", left=False)
        headers = [("host", parts.netloc.rpartition("@")[2]), ("content-type", "application/json")]
        if request_id:
            headers.append(("x-request-id", request_id))
        if self._credentials.secret:
            if not (parts.scheme == "https" or self._credentials.plaintext or _is_this_machine(parts)):
                message = f"the secret is not sent to {address} unencrypted; serve with TLS"
                raise PeerUnreachableError(message, left=False)
            headers.append((SECRET, self._credentials.secret))
        return headers

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


def _is_this_machine(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def read_lines(address: str, chunks: AsyncIterator[bytes], take_line: Callable[[bytes], None]) -> None:
    """Pass on the answer line by line; an incomplete last line is dropped."""
    rest = bytearray()
    async for chunk in chunks:
        begin = len(rest)
        rest += chunk
        while (end := rest.find(b"\n", begin)) >= 0:
            take_line(bytes(rest[:end]))
            del rest[: end + 1]
            begin = 0
        if len(rest) > LINE_BYTES:
            raise PeerUnreachableError(f"a line of {address} exceeds {LINE_BYTES} bytes", left=True)


async def _read_refusal(
    address: str, response: httpcore2.Response, chunks: AsyncIterator[bytes]
) -> PeerUnreachableError:
    """Return the error in an answer without lines."""
    body = b""
    async for chunk in chunks:
        body = (body + chunk)[:SHOWN_BYTES]
    took_none = any(name.lower() == REFUSED.encode() for name, _ in response.headers)
    left = not took_none and response.status != 404
    return PeerUnreachableError(_explain_status(address, response.status, body.decode("utf-8", "replace")), left=left)


def _describe_error(error: BaseException) -> str:
    return str(error) or type(error).__name__


def _explain_status(address: str, status: int, body: str) -> str:
    if status == 404:
        return f"{address} accepts no commands of other nodes; start it with --peer-secret-file, too"
    if status in {401, 403}:
        return f"{address} does not accept this node as a peer; give all nodes the same secret ({body})"
    return f"{address} answers with status {status}: {body}"

"""What a client gets that begins with HTTP/2: the answer 505 in that protocol, with the reason, and the end of the connection.

RFC 9113 is HTTP/2, RFC 7541 how it prints headers. A client that begins so has no way back to HTTP/1.1, and an answer in HTTP/1.1 would be
an unreadable frame to it.
"""

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""What such a client sends first (RFC 9113 3.4)."""
MOST_BYTES = 65_536
"""Bytes that are read of a client before it is answered; more than it may send of one request without a permit (RFC 9113 6.9.2)."""
REASON = (
    "the server speaks HTTP/1.1: let the client begin with that version, or put a proxy that speaks HTTP/2 to clients "
    "and HTTP/1.1 to servers before the server, as nginx does"
)
_HEAD = 9
"""Bytes of the head of a frame: its length, its kind, its flags and its stream (RFC 9113 4.1)."""
_DATA, _HEADERS, _SETTINGS, _GOAWAY = 0, 1, 4, 7
_END_STREAM, _END_HEADERS = 1, 4
_HTTP_1_1_REQUIRED = (13).to_bytes(4, "big")


def find_preface_end(data: bytes) -> int:
    """Return where the preface ends in the chunk that has its end, which may have begun in an earlier chunk; -1 where it does not."""
    ends = (len(PREFACE) - at for at in range(len(PREFACE)) if data.startswith(PREFACE[at:]))
    return next(ends, -1)


class Http2Refusal:
    """The bytes of a client behind the preface of HTTP/2, until its first request is there."""

    def __init__(self) -> None:
        self._read = bytearray()
        self._place = 0
        """Where the first frame begins whose end is not there yet: those before it are not looked at again."""
        self._stream = 0
        """The stream of the first frame of headers, 0 where none has begun."""

    def take(self, data: bytes) -> bytes | None:
        """Take what the client has sent; return the answer once its first request is there, and None before that.

        A request of more than MOST_BYTES is answered before its end.
        """
        self._read += data
        is_whole = self._find_end()
        if not is_whole and len(self._read) <= MOST_BYTES:
            return None
        settings = _print_frame(_SETTINGS, 0, 0, b"")
        return settings + (_print_answer(self._stream) if self._stream else b"") + _end_connection(self._stream)

    def _find_end(self) -> bool:
        """Continue to the frame that ends the first request, and say whether it is there as a whole."""
        while len(self._read) >= self._place + _HEAD:
            head = self._read[self._place : self._place + _HEAD]
            end = self._place + _HEAD + int.from_bytes(head[:3], "big")
            stream = int.from_bytes(head[5:], "big") & 0x7FFFFFFF
            if head[3] == _HEADERS and not self._stream:
                self._stream = stream
            if len(self._read) < end:
                return False
            self._place = end
            if head[3] in {_DATA, _HEADERS} and head[4] & _END_STREAM and stream == self._stream:
                return True
        return False


def _print_answer(stream: int) -> bytes:
    """The frames of an answer 505 on a stream."""
    body = b'{"error_code":505,"message":"HTTP 505 HTTP Version Not Supported: %b"}' % REASON.encode()
    # Literals that are not indexed, with the names 8, :status, and 31, content-type, of the static table (RFC 7541 6.2.2, A).
    headers = b"\x08\x03505\x0f\x10\x10application/json"
    return _print_frame(_HEADERS, _END_HEADERS, stream, headers) + _print_frame(_DATA, _END_STREAM, stream, body)


def _end_connection(stream: int) -> bytes:
    """The frame that ends a connection whose last stream is this one."""
    return _print_frame(_GOAWAY, 0, 0, stream.to_bytes(4, "big") + _HTTP_1_1_REQUIRED + REASON.encode())


def _print_frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload

"""Heads of HTTP/1.1 requests: those that a server has to refuse, the host that an absolute target names, and requests for
another protocol.

RFC 9110 is HTTP's semantics, RFC 9112 is HTTP/1.1.
"""

from collections.abc import Sequence

import httptools

Header = tuple[bytes, bytes]
"""The name of a header, in small letters, and its value."""

BAD_REQUEST = "Bad Request"
VERSIONS = frozenset({"1.0", "1.1"})


class RefusedHeadError(ValueError):
    """A request that is refused for its head, before any dialect sees it: `status`, `phrase`, and `why`."""

    def __init__(self, status: int, phrase: str, why: str = "") -> None:
        """Keep the parts of the answer."""
        super().__init__(f"{status} {phrase}: {why}")
        self.status, self.phrase, self.why = status, phrase, why


def refuse_head(version: str, headers: Sequence[Header]) -> None:
    """Raise `RefusedHeadError` for a head that no server may act on.

    A version other than 1.0 and 1.1 (RFC 9110 15.6.6), a host that is missing or there twice (RFC 9112 3.2), and
    transfer codings other than ``chunked`` (RFC 9112 6.1).
    """
    if version not in VERSIONS:
        raise refused_version(version)
    hosts = codings = 0
    for name, value in headers:
        if name == b"host":
            hosts += 1
        elif name == b"transfer-encoding":
            codings += 1
            _refuse_codings(value)
    if hosts > 1 or (not hosts and version == "1.1"):
        count = "has no header Host" if not hosts else f"has {hosts} headers Host"
        raise RefusedHeadError(400, BAD_REQUEST, f"the request {count}; send one")
    if codings > 1:
        raise RefusedHeadError(400, BAD_REQUEST, "the transfer coding chunked is there twice; send it once")


def refused_version(version: str) -> RefusedHeadError:
    """Return the refusal of a version of HTTP; 0.9 is what the parser says of a line without any."""
    if version == "0.9":
        return RefusedHeadError(400, BAD_REQUEST, "the request line has no version; end it with HTTP/1.1")
    return RefusedHeadError(505, "HTTP Version Not Supported", "the server speaks HTTP/1.1; send that version")


def lacks_version(data: bytes, begun: bytes) -> bool:
    """Say whether bytes end with a request line without a version, as HTTP/0.9 had it. `begun` is its method and target."""
    return data.endswith(b"\n") and data.rstrip(b"\r\n").rpartition(b"\n")[2] == begun


def _refuse_codings(value: bytes) -> None:
    codings = [coding.strip().lower() for coding in value.split(b",")]
    if any(coding.partition(b";")[0].rstrip() != b"chunked" for coding in codings):
        raise RefusedHeadError(
            501, "Not Implemented", "the only transfer coding known here is chunked; send the body so"
        )


def to_origin_form(target: bytes, headers: list[Header]) -> bytes:
    """Return a target without the scheme and host that it may begin with; this host replaces the header Host in `headers`.

    RFC 9112 3.2.2: the header does not count beside such a target. Raises `RefusedHeadError` for a target with a name of a
    user (RFC 9110 4.2.4).
    """
    if target.startswith(b"/") or b"://" not in target:
        return target
    parsed = httptools.parse_url(target)
    if parsed.userinfo or not parsed.host:
        raise RefusedHeadError(400, BAD_REQUEST, "the target names a user, or no host; send its path alone")
    host = b"[%b]" % parsed.host if b":" in parsed.host else parsed.host
    headers[:] = [header for header in headers if header[0] != b"host"]
    headers.append((b"host", b"%b:%d" % (host, parsed.port) if parsed.port else host))
    return (parsed.path or b"/") + (b"?" + parsed.query if parsed.query else b"")


def head_without_upgrade(method: bytes, target: bytes, version: str, headers: Sequence[Header]) -> bytes:
    """Return the bytes of a head, without the header ``Upgrade``: a server may ignore it (RFC 9110 7.8)."""
    lines = [b"%b %b HTTP/%b" % (method, target, version.encode())]
    lines.extend(b"%b: %b" % header for header in headers if header[0] != b"upgrade")
    return b"\r\n".join((*lines, b"", b""))

"""Reads API keys in the header ``apikey``, which are valid below ``/api`` alone."""

import hashlib
import re
from collections.abc import Iterable
from uuid import UUID

from treaty.wire.iglu.documents import IgluBodyError

PATH = b"/api"
"""The path of Iglu's API."""
_FORM = re.compile(rb"[0-9A-Fa-f]{1,8}(?:-[0-9A-Fa-f]{1,4}){3}-[0-9A-Fa-f]{1,12}")
"""What is a UUID for Java, which fills parts up with zeros."""


def is_below_api(raw_path: bytes) -> bool:
    """Return whether a path belongs to Iglu's API."""
    return raw_path == PATH or raw_path.startswith(PATH + b"/")


def read_api_key(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the digest of the key of a request; empty without one.

    Raises `IgluBodyError` 400 for a key that is no UUID, and where there are other credentials or several keys.
    """
    named = [(name, value) for name, value in headers if name in {b"apikey", b"authorization"}]
    keys = [value.strip() for name, value in named if name == b"apikey"]
    if not keys:
        return ""
    if len(named) > 1:
        raise IgluBodyError(400, "The request has more than one of the headers apikey and Authorization; allowed: one")
    if _FORM.fullmatch(keys[0]) is None:
        raise IgluBodyError(400, "Invalid UUID for ApiKey")
    parts = [part.decode().rjust(width, "0") for part, width in zip(keys[0].split(b"-"), (8, 4, 4, 4, 12), strict=True)]
    return digest_of(UUID("-".join(parts)))


def digest_of(key: UUID) -> str:
    """Return the digest by which a key is stored."""
    return hashlib.sha256(str(key).encode()).hexdigest()

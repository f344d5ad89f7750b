"""`RestSource`: a registry of another kind over HTTP, of which an import reads."""

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import quote, unquote

import msgspec
import urllib3
from urllib3.exceptions import HTTPError

from treaty.core.limits import IMPORT_ANSWER_BYTES
from treaty.core.refusals import RegistryError
from treaty.core.urls import UrlError, split_server_url

A = TypeVar("A")

THREADS = 8
"""Questions asked at once."""
TRIES = 3
"""How often a question is asked of a server that does not answer, or has no time."""
PAUSE, TIMEOUT = 0.2, 30.0
"""Seconds before the second try (twice as many before each further one), and of one answer."""


class RestSource:
    """Paths under a URL. User and password of the URL are sent as Basic credentials and are in no message."""

    def __init__(self, url: str) -> None:
        """Take a URL; nothing is sent. Raises `RegistryError` for what is none."""
        try:
            parts = split_server_url(url)
        except UrlError as error:
            raise RegistryError(str(error)) from None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise RegistryError("the URL of a source begins with http:// or https:// and a host")
        self.path = parts.path.rstrip("/")
        self._base = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        self._headers = {}
        if parts.username is not None:
            login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            self._headers = dict(urllib3.make_headers(basic_auth=login))
        self._pool = urllib3.PoolManager(maxsize=THREADS, retries=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.clear()

    def get(
        self, path: str, *, accept: str = "application/json", query: Mapping[str, str] | None = None
    ) -> bytes | None:
        """Return the body of a path, or None for 404. Raises `RegistryError` for any other answer but 200, and for a server
        that does not answer.
        """
        for attempt in range(TRIES):
            try:
                response = self._pool.request(
                    "GET",
                    f"{self._base}{self.path}{path}",
                    fields=dict(query or {}),
                    headers={"accept": accept, **self._headers},
                    timeout=TIMEOUT,
                    redirect=False,
                    preload_content=False,
                )
                body = response.read(IMPORT_ANSWER_BYTES + 1, decode_content=True)
                response.release_conn()
            except (HTTPError, OSError) as error:
                why, wait = f"it does not answer: {type(error).__name__}", True
            else:
                if len(body) > IMPORT_ANSWER_BYTES:
                    response.close()
                    raise RegistryError(f"GET {path}: more than the limit IMPORT_ANSWER_BYTES of {IMPORT_ANSWER_BYTES}")
                if response.status in {200, 404}:
                    return body if response.status == 200 else None
                why, wait = f"it answers {response.status}", response.status >= 500
            if not wait or attempt == TRIES - 1:
                break
            time.sleep(PAUSE * 2**attempt)
        raise RegistryError(f"GET {path}: {why}")

    def read(self, kind: type[A], path: str, *, query: Mapping[str, str] | None = None) -> A | None:
        """Return the JSON of a path as a value of a kind, or None for 404. Raises `RegistryError` for anything else."""
        body = self.get(path, query=query)
        if body is None:
            return None
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise RegistryError(f"GET {path}: the answer can't be read: {str(error)[:200]}") from None


def quote_name(name: str) -> str:
    """Return a name as one segment of a path."""
    return quote(name, safe="")

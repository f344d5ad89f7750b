"""The pages for people as a server has them: their options, the key file of sessions, which `read_key` refuses where it can't be read or is too short,
and pages that are loaded when they are asked for.
"""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from treaty.api.auth.sessions import KEY_BYTES, PAGES_PREFIX
from treaty.api.auth.watched_file import AuthFileError
from treaty.api.dispatcher import MountedDialect


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Options of the pages. Without a key file sessions end with the server."""

    enabled: bool = True
    session_key: Path | None = None

    def read_key(self) -> bytes:
        """Return the key: that of the file, else a random one. Raises `AuthFileError` for an unusable file."""
        if self.session_key is None:
            return secrets.token_bytes(KEY_BYTES)
        try:
            key = self.session_key.read_bytes().strip()  # without the line feed that openssl and editors write
        except OSError as reason:
            fault = f"the key of sessions can't be read ({reason.strerror})"
            raise AuthFileError(self.session_key, 0, fault, "make it with: openssl rand -hex 32") from None
        if len(key) < KEY_BYTES:
            fault = f"the key of sessions has {len(key)} bytes, and {KEY_BYTES} are the fewest"
            raise AuthFileError(self.session_key, 0, fault, "make it with: openssl rand -hex 32")
        return key

    def with_shared_key(self, folder: Path) -> "PageSettings":
        """Return the settings of workers: with a random key in this folder, if there is no key file."""
        if self.session_key is not None or not self.enabled:
            return self
        path = folder / "session.key"
        path.touch(0o600)
        path.write_text(secrets.token_hex(KEY_BYTES))
        return replace(self, session_key=path)


DEFAULT_PAGES = PageSettings()


@dataclass(slots=True)
class LazyPages:
    """Pages whose templates and libraries are loaded when they are first needed: a server that is not looked at starts without them.

    The first request loads them on a thread. The page of a failure outside of them, if it comes first, loads them on the event loop.
    """

    load: Callable[[], MountedDialect]
    prefixes: tuple[bytes, ...] = (PAGES_PREFIX,)
    _pages: MountedDialect | None = None
    _loading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        if self._pages is None:
            async with self._loading:
                if self._pages is None:
                    self._pages = await asyncio.to_thread(self.load)
        await self._pages(scope, receive, send)

    def error_response(self, failure: Exception, scope: Scope) -> Response:
        """Return the page of a failure outside of the pages, such as missing credentials."""
        if self._pages is None:
            self._pages = self.load()
        return self._pages.error_response(failure, scope)

"""`HttpRegistry`: a registry over HTTP for synchronous programs. Thread-safe."""

import random
import time
import uuid
from collections.abc import Mapping
from typing import Any, TypeVar

from treaty.client.properties import settings_of
from treaty.client.protocol.client_state import make_client_state
from treaty.client.protocol.fallbacks import ask_registry
from treaty.client.protocol.http_transport import HttpTransport
from treaty.client.settings import ClientSettings
from treaty.core.messages.request import Request
from treaty.core.registry import CALL, CallOptions, Reply

A = TypeVar("A")


class HttpRegistry:
    """A `Registry` at a URL, with persistent connections. Thread-safe."""

    def __init__(self, settings: ClientSettings | str | Mapping[str, Any]) -> None:
        """Take settings, or the argument of `settings_of`. Sends nothing."""
        self._settings = settings if isinstance(settings, ClientSettings) else settings_of(settings)
        chance = random.Random().random  # noqa: S311 (jitter)
        self._state = make_client_state(self._settings, time.monotonic, chance, lambda: uuid.uuid4().hex)
        self._transport = HttpTransport(self._settings)

    def __repr__(self) -> str:
        return f"HttpRegistry({self._settings!r})"

    def ask(self, request: Request[A], call: CallOptions = CALL) -> Reply[A]:
        """Send a request and return its reply; raises the errors of `Registry`."""
        return self._transport.run(ask_registry(request, call, self._settings, self._state))

    def close(self) -> None:
        """Close all connections."""
        self._transport.close()

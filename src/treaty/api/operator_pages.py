"""Routes for operators: liveness (`/healthz`), readiness (`/readyz`, with the reason where a server is not ready), `/status` and `/metrics`."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import msgspec
from starlette.responses import Response

from treaty.api.bodies import compress_response
from treaty.api.dispatcher import Page, RunningNode
from treaty.api.metrics import ServerMetrics
from treaty.api.response_cache import ResponseCache
from treaty.core import limits
from treaty.core.messages.contexts import ListContexts
from treaty.core.refusals import RegistryError
from treaty.core.registry import CallOptions
from treaty.distribution import VERSION

RELEASE = VERSION
READY_SECONDS = 3.0
"""Time-out of a readiness check, in seconds."""
ListOpen = Callable[[], Mapping[str, str]]
"""Names of objects of a server's project that are not there yet, with the reason of each."""


def list_nothing() -> Mapping[str, str]:
    """Return that nothing is open."""
    return {}


@dataclass(frozen=True, slots=True)
class OperatorPages:
    """The routes, over one member."""

    member: RunningNode
    metrics: ServerMetrics
    cache: ResponseCache
    level: str = ""
    """The level of Confluent's API that is spoken."""
    read_only: bool = False
    """Whether this server refuses all changes."""
    list_open: ListOpen = list_nothing
    began: float = field(default_factory=time.monotonic)

    def paths(self) -> Mapping[bytes, Page]:
        """Endpoints by raw path; all are asked with GET."""
        return {
            b"/healthz": self.answer_health,
            b"/readyz": self.answer_readiness,
            b"/readyz/writes": self.answer_write_readiness,
            b"/ping": self.answer_ping,
            b"/status": self.status,
            b"/metrics": self.answer_metrics,
        }

    def paths_as_text(self) -> Mapping[bytes, Page]:
        """Endpoints by raw path for those who read text."""
        return {b"/status": self.answer_text_status}

    async def answer_text_status(self, accept_encoding: str) -> Response:
        """A line that begins with OK while the log is reachable, as schema-repo answers it; else 503 with the reason."""
        readiness = await self.answer_readiness(accept_encoding)
        text = "OK : treaty" if readiness.status_code == 200 else "not ready: the log is not reachable"
        headers = {"cache-control": "no-store", "x-content-type-options": "nosniff", "vary": "accept"}
        return Response(text, readiness.status_code, headers, "text/plain; charset=utf-8")

    async def answer_health(self, _accept_encoding: str) -> Response:
        """Liveness: the process answers."""
        return _json({"status": "ok"})

    async def answer_ping(self, _accept_encoding: str) -> Response:
        """Liveness, as clients of Pravega's registry ask for it: no body."""
        return Response(None, 200, {"cache-control": "no-store"})

    async def answer_readiness(self, _accept_encoding: str) -> Response:
        """Readiness: the server reaches its log. If not, 503 with the reason. The status of a read-only server is `read-only`. `open` has the
        queries of its project that are not there yet.
        """
        return await self._readiness(200)

    async def answer_write_readiness(self, _accept_encoding: str) -> Response:
        """Readiness for writes: the server accepts changes. If not, 503 with the reason."""
        return await self._readiness(503)

    async def _readiness(self, halted: int) -> Response:
        try:
            reply = await self.member.ask(ListContexts(), CallOptions("latest", timeout=READY_SECONDS))
        except RegistryError as reason:
            return _json({"status": "not ready", "reason": str(reason)}, 503)
        why = self.member.halted or ("this server was started with --read-only" if self.read_only else "")
        left = [{"name": name, "reason": reason} for name, reason in self.list_open().items()]
        project = {"open": left} if left else {}
        if why:
            return _json({"status": "read-only", "reason": why, "sequence": reply.token.sequence, **project}, halted)
        return _json({"status": "ready", "sequence": reply.token.sequence, **project})

    async def status(self, _accept_encoding: str) -> Response:
        """Position in the log, counts of what is stored, counters since the start, and the limits in force."""
        limit_values = {
            name.lower(): value for name, value in vars(limits).items() if name.isupper() and isinstance(value, int)
        }
        worker = {
            "index": self.metrics.worker,
            "pid": os.getpid(),
            "inFlight": self.metrics.in_flight,
            "hotHits": self.cache.hits,
            "hotBytes": self.cache.size,
        }
        server = {"version": RELEASE, "apiLevel": self.level, "uptimeSeconds": round(time.monotonic() - self.began, 3)}
        worker_gauges = {
            name: {word: gauges.get(gauge) for word, gauge in _SHOWN.items()}
            for name, gauges in self.metrics.workers().items()
        }
        members = {
            "server": server,
            "node": self.member.status(),
            "worker": worker,
            "workers": worker_gauges,
            "limits": limit_values,
        }
        return _json(members)

    async def answer_metrics(self, accept_encoding: str) -> Response:
        """Metrics of all workers, for Prometheus."""
        self.metrics.set_cache_hits(self.cache.hits)
        page = await asyncio.to_thread(self.metrics.page)  # it has a line for each bucket of each route
        response = Response(page, media_type="text/plain; version=0.0.4; charset=utf-8")
        response.headers["x-content-type-options"] = "nosniff"
        await compress_response(response, accept_encoding)
        return response


_SHOWN = {
    "sequence": "sequence",
    "behind": "behind",
    "queue": "queue",
    "inFlight": "in_flight",
    "readOnly": "read_only",
    "wrongRoot": "wrong_root",
    "refusing": "refusing",
    "trouble": "trouble",
}
"""Members of ``/status`` for each worker, with their gauges: as of the worker's last beat."""


def _json(members: object, status: int = 200) -> Response:
    headers = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
    return Response(msgspec.json.encode(members), status, headers, "application/json")

"""Publishing to an Iglu server and reading all its schemas, over its HTTP API."""

import json
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote

import urllib3

from treaty.core.iglu_key import IgluKey, IgluKeyError
from treaty.core.limits import IGLU_ANSWER_BYTES
from treaty.wire.iglu.errors import NO_ENDPOINT

JSON_SCHEMA = "jsonschema"
SECONDS = 30.0
"""Seconds that one request may take."""
_REFUSED = frozenset({401, 403, 404, 405})
"""Statuses that another server, or another path of this one, answers too."""
_LIST_BYTES = 64 * IGLU_ANSWER_BYTES
"""Bytes of the list of all schemas."""


class IgluServerError(Exception):
    """A server that can't be asked, or an answer that is none: what is wrong, and the status of the answer (0: none)."""

    def __init__(self, message: str, status: int = 0) -> None:
        """Keep the status."""
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class ServerAnswer:
    """An answer: its status, and its body."""

    status: int
    data: bytes

    @property
    def body(self) -> Any:
        """The body as JSON; None where it is none."""
        try:
            return json.loads(self.data)
        except ValueError:
            return None

    @property
    def is_of_iglu(self) -> bool:
        """Whether it is an error at a path of Iglu's API: errors of Confluent's API and of others look different."""
        body = self.body
        return isinstance(body, dict) and body.get("message", NO_ENDPOINT) != NO_ENDPOINT and "error_code" not in body

    @property
    def message(self) -> str:
        """The message of the body, with its report if there is one."""
        body = self.body
        if not isinstance(body, dict) or not isinstance(body.get("message"), str):
            return self.data[:200].decode("utf-8", "replace")
        report = body.get("report")
        lines = [one for one in report if isinstance(one, dict)] if isinstance(report, list) else []
        sentences = [f"{one.get('pointer', '')} {one.get('message', '')}".strip() for one in lines]
        return "; ".join([body["message"], *sentences])


@dataclass(frozen=True, slots=True)
class IgluServer:
    """An Iglu server by the URL of its API (``http://host:port/api``), and the key that is sent. Close it after use."""

    url: str
    apikey: str | None = None
    pool: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(maxsize=1, retries=False))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.clear()

    def put(self, key: IgluKey, data: bytes, *, public: bool) -> ServerAnswer:
        """Publish a schema under its key."""
        target = f"/schemas/{key.path}?isPublic={str(public).lower()}"
        return self._ask("PUT", target, data, IGLU_ANSWER_BYTES)

    def get(self, key: IgluKey) -> ServerAnswer:
        """Return a schema as it was published."""
        return self._ask("GET", f"/schemas/{key.path}", None, IGLU_ANSWER_BYTES)

    def list_keys(self) -> list[IgluKey]:
        """Return the keys of all schemas that may be read. Raises `IgluServerError`."""
        answer = self._ask("GET", "/schemas?repr=uri", None, _LIST_BYTES)
        if answer.status != 200 or not isinstance(answer.body, list):
            raise IgluServerError(f"{self.url}/schemas: {answer.status} {answer.message}", answer.status)
        try:
            return sorted(IgluKey.parse(str(one)) for one in answer.body)
        except IgluKeyError as error:
            raise IgluServerError(f"{self.url}/schemas: {error}", answer.status) from None

    def generate_keys(self, vendor: str) -> ServerAnswer:
        """Make a pair of keys for a vendor."""
        body = json.dumps({"vendorPrefix": vendor}).encode()
        return self._ask("POST", "/auth/keygen", body, IGLU_ANSWER_BYTES)

    def delete_key(self, key: str) -> ServerAnswer:
        """Remove a key."""
        return self._ask("DELETE", f"/auth/keygen?key={quote(key, safe='')}", None, IGLU_ANSWER_BYTES)

    def _ask(self, method: str, target: str, data: bytes | None, limit: int) -> ServerAnswer:
        headers = {"Accept": "application/json", "User-Agent": "treaty"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        if self.apikey:
            headers["apikey"] = self.apikey
        url = self.url.rstrip("/") + target
        try:
            answer = self.pool.request(
                method, url, body=data, headers=headers, redirect=False, timeout=SECONDS, preload_content=False
            )
            body = answer.read(limit + 1, decode_content=True)
            answer.drain_conn() if len(body) <= limit else answer.close()
            answer.release_conn()
        except (urllib3.exceptions.HTTPError, ValueError) as error:
            raise IgluServerError(f"{url} can't be asked: {error}") from None
        if len(body) > limit:
            raise IgluServerError(f"{url}: the answer has more than {limit} bytes", answer.status)
        server_answer = ServerAnswer(answer.status, body)
        if server_answer.status in _REFUSED and not server_answer.is_of_iglu:
            message = f"{url}: {server_answer.status} {server_answer.message}; no Iglu API answers there: {self._find_remedy()}"
            raise IgluServerError(message, server_answer.status)
        return server_answer

    def _find_remedy(self) -> str:
        base = self.url.rstrip("/")
        if base.endswith("/api"):
            return "check the host and the path; a server of Treaty has its Iglu API below http://host:port/api"
        return f"its address ends in /api, so try {base}/api"

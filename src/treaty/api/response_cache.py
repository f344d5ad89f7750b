"""The response cache: a request that came before, byte for byte, is answered from memory, without parsing it again.

A chunk from the network is looked up as two parts: its first line, and the rest, which is the block of headers. A
block is known once a request with it went the slow path whole, in one chunk, without a body, and with no header that
could change the answer but ``Accept``. Whatever else comes (another method, another order of headers, half a request,
two at once) takes the slow path. Finished answers are forgotten as soon as a commit has been applied.

With rights (`ResponseCache.digest_key`), a block may hold credentials: it is known as a keyed digest, together with the
certificate of its connection, belongs to one class of rights, and ends when the credentials do. Answers are kept by
class of rights.
"""

import math
import time
from dataclasses import dataclass, field, replace

from treaty.core.limits import HOT_BYTES

BLOCKS = 512
"""Header blocks that are remembered: one or two for each kind of client."""

Answers = dict[bytes, bytes]
Headers = list[tuple[bytes, bytes]]
Variant = tuple[object, ...]


@dataclass(slots=True)
class ResponseCache:
    """Finished answers by request line, in one table for each variant, reached through the header block."""

    limit: int = HOT_BYTES
    most_blocks: int = BLOCKS
    digest_key: bytes = b""
    """With rights, header blocks are kept as digests with this key, so that no credentials are."""
    blocks: dict[bytes, Answers] = field(default_factory=dict)
    until: dict[bytes, float] = field(default_factory=dict)
    """When the credentials in a block end (monotonic seconds), where they do."""
    variants: dict[Variant, Answers] = field(default_factory=dict)
    epoch: int = 0
    """Rises whenever the cache is emptied; an answer that was begun before is not kept."""
    size: int = 0
    hits: int = 0
    head: bytes = b""
    """Status line and default headers (the date), the same for all answers of one second."""
    head_of: Headers | None = None

    def empty(self) -> None:
        """Forget all answers: a commit has been applied."""
        self.epoch += 1
        if self.size:
            for answers in self.variants.values():
                answers.clear()
            self.size = 0

    def forget(self) -> None:
        """Forget answers, and who may have them: somebody may have lost a right or a credential."""
        self.empty()
        self.blocks.clear()
        self.until.clear()
        self.variants.clear()

    def has_expired(self, block: bytes) -> bool:
        """Return whether the credentials in a block have ended; they are looked at again then."""
        until = self.until.get(block)
        if until is None or time.monotonic() < until:
            return False
        del self.blocks[block], self.until[block]
        return True

    def keep(self, request: "CacheableRequest", variant: Variant, answer: bytes) -> None:
        """Keep an answer, unless it may be stale or there is no room."""
        size = len(request.line) + len(answer)
        if request.epoch != self.epoch or self.size + size > self.limit:
            return
        answers = self.variants.setdefault((request.rights, *variant), {})
        if request.block not in self.blocks and len(self.blocks) >= self.most_blocks:
            self.blocks.clear()
            self.until.clear()
        self.blocks[request.block] = answers
        if request.until < math.inf:
            self.until[request.block] = request.until
        if answers.get(request.line) is None:
            self.size += size
        answers[request.line] = answer

    def head_for(self, default_headers: Headers) -> bytes:
        """Return what stands before every kept answer; uvicorn makes a new list of default headers every second."""
        if default_headers is not self.head_of:
            lines = b"".join(name + b": " + value + b"\r\n" for name, value in default_headers)
            self.head, self.head_of = b"HTTP/1.1 200 OK\r\n" + lines, default_headers
        return self.head


@dataclass(frozen=True, slots=True)
class CacheableRequest:
    """A request that may be answered from memory the next time: the permit that the slow path gets."""

    cache: ResponseCache
    line: bytes
    block: bytes
    epoch: int
    rights: object = None
    """Callers with the same rights get the same answer."""
    until: float = math.inf

    def for_rights(self, rights: object, until: float) -> "CacheableRequest":
        """Return the same for these rights alone, and until a time (monotonic seconds)."""
        return replace(self, rights=rights, until=until)

    def keep(self, variant: Variant, headers: Headers, body: bytes) -> None:
        """Keep a finished answer, in the bytes that uvicorn would send."""
        lines = b"".join(name.lower() + b": " + value + b"\r\n" for name, value in headers)
        self.cache.keep(self, variant, lines + b"\r\n" + body)

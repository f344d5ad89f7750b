"""HTTP basic: passwords are compared with bcrypt hashes on threads, and correct ones are cached.

The time of a refusal does not reveal whether a user exists: the password of an unknown user is compared with a dummy
hash.
"""

import asyncio
import base64
import binascii
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from treaty.api.auth.credential_cache import CredentialCache
from treaty.api.auth.method import (
    AuthenticatedPrincipal,
    AuthenticationFailure,
    AuthenticationMethod,
    RequestCredentials,
)
from treaty.api.auth.password_queue import PasswordQueue
from treaty.api.auth.passwords import BCRYPT_BYTES, PasswordFile, read_passwords
from treaty.api.auth.watched_file import AuthFileError, WatchedFile

log = logging.getLogger("treaty.auth")

THREADS = 2
"""Threads of a worker that check passwords; bcrypt releases the GIL."""
NICENESS = 5
"""Niceness of these threads on Linux, so that the event loop has priority; those that wait for it hold no lock."""
TRUST_SECONDS = 86_400.0
"""Seconds for which credentials that were correct once have priority."""
WRONG_SECONDS = 10.0
"""Seconds for which a wrong password is cached, so that repeating it costs nothing."""
_WRONG = AuthenticationFailure("the name or the password is wrong")


@dataclass(frozen=True, slots=True)
class BasicSettings:
    """The section ``[basic]``: `remember` is the seconds for which a correct password is cached."""

    file: Path
    realm: str = "Treaty"
    remember: float = 300.0


def basic(settings: BasicSettings, clock: Callable[[], float] = time.monotonic) -> AuthenticationMethod:
    """Build the authenticator; raises `AuthFileError` for an unusable file."""
    users = _Users(settings, clock, WatchedFile(settings.file))
    users.read()
    challenge = f'Basic realm="{settings.realm}", charset="UTF-8"'
    return AuthenticationMethod(b"basic", challenge, users.check, users.refresh, users.close, users.stamp)


@dataclass(slots=True)
class _Users:
    settings: BasicSettings
    clock: Callable[[], float]
    watched: WatchedFile
    file: PasswordFile = field(init=False)
    generation: int = 0
    right: CredentialCache[AuthenticatedPrincipal] = field(init=False)
    wrong: CredentialCache[AuthenticationFailure] = field(init=False)
    trusted: CredentialCache[bool] = field(init=False)
    """Credentials that were correct once; they are still checked."""
    queue: PasswordQueue = field(init=False)
    checks: dict[bytes, "asyncio.Task[AuthenticatedPrincipal | AuthenticationFailure]"] = field(default_factory=dict)
    threads: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(THREADS, "treaty-password", initializer=_give_way)
    )

    def __post_init__(self) -> None:
        self.right, self.wrong = CredentialCache(self.clock), CredentialCache(self.clock)
        self.trusted = CredentialCache(self.clock)
        self.wrong.key = self.trusted.key = self.right.key
        self.queue = PasswordQueue(THREADS, self.clock)

    def read(self) -> None:
        self.file = read_passwords(self.watched.read(), self.watched.path)
        self.generation += 1
        self.right.forget()
        self.wrong.forget()

    async def refresh(self) -> bool:
        """Reload a changed file; an unusable one changes nothing."""
        if not self.watched.has_changed():
            return False
        try:
            self.read()
        except AuthFileError as error:
            log.error("the passwords do not change: %s", error)
            return False
        log.info("read %s again: %d users", self.settings.file, len(self.file.hashes))
        return True

    async def check(self, credentials: RequestCredentials) -> AuthenticatedPrincipal | AuthenticationFailure:
        header = credentials.authorization
        digest = self.right.digest(header)
        cached = self.right.get(digest) or self.wrong.get(digest)
        if cached is not None:
            return cached
        pair = _pair(header)
        if isinstance(pair, AuthenticationFailure):
            return pair
        task = self.checks.get(digest)
        if task is None:
            task = self.checks[digest] = asyncio.create_task(self._check_password(digest, credentials.address, *pair))
            task.add_done_callback(lambda _done: self.checks.pop(digest, None))
        return await asyncio.shield(task)

    async def _check_password(
        self, digest: bytes, address: str, name: str, password: bytes
    ) -> AuthenticatedPrincipal | AuthenticationFailure:
        """Check a password at its turn, again if the file changed meanwhile, and cache the result."""
        is_known, trusted = name in self.file.hashes, self.trusted.get(digest) is not None
        await self.queue.wait_for_turn(name, address, is_known=is_known, is_trusted=trusted)
        loop, right = asyncio.get_running_loop(), None
        try:
            while True:
                generation, file = self.generation, self.file
                right = await loop.run_in_executor(self.threads, _matches, file, name, password)
                if generation == self.generation:
                    break
        finally:
            self.queue.end_turn(address, is_right=right)
        if not right:
            self.wrong.put(digest, _WRONG, self.clock() + WRONG_SECONDS)
            return _WRONG
        until = self.clock() + self.settings.remember
        vouched = AuthenticatedPrincipal(f"user:{name}", until=until)
        self.right.put(digest, vouched, until)
        self.trusted.put(digest, True, self.clock() + TRUST_SECONDS)
        return vouched

    def stamp(self, principal: str) -> str:
        """Return the stored hash of a user's password; empty where there is no such user."""
        return self.file.hashes.get(principal.removeprefix("user:"), b"").decode("latin-1")

    def close(self) -> None:
        self.queue.close()
        self.threads.shutdown(wait=False, cancel_futures=True)


def _give_way() -> None:
    """Lower the priority of this thread; elsewhere than on Linux it would be that of the process."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)


def _pair(header: bytes) -> tuple[str, bytes] | AuthenticationFailure:
    """Parse name and password of the header."""
    _, _, word = header.partition(b" ")
    try:
        text = base64.b64decode(word.strip(), validate=True).decode()
    except (binascii.Error, ValueError):
        return AuthenticationFailure("the Authorization header is not the base64 of name:password in UTF-8")
    name, colon, password = text.partition(":")
    if not colon:
        return AuthenticationFailure("the Authorization header has no colon between name and password")
    return name, password.encode()


def _matches(file: PasswordFile, name: str, password: bytes) -> bool:
    import bcrypt  # noqa: PLC0415 (an extra that servers without passwords need not have)

    hashed = file.hashes.get(name) if len(password) <= BCRYPT_BYTES else None
    nobody = hashed is None
    if hashed is None:
        hashed = bcrypt.gensalt(file.cost) + b"." * 31
    return bcrypt.checkpw(password[:BCRYPT_BYTES], hashed) and not nobody

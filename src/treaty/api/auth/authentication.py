"""Authentication of requests, before anything else is done for them; the principal's access is kept for the answer."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from starlette.types import Scope

from treaty.api.auth.api_keys import ApiKeyRights, FindApiKey
from treaty.api.auth.basic import basic
from treaty.api.auth.bearer import bearer
from treaty.api.auth.certificate import certificate
from treaty.api.auth.method import (
    AuthenticatedPrincipal,
    AuthenticationFailure,
    AuthenticationMethod,
    RequestCredentials,
)
from treaty.api.auth.sessions import OPEN_PAGES, PAGES_PREFIX, SESSION_SECONDS, SessionClaims, SessionCookies, stamp_of
from treaty.api.auth.settings import AuthSettings, read_settings
from treaty.api.auth.watched_file import AuthFileError, WatchedFile
from treaty.api.network.addresses import network_of
from treaty.api.request_scope import (
    OPEN,
    PEER,
    RequestCaller,
    cache_permit_of,
    request_id_of,
    set_cache_permit,
    set_caller,
)
from treaty.core.access.api_key_rules import rule_of_key, super_rule
from treaty.core.access.rights import ANONYMOUS, Access, Rights, matches_pattern
from treaty.core.limits import CREDENTIALS_BYTES
from treaty.core.names import EVERYWHERE
from treaty.core.refusals import Forbidden, Reason, Unauthenticated
from treaty.distribution import install_command
from treaty.wire.iglu.api_keys import is_below_api, read_api_key

log = logging.getLogger("treaty.auth")

OPERATORS = frozenset({b"/status"})
"""Pages for administrators of everything: they contain names of subjects and files."""
METRICS = b"/metrics"
"""The page of metrics, which contains no names of subjects."""
LOOK_SECONDS = 1.0
"""Seconds between two checks of the files."""
_ANONYMOUS = AuthenticatedPrincipal(ANONYMOUS)
_SECTIONS = ("basic", "bearer", "certificate")


@dataclass(slots=True)
class RequestAuthenticator:
    """The rights of a file, reloaded when it changes. Made by `open_authentication`. `forget` is called whenever a principal
    may have lost a permission or credential.
    """

    watched: WatchedFile
    settings: AuthSettings
    methods: dict[str, AuthenticationMethod] = field(default_factory=dict)
    forget: Callable[[], None] = lambda: None
    refused: int = 0
    """Requests with missing or wrong credentials, unknown API keys among them."""
    find_key: FindApiKey | None = None
    """Finds API keys in the registry; None before there is one."""
    keyed: ApiKeyRights = field(default_factory=lambda: ApiKeyRights(Rights()))
    sessions: SessionCookies | None = None
    """The cookies of people; None where pages are off."""

    async def __call__(self, scope: Scope) -> None:
        """Authenticate a request: raises `Unauthenticated`, `Forbidden` for a page of operators, `Unavailable`."""
        set_caller(None)
        if scope["raw_path"] in OPEN or (self.sessions is not None and scope["raw_path"].startswith(OPEN_PAGES)):
            return
        if is_below_api(scope["raw_path"]) and await self._admit_with_key(scope):
            return
        vouched = await self._authenticate(scope)
        access = self.settings.rights.access(vouched.principal, vouched.groups)
        if scope["raw_path"] in OPERATORS and not access.may_whole("admin", EVERYWHERE):
            message = f"{vouched.principal} is not allowed to do this: it needs the permission admin on all contexts"
            raise Forbidden.of("RIGHTS", message, allowed="a rule that gives admin on subjects * and contexts *")
        if scope["raw_path"] == METRICS and not self._may_read_metrics(access, vouched.principal, vouched.groups):
            message = f"{vouched.principal} is not allowed to read the metrics"
            raise Forbidden.of("RIGHTS", message, allowed="to be named in [metrics], or where there is none, any rule")
        set_caller(RequestCaller(vouched.principal, access, request_id_of(scope).decode()))
        ticket = cache_permit_of(scope)
        if ticket is not None:
            set_cache_permit(scope, ticket.for_rights(access, vouched.until))

    async def _admit_with_key(self, scope: Scope) -> bool:
        """Set the caller of a request to Iglu's API that has a key; false where it has none.

        With ``anonymous = true`` an unknown key is as none, else it is refused (`Unauthenticated`). Raises `IgluBodyError` 400
        for a malformed key, and for one beside other credentials.
        """
        digest = read_api_key(scope["headers"])
        if not digest:
            return False
        rule = super_rule(digest) if digest in self.settings.super_keys else None
        if rule is None and self.find_key is not None:
            api_key = await self.find_key(digest)
            rule = None if api_key is None else rule_of_key(api_key)
        if rule is not None:
            keyed = self.keyed.of(rule)
            set_caller(RequestCaller(keyed.principal, keyed.access, request_id_of(scope).decode()))
            return True
        if not self.settings.anonymous:
            raise self._refuse("the API key is unknown")
        self.refused += 1
        set_caller(RequestCaller(ANONYMOUS, self.settings.rights.access(ANONYMOUS), request_id_of(scope).decode()))
        return True

    def _may_read_metrics(self, access: Access, principal: str, groups: tuple[str, ...]) -> bool:
        listed = self.settings.metrics
        if listed is None:
            return bool(access.rules)
        names = self.settings.rights.list_names(principal, groups)
        is_listed = any(matches_pattern(pattern, name) for pattern in listed for name in names)
        return is_listed or access.may_whole("admin", EVERYWHERE)

    async def _authenticate(self, scope: Scope) -> AuthenticatedPrincipal:
        authorizations = [value for name, value in scope["headers"] if name == b"authorization"]
        client = scope.get("client")
        credentials = RequestCredentials(
            authorizations[0] if authorizations else b"", scope.get(PEER), network_of(client[0]) if client else ""
        )
        verdict: AuthenticatedPrincipal | AuthenticationFailure
        if len(authorizations) > 1:
            verdict = AuthenticationFailure("there are several Authorization headers")
        elif len(credentials.authorization) > CREDENTIALS_BYTES:
            verdict = AuthenticationFailure(f"the Authorization header is longer than {CREDENTIALS_BYTES} bytes")
        elif authorizations:
            scheme = credentials.authorization.partition(b" ")[0].lower()
            method = next(
                (method for method in self.methods.values() if method.scheme and method.scheme == scheme), None
            )
            unknown = AuthenticationFailure("the scheme of the Authorization header is not accepted")
            verdict = await method.check(credentials) if method else unknown
        elif (visitor := self._find_session(scope)) is not None:
            return visitor
        elif credentials.certificate is not None and "certificate" in self.methods:
            verdict = await self.methods["certificate"].check(credentials)
        elif self.settings.anonymous:
            return _ANONYMOUS
        else:
            verdict = AuthenticationFailure("the request has no credentials")
        if isinstance(verdict, AuthenticatedPrincipal):
            return verdict
        raise self._refuse(verdict.why)

    def _find_session(self, scope: Scope) -> AuthenticatedPrincipal | None:
        """Return who logged in, for a request of a page; None without a session, or after what ended it."""
        if self.sessions is None or scope["raw_path"][: len(PAGES_PREFIX) + 1] not in {
            PAGES_PREFIX,
            PAGES_PREFIX + b"/",
        }:
            return None
        session = self.sessions.read(scope["headers"])
        if session is None or session.stamp != self._stamp(session.principal, session.groups):
            return None
        return AuthenticatedPrincipal(session.principal, session.groups)

    def _stamp(self, principal: str, groups: tuple[str, ...]) -> str:
        """Return the stamp of a principal now; one that changes with the rules, and with a password."""
        stored = "\n".join(method.stamp(principal) for method in self.methods.values())
        return stamp_of(self.settings.rights.access(principal, groups), stored)

    async def open_session(self, authorization: bytes, address: str) -> SessionClaims:
        """Return the session of who shows these credentials; raises `Unauthenticated`, `Unavailable`."""
        assert self.sessions is not None, "pages are on"
        scheme = authorization.partition(b" ")[0].lower()
        method = next((method for method in self.methods.values() if method.scheme and method.scheme == scheme), None)
        if method is None or len(authorization) > CREDENTIALS_BYTES:
            raise self._refuse("this server does not take such credentials")
        verdict = await method.check(RequestCredentials(authorization, None, network_of(address) if address else ""))
        if not isinstance(verdict, AuthenticatedPrincipal):
            raise self._refuse(verdict.why)
        seconds = SESSION_SECONDS if scheme == b"basic" else min(SESSION_SECONDS, verdict.until - time.monotonic())
        stamp = self._stamp(verdict.principal, verdict.groups)
        return SessionClaims(verdict.principal, verdict.groups, stamp, self.sessions.clock() + seconds)

    def _refuse(self, why: str) -> Unauthenticated:
        """Count a request without valid credentials, and return its refusal."""
        self.refused += 1
        challenges = tuple(method.challenge for method in self.methods.values() if method.challenge)
        ways = ", ".join(name for name in _SECTIONS if name in self.methods) or "none"
        return Unauthenticated(Reason("CREDENTIALS", f"Unauthorized: {why}", allowed=ways), challenges)

    async def follow(self) -> None:
        """Reload changed files until cancelled; each authenticator has its own interval."""
        async with asyncio.TaskGroup() as group:
            group.create_task(_repeat(self._refresh_file))
            for name in _SECTIONS:
                group.create_task(_repeat(partial(self._refresh_method, name)))

    async def refresh(self) -> None:
        """Check all files once; a file that is being written is read by the next check."""
        await self._refresh_file()
        for name in _SECTIONS:
            await self._refresh_method(name)

    async def _refresh_file(self) -> None:
        if not self.watched.has_changed():
            return
        try:
            settings = read_settings(self.watched.read(), self.watched.path)
            self.take(settings)
        except AuthFileError as error:
            log.error("the rights do not change: %s", error)
        except Exception:
            log.exception("the rights do not change: %s could not be read again", self.watched.path)
        else:
            log.info("read %s again: %d rules", self.watched.path, len(settings.rights.rules))

    async def _refresh_method(self, name: str) -> None:
        method = self.methods.get(name)
        try:
            if method is not None and await method.refresh():
                self.forget()
        except Exception:
            log.exception("the files of [%s] could not be checked", name)

    def take(self, settings: AuthSettings) -> None:
        """Apply new settings; an unchanged section keeps its state. Raises `AuthFileError`."""
        methods: dict[str, AuthenticationMethod] = {}
        opened = []
        try:
            for name in _SECTIONS:
                section = getattr(settings, name)
                if section is None:
                    continue
                if name in self.methods and section == getattr(self.settings, name):
                    methods[name] = self.methods[name]
                else:
                    _refuse_without_library(self.watched.path, name)
                    methods[name] = _METHODS[name](section)
                    opened.append(methods[name])
        except AuthFileError:
            for opened_method in opened:
                opened_method.close()
            raise
        for name, opened_method in self.methods.items():
            if methods.get(name) is not opened_method:
                opened_method.close()
        self.methods, self.settings, self.keyed = methods, settings, ApiKeyRights(settings.rights)
        self.forget()

    def close(self) -> None:
        """Stop threads."""
        for method in self.methods.values():
            method.close()


async def _repeat(refresh: Callable[[], Awaitable[None]]) -> None:
    while True:
        await refresh()
        await asyncio.sleep(LOOK_SECONDS)


_METHODS: dict[str, Callable[[Any], AuthenticationMethod]] = {
    "basic": basic,
    "bearer": bearer,
    "certificate": certificate,
}


_LIBRARIES = {"basic": "bcrypt", "bearer": "jwt"}


def _refuse_without_library(path: Path, section: str) -> None:
    library = _LIBRARIES.get(section)
    if library is None:
        return
    try:
        import_module(library)  # now, and not for the first request: there may be no file to open then
    except ImportError:
        remedy = f"install it with: {install_command('auth')}"
        raise AuthFileError(path, 0, f"[{section}] needs the library {library}", remedy) from None


def open_authentication(path: Path) -> RequestAuthenticator:
    """Read a file of rights and the files that it names; raises `AuthFileError`."""
    watched = WatchedFile(path)
    settings = read_settings(watched.read(), path)
    empty = replace(settings, basic=None, bearer=None, certificate=None)
    admission = RequestAuthenticator(watched, empty)
    admission.take(settings)
    return admission


def refuse_unusable_rights(path: Path, *, certificates: bool) -> None:
    """Raise `AuthFileError` for unusable files, or for rights by certificates that the server does not verify."""
    admission = open_authentication(path)
    admission.close()
    if admission.settings.certificate is not None and not certificates:
        remedy = "start the server with --tls-cert and --tls-client-ca"
        raise AuthFileError(path, 0, "[certificate] needs clients whose certificates are verified", remedy)


async def admit_everyone(scope: Scope) -> None:
    """Accept every request, without rights."""
    set_caller(RequestCaller(request_id=request_id_of(scope).decode()))

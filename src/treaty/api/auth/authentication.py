"""Admission: who asks is found out before anything else is done for them, and what they may do is held for the answer."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from starlette.types import Scope

from treaty.api.auth.basic import basic
from treaty.api.auth.bearer import bearer
from treaty.api.auth.certificate import certificate
from treaty.api.auth.method import (
    AuthenticatedPrincipal,
    AuthenticationFailure,
    AuthenticationMethod,
    RequestCredentials,
)
from treaty.api.auth.settings import AuthSettings, read_settings
from treaty.api.auth.watched_file import AuthFileError, WatchedFile
from treaty.api.caller import OPEN, RequestCaller, request_id_of, set_caller
from treaty.api.network.addresses import network_of
from treaty.api.request_scope import PEER, cache_permit_of, set_cache_permit
from treaty.core.access.rights import ANONYMOUS, Access, matches_pattern
from treaty.core.limits import CREDENTIALS_BYTES
from treaty.core.names import EVERYWHERE
from treaty.core.refusals import Forbidden, Reason, Unauthenticated

log = logging.getLogger("treaty.auth")

OPERATORS = frozenset({b"/status"})
"""Pages for who is admin of everything: they name subjects and places."""
METRICS = b"/metrics"
"""The page for those who watch: numbers of requests by route, and nothing of what is kept."""
LOOK_SECONDS = 1.0
"""How often the files are looked at."""
_ANONYMOUS = AuthenticatedPrincipal(ANONYMOUS)
_SECTIONS = ("basic", "bearer", "certificate")


@dataclass(slots=True)
class RequestAuthenticator:
    """What one file of rights says, followed while it changes. Make it with `open_admission`.

    `forget` is called whenever somebody may have lost a right or a credential.
    """

    watched: WatchedFile
    settings: AuthSettings
    methods: dict[str, AuthenticationMethod] = field(default_factory=dict)
    forget: Callable[[], None] = lambda: None
    refused: int = 0
    """Requests whose credentials were missing or wrong."""

    async def __call__(self, scope: Scope) -> None:
        """Let a request in: raises `Unauthenticated`, `Forbidden` for an operator's page, `Unavailable`."""
        set_caller(None)
        if scope["raw_path"] in OPEN:
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

    def _may_read_metrics(self, access: Access, principal: str, groups: tuple[str, ...]) -> bool:
        listed = self.settings.metrics
        if listed is None:
            return bool(access.rules)
        names = self.settings.rights.list_names(principal, groups)
        found = any(matches_pattern(pattern, name) for pattern in listed for name in names)
        return found or access.may_whole("admin", EVERYWHERE)

    async def _authenticate(self, scope: Scope) -> AuthenticatedPrincipal:
        shown = [value for name, value in scope["headers"] if name == b"authorization"]
        client = scope.get("client")
        credentials = RequestCredentials(
            shown[0] if shown else b"", scope.get(PEER), network_of(client[0]) if client else ""
        )
        verdict: AuthenticatedPrincipal | AuthenticationFailure
        if len(shown) > 1:
            verdict = AuthenticationFailure("there are several Authorization headers")
        elif len(credentials.authorization) > CREDENTIALS_BYTES:
            verdict = AuthenticationFailure(f"the Authorization header is longer than {CREDENTIALS_BYTES} bytes")
        elif shown:
            scheme = credentials.authorization.partition(b" ")[0].lower()
            method = next((one for one in self.methods.values() if one.scheme and one.scheme == scheme), None)
            unknown = AuthenticationFailure("the Authorization header is of no scheme that is open here")
            verdict = await method.check(credentials) if method else unknown
        elif credentials.certificate is not None and "certificate" in self.methods:
            verdict = await self.methods["certificate"].check(credentials)
        elif self.settings.anonymous:
            return _ANONYMOUS
        else:
            verdict = AuthenticationFailure("the request shows no credentials")
        if isinstance(verdict, AuthenticatedPrincipal):
            return verdict
        self.refused += 1
        challenges = tuple(one.challenge for one in self.methods.values() if one.challenge)
        ways = ", ".join(one for one in _SECTIONS if one in self.methods) or "none"
        raise Unauthenticated(Reason("CREDENTIALS", f"Unauthorized: {verdict.why}", allowed=ways), challenges)

    async def follow(self) -> None:
        """Follow the files until cancelled; each way to show who asks has its own pace."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow_file())
            for name in _SECTIONS:
                group.create_task(self._follow_method(name))

    async def _follow_file(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if not self.watched.changed():
                continue
            try:
                settings = read_settings(self.watched.read(), self.watched.path)
                self.take(settings)
            except AuthFileError as wrong:
                log.error("the rights stay as they were: %s", wrong)
            except Exception:
                log.exception("the rights stay as they were: %s could not be read again", self.watched.path)
            else:
                log.info("read %s again: %d rules", self.watched.path, len(settings.rights.rules))

    async def _follow_method(self, name: str) -> None:
        while True:
            method = self.methods.get(name)
            try:
                if method is not None and await method.refresh():
                    self.forget()
            except Exception:
                log.exception("what [%s] depends on could not be looked at", name)
            await asyncio.sleep(LOOK_SECONDS)

    def take(self, settings: AuthSettings) -> None:
        """Change to other settings; a section that is as it was keeps what it knows. Raises `AuthFileError`."""
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
            for one in opened:
                one.close()
            raise
        for name, one in self.methods.items():
            if methods.get(name) is not one:
                one.close()
        self.methods, self.settings = methods, settings
        self.forget()

    def close(self) -> None:
        """Give back threads."""
        for one in self.methods.values():
            one.close()


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
        remedy = "install it with: pip install 'treaty[auth]'"
        raise AuthFileError(path, 0, f"[{section}] needs the library {library}", remedy) from None


def open_authentication(path: Path) -> RequestAuthenticator:
    """Read a file of rights and what it names; raises `AuthFileError`."""
    watched = WatchedFile(path)
    settings = read_settings(watched.read(), path)
    empty = replace(settings, basic=None, bearer=None, certificate=None)
    admission = RequestAuthenticator(watched, empty)
    admission.take(settings)
    return admission


def refuse_unusable_rights(path: Path, *, certificates: bool) -> None:
    """Raise `AuthFileError` where the files can't be used, or need certificates of clients that nobody verifies."""
    admission = open_authentication(path)
    admission.close()
    if admission.settings.certificate is not None and not certificates:
        remedy = "start the server with --tls-cert and --tls-client-ca"
        raise AuthFileError(path, 0, "[certificate] needs clients whose certificates are verified", remedy)


async def admit_everyone(scope: Scope) -> None:
    """Let everybody in, where there are no rights."""
    set_caller(RequestCaller(request_id=request_id_of(scope).decode()))

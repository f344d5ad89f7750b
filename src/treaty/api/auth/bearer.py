"""Bearer tokens: JWTs are verified with a key of an identity provider's JWKS and kept for REMEMBER_SECONDS; expired or foreign ones are refused."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from treaty.api.auth.credential_cache import CredentialCache
from treaty.api.auth.keys import ALGORITHMS, KeySet
from treaty.api.auth.method import (
    AuthenticatedPrincipal,
    AuthenticationFailure,
    AuthenticationMethod,
    RequestCredentials,
)
from treaty.core.limits import PRINCIPAL_GROUPS, PRINCIPAL_LENGTH

REMEMBER_SECONDS = 300.0
"""Seconds for which a verified token is cached, at most until it expires."""

LEEWAY_SECONDS = 30.0
"""Seconds by which clocks may differ, if the file says nothing."""


@dataclass(frozen=True, slots=True)
class BearerSettings:
    """The section ``[bearer]``. `keys` is a file or URL; `principal` and `groups` are names of claims."""

    issuer: str
    audience: tuple[str, ...]
    keys: Path | str
    algorithms: tuple[str, ...] = ALGORITHMS
    leeway: float = LEEWAY_SECONDS
    principal: str = "sub"
    groups: str = ""
    ca: Path | None = None
    realm: str = "Treaty"


def bearer(settings: BearerSettings, clock: Callable[[], float] = time.monotonic) -> AuthenticationMethod:
    """Build the authenticator; raises `AuthFileError` for an unusable key file."""
    tokens = _Tokens(settings, clock, KeySet(settings.keys, settings.ca, clock))
    tokens.keys.open()
    tokens.verified_with = tokens.keys.data
    return AuthenticationMethod(b"bearer", f'Bearer realm="{settings.realm}"', tokens.check, tokens.refresh)


@dataclass(slots=True)
class _Tokens:
    settings: BearerSettings
    clock: Callable[[], float]
    keys: KeySet
    verified: CredentialCache[AuthenticatedPrincipal] = field(init=False)
    verified_with: bytes = b""
    """The keys of cached verifications, as JWKS."""
    rotated: bool = False
    """Whether cached verifications were dropped since the last `refresh`: other caches have to follow."""

    def __post_init__(self) -> None:
        self.verified = CredentialCache(self.clock)

    async def refresh(self) -> bool:
        await self.keys.refresh()
        self._drop_earlier()
        changed, self.rotated = self.rotated, False
        return changed

    def _drop_earlier(self) -> None:
        """Drop what was verified with earlier keys. The request that had others fetched may be cancelled meanwhile."""
        if self.keys.data != self.verified_with:
            self.verified.forget()
            self.verified_with, self.rotated = self.keys.data, True

    async def check(self, credentials: RequestCredentials) -> AuthenticatedPrincipal | AuthenticationFailure:
        self._drop_earlier()
        digest = self.verified.digest(credentials.authorization)
        cached = self.verified.get(digest)
        if cached is not None:
            return cached
        _, _, word = credentials.authorization.partition(b" ")
        verdict = await self._verify_token(word.strip())
        self._drop_earlier()
        if isinstance(verdict, AuthenticatedPrincipal):
            self.verified.put(digest, verdict, verdict.until)
        return verdict

    async def _verify_token(self, token: bytes) -> AuthenticatedPrincipal | AuthenticationFailure:
        """Verify a token. Its algorithm must be allowed *and* match the key."""
        import jwt  # noqa: PLC0415 (an extra that servers without tokens need not have)

        settings = self.settings
        try:
            head = jwt.get_unverified_header(token)
            algorithm, kid = head.get("alg"), head.get("kid", "")
            if algorithm not in settings.algorithms:
                return AuthenticationFailure(f"the token is not signed with one of {', '.join(settings.algorithms)}")
            if "crit" in head or not isinstance(kid, str):
                return AuthenticationFailure("the token's header has unknown critical members")
            key = await self.keys.find(kid, algorithm)
            if key is None:
                return AuthenticationFailure("the token is not signed with a known key")
            claims = jwt.decode(
                token,
                key.value,
                algorithms=[algorithm],
                audience=settings.audience,
                issuer=settings.issuer,
                leeway=settings.leeway,
                options={"require": ["exp", "iss", "aud", settings.principal], "enforce_minimum_key_length": True},
            )
            return self._principal_of(claims)
        except jwt.ExpiredSignatureError:
            return AuthenticationFailure("the token has expired")
        except jwt.InvalidAudienceError:
            return AuthenticationFailure("the token is for another audience")
        except jwt.InvalidIssuerError:
            return AuthenticationFailure("the token has another issuer")
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as error:
            return AuthenticationFailure(f"the token is not valid ({type(error).__name__})")

    def _principal_of(self, claims: Mapping[str, Any]) -> AuthenticatedPrincipal | AuthenticationFailure:
        name = claims.get(self.settings.principal)
        if not _is_name(name):
            return AuthenticationFailure(f"the token's claim {self.settings.principal} is no name")
        groups = claims.get(self.settings.groups, ()) if self.settings.groups else ()
        groups = groups.split() if isinstance(groups, str) else groups
        if not isinstance(groups, list | tuple) or len(groups) > PRINCIPAL_GROUPS or not all(map(_is_name, groups)):
            return AuthenticationFailure(f"the token's claim {self.settings.groups} is no list of names")
        left = float(claims["exp"]) + self.settings.leeway - time.time()
        return AuthenticatedPrincipal(f"token:{name}", tuple(groups), self.clock() + min(left, REMEMBER_SECONDS))


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= PRINCIPAL_LENGTH and value.isprintable()

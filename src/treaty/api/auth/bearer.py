"""Bearer tokens: JWTs that an identity provider signed with a key of its set."""

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
"""How long a token that was verified is not verified again; never longer than it lives."""


@dataclass(frozen=True, slots=True)
class BearerSettings:
    """The section ``[bearer]``. `keys` is a file or an address; `principal` and `groups` name claims of the token."""

    issuer: str
    audience: tuple[str, ...]
    keys: Path | str
    algorithms: tuple[str, ...] = ALGORITHMS
    leeway: float = 30.0
    principal: str = "sub"
    groups: str = ""
    ca: Path | None = None
    realm: str = "Treaty"


def bearer(settings: BearerSettings, clock: Callable[[], float] = time.monotonic) -> AuthenticationMethod:
    """Build the authenticator; raises `AuthFileError` where a file of keys can't be used."""
    tokens = _Tokens(settings, clock, KeySet(settings.keys, settings.ca, clock))
    tokens.keys.open()
    return AuthenticationMethod(b"bearer", f'Bearer realm="{settings.realm}"', tokens.check, tokens.refresh)


@dataclass(slots=True)
class _Tokens:
    settings: BearerSettings
    clock: Callable[[], float]
    keys: KeySet
    known: CredentialCache[AuthenticatedPrincipal] = field(init=False)
    rotated: bool = False
    """A token brought the news of other keys; the next `refresh` forgets what the old ones verified."""

    def __post_init__(self) -> None:
        self.known = CredentialCache(self.clock)

    async def refresh(self) -> bool:
        changed = await self.keys.refresh() or self.rotated
        if changed:
            self.known.forget()
            self.rotated = False
        return changed

    async def check(self, credentials: RequestCredentials) -> AuthenticatedPrincipal | AuthenticationFailure:
        digest = self.known.digest(credentials.authorization)
        known = self.known.get(digest)
        if known is not None:
            return known
        _, _, word = credentials.authorization.partition(b" ")
        verdict = await self._verified(word.strip())
        if isinstance(verdict, AuthenticatedPrincipal):
            self.known.put(digest, verdict, verdict.until)
        return verdict

    async def _verified(self, token: bytes) -> AuthenticatedPrincipal | AuthenticationFailure:
        """Verify a token. The algorithm has to be one that is allowed *and* one that the key is for."""
        import jwt  # noqa: PLC0415 (an extra that servers without tokens need not have)

        settings = self.settings
        try:
            head = jwt.get_unverified_header(token)
            algorithm, kid = head.get("alg"), head.get("kid", "")
            if algorithm not in settings.algorithms:
                return AuthenticationFailure(f"the token is not signed with one of {', '.join(settings.algorithms)}")
            if "crit" in head or not isinstance(kid, str):
                return AuthenticationFailure("the token's head has members that are not understood")
            before = self.keys.data
            key = await self.keys.find(kid, algorithm)
            self.rotated = self.rotated or self.keys.data != before
            if key is None:
                return AuthenticationFailure("the token is not signed with a key that is known")
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
            return AuthenticationFailure("the token is of another issuer")
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as wrong:
            return AuthenticationFailure(f"the token is not valid ({type(wrong).__name__})")

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

"""Client certificates: TLS has verified the chain, and here the principal is read from the subject or its alternative names, or the certificate is refused."""

import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from treaty.api.auth.method import (
    AuthenticatedPrincipal,
    AuthenticationFailure,
    AuthenticationMethod,
    RequestCredentials,
)
from treaty.core.limits import PRINCIPAL_LENGTH

Naming = Literal["cn", "dns", "uri", "email"]
NAMINGS: tuple[Naming, ...] = get_args(Naming)
_ALTERNATIVES = {"dns": "DNS", "uri": "URI", "email": "email"}


@dataclass(frozen=True, slots=True)
class CertificateSettings:
    """The section ``[certificate]``: the member with the principal, the common name or an alternative name."""

    name: Naming = "cn"


def certificate(settings: CertificateSettings, clock: Callable[[], float] = time.monotonic) -> AuthenticationMethod:
    """Build the authenticator. It has no challenge: a certificate cannot be requested after the TLS handshake."""

    async def check(credentials: RequestCredentials) -> AuthenticatedPrincipal | AuthenticationFailure:
        peer_certificate: Any = credentials.certificate or {}
        names = _names(peer_certificate, settings.name)
        if len(names) != 1 or not names[0].isprintable() or not 0 < len(names[0]) <= PRINCIPAL_LENGTH:
            return AuthenticationFailure(
                f"the certificate has {len(names)} names of kind {settings.name}; expected one"
            )
        left = ssl.cert_time_to_seconds(peer_certificate["notAfter"]) - time.time()
        if left <= 0:
            return AuthenticationFailure("the certificate has expired")
        return AuthenticatedPrincipal(f"cert:{names[0]}", until=clock() + left)

    return AuthenticationMethod(b"", "", check)


def _names(peer_certificate: Any, naming: Naming) -> list[str]:
    if naming == "cn":
        return [value for part in peer_certificate.get("subject", ()) for name, value in part if name == "commonName"]
    kind = _ALTERNATIVES[naming]
    return [value for name, value in peer_certificate.get("subjectAltName", ()) if name == kind]

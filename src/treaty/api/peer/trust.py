"""`Trust`: who counts as another node of this registry: who knows the secret, or shows a certificate with a name of one."""

import hmac
from dataclasses import dataclass
from typing import Any

from starlette.types import Scope

from treaty.api.failures import HttpError
from treaty.api.ticket import PEER
from treaty.wire.peer.headers import REFUSED, SECRET

_SECRET = SECRET.lower().encode()


@dataclass(frozen=True, slots=True)
class Trust:
    """Any of these secrets will do, and any certificate that TLS has verified with one of these names (CN or DNS)."""

    secrets: tuple[bytes, ...] = ()
    names: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"Trust({len(self.secrets)} secrets, {sorted(self.names)})"

    def refuse_strangers(self, scope: Scope) -> None:
        """Raise `HttpError` for everybody else: 401 where nothing is shown, 403 where it is not good."""
        shown = [value for name, value in scope["headers"] if name == _SECRET]
        if len(shown) == 1 and any([hmac.compare_digest(shown[0], one) for one in self.secrets]):  # noqa: C419 (all are compared, however early one fits)
            return
        if self.names & _names(scope.get(PEER) or {}):
            return
        if shown:
            raise refused(403, "HTTP 403 Forbidden: that is not the secret of this registry's nodes")
        if scope.get(PEER):
            raise refused(403, "HTTP 403 Forbidden: the certificate has no name of a node (see --peer-name)")
        raise refused(401, "HTTP 401 Unauthorized: this is for nodes of this registry, who show that they are")


def refused(status: int, message: str) -> HttpError:
    """What is told where a command was not taken: it is surely not done by this node."""
    return HttpError(status, message, **{REFUSED.replace("-", "_"): "refused"})


def _names(certificate: dict[str, Any]) -> frozenset[str]:
    common = [value for part in certificate.get("subject", ()) for name, value in part if name == "commonName"]
    return frozenset([*common, *(value for kind, value in certificate.get("subjectAltName", ()) if kind == "DNS")])

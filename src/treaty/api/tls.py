"""TLS of a server: its certificate and the CAs of client certificates are loaded, refused as unusable, and read again when their files change."""

import logging
import ssl
from dataclasses import dataclass, field
from pathlib import Path

from treaty.api.auth.watched_file import signature_of

log = logging.getLogger("treaty.server")


class TlsError(Exception):
    """A certificate or key is unusable; the message has the file, the reason and a remedy."""


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files. With `client_ca` client certificates signed by it are required, or (`optional`) accepted."""

    certificate: Path
    key: Path | None = None
    client_ca: Path | None = None
    optional: bool = False

    def context(self) -> ssl.SSLContext:
        """Read the files; raises `TlsError`."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        self.show(context)
        if self.client_ca is not None:
            try:
                context.load_verify_locations(self.client_ca)
            except (OSError, ssl.SSLError) as reason:
                raise TlsError(
                    f"{self.client_ca}: {_describe_error(reason)}; give a file with certificates in PEM"
                ) from None
            context.verify_mode = ssl.CERT_OPTIONAL if self.optional else ssl.CERT_REQUIRED
        return context

    def show(self, context: ssl.SSLContext) -> None:
        """Have new connections shown the certificate that is in the files now; raises `TlsError`."""
        for path in filter(None, (self.certificate, self.key)):
            if not path.is_file():
                raise TlsError(f"{path}: there is no such file; give a file in PEM")
        try:
            context.load_cert_chain(self.certificate, self.key, password=_no_password)
        except (OSError, ssl.SSLError, ValueError) as reason:
            files = self.certificate if self.key is None else f"{self.certificate} and {self.key}"
            message = (
                f"{files}: {_describe_error(reason)}; give a certificate and its key in PEM, the key without a password"
            )
            raise TlsError(message) from None

    def stamp(self) -> tuple[int, ...]:
        """The present state of the files; it changes when a certificate is renewed, whatever time its files say."""
        paths = filter(None, (self.certificate, self.key))
        try:
            return tuple(number for path in paths for number in signature_of(path.stat()))
        except OSError:
            return ()


@dataclass(slots=True)
class ShownCertificate:
    """The certificate that a context presents; `refresh` has it follow the files."""

    files: TlsFiles
    context: ssl.SSLContext
    stamp: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        """The context has just read the files."""
        self.stamp = self.files.stamp()

    def refresh(self) -> None:
        """Read changed files; with unusable ones the old certificate stays in use, and the log says so."""
        now = self.files.stamp()
        if not now or now == self.stamp:
            return
        self.stamp = now
        try:
            self.files.show(
                ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            )  # a context that reads half of a pair loses its key
            self.files.show(self.context)
            log.info("the certificate was reloaded")
        except TlsError as error:
            log.error("the certificate could not be reloaded; the old one stays in use: %s", error)


def _no_password() -> str:
    raise ValueError("the key is protected by a password")


def _describe_error(reason: Exception) -> str:
    return getattr(reason, "strerror", None) or getattr(reason, "reason", None) or str(reason) or "it can't be read"

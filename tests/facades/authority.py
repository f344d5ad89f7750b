"""A certificate authority of our own, for servers and clients on loopback."""

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

SIGNING = x509.KeyUsage(
    key_cert_sign=True, crl_sign=True, digital_signature=False, content_commitment=False, key_encipherment=False,
    data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
)  # fmt: skip
"""What an authority's key is for; Python 3.13 asks for it."""


@dataclass
class Authority:
    """Makes certificates and their keys as files in a folder."""

    folder: Path
    name: str = "authority"

    def __post_init__(self) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self.name)])
        ca = x509.BasicConstraints(ca=True, path_length=0)
        made = (
            self._builder(self.subject, self.key, 1)
            .add_extension(ca, critical=True)
            .add_extension(SIGNING, critical=True)
        )
        self.file = self.folder / f"{self.name}.pem"
        self.file.write_bytes(made.sign(self.key, hashes.SHA256()).public_bytes(Encoding.PEM))

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, days: float) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=2))
            .not_valid_after(now + dt.timedelta(days=days))
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), critical=False)
        )

    def make(self, name: str, days: float = 1) -> tuple[Path, Path]:
        """Make a certificate for a common name, good for loopback; return it and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        places = [
            x509.DNSName("localhost"),
            x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
            x509.DNSName(f"{name}.example"),
        ]
        made = self._builder(subject, key, days).add_extension(x509.SubjectAlternativeName(places), critical=False)
        certificate, private = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        certificate.write_bytes(made.sign(self.key, hashes.SHA256()).public_bytes(Encoding.PEM))
        private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        return certificate, private

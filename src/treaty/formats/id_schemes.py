"""Id schemes: pure functions from a version that is registered to a name of it, built in or of another package."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from treaty.core.finding import Diagnostic
from treaty.core.limits import NAME_LENGTH
from treaty.core.messages.names import SEQUENCE
from treaty.core.messages.schemaver import SCHEMAVER
from treaty.core.schema_engine import InvalidText
from treaty.formats.registry import PluginTable, find_places, once_for_a_path

GROUP = "treaty.id_schemes"
"""The entry point group in which other packages offer an `IdScheme`."""
RESERVED = frozenset({SEQUENCE, SCHEMAVER})
"""Names of schemes that no package can offer."""
BLANKS = b" \t\n\r\v\f"
"""White space, as Java's regular expressions have it."""


@dataclass(frozen=True, slots=True)
class VersionToName:
    """What is known of a version when it is registered."""

    sent: bytes
    """The text as it was sent."""
    canonical: str
    """Its canonical text."""
    format: str
    subject: str
    """The qualified name."""
    type_name: str
    model: Any = None
    """The parsed schema; None for a format without a plug-in."""
    fingerprints: Mapping[str, Callable[[Any], bytes]] = field(default_factory=dict)
    """Fingerprints of its format, from the parsed schema to bytes."""


IdScheme = Callable[[VersionToName], str]
"""Computes a name of 1 to NAME_LENGTH printable characters; an empty one where a schema has none. It depends on its argument
alone.
"""


def _md5(version: VersionToName) -> str:
    return hashlib.md5(version.sent.translate(None, BLANKS), usedforsecurity=False).hexdigest()


def _crc64(version: VersionToName) -> str:
    fingerprint = version.fingerprints.get("CRC-64-AVRO")
    return "" if fingerprint is None else fingerprint(version.model).hex()


def _sha256(version: VersionToName) -> str:
    fingerprint = version.fingerprints.get("SHA-256")
    if fingerprint is None:
        return hashlib.sha256(version.canonical.encode("utf-8", "surrogatepass")).hexdigest()
    return fingerprint(version.model).hex()


BUILT_IN: Mapping[str, IdScheme] = {"md5": _md5, "crc-64-avro": _crc64, "sha-256": _sha256}
"""MD5 of the text as sent without white space, in hexadecimal (LinkedIn's); CRC-64-AVRO of the Parsing Canonical Form, eight
bytes in hexadecimal in the order of single-object encoding, for Avro alone; SHA-256 of the canonical form that the format
defines for it (Avro: the Parsing Canonical Form).
"""


@dataclass(frozen=True, slots=True)
class IdSchemeRegistry:
    """Id schemes by name, those of this package and the `plugins` of others."""

    plugins: PluginTable[IdScheme]

    @property
    def packages(self) -> dict[str, str]:
        """The package that each scheme comes from; empty for those that are built in."""
        packages = {name: place.package for name, place in self.plugins.places.items()}
        return {**packages, **dict.fromkeys(BUILT_IN, "")}

    def compute(self, name: str, version: VersionToName) -> str | InvalidText:
        """Return the name of a version by a scheme; a fault where the scheme fails or its name is none that a version can
        have.
        """
        scheme = BUILT_IN.get(name) or self.plugins.find(name)
        if scheme is None:
            raise KeyError(name)
        try:
            computed: Any = scheme(version)
        except Exception as failure:  # noqa: BLE001 - whatever a scheme raises belongs to who registers
            return _fault(name, f"it raised {type(failure).__name__}: {failure}"[:300])
        if (
            not isinstance(computed, str)
            or len(computed) > NAME_LENGTH
            or not (computed == "" or computed.isprintable())
        ):
            return _fault(name, f"it returned {computed!r}"[:300])
        return computed


def _fault(name: str, what: str) -> InvalidText:
    message = f"the id scheme {name} has no name for this schema: {what}"
    return InvalidText(
        (Diagnostic("ID_SCHEME_FAILED", "", message, f"a name of 1 to {NAME_LENGTH} printable characters"),)
    )


@once_for_a_path
def find_id_schemes() -> IdSchemeRegistry:
    """The id schemes of this package and of all installed plug-ins; a built-in one can't be replaced."""
    places = {name: place for name, place in find_places(GROUP).items() if name not in RESERVED}
    return IdSchemeRegistry(PluginTable(callable, "function", places))

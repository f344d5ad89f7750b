"""The texts of a schema: as Jackson prints its tree with exact decimals, in the order written or with sorted keys."""

import hashlib
from decimal import Decimal

from treaty.formats.format import Printed
from treaty.formats.jsonschema.bundle import bundled
from treaty.formats.jsonschema.gathered import gather
from treaty.formats.jsonschema.model import Document, Json
from treaty.formats.literal import quoted


def number(value: Decimal) -> str:
    """A decimal as Java's ``BigDecimal.toString`` prints it: Python's rule, but for zeros, which have no sign there."""
    return str(value or value.copy_abs())


def printed(value: Json, *, ordered: bool = False) -> str:
    """A JSON value without white space; with `ordered`, keys are sorted as Java sorts strings, by UTF-16 units."""
    parts: list[str] = []
    _print(value, parts, ordered)
    return "".join(parts)


def _print(value: Json, parts: list[str], ordered: bool) -> None:  # noqa: FBT001 - called for every value
    if isinstance(value, str):
        parts.append(quoted(value))
    elif isinstance(value, dict):
        mark = "{"
        for name in sorted(value, key=_units) if ordered else value:
            parts += (mark, quoted(name), ":")
            _print(value[name], parts, ordered)
            mark = ","
        parts.append("}" if value else "{}")
    elif isinstance(value, list):
        mark = "["
        for item in value:
            parts.append(mark)
            _print(item, parts, ordered)
            mark = ","
        parts.append("]" if value else "[]")
    elif value is None or isinstance(value, bool):
        parts.append("null" if value is None else "true" if value else "false")
    else:
        parts.append(number(value) if isinstance(value, Decimal) else int.__repr__(value))


def _units(name: str) -> bytes:
    return name.encode("utf-16-be")


def show(document: Document, normalize: bool) -> Printed:  # noqa: FBT001 - the signature of `Format.show`
    """Canonical text, the same with its references inside, the title and the properties at the top."""
    own = document.root.value
    canonical = printed(own, ordered=normalize)
    whole = bundled(document)
    resolved = canonical if whole is own else printed(whole, ordered=normalize)
    title = own.get("title") if isinstance(own, dict) else None
    named = gather(document, [document.root]).properties
    return Printed(canonical, resolved, title if isinstance(title, str) else "", tuple(named))


def resolved(document: Document) -> str:
    """The canonical text with all references inside, so that it stands alone."""
    return printed(bundled(document))


def sha256(document: Document) -> bytes:
    """SHA-256 of the canonical text."""
    return hashlib.sha256(printed(document.root.value).encode()).digest()


def pravega(document: Document) -> bytes:
    """SHA-256 of the text with sorted keys, as Pravega's registry computes it."""
    return hashlib.sha256(printed(document.root.value, ordered=True).encode()).digest()

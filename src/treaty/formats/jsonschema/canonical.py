"""The texts of a schema: as Jackson prints its tree with exact decimals, in the order written or with sorted keys."""

import hashlib
from decimal import Decimal

from treaty.formats.format import SchemaTexts
from treaty.formats.json_text import print_string
from treaty.formats.jsonschema.bundle import build_bundle
from treaty.formats.jsonschema.constraints import merge_constraints
from treaty.formats.jsonschema.model import Json, JsonSchema


def print_number(value: Decimal) -> str:
    """A decimal as Java's ``BigDecimal.toString`` prints it: Python's rule, but for zeros, which have no sign there."""
    return str(value or value.copy_abs())


def print_value(value: Json, *, ordered: bool = False) -> str:
    """A JSON value without white space; with `ordered`, keys are sorted as Java sorts strings, by UTF-16 units."""
    parts: list[str] = []
    _print(value, parts, ordered)
    return "".join(parts)


def _print(value: Json, parts: list[str], ordered: bool) -> None:  # noqa: FBT001 - called for every value
    if isinstance(value, str):
        parts.append(print_string(value))
    elif isinstance(value, dict):
        mark = "{"
        for name in sorted(value, key=_units) if ordered else value:
            parts += (mark, print_string(name), ":")
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
        parts.append(print_number(value) if isinstance(value, Decimal) else int.__repr__(value))


def _units(name: str) -> bytes:
    return name.encode("utf-16-be")


def print_texts(document: JsonSchema, normalize: bool) -> SchemaTexts:  # noqa: FBT001 - the signature of `Format.show`
    """Canonical text, the same with its references inside, the title and the properties at the top."""
    own = document.root.value
    canonical = print_value(own, ordered=normalize)
    bundle = build_bundle(document)
    resolved = canonical if bundle is own else print_value(bundle, ordered=normalize)
    title = own.get("title") if isinstance(own, dict) else None
    named = merge_constraints(document, [document.root]).properties
    return SchemaTexts(canonical, resolved, title if isinstance(title, str) else "", tuple(named))


def print_resolved(document: JsonSchema) -> str:
    """The canonical text with all references inside, so that it stands alone."""
    return print_value(build_bundle(document))


def sha256(document: JsonSchema) -> bytes:
    """SHA-256 of the canonical text."""
    return hashlib.sha256(print_value(document.root.value).encode()).digest()


def pravega(document: JsonSchema) -> bytes:
    """SHA-256 of the text with sorted keys, as Pravega's registry computes it."""
    return hashlib.sha256(print_value(document.root.value, ordered=True).encode()).digest()

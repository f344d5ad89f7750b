"""Avro as a `Format`: the record of functions that the rest of the house knows."""

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.compatibility import compare
from treaty.formats.avro.data.columns import columns
from treaty.formats.avro.data.example import example
from treaty.formats.avro.data.value import check
from treaty.formats.avro.fingerprint import crc64, md5, parsing_form, pravega, sha256
from treaty.formats.avro.lint.rows import LINTS
from treaty.formats.avro.logical.reading import logical_view
from treaty.formats.avro.logical.writing import written
from treaty.formats.avro.model import Enum, Fixed, Record, Reference, Schema
from treaty.formats.avro.normal import normal
from treaty.formats.avro.parse import parse
from treaty.formats.avro.references import references
from treaty.formats.avro.rules import EXPECTED, RULES
from treaty.formats.avro.tags.reading import entities
from treaty.formats.avro.tags.writing import write
from treaty.formats.format import Format, Printed, Tagging


def show(schema: Schema, normalize: bool) -> Printed:  # noqa: FBT001 - the signature of `Format.show`
    """Canonical text, the same with references inlined, the top-level type's full name and its fields."""
    chosen = normal(schema) if normalize else schema
    canonical = print_schema(chosen, chosen.outside)
    resolved = print_schema(chosen) if chosen.outside else canonical
    root = chosen.root
    name = root.full if isinstance(root, Record | Enum | Fixed | Reference) else ""
    top = chosen.names[root.full] if isinstance(root, Reference) else root
    fields = tuple(field.name for field in top.fields) if isinstance(top, Record) else ()
    return Printed(canonical, resolved, name, fields)


FORMAT = Format(
    name="AVRO",
    parse=parse,
    show=show,
    references=references,
    compare=compare,
    fingerprints={"CRC-64-AVRO": crc64, "MD5": md5, "SHA-256": sha256, "PRAVEGA": pravega},
    views={"resolved": print_schema, "parsing": parsing_form, "logical": logical_view},
    faults=EXPECTED,
    rules=RULES,
    lints=LINTS,
    columns=columns,
    check=check,
    example=example,
    suffixes=(".avsc",),
    tagging=Tagging(entities, write),
    from_logical=written,
)

"""Avro as a `Format`: the record of functions that the rest of the house knows."""

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.compatibility import compare
from treaty.formats.avro.data.columns import derive_columns
from treaty.formats.avro.data.example import generate_example
from treaty.formats.avro.data.value import check_value
from treaty.formats.avro.fingerprint import crc64, md5, parsing_form, pravega, sha256
from treaty.formats.avro.lint.rows import LINTS
from treaty.formats.avro.logical.reading import logical_view
from treaty.formats.avro.logical.writing import written
from treaty.formats.avro.model import AvroEnum, AvroFixed, AvroRecord, AvroReference, AvroSchema
from treaty.formats.avro.normal import normal
from treaty.formats.avro.parse import parse
from treaty.formats.avro.references import references
from treaty.formats.avro.rules import EXPECTED, RULES
from treaty.formats.avro.tags.reading import entities
from treaty.formats.avro.tags.writing import write
from treaty.formats.format import Format, SchemaTexts, TagSupport


def print_texts(schema: AvroSchema, normalize: bool) -> SchemaTexts:  # noqa: FBT001 - the signature of `Format.show`
    """Canonical text, the same with references inlined, the top-level type's full name and its fields."""
    chosen = normal(schema) if normalize else schema
    canonical = print_schema(chosen, chosen.outside)
    resolved = print_schema(chosen) if chosen.outside else canonical
    root = chosen.root
    name = root.full if isinstance(root, AvroRecord | AvroEnum | AvroFixed | AvroReference) else ""
    top = chosen.names[root.full] if isinstance(root, AvroReference) else root
    fields = tuple(field.name for field in top.fields) if isinstance(top, AvroRecord) else ()
    return SchemaTexts(canonical, resolved, name, fields)


FORMAT = Format(
    name="AVRO",
    parse=parse,
    show=print_texts,
    references=references,
    compare=compare,
    fingerprints={"CRC-64-AVRO": crc64, "MD5": md5, "SHA-256": sha256, "PRAVEGA": pravega},
    views={"resolved": print_schema, "parsing": parsing_form, "logical": logical_view},
    faults=EXPECTED,
    rules=RULES,
    lints=LINTS,
    columns=derive_columns,
    check=check_value,
    example=generate_example,
    suffixes=(".avsc",),
    tagging=TagSupport(entities, write),
    from_logical=written,
)

"""What the texts of most Avro records say to a search: those of `formats.avro.flat_record`. The walk of `extraction` comes to the same."""

from treaty.formats.avro.flat_record import read_flat_record
from treaty.web.index.contents import PATH_CHARACTERS, SchemaContents, list_type_words

FLAT_CHARACTERS = 50_000
"""Characters of the longest text that is read as a flat record: a shorter one meets no limit of the walk but those of a single field."""


def read_flat(text: str) -> SchemaContents | None:
    """Return what a text says; None of one that is for the walk."""
    record = read_flat_record(text) if len(text) <= FLAT_CHARACTERS else None
    if record is None:
        return None
    contents = SchemaContents()
    docs, fields = contents.docs, contents.fields
    if isinstance(record.doc, str):
        docs.append(record.doc)
    for field in record.fields:
        name, kind, doc = field.name, field.type, field.doc
        if len(name) > PATH_CHARACTERS:
            return None
        if isinstance(kind, str) and "." not in kind:
            fields.append((name, (kind,)))
        else:
            fields.append((name, tuple(list_type_words(kind))))
        if isinstance(doc, str):
            docs.append(doc)
    return contents

"""Avro records whose fields have types by name alone, or unions of these: most texts are, and are read at half the price.

Such a text is decoded into records of these few members, with no dictionary between. A text with any other member, and one
that is long, is for the walk of `extraction`, which comes to the same.
"""

from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType
from msgspec.json import Decoder

from treaty.web.index.contents import PATH_CHARACTERS, SchemaContents, list_type_words

FLAT_CHARACTERS = 50_000
"""Characters of the longest text that is read like this: a shorter one meets no limit of the walk but those of a single field."""


class _Field(Struct, forbid_unknown_fields=True, gc=False):
    name: str
    type: str | list[str]
    doc: str | UnsetType = UNSET
    default: Raw | UnsetType = UNSET


class _Record(Struct, forbid_unknown_fields=True, gc=False):
    fields: list[_Field]
    type: str = ""
    name: str = ""
    namespace: str = ""
    doc: str | UnsetType = UNSET


_RECORD = Decoder(_Record)


def read_flat(text: str) -> SchemaContents | None:
    """Return what a text says; None of one that is for the walk."""
    if len(text) > FLAT_CHARACTERS:
        return None
    try:
        record = _RECORD.decode(text)
    except (DecodeError, UnicodeEncodeError):
        return None
    contents = SchemaContents()
    docs, fields = contents.docs, contents.fields
    if record.doc is not UNSET:
        docs.append(record.doc)
    for field in record.fields:
        name, kind, doc = field.name, field.type, field.doc
        if len(name) > PATH_CHARACTERS:
            return None
        if kind.__class__ is str and "." not in kind:
            fields.append((name, (kind,)))
        else:
            fields.append((name, tuple(list_type_words(kind))))
        if doc is not UNSET:
            docs.append(doc)
    return contents

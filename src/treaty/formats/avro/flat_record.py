"""Texts of Avro records whose fields have types by name alone, or unions of these, read with no dictionary between: at half the price."""

from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType
from msgspec.json import Decoder


class FlatField(Struct, forbid_unknown_fields=True, gc=False):
    """A field: its type is a name, or a union of names."""

    name: str
    type: str | list[str]
    doc: str | UnsetType = UNSET
    default: Raw | UnsetType = UNSET


class FlatRecord(Struct, forbid_unknown_fields=True, gc=False):
    """A record; not checked beyond the JSON types of its members."""

    fields: list[FlatField]
    type: str = ""
    name: str = ""
    namespace: str = ""
    doc: str | UnsetType = UNSET


_DECODER = Decoder(FlatRecord)


def read_flat_record(text: str) -> FlatRecord | None:
    """Return the record of a text; None of a text that has another shape, or any other member."""
    try:
        return _DECODER.decode(text)
    except (DecodeError, UnicodeEncodeError):
        return None

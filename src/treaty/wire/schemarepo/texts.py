"""Texts of schema-repo: lists of subjects, entries of an id and a schema, and the media types that they come in."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from treaty.core.messages.versions import VersionFound

TEXT, JSON = "text/plain", "application/json"
TEXT_MEDIA = f"{TEXT}; charset=utf-8"
"""The label of answers that are text: their bytes are UTF-8, as those of requests."""
MODEL = "Treaty-Compatibility-Model"
"""On an answer: the level of the group, where the request named another one without effect."""
_ANY = frozenset({"", "*", "*/*", "text/*"})


class SchemaEntry(NamedTuple):
    """A schema of a subject with its id."""

    id: str
    schema: str


class SubjectEntry(NamedTuple):
    """A subject in a list."""

    name: str


class LineBreakError(ValueError):
    """A schema has a line break, so that a list with one schema in a line can't be read. `id` is the id of the schema."""

    def __init__(self, id_: str) -> None:
        """Keep the id."""
        super().__init__(
            f"the schema with id {id_} has a line break, so that a list of one schema in a line can't be read; "
            f"send the header 'Accept: {JSON}'"
        )
        self.id = id_


def choose_media(accept: str, offered: Sequence[str]) -> str | None:
    """Return the media type to answer an ``Accept`` header with, or None where none of `offered` will do.

    The list is read from left to right and the first known type wins; qualities are ignored. Without a header, and for
    any type, it is the first one offered, also for HTML alone: programs in Java name it before others.
    """
    names = [one.partition(";")[0].strip().lower() for one in accept.split(",")]
    for name in names:
        if name in offered:
            return name
        if name in _ANY:
            return offered[0]
        if name == "application/*" and JSON in offered:
            return JSON
    return offered[0] if "text/html" in names else None


def wants_text(accept: str) -> bool:
    """Return whether an ``Accept`` header names text and no type of JSON."""
    names = [one.partition(";")[0].strip().lower() for one in accept.split(",")]
    return TEXT in names and not any(one.endswith("json") for one in names)


def sent_text(version: VersionFound) -> str:
    """Return the text of a version as it was sent; of bytes that are no text what the registry shows of them."""
    if version.data is None:
        return version.text
    try:
        return version.data.decode()
    except UnicodeDecodeError:
        return version.text


def entry_of(version: VersionFound) -> SchemaEntry:
    """Return the entry of a version; its id is the ordinal."""
    return SchemaEntry(str(version.ordinal), sent_text(version))


# ---------------------------------------------------------------------------------------------------------- printing


def print_names(names: Sequence[str], media: str) -> bytes:
    """Print the names of subjects, one in each line, or as JSON."""
    if media == JSON:
        return msgspec.json.encode([{"name": name} for name in names])
    return "".join(f"{name}\n" for name in names).encode()


def print_entry(entry: SchemaEntry) -> str:
    """Print an entry: the id, a tabulator, and the schema up to the end."""
    return f"{entry.id}\t{entry.schema}"


def print_entries(entries: Sequence[SchemaEntry], media: str) -> bytes:
    """Print entries, one in each line, or as JSON. Raises `LineBreakError` where a line would not hold a schema."""
    if media == JSON:
        return msgspec.json.encode([{"id": entry.id, "schema": entry.schema} for entry in entries])
    for entry in entries:
        if "\n" in entry.schema or "\r" in entry.schema:
            raise LineBreakError(entry.id)
    return "".join(f"{print_entry(entry)}\n" for entry in entries).encode()


# ----------------------------------------------------------------------------------------------------------- reading


def read_names(data: bytes, media: str) -> tuple[str, ...]:
    """Read the names of subjects; nothing is an empty list. Raises `ValueError` for what is no list."""
    if media != JSON:
        return tuple(data.decode().split("\n")[:-1]) if data else ()
    listed = _read_json(data, list[dict[str, str]])
    return tuple(one["name"] for one in listed if "name" in one)


def read_entry(text: str) -> SchemaEntry:
    """Read an entry; raises `ValueError` for a text without a tabulator."""
    id_, tabulator, schema = text.partition("\t")
    if not tabulator or not id_:
        raise ValueError(f"{text[:100]!r} is no entry; allowed: an id, a tabulator and a schema")
    return SchemaEntry(id_, schema)


def read_entries(data: bytes, media: str) -> tuple[SchemaEntry, ...]:
    """Read entries; nothing is an empty list. Raises `ValueError` for what is no list."""
    if media != JSON:
        return tuple(map(read_entry, data.decode().split("\n")[:-1])) if data else ()
    listed = _read_json(data, list[dict[str, str]])
    return tuple(SchemaEntry(one.get("id", ""), one.get("schema", "")) for one in listed)


def _read_json(data: bytes, kind: type[list[dict[str, str]]]) -> list[dict[str, str]]:
    if not data.strip() or data.strip() == b"null":
        return []
    return msgspec.json.decode(data, type=kind)

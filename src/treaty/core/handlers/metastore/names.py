"""Names of sources, columns and types: which ones can be, and which ones are taken."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.access.rights import Access
from treaty.core.column_types import ColumnTypeError, SqlType, expand_type, parse_column_type, print_column_type
from treaty.core.column_types.parser import PLAIN_TYPES
from treaty.core.command import Command
from treaty.core.limits import NAME_LENGTH, SOURCES_PAGE
from treaty.core.names import is_subject_name, is_visible
from treaty.core.refusals import InvalidSource, SourceExists, SourceNotFound, TooLarge, TypeNotFound
from treaty.core.sources import DroppedSource, Source, StoredType
from treaty.core.state.metastore.indexes import SOURCE_BY_LOWER, TYPE_BY_LOWER
from treaty.core.state.metastore.keys import DroppedKey, SourceKey, TypeKey, key_of_name
from treaty.core.state.metastore.tables import DROPPED, SOURCE, TYPE
from treaty.core.state.view import ALL_KEYS, View

_PLAIN_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_]{{0,{NAME_LENGTH - 1}}}")
"""What most names are, in which nothing else is looked for."""


TYPE_NAME_LENGTH = 20
"""Characters of a name up to which a built-in type that is much like it is looked for."""


def refuse_bad_name(name: str, rule: str, path: str) -> None:
    """Raise the refusal of a text that can't be a name; `rule` says of what."""
    if _PLAIN_NAME.fullmatch(name) is not None:
        return
    if len(name) > NAME_LENGTH:
        raise TooLarge.of("NAME_LENGTH", "The name is too long", path=path, allowed=f"at most {NAME_LENGTH} characters")
    if not name or name != name.strip() or "`" in name or not is_subject_name(name) or not is_visible(name):
        raise InvalidSource.of(
            rule,
            f"'{name}' can't be a name",
            path=path,
            new=name,
            allowed="visible characters without backquotes, and no blanks at the ends",
        )


def source_key(name: str) -> SourceKey:
    """Return the key of a source by its name."""
    return SourceKey(key_of_name(name))


def type_key(name: str) -> TypeKey:
    """Return the key of a type by its name."""
    return TypeKey(key_of_name(name))


def find_source(view: View, name: str, path: str = "/name") -> tuple[SourceKey, Source]:
    """Return a source by its name; raises `SourceNotFound`."""
    base, key = without_filter(view)[0], source_key(name)
    value = base.get(SOURCE, key)
    if value is None:
        raise source_not_found(view, name, path)
    return key, value


def refuse_other_kind(stored: Source, kind: str, words: str) -> None:
    """Raise `SourceExists` where a source is not of the kind that a statement says, unless it says none; `words` are the first
    ones of the statement.
    """
    if kind and kind != stored.kind:
        raise SourceExists.of(
            "SOURCE_KIND_DIFFERS",
            f"{stored.name} is a {stored.kind.lower()}, and the statement says {kind}",
            path="/kind",
            old=stored.kind,
            new=kind,
            allowed=f"{words} {stored.kind} {stored.name}",
        )


def find_dropped(view: View, command: Command[Any], key: SourceKey) -> DroppedSource | None:
    """Return a source that was dropped and can still come back; None without one."""
    gone = view.get(DROPPED, DroppedKey(key.name))
    return None if gone is None or gone.time + limits.DROP_GRACE < command.time else gone


def source_not_found(view: View, name: str, path: str = "/name", rule: str = "SOURCE_NOT_FOUND") -> SourceNotFound:
    """Return the refusal of a name that no source has."""
    return SourceNotFound.of(
        rule,
        f"There is no stream or table {name}",
        path=path,
        new=name,
        allowed="SHOW STREAMS and SHOW TABLES list what is there",
    )


def nearest_name(view: View, access: Access | None, name: str) -> str:
    """Return the name of a source that the caller may see and that is much like this one; empty where there is none among the
    first page.
    """
    page = (key.name for key in islice(view.walk(SOURCE, *ALL_KEYS), SOURCES_PAGE))
    keys = [key for key in page if access is None or access.may_source("read", key)]
    return next(iter(get_close_matches(key_of_name(name), keys, 1)), "")


def find_type(view: View, name: str, path: str = "/name") -> tuple[TypeKey, StoredType]:
    """Return a type by its name; raises `TypeNotFound`."""
    base, key = without_filter(view)[0], type_key(name)
    value = base.get(TYPE, key)
    if value is None:
        raise type_not_found(name, path)
    return key, value


FOREIGN_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("text", "uuid", "nvarchar", "clob"), "STRING"),
    **dict.fromkeys(("json", "jsonb"), "STRING"),
    **dict.fromkeys(("datetime", "timestamptz"), "TIMESTAMP"),
    **dict.fromkeys(("int64", "int8", "uint64", "bigserial"), "BIGINT"),
    **dict.fromkeys(("int32", "int4", "uint32", "serial"), "INT"),
    **dict.fromkeys(("float64", "float8"), "DOUBLE"),
    **dict.fromkeys(("float32", "float4"), "FLOAT"),
    **dict.fromkeys(("bytea", "varbinary", "blob"), "BINARY"),
    **dict.fromkeys(("row", "record", "object"), "STRUCT<name: type, …>"),
    "number": "DECIMAL(p, s)",
    "list": "ARRAY<type>",
}
"""Types of other systems, in lower case, and those that hold the same."""


def _nearest_type(name: str) -> str:
    near = get_close_matches(name.upper(), PLAIN_TYPES, 1, 0.8) if len(name) <= TYPE_NAME_LENGTH else []
    return f"did you mean {near[0]}? Else CREATE TYPE first" if near else ""


def type_not_found(name: str, path: str = "/name") -> TypeNotFound:
    """Return the refusal of a name that no type has."""
    return TypeNotFound.of(
        "TYPE_NOT_FOUND",
        f"There is no type {name}",
        path=path,
        new=name,
        allowed=FOREIGN_TYPES.get(name.lower()) or _nearest_type(name) or "a built-in type, or CREATE TYPE first",
    )


def refuse_taken_source(view: View, name: str, own: SourceKey | None = None) -> None:
    """Raise `SourceExists` where another source has a name that Spark takes for this one."""
    key = source_key(name)
    stored = view.get(SOURCE, key)
    if stored is not None and key != own:
        raise source_exists(name, stored)
    lower = key.name.lower()
    candidates = [*view.find(SOURCE_BY_LOWER, (lower,)), SourceKey(lower)]
    for other in candidates:
        value = view.get(SOURCE, other)
        if value is not None and other not in {key, own}:
            raise SourceExists.of(
                "SOURCE_TAKEN",
                f"Spark takes the name {name} for that of {value.kind.lower()} {value.name}",
                path="/definition/name",
                old=value.name,
                new=name,
                allowed="a name that differs in more than the case of its letters",
            )


def source_exists(name: str, stored: Source) -> SourceExists:
    """Return the refusal of a name that a stream or table has."""
    return SourceExists.of(
        "SOURCE_EXISTS",
        f"There is a {stored.kind.lower()} {stored.name} already",
        path="/definition/name",
        old=f"{stored.kind.lower()} {stored.name}",
        new=name,
        allowed="another name, IF NOT EXISTS, or CREATE OR REPLACE",
    )


def refuse_taken_type(view: View, name: str) -> None:
    """Raise `SourceExists` where another type has a name that differs in the case of letters alone."""
    key = type_key(name)
    lower = key.name.lower()
    for other in [*view.find(TYPE_BY_LOWER, (lower,)), TypeKey(lower)]:
        value = view.get(TYPE, other)
        if value is not None and other != key:
            raise SourceExists.of(
                "TYPE_TAKEN",
                f"The name {name} differs from that of the type {value.name} in the case of its letters alone",
                path="/name",
                old=value.name,
                new=name,
                allowed="another name",
            )


def expand_text(view: View, definition: str, path: str = "/definition") -> str:
    """Return the text of a type without named types; raises `TooLarge` where it is too deep, or has too many parts."""

    def definition_of(key: str) -> SqlType | None:
        row = view.get(TYPE, TypeKey(key))
        return None if row is None else parse_column_type(row.definition)

    try:
        return print_column_type(expand_type(parse_column_type(definition), definition_of))
    except ColumnTypeError as error:
        raise TooLarge.of(
            error.code, error.message, path=path, new=definition, allowed=", ".join(error.expected) or error.hint
        ) from None

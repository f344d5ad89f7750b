"""Leaves of Avro with values that their column can't hold: decimals with too many digits, times beyond 64 bits of a finer unit.

Avro itself reads such values, as bytes and as numbers of 64 bits. So a row that a reader takes without these logical types, and not with
them, is well formed, and has a value that does not fit.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import (
    AvroArray,
    AvroFixed,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Props,
    is_null,
)
from treaty.plan.avro.columns import members
from treaty.plan.avro.envelope import WHOLE
from treaty.plan.avro.flat import flatten_schema, parse_avro
from treaty.plan.avro.logical_types import AvroLogicalType, find_column_logical

Leaf = AvroPrimitive | AvroFixed
MILLIS = frozenset(("timestamp-millis", "local-timestamp-millis"))
"""Logical types that columns hold in microseconds."""
MOST_MILLIS = (2**63 - 1) // 1000
SHOWN, SHOWN_PATH = 40, 200
"""Bytes of a number and characters of a path that a sentence has."""
WORD = 8
"""Bytes of a number that is shown in decimal digits; a longer one is in hexadecimal ones, as its bytes are."""
WORD_DIGITS = 18
"""Digits that every number of so many has in 64 bits: Spark holds such a decimal as one."""


def find_limit(leaf: Leaf) -> AvroLogicalType | None:
    """The logical type of a leaf that has values which its column can't hold."""
    logical = find_column_logical(leaf)
    return logical if logical is not None and (logical.name == "decimal" or logical.name in MILLIS) else None


@lru_cache(8)
def strip_limits(reader_text: str) -> str:
    """A reader's text without these logical types; nothing where it has none."""
    reader = parse_avro(reader_text)
    bare = flatten_schema(reader, _drop_limit)
    return "" if bare == flatten_schema(reader, lambda leaf: leaf.props) else print_schema(bare)


@lru_cache(8)
def strip_to_limits(reader_text: str, tail: str) -> str:
    """The text of `strip_limits` with the fields alone that have such leaves, and with the field `tail` of the root."""
    reader = parse_avro(reader_text)
    limited = LimitedTypes(reader)
    names = {
        full: limited.keep_fields(named, tail if _is_root(reader, full) else "") for full, named in reader.names.items()
    }
    return print_schema(flatten_schema(replace(reader, names=names), _drop_limit))


def _is_root(reader: AvroSchema, full: str) -> bool:
    return isinstance(reader.root, AvroReference) and reader.root.full == full


def _drop_limit(leaf: Leaf) -> Props:
    return () if find_limit(leaf) else leaf.props


def is_cut_by_spark(leaf: Leaf) -> bool:
    """Whether Spark's `from_avro` reads the lowest 64 bits alone of a leaf whose numbers may have more."""
    limit = find_limit(leaf)
    has_room = not isinstance(leaf, AvroFixed) or leaf.size > WORD
    return limit is not None and limit.name == "decimal" and limit.precision <= WORD_DIGITS and has_room


@lru_cache(8)
def widen_decimals(reader_text: str) -> str:
    """A reader's text with a digit more than `from_avro` reads from 64 bits, for decimals that it would cut; the same text
    where it has none.
    """
    if '"decimal"' not in reader_text:
        return reader_text
    reader = parse_avro(reader_text)
    wide = flatten_schema(reader, _widen)
    return reader_text if wide == reader else print_schema(wide)


def _widen(leaf: Leaf) -> Props:
    limit = find_limit(leaf)
    if limit is None or not is_cut_by_spark(leaf):
        return leaf.props
    return (("logicalType", "decimal"), ("precision", WORD_DIGITS + 1), ("scale", limit.scale))


def has_limit(leaf: Leaf) -> bool:
    """Whether a leaf has values that its column can't hold."""
    return find_limit(leaf) is not None


class LimitedTypes:
    """Says which types of a reader have leaves with a limit, or with another property that a test names, and leaves fields out."""

    def __init__(self, reader: AvroSchema, test: Callable[[Leaf], bool] = has_limit) -> None:
        self.reader, self.test = reader, test
        self.known: dict[str, bool] = {}

    def keep_fields(self, node: Any, tail: str) -> Any:
        """A record without the fields that have no such leaf, if one has; other types as they are."""
        if not isinstance(node, AvroRecord):
            return node
        limited_fields = tuple(one for one in node.fields if one.name == tail or self.has_limit(one.type))
        return replace(node, fields=limited_fields) if limited_fields else node

    def has_limit(self, node: AvroType) -> bool:
        """Whether a leaf with a limit is in a type."""
        match node:
            case AvroArray():
                return self.has_limit(node.items)
            case AvroMap():
                return self.has_limit(node.values)
            case AvroUnion():
                return any(map(self.has_limit, node.branches))
            case AvroPrimitive() | AvroFixed():
                return self.test(node)
            case AvroRecord():
                return any(self.has_limit(one.type) for one in node.fields)
        if not isinstance(node, AvroReference):
            return False
        if node.full not in self.known:
            self.known[node.full] = False
            self.known[node.full] = self.has_limit(self.reader.names[node.full])
        return self.known[node.full]


def find_unfit(reader: AvroSchema, node: AvroType, value: Any, path: str = "") -> str:
    """The first value, read without logical types, that its column can't hold, as a sentence that begins with its path; "" for none."""
    return next(_list_unfit(reader, node, value, path), "")


def _list_unfit(reader: AvroSchema, node: AvroType, value: Any, path: str) -> Iterator[str]:
    if value is None:
        return
    match reader.resolve(node):
        case AvroRecord() as record:
            for field in record.fields:
                # The record of a schema that is none has no name that a reader of the sentence knows.
                step = "" if field.name == WHOLE else f"/{field.name}"
                yield from _list_unfit(reader, field.type, value[field.name], path + step)
        case AvroArray(items=items):
            for at, item in enumerate(value):
                yield from _list_unfit(reader, items, item, f"{path}/{at}")
        case AvroMap(values=values):
            for key, item in value:
                yield from _list_unfit(reader, values, item, f"{path}/{key}")
        case AvroUnion() as union:
            branches = [branch for branch in union.branches if not is_null(branch)]
            names = members(union, reader.names)
            if names is not None:
                for branch, name in zip(branches, names, strict=True):
                    yield from _list_unfit(reader, branch, value[name], path)
            elif len(branches) == 1:
                yield from _list_unfit(reader, branches[0], value, path)
        case AvroPrimitive() | AvroFixed() as leaf:
            reason = _explain_leaf(leaf, value)
            if reason:
                short_path = path if len(path) <= SHOWN_PATH else f"{path[:SHOWN_PATH]}…"
                yield f"{short_path or '/'}: {reason}"


def _explain_leaf(leaf: Leaf, value: Any) -> str:
    limit = find_limit(leaf)
    if limit is None:
        return ""
    if limit.name in MILLIS:
        fits = -MOST_MILLIS <= value <= MOST_MILLIS
        return "" if fits else f"{value} milliseconds are beyond 64 bits of microseconds"
    number = int.from_bytes(value, "big", signed=True)
    if value and abs(number) < 10**limit.precision:
        return ""
    text = (
        f"a number of {len(value)} bytes"
        if len(value) > SHOWN
        else f"{number}"
        if len(value) <= WORD
        else f"0x{value.hex()}"
    )
    return f"{text if value else 'a number of no bytes'} has not the digits of {limit} without its point"

"""Texts that are none: Spark takes any bytes for a string of Avro, and whoever reads its column later meets them."""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F

from treaty.formats.avro.model import (
    AvroArray,
    AvroMap,
    AvroPrimitive,
    AvroRecord,
    AvroReference,
    AvroType,
    AvroUnion,
    NamedType,
)
from treaty.plan.avro.columns import members
from treaty.plan.avro.flat import is_null
from treaty.plan.registry_queries import parse_avro


def find_wrong_text(reader_text: str, value: Column) -> Column | None:
    """Whether a value of a reader's type holds a text that is no UTF-8; never null. None where it can hold no text."""
    reader = parse_avro(reader_text)
    return _wrong(reader.root, reader.names, value)


def _wrong(node: AvroType, names: Mapping[str, NamedType], value: Column) -> Column | None:
    match node:
        case AvroReference():
            found = names[node.full]
            return _wrong(found, names, value) if isinstance(found, AvroRecord) else None
        case AvroRecord():
            return _any([_wrong(one.type, names, value[one.name]) for one in node.fields])
        case AvroArray():
            return _some(value, lambda item: _wrong(node.items, names, item))
        case AvroMap():
            keys = _some(F.map_keys(value), _is_no_text)
            return _any([keys, _some(F.map_values(value), lambda item: _wrong(node.values, names, item))])
        case AvroUnion():
            parts = [one for one in node.branches if not is_null(one)]
            named = members(node, names)
            if named is None:
                return _wrong(parts[-1], names, value) if parts else None
            return _any([_wrong(one, names, value[name]) for one, name in zip(parts, named, strict=True)])
        case AvroPrimitive():
            return _is_no_text(value) if node.kind == "string" else None
    return None


def _is_no_text(value: Column) -> Column:
    return F.is_valid_utf8(value).eqNullSafe(F.lit(False))


def _any(parts: Sequence[Column | None]) -> Column | None:
    found = [one for one in parts if one is not None]
    return reduce(Column.__or__, found) if found else None


def _some(items: Column, wrong: Callable[[Column], Column | None]) -> Column | None:
    """Whether an item is wrong; null has none."""
    found: list[Column] = []

    def test(item: Column) -> Column:
        made = wrong(item)
        found.extend([] if made is None else [made])
        return F.lit(False) if made is None else made

    made = F.coalesce(F.exists(items, test), F.lit(False))
    return made if found else None

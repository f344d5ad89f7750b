"""Proof in whole columns that documents are valid: enough for most schemas and most rows; what it leaves open the
validator decides.

A proof says of a column that each value which is there is valid. It knows types, members, items, bounds, lengths and
lists of values; a schema that says more has none. A null of a column was null or absent in its document, which a proof
distinguishes by the text alone: a document without the word ``null`` holds none.
"""

import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from math import ceil, floor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Mask = Any
"""A numpy array of booleans, one for each row."""
Prove = Callable[[pa.Array, Mask], Mask]
"""From a column, and which of its rows are of a document with the word ``null``, to the rows that are proven: valid, or
null.
"""
Rule = Callable[[pa.Array], pa.Array]
"""From a column to whether each value follows one keyword."""

ANNOTATIONS = frozenset((
    "$schema", "$id", "id", "$comment", "title", "description", "default", "examples", "format", "deprecated",
    "readOnly", "writeOnly", "definitions", "$defs",
))  # fmt: skip
"""Keywords that say nothing of whether a value is valid."""
_OBJECT = frozenset(("properties", "required", "additionalProperties"))
_ARRAY = frozenset(("items", "minItems", "maxItems"))
_TYPES: Mapping[str, tuple[str, ...]] = {
    "string": ("string",), "int64": ("integer", "number"), "int32": ("integer", "number"), "double": ("number",),
    "bool": ("boolean",), "struct": ("object",), "list": ("array",), "date32[day]": ("string",), "timestamp[us, tz=UTC]": ("string",),
}  # fmt: skip
"""By the name of a column's type, the types of JSON that all of its values have; one of them is enough."""


class NoProofError(ValueError):
    """A schema that no proof is made for."""


def make_proof(text: str, kind: pa.DataType) -> Prove:
    """The proof for documents of a schema that were read as records of this type. Raises `NoProofError`."""
    return _prove_value(json.loads(text, parse_float=Decimal), kind)


def is_closed(text: str) -> bool:
    """Whether a schema refuses members that it does not name, somewhere."""
    return _has_closed(json.loads(text))


def _has_closed(schema: Any) -> bool:
    if isinstance(schema, list):
        return any(map(_has_closed, schema))
    if not isinstance(schema, dict):
        return False
    return schema.get("additionalProperties") is False or any(map(_has_closed, schema.values()))


def _is_silent(schema: Any) -> bool:
    """Whether every value is valid."""
    return schema is True or (isinstance(schema, dict) and all(map(_is_annotation, schema)))


def _is_annotation(keyword: str) -> bool:
    return keyword in ANNOTATIONS or "." in keyword or ":" in keyword or keyword.startswith("x-")


def _allows_null(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return schema is True
    types, values = schema.get("type", "null"), _values(schema)
    return "null" in (types if isinstance(types, list) else [types]) and (values is None or None in values)


def _values(schema: Mapping[str, Any]) -> list[Any] | None:
    """The values that are allowed, where they are listed."""
    values: list[Any] | None = schema.get("enum")
    return [schema["const"]] if "const" in schema else values


def _prove_value(schema: Any, kind: pa.DataType) -> Prove:
    if _is_silent(schema):
        return lambda column, _: np.ones(len(column), bool)
    if not isinstance(schema, dict):
        raise NoProofError
    name = "struct" if pa.types.is_struct(kind) else "list" if pa.types.is_list(kind) else str(kind)
    types = schema.get("type", _TYPES.get(name, ()))
    if not set(_TYPES.get(name, ())) & set(types if isinstance(types, list) else [types]):
        raise NoProofError
    left = {one for one in schema if one != "type" and not _is_annotation(one)}
    if name == "struct" and left <= _OBJECT:
        return _prove_object(schema, kind)
    if name == "list" and left <= _ARRAY:
        return _prove_array(schema, kind)
    rules = [_make_rule(keyword, schema[keyword], kind) for keyword in sorted(left)]

    def prove(column: pa.Array, nulls: Mask) -> Mask:
        del nulls
        proven = np.ones(len(column), bool)
        for rule in rules:
            proven &= _to_mask(rule(column))
        return proven

    return prove


def _to_mask(holds: pa.Array) -> Mask:
    """The rows for which it holds, or that are null."""
    return holds.fill_null(True).to_numpy(zero_copy_only=False)


def _prove_object(schema: Mapping[str, Any], kind: pa.DataType) -> Prove:
    places = {kind.field(place).name: place for place in range(kind.num_fields)}
    properties, required = schema.get("properties", {}), frozenset(schema.get("required", ()))
    additional = schema.get("additionalProperties", True)
    if not required <= places.keys() or not (additional is False or _is_silent(additional)):
        raise NoProofError
    members: list[tuple[int, Prove, bool, bool]] = []
    for name, inner in properties.items():
        if name in places:
            type_ = kind.field(places[name]).type
            members.append((places[name], _prove_value(inner, type_), name in required, _allows_null(inner)))
        elif not _is_silent(inner):
            raise NoProofError
    members += [(places[name], _prove_value(True, pa.null()), True, False) for name in required - properties.keys()]
    strange = [place for name, place in places.items() if name not in properties] if additional is False else []

    def prove(column: pa.Array, nulls: Mask) -> Mask:
        proven = np.ones(len(column), bool)
        for place, inner, needed, nullable in members:
            part = column.field(place)
            proven &= inner(part, nulls)
            if part.null_count and (needed or not nullable):
                absent = part.is_null().to_numpy(zero_copy_only=False)
                proven &= ~absent if needed else ~(absent & nulls)
        for place in strange:
            proven &= column.field(place).is_null().to_numpy(zero_copy_only=False) & ~nulls
        return proven | column.is_null().to_numpy(zero_copy_only=False) if column.null_count else proven

    return prove


def _prove_array(schema: Mapping[str, Any], kind: pa.DataType) -> Prove:
    items = schema.get("items", True)
    inner, nullable = _prove_value(items, kind.value_type), _allows_null(items)
    minimum, maximum = schema.get("minItems", 0), schema.get("maxItems")

    def prove(column: pa.Array, nulls: Mask) -> Mask:
        lengths = pc.list_value_length(column).fill_null(minimum).to_numpy(zero_copy_only=False)
        proven = lengths >= minimum
        if maximum is not None:
            proven &= lengths <= maximum
        values = column.flatten()
        owners = pc.list_parent_indices(column).to_numpy(zero_copy_only=False)
        good = inner(values, nulls[owners])
        if values.null_count and not nullable:
            good &= ~values.is_null().to_numpy(zero_copy_only=False)
        if not good.all():
            proven[owners[~good]] = False
        return proven

    return prove


def _make_rule(keyword: str, bound: Any, kind: pa.DataType) -> Rule:
    """One keyword about a text or a number. Raises `NoProofError` for others."""
    if pa.types.is_string(kind):
        if keyword in {"minLength", "maxLength"}:
            compare = pc.greater_equal if keyword == "minLength" else pc.less_equal
            return lambda column: compare(pc.utf8_length(column), int(bound))
        if keyword in {"enum", "const"}:
            texts = [one for one in (bound if keyword == "enum" else [bound]) if isinstance(one, str)]
            allowed = pa.array(texts, pa.string())
            return lambda column: pc.or_(pc.is_in(column, allowed), column.is_null())
    if isinstance(bound, int | Decimal) and not isinstance(bound, bool):
        if pa.types.is_integer(kind):
            return _whole_rule(keyword, bound)
        if pa.types.is_float64(kind):
            return _real_rule(keyword, float(bound))
    raise NoProofError


def _whole_rule(keyword: str, limit: int | Decimal) -> Rule:
    """A bound of whole numbers as one of 64 bits; exact."""
    bounds: Mapping[str, Callable[[], tuple[Any, int]]] = {
        "minimum": lambda: (pc.greater_equal, ceil(limit)),
        "exclusiveMinimum": lambda: (pc.greater_equal, floor(limit) + 1),
        "maximum": lambda: (pc.less_equal, floor(limit)),
        "exclusiveMaximum": lambda: (pc.less_equal, ceil(limit) - 1),
    }
    if keyword not in bounds:
        raise NoProofError
    compare, bound = bounds[keyword]()
    if not -(2**63) <= bound < 2**63:
        raise NoProofError
    return lambda column: compare(column, pa.scalar(bound, pa.int64()))


def _real_rule(keyword: str, limit: float) -> Rule:
    """A bound of doubles. The number in the text may be rounded to the bound from beyond it, so the bound itself proves
    nothing.
    """
    if keyword in {"minimum", "exclusiveMinimum"}:
        return lambda column: pc.greater(column, limit)
    if keyword in {"maximum", "exclusiveMaximum"}:
        return lambda column: pc.less(column, limit)
    raise NoProofError

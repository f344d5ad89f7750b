"""VARIANT where Arrow has none: records of several types are read as structs, and become variants row by row."""

import json
from base64 import b64encode
from decimal import Decimal
from math import isfinite
from typing import Any

import pyarrow as pa
from pyspark.sql.types import VariantVal

from treaty.plan.decode_plans import shape_plan
from treaty.plan.rows import NAMES
from treaty.plan.value import DecodePlan

VALUE = "record"
"""The column of the variant beside that of a row's type."""
VARIANT_TYPE = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False, metadata={b"variant": b"true"}),
    ]
)
"""A VARIANT as Spark takes it from Arrow."""


def fit_to_arrow(plan: DecodePlan) -> DecodePlan:
    """The plan that Arrow can run in place of one whose reader is ``variant``; any other plan as it is."""
    if plan.types is None or plan.types.shape != "variant":
        return plan
    return shape_plan(plan, plan.types.kinds, "types", plan.types.wanted)


def restore_variants(table: pa.Table, plan: DecodePlan, column: str = NAMES.record) -> pa.Table:
    """What Arrow read by `fit_to_arrow` as `plan` wants it. Times and bytes in a variant are texts: ISO and Base64."""
    if plan.types is None or plan.types.shape != "variant":
        return table
    return table.set_column(table.column_names.index(column), column, _make_variants(table.column(column)))


def _make_variants(records: pa.ChunkedArray) -> pa.Array:
    """Records of several types as their marker and one VARIANT; times and bytes in it are texts."""
    fields_of_rows, markers = list[dict[str, bytes] | None](), list[str | None]()
    kinds = records.type
    for record in records:
        fields = {} if not record.is_valid else dict(record)
        names = list(fields)
        markers.append(fields[names[0]].as_py() if fields else None)
        inside = next((fields[name] for name in names[1:] if fields[name].is_valid), None)
        if inside is None:
            fields_of_rows.append(None)
            continue
        value = VariantVal.parseJson(_print_json(inside))
        fields_of_rows.append({"value": value.value, "metadata": value.metadata})
    marker = pa.array(markers, pa.string())
    variants = pa.array(fields_of_rows, VARIANT_TYPE)
    return pa.StructArray.from_arrays(
        [marker, variants],
        fields=[kinds.field(0), pa.field(VALUE, VARIANT_TYPE)],
        mask=records.combine_chunks().is_null(),
    )


def _print_json(value: Any) -> str:
    """A scalar of Arrow as JSON: decimals as numbers, bytes as Base64, times as ISO texts."""
    if not value.is_valid:
        return "null"
    kind = value.type
    if pa.types.is_struct(kind):
        return f"{{{','.join(f'{json.dumps(name)}:{_print_json(part)}' for name, part in value.items())}}}"
    if pa.types.is_map(kind):
        pairs = ((str(pair["key"].as_py()), _print_json(pair["value"])) for pair in value.values)
        return f"{{{','.join(f'{json.dumps(name)}:{text}' for name, text in dict(pairs).items())}}}"
    if pa.types.is_list(kind):
        return f"[{','.join(map(_print_json, value.values))}]"
    match value.as_py():
        case bytes() as found:
            return json.dumps(b64encode(found).decode())
        case Decimal() as found:
            return format(found, "f")
        case float() as found if not isfinite(found):
            return json.dumps(str(found))
        case bool() | int() | float() | str() as found:
            return json.dumps(found)
        case found:
            return json.dumps(found.isoformat())

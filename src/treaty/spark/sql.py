"""Functions of SQL for the subjects of a registry: decoding, and the id of a frame.

They run in Python workers, since a function of SQL text is refused by sessions with the extensions of Delta or Iceberg.
"""

import re
from collections.abc import Callable, Mapping
from typing import Unpack, cast

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.pandas.functions import arrow_udf

from treaty.arrow.decode import decode
from treaty.arrow.decoded import list_frames
from treaty.core.registry import Registry
from treaty.plan.addresses import open_registry
from treaty.plan.decode_plans import make_plan
from treaty.plan.errors import PlanError
from treaty.plan.options import DecodeChoices
from treaty.plan.rows import NAMES
from treaty.plan.value import DecodePlan
from treaty.spark.datasource.variants import fit_to_arrow, restore_variants
from treaty.spark.decode import ERROR_TYPE

FRAME_ID = "frame_id"
"""The function that reads the schema id of a frame."""
_NAME = re.compile(r"[A-Za-z_]\w*")
ArrowFunction = Callable[[pa.Array], pa.Array]


def register_functions(
    spark: SparkSession,
    registry: Registry | str,
    subjects: Mapping[str, str],
    *,
    reader: str | int = "latest",
    **choices: Unpack[DecodeChoices],
) -> tuple[str, ...]:
    """Register functions of SQL in a session, for subjects by the name that a function gets; returns what they are called.

    For ``{"order": "orders-value"}`` there is ``decode_order(frame)``: a ``STRUCT<record, error>`` as `decode` gives them, null for null. ``frame_id(frame)``
    is the schema id of any frame, null where the bytes are none. Functions know the registry as it is now; call again for later versions.
    They run in Python workers: `view` is quicker for a whole table of Avro. `registry` may be the address of a server.
    Raises `PlanError` for a name that SQL does not take, and what `make_plan` raises.
    """
    for name in subjects:
        if not _NAME.fullmatch(name):
            raise PlanError(f"{name!r} is no name of a function; allowed are letters, digits and _")
    with open_registry(registry) as client:
        plans = {name: make_plan(client, subject, reader=reader, **choices) for name, subject in subjects.items()}
    spark.udf.register(FRAME_ID, _make_function(_read_ids, "INT"))
    for name, plan in plans.items():
        kind = f"STRUCT<{NAMES.record}: {plan.type}, {NAMES.error}: {ERROR_TYPE}>"
        spark.udf.register(f"decode_{name}", _make_function(_make_decoder(plan), kind))
    return (FRAME_ID, *(f"decode_{name}" for name in plans))


def _make_function(function: ArrowFunction, kind: str) -> Callable[..., object]:
    return cast("Callable[..., object]", arrow_udf(function, kind))  # type: ignore[call-overload]  # its stub forgets words


def _read_ids(frames: pa.Array) -> pa.Array:
    ids = [None if one is None or len(one) < 5 or one[0] else one[1:5] for one in list_frames(frames)]
    numbers = (None if one is None else int.from_bytes(one, "big", signed=True) for one in ids)
    return pa.array([None if one is None or one < 0 else one for one in numbers], pa.int32())


def _make_decoder(plan: DecodePlan) -> ArrowFunction:
    inside = fit_to_arrow(plan)

    def read(frames: pa.Array) -> pa.Array:
        table = restore_variants(decode(frames.cast(pa.binary()), inside), plan)
        parts = [table.column(name).combine_chunks() for name in (NAMES.record, NAMES.error)]
        return pa.StructArray.from_arrays(parts, names=[NAMES.record, NAMES.error], mask=frames.is_null())

    return read

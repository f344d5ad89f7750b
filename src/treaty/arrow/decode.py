"""Decodes frames in Arrow columns by a decode plan, to the same rows as on Spark."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pyarrow as pa

from treaty.arrow.cells import FrameSplitter
from treaty.arrow.decoded import DecodedBatch, list_frames
from treaty.arrow.framings import make_reframer
from treaty.arrow.readers import reader_of
from treaty.arrow.shapes import find_record_type, shape_records
from treaty.arrow.types import kind_of
from treaty.core.registry import Registry
from treaty.plan.avro.envelope import make_header
from treaty.plan.decode_plans import make_plan
from treaty.plan.errors import PlanError
from treaty.plan.frame_format import PREFIX
from treaty.plan.rows import NAMES, NEGATIVE_ID, SENTENCES, UNKNOWN_ID, Names, describe_unknown_head
from treaty.plan.strictness import refuse_part, refuse_twins
from treaty.plan.value import DecodePlan

ERROR = pa.struct(
    [("code", pa.string()), ("message", pa.string()), ("schema_id", pa.int32()), ("payload", pa.binary())]
)
"""The type of an error."""
PLANS = 8
"""Plans whose readers are kept."""
Frames = Any
"""An array, a chunked array, a record batch or a table."""


def from_registry(
    frames: Frames,
    registry: Registry | str,
    subject: str | None = None,
    *,
    reader: str | int = "latest",
    ids: Iterable[int] = (),
    message: str = "",
    column: str = "value",
    names: Names = NAMES,
    flatten: bool = False,
) -> pa.Table:
    """Decode a binary column of registry frames: `make_plan` and `decode` in one call; `registry` may be the address of
    a server.

    Raises what `make_plan` raises.
    """
    plan = make_plan(registry, subject, reader=reader, ids=ids, message=message)
    return decode(frames, plan, column=column, names=names, flatten=flatten)


FLATTENED = "\0record"
"""A record until its fields are columns: the frame may have a column called as records are."""


def decode(
    frames: Frames,
    plan: DecodePlan,
    *,
    column: str = "value",
    names: Names = NAMES,
    flatten: bool = False,
    headers: str = "headers",
    part: str = "value",
) -> pa.Table:
    """The rows of frames as a table: the columns that there were, the record and the error.

    A good row has a record and no error; a bad row an error ``{code, message, schema_id, payload}`` and no record; a
    null value neither. An array of frames is taken for a table with the one column `column`. With `flatten` the
    record's fields stand as columns of their own. With the framing ``header`` the guid is in the column `headers`
    (pairs of key and value), under the name for this `part` of a record. Raises `PlanError` for a plan whose reader is
    ``variant`` (Arrow has no such type), for a column that holds no bytes, and where two columns would have one name.
    """
    table = _to_table(frames, column)
    _require_frames(table, column)
    refuse_part(part)
    refuse_twins(table.column_names, names, [name for name, _ in plan.columns] if flatten else (), exact=True)
    is_flat = flatten and bool(plan.columns)
    names = replace(names, record=FLATTENED) if is_flat else names
    kind = find_record_type(plan)
    input_names = table.column_names
    decoded_batches: list[pa.RecordBatch] = []
    with _READERS.lend(plan) as reader:
        for batch in (part for one in table.to_batches() for part in reader.cells.split(one, column)):
            header_rows = (
                batch.column(headers).to_pylist() if plan.framing.name == "header" and headers in input_names else None
            )
            record, error, source = reader.rows(batch.column(column).cast(pa.binary()), header_rows, part)
            added = {names.record: shape_records(plan, record, kind), names.error: error}
            added |= _list_frame_columns(plan, names, source)
            added_names = [name for name in added if name]
            columns = [*batch.columns, *(added[name] for name in added_names)]
            decoded_batches.append(pa.RecordBatch.from_arrays(columns, names=[*input_names, *added_names]))
    decoded = pa.Table.from_batches(decoded_batches) if decoded_batches else _make_empty(table, plan, kind, names)
    return _flatten(decoded, names) if is_flat else decoded


def _to_table(frames: Frames, column: str) -> pa.Table:
    if isinstance(frames, pa.RecordBatch):
        return pa.Table.from_batches([frames])
    return frames if isinstance(frames, pa.Table) else pa.table({column: frames})


def _require_frames(table: pa.Table, column: str) -> None:
    if column not in table.column_names:
        raise PlanError(f"there is no column {column}; there is {', '.join(table.column_names) or 'none'}")
    kind = table.schema.field(column).type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    binary = (
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_binary_view,
        pa.types.is_fixed_size_binary,
        pa.types.is_null,
    )
    if not any(is_kind(kind) for is_kind in binary):
        raise PlanError(
            f"the column {column} is {kind}, and frames are binary: name the column that holds the bytes, as they came from the topic"
        )


def _make_empty(table: pa.Table, plan: DecodePlan, kind: pa.DataType, names: Names) -> pa.Table:
    frames = _list_frame_columns(plan, names, _LazyList(list))
    added = {names.record: pa.nulls(0, kind), names.error: pa.nulls(0, ERROR)} | frames
    for name, array in added.items():
        table = table.append_column(name, array) if name else table
    return table


def _flatten(table: pa.Table, names: Names) -> pa.Table:
    at = table.column_names.index(names.record)
    fields = pa.Table.from_batches(
        [pa.RecordBatch.from_struct_array(chunk) for chunk in table.column(at).chunks],
        pa.schema(list(table.schema.field(at).type)),
    )
    table = table.remove_column(at)
    for name in fields.column_names:
        table = table.append_column(f"{names.prefix}{name}", fields.column(name))
    return table


def _list_frame_columns(plan: DecodePlan, names: Names, frames: "_LazyList") -> dict[str, pa.Array]:
    """What a frame says of itself, as columns."""
    if not (names.schema_id or names.version or names.subject):
        return {}
    heads = [None if one is None else one[:5] for one in frames.value]
    versions = {make_header(one.schema_id): one.version for one in plan.writers}
    subjects = {make_header(one.schema_id): one.subject for one in plan.writers}
    claimed = [_read_id(one) if one is not None and one[:1] == b"\0" else None for one in heads]
    makers: dict[str, Callable[[], pa.Array]] = {
        names.schema_id: lambda: pa.array(claimed, pa.int32()),
        names.version: lambda: pa.array([versions.get(one) if one else None for one in heads], pa.int32()),
        names.subject: lambda: pa.array([subjects.get(one) if one else None for one in heads], pa.string()),
    }
    return {name: make() for name, make in makers.items() if name}


def _read_id(frame: bytes) -> int | None:
    """The id that a frame claims, whatever its magic; None where there are too few bytes, or no id is so large."""
    number = int.from_bytes(frame[1:5], "big") if len(frame) >= 5 else 2**31
    return number if number < 2**31 else None


class _FrameReader:
    """Reads batches, and says why a row is none: of all reasons the first in the order of a frame's parts."""

    __slots__ = ("_known", "_plan", "_read", "_rejected", "cells")

    def __init__(self, plan: DecodePlan) -> None:
        kind = kind_of(plan)
        self.cells = FrameSplitter.of(kind)
        self._plan = plan
        self._read = reader_of(plan, kind)
        self._known = frozenset(make_header(one.schema_id) for one in plan.writers)
        self._rejected = {make_header(one.schema_id): (one.code, one.message) for one in plan.rejected}

    def rows(self, values: pa.Array, headers: list[Any] | None, part: str) -> tuple[pa.Array, pa.Array, "_LazyList"]:
        """Records, errors, and the frames with Confluent's prefix."""
        lost: list[str | None] = []
        frames = values
        if self._plan.framing != PREFIX:
            reframe = make_reframer(self._plan, part)
            pairs = zip(list_frames(values), headers or [None] * len(values), strict=True)
            remade = [reframe(value, one) for value, one in pairs]
            frames, lost = pa.array([one for one, _ in remade], pa.binary()), [code for _, code in remade]
        decoded = self._read(frames)
        payloads = _LazyList(lambda: list_frames(values))
        sources = payloads if frames is values else _LazyList(lambda: list_frames(frames))
        if not decoded.record.null_count:
            return decoded.record, pa.nulls(len(values), ERROR), sources
        errors: list[dict[str, Any] | None] = [None] * len(values)
        for at in decoded.record.is_null().to_numpy(zero_copy_only=False).nonzero()[0].tolist():
            if (payload := payloads.value[at]) is not None:
                errors[at] = self._error(payload, sources.value[at], lost[at] if lost else None, decoded, at)
        return decoded.record, pa.array(errors, ERROR), sources

    def _error(self, payload: bytes, frame: bytes | None, lost: str | None, decoded: DecodedBatch, at: int) -> Any:
        if frame is None:
            code, _, detail = (lost or "").partition(": ")
            message = detail or SENTENCES.get(code) or describe_unknown_head(self._plan.framing.name, payload)
            return {"code": code, "message": message, "schema_id": None, "payload": payload}
        number = _read_id(frame)
        why, sentence = self._reason(frame, decoded, at)
        if why is None:
            return None
        starts = frame[:1] == b"\0"
        return {"code": why, "message": sentence, "schema_id": number if starts else None, "payload": payload}

    def _reason(self, frame: bytes, decoded: DecodedBatch, at: int) -> tuple[str | None, str | None]:
        head = frame[:5]
        if len(head) < 5:
            return "TOO_SHORT", SENTENCES["TOO_SHORT"]
        if head[0]:
            return "BAD_MAGIC", SENTENCES["BAD_MAGIC"]
        if head in self._known:
            code = decoded.code[at].as_py()
            return code, decoded.said[at].as_py() or SENTENCES.get(code or "")
        if head in self._rejected:
            return self._rejected[head]
        number = _read_id(frame)
        negative = NEGATIVE_ID % int.from_bytes(frame[1:5], "big", signed=True)
        return "UNKNOWN_ID", UNKNOWN_ID % number if number is not None else negative


class _ReaderCache:
    """Readers of the last plans: what is compiled for a plan is compiled once, and each reader is in one thread's hands at a time."""

    __slots__ = ("_free", "_most")

    def __init__(self, capacity: int) -> None:
        self._most = capacity
        self._free: dict[DecodePlan, _FrameReader] = {}

    @contextmanager
    def lend(self, plan: DecodePlan) -> Iterator[_FrameReader]:
        """Lend a reader of the plan that no other caller has meanwhile."""
        reader = self._free.pop(plan, None) or _FrameReader(plan)
        yield reader
        self._free[plan] = reader
        for old in list(self._free)[: -self._most]:
            self._free.pop(old, None)


_READERS = _ReaderCache(PLANS)


class _LazyList:
    """A list that is made when somebody looks."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], list[bytes | None]]) -> None:
        self._make = make
        self._made: list[bytes | None] | None = None

    @property
    def value(self) -> list[bytes | None]:
        """The list."""
        if self._made is None:
            self._made = self._make()
        return self._made


def batches(
    frames: Iterable[pa.RecordBatch], plan: DecodePlan, *, column: str = "value", **more: Any
) -> Iterator[pa.Table]:
    """`decode` batch by batch, so that no more than one is in memory; `more` is what `decode` takes. A batch whose rows may have
    more than ARROW_CELLS values comes in several tables.
    """
    cells = FrameSplitter.of(kind_of(plan))
    for batch in frames:
        _require_frames(pa.Table.from_batches([batch]), column)
        for part in cells.split(batch, column) if batch.num_rows else [batch]:
            yield decode(part, plan, column=column, **more)

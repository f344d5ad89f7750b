"""Protobuf in whole columns: batches by ptars, and what it may not write by Protobuf's own runtime, row by row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from treaty.arrow.encoding.outline import WriteBatch, make_columnar_writer
from treaty.arrow.encoding.rows import REFUSED, Row, make_row_encoder
from treaty.plan.encoding.value import EncodePlan

KIND = pa.struct([("payload", pa.binary()), ("said", pa.string())])
FEW = 64
"""Rows that are written one by one where one of them is refused; of more, each half is tried again."""


def make_batch_writer(plan: EncodePlan) -> Callable[[pa.Array], pa.Array]:
    """A function from rows to payloads, and to what is wrong with those that have none."""
    state: list[_Batches] = []

    def write(rows: pa.Array) -> pa.Array:
        if not state:
            state.append(_Batches(make_row_encoder(plan, rows.type), make_columnar_writer(plan, rows.type)))
        return state[0].write(rows)

    return write


@dataclass(frozen=True, slots=True)
class _Batches:
    row: Row
    columns: WriteBatch | None
    """None where rows of this type are written one by one."""

    def write(self, rows: pa.Array) -> pa.Array:
        if self.columns is None:
            return self._encode_each(rows)
        valid = rows.is_valid().to_numpy(zero_copy_only=False)
        is_dense = not rows.null_count and not rows.offset
        written = self._encode_dense(rows if is_dense else rows.take(pa.array(np.flatnonzero(valid))))
        if is_dense or valid.all():
            return written
        places = np.cumsum(valid) - 1
        payloads, messages = written.flatten()
        back = pa.array(places, mask=~valid)
        return _make_struct(payloads.take(back), messages.take(back))

    def _encode_dense(self, rows: pa.Array) -> pa.Array:
        """Rows of which none is null."""
        assert self.columns is not None
        try:
            return _make_struct(self.columns(rows), pa.nulls(len(rows), pa.string()))
        except REFUSED:
            pass
        if len(rows) <= FEW:
            return self._encode_each(rows)
        half = len(rows) // 2
        parts = (np.arange(half), np.arange(half, len(rows)))
        return pa.concat_arrays([self._encode_dense(rows.take(pa.array(part))) for part in parts])

    def _encode_each(self, rows: pa.Array) -> pa.Array:
        try:
            encoded = [self.row(one) for one in rows.to_pylist()]
        except UnicodeDecodeError:
            encoded = [self._encode_row(one) for one in rows]
        return _make_struct(
            pa.array([one for one, _ in encoded], pa.binary()), pa.array([one for _, one in encoded], pa.string())
        )

    def _encode_row(self, row: Any) -> tuple[bytes | None, str | None]:
        try:
            value = row.as_py()
        except UnicodeDecodeError as error:
            return None, f"a text is no UTF-8: {error}"
        return self.row(value)


def _make_struct(payloads: pa.Array, messages: pa.Array) -> pa.Array:
    return pa.StructArray.from_arrays([payloads, messages], fields=list(KIND))

"""Protobuf in whole columns: Protobuf's runtime validates, ptars reads, and rows that neither can decide are read one
by one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from treaty.arrow.cells import find_sparse, find_widest
from treaty.arrow.decoded import DecodedBatch, ReadBatch, ReadRow, collect_rows, join_rows, list_frames, read_by_row
from treaty.arrow.protobuf.changes import Change, Mask
from treaty.arrow.protobuf.outline import ColumnarDescriptor, NoOutlineError
from treaty.arrow.protobuf.rows import decoder_of, message_of
from treaty.arrow.protobuf.validator import PayloadValidator, make_validator, wrap_payloads
from treaty.core.limits import ARROW_BYTES
from treaty.formats.protobuf.encoding.wire import LENGTH, encode_varint
from treaty.plan.avro.envelope import make_header
from treaty.plan.format_plans import ProtobufFormatPlan
from treaty.plan.value import DecodePlan

END = 2**31 - 1


def make_batch_reader(plan: DecodePlan, kind: pa.DataType) -> ReadBatch:
    """A reader of whole batches; one that reads row by row where there is no ptars, and for a message without an
    outline.
    """
    recipe = plan.recipe
    assert isinstance(recipe, ProtobufFormatPlan)
    row = decoder_of(plan, kind)
    try:
        from ptars._lib import ProtoRegistry  # noqa: PLC0415 - a wheel that not every machine has
    except ImportError:
        return read_by_row(row, kind)
    descriptor, pool = message_of(recipe)
    outline = ColumnarDescriptor(recipe.defaults)
    try:
        name, change = outline.message(descriptor, kind)
    except NoOutlineError:
        return read_by_row(row, kind)
    registry = ProtoRegistry([outline.file.SerializeToString()])
    handler = registry.create_for_message(f"treaty.outline.{name}", None)
    heads: dict[tuple[int, bytes], list[bytes]] = {}
    for plan_head in recipe.heads:
        fields = dict(plan_head.fields)
        for front in plan_head.mine:
            head = make_header(plan_head.schema_id) + bytes.fromhex(front)
            tag = encode_varint(fields[front] << 3 | LENGTH) if fields else b""
            heads.setdefault((len(head), tag), []).append(head)
    sets = {way: pa.array(found, pa.binary()) for way, found in heads.items()}
    return _Batches(
        kind, row, make_validator(descriptor, pool), handler.array_to_record_batch, change, find_widest(kind), sets
    ).read


@dataclass(frozen=True, slots=True)
class _Batches:
    kind: pa.DataType
    row: ReadRow
    judge: PayloadValidator
    load: Callable[[pa.Array], pa.RecordBatch]
    change: Change
    widest: int
    """The most cells of one item of a list or map: a message that may lack too many is the row reader's."""
    heads: dict[tuple[int, bytes], pa.Array]
    """Frames' heads, prefix and message indexes, by their length and the tag of the field that shall hold the payload."""

    def read(self, frames: pa.Array) -> DecodedBatch:
        """The records of a batch of frames."""
        frames = frames.cast(pa.binary())
        if frames.nbytes > ARROW_BYTES and len(frames) > 1:
            half = len(frames) // 2
            parts = [self.read(frames.slice(0, half)), self.read(frames.slice(half))]
            return DecodedBatch(
                *(pa.concat_arrays([getattr(one, name) for one in parts]) for name in DecodedBatch.__slots__)
            )
        records, places = [], []
        rest = np.ones(len(frames), bool)
        usual = ~find_sparse(frames, self.widest)
        for (length, tag), heads in self.heads.items():
            of_head = pc.is_in(pc.binary_slice(frames, 0, length), heads).to_numpy(zero_copy_only=False) & usual
            if not of_head.any():
                continue
            payloads = pc.binary_slice(frames, length, END)
            payloads = payloads if of_head.all() else payloads.filter(pa.array(of_head))
            columns, good = self._columns(wrap_payloads(payloads, tag) if tag else payloads)
            if good.all() and of_head.all():
                nothing = pa.nulls(len(frames), pa.string())
                return DecodedBatch(columns, nothing, nothing)
            records.append(columns)
            places.append(np.flatnonzero(of_head)[good])
            rest[places[-1]] = False
        remaining = collect_rows(map(self.row, list_frames(frames.filter(pa.array(rest)))), self.kind)
        return join_rows(records, places, remaining, rest)

    def _columns(self, payloads: pa.Array) -> tuple[pa.Array, Mask]:
        """The records of payloads, and which of them they are."""
        good = self.judge.find_valid(payloads)
        blamed: list[Mask] = []
        try:
            batch = self.load(payloads if good.all() else payloads.filter(pa.array(good)))
            columns = self.change(batch.to_struct_array(), blamed.append)
        except ValueError:  # strings of proto2 that are no UTF-8, numbers that a decimal can't hold
            return pa.nulls(0, self.kind), np.zeros(len(payloads), bool)
        if not blamed:
            return columns, good
        bad = np.logical_or.reduce(blamed)
        valid = good.copy()
        valid[np.flatnonzero(good)[bad]] = False
        return columns.filter(pa.array(~bad)), valid

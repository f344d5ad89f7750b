"""JSON in whole columns: pyarrow's reader takes a batch of documents at once, and what it refuses is read row by row.

A document is proven to be one row. Its first bracket is replaced by one with a first member, the number of its row under a
name that is known to this process alone: the number comes back as the member of a topmost object only where the document begins,
so the numbers of all rows in their order say that each line is one object, and that no document reaches into the next. All
documents are text that pyarrow reads as strictly as Spark (see `exclusions`), and all values are those that the row reader makes of them
(see `columns`). Whatever can't be proven is the row reader's.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from treaty.arrow.cells import find_sparse, find_widest
from treaty.arrow.decoded import DecodedBatch, ReadBatch, ReadRow, collect_rows, join_rows, list_frames, read_by_row
from treaty.arrow.jsonschema.columns import Convert, UnlikeError, find_read_type, make_conversion
from treaty.arrow.jsonschema.exclusions import BatchBytes, Mask, find_excluded
from treaty.arrow.jsonschema.proof import is_closed
from treaty.arrow.jsonschema.rows import make_row_reader
from treaty.arrow.jsonschema.validity import FindInvalid, make_invalid_finder
from treaty.core.limits import ARROW_BYTES, ARROW_ROWS
from treaty.plan.avro.envelope import make_header
from treaty.plan.format_plans import JsonFormatPlan
from treaty.plan.value import DecodePlan

NUMBER = hashlib.blake2b(b"number", key=secrets.token_bytes(32), digest_size=8).hexdigest()
"""The name of the member that has the number of a row."""
FEW = 32
"""Rows that are sooner read one by one than looked through for the bad one among them."""
TRIES = 32
"""One row that the reader stops at among so many; with more of them the rest of a batch is read row by row."""
HALVES = 14
"""Failures at a row that the reader does not name: so many find one row among 20,000."""
PAUSE = 64
"""The most batches that are read row by row because one failed too often."""
END = 2**31 - 1
_ROW = re.compile(r"in row (\d+)")


def make_document_reader(plan: DecodePlan, kind: pa.DataType) -> ReadBatch:
    """A reader of whole batches; one that reads row by row where a column is none of pyarrow's reader."""
    recipe = plan.recipe
    assert isinstance(recipe, JsonFormatPlan)
    row = make_row_reader(plan)
    kinds = tuple(_list_kinds(plan, recipe, kind))
    if not kinds:
        return read_by_row(row, kind)
    return _DocumentBatches(kind, row, kinds, find_widest(kind)).read


@dataclass(frozen=True, slots=True)
class _DocumentKind:
    """Documents of one record type: how their frames begin, and how they are read and become records."""

    heads: pa.Array
    """The first six bytes of a frame: its prefix, and the bracket of an object."""
    options: pj.ParseOptions
    convert: tuple[Convert, ...]
    fields: list[pa.Field]
    wrap: Callable[[pa.StructArray], pa.Array]
    find_invalid: FindInvalid | None = None


def _list_kinds(plan: DecodePlan, format_plan: JsonFormatPlan, kind: pa.DataType) -> Iterator[_DocumentKind]:
    """The record types that can be read in columns."""
    if format_plan.rest:
        return
    if not format_plan.kinds:
        ids = tuple(one.schema_id for one in plan.writers)
        if not format_plan.whole and (document_kind := _make_kind(format_plan, kind, ids, lambda record: record)):
            yield document_kind
        return
    for place, json_kind in enumerate(format_plan.kinds):
        if not json_kind.whole and (
            document_kind := _make_kind(format_plan, kind.field(place).type, json_kind.ids, _column_of(kind, place))
        ):
            yield document_kind


def _make_kind(
    format_plan: JsonFormatPlan, kind: pa.DataType, ids: tuple[int, ...], wrap: Callable[[pa.StructArray], pa.Array]
) -> _DocumentKind | None:
    read = find_read_type(kind)
    if read is None:
        return None
    fields = [kind.field(place) for place in range(kind.num_fields)]
    schema = pa.schema([pa.field(NUMBER, pa.int64()), *(read.field(place) for place in range(read.num_fields))])
    closed = any(is_closed(text) for number, text in format_plan.checks if number in ids)
    return _DocumentKind(
        pa.array([make_header(number) + b"{" for number in ids], pa.binary()),
        pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error" if closed else "ignore"),
        tuple(make_conversion(one.type) for one in fields),
        fields,
        wrap,
        make_invalid_finder(format_plan, ids, kind) if format_plan.checks else None,
    )


def _column_of(kind: pa.DataType, place: int) -> Callable[[pa.StructArray], pa.Array]:
    """The record type as one column of a record, beside those of the others."""
    fields = [kind.field(at) for at in range(kind.num_fields)]

    def wrap(record: pa.StructArray) -> pa.Array:
        parts = [record if at == place else pa.nulls(len(record), one.type) for at, one in enumerate(fields)]
        return pa.StructArray.from_arrays(parts, fields=fields)

    return wrap


class _RefusedError(ValueError):
    """Documents that are not read at once; `row` is the first at fault, where it is known."""

    def __init__(self, row: int | None = None) -> None:
        super().__init__()
        self.row = row


@dataclass(slots=True)
class _DocumentBatches:
    """Reads batches, and remembers how often the last ones failed."""

    kind: pa.DataType
    row: ReadRow
    kinds: tuple[_DocumentKind, ...]
    widest: int
    """The most cells of one item of a list or map: a document that may lack too many is the row reader's."""
    pause: int = 0
    """Batches that were read row by row after the last one that failed too often."""
    left: int = 0
    fronts: pa.Array = field(default_factory=lambda: pa.array([], pa.binary()))

    def read(self, frames: pa.Array) -> DecodedBatch:
        """The records of a batch of frames."""
        frames = frames.cast(pa.binary())
        if len(frames) > 1 and (len(frames) > ARROW_ROWS or frames.nbytes > ARROW_BYTES):
            half = len(frames) // 2
            parts = [self.read(frames.slice(0, half)), self.read(frames.slice(half))]
            return DecodedBatch(
                *(pa.concat_arrays([getattr(one, name) for one in parts]) for name in DecodedBatch.__slots__)
            )
        if self.left:
            self.left -= 1
            return collect_rows(map(self.row, list_frames(frames)), self.kind)
        records: list[pa.Array] = []
        places: list[Any] = []
        rest = np.ones(len(frames), bool)
        heads, usual = pc.binary_slice(frames, 0, 6), ~find_excluded(BatchBytes.of(frames))
        if self.widest:
            usual &= ~find_sparse(frames, self.widest, is_json=True)
        for kind in self.kinds:
            of_kind = pc.is_in(heads, kind.heads).to_numpy(zero_copy_only=False) & usual
            if not of_kind.any():
                continue
            columns, good = self._columns(frames if of_kind.all() else frames.filter(pa.array(of_kind)), kind)
            if good.all() and of_kind.all():
                nothing = pa.nulls(len(frames), pa.string())
                return DecodedBatch(pa.concat_arrays(columns), nothing, nothing)
            records += columns
            places.append(np.flatnonzero(of_kind)[good])
            rest[places[-1]] = False
        remaining = collect_rows(map(self.row, list_frames(frames.filter(pa.array(rest)))), self.kind)
        return join_rows(records, places, remaining, rest)

    def _columns(self, frames: pa.Array, kind: _DocumentKind) -> tuple[list[pa.Array], Mask]:
        """The records of frames in pieces, and which of the frames they are.

        The reader names most rows that it stops at. What stands before one is read again, with what stands before the others.
        """
        good = np.ones(len(frames), bool)
        start, tries = 0, 2 + len(frames) // TRIES
        lines = self._print_lines(frames)
        last: list[pa.Array] = []
        while start < len(frames) and not last:
            try:
                last.append(_read_valid(lines, start, kind, good))
            except _RefusedError as refused:
                if refused.row is None:
                    start = len(frames)
                    break
                good[refused.row] = False
                start = refused.row + 1
                tries -= 1
                if not tries:
                    good[start:] = False
                    start = len(frames)
        records, is_given_up = self._read_by_halves(frames, kind, good[:start])
        self.pause = min(2 * self.pause + 1, PAUSE) if is_given_up or not tries else 0
        self.left = self.pause
        return [*records, *last], good

    def _read_by_halves(self, frames: pa.Array, kind: _DocumentKind, good: Mask) -> tuple[list[pa.Array], bool]:
        """The records of the good ones of frames in pieces, and whether it failed too often; what is refused is good no more."""
        records: list[pa.Array] = []
        todo, tries = [np.flatnonzero(good)], HALVES
        while todo:
            places = todo.pop()
            if not len(places):
                continue
            if not tries:
                good[places] = False
                continue
            valid = np.ones(len(places), bool)
            try:
                records.append(_read_valid(self._print_lines(frames.take(pa.array(places))), 0, kind, valid))
                good[places] = valid
            except _RefusedError as refused:
                tries -= 1
                if refused.row is not None:
                    good[places[refused.row]] = False
                    todo.append(np.delete(places, refused.row))
                elif len(places) <= FEW:
                    good[places] = False
                else:
                    todo += [places[len(places) // 2 :], places[: len(places) // 2]]
        return records, not tries

    def _print_lines(self, frames: pa.Array) -> "_Lines":
        """The documents as lines, each with its number in front."""
        while len(self.fronts) < len(frames):
            self.fronts = pa.array([b'{"%s":%d,' % (NUMBER.encode(), at) for at in range(ARROW_ROWS)], pa.binary())
        documents = pc.binary_slice(frames, 6, END)
        lines = pc.binary_join_element_wise(self.fronts.slice(0, len(frames)), documents, b"\n", b"")
        _, starts, text = lines.buffers()
        return _Lines(frames, np.frombuffer(starts, np.int32)[lines.offset : lines.offset + len(frames) + 1], text)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Frames, their documents as lines, and where each line begins and the last one ends."""

    frames: pa.Array
    starts: Any
    text: pa.Buffer


def _read_valid(lines: _Lines, start: int, kind: _DocumentKind, good: Mask) -> pa.Array:
    """The records from one line on, but for those that are not valid, which are good no more. Raises `_RefusedError`."""
    record = _read(lines, start, kind)
    invalid = kind.find_invalid(lines.frames.slice(start), record) if kind.find_invalid else None
    if invalid is not None:
        good[start:][invalid] = False
        record = record.filter(pa.array(~invalid))
    return kind.wrap(record)


def _read(lines: _Lines, start: int, kind: _DocumentKind) -> pa.StructArray:
    """The records from one line on. Raises `_RefusedError` unless all can be read."""
    first, end = int(lines.starts[start]), int(lines.starts[-1])
    options = pj.ReadOptions(use_threads=False, block_size=end - first + 1)
    count = len(lines.frames) - start
    try:
        table = pj.read_json(pa.BufferReader(lines.text.slice(first, end - first)), options, kind.options)
    except pa.ArrowException as error:
        named = _ROW.search(str(error))
        row = int(named[1]) if named else count
        raise _RefusedError(start + row if row < count else None) from None
    numbers = table.column(0)
    if len(numbers) != count or not np.array_equal(numbers.to_numpy(), np.arange(start, start + count)):
        raise _RefusedError
    try:
        pairs = zip(kind.convert, table.columns[1:], strict=True)
        columns = [convert(_join_chunks(column)) for convert, column in pairs]
    except (pa.ArrowException, UnlikeError):
        raise _RefusedError from None
    return pa.StructArray.from_arrays(columns, fields=kind.fields)


def _join_chunks(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)

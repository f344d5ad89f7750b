"""Avro row by row: an envelope as Spark's `from_avro` would make it, and the record inside.

It is slower than Spark's, and there for programs without Spark, for sessions without spark-avro, and as the oracle of
the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow as pa

from treaty.arrow.avro.primitives import LostDigitsError, WrongBytesError
from treaty.arrow.avro.program import Read, compile_reader
from treaty.arrow.avro.repairs import make_repair
from treaty.arrow.decoded import NOTHING, ReadBatch, ReadRow, RowResult, collect_slices, list_frames
from treaty.core.limits import AVRO_ITEMS
from treaty.formats.avro.model import AvroRecord, AvroReference, AvroSchema, AvroType, AvroUnion
from treaty.plan.avro.converted_leaves import explain_overflow
from treaty.plan.avro.envelope import make_header
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.limited import find_unfit, strip_limits
from treaty.plan.errors import RESOLUTION
from treaty.plan.format_plans import AvroFormatPlan
from treaty.plan.value import DecodePlan

EMPTY = AvroSchema(AvroReference("treaty.Empty"), {"treaty.Empty": AvroRecord("treaty.Empty", ())})
"""A reader that passes over all there is."""
Envelope = tuple[Any, str | None]
"""What a frame holds, with hidden fields; or None and the code of a bad row."""


def make_batch_reader(plan: DecodePlan, kind: pa.DataType) -> ReadBatch:
    """A reader of batches. It turns rows into arrays whenever they have AVRO_ITEMS values that take no bytes."""
    left = [0, 0, 0, 0]
    row = make_row_reader(plan, left)

    def is_full() -> bool:
        if left[2] < AVRO_ITEMS:
            return False
        left[2] = 0
        return True

    return lambda frames: collect_slices(map(row, list_frames(frames)), kind, is_full)


def make_row_reader(plan: DecodePlan, left: list[int] | None = None) -> ReadRow:
    """A function from a frame to its record as Arrow takes it, or to why there is none; `left` as of `compile_reader`."""
    recipe = plan.recipe
    assert isinstance(recipe, AvroFormatPlan)
    envelope, repair = make_decoder(plan, left), make_repair(recipe)
    sentences = {make_header(number): sentence for number, sentence in recipe.partly}
    diagnose, overflow = make_diagnosis(plan), explain_overflow(recipe)

    def read(value: bytes | None) -> RowResult:
        if value is None or (decoded := envelope(value)) is None:
            return NOTHING
        record, code = decoded
        if code:
            return None, code, sentences[value[:5]] if code == RESOLUTION else diagnose(value) or None
        try:
            return repair(record, value[:5]), None, None
        except WrongBytesError:
            return None, "INVALID", overflow
        except LostDigitsError:
            return None, "INVALID", None

    return read


def make_decoder(plan: DecodePlan, left: list[int] | None = None) -> Callable[[bytes], Envelope | None]:
    """A function from a frame to its envelope; None for what is no frame of a writer of the plan. `left` as of
    `compile_reader`.
    """
    recipe = plan.recipe
    assert isinstance(recipe, AvroFormatPlan)
    branches, writer, reader, roots = _open_plan(plan, recipe)
    partly = {make_header(number) for number, _ in recipe.partly}
    has_maps = '"map"' in recipe.writer_text
    diagnose = make_diagnosis(plan)

    @cache
    def read(branch: int) -> Read:
        return compile_reader(_drop_tail(replace(writer, root=roots[branch]), recipe.tail), reader, left)

    @cache
    def read_all_leaves(branch: int) -> Read:
        return compile_reader(
            _drop_tail(replace(writer, root=roots[branch]), recipe.tail), reader, left, defers_errors=True
        )

    @cache
    def skip(branch: int) -> Read:
        return compile_reader(_drop_tail(replace(writer, root=roots[branch]), recipe.tail), EMPTY)

    def decode(value: bytes) -> Envelope | None:
        branch = branches.get(value[:5])
        if branch is None:
            return None
        run = read(branch)
        try:
            record, end = run(value)
        except Exception as fault:  # noqa: BLE001 - whatever a damaged row makes the program raise, the row is what is wrong
            again = _try_program(read_all_leaves(branch), value) if has_maps and isinstance(fault, ValueError) else None
            if again is None:
                if diagnose(value):
                    return None, "INVALID"
                refused = not isinstance(fault, UnicodeDecodeError) and value[:5] in partly
                return None, RESOLUTION if refused and _is_whole(skip(branch), value) else "MALFORMED"
            record, end = again
        return (record, None) if end == len(value) else (None, "TRAILING")

    return decode


def make_diagnosis(plan: DecodePlan) -> Callable[[bytes], str]:
    """What finds in a frame of the plan the value that its column can't hold, and says where it is; "" where there is none, or the frame is damaged."""
    recipe = plan.recipe
    assert isinstance(recipe, AvroFormatPlan)
    if not strip_limits(recipe.reader_text):
        return lambda value: ""
    branches, writer, reader, roots = _open_plan(plan, recipe)

    @cache
    def read(branch: int) -> Read:
        return compile_reader(_drop_tail(replace(writer, root=roots[branch]), recipe.tail), reader, is_raw=True)

    def diagnose(value: bytes) -> str:
        branch = branches.get(value[:5])
        decoded = None if branch is None else _try_program(read(branch), value)
        return find_unfit(reader, reader.root, decoded[0]) if decoded is not None and decoded[1] == len(value) else ""

    return diagnose


def _open_plan(
    plan: DecodePlan, format_plan: AvroFormatPlan
) -> tuple[dict[bytes, int], AvroSchema, AvroSchema, Sequence[AvroType]]:
    """Branches by the heads of frames, the writers, the reader without its tail, and the roots of the writers by branch."""
    branches = {make_header(one.schema_id): format_plan.branch(place) for place, one in enumerate(plan.writers)}
    writer = parse_avro(format_plan.writer_text)
    reader = _drop_tail(parse_avro(format_plan.reader_text), format_plan.tail)
    return branches, writer, reader, writer.root.branches if isinstance(writer.root, AvroUnion) else (writer.root,)


def _is_whole(skip: Read, value: bytes) -> bool:
    """Whether a frame can be passed over to its last byte: then it is well formed, and has a value that the reader does
    not take.
    """
    passed = _try_program(skip, value)
    return passed is not None and passed[1] == len(value)


def _try_program(run: Read, value: bytes) -> tuple[Any, int] | None:
    """What a program reads, or None where it raises something."""
    try:
        return run(value)
    except Exception:  # noqa: BLE001 - as above
        return None


def _drop_tail(schema: AvroSchema, tail: str) -> AvroSchema:
    """An envelope without its tail: here the end of the bytes is the end of the row."""
    assert isinstance(schema.root, AvroReference)
    envelope = schema.names[schema.root.full]
    assert isinstance(envelope, AvroRecord)
    fields = tuple(one for one in envelope.fields if one.name != tail)
    return replace(schema, names={**schema.names, envelope.full: replace(envelope, fields=fields)})

"""Whether JSON documents are valid, by the schemas that they were written with."""

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from treaty.arrow.decoded import list_frames
from treaty.arrow.jsonschema.exclusions import BatchBytes, Mask, find_uncheckable
from treaty.arrow.jsonschema.proof import Prove, make_proof
from treaty.core.finding import Diagnostic, shorten_text
from treaty.core.limits import FAULT_CHARACTERS
from treaty.formats.jsonschema.data.value import get_validator
from treaty.formats.registry import find_formats
from treaty.plan.avro.envelope import make_header
from treaty.plan.format_plans import JsonFormatPlan
from treaty.plan.registry_queries import parse_text

STEPS = 1_000_000
"""Steps of the validator up to which it surely does not stop before its end."""
Check = Callable[[bytes | None], str | None]
"""From a frame to what its schema has against it: the first reason with path and keyword; None where there is none."""


def make_checker(format_plan: JsonFormatPlan) -> Check:
    """The check of a plan's documents; whatever is no frame of theirs, or no text, has nothing against it."""
    texts = {make_header(number): text for number, text in format_plan.checks}
    check = find_formats()["JSON"].check
    assert check is not None, "JSON documents can be checked"
    model = cache(lambda head: parse_text("JSON", texts[head]))

    def find_violation(value: bytes | None) -> str | None:
        if value is None or value[:5] not in texts:
            return None
        try:
            text = value[5:].decode()
        except UnicodeDecodeError:
            return None
        return _print_first(check(model(value[:5]), text))

    return find_violation


def _print_first(faults: tuple[Diagnostic, ...]) -> str | None:
    if not faults:
        return None
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    return f"{shorten_text(str(faults[0]), FAULT_CHARACTERS - len(more))}{more}"


FindInvalid = Callable[[pa.Array, pa.StructArray], Mask | None]
"""From frames and the records that were read of them to the rows that are not valid; None where all are."""


def make_invalid_finder(format_plan: JsonFormatPlan, ids: Iterable[int], kind: pa.DataType) -> FindInvalid:
    """What finds documents of these ids that are not valid: by proof for whole columns, and by the validator where that leaves a row open."""
    check, texts = make_checker(format_plan), dict(format_plan.checks)
    proofs = {make_header(number): _make_proof(texts[number], kind) for number in ids}

    def find(frames: pa.Array, record: pa.StructArray) -> Mask | None:
        held, proven = BatchBytes.of(frames), np.zeros(len(frames), bool)
        nulls, lengths = held.find(b"null"), np.diff(held.starts)
        heads = pc.binary_slice(frames, 0, 5)
        for head, (prove, longest) in proofs.items():
            of_head = pc.equal(heads, head).to_numpy(zero_copy_only=False)
            if prove is not None and of_head.any():
                proven |= prove(record, nulls) & of_head & (lengths < longest)
        proven &= ~find_uncheckable(held)
        if proven.all():
            return None
        invalid = ~proven
        invalid[invalid] = [check(one) is not None for one in list_frames(frames.filter(pa.array(invalid)))]
        return invalid

    return find


def _make_proof(text: str, kind: pa.DataType) -> tuple[Prove | None, int]:
    """The proof of a schema's documents, and how long they may be: of longer ones the validator may take too many steps."""
    try:
        weight = get_validator(parse_text("JSON", text)).weight
        return (None, 0) if weight is None else (make_proof(text, kind), STEPS // weight)
    except ValueError:
        return None, 0

"""Other framings in Python: every frame becomes one with Confluent's prefix, which is what readers read."""

from collections.abc import Callable, Sequence
from typing import Any

from treaty.arrow.packed_payloads import Unpacked, make_plan_unpacker
from treaty.plan.avro.envelope import make_header
from treaty.plan.heads import HEAD, HEADERS, MARKS, STAMP
from treaty.plan.value import DecodePlan

Reframed = tuple[bytes | None, str | None]
"""A frame, or why there is none: a code, or a code and a sentence with a colon between; two times None for a null value."""


def make_reframer(plan: DecodePlan, part: str) -> Callable[[bytes | None, Any], Reframed]:
    """A function from a value and the headers of its record (pairs, or objects with key and value)."""
    framing = plan.framing
    indexes = {head: bytes.fromhex(index) for head, index in framing.indexes}
    heads = {bytes.fromhex(head): make_header(number) + indexes.get(head, b"") for head, number in framing.heads}
    if framing.name == "header":
        return lambda value, headers: _replace_guid(heads, value, _find_guid(headers, HEADERS[part]))
    if framing.name == "none":
        return lambda value, _: (None if value is None else make_header(framing.heads[0][1]) + value, None)
    if framing.codecs:
        return _reframe_packed(framing.name, heads, make_plan_unpacker(plan))
    return lambda value, _: _replace_head(framing.name, heads, value)


def _reframe_packed(
    name: str, heads: dict[bytes, bytes], unpack: Callable[[bytes | None], Unpacked]
) -> Callable[[bytes | None, Any], Reframed]:
    """Frames of which some are packed."""

    def reframe(value: bytes | None, headers: Any) -> Reframed:
        del headers
        payload, why = unpack(value)
        if value is None or (payload is None and why is None):
            return _replace_head(name, heads, value)
        return (None, f"MALFORMED: {why}") if payload is None else (heads[value[:HEAD]] + payload, None)

    return reframe


def _replace_guid(heads: dict[bytes, bytes], value: bytes | None, stamp: bytes | None) -> Reframed:
    if value is None or stamp is None:
        return value, None
    if len(stamp) < STAMP:
        return None, "TOO_SHORT"
    if not stamp.startswith(b"\1"):
        return None, "BAD_MAGIC"
    head = heads.get(stamp[1:STAMP])
    return (None, "UNKNOWN_ID") if head is None else (head + stamp[STAMP:] + value, None)


def _find_guid(headers: Sequence[Any] | None, name: str) -> bytes | None:
    for header in headers or ():
        key, value = (header["key"], header["value"]) if isinstance(header, dict) else header
        if key == name:
            return None if value is None else bytes(value)
    return None


def _replace_head(name: str, heads: dict[bytes, bytes], value: bytes | None) -> Reframed:
    if value is None:
        return None, None
    lengths = sorted({len(head) for head in heads})
    for length in lengths:
        head = heads.get(value[:length])
        if head is not None:
            return head + value[length:], None
    if len(value) < min(lengths, default=1):
        return None, "TOO_SHORT"
    mark = MARKS.get(name)
    return None, "BAD_MAGIC" if mark and not value.startswith(mark) else "UNKNOWN_ID"

"""Heads: the bytes that each framing puts before the payloads of a schema."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import entry_points

from treaty.formats.avro.fingerprint import crc64, md5
from treaty.formats.protobuf.encoding.wire import varint
from treaty.spark.plan.framing import PREFIX, Framing
from treaty.spark.plan.known import Known
from treaty.spark.plan.reasons import PlanError

MARK = b"\xc3\x01"
"""The first bytes of a single object (Avro specification, "Single-object encoding")."""
GROUP = "treaty.framings"
"""The entry point group in which other packages offer a `Head`, by the name of their framing."""

Head = Callable[[Known], bytes | None]
"""The bytes before a payload that was written with a schema; None where this framing can't say that schema."""


def _avro(head: Callable[[Known], bytes]) -> Head:
    return lambda known: head(known) if known.format == "AVRO" else None


HEADS: Mapping[str, Head] = {
    "header": lambda known: uuid.UUID(known.guid).bytes,
    "single-object": _avro(lambda known: MARK + crc64(known.schema)),
    "md5": _avro(lambda known: md5(known.schema)),
    "version": lambda known: varint(known.version * 2),
    "none": lambda _: b"",
}
"""Framings of this package beside ``prefix``.

``header``: a guid in the record's headers (Confluent's V1), the prefix where there is none. ``single-object``: Avro's
own. ``md5`` and ``version``: the writer's MD5 or its version as Avro writes a long (AVRO-1124). ``none``: nothing.
"""


def framing_of(name: str, known: Iterable[Known]) -> Framing:
    """The framing with the heads of all schemas that a plan knows. Raises `PlanError` for a name that is none."""
    if name == PREFIX.name:
        return PREFIX
    found = HEADS.get(name)
    if found is None:
        plugins = {point.name: point for point in entry_points(group=GROUP)}
        if name not in plugins:
            there = ", ".join(sorted({PREFIX.name, *HEADS, *plugins}))
            raise PlanError(f"{name!r} is no framing; there are {there}")
        found = plugins[name].load()
    heads: dict[str, int] = {}
    for one in known:
        head = found(one)
        if head is not None:
            heads[head.hex()] = one.schema_id  # where two share one, they read alike, or the later version counts
    return Framing(name, tuple(heads.items()))

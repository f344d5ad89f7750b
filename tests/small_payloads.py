"""Payloads below 1 kB that claim very many values, and the memory and time that reading them takes."""

import ctypes
import gc
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.frames import record
from treaty.plan.avro.envelope import encode_branch

MOST_BYTES = 100_000_000
"""What no payload below 1 kB may take."""
LONG = encode_branch
"""A number of a payload, such as a count of items."""


def nest(items: Any, levels: int) -> Any:
    """A list of lists of items."""
    for _ in range(levels):
        items = {"type": "array", "items": items}
    return items


def named(name: str, *fields: Any) -> dict[str, Any]:
    """A record by its fields."""
    return {"type": "record", "name": name, "fields": [{"name": one, "type": kind} for one, kind in fields]}


def laughing(levels: int, width: int) -> Any:
    """A record of records of records, of so many of the one below each, and no bytes in any."""
    inner: Any = "null"
    for level in range(levels):
        first, again = inner, inner["name"] if isinstance(inner, dict) else inner
        inner = named(f"L{level}", *((f"f{at}", again if at else first) for at in range(width)))
    return inner


EMPTY = named("Empty")
NOTHING = named("Nothing", ("none", "null"))
BARE = {"type": "fixed", "name": "Bare", "size": 0}
WIDE = named("Wide", ("i", "int"), *((f"n{at}", "null") for at in range(1_500)))
NODE = named("Node", *((f"n{at}", "null") for at in range(200)), ("next", ["null", "Node"]))
ITEM = named("Item", ("a", "int"))
BROAD = named("Broad", *((f"f{at}", "int") for at in range(9_000)))
BRANCHES = [named(f"B{at}", *((f"f{no}", "int") for no in range(600))) for at in range(10)]
LISTS = LONG(40) + (LONG(999_999) + b"\0") * 40 + b"\0"
PAIR = LONG(60) + (LONG(14_000) + b"\0") * 60 + b"\0"


def listed(items: Any) -> str:
    """A record with one list."""
    return record(("list", {"type": "array", "items": items}))


def given(kind: Any, default: Any) -> str:
    """The reader of lists of ITEM whose items have one field more, with a default."""
    return listed({**ITEM, "fields": [*ITEM["fields"], {"name": "more", "type": kind, "default": default}]})


AVRO: Mapping[str, tuple[str, str, bytes]] = {
    "nulls": (listed("null"), "", LONG(999_999) + b"\0"),
    "nulls in a sized block": (listed("null"), "", b"\xfd\x87\x7a\2\0"),
    "nulls in blocks": (listed("null"), "", LONG(400_000) * 100 + b"\0"),
    "lists of nulls": (listed(nest("null", 1)), "", LISTS),
    "lists of few nulls": (listed(nest("null", 1)), "", PAIR),
    "lists of lists of nulls": (listed(nest("null", 2)), "", LONG(1) + LISTS + b"\0"),
    "empty records": (listed(EMPTY), "", LONG(999_999) + b"\0"),
    "lists of empty records": (listed(nest(EMPTY, 1)), "", LISTS),
    "lists of few empty records": (listed(nest(EMPTY, 1)), "", PAIR),
    "lists of records of null": (listed(nest(NOTHING, 1)), "", LISTS),
    "lists of fixed of no bytes": (listed(nest(BARE, 1)), "", LISTS),
    "a map of lists of nulls": (
        record(("map", {"type": "map", "values": nest("null", 1)})),
        "",
        LONG(40) + b"".join(b"\2" + bytes([48 + at]) + LONG(999_999) + b"\0" for at in range(40)) + b"\0",
    ),
    "a map of empty records": (record(("map", {"type": "map", "values": EMPTY})), "", LONG(900) + b"\0" * 901),
    "lists of nulls in a union": (listed(["null", nest("null", 1)]), "", LONG(40) + (b"\2" + LONG(999_999) + b"\0") * 40 + b"\0"),
    "records with many nulls": (listed(WIDE), "", LONG(900) + b"\2" * 900 + b"\0"),
    "a chain of records with many nulls": (record(("node", NODE)), "", b"\2" * 90 + b"\0"),
    "records of records of nothing": (record(("all", laughing(6, 20))), "", b""),
    "lists of these that are passed over": (
        json.dumps(named("Order", ("all", nest(laughing(4, 20), 1)), ("n", "int")) | {"namespace": "shop"}),
        record(("n", "int")),
        LONG(900_000) + b"\0\2",
    ),
    "large lists as defaults": (listed(ITEM), given(nest("int", 1), [1] * 20_000), LONG(900) + b"\2" * 900 + b"\0"),
    "large maps as defaults": (
        listed(ITEM),
        given({"type": "map", "values": "int"}, {str(at): 1 for at in range(20_000)}),
        LONG(900) + b"\2" * 900 + b"\0",
    ),
    "long texts as defaults": (listed(ITEM), given("string", "x" * 400_000), LONG(900) + b"\2" * 900 + b"\0"),
    "nulls beside a wide record": (listed(["null", BROAD]), "", LONG(900) + b"\0" * 901),
    "one of many wide records": (listed(["int", *BRANCHES]), "", LONG(450) + b"\0\2" * 450 + b"\0"),
    "wide records that are not written": (listed(ITEM), given(["null", BROAD], None), LONG(900) + b"\2" * 900 + b"\0"),
    "a map of nulls beside a wide record": (
        record(("map", {"type": "map", "values": ["null", BROAD]})),
        "",
        LONG(240) + b"".join(b"\4%02x\0" % at for at in range(240)) + b"\0",
    ),
    "defaults of nothing's records": (
        listed(EMPTY),
        listed({**EMPTY, "fields": [{"name": "d", "type": nest("int", 1), "default": [1] * 50}]}),
        LONG(12_000) + b"\0",
    ),
}  # fmt: skip
"""By name: the writer, another reader where there is one, and a payload."""


def measure(read: Callable[[], object]) -> tuple[float, int]:
    """The CPU seconds of a call, and by how many bytes the process grows meanwhile (Linux alone says that)."""
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)  # what earlier calls left would be used again, and not seen
    Path("/proc/self/clear_refs").write_text("5")
    before, start = _read_status("VmRSS"), time.process_time()
    read()
    return time.process_time() - start, _read_status("VmHWM") - before


def _read_status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))

"""Schemas without a registry: CPU of reading, printing, naming and comparing them, next to other libraries.

Nothing is remembered between two rounds: every round parses the text anew. A check of two schemas includes parsing the
new one; the old one's model is kept, as a registry keeps it.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import avro.schema
import fastavro
import jsonschema_rs
from grpc_tools import protoc

from benchmarks.row import Row, against
from benchmarks.schemas import TEXTS, Texts
from treaty.core.schema import guid
from treaty.core.schema_engine import ResolvedSchema
from treaty.formats.format import Format
from treaty.formats.registry import find_formats

ROUNDS = 7
SECONDS = 0.15
"""CPU that one round takes at least."""
HISTORY = 100
GOALS: Mapping[str, tuple[float, float]] = {"AVRO": (150, 100), "JSON": (500, 500), "PROTOBUF": (500, 500)}
"""Microseconds for a small schema: parse, canonical text and guid; check of two."""

Work = Callable[[], object]


def cost(work: Work) -> float:
    """Return the microseconds of CPU of one call: the least mean of several rounds."""
    work()
    calls, best = 1, float("inf")
    for _ in range(ROUNDS):
        while True:
            before = time.process_time()
            for _ in range(calls):
                work()
            taken = time.process_time() - before
            if taken >= SECONDS:
                break
            calls = max(calls * 2, int(calls * SECONDS / max(taken, 1e-6)))
        best = min(best, taken / calls)
    return best * 1e6


def parsing(form: Format[Any], text: str) -> Work:
    """Return what reads a text."""
    return lambda: form.parse(ResolvedSchema(form.name, text), True)


def naming(form: Format[Any], text: str) -> Work:
    """Return what reads a text, prints its canonical form and makes its guid."""
    return lambda: guid(form.show(form.parse(ResolvedSchema(form.name, text), True), False).canonical, (), None, None)


def checking(form: Format[Any], new: str, olds: list[str]) -> Work:
    """Return what reads a text and compares it with schemas that are known."""
    known = [form.parse(ResolvedSchema(form.name, old), False) for old in olds]

    def check() -> None:
        model = form.parse(ResolvedSchema(form.name, new), True)
        for old in known:
            if findings := form.compare(model, old, "STRICT"):
                raise AssertionError(findings[0])

    return check


def comparing(form: Format[Any], new: str, old: str) -> Work:
    """Return what compares two schemas that are known."""
    reader, writer = (form.parse(ResolvedSchema(form.name, text), False) for text in (new, old))
    return lambda: form.compare(reader, writer, "STRICT")


def measured(form: Format[Any], texts: Texts) -> Iterator[Row]:
    """Measure one format of ours."""
    name = form.name.capitalize()
    whole, pair = GOALS.get(form.name, (None, None))
    for size, make, goals in (("15 fields", texts.small, (whole, pair)), ("500 fields", texts.large, (None, None))):
        text, old = make(1), make(0)
        model = form.parse(ResolvedSchema(form.name, text), True)
        yield Row(f"{name}, {size}: parse", cost(parsing(form, text)), "us CPU")
        yield Row(f"{name}, {size}: canonical text", cost(lambda m=model: form.show(m, False)), "us CPU")  # type: ignore[misc]
        yield Row(f"{name}, {size}: parse, canonical text, guid", cost(naming(form, text)), "us CPU", goal=goals[0])
        for algorithm, digest in sorted(form.fingerprints.items()):
            yield Row(f"{name}, {size}: fingerprint {algorithm}", cost(lambda d=digest, m=model: d(m)), "us CPU")  # type: ignore[misc]
        yield Row(f"{name}, {size}: compare two", cost(comparing(form, text, old)), "us CPU", goal=goals[1])
        history = [make(version) for version in range(HISTORY)]
        yield Row(
            f"{name}, {size}: parse and check with {HISTORY} versions",
            cost(checking(form, make(HISTORY), history)),
            "us CPU",
        )


def others(folder: Path) -> Iterator[tuple[str, str, str, Work]]:
    """Yield the other libraries: format, size, name, what reads a text."""
    for size in ("15 fields", "500 fields"):
        texts = {
            name: (texts_of.small if size == "15 fields" else texts_of.large)(1) for name, texts_of in TEXTS.items()
        }
        loaded, text = json.loads(texts["JSON"]), texts["AVRO"]
        yield "AVRO", size, "fastavro.parse_schema", lambda t=text: fastavro.parse_schema(json.loads(t))  # type: ignore[misc]
        yield "AVRO", size, "avro.schema.parse", lambda t=text: avro.schema.parse(t)  # type: ignore[misc]
        yield (
            "JSON",
            size,
            "jsonschema_rs.validator_for",
            lambda schema=loaded: jsonschema_rs.validator_for(schema, offline=True),  # type: ignore[misc]
        )
        path = folder / f"{size.replace(' ', '_')}.proto"
        path.write_text(texts["PROTOBUF"], "utf-8")
        out = folder / "out.bin"
        arguments = ["protoc", f"-I{folder}", f"--descriptor_set_out={out}", path.name]
        yield "PROTOBUF", size, "protoc", lambda given=arguments: _ran(given)  # type: ignore[misc]


def _ran(arguments: list[str]) -> None:
    if protoc.main(arguments):
        raise AssertionError(arguments)


def run() -> list[Row]:
    """Measure every format that is here, and the other libraries on the same texts."""
    formats = find_formats()
    rows = [row for name in formats.names if name in TEXTS for row in measured(formats[name], TEXTS[name])]
    parsed = {row.name: row.value for row in rows}
    with tempfile.TemporaryDirectory() as folder:
        for name, size, library, work in others(Path(folder)):
            ours = parsed.get(f"{name.capitalize()}, {size}: parse")
            if ours is not None:
                rows.append(
                    against(f"{name.capitalize()}, {size}: parse, against {library}", ours, cost(work), unit="us CPU")
                )
    return rows

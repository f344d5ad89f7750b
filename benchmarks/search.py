"""The search index: schemas of 15 fields put into it for each second of CPU, its bytes, and what a search takes."""

import json
import random
import tempfile
import time
from pathlib import Path

from benchmarks.row import Row
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.messages.search import parse_terms
from treaty.core.names import Subject
from treaty.core.schema_engine import FindEntries
from treaty.core.state.commit import Position
from treaty.core.state.rows import encode_row, make_row
from treaty.core.state.state_tables import SCHEMA, SUBJECT, VERSION, SchemaKey, VersionKey
from treaty.core.state.values import Schema, SubjectValue, Version
from treaty.node.segment.layered import LayeredTables
from treaty.web.index.build import build_index
from treaty.web.index.lookup import IndexFile
from treaty.web.index.storage import open_for_writing, remove_index
from treaty.web.index.update import IndexUpdate

SCHEMAS, SUBJECTS = 60_000, 3_000
FIELDS = 15
NAMES = tuple(f"{first}_{last}" for first in ("ship", "bill", "order", "user", "geo") for last in range(400))
TYPES = {
    "AVRO": ("string", "long", "int", "double", "boolean"),
    "JSON": ("string", "integer", "number", "boolean"),
    "PROTOBUF": ("string", "int64", "int32", "double", "bool"),
}
GOALS = {"AVRO": 10_000, "JSON": 10_000}
"""Schemas for each second of CPU; of Protobuf, whose texts are parsed, the figure is stated alone."""
SEARCHES = (
    "field:ship_7", "field:ship_7 type:string", "tag:PII", "field:*ship_1*", "order_12", "subject:s12", "format:AVRO", "doc:parcel",
    "field:carrier", "kind:subject type:string",
)  # fmt: skip
"""Searches of few hits, of parts of names, and of very many hits."""
LIMITED = Access((AccessRule(("user:a",), with_included(("read",)), ("s-*7-value",)),))
LARGE_SEARCHES = (
    "kind:subject", "type:string", "subject:val", "value", "value type:string", "abc", "xy", "field:*a_*", "field:*abc*", "doc:abc",
    "subject:xy", "format:AVRO", "type:string type:long",
)  # fmt: skip
"""Searches of the registry of `world`: what all versions fit, what few do, and parts of names of two letters."""
READERS: tuple[tuple[str, Access | None], ...] = (
    ("all", None),
    ("a tenth", Access((AccessRule(("user:a",), with_included(("read",)), ("*7-value",)),))),
    ("one in a thousand", Access((AccessRule(("user:a",), with_included(("read",)), ("*137-value",)),))),
)
"""Who searches it: the names of its subjects end with their numbers."""


def run() -> list[Row]:
    """Fill tables with schemas of each format, index them, and search."""
    rows: list[Row] = []
    for format_ in TYPES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "index")
            tables = _fill(format_)
            begun = time.process_time()
            build_index(path, tables)
            took = time.process_time() - begun
            begun = time.process_time()
            _update(Path(folder, "grown"), tables)
            grown = time.process_time() - begun
            remove_index(Path(folder, "grown"))
            size = sum(path.stat().st_size for path in Path(folder).iterdir())
            rows.append(
                Row(
                    f"{format_}: schemas of {FIELDS} fields, index built",
                    SCHEMAS / took,
                    "per s of CPU",
                    goal=GOALS.get(format_),
                    rising=True,
                )
            )
            name = f"{format_}: the same put into an index one after the other"
            rows.append(Row(name, SCHEMAS / grown, "per s of CPU", rising=True))
            rows.append(Row(f"{format_}: bytes of the index for each schema", size / SCHEMAS, "bytes"))
            begun = time.process_time()
            _update(path, tables)
            rows.append(
                Row(
                    f"{format_}: looking at {SUBJECTS:,} subjects without a change",
                    (time.process_time() - begun) * 1000,
                    "ms CPU",
                )
            )
            if format_ == "AVRO":
                rows += _search_rows(path)
    return rows


def _fill(format_: str) -> LayeredTables:
    chance, tables, encoded = random.Random(7), LayeredTables(small=0), []
    for at in range(SUBJECTS):
        encoded.append(encode_row(make_row(SUBJECT, Subject(".", f"s-{at}-value"), SubjectValue(1))))
    for at in range(SCHEMAS):
        home, number = at % SUBJECTS, at // SUBJECTS + 1
        schema = Schema(f"{at:032x}", format_, _text(format_, chance, at), f"{at:064x}")
        encoded.append(encode_row(make_row(SCHEMA, SchemaKey(".", at + 1), schema)))
        version = Version(number, at + 1, format=format_)
        encoded.append(encode_row(make_row(VERSION, VersionKey(".", f"s-{home}-value", 1, number - 1), version)))
    tables.load(encoded, Position(b"i" * 16, 1))
    return tables


def _text(format_: str, chance: random.Random, at: int) -> str:
    names = [*chance.sample(NAMES, FIELDS - 1), "carrier"]
    tags = {"confluent:tags": ["PII"]} if at % 50 == 0 else {}
    doc = "A parcel that was sent" if at % 10 == 0 else "An order of a customer"
    if format_ == "PROTOBUF":
        lines = (f"{chance.choice(TYPES[format_])} {name} = {number};" for number, name in enumerate(names, 1))
        return f'syntax = "proto3"; package shop; /* {doc} */ message R{at} {{ {" ".join(lines)} }}'
    if format_ == "AVRO":
        fields = [{"name": name, "type": chance.choice(TYPES[format_]), **tags} for name in names]
        return json.dumps(
            {"type": "record", "name": f"R{at}", "namespace": "shop", "doc": doc, "fields": fields},
            separators=(",", ":"),
        )
    properties = {name: {"type": chance.choice(TYPES[format_]), **tags} for name in names}
    return json.dumps({"type": "object", "description": doc, "properties": properties}, separators=(",", ":"))


def _update(path: Path, tables: LayeredTables) -> None:
    connection = open_for_writing(path)
    steps = IndexUpdate(connection, tables).run()
    try:
        work = next(steps)
        while True:
            work = steps.send(work.do())
    except StopIteration:
        pass
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _search_rows(path: Path) -> list[Row]:
    file = IndexFile(path)
    rows = []
    for text in SEARCHES:
        for who, access in (("all", None), ("a tenth", LIMITED)):
            question = FindEntries(parse_terms(text), access, limit=20)
            took = _least(file, question)
            rows.append(Row(f"{text}, for who reads {who}", took * 1000, "ms CPU", goal=10.0))
    file.close()
    return rows


def list_searches(path: Path, name: str) -> list[Row]:
    """Search the index of the registry of `world`."""
    file, rows = IndexFile(path), list[Row]()
    for who, access in READERS:
        first = _time(file, FindEntries(parse_terms(LARGE_SEARCHES[0]), access, limit=20))
        words = "opens the index" if access is None else "finds out what may be read"
        rows.append(Row(f"{name}: the first search, which {words}, for who reads {who}", first * 1000, "ms CPU"))
    for text in LARGE_SEARCHES:
        for who, access in READERS:
            took = _least(file, FindEntries(parse_terms(text), access, limit=20))
            rows.append(Row(f"{name}: search {text}, for who reads {who}", took * 1000, "ms CPU", goal=10.0))
    file.close()
    return rows


def _least(file: IndexFile, question: FindEntries) -> float:
    """The least CPU of fifteen calls, in seconds."""
    return min(_time(file, question) for _ in range(15))


def _time(file: IndexFile, question: FindEntries) -> float:
    """The CPU of one call, in seconds."""
    begun = time.process_time()
    file.find(question)
    return time.process_time() - begun

"""What queries that were dropped read, and whether it is the same when they come back."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace

from tests.simulation.judging.model.asking import Asking
from tests.simulation.judging.model.metastore import sql_types
from tests.simulation.judging.model.metastore.defining import refuse_topic_of_read
from tests.simulation.judging.model.metastore.state import key_of, own_pins, sources, types
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No
from treaty.core.names import Subject
from treaty.core.refusals import NotLatest, SourceNotFound
from treaty.core.sources import DroppedSource, SchemaPin, Source, SourceRead

Leaf = tuple[list[str], list[str], sql_types.SqlType]
"""A path in small letters, the kinds of types it leads through, and the type at its end."""
PARTS = {"array": ("element",), "map": ("key", "value")}


def digests_of_reads(past: Past, source: Source) -> tuple[str, ...]:
    """What each read of a query needs of its source, as a digest."""
    reads = () if source.query is None else source.query.plan.reads
    return tuple(_digest(past, sources(past)[read.source], read) for read in reads)


def _digest(past: Past, source: Source, read: SourceRead) -> str:
    """Paths of clients of a life are names of columns; all are read where none is named."""
    names = {key_of(path) for path in read.columns}
    rows = [
        [path, kinds, sql_types.canonical(kind), column.role, column.header]
        for column in source.columns
        for path, kinds, kind in _leaves(
            [column.name.lower()], [], sql_types.expanded(past, sql_types.parse(column.type, "COLUMN_TYPE"))
        )
        if not names or key_of(column.name) in names
    ]
    text = json.dumps(sorted(rows), separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def digests_of_types(past: Past, source: Source) -> tuple[str, ...]:
    """What each named type of a source means, as a digest; none for one that is gone."""
    return tuple(_digest_of_type(past, key) for key in source.types)


def _digest_of_type(past: Past, key: str) -> str:
    if key not in types(past):
        return ""
    text = sql_types.canonical(sql_types.expanded(past, sql_types.parse(key, "TYPE_TEXT")))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def refuse_other_meanings(past: Past, kept: DroppedSource) -> None:
    """A type means what it meant when its source went."""
    if digests_of_types(past, kept.source) != kept.types:
        raise No(NotLatest, "TYPE_GENERATION")


def _leaves(path: list[str], kinds: list[str], kind: sql_types.SqlType) -> Iterator[Leaf]:
    word = kind.word.lower()
    names = kind.fields if word == "struct" else PARTS.get(word, ())
    if not names:
        yield path, kinds, kind
    for name, part in zip(names, kind.inside, strict=True):
        yield from _leaves([*path, name.lower()], [*kinds, word], part)


def read_again(past: Past, asking: Asking, kept: DroppedSource) -> tuple[SourceRead, ...]:
    """Each source is there, is the one that was read, and has what was read; reads are of it as it is now."""
    query, again = kept.source.query, list[SourceRead]()
    for read, digest in zip(() if query is None else query.plan.reads, kept.reads, strict=True):
        source = sources(past).get(read.source)
        if source is None:
            raise No(SourceNotFound, "READ_NOT_FOUND")
        if read.generation != source.generation and read.generation not in source.former:
            raise No(NotLatest, "READ_GENERATION")
        refuse_topic_of_read(asking, source)
        if _digest(past, source, read) != digest:
            raise No(NotLatest, "READ_COLUMNS")
        if any(
            pin is not None and pin not in own_pins(source) and not _is_there(past, pin)
            for pin in (read.key, read.value)
        ):
            raise No(NotLatest, "READ_PIN")
        again.append(replace(read, generation=source.generation, revision=source.revision))
    return tuple(again)


def _is_there(past: Past, pin: SchemaPin) -> bool:
    """Whether a version is there, deleted or not."""
    there = past.of(Subject(pin.context, pin.subject))
    place = (pin.generation, pin.ordinal)
    kept = any((one.generation, one.ordinal) == place for one in there)
    return kept and past.schema(pin.context, pin.schema_id) is not None

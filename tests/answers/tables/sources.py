"""What is asked of the operation that creates and replaces sources."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tests.answers.asks import Table
from tests.answers.story import AVRO, C, define, plan
from tests.answers.streams import STORY
from tests.answers.tables import stream_values as v
from tests.answers.texts import print_change, print_value
from tests.answers.worlds import WRITER
from treaty.core.messages.metastore.sources import CreateSource, SourceDefinition
from treaty.core.sources import ImportedQuery, QueryPlan, SourcePart

IMPORTS = (
    None, ImportedQuery("SELECT 1"), ImportedQuery(""), ImportedQuery("SELECT 1", "CREATE …", "id", ("a note", "b")), ImportedQuery("SELECT 1", id="a`b"),
    ImportedQuery("s" * 600_000, "s" * 500_000),
)  # fmt: skip
REPLACED = (
    "orders",
    "clicks",
    "customers",
    "totals",
    "report",
    "board",
    "joined",
    "filed",
    "pair",
    "counts",
    "follower",
    "named",
    "ported",
    "far",
    "logs",
)
WAYS: tuple[Mapping[str, Any], ...] = (
    {}, {}, {"assess": True}, {"dry_run": True}, {"once": True}, {"if_not_exists": True}, *({"on_change": word} for word in ("EMPTY", "BACKFILL", "CASCADE", "x")),
    *({"on_change": word, "assess": True} for word in ("EMPTY", "BACKFILL", "CASCADE")),
)  # fmt: skip
MORE_COLUMNS = (
    C("more", "INT"),
    C("more", "STRUCT<a: INT NOT NULL COMMENT 'y', b: STRING>"),
    C("kk", "INT", role="key"),
)


def _queries(query: QueryPlan) -> Iterator[QueryPlan]:
    """Queries that are like one, in some way not."""
    reads = query.reads
    yield replace(query, body=f"{query.body} ")
    yield replace(query, reads=(*reads, v.READ("customers", "id", mode="table")))
    yield replace(query, reads=(*reads, v.READ("visits", "page")))
    yield replace(query, reads=(v.READ("visits", "page"), *reads))
    yield replace(query, reads=(v.READ("again", "page"), v.READ("visits", "page")))
    yield replace(query, reads=(v.READ("visits", "page"), v.READ("again", "page", places=(0,))))
    yield replace(query, reads=reads + reads)
    yield replace(query, reads=(*reads, v.READ("over", "page", mode="table")))
    yield replace(query, reads=(*reads, v.READ("chained", "page", mode="table")))
    yield replace(query, reads=tuple(replace(read, mode="table") for read in reads))
    yield replace(query, reads=tuple(replace(read, columns=()) for read in reads))
    for number in range(3):
        yield replace(
            query,
            fingerprint=plan("", state=f"other-{number}").fingerprint,
            state=(("key", "x"), ("window", "y"), ("key", "z"))[number:],
        )
    yield replace(query, fingerprint=plan("").fingerprint, state=())
    yield replace(query, fingerprint=plan("", state="moved").fingerprint, state=query.state[::-1])
    yield replace(query, output_mode="update" if query.output_mode == "append" else "append")
    yield replace(query, key=("id", "page"))
    yield replace(query, settings=(("shuffle", "8"),), engine="spark-9")


def _definitions(stored: SourceDefinition) -> Sequence[SourceDefinition]:
    """A definition as it is, and others that differ from it in one thing."""
    columns = stored.columns
    others = [
        stored, replace(stored, statement="other words"), replace(stored, comment="another"), replace(stored, kind="TABLE" if stored.kind == "STREAM" else "STREAM"),
        replace(stored, columns=columns[:-1]), replace(stored, columns=columns[1:]), replace(stored, columns=(*columns[:-1], replace(columns[-1], type="DOUBLE"))),
        *(replace(stored, columns=(*columns, column)) for column in MORE_COLUMNS), replace(stored, columns=(*columns[:-1], replace(columns[-1], role="header", header="h"))),
        replace(stored, columns=(*columns[:-1], replace(columns[-1], nullable=not columns[-1].nullable, comment="x"))), replace(stored, columns=columns[::-1]),
        replace(stored, columns=(replace(columns[0], name=columns[0].name.upper()), *columns[1:])),
        replace(stored, place="elsewhere"), replace(stored, place=f"{stored.place}/"), replace(stored, connector="iceberg"), replace(stored, connector="kafka"), replace(stored, cluster="west"),
        replace(stored, properties=(("CHECKPOINT_ROOT", "s3"),)), replace(stored, value=SourcePart("JSON")), replace(stored, key=AVRO), replace(stored, bad_rows=True), replace(stored, query=None),
        replace(stored, query=plan("SELECT page FROM STREAM clicks", v.READ("clicks", "page"))), replace(stored, query=plan("SELECT n FROM STREAM follower", v.READ("follower", "n"))),
        replace(stored, query=plan("SELECT id FROM STREAM board", v.READ("board", "id"))), replace(stored, name=stored.name.upper()), replace(stored, imported=ImportedQuery("SELECT 2")),
    ]  # fmt: skip
    if stored.query is not None:
        others += [replace(stored, query=query) for query in _queries(stored.query)]
        others += [replace(stored, query=replace(stored.query, body="SELECT 2", fingerprint=plan("", state="wide").fingerprint), columns=(*columns[:-1], replace(columns[-1], type="DOUBLE")))]  # fmt: skip
    return others


def _replacements() -> Iterator[tuple[str, CreateSource]]:
    """Definitions in the place of those that are there, some of each, in ways that are drawn."""
    dice = random.Random("replacements")
    for name in REPLACED:
        stored = STORY.definitions[name]
        for definition in _definitions(stored):
            for way in dice.sample(WAYS, 1 if stored.query is None else 2):
                words = f"{name} {print_change(definition, stored, ('query',))}"
                yield f"{words} {way or ''}".rstrip(), CreateSource(definition, replace=True, **way)
        for expected in dice.sample(v.EXPECTED[1:], 1):
            yield f"{name} {print_value(expected)}", CreateSource(stored, replace=True, expected=expected)


def _poured() -> Iterator[tuple[str, CreateSource]]:
    """Queries that are run once into a table whose columns are strict."""
    stored = STORY.definitions["poured"]
    columns = stored.columns
    struct = (
        "STRUCT<a: INT, b: ARRAY<STRUCT<c: INT NOT NULL>>>",
        "STRUCT<a: INT NOT NULL, b: ARRAY<STRUCT<c: INT>>>",
        "STRUCT<a: BIGINT, b: ARRAY<STRUCT<c: INT NOT NULL>>>",
        "STRUCT<a: INT NOT NULL COMMENT 'z', b: ARRAY<STRUCT<c: INT NOT NULL>>>",
    )
    sets = [
        columns[1:],
        (columns[0], *columns[2:]),
        columns[:3],
        (*columns, C("zz", "INT")),
        (*columns[:3], replace(columns[3], type="INT")),
        *((*columns[:2], replace(columns[2], type=text), columns[3]) for text in struct),
    ]
    for at, chosen in enumerate(sets):
        yield (
            f"poured {at}",
            CreateSource(
                replace(
                    stored, columns=tuple(chosen), query=plan("SELECT 1 FROM clicks", v.READ("clicks", mode="table"))
                ),
                replace=True,
                once=True,
            ),
        )


def _others() -> Iterator[tuple[str, CreateSource]]:
    """Places that are no folders, schemas in many situations, and a query that is run once beside other members."""
    stored = STORY.definitions["poured"]
    query = plan("SELECT 1 FROM clicks", v.READ("clicks", mode="table"))
    for connector, place in ((connector, place) for connector in ("files", "delta") for place in v.PLACES[7:]):
        yield f"{connector} {print_value(place)}", CreateSource(define("new", connector=connector, place=place))
    clicks = replace(STORY.definitions["clicks"], value=AVRO)
    for at, schema in enumerate(v.SCHEMAS[1:]):
        yield f"assessed {at}", CreateSource(clicks, value_schema=schema, replace=True, assess=True)
        yield (
            f"replaced {at}",
            CreateSource(
                replace(clicks, key=AVRO),
                value_schema=schema,
                key_schema=v.SCHEMAS[1],
                replace=True,
                assess=at % 2 == 0,
            ),
        )
        yield (
            f"schema {at}",
            CreateSource(
                define("new", value=AVRO), value_schema=schema, key_schema=schema if at % 2 else None, dry_run=at == 3
            ),
        )
    ways: tuple[Mapping[str, Any], ...] = (
        {},
        {"dry_run": True},
        {"expected": v.EXPECTED[1]},
        {"assess": True},
        {"types": v.TYPES[1]},
        {"on_change": "EMPTY"},
        {"if_not_exists": True},
        {"importer": True},
        {"replace": False},
    )
    for at, more in enumerate(ways):
        yield f"poured once {at}", CreateSource(replace(stored, query=query), **{"replace": True, "once": True, **more})


TABLES = (
    Table(
        CreateSource(define("new", C("a", "INT"), place="new", statement="CREATE STREAM new (a INT)")),
        {
            "definition.name": (*v.NAMES, *v.BAD_NAMES, v.LONGEST), "definition.kind": v.KINDS[1:], "definition.statement": ("", "CREATE", "s" * 1_048_577, "s" * 1_048_576, "ä" * 524_289), "definition.columns": v.COLUMNS,
            "definition.key": v.PARTS, "definition.value": v.PARTS, "definition.connector": ("kafka", "files", "delta", "iceberg", "", "jdbc"), "definition.cluster": v.CLUSTERS,
            "definition.place": v.PLACES, "definition.timestamp": v.TIMESTAMPS, "definition.properties": v.PROPERTIES, "definition.comment": ("", "words"), "definition.query": v.QUERIES,
            "definition.bad_rows": v.FLAGS, "definition.imported": IMPORTS, "key_schema": v.SCHEMAS, "value_schema": v.SCHEMAS, "if_not_exists": v.FLAGS, "replace": v.FLAGS,
            "expected": v.EXPECTED, "dry_run": v.FLAGS, "types": v.TYPES, "on_change": ("", "EMPTY", "CASCADE", "x"), "assess": v.FLAGS, "importer": v.FLAGS, "once": v.FLAGS,
        },
        (("definition.connector", "definition.place"),),
        drawn=40, places=("definition.name", "definition.place", "definition.query", "value_schema", "definition.value"), named={**dict(_replacements()), **dict(_poured()), **dict(_others())}, share=1.0, accesses=v.ACCESSES, asker=WRITER, every=7, shared=4, nested=("definition",),
    ),
)  # fmt: skip

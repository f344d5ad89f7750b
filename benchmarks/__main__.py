"""`python -m benchmarks [NAME ...]`: run benchmarks, print a table, write RESULTS.md."""

import argparse
import datetime as dt
import importlib
import os
import platform
import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.row import Row

MODULES = {
    "http": "hot reads against a bare protocol and plain Starlette; 10,000 subjects against 100; 64 clients at once",
    "http_large": "the server with 100,000 subjects against 100",
    "register": "a new schema of 15 fields among many subjects, against few",
    "follow": "what a node spends on commits of others, against deciding and encoding them",
    "apis": "adding and reading schemas at Pravega's and schema-repo's APIs, beside Confluent's on the same server",
    "growth": "requests among 10,000 contexts, 2,000 versions, 4,000 deleted ones and 100,000 subjects, against few",
    "metastore": "statements among 10,000 sources against 100, CASCADE by length, beside registrations, and the parser by size",
    "terminal": "`treaty sql -e` from start to end, over a file and over a server; a name completed among 10,000 sources",
    "million": "a million schemas: start, memory, registration",
    "log": "durable appends on each log against bare loops; three nodes that contend against one; start and memory",
    "abuse": "requests served and the longest turn of the event loop while hostile clients are at work, beside the quiet server",
    "loop": "the longest turn of the event loop: all routes with 100,000 subjects, and schemas that are made to cost much",
    "search": "the search index: schemas indexed for each second of CPU, bytes for each, and searches of few and of very many hits",
    "pages": "pages over a million schemas: CPU and bytes of each kind, hot reads and memory beside them",
    "formats": "schemas without a registry: read, printed, named, compared, next to other libraries",
    "serializers": "records to bytes and back, against Confluent's serializers for Python and bare fastavro",
    "arrow": "frames to Arrow without Spark, beside a loop with fastavro and one with json.loads",
    "spark": "decoding 1 to 100 mixed ids, bad rows, three formats, encoding, a stream, a history check; against Spark's own functions",
    "planner": "the plan of a usual body in a JVM that is warm, and 30 SQL tests in one JVM",
    "compare": "EXPLAIN REPLACE COMPARE over a million records, against one of the bodies as a batch over the same records",
    "queries": "a query of the runner from files into a Delta table, against the same body by hand: with treaty.spark, and with Spark's own from_avro",
    "wide": "Avro records of 20 to 500 fields and 1 to 100 versions, each a nullable field wider; against Spark's own from_avro of the last version",
    "events": "self-describing events on Spark: validated, and shredded, beside a job that only carries them through Python workers",
}
"""Modules of this package with a function `run`, and what they measure."""
BY_NAME = {"abuse", "http_large", "million", "loop", "pages"}
"""Those that take too long for a run of all; their figures stay until they are asked for."""

OPTIONS = {
    "log": ("size", "only", "part"),
    "spark": ("rows",),
    "queries": ("rows",),
    "wide": ("rows", "width"),
    "events": ("rows", "part"),
}
"""The benchmarks that take options, and which."""

RESULTS = Path(__file__).with_name("RESULTS.md")
VERSUS = "versus: "
"""What the names of comparisons of two checkouts begin with."""


def main() -> int:
    """Run the chosen benchmarks, all by default. A missed goal is shown, not a failure: the machine may be busy."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "name", nargs="*", help=f"which to run: {', '.join(MODULES)} (default: all but {', '.join(BY_NAME)})"
    )
    parser.add_argument("--no-write", action="store_true", help="leave RESULTS.md as it is")
    parser.add_argument(
        "--size",
        type=int,
        action="append",
        metavar="SCHEMAS",
        help="log: schemas in a log that nodes are started on; may be given several times (default: 10000 and 100000)",
    )
    parser.add_argument(
        "--only", action="append", metavar="LOG", help="log: this log alone; may be given several times (default: all)"
    )
    parser.add_argument(
        "--part",
        action="append",
        choices=("durable", "contend", "start", "validated", "shredded"),
        help="log, events: these figures alone; may be given several times (default: all)",
    )
    parser.add_argument(
        "--rows",
        type=int,
        help="spark, queries, wide, events: records for each figure (default: 2000000, 1000000, 1000000, 1000000)",
    )
    parser.add_argument("--width", type=int, action="append", help="wide: this width alone; may be given several times")
    asked = parser.parse_args()
    unknown = sorted(set(asked.name) - set(MODULES))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(MODULES)}")
    options = {name: value for names in OPTIONS.values() for name in names if (value := getattr(asked, name))}
    for name in options:
        owners = [owner for owner, names in OPTIONS.items() if name in names]
        if len(asked.name) != 1 or asked.name[0] not in owners:
            parser.error(f"--{name} is for the benchmark {' or '.join(owners)} alone")
    results = {}
    for name in asked.name or [module for module in MODULES if module not in BY_NAME]:
        results[name] = measured(name, **options)
        if not asked.no_write:  # at once, so that a run that is stopped keeps what it has
            write(RESULTS, sections(RESULTS) | {name: section(name, MODULES[name], results[name])})
    show(results)
    return 0


def measured(name: str, **options: Any) -> list[Row]:
    """Run one benchmark."""
    print(f"== {name}: {MODULES[name]}", file=sys.stderr, flush=True)
    rows: list[Row] = importlib.import_module(f"benchmarks.{name}").run(**options)
    return rows


def show(results: dict[str, list[Row]]) -> None:
    """Print the table."""
    table = Table("benchmark")
    limits = any(row.limit for rows in results.values() for row in rows)
    for word in (*HEAD, LIMIT) if limits else HEAD:
        table.add_column(word, overflow="fold")
    for name, rows in results.items():
        for row in rows:
            table.add_row(name, *cells(row, limit=limits))
    Console().print(table)


HEAD = ("figure", "value", "baseline", "ratio", "goal", "met")
LIMIT = "what limits it"


def cells(row: Row, *, limit: bool = False) -> tuple[str, ...]:
    """The texts of one line."""
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    if row.interval is not None:
        ratio += f" ({row.interval[0]:.2f} to {row.interval[1]:.2f})"
    baseline = "" if row.baseline is None else f"{row.baseline:.4g} {row.unit}"
    sign = ">=" if row.rising else "<="
    goal = "" if row.goal is None else f"{sign} {row.goal:g}{'' if row.ratio is not None else ' ' + row.unit}"
    met = {None: "", True: "yes", False: "no"}[row.met]
    return row.name, f"{row.value:.4g} {row.unit}", baseline, ratio, goal, met, *([row.limit] if limit else [])


def section(name: str, about: str, rows: list[Row]) -> str:
    """One benchmark as Markdown, with the date and the machine it ran on."""
    when = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    busy = f"load average {os.getloadavg()[2]:.1f} from other programs and this one"
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {busy}, Python {platform.python_version()}"
    limits = any(row.limit for row in rows)
    head = (*HEAD, LIMIT) if limits else HEAD
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cells(row, limit=limits)) + " |" for row in rows]
    return f"## {name}\n\n{about[0].upper()}{about[1:]}. {when}; {machine}.\n\n" + "\n".join(lines) + "\n"


def sections(path: Path) -> dict[str, str]:
    """Read the sections of an earlier run, so that running one benchmark keeps the others' figures."""
    if not path.exists():
        return {}
    parts = path.read_text(encoding="utf-8").split("\n## ")[1:]
    return {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in parts}


def write(path: Path, parts: dict[str, str]) -> None:
    """Write the results: in the order of the table of modules, then sections of other names, then those of `benchmarks.versus`."""
    head = "# Results\n\nWritten by `make bench`. A ratio is value / baseline within one run; lower is better unless a goal says >=.\n"
    by_hand = [name for name in parts if name not in MODULES and not name.startswith(VERSUS)]
    names = (*MODULES, *by_hand, *sorted(name for name in parts if name.startswith(VERSUS)))
    body = "\n".join(parts[name] for name in names if name in parts)
    path.write_text(f"{head}\n{body}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

"""`python -m benchmarks [NAME ...]`: run benchmarks, print a table, write RESULTS.md."""

import argparse
import datetime as dt
import importlib
import os
import platform
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.row import Row

MODULES = {
    "http": "hot reads against a bare protocol and plain Starlette; 10,000 subjects against 100; 64 clients at once",
    "http_large": "the server with 100,000 subjects against 100",
    "register": "a new schema of 15 fields among many subjects, against few",
    "million": "a million schemas: start, memory, registration",
    "formats": "schemas without a registry: read, printed, named, compared, next to other libraries",
    "serializers": "records to bytes and back, against Confluent's serializers for Python and bare fastavro",
    "spark_decode": "Avro under 1, 5 and 50 mixed ids, against Spark's own from_avro",
}
"""Modules of this package with a function `run`, and what they measure."""
BY_NAME = {"http_large", "million"}
"""Those that take too long for a run of all; their figures stay until they are asked for."""

RESULTS = Path(__file__).with_name("RESULTS.md")


def main() -> int:
    """Run the chosen benchmarks, all by default. A missed goal is shown, not a failure: the machine may be busy."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "name", nargs="*", help=f"which to run: {', '.join(MODULES)} (default: all but {', '.join(BY_NAME)})"
    )
    parser.add_argument("--no-write", action="store_true", help="leave RESULTS.md as it is")
    asked = parser.parse_args()
    unknown = sorted(set(asked.name) - set(MODULES))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(MODULES)}")
    results = {}
    for name in asked.name or [one for one in MODULES if one not in BY_NAME]:
        results[name] = measured(name)
        if not asked.no_write:  # at once, so that a run that is stopped keeps what it has
            write(RESULTS, sections(RESULTS) | {name: section(name, results[name])})
    show(results)
    return 0


def measured(name: str) -> list[Row]:
    """Run one benchmark."""
    print(f"== {name}: {MODULES[name]}", file=sys.stderr, flush=True)
    rows: list[Row] = importlib.import_module(f"benchmarks.{name}").run()
    return rows


def show(results: dict[str, list[Row]]) -> None:
    """Print the table."""
    table = Table("benchmark")
    for word in HEAD:
        table.add_column(word, overflow="fold")
    for name, rows in results.items():
        for row in rows:
            table.add_row(name, *cells(row))
    Console().print(table)


HEAD = ("figure", "value", "baseline", "ratio", "goal", "met")


def cells(row: Row) -> tuple[str, ...]:
    """The texts of one line."""
    ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
    baseline = "" if row.baseline is None else f"{row.baseline:.4g} {row.unit}"
    goal = "" if row.goal is None else f"<= {row.goal:g}{'' if row.ratio is not None else ' ' + row.unit}"
    met = {None: "", True: "yes", False: "no"}[row.met]
    return row.name, f"{row.value:.4g} {row.unit}", baseline, ratio, goal, met


def section(name: str, rows: list[Row]) -> str:
    """One benchmark as Markdown, with the date and the machine it ran on."""
    when = dt.datetime.now(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")
    busy = f"load average {os.getloadavg()[2]:.1f} from other programs and this one"
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {busy}, Python {platform.python_version()}"
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return (
        f"## {name}\n\n{MODULES[name][0].upper()}{MODULES[name][1:]}. {when}; {machine}.\n\n" + "\n".join(lines) + "\n"
    )


def sections(path: Path) -> dict[str, str]:
    """Read the sections of an earlier run, so that running one benchmark keeps the others' figures."""
    if not path.exists():
        return {}
    parts = path.read_text(encoding="utf-8").split("\n## ")[1:]
    return {part.partition("\n")[0]: f"## {part.rstrip()}\n" for part in parts}


def write(path: Path, parts: dict[str, str]) -> None:
    """Write the results, in the order of the table of modules."""
    head = "# Results\n\nWritten by `make bench`. A ratio is value / baseline within one run; lower is better.\n"
    body = "\n".join(parts[name] for name in MODULES if name in parts)
    path.write_text(f"{head}\n{body}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

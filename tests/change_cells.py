"""Changes of a running query as data: `tests/cases/changes` has the sources, their rows, bodies, and a cell for each change."""

import tomllib
from pathlib import Path
from typing import Any, NamedTuple

CASES = Path(__file__).parent / "cases" / "changes"
RIGHT, WRONG = "right", "wrong"
"""What Spark makes of an old checkpoint that it takes for another body."""


class ChangedBody(NamedTuple):
    """A body with what it makes, and whether it ends with EMIT FINAL."""

    text: str
    kind: str
    is_final: bool


class ChangeCell(NamedTuple):
    """A change from one body to another, what it is called, with words of the reason, and what Spark makes of the old checkpoint."""

    old: ChangedBody
    new: ChangedBody
    change: str
    reason: str
    spark: str


def _read_cells() -> dict[str, ChangeCell]:
    cells: dict[str, ChangeCell] = {}
    for file in sorted(CASES.glob("*.toml")):
        read = tomllib.loads(file.read_text())
        for one in read.get("cell", ()):
            cells[one["name"]] = ChangeCell(
                _read_body(read["bodies"], one, 0), _read_body(read["bodies"], one, 1), one["change"], one.get("reason", ""), one["spark"]
            )  # fmt: skip
    return cells


def _read_body(bodies: dict[str, str], cell: dict[str, Any], side: int) -> ChangedBody:
    kind, final = (
        value[side] if isinstance(value, list) else value
        for value in (cell.get("kind", "TABLE"), cell.get("final", False))
    )
    return ChangedBody(bodies[cell["new" if side else "old"]], kind, final)


CELLS = _read_cells()
ROWS: dict[str, dict[str, str]] = tomllib.loads((CASES / "rows.toml").read_text())
"""By time, before the change and after it: the rows of each source as VALUES."""
STATEMENTS = (CASES / "sources.sql").read_text()

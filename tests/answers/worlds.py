"""Worlds that requests are asked in: a fixed sequence of commands, recorded with the rows of each, and read back from the record.

A test of an operation begins in the world as it was recorded, not as the code makes it now: a change of the registration alters what is
recorded of the world, and not of every list.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.answers.engine import RecordedEngine, make_engine
from tests.answers.texts import pack, print_refusal, print_value, unpack
from treaty.core import limits
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision, OpenQuestions
from treaty.core.decide import decide, decide_with_pauses
from treaty.core.messages.request import Request
from treaty.core.operations import operation_name
from treaty.core.refusals import Refusal
from treaty.core.state.commit import Commit, make_append, roots_after
from treaty.core.state.rows import EncodedRow, Row, encode_row
from treaty.core.state.state_tables import OUTCOME
from treaty.core.state.tables import DictTables
from treaty.core.state.view import View

FOLDER = Path(__file__).parents[1] / "cases" / "answers"
TIME = 1_700_000_000_000
"""The time of the first command; each later one comes a second after it."""
WRITER = "user:ann"


LOG_TOPIC = "treaty-log"
"""The topic of the log, which no statement writes to."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A command of a world by another principal, with rules of rights, or with the time of another number than its own."""

    request: Request[Any]
    principal: str = WRITER
    access: Access | None = None
    number: int | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class World:
    """Commands by their names, and the sizes of limits that hold while requests are asked in it."""

    name: str
    commands: Callable[[], Sequence[Request[Any] | Sent | Row]]
    """A `Sent` among them is by somebody else, or of another time. A row stands in the log without a command: another version of Treaty wrote it, or a repair."""
    limits: Mapping[str, int]
    likes: str = ""
    """The name of the world whose record it begins with; empty: one of its own."""

    outcomes: int = 4
    """Of one in how many commands the outcome is kept."""

    @property
    def file(self) -> Path:
        return FOLDER / "worlds" / f"{self.likes or self.name}.txt"

    @contextmanager
    def limited(self) -> Iterator[None]:
        """Have these limits in all modules that know them by name."""
        usual = {name: getattr(limits, name, None) for name in self.limits}
        with pytest.MonkeyPatch.context() as patch:
            for module in [one for name, one in [*sys.modules.items()] if name.startswith("treaty.")]:
                names = vars(module)
                for name, size in self.limits.items():
                    if name in names and (usual[name] is None or names[name] == usual[name]):
                        patch.setattr(module, name, size)
            yield


@dataclass(slots=True)
class Bench:
    """The tables of a world, and what decides on them."""

    tables: DictTables
    engine: RecordedEngine

    def decide(self, command: Command[Any], view: View | None = None) -> Decision[Any] | Refusal:
        """The decision of a command on these tables, or on a view of them; nothing is written."""
        verdict = decide(self.tables if view is None else view, command, self.engine)
        assert not isinstance(verdict, OpenQuestions)
        return verdict

    def decide_with_pauses(self, command: Command[Any]) -> tuple[Decision[Any] | Refusal, int]:
        """The decision of a query that pauses, and how often it does."""
        work, pauses = decide_with_pauses(self.tables, command, self.engine), 0
        while True:
            try:
                next(work)
                pauses += 1
            except StopIteration as end:
                verdict: Decision[Any] | Refusal = end.value
                return verdict, pauses

    def write(self, rows: Sequence[Row]) -> None:
        """Apply rows as one commit."""
        encoded = tuple(encode_row(row) for row in rows)
        self.apply(encoded)

    def apply(self, rows: tuple[EncodedRow, ...]) -> None:
        """Apply encoded rows as one commit."""
        at = self.tables.position
        commit = Commit(at.sequence + 1, rows, "", TIME)
        attempt = (at.sequence + 1).to_bytes(16, "big")
        self.tables.apply(rows, make_append(at, attempt, (commit,), roots_after(self.tables, rows)).position)


def make_command(
    request: Request[Any], number: int, *, principal: str = WRITER, access: Access | None = None, name: str = ""
) -> Command[Any]:
    """A command with the time and the id that its number gives."""
    return Command(
        request, name or f"command-{number}", TIME + 1000 * number, principal, access, log_topics=(LOG_TOPIC,)
    )


def _command_of(sent: Request[Any] | Sent, number: int) -> Command[Any]:
    if not isinstance(sent, Sent):
        return make_command(sent, number)
    at = number if sent.number is None else sent.number
    return make_command(
        sent.request, at, principal=sent.principal, access=sent.access, name=sent.name or f"command-{number}"
    )


def record_world(world: World) -> str:
    """The text of a world: each command with its answer and its rows, then the state that they come to."""
    bench, lines = Bench(DictTables(), make_engine()), list[str]()
    for number, request in enumerate(world.commands(), 1):
        if isinstance(request, Row):
            lines += ["", f"# {number} a row", _print_row(request)]
            bench.write((request,))
            continue
        command = _command_of(request, number)
        verdict = bench.decide(command)
        lines += ["", f"# {number} {operation_name(command.request)}: {print_value(command.request)}"]
        if isinstance(verdict, Refusal):
            lines += [f"refused {line}" for line in print_refusal(verdict)]
            continue
        rows = [row for row in verdict.rows if number % world.outcomes == 0 or row.table != OUTCOME.name]
        lines += [f"answer {print_value(verdict.answer)}"[:70], *map(_print_row, rows)]
        if rows:
            bench.write(rows)
    position = bench.tables.position
    lines += ["", f"# sequence {position.sequence} digest {position.digest.hex()} root {position.root.hex()}"]
    assert not bench.tables.quarantine
    return pack("\n".join(lines).lstrip() + "\n")


def _print_row(row: Row) -> str:
    encoded = encode_row(row)
    assert encoded.value is None or "\n" not in encoded.value
    return (
        f"- {encoded.table} {encoded.key}"
        if encoded.value is None
        else f"+ {encoded.table} {encoded.key} {encoded.value}"
    )


def read_commits(text: str) -> Iterator[tuple[EncodedRow, ...]]:
    """The rows of each command that a recorded world wrote, in their order."""
    rows: list[EncodedRow] = []
    for line in [*unpack(text).splitlines(), "#"]:
        if line.startswith("#") and rows:
            yield tuple(rows)
            rows = []
        elif line.startswith(("+ ", "- ")):
            _, table, rest = line.split(" ", 2)
            end = json.JSONDecoder().raw_decode(rest)[1]
            rows.append(EncodedRow(table, rest[:end], rest[end + 1 :] if line[0] == "+" else None))


_BENCHES: dict[Path, Bench] = {}


def bench_of(world: World) -> Bench:
    """The bench of a world as it was recorded, which nobody writes to; one for all tests of a process."""
    bench = _BENCHES.get(world.file)
    if bench is None:
        bench = Bench(DictTables(), make_engine())
        for rows in read_commits(world.file.read_text("utf-8")):
            bench.apply(rows)
        _BENCHES[world.file] = bench
    return bench


def forget_benches() -> None:
    """Have the next tests read worlds anew: their records have changed."""
    _BENCHES.clear()

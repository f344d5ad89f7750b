"""Recorded answers: what each request of a table comes to in each world, as text; compared with the record, and made anew by one command.

Of a request are printed its answer or its refusal, the rows that it would write, what it needs where that is not what the default needs,
what others are answered, and what a repetition is answered where that is something else.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from tests.answers.asks import Ask, Table, list_asks
from tests.answers.texts import (
    print_answer,
    print_changed_row,
    print_needs,
    print_refusal,
    print_row,
    print_value,
    shorten,
    shorten_line,
)
from tests.answers.worlds import Bench, World, bench_of, make_command
from tests.record_files import compare
from treaty.core.access.rights import Access, AccessRule, with_included
from treaty.core.command import Command, Decision
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Scope
from treaty.core.names import Subject
from treaty.core.operations import OPERATIONS, Operation, is_idempotent, operation_name
from treaty.core.outcomes import request_digest
from treaty.core.refusals import Forbidden, Refusal
from treaty.core.sources import Source
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.metastore.tables import PLANNING, SOURCE
from treaty.core.state.rows import Row, encode_row, make_row
from treaty.core.state.state_tables import OUTCOME, AnyTable
from treaty.core.state.view import ALL_KEYS, Overlay

REMAKE = "python -m tests.answers"
NUMBER = 500
"""The number of the command that is asked; those of a world are lower."""
GIVES = "a rule that gives "
"""What the refusal of a missing permission says before the permission; such refusals are printed short, but for a default request."""
PARTS = ("answers", "needs", "others", "repetitions")
"""Parts of a record: what is answered and written, what a request needs, what others are answered, and what a repetition is."""
FEW = 160
"""Requests of a table that are all asked in each world; of more, each further world is asked a share."""
Like = Callable[[Row], tuple[str, str] | None]
"""Finds the row that another one is printed as a difference from, and what that is called."""
LIKE: Mapping[str, AnyTable] = {SOURCE.name: SOURCE, PLANNING.name: PLANNING}
"""Tables whose rows are long, and are printed as what changes."""


def _access(*rules: AccessRule) -> Access:
    return Access(tuple(replace(rule, may=with_included(rule.may)) for rule in rules))


ACCESSES: Mapping[str, Access] = {
    "nobody": _access(),
    "reader": _access(AccessRule(("user:bob",), frozenset({"read"}), ("*",), (".",))),
    "writer": _access(
        AccessRule(("user:bob",), frozenset({"register", "delete"}), ("order*", "com.acme/*", "topic-*"), (".", ".far"))
    ),
    "bumper": _access(
        AccessRule(("user:bob",), frozenset({"bump", "config"}), ("order*", "com.acme/*", "group", "alias*")),
        AccessRule(("user:bob",), frozenset({"create", "mode"}), ("*",), (".away*", ".import"), topics=("shop*",)),
    ),
    "private": _access(
        AccessRule(("user:bob",), frozenset({"admin"}), ("com.secret/*", "com.secret.*/*", "secret*"), ("*",)),
        AccessRule(("user:bob",), frozenset({"read"}), ("*",), ("*",), sources=("click*",)),
    ),
}
"""Who asks beside somebody without rules, by name."""


# -------------------------------------------------------------------------------------------------------------- printing


def record(table: Table, worlds: tuple[World, ...]) -> str:
    """The text of all answers of a table; those of a further world that are as in the first one are left out."""
    operation = OPERATIONS[type(table.default)]
    lines = [f"# {operation.name}", f"default {print_value(table.default)}", f"digest {request_digest(table.default)}"]
    lines += _print_facts(operation, table.default)
    asks, before = list_asks(table), dict[tuple[str, str], list[str]]()
    lines += ["", "# requests", *(f"{ask.mark} {ask.label}" for ask in asks)]
    for world in worlds:
        share = asks if not before or len(asks) <= FEW else asks[:: table.shared]
        answered = _ask_all(bench_of(world), world, table, share)
        for part in PARTS:
            blocks = defaultdict[str, list[str]](list)
            for (name, mark), body in answered.items():
                if name == part and body and before.get((name, mark)) != body:
                    blocks["\n".join(body)].append(mark)
            lines += ["", f"# {part} in {world.name}"] if blocks else []
            lines += [f"## {' '.join(marks)}\n{text}" for text, marks in blocks.items()]
        before = before or answered
    return shorten("\n".join(lines) + "\n")


def _ask_all(bench: Bench, world: World, table: Table, asks: list[Ask]) -> dict[tuple[str, str], list[str]]:
    """The lines of each part and request."""
    operation, answered = OPERATIONS[type(table.default)], dict[tuple[str, str], list[str]]()
    usual = [*_print_facts(operation, table.default)]
    with world.limited():
        like = _rows_like(bench, table)
        for place, ask in enumerate(asks):
            command = make_command(ask.request, NUMBER)
            pauses = 0
            if operation.pauses and world.likes:
                verdict, pauses = bench.decide_with_pauses(command)
            else:
                verdict = bench.decide(command)
            own = answered["answers", ask.mark] = [*_print_verdict(verdict, outcome=place % 32 == 0, like=like)]
            if pauses:
                own.append(f"pauses {pauses}")
            if operation.waits is not None and isinstance(verdict, Decision):
                own.append(f"waits {operation.waits(ask.request, verdict.answer)}")
            if ask.place or place in table.others or (table.every and place % table.every == 0):
                facts = _print_facts(operation, ask.request)
                answered["needs", ask.mark] = [line for line in facts if line not in usual]
                answered["others", ask.mark] = [*_print_others(bench, command, own, table, like)]
            if place and operation.writes and isinstance(verdict, Decision) and verdict.rows:
                own[0] = shorten_line(own[0])  # the rows say the same
            if not ask.alone:
                own[:] = map(shorten_line, own)
            if operation.writes and isinstance(verdict, Decision) and place % 8 == 0:
                answered["repetitions", ask.mark] = [*_print_repetitions(bench, command, verdict, like)]
    return answered


def _print_facts(operation: Operation[Any, Any], request: Request[Any]) -> Iterator[str]:
    """What the declaration of an operation says of a request; the subject or scope of the request is `THAT`."""
    facts = [f"needs {print_needs(operation.permissions(request))}", f"idempotent {is_idempotent(request)}"]
    if operation.query_before is not None:
        facts.append(f"before {print_value(operation.query_before(request))}")
    if operation.sign is not None and print_value(signed := operation.sign(request, "user:bob")) != print_value(
        request
    ):
        facts.append(f"signed {print_value(signed)}")
    yield from _without_names(request, facts)


def _without_names(request: Request[Any], lines: list[str]) -> Iterator[str]:
    """Lines in which the subject, scope or source of a request is `THAT`, so that those of many requests are alike."""
    subject = getattr(request, "subject", None) or getattr(request, "scope", None) or getattr(request, "name", None)
    if isinstance(subject, Scope):
        lines = [line.replace(print_value(subject), "THAT") for line in lines]
        subject = Subject(subject.context, subject.name or "")
    if subject is None and (definition := getattr(request, "definition", None)) is not None:
        subject = getattr(definition, "name", None)
    named = () if subject is None else (print_value(subject), f"'{subject}'", f"'{str(subject).lower()}'")
    for name in named:
        lines = [line.replace(name, "THAT") for line in lines]
    yield from lines


def _rows_like(bench: Bench, table: Table) -> Like:
    """What rows of sources and statements are printed as a difference from: the row that is there, or that of the default request."""
    usual = bench.decide(make_command(table.default, NUMBER))
    rows = {} if isinstance(usual, Refusal) else {row.table: encode_row(row).value for row in usual.rows}
    sources = ((key, bench.tables.get(SOURCE, key)) for key in bench.tables.walk(SOURCE, *ALL_KEYS))
    former = {(source.generation, source.origin): (key.name, source) for key, source in sources if source is not None}

    def find(row: Row) -> tuple[str, str] | None:
        if row.table not in LIKE or row.value is None or not table.accesses:
            return None
        if isinstance(row.value, Source) and (own := former.get((row.value.generation, row.value.origin))) is not None:
            name = "stored" if (own[0],) == row.key else own[0]
            return name, encode_row(make_row(SOURCE, SourceKey(own[0]), own[1])).value or ""
        stored = bench.tables.get(LIKE[row.table], row.key)
        if stored is not None:
            return "stored", encode_row(make_row(LIKE[row.table], row.key, stored)).value or ""
        new = rows.get(row.table)
        return None if new is None or encode_row(row).value == new else ("default", new)

    return find


def _print_verdict(verdict: Decision[Any] | Refusal, *, outcome: bool, like: Like) -> Iterator[str]:
    if isinstance(verdict, Refusal):
        yield from print_refusal(verdict)
        return
    yield from print_answer(verdict.answer)
    if verdict.repeated or verdict.settles or verdict.rehearsal:
        yield f"decision {verdict.repeated} {print_value(verdict.settles)} {verdict.rehearsal}"
    for row in verdict.rows:
        near = like(row)
        if outcome or row.table != OUTCOME.name:
            yield print_row(row) if near is None else print_changed_row(row, near[1], near[0])


def _print_others(bench: Bench, command: Command[Any], own: list[str], table: Table, like: Like) -> Iterator[str]:
    """What others are answered, where that is something else."""
    bodies: dict[str, list[str]] = {}
    for name, access in (table.accesses or ACCESSES).items():
        verdict = bench.decide(replace(command, principal=table.asker, access=access))
        lines = [line for line in _print_verdict(verdict, outcome=False, like=like) if line not in own[1:]]
        if (
            isinstance(verdict, Forbidden)
            and verdict.reason.rule == "RIGHTS"
            and verdict.reason.allowed.startswith(GIVES)
        ):
            line = f"denied {verdict.reason.allowed.removeprefix(GIVES)} at {print_value(verdict.reason.path)}"
            if verdict.reason.new != operation_name(command.request):
                line += f" for {verdict.reason.new}"
            lines = [*_without_names(command.request, [line])] if table.accesses else [line]
        if lines != own[: len(lines)] or not lines:
            bodies.setdefault("\n".join(lines), []).append(name)
    for body, names in bodies.items():
        yield f"{', '.join(names)}: {body}"


def _print_repetitions(bench: Bench, command: Command[Any], verdict: Decision[Any], like: Like) -> Iterator[str]:
    """What is answered once it is written: to the same command, to another one with its id, and to the same request anew."""
    view = Overlay(bench.tables)
    view.put(verdict.rows)
    answer = print_value(verdict.answer)
    retry = bench.decide(command, view)
    if isinstance(retry, Refusal) or retry.rows or print_value(retry.answer) != answer:
        yield from (f"retried {shorten_line(line)}" for line in _print_verdict(retry, outcome=False, like=like))
    again = bench.decide(make_command(command.request, NUMBER + 1), view)
    rows = () if isinstance(again, Refusal) else again.rows
    if isinstance(again, Refusal) or rows or print_value(again.answer) != answer:
        yield from (f"again {shorten_line(line)}" for line in _print_verdict(again, outcome=False, like=like))


# ------------------------------------------------------------------------------------------------------------- comparing


def check(file: Path, text: str) -> None:
    """Fail with the lines that differ where a record says something else, and with the requests that they name."""
    name = "worlds" if file.parent.name == "worlds" else file.stem

    def name_requests(lines: Sequence[str]) -> str:
        return f"Requests in these lines: {'; '.join(_name_marks(text, lines)) or 'none is named'}"

    compare(file, text, f"{REMAKE} {name}", name_requests)


def _name_marks(text: str, lines: Sequence[str]) -> Iterator[str]:
    """The requests that the heads of some lines name, each with its mark; the first few of them."""
    requests = dict(line.split(" ", 1) for line in text.splitlines() if line[5:6] == " ")
    marks = dict.fromkeys(mark for line in lines if line[1:4] == "## " for mark in line[4:].split())
    return islice((f"{mark} {requests[mark]}" for mark in marks if mark in requests), 8)

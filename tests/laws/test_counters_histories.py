"""Counters over histories of commits: what was given is never given again, and no counter goes but with its subject."""

import random
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.laws.test_indexes import place
from tests.simulation.asker import Asker
from tests.simulation.clients.errands import errand
from tests.simulation.texts import Truth
from tests.simulation.workload import request, usual_weights
from tests.worlds.histories import FORMER, NEIGHBOURS
from tests.worlds.world import World
from treaty.core.command import Command, Decision
from treaty.core.decide import decide
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.transfers import ImportVersion
from treaty.core.names import Subject
from treaty.core.operations import is_command
from treaty.core.state import values
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.state_tables import COUNTER, KINDS_OF_SUBJECT, TABLES, VERSION_BY_SUBJECT
from treaty.core.state.table import Key
from treaty.core.state.tables import DictTables

COMMANDS = 120
TRUTH = Truth()
WEIGHTS = usual_weights()


def history(seed: int) -> Iterator[tuple[DictTables, Command[Any], Decision[Any]]]:
    """Commands of a life, each on what those before it left: the state before, the command, and what is decided."""
    ask = Asker(random.Random(seed))
    tables = DictTables()
    waiting: list[Request[Any]] = []
    if seed % 2:
        away, former = Subject(ask.subject().context, "w-"), ask.chance.choice([*FORMER])
        waiting = World(seed, tuple(ask.chance.sample([*NEIGHBOURS], 2)), former, place=away).requests(ask.subject())
    for number in range(COMMANDS):
        if not waiting:
            waiting = errand(ask)[1] if ask.often(0.3) else [request(ask, WEIGHTS)]
        wanted = waiting.pop(0)
        if not is_command(wanted):
            continue
        command = Command(wanted, f"c{number}", 1_700_000_000_000 + number)
        verdict = decide(tables, command, TRUTH)
        if isinstance(verdict, Decision) and verdict.rows:
            yield tables, command, verdict
            tables.apply([encode_row(row) for row in verdict.rows], place(tables.sequence + 1))


def gone(rows: tuple[Row, ...], table: str) -> set[Key]:
    return {row.key for row in rows if row.table == table and row.value is None}


@examples(60)
@given(st.integers(0, 2**32))
def test_a_counter_goes_only_with_its_subject(seed: int) -> None:
    for before, command, decision in history(seed):
        subjects = gone(decision.rows, "subject")
        for key in gone(decision.rows, "counter"):
            assert key[0] in KINDS_OF_SUBJECT, (key, command)
            assert key[1:3] in subjects, (key, command)
            assert {*before.find(VERSION_BY_SUBJECT, Subject(str(key[1]), str(key[2])))} <= gone(
                decision.rows, "version"
            ), (key, command)
        for subject in subjects:
            counters = {key for key in before.keys(COUNTER) if key[0] in KINDS_OF_SUBJECT and key[1:3] == subject}
            assert counters <= gone(decision.rows, "counter"), (subject, command)


@examples(60)
@given(st.integers(0, 2**32))
def test_no_counter_goes_down_and_no_id_is_given_twice(seed: int) -> None:
    """Not even by a context that was deleted and made again; only who imports says an id."""
    given_: set[Key] = set()
    for before, command, decision in history(seed):
        for row in decision.rows:
            if isinstance(row.value, values.Counter):
                old = before.get(TABLES[row.table], row.key)
                assert not isinstance(old, values.Counter) or old.highest <= row.value.highest, (row, command)
            if isinstance(row.value, values.Schema) and before.get(TABLES[row.table], row.key) is None:
                says_id = isinstance(command.request, Register | ImportVersion) and command.request.schema_id >= 0
                assert says_id or row.key not in given_, (row, command)
                given_.add(row.key)


def test_the_histories_have_what_the_laws_are_about() -> None:
    """Subjects that go with their counters, and contexts that are deleted and made again."""
    purged, contexts = 0, [0, 0]
    for seed in range(40):
        names = set()
        for _, _, decision in history(seed):
            purged += bool(gone(decision.rows, "counter"))
            contexts[0] += len(gone(decision.rows, "context"))
            for row in decision.rows:
                if isinstance(row.value, values.Context):
                    contexts[1] += row.key in names
                    names.add(row.key)
    assert purged > 30
    assert min(contexts) > 5

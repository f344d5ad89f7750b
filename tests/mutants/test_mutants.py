"""The tool that measures what tests find: its mistakes are the ones it says, and its figures are right."""

import ast
import json
from dataclasses import asdict
from pathlib import Path

import libcst as cst
import pytest

from tests.mutants.nearest import forget, read_coverage
from tests.mutants.operators import KINDS, find_mutations
from tests.mutants.recording import block_around, blocks_of
from tests.mutants.results import Results, Verdict, as_json, as_lines, read_equivalents, read_rate, score, wilson
from tests.mutants.sample import ROOMS, SOURCES, Mutant, as_mutant, files_of, sample
from tests.mutants.together import plant
from tests.mutants.worker import Order, read_order
from tests.planted.planting import changed
from tests.slow import WHOLE

CODE = '''
class Queue:
    """Waits."""

    async def take(self, most: int) -> list[int]:
        """Take some."""
        if most < 1 or self.closed:
            raise ValueError(most)
        self.taken += 1
        await self.wake.wait()
        return self.first(most, keep=False)


LIMIT = 3
'''
MODULE = cst.parse_module(CODE)


def edits(kind: str) -> list[tuple[str, str]]:
    file = SOURCES / "core" / "queue_of_a_test.py"
    made = [as_mutant(file, MODULE, one) for one in find_mutations(MODULE) if one.kind == kind]
    assert all(one is None or one.function == "Queue.take" for one in made)
    return [(" ".join(one.old.split()), " ".join(one.new.split())) for one in made if one]


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("comparison", "if most < 1 or self.closed:", "if most <= 1 or self.closed:"),
        ("condition", "if most < 1 or self.closed:", "if most < 1:"),
        ("condition", "if most < 1 or self.closed:", "if self.closed:"),
        ("condition", "if most < 1 or self.closed:", "if most < 1 and self.closed:"),
        ("argument", "return self.first(most, keep=False)", "return self.first(most, )"),
        ("argument", "return self.first(most, keep=False)", "return self.first(None, keep=False)"),
        ("constant", "if most < 1 or self.closed:", "if most < 2 or self.closed:"),
        ("constant", "return self.first(most, keep=False)", "return self.first(most, keep=True)"),
        ("statement", "if most < 1 or self.closed: raise ValueError(most)", "pass"),
        ("statement", "self.taken += 1", "pass"),
        ("statement", "await self.wake.wait()", "pass"),
        ("await", "self.taken += 1 await self.wake.wait()", "await self.wake.wait() self.taken += 1"),
    ],
)
def test_a_mistake_of_each_kind_is_made(kind: str, old: str, new: str) -> None:
    assert (old, new) in edits(kind)


def test_kinds_are_those_of_the_sample_and_nothing_outside_of_functions_is_changed() -> None:
    assert {one.kind for one in find_mutations(MODULE)} == set(KINDS)
    assert len(edits("await")) == 1


def test_a_sample_is_drawn_by_its_seed_and_grows_at_its_end() -> None:
    rooms = ("core/outcomes.py",)
    few, many = sample(3, 3, rooms), sample(3, 9, rooms)
    assert many[:3] == few
    assert sample(4, 3, rooms) != few
    assert len({one.key for one in many}) == 9
    for one in many:
        with changed("a mutant", [one.edit]) as ran:
            assert not ran


def test_rooms_are_there() -> None:
    for room in ROOMS:
        assert len(files_of([room])) > 2, room


def test_the_block_of_a_line_is_the_innermost_one() -> None:
    lines = {CODE.splitlines().index(text) + 1: text for text in CODE.splitlines() if text.strip()}
    by_text = {text.strip(): block_around(CODE, line) for line, text in lines.items()}
    assert by_text["raise ValueError(most)"] != by_text["self.taken += 1"] == by_text["if most < 1 or self.closed:"]
    assert by_text["LIMIT = 3"] == ""
    assert [one.name for one in blocks_of(ast.parse(CODE))] == ["Queue.take+2", "Queue.take+3"]


def test_the_nearest_tests_run_the_block_and_little_beside_it() -> None:
    file = "core/outcomes.py"
    source = (SOURCES / file).read_text()
    line = next(number for number in range(1, 200) if block_around(source, number))
    block = f"{file}:{block_around(source, line)}"
    rows = [
        {"test": "a.py::far", "seconds": 1.0, "ran": [0, 1, 2], "new": ["x", "y", block]},
        {"test": "a.py::near", "seconds": 1.0, "ran": [2], "new": []},
        {"test": "a.py::other", "seconds": 1.0, "ran": [0], "new": []},
        {"test": "b.py::wide", "seconds": 1.0, "ran": [2, 3, 4, 5], "new": ["p", "q", "r"]},
    ]
    known = read_coverage(
        ["\n".join(map(json.dumps, rows)), json.dumps({**rows[1], "test": "c.py::t", "ran": [0], "new": [block]})]
    )
    mutant = Mutant("constant", file, "f", line, "a", "b")
    assert known.nearest(mutant) == ["a.py::near", "c.py::t", "b.py::wide", "a.py::far"]
    record = f"d.py::{min(WHOLE)}[wide]"
    with_record = json.dumps({**rows[3], "test": record, "new": ["x", "y", block, "p", "q", "r"]})
    recorded = read_coverage(["\n".join(map(json.dumps, rows)), with_record])
    assert recorded.nearest(mutant) == [record, "a.py::near", "b.py::wide", "a.py::far"], "records come first"
    assert read_coverage(forget(["\n".join(map(json.dumps, rows))], {"b.py"})).nearest(mutant) == ["b.py::wide"]
    assert forget(["\n".join(map(json.dumps, rows))], ()) == []


def mutants(count: int) -> list[Mutant]:
    return [Mutant("constant", "core/outcomes.py", "f", 1, f"a{number}", "b") for number in range(count)]


def test_the_rate_leaves_equivalents_out_and_an_equivalent_that_is_found_counts(tmp_path: Path) -> None:
    four = mutants(6)
    results = Results(tmp_path / "results.jsonl")
    for one, found in zip(four, ("t", "", "", "t"), strict=False):
        results.add(Verdict(one.key, "near" if found else "all", found))
    figures = score(four, Results(tmp_path / "results.jsonl"), {four[1].key: "why", four[3].key: "why"})
    assert (figures.sample, figures.judged, figures.found, figures.equivalent) == (6, 3, 2, 1)
    assert figures.survivors == (four[2],)
    assert figures.unjudged == (four[4], four[5])
    assert "2 have no verdict yet and count neither way" in as_lines(figures, results)[-2]
    results.add(Verdict(four[5].key, "near"))
    assert score(four, results, {}).survivors == (four[1], four[2], four[5]), "not found by the nearest is not found"
    assert "found 2 of 3 (66.7%, 95 % interval 20.8% to 93.9%)" in as_lines(figures, results)[-1]
    assert json.loads(as_json(figures, seed=1))["seed"] == 1


def test_the_interval_is_wilsons() -> None:
    """The values are those of tables: 81 of 263 (Newcombe 1998, table I), and none of ten."""
    low, high = wilson(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    assert [round(one, 4) for one in wilson(0, 10)] == [0.0, 0.2775]


def test_equivalents_and_the_rate_can_be_read(tmp_path: Path) -> None:
    file = tmp_path / "equivalents.toml"
    file.write_text('[[equivalent]]\nfunction = "f"\nold = "a  b"\nnew = "c"\nwhy = "no reader"\n')
    assert read_equivalents(file) == {"f: a b => c": "no reader"}
    assert all(read_equivalents().values())
    assert 0.5 < read_rate() < 1


def test_edits_that_meet_are_not_planted_together(tmp_path: Path) -> None:
    file = tmp_path / "src" / "treaty" / "q.py"
    file.parent.mkdir(parents=True)
    file.write_text(CODE)
    one = Mutant("condition", "q.py", "Queue.take", 7, "if most < 1 or self.closed:", "if most < 1:")
    other = Mutant("constant", "q.py", "Queue.take", 7, "if most < 1 or self.closed:", "if most < 2 or self.closed:")
    assert plant(tmp_path, [one, other]) == [other]
    assert "if most < 1:\n" in file.read_text()


def test_an_order_goes_to_another_process_and_back() -> None:
    edit = mutants(1)[0].edit
    assert read_order(json.loads(json.dumps(asdict(Order(["t"], edit))))) == Order(["t"], edit)
    assert read_order(json.loads(json.dumps(asdict(Order(["t"], all=True))))) == Order(["t"], all=True)

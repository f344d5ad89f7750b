"""All that remembers something has a row in the table of what is remembered, and no row stands for what is gone."""

import ast
from collections import Counter

from tests.behaviours.remembered.constant import CONSTANT, HELD
from tests.behaviours.remembered.table import MEMORIES
from tests.house.memories import SOURCE, MemoryFinder, list_memories
from tests.planted.bug import ByTests
from tests.planted.table import BUGS

TESTS = SOURCE.parents[1] / "tests"
STATES = {
    "api.tls:ShownCertificate.stamp",
    "client.credentials:_TokenFile._last",
    "node.segment.manager:StateFileManager._stamp",
    "spark.pipelines.planner:RoutePlanner.seen",
}
"""Single values that are compared with a file or a registry; they have rows, and no type by which they could be found."""


def test_all_that_remembers_has_a_row() -> None:
    there = set(list_memories())
    scenes = {place for memory in MEMORIES for place in memory.where}
    others = Counter(place for table in (CONSTANT, HELD) for places in table.values() for place in places)

    assert sorted(there - scenes - others.keys()) == [], "a row is missing in tests/behaviours/remembered"
    assert sorted((scenes | others.keys()) - there - STATES) == [], "a row stands for what is not there"
    assert [place for place, times in others.items() if times > 1 or place in scenes] == [], "there are two rows"


def test_rows_that_a_test_holds_name_one_that_is_there() -> None:
    for test in HELD:
        file, _, name = test.partition("::")
        tree = ast.parse((TESTS / file).read_text("utf-8"))
        assert name in {
            node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }, test


def test_each_scene_finds_a_planted_bug() -> None:
    found = {test for bug in BUGS if isinstance(bug.finder, ByTests) for test in bug.finder.tests}
    names = {test.partition("is_about[")[2].removesuffix("]") for test in found if "behaviours/remembered" in test}

    assert sorted({memory.what for memory in MEMORIES} - names) == []


def test_what_remembers_is_found_however_it_is_written() -> None:
    source = """
import functools
from functools import cache, lru_cache
known: dict[str, int] = {}
kept = WeakKeyDictionary()
FIXED = {"a": 1}

@functools.lru_cache(maxsize=8)
def read(path): ...

class Reader:
    last: OrderedDict[str, int]
    seen: dict[str, int] = field(default_factory=dict)
    answers: ResponseCache = field(default_factory=ResponseCache)
    numbers: dict[str, int] = field(default_factory=lambda: {})

    def __init__(self):
        self.right, self.wrong = CredentialCache(1), LruEntries(2)
        self.row = lru_cache(4)(self._row)
        self.of = {}
        local = {}

    @functools.cached_property
    def size(self): ...

    @cache
    async def ask(self): ...
"""
    finder = MemoryFinder(lives=True)
    finder.visit(ast.parse(source))

    assert sorted(finder.places) == [
        "Reader.__init__._row", "Reader.answers", "Reader.ask", "Reader.last", "Reader.numbers", "Reader.of",
        "Reader.right", "Reader.seen", "Reader.size", "Reader.wrong", "kept", "known", "read",
    ]  # fmt: skip

"""Who may read few subjects is told apart as the rules say, and short words lead to all subjects that have them in their names."""

import random
import sqlite3
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from tests.laws.holder import access
from tests.laws.search_life import as_draft, bring_up_to_date, find, new_bench
from treaty.core.messages.registration import Register
from treaty.core.messages.search import parse_terms
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import Subject
from treaty.web.index.few_places import BLOCK
from treaty.web.index.places import VersionPlaces
from treaty.web.index.plans import FEW, ROWS_SCANNED, make_plan
from treaty.web.index.readable_subjects import PATTERNS, ReadableSubjects
from treaty.web.index.storage import TOP, open_for_writing

ODD_NAMES = ("a", "B", "ab", "x[a]y", "[", "a*b", "a?b", "a\0b", "é", "éa", "a-value", "team/a", "_", "%", "a_b", "A%B")


@pytest.mark.parametrize("seed", range(3))
def test_subjects_that_no_pattern_fits_are_left_out_as_the_rules_say(seed: int, tmp_path: Path) -> None:
    chance, path = random.Random(seed), tmp_path / "index"
    with closing(open_for_writing(path)) as connection:
        for number, (context, name) in enumerate(product((".", ".team", ".t[x]"), ODD_NAMES), 1):
            row = (number, context, name, number % 3 == 0, "confluent", 0)
            connection.execute("INSERT INTO subject VALUES (?, ?, ?, ?, ?, ?)", row)
        everything = [Subject(*row) for row in connection.execute("SELECT context, name FROM subject ORDER BY id")]
        seen = set[int]()
        for _ in range(60):
            patterns = ("*", "a*", "*b", "?", "x[*", "[", "a?b", "*[a]*", "é*", "A*", *chance.sample(ODD_NAMES, 3))
            subjects = tuple(chance.sample(patterns, chance.randint(1, 3)))
            contexts = tuple(chance.sample((".", ".t*", "*", ".t[x]", ".none"), chance.randint(1, 2)))
            for names in (subjects, (*subjects, *(f"none-{at}" for at in range(PATTERNS)))):
                rights = access("read", subjects=names, contexts=contexts)
                readable = ReadableSubjects(connection, rights)
                expected = tuple(
                    number
                    for number, subject in enumerate(everything, 1)
                    if rights.may("read", subject, private=number % 3 == 0) and rights.may("read", subject)
                )
                assert readable.list_few(len(everything)) == expected, (names[:3], contexts)
                one_after_another = ReadableSubjects(connection, rights)
                few = [one_after_another.list_few(2) for _ in everything][-1]  # some more are known after each
                assert few == (expected if len(expected) <= 2 else None)
                seen.add(len(expected))
    assert len(seen) > 5


@pytest.mark.parametrize("few", [0, 3, FEW])
def test_one_or_two_characters_lead_to_all_subjects_that_have_them(
    few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treaty.web.index.plans.FEW", few)
    it, path = new_bench(), tmp_path / "index"
    names = ("orders", "ORDERS-b", "a_b", "a%b", "é-x", "Éx", "xé", "z", "%", "no order")
    for name in names:
        it.do(Register(Subject(".", name), as_draft({"id": "int"}, "x", "y", "AVRO")))
    bring_up_to_date(path, it)
    for text in ("or", "OR", "s", "_", "%", "_b", "%b", "é", "É", "x", "rd", "zz", "é-", "z"):
        small = text if not text.isascii() else text.lower()
        expected = sorted(name for name in names if small in (name if not text.isascii() else name.lower()))
        assert sorted(hit.name for hit in find(path, f"subject:{text}").hits) == expected, text
    for permanent in (False, True):
        it.do(DeleteSubject(Subject(".", "orders"), permanent=permanent))
    bring_up_to_date(path, it)
    assert sorted(hit.name for hit in find(path, "subject:rd").hits) == ["ORDERS-b", "no order"]


@pytest.mark.parametrize("text", ["format:AVRO", "id", "state:live", "subject:s-2 field:id"])
def test_few_subjects_are_there_though_very_many_have_the_same_schema(text: str, tmp_path: Path) -> None:
    it, path = new_bench(), tmp_path / "index"
    names = [f"s-{number}" for number in range(2 * BLOCK)]
    for name in names:
        it.do(Register(Subject(".", name), as_draft({"id": "int"}, "x", "y", "AVRO")))
    bring_up_to_date(path, it)
    readable = [names[0], "s-2", names[-2], names[-1]]
    expected = [name for name in readable if "s-2" in name] if "s-2" in text else readable
    rights, pages, after = access("read", subjects=tuple(readable)), list[str](), -1
    while len(pages) < len(names):
        page = find(path, text, rights, after, limit=1)
        pages += [hit.name for hit in page.hits]
        assert (page.count, page.more) == (len(expected), False)
        after = page.last
        if after < 0:
            break
    assert pages == expected
    assert [hit.name for hit in find(path, "subject:-499").hits] == ["s-499"]


SHARED_SEARCHES = ("format:AVRO", "id", "type:int", "kind:subject", "s-1 type:int", "subject:s-1 id", "doc:abc")


@pytest.mark.parametrize("names", [("s-1", "s-20", "s-1999"), ("s-*",), None])
@pytest.mark.parametrize("text", SHARED_SEARCHES)
def test_a_search_costs_the_same_however_many_subjects_have_one_schema(
    text: str, names: tuple[str, ...] | None, tmp_path: Path
) -> None:
    steps = [_count_steps(tmp_path / str(count), text, names, count) for count in (2_000, 6_000)]
    assert steps[1] < 1.3 * steps[0]


def _count_steps(path: Path, text: str, names: tuple[str, ...] | None, count: int) -> int:
    """Return how many steps of SQLite it takes to find twenty versions, in an index whose subjects all have the same schema."""
    counted = 0

    def count_step() -> int:
        nonlocal counted
        counted += 1
        return 0

    with closing(open_for_writing(path)) as connection:
        _share_schema(connection, count)
        rights = None if names is None else access("read", subjects=names)
        readable = ReadableSubjects(connection, rights)
        readable.list_few(count)  # what may be read is known
        connection.set_progress_handler(count_step, 10)
        places = VersionPlaces(connection, make_plan(connection, parse_terms(text), readable), readable, ROWS_SCANNED)
        hits = list[int]()
        for block in places.below(TOP):
            hits += readable.select(block.places)
            if len(hits) >= 20:
                break
        connection.set_progress_handler(None, 10)
    assert len(hits) >= (3 if names and len(names) == 3 and "s-1" not in text else 1)
    return counted


def _share_schema(connection: sqlite3.Connection, count: int) -> None:
    subjects = [(number, f"s-{number}") for number in range(1, count + 1)]
    connection.executemany("INSERT INTO subject VALUES (?, '.', ?, 0, 'confluent', 0)", subjects)
    connection.execute("INSERT INTO subject_like (rowid, name) SELECT id, name FROM subject")
    connection.execute("INSERT INTO schema VALUES (1, '.', 1, 'AVRO', '', 'id')")
    connection.execute("INSERT INTO posting (rowid, tokens) VALUES (1, 'id id|int |int =avro ~abc')")
    connection.execute("INSERT INTO part (id, name) VALUES (1, 'id')")
    connection.execute("INSERT INTO part_like (rowid, name) VALUES (1, 'id')")
    connection.executemany("INSERT INTO version VALUES (1, ?, 1, 'live', 1)", [row[:1] for row in subjects])

"""An index that is built from all rows answers as one that grew with them."""

import random
from contextlib import closing
from pathlib import Path

import pytest

from tests.laws.holder import access
from tests.laws.search_life import Fields, as_draft, bring_up_to_date, find, fits, grow, new_bench
from tests.laws.toy import Bench
from treaty.core.names import Subject
from treaty.core.requests import Register
from treaty.core.state.commit import START
from treaty.core.state.state_tables import SCHEMA
from treaty.node.segment.layered import LayeredTables
from treaty.web.index.build import build_index
from treaty.web.index.plans import LIKE
from treaty.web.index.storage import open_for_writing


def as_layers(it: Bench, later: int) -> LayeredTables:
    """The tables of a bench as a node has them: most rows in a segment, so many later ones above it, some of which change others."""
    rows = [*it.tables.rows()]
    tables = LayeredTables(small=0)
    tables.load(rows[:-later], START)
    tables.apply(rows[-later:], it.tables.position)
    return tables


@pytest.mark.parametrize("seed", range(3))
def test_a_built_index_answers_as_one_that_grew(seed: int, tmp_path: Path) -> None:
    chance, it, there = random.Random(seed), new_bench(), dict[Subject, tuple[Fields, str, str, str]]()
    it.do(
        Register(
            Subject(".", "odd"), as_draft({"a|int": "string", "~x": "int", "#PII": "int"}, "Straße", "a=b", "JSON")
        )
    )
    for _ in range(3):
        grow(it, there, chance, 10)
        bring_up_to_date(tmp_path / "grown", it)
    assert build_index(tmp_path / "built", as_layers(it, 8)) == len([*it.tables.keys(SCHEMA)])
    assert not [*tmp_path.glob("*.part")]
    texts = [
        "field:*a*",
        "field:*il*",
        "er",
        "rs",
        "address",
        "doc:unused",
        "doc:STRASSE",
        "tag:PII owner:pii",
        "tag:a=b",
        "subject:user",
    ]
    texts += [
        "field:a type:int",
        "field:a|int",
        "field:inner.~x",
        "context:.team",
        "kind:subject",
        "format:JSON",
        "type:long state:deleted",
    ]
    for text in texts:
        for rights in (None, access("read", subjects=("open*", "users"))):
            grown, built = (find(tmp_path / name, text, rights) for name in ("grown", "built"))
            assert sorted(map(repr, built.hits)) == sorted(map(repr, grown.hits)), text
            assert (built.count, built.more, {*built.facets}) == (grown.count, grown.more, {*grown.facets}), text
            assert built.sequence == it.tables.sequence
    assert [hit.name for hit in find(tmp_path / "built", "doc:STRASSE").hits] == ["odd"]
    assert bring_up_to_date(tmp_path / "built", it) == 0, "nothing is read again"
    grow(it, there, chance, 5)
    bring_up_to_date(tmp_path / "built", it)
    expected = sorted(str(subject) for subject, facts in there.items() if fits(subject, facts, "carrier", ""))
    assert sorted(hit.name for hit in find(tmp_path / "built", "field:carrier").hits) == expected


def test_parts_of_names_are_looked_up_by_their_trigrams(tmp_path: Path) -> None:
    with closing(open_for_writing(tmp_path / "index")) as connection:
        for table in ("subject_like", "part_like"):
            query = f"EXPLAIN QUERY PLAN SELECT rowid FROM {table} WHERE {LIKE}"
            plan = connection.execute(query, ("%value%", "%value%")).fetchone()[3]
            assert not plan.endswith("INDEX 0:"), plan

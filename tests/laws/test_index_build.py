"""An index that is built from all rows answers as one that grew with them."""

import random
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from tests.laws.holder import access
from tests.laws.search_life import Fields, as_draft, bring_up_to_date, find, fits, grow, new_bench, run_steps
from tests.laws.toy import Bench
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import Subject
from treaty.core.state.commit import START
from treaty.core.state.rows import EncodedRow
from treaty.core.state.state_tables import SCHEMA
from treaty.node.segment.build import build
from treaty.node.segment.layered import LayeredTables, open_built
from treaty.web.index.build import build_index
from treaty.web.index.plans import like
from treaty.web.index.storage import open_for_writing
from treaty.web.index.update import ChangedSubjects, IndexUpdate


def as_layers(it: Bench, later: int) -> LayeredTables:
    """The tables of a bench as a node has them: most rows in a segment, so many later ones above it, some of which change others."""
    rows = [*it.tables.rows()]
    tables = LayeredTables(small=0)
    tables.load(rows[:-later], START)
    tables.apply(rows[-later:], it.tables.position)
    return tables


@pytest.mark.parametrize("seed", range(3))
def test_a_built_index_answers_as_one_that_grew(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.web.index.build.MANY", 10)
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


class FollowingTables:
    """Tables over a segment that follow a bench, as those of a node follow its log."""

    def __init__(self, it: Bench) -> None:
        self.it = it
        self.rows: dict[tuple[str, str], EncodedRow] = {}
        self.tables = LayeredTables(small=0)
        self.stand()

    def stand(self) -> None:
        """Stand on a segment of all rows as they are now."""
        self.follow()
        self.tables.stand_on(open_built(build([*self.rows.values()])), self.it.tables.position)

    def follow(self) -> None:
        """Apply what the bench has changed since."""
        rows = {(row.table, row.key): row for row in self.it.tables.rows()}
        changed = [row for key, row in rows.items() if self.rows.get(key) != row]
        gone = [EncodedRow(table, key, None) for table, key in self.rows.keys() - rows.keys()]
        self.tables.apply([*changed, *gone], self.it.tables.position)
        self.rows = rows


def content_of(path: Path) -> dict[str, object]:
    """What an index says, whatever its numbers are."""
    with closing(open_for_writing(path)) as connection:
        versions = """SELECT subject.context, subject.name, subject.private, subject.origin, schema.context, schema.number, version.number, state, latest
            FROM version JOIN subject ON subject.id = version.subject JOIN schema ON schema.id = version.schema"""
        subjects = "SELECT context, name, private, origin, mark FROM subject"
        likes = "SELECT subject.name FROM subject_like JOIN subject ON subject.id = subject_like.rowid"
        return {query: sorted(connection.execute(query)) for query in (versions, subjects, likes)}


@pytest.mark.parametrize("seed", range(4))
def test_an_update_looks_at_what_has_changed_alone_and_comes_to_what_looking_at_all_does(
    seed: int, tmp_path: Path
) -> None:
    """Also after a restart, over another segment, and where subjects came and are gone again between two updates."""
    chance, it = random.Random(seed), new_bench()
    there: dict[Subject, tuple[Fields, str, str, str]] = {}
    grow(it, there, chance, 5)
    following = FollowingTables(it)
    path, changes, alone = tmp_path / "index", ChangedSubjects(following.tables), 0
    for step in range(25):
        if chance.random() < 0.3:
            subject = Subject(".", f"short-{chance.randint(0, 2)}")
            it.do(Register(subject, as_draft({"id": "int"}, "x", "y", "AVRO"), force=ForceReason("", "")))
            there[subject] = {"id": "int"}, "x", "y", "AVRO"
        grow(it, there, chance, chance.randint(0, 2))
        if chance.random() < 0.4 and there:
            subject = chance.choice(sorted(there))
            for permanent in (False, True):
                it.do(DeleteSubject(subject, permanent=permanent))
            del there[subject]
        if chance.random() < 0.2:
            following.stand()
        following.follow()
        if chance.random() < 0.2:
            changes = ChangedSubjects(following.tables)
        if chance.random() < 0.3:
            continue  # the next update has more to do
        with closing(open_for_writing(path)) as connection:
            changed = changes.find(connection)
            alone += changed is not None
            run_steps(IndexUpdate(connection, following.tables, changed).run())
        whole = tmp_path / f"whole-{step}"
        bring_up_to_date(whole, it)
        assert content_of(path) == content_of(whole), step
    assert alone > 3


def test_subjects_go_from_an_index_that_was_built_of_newer_rows_than_the_segment(tmp_path: Path) -> None:
    """A node stands on the segment of before until it looks for another; what came in between and goes again is in neither."""
    it, path = new_bench(), tmp_path / "index"
    it.do(Register(Subject(".", "old"), as_draft({"id": "int"}, "x", "y", "AVRO")))
    following = FollowingTables(it)
    it.do(Register(Subject(".", "short"), as_draft({"id": "long"}, "x", "y", "AVRO")))
    following.follow()
    newer = FollowingTables(it)
    build_index(path, newer.tables)
    for permanent in (False, True):
        it.do(DeleteSubject(Subject(".", "short"), permanent=permanent))
    for tables, is_known in ((following, False), (newer, True), (following, False)):
        tables.follow()
        with closing(open_for_writing(path)) as connection:
            changed = ChangedSubjects(tables.tables).find(connection)
            assert (changed is not None) == is_known
            run_steps(IndexUpdate(connection, tables.tables, changed).run())
        assert [hit.name for hit in find(path, "field:id").hits] == ["old"]


def test_parts_of_names_are_looked_up_by_their_trigrams(tmp_path: Path) -> None:
    with closing(open_for_writing(tmp_path / "index")) as connection:
        for table, part in product(("subject_like", "part_like"), ("*value*", "*a_value%*")):
            condition, values = like(part)
            query = f"EXPLAIN QUERY PLAN SELECT rowid FROM {table} WHERE {condition}"
            plan = connection.execute(query, values).fetchone()[3]
            assert not plan.endswith("INDEX 0:"), plan

"""The search index finds what a reading of all schemas finds, of the readable subjects alone, after any changes."""

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.laws.holder import access
from tests.laws.search_life import NAMES, TYPES, WORDS, Fields, as_draft, bring_up_to_date, find, fits, grow, new_bench
from treaty.core.access.rights import Access
from treaty.core.limits import SCHEMA_MEMBERS
from treaty.core.messages.registration import ForceReason, Register, SubjectCreation
from treaty.core.messages.search import parse_terms
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.refusals import Invalid, Unavailable
from treaty.core.schema_engine import FindEntries, ResolvedSchema
from treaty.formats.budget import StepBudget, StepsError
from treaty.web.index.contents import FIELD_TYPES, PATH_CHARACTERS, PATHS_CHARACTERS, SchemaContents
from treaty.web.index.extraction import extract, walk
from treaty.web.index.lookup import IndexFile
from treaty.web.index.plans import FEW_READABLE, PARTS
from treaty.web.index.readable_subjects import ACCESSES
from treaty.web.index.storage import as_token, open_for_writing


@pytest.mark.parametrize("seed", range(4))
def test_a_search_finds_what_reading_everything_finds(seed: int, tmp_path: Path) -> None:
    chance, it, there = random.Random(seed), new_bench(), dict[Subject, tuple[Fields, str, str, str]]()
    path = tmp_path / "index"
    for _ in range(4):
        grow(it, there, chance, 12)
        bring_up_to_date(path, it)
        for rights in (None, access("read", subjects=("open*", "users")), access("read", contexts=(".team",))):
            readable = {one: facts for one, facts in there.items() if rights is None or rights.may("read", one)}
            for name, kind in product((*NAMES, "e_mail"), ("", "string", "int", "integer")):
                text = f"field:{name}" + (f" type:{kind}" if kind else "")
                expected = sorted(str(one) for one, facts in readable.items() if fits(one, facts, name, kind))
                found = find(path, text, rights)
                assert sorted(one.name for one in found.hits) == expected, (text, rights)
                assert found.count == len(expected)
            for word in WORDS:
                expected = sorted(str(one) for one, facts in readable.items() if facts[1] == word)
                assert sorted(one.name for one in find(path, f"doc:{word}", rights).hits) == expected
            tagged = {str(one) for one, facts in readable.items() if facts[2] == "PII" and facts[3] == "AVRO"}
            found = find(path, "tag:PII owner:pii format:AVRO", rights)
            assert {one.name for one in found.hits} == tagged
            named = {str(one) for one in readable if "rs" in one.name}
            assert {one.name for one in find(path, "subject:rs", rights).hits} == named
            counted = {(one.facet, one.value): one.count for one in find(path, "field:inner", rights).facets}
            assert counted.get(("format", "AVRO"), 0) == sum(facts[3] == "AVRO" for facts in readable.values())
            assert counted.get(("context", ".team"), 0) == sum(one.context == ".team" for one in readable)
            for tag in ("PII", "Public"):
                number = sum(facts[2] == tag for facts in readable.values())
                assert counted.get(("tag", tag), 0) == counted.get(("owner", tag.lower()), 0) == number


def test_a_schema_is_read_once_and_an_index_of_another_log_is_made_again(tmp_path: Path) -> None:
    chance, it, there = random.Random(7), new_bench(), dict[Subject, tuple[Fields, str, str, str]]()
    path = tmp_path / "index"
    grow(it, there, chance, 20)
    first = bring_up_to_date(path, it)
    assert first > 5
    assert bring_up_to_date(path, it) == 0
    grow(it, there, chance, 3)
    assert bring_up_to_date(path, it) <= 3
    other = new_bench()
    other.clock = 1_000
    other.do(Register(Subject(".", "alone"), as_draft({"id": "int"}, "x", "y", "AVRO")))
    assert bring_up_to_date(path, other) == 1
    assert [one.name for one in find(path, "field:id").hits] == ["alone"]
    path.write_bytes(b"no index")
    assert bring_up_to_date(path, other) == 1
    assert find(path, "alone").sequence == other.tables.sequence


def test_pages_are_whole_and_disjoint(tmp_path: Path) -> None:
    it, path = new_bench(), tmp_path / "index"
    for at in range(25):
        it.do(Register(Subject(".", f"s{at}"), as_draft({"id": TYPES[at % 3]}, WORDS[at % 3], "PII", "AVRO")))
    bring_up_to_date(path, it)
    seen: list[str] = []
    after = -1
    while True:
        page = find(path, "field:id", after=after, limit=7)
        seen += [one.name for one in page.hits]
        after = page.last
        assert page.count == 25
        if after < 0:
            break
    assert sorted(seen) == sorted(f"s{at}" for at in range(25))


def test_former_and_deleted_versions_are_found_only_where_they_are_asked_for(tmp_path: Path) -> None:
    it, path, home = new_bench(), tmp_path / "index", Subject(".", "s")
    for name in ("id", "zip"):
        draft = as_draft({name: "int"}, "x", "y", "AVRO")
        it.do(Register(home, draft, force=ForceReason("", "")))
    bring_up_to_date(path, it)
    assert not find(path, "field:id").hits
    assert [one.number for one in find(path, "field:zip").hits] == [2]
    it.do(DeleteVersion(home, 2))
    bring_up_to_date(path, it)
    assert [one.number for one in find(path, "field:id").hits] == [1]
    assert [one.number for one in find(path, "field:zip state:deleted").hits] == [2]
    assert not find(path, "field:zip").hits


def test_parts_of_names_are_found_and_odd_ones_are_whole_tokens(tmp_path: Path) -> None:
    it, path = new_bench(), tmp_path / "index"
    it.do(Register(Subject(".", "S"), as_draft({"e-mail": "string", "größe": "int"}, "x", "y", "JSON")))
    it.do(Register(Subject(".", "t%_\\"), as_draft({"id": "string"}, "x", "y", "JSON")))
    bring_up_to_date(path, it)
    for text in ("field:e-mail", "field:*mail", "field:GRÖSSE", "field:inner.e-mail", "field:*r*sse", "ma"):
        assert [one.name for one in find(path, text).hits] == ["S"], text
    assert [one.name for one in find(path, "subject:%_").hits] == ["t%_\\"]
    assert not find(path, 'field:"e OR mail"').hits
    assert not find(path, "field:*nothing*").hits
    assert as_token("a b|c=d") == "a_20_b_7c_c_3d_d"


@pytest.mark.parametrize(
    ("text", "rule"),
    [("", "SEARCH_EMPTY"), ("nosuch:x", "SEARCH_TERM"), ("a" * 4_097, "NAME_LENGTH"), ("a " * 21, "SEARCH_TERMS")],
)
def test_a_wrong_search_is_refused_by_name(text: str, rule: str) -> None:
    with pytest.raises(Invalid) as wrong:
        parse_terms(text)
    assert wrong.value.reason.rule == rule


def test_there_is_no_answer_before_the_first_whole_index(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="is being built"):
        find(tmp_path / "none", "a")
    open_for_writing(tmp_path / "empty").close()
    with pytest.raises(Unavailable, match="is being built"):
        find(tmp_path / "empty", "a")


def test_a_text_that_is_deep_or_refers_to_itself_ends(tmp_path: Path) -> None:
    loop = {"$ref": "#/definitions/a", "definitions": {"a": {"properties": {"x": {"$ref": "#/definitions/a"}}}}}
    deep: object = {"properties": {"end": {"type": "string"}}}
    for _ in range(150):
        deep = {"properties": {"x": deep}}
    for value, name in ((loop, "x"), (deep, "end")):
        contents = extract(ResolvedSchema("JSON", json.dumps(value)))
        assert any(path.rpartition(".")[2] == name for path, _ in contents.fields)
    assert extract(ResolvedSchema("JSON", "[" * 100_000)).fields == []
    assert extract(ResolvedSchema("AVRO", "{")).fields == []


def as_definitions(parts: list[dict[str, Any]]) -> str:
    """A text whose property `x` refers to the first part."""
    definitions = {f"a{at}": part for at, part in enumerate(parts)}
    return json.dumps({"properties": {"x": {"$ref": "#/$defs/a0"}}, "$defs": definitions})


@pytest.mark.parametrize("step", ["allOf", "anyOf", "oneOf", "properties", "items", "chain"])
def test_parts_that_many_references_lead_to_are_read_in_few_steps(step: str) -> None:
    parts: list[dict[str, Any]] = []
    for at in range(60):
        after = {"$ref": f"#/$defs/a{at + 1}"}
        inside: dict[str, Any] = {step: [after, after]}
        match step:
            case "properties":
                inside = {step: {"left": after, "right": after}}
            case "items":
                inside = {"items": after, "additionalProperties": after}
            case "chain":
                inside = {"allOf": [{"$ref": f"#/$defs/a{each}"} for each in range(at + 1, 61)]}
        parts.append(inside)
    parts.append({"properties": {"end": {"type": "string"}}})
    contents = extract(ResolvedSchema("JSON", as_definitions(parts)))
    assert "x" in dict(contents.fields)
    assert len(contents.fields) <= SCHEMA_MEMBERS
    if step != "properties":
        assert contents.fields == [("x", ()), ("x.end", ("string",))]


def test_the_walk_through_many_fields_and_parts_stops_at_a_limit() -> None:
    chain: list[dict[str, Any]] = [{"allOf": [{"$ref": f"#/$defs/a{at + 1}"}]} for at in range(800)]
    value = json.loads(as_definitions([*chain, {}]))
    value["properties"] |= {f"x{at}": {"$ref": "#/$defs/a0"} for at in range(1_000)}
    contents, budget = SchemaContents(), StepBudget(20_000, "EXTRACTION_STEPS")
    with pytest.raises(StepsError):
        walk("JSON", value, contents, budget)
    assert len(contents.fields) == 1_001


def test_words_and_types_of_a_part_are_taken_once() -> None:
    part = {"description": "long " * 50, "type": [f"t{at}" for at in range(1_000)]}
    properties = {f"x{at}": {"$ref": "#/$defs/a0"} for at in range(300)}
    contents = extract(ResolvedSchema("JSON", json.dumps({"properties": properties, "$defs": {"a0": part}})))
    assert contents.docs == ["long " * 50]
    assert {len(types) for _, types in contents.fields} == {FIELD_TYPES}


@pytest.mark.parametrize("few", [0, FEW_READABLE])
def test_what_the_caller_may_not_read_shows_nowhere(few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who may read few subjects is answered from these alone; who may read more by filtering what fits."""
    monkeypatch.setattr("treaty.web.index.plans.FEW_READABLE", few)
    it, path, rights = new_bench(), tmp_path / "index", access("read", subjects=("open*",))
    it.do(Register(Subject(".", "open-a"), as_draft({"salary": "int", "id": "int"}, "x", "y", "AVRO")))
    it.do(Register(Subject(".", "open-b"), as_draft({"salt": "int"}, "x", "y", "JSON")))
    bring_up_to_date(path, it)
    texts = ("field:*sal*", "sal", "field:*sa*", "field:*sal* type:int", "field:*ceo*", "field:id field:*sal*")
    before = [find(path, text, rights) for text in texts]
    it.do(Register(Subject(".", "secret"), as_draft({"salary_of_ceo": "int"}, "x", "y", "AVRO")))
    many = {f"sal{at}": "int" for at in range(2 * PARTS)}
    it.do(Register(Subject(".", "hidden"), as_draft(many, "x", "y", "JSON")))
    bring_up_to_date(path, it)
    for text, expected in zip(texts, before, strict=True):
        found = find(path, text, rights)
        assert (found.hits, found.more, found.facets) == (expected.hits, False, expected.facets), text
    hits = {one.name: one.fields for one in before[0].hits}
    assert hits == {"open-a": ("inner.salary", "salary"), "open-b": ("inner.salt", "salt")}
    assert find(path, "field:*sal*").more
    owner = access("read", subjects=("secret",))
    assert [one.fields for one in find(path, "field:*ceo*", owner).hits] == [("inner.salary_of_ceo", "salary_of_ceo")]


def test_what_is_known_of_readable_subjects_ends_with_them_and_with_their_rights(tmp_path: Path) -> None:
    it, path = new_bench(), tmp_path / "index"
    mine, everything = access("read", subjects=("visible*",)), access("read")
    file = IndexFile(path)

    def names(rights: Access) -> list[str]:
        return sorted(one.name for one in file.find(FindEntries(parse_terms("field:id"), rights)).hits)

    for name in ("shut-a", "visible-b"):
        it.do(Register(Subject(".", name), as_draft({"id": "int"}, "x", "y", "AVRO")))
    bring_up_to_date(path, it)
    assert (names(mine), names(everything)) == (["visible-b"], ["shut-a", "visible-b"])
    for permanent in (False, True):
        it.do(DeleteSubject(Subject(".", "visible-b"), permanent=permanent))
    bring_up_to_date(path, it)
    it.do(Register(Subject(".", "shut-c"), as_draft({"id": "int"}, "x", "y", "AVRO")))
    bring_up_to_date(path, it)
    assert (names(mine), names(everything)) == ([], ["shut-a", "shut-c"]), "another subject has its number"
    for permanent in (False, True):
        it.do(DeleteSubject(Subject(".", "shut-a"), permanent=permanent))
    creation = SubjectCreation(private=True)
    it.do(Register(Subject(".", "shut-a"), as_draft({"id": "int"}, "x", "y", "AVRO"), create_with=creation))
    bring_up_to_date(path, it)
    assert names(everything) == ["shut-c"], "who may read all of the context may not read what is private"
    assert names(access("read", subjects=("shut-a",))) == ["shut-a"]
    for at in range(ACCESSES + 5):
        assert names(access("read", subjects=(f"shut-{'ac'[at % 2]}",))) == [f"shut-{'ac'[at % 2]}"]
    assert (names(mine), names(everything)) == ([], ["shut-c"])
    file.close()


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("new", ["open-n", "shut-n"])
@pytest.mark.parametrize("gone", ["open-a", "open-z", "shut-a", "shut-z"])
def test_a_subject_that_gets_the_number_of_another_one_is_readable_as_the_rules_say(
    gone: str, new: str, tmp_path: Path, *, private: bool
) -> None:
    it, path, file = new_bench(), tmp_path / "index", IndexFile(tmp_path / "index")
    accesses = (access("read", subjects=("open*",)), access("read", subjects=("shut*",)), access("read"))
    live = {Subject(".", name): False for name in ("open-a", "open-z", "shut-a", "shut-z") if name != gone}

    def require_readable() -> None:
        for rights in accesses:
            hits = file.find(FindEntries(parse_terms("field:id"), rights)).hits
            readable = {one.name for one, is_private in live.items() if rights.may("read", one, private=is_private)}
            assert {hit.name for hit in hits} == readable

    for subject in live:
        it.do(Register(subject, as_draft({"id": "int"}, "x", "y", "AVRO")))
    bring_up_to_date(path, it)
    for name, is_private in ((gone, False), (new, private)):  # the highest number is given again
        subject = Subject(".", name)
        creation = SubjectCreation(private=is_private)
        it.do(Register(subject, as_draft({"id": "int"}, "x", "y", "AVRO"), create_with=creation))
        bring_up_to_date(path, it)
        live[subject] = is_private
        require_readable()
        if name == gone:
            for permanent in (False, True):
                it.do(DeleteSubject(subject, permanent=permanent))
            bring_up_to_date(path, it)
            del live[subject]
    file.close()


def test_a_file_that_was_closed_may_be_another_one_with_its_inode(tmp_path: Path) -> None:
    """A damaged index is removed and built again, and file systems give the same inode to the next file: its numbers are of other subjects."""
    path, other = tmp_path / "index", tmp_path / "other"
    for place, name in ((path, "open-a"), (other, "shut-a")):
        it = new_bench()
        it.do(Register(Subject(".", name), as_draft({"id": "int"}, "x", "y", "AVRO")))
        bring_up_to_date(place, it)
    file, question = IndexFile(path), FindEntries(parse_terms("field:id"), access("read", subjects=("open-*",)))
    assert [hit.name for hit in file.find(question).hits] == ["open-a"]
    rebuilt, inode = other.read_bytes(), path.stat().st_ino
    path.write_bytes(b"damaged")
    with pytest.raises(Unavailable):
        file.find(question)
    path.write_bytes(rebuilt)
    assert path.stat().st_ino == inode
    assert [hit.name for hit in file.find(question).hits] == []
    file.close()


def test_past_a_number_of_versions_more_is_said_to_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    it, path = new_bench(), tmp_path / "index"
    for at in range(30):
        it.do(Register(Subject(".", f"s{at}"), as_draft({"id": "int"}, WORDS[at % 3], "PII", "AVRO")))
    bring_up_to_date(path, it)
    monkeypatch.setattr("treaty.web.index.lookup.COUNTED_ROWS", 10)
    monkeypatch.setattr("treaty.web.index.places.BLOCK", 3)
    for name in ("FEW", "FEW_READABLE"):
        monkeypatch.setattr(f"treaty.web.index.plans.{name}", 0)
    rights = access("read", subjects=("s*5", "s*7", "s3"))
    for text in ("field:id", "s", "format:AVRO"):
        cut = find(path, text, rights, limit=2)
        assert (len(cut.hits), cut.more) == (2, True)
        seen, after = list[str](), -1
        while True:
            page = find(path, text, rights, after, limit=2)
            seen, after = [*seen, *(one.name for one in page.hits)], page.last
            if after < 0:
                break
        assert sorted(seen) == ["s15", "s17", "s25", "s27", "s3", "s5", "s7"], text


SEARCHES = (
    "mail", "rs", "address", "a", "er field:inner", "subject:rs", "subject:e id", "subject:open type:int", "rs type:string", "type:int",
    "kind:subject", "format:JSON rs", "context:.team er", "rs state:deleted", "state:deleted", "type:int state:deleted", "rs er",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_what_many_fit_is_found_as_what_few_fit(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search begins with what few versions fit; where many do, versions are looked at, the newest ones first, a range at a time."""
    chance, it, path = random.Random(seed), new_bench(), tmp_path / "index"
    grow(it, {}, chance, 30)
    bring_up_to_date(path, it)
    rights = (None, access("read", subjects=("open*", "users")), access("read", contexts=(".team",)))
    questions = chance.sample([*product(SEARCHES, rights, (2, 100))], 30)
    file = IndexFile(path)

    def answers() -> list[tuple[object, ...]]:
        results: list[tuple[object, ...]] = []
        for text, who, limit in questions:
            after, hits = -1, list[object]()
            while True:
                page = file.find(FindEntries(parse_terms(text), who, after, limit))
                hits += page.hits
                assert len({*hits}) == len(hits), text
                if (after := page.last) < 0:
                    break
            results.append((text, limit, hits, page.count, {*page.facets}))
        return results

    expected = answers()
    assert any(hits for _, _, hits, *_ in expected)
    for few, schemas, rows, scanned in ((0, 0, 1, 200), (0, 100, 2, 200), (100, 0, 3, 3), (3, 3, 1, 200), (0, 0, 1, 1)):
        monkeypatch.setattr("treaty.web.index.plans.FEW", few)
        monkeypatch.setattr("treaty.web.index.plans.FEW_READABLE", few)
        monkeypatch.setattr("treaty.web.index.plans.FEW_SCHEMAS", schemas)
        monkeypatch.setattr("treaty.web.index.places.FIRST_ROWS", rows)
        monkeypatch.setattr("treaty.web.index.lookup.ROWS_SCANNED", scanned)
        if scanned > 3:
            assert answers() == expected
        else:  # each page ends early, and the next one goes on where it ended
            assert [(text, hits) for text, _, hits, *_ in answers()] == [(text, hits) for text, _, hits, *_ in expected]
    file.close()


@pytest.mark.parametrize("format_", ["AVRO", "JSON"])
@pytest.mark.parametrize("length", [PATH_CHARACTERS - 5, 20_000])
def test_paths_of_a_schema_are_bounded(format_: str, length: int) -> None:
    name, inside = "n" * length, {f"f{at}": "string" for at in range(5_000)}
    value: dict[str, Any] = {"properties": {name: {"properties": {each: {"type": inside[each]} for each in inside}}}}
    if format_ == "AVRO":
        fields = [{"name": each, "type": inside[each]} for each in inside]
        record = {"type": "record", "name": "R", "fields": fields}
        value = {"type": "record", "name": "S", "fields": [{"name": name, "type": record}]}
    contents = extract(ResolvedSchema(format_, json.dumps(value)))
    assert sum(len(path) * (1 + len(types)) for path, types in contents.fields) <= PATHS_CHARACTERS
    assert (len(contents.fields) > 1_000) == (length < PATH_CHARACTERS)

"""Where a search ends at a limit it says so, and its pages lose nothing: limits as small as what there is, one less and one more."""

from contextlib import closing
from itertools import product
from pathlib import Path

import pytest

from tests.laws.holder import access
from tests.laws.search_life import as_draft, bring_up_to_date, new_bench
from treaty.core.access.rights import Access
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.registration import Register
from treaty.core.messages.search import parse_terms
from treaty.core.names import Subject
from treaty.core.schema_engine import EntriesFound, FindEntries
from treaty.core.sources import SourceColumn
from treaty.web.index.lookup import IndexFile

FIELDS = (
    ("mail",),
    ("mail", "mailbox"),
    ("e_mail", "ma"),
    ("gmail", "amazing"),
    ("mad", "imam"),
    ("remark",),
    ("zoom",),
)
SOURCES = ("mail_a", "mail_b", "mail_c")
ALL = access("read")
SOME = access("read", subjects=("s0", "s1", "s2", "s5", "hidden"))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    it, path = new_bench(), tmp_path_factory.mktemp("search") / "index"
    for number, names in enumerate(FIELDS):
        it.do(Register(Subject(".", f"s{number}"), as_draft(dict.fromkeys(names, "int"), "x", "y", "JSON")))
    for name in SOURCES:
        it.do(m.CreateSource(m.SourceDefinition(name, "STREAM", "", (SourceColumn("id", "STRING"),))))
    bring_up_to_date(path, it)
    return path


def find_all(file: IndexFile, text: str, rights: Access | None, limit: int) -> tuple[list[str], list[EntriesFound]]:
    """The names of all pages in their order, and the pages."""
    names, pages, after = list[str](), list[EntriesFound](), -1
    while len(pages) < 50:
        pages.append(file.find(FindEntries(parse_terms(text), rights, after, limit)))
        names += [hit.name for hit in pages[-1].hits]
        after = pages[-1].last
        if after < 0:
            break
    return names, pages


@pytest.mark.parametrize(
    ("limit", "few"),
    [(limit, 0) for limit in ("PARTS", "PARTS_SCANNED", "PARTS_ASKED", "ROWS_SCANNED")] + [("NAMES_CHARACTERS", 500)],
)
def test_names_of_fields_past_a_limit_are_said_to_be_there(
    index: Path, limit: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treaty.web.index.plans.FEW_READABLE", few)
    texts, cut, whole = ("field:*mail*", "field:*ma*", "field:m*", "mail", "ma", "oo"), 0, 0
    with closing(IndexFile(index)) as file:
        questions = [FindEntries(parse_terms(text), rights) for text, rights in product(texts, (None, ALL, SOME))]
        expected = [{hit.name for hit in file.find(question).hits} for question in questions]
        for most in (1, 3, 8, 21, 100):
            monkeypatch.setattr(f"treaty.web.index.plans.{limit}", most)
            for question, names in zip(questions, expected, strict=True):
                answer = file.find(question)
                found = {hit.name for hit in answer.hits}
                assert found <= names, (most, question)
                assert found == names or answer.more, (most, question)
                cut, whole = cut + answer.more, whole + (not answer.more)
    assert min(cut, whole) > 5


def test_names_that_begin_with_one_or_two_characters_are_found_wherever_they_stand(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treaty.web.index.plans.PARTS_SCANNED", 5)
    with closing(IndexFile(index)) as file:
        for text, name in (("field:z*", "s6"), ("zo", "s6"), ("field:re*", "s5"), ("field:am*", "s3")):
            assert find_all(file, text, None, 20)[0] == [name], text


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5])
def test_as_many_names_of_fields_as_are_looked_for_are_all(
    index: Path, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {path for fields in FIELDS for path in fields if "mail" in path}
    fitting = {"inner." + name for name in names} | names
    monkeypatch.setattr("treaty.web.index.plans.PARTS", len(fitting) - 3 + most)
    with closing(IndexFile(index)) as file:
        for rights in (None, SOME):
            readable = fitting if rights is None else {name for name in fitting if "gmail" not in name}
            answer = file.find(FindEntries(parse_terms("field:*mail*"), rights))
            assert answer.more == (len(readable) > len(fitting) - 3 + most)


@pytest.mark.parametrize("counted", [1, 6, 7, 8, 10])
def test_pages_lose_nothing_where_counting_ends(index: Path, counted: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treaty.web.index.lookup.SEARCH_COUNTED", counted)
    subjects = [f"s{number}" for number in reversed(range(len(FIELDS)))]
    with closing(IndexFile(index)) as file:
        for text, everything in (
            ("state:live", [*subjects, *SOURCES]),
            ("kind:subject", subjects),
            ("kind:source", [*SOURCES]),
        ):
            for limit in (1, 2, 7, 8):
                names, pages = find_all(file, text, None, limit)
                assert names == everything, (text, limit)
                for page in pages:
                    assert page.count == min(counted, len(everything)), (text, limit)
                    assert page.more == (len(everything) > counted), (text, limit)
                    assert sum(facet.count for facet in page.facets if facet.facet == "kind") == page.count


@pytest.mark.parametrize("scanned", [1, 2, 4])
def test_pages_lose_nothing_where_a_search_passes_over_few_versions(
    index: Path, scanned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sources come last, on whatever page the versions end."""
    for name, value in (
        ("lookup.ROWS_SCANNED", scanned),
        ("places.FIRST_ROWS", 1),
        ("places.BLOCK", 1),
        ("plans.FEW", 0),
    ):
        monkeypatch.setattr(f"treaty.web.index.{name}", value)
    expected = [*(f"s{number}" for number in reversed(range(len(FIELDS)))), *SOURCES]
    with closing(IndexFile(index)) as file:
        for limit in (1, 2, 3, 20):
            assert find_all(file, "state:live", None, limit)[0] == expected, limit

"""Words of other systems: each hint is one that a statement with its word gets."""

from collections.abc import Iterator, Mapping

import pytest

from treaty.metastore.sql.foreign_words import FIRST, INSIDE
from treaty.metastore.sql.script import parse_script

PLACES: Mapping[str, tuple[str, ...]] = {
    "ALTER": ("ALTER {word} s", "ALTER STREAM s {word} x", "ALTER STREAM s RENAME {word} x"),
    "CREATE": ("CREATE {word} x", "CREATE STREAM s (a INT {word} x)", "CREATE STREAM s {word} x"),
    "SELECT": ("SELECT * FROM treaty.sources {word} x", "SELECT * FROM treaty.sources WHERE name = 'a' {word} x"),
    "INSERT": ("INSERT {word} s VALUES (1)", "INSERT INTO s VALUES (1) {word} x"),
}
"""By first word: where a statement may have a foreign word, beside the places of every statement."""
EVERYWHERE = ("{first} {word}", "{first} {word} x", "{first} STREAM x {word}", "{first} STREAMS {word} x")


def hints_of(text: str) -> Iterator[str]:
    yield from (one.hint for one in parse_script(text).diagnostics)


@pytest.mark.parametrize("word", FIRST)
def test_a_first_word_leads_to_its_form(word: str) -> None:
    assert list(hints_of(f"{word} x")) == [FIRST[word]]


@pytest.mark.parametrize("first", INSIDE)
def test_a_word_inside_of_a_statement_leads_to_its_form(first: str) -> None:
    for word, hint in INSIDE[first].items():
        texts = [place.format(first=first, word=word) for place in (*PLACES.get(first, ()), *EVERYWHERE)]
        assert any(hint in hints_of(text) for text in texts), word

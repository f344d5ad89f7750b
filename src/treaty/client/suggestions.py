"""What somebody may have meant who wrote a word that is not known: the same question for keys, levels and names."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST = 3
"""The most words that are suggested."""
CLOSENESS = 0.6
"""How much of a word has to be the same, from 0 to 1."""
LONGEST = 100
"""Characters of the unknown word that are compared; comparing takes the product of both lengths."""


def find_similar(word: str, words: Iterable[str]) -> tuple[str, ...]:
    """Return known words that are like this one, the most similar first; letter case and ``-_ .`` do not count."""
    by_form: dict[str, list[str]] = {}
    for candidate in words:
        by_form.setdefault(_plain_form(candidate), []).append(candidate)
    if (same := by_form.get(_plain_form(word[:LONGEST]))) is not None:
        return tuple(same[:MOST])
    near = get_close_matches(_plain_form(word[:LONGEST]), by_form, MOST, CLOSENESS)
    return tuple(one for form in near for one in by_form[form])[:MOST]


def suggest(word: str, words: Iterable[str]) -> str:
    """Return ``did you mean X?`` or ``did you mean X or Y?``, empty where nothing is similar."""
    near = find_similar(word, words)
    return f"did you mean {' or '.join(near)}?" if near else ""


def _plain_form(word: str) -> str:
    return "".join(char for char in word.casefold() if char not in "-_ .")

"""Names that meet outside of Protobuf get the verdicts of protoc: those of fields in JSON, and those of values of an enum."""

import random
from collections.abc import Callable, Iterator
from itertools import permutations, product

import pytest

from tests.oracle.protobuf_treaty import difference, judged
from tests.oracle.protoc import Protoc
from treaty.core.finding import Diagnostic

HEADS = ('syntax = "proto2";', 'syntax = "proto3";', 'edition = "2023";')
FIELDS = (("a", "b"), ("b", "a"), ("a_b", "aB"), ("a_b", "a__b"), ("a", "A"))
JSON_NAMES = (None, "a", "b", "aB", "c", "[a]", "")
"""Names of two fields, and of each the name that it is given in JSON: none, its own one, another's, one of nobody."""
VALUES = ("A", "a", "E_A", "e_a", "EA", "E__A", "_A", "E_", "E_A_B", "AB", "A_B", "E_1", "E1")
"""Names of values of an enum E."""


def print_message(head: str, names: tuple[str, ...], json_names: tuple[str | None, ...], option: str = "") -> str:
    label = "optional " if "proto2" in head else ""
    options = ["" if name is None else f' [json_name = "{name}"]' for name in json_names]
    fields = [f"{label}int32 {name} = {at}{options[at - 1]};" for at, name in enumerate(names, 1)]
    return f"{head} message M {{ {option} {' '.join(fields)} }}"


def list_messages() -> Iterator[str]:
    """Two fields with all names, and three that have each other's."""
    for head, names, json_names in product(HEADS, FIELDS, product(JSON_NAMES, repeat=2)):
        yield print_message(head, names, json_names)
    legacy = "option deprecated_legacy_json_field_conflicts = true;"
    for head, json_names in product(HEADS, product((None, "b", "a"), repeat=2)):
        yield print_message(head, ("a", "b"), json_names, legacy)
        yield print_message(head, ("a_b", "aB"), json_names, legacy)
    for head, given in product(HEADS, permutations(("a", "b", "c", None), 3)):
        yield print_message(head, ("a", "b", "c"), given)


def list_enums() -> Iterator[str]:
    """Two values with all names, of two numbers and of the same."""
    for head, names in product(HEADS, permutations(VALUES, 2)):
        first = f"{names[0]} = 0; {names[1]}"
        yield f"{head} enum E {{ {first} = 1; }}"
        yield f"{head} enum E {{ option allow_alias = true; {first} = 0; }}"


def compare(texts: list[str]) -> tuple[int, int]:
    """How many files both take, and how many both refuse."""
    refused = 0
    with Protoc() as protoc:
        for text in texts:
            verdict = judged(text)
            assert difference(protoc.ask(text), verdict) == "", text
            refused += isinstance(verdict, Diagnostic)
    return len(texts) - refused, refused


@pytest.mark.parametrize("listed", [list_messages, list_enums])
def test_names_that_meet_get_the_verdicts_of_protoc(listed: Callable[[], Iterator[str]]) -> None:
    texts = [*listed()]
    taken, refused = compare(random.Random(20).sample(texts, len(texts) // 4))
    assert min(taken, refused) > 10


@pytest.mark.soak
@pytest.mark.parametrize("listed", [list_messages, list_enums])
def test_all_names_that_meet_get_the_verdicts_of_protoc(listed: Callable[[], Iterator[str]]) -> None:
    taken, refused = compare([*listed()])
    assert min(taken, refused) > 50

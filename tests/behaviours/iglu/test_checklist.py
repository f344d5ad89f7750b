"""The checklist has 107 points: each is the number of a test here, or a row that says why it has no meaning."""

import re
from pathlib import Path

POINTS = frozenset(range(1, 108))
WITHOUT_MEANING = {
    107: "Whether a text is a self-describing schema is decided by servers and linters; a resolver takes any JSON, and what its "
    "$schema may be for validation is point 101."
}
_TEST = re.compile(r"def (test_points?_[0-9a-z_]+)\(")


def numbers(name: str) -> set[int]:
    """The points that the name of a test lists, such as ``test_points_24_25_and_28_…`` or ``test_points_56_to_62_…``."""
    found: set[int] = set()
    last, until = 0, False
    for word in name.split("_")[2:]:
        if word.isdigit():
            found |= {*range(last, int(word) + 1)} if until else {int(word)}
            last, until = int(word), False
        elif word == "to" and last:
            until = True
        elif word != "and":
            break
    return found


def test_every_point_has_a_test_or_a_reason() -> None:
    names = [name for file in Path(__file__).parent.glob("test_*.py") for name in _TEST.findall(file.read_text())]
    tested = set().union(*map(numbers, names))
    assert sorted(POINTS - tested - {*WITHOUT_MEANING}) == []
    assert not tested & {*WITHOUT_MEANING}
    assert tested <= POINTS


def test_names_are_read_as_their_points() -> None:
    assert numbers("test_points_24_25_and_28_a_failure_is_not_asked_2_times") == {24, 25, 28}
    assert numbers("test_points_56_to_62_a_family") == {*range(56, 63)}
    assert numbers("test_point_9_x") == {9}
    assert numbers("test_points_4_to_6_and_9_x") == {4, 5, 6, 9}

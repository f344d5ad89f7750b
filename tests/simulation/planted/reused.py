"""Planted: the next id is one more than the highest in use, so that a purged one is given again."""

from treaty.core.law import places
from treaty.core.rows import Key
from treaty.core.view import View

LAWS = {"4"}
PLACE, NAME = places, "_raised"
original = places._raised


def planted(view: View, key: Key, *, first: int) -> int:
    if key[0] != "ids":
        return original(view, key, first=first)
    return max((int(one[1]) for one in view.keys("schema") if one[0] == key[1]), default=0) + 1

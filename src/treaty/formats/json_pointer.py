"""Places inside a JSON text: the way to a value, and where in the text it begins."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from treaty.core.limits import SCHEMA_DEPTH

ValuePath = tuple["ValuePath", str | int] | None
"""The way to a place: the way to its parent, and the step from there. Cheap to extend; None is the root."""

_TOKEN = re.compile(
    r'(?P<string>"[^"\\]*+(?:\\.[^"\\]*+)*+")|(?P<mark>[\[\]{},:])|//[^\r\n]*|/\*.*?\*/|(?P<word>[^\s\[\]{},:"/]+)',
    re.DOTALL,
)


def format_pointer(path: ValuePath) -> str:
    """A path as a JSON pointer (RFC 6901); the root is empty."""
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append(escape_step(str(step)))
    return "".join(f"/{step}" for step in reversed(steps))


def escape_step(step: str) -> str:
    """A step as it is written in a JSON pointer."""
    return step.replace("~", "~0").replace("/", "~1") if "~" in step or "/" in step else step


def split_pointer(pointer: str) -> list[str]:
    """The steps of a JSON pointer, indexes as text too."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def find_positions(text: str, pointers: Iterable[str]) -> Mapping[str, tuple[int, int]]:
    """Line and column, from 1, where the values at these pointers begin in a JSON text.

    A value that is not there has the place of what would hold it. Of equal keys the last one counts, as for readers.
    """
    targets = set(pointers)
    prefixes = {
        "/".join(steps[:length]) for steps in (one.split("/") for one in targets) for length in range(len(steps) + 1)
    }
    starts = {"": 0}
    starts.update((one, start) for one, start in _values(text) if one in prefixes)
    begins: list[tuple[int, str]] = []
    for target in targets:
        holder = target
        while holder not in starts:
            holder = holder.rpartition("/")[0]
        begins.append((starts[holder], target))
    positions: dict[str, tuple[int, int]] = {}
    line, before = 1, 0
    for start, target in sorted(begins):  # lines are counted on from the place before
        line += text.count("\n", before, start)
        before = start
        positions[target] = (line, start - text.rfind("\n", 0, start))
    return positions


def _values(text: str) -> Iterator[tuple[str, int]]:
    """Every value's pointer and where it begins, in the order of the text, up to what no reader takes: deeper brackets
    than the limit, or one that closes nothing.
    """
    ways: list[str] = [""]  # for every open bracket the pointer of what is inside, and at the end of the next value
    counts: list[int] = []  # for every open bracket the index of the next item, -1 for an object
    key = True
    for token in _TOKEN.finditer(text):
        mark = token["mark"]
        if mark in ("]", "}"):
            if not counts:
                return
            ways.pop()
            counts.pop()
            key = False
        elif mark == ",":
            if counts and counts[-1] >= 0:
                counts[-1] += 1
                ways[-1] = f"{ways[-1].rpartition('/')[0]}/{counts[-1]}"
            key = True
        elif mark == ":":
            key = False
        elif token["string"] and key and counts and counts[-1] < 0:
            ways[-1] = f"{ways[-2]}/{escape_step(json.loads(token['string']))}"
        elif mark or token["string"] or token["word"]:
            yield ways[-1], token.start()
            if mark:
                if len(counts) > SCHEMA_DEPTH:
                    return
                counts.append(0 if mark == "[" else -1)
                ways.append(f"{ways[-1]}/0")
                key = True

"""Two texts side by side: which lines belong together, how many equal ones are shown around a change, and which differences stand at them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate

from markupsafe import Markup

from treaty.core.finding import ExplainedDifference
from treaty.core.messages.differences import SchemasCompared
from treaty.web.schemas.texts import LINE_CHARACTERS, ShownText, show_text

LINES = 3_000
"""Lines of a text up to which lines that belong together are looked for; longer texts are shown line by line."""
STEPS = 3_000_000
"""Pairs of equal lines, times the lines of the shorter text, up to which all pairs are tried."""
AROUND = 3
"""Equal lines that are shown before and after a change."""


EMPTY = Markup("")


@dataclass(frozen=True, slots=True)
class PlacedDifference:
    """A difference with its number in the list, and whether it does harm."""

    number: int
    difference: ExplainedDifference

    @property
    def is_harmful(self) -> bool:
        """Whether somebody can no longer read something."""
        return self.difference.harm != "none"


@dataclass(frozen=True, slots=True)
class SideRow:
    """A row: the line of each side with its number (0: none there), how they differ, and what stands at them.

    `skipped` equal lines are left out in place of this row, where it is not 0.
    """

    left: int = 0
    right: int = 0
    left_line: Markup = EMPTY
    right_line: Markup = EMPTY
    kind: str = "same"
    differences: Sequence[PlacedDifference] = ()
    skipped: int = 0


def list_rows(compared: SchemasCompared, mark: Callable[[str], Markup]) -> list[SideRow]:
    """Return the rows of two texts, long equal parts left out; every difference stands at a row."""
    old, new = compared.old, compared.new
    left = show_text(old.format, old.text, mark) if old else ShownText([])
    right = show_text(new.format, new.text, mark)
    at_left, at_right = _place(compared, len(left.lines), len(right.lines))
    plain = (old.text.split("\n")[: len(left.lines)] if old else [], new.text.split("\n")[: len(right.lines)])
    rows = [
        SideRow(
            a, b, left.lines[a - 1] if a else EMPTY, right.lines[b - 1] if b else EMPTY, kind,
            (*at_left.get(a, ()), *at_right.get(b, ())),
        )
        for a, b, kind in _pair(*plain)
    ]  # fmt: skip
    return list(_leave_out_equal(rows))


def _place(
    compared: SchemasCompared, left: int, right: int
) -> tuple[Mapping[int, list[PlacedDifference]], Mapping[int, list[PlacedDifference]]]:
    """Return the differences by the line of the side into which their path leads; else of the other side."""
    at_left: dict[int, list[PlacedDifference]] = {}
    at_right: dict[int, list[PlacedDifference]] = {}
    for number, difference in enumerate(compared.differences, 1):
        places = [(at_right, difference.new_place, right), (at_left, difference.old_place, left)]
        if difference.reader == "old":
            places.reverse()
        places.sort(key=lambda each: each[1] is None or not each[1].exact)
        for table, place, count in places:
            if place is not None and 1 <= place.line <= count:
                table.setdefault(place.line, []).append(PlacedDifference(number, difference))
                break
    return at_left, at_right


def _pair(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield numbers of lines that belong together, and how they differ."""
    if max(len(left), len(right)) > LINES or any(len(line) > LINE_CHARACTERS for line in (*left, *right)):
        for number in range(1, max(len(left), len(right)) + 1):
            a, b = number if number <= len(left) else 0, number if number <= len(right) else 0
            yield a, b, "same" if a and b and left[a - 1] == right[b - 1] else _kind(a, b)
        return
    for tag, i1, i2, j1, j2 in _match(left, right):
        for step in range(max(i2 - i1, j2 - j1)):
            a, b = i1 + step + 1 if i1 + step < i2 else 0, j1 + step + 1 if j1 + step < j2 else 0
            yield a, b, "same" if tag == "equal" else _kind(a, b)


def _match(left: Sequence[str], right: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield the runs of lines that are equal, and those that are not, as `SequenceMatcher.get_opcodes` does.

    A line that comes 50 times on each side may be paired in 2,500 ways, each of which is tried for each run that is found. Where that
    is more than STEPS, lines with the most pairs are taken as equal only beside other equal lines, and at the begin and end of the texts.
    """
    shorter = min(len(left), len(right))
    begin = next((at for at in range(shorter) if left[at] != right[at]), shorter)
    end = next((at for at in range(shorter - begin) if left[-1 - at] != right[-1 - at]), shorter - begin)
    a, b = left[begin : len(left) - end], right[begin : len(right) - end]
    if begin:
        yield "equal", 0, begin, 0, begin
    common = _common_lines(a, b)
    for tag, i1, i2, j1, j2 in SequenceMatcher(common.__contains__, a, b, autojunk=False).get_opcodes():
        yield tag, begin + i1, begin + i2, begin + j1, begin + j2
    if end:
        yield "equal", len(left) - end, len(left), len(right) - end, len(right)


def _common_lines(left: Sequence[str], right: Sequence[str]) -> frozenset[str]:
    """Return the lines with too many pairs: all others have STEPS pairs at most, counted for each line of the shorter text."""
    at_left, at_right = Counter(left), Counter(right)
    pairs = sorted((at_left[line] * count, line) for line, count in at_right.items() if at_left[line])
    steps = accumulate(count * min(len(left), len(right)) for count, _ in pairs)
    return frozenset(line for (count, line), sum_ in zip(pairs, steps, strict=True) if sum_ > STEPS and count > 1)


def _kind(left: int, right: int) -> str:
    return "changed" if left and right else "removed" if left else "added"


def _leave_out_equal(rows: Sequence[SideRow]) -> Iterator[SideRow]:
    """Leave out long runs of equal lines at which nothing stands."""
    is_shown = [row.kind != "same" or bool(row.differences) for row in rows]
    near = (
        [any(is_shown[max(0, at - AROUND) : at + AROUND + 1]) for at in range(len(rows))]
        if any(is_shown)
        else [True] * len(rows)
    )
    skipped = 0
    for row, is_near in zip(rows, near, strict=True):
        if not is_near:
            skipped += 1
            continue
        if skipped:
            yield SideRow(skipped=skipped)
            skipped = 0
        yield row
    if skipped:
        yield SideRow(skipped=skipped)

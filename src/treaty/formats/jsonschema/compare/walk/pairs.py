"""The established comparison of two schemas: what differs, and which of it a policy refuses."""

from collections.abc import Callable, Hashable, Mapping

from treaty.formats.jsonschema.compare.fixpoint import Fixpoint, Question, Task
from treaty.formats.jsonschema.compare.found import Found
from treaty.formats.jsonschema.compare.rules.combination import (
    NOT_TYPE_EXTENDED,
    NOT_TYPE_NARROWED,
    PRODUCT_TYPE_NARROWED,
    SUM_TYPE_EXTENDED,
)
from treaty.formats.jsonschema.compare.rules.own import REFERENCE_UNRESOLVED
from treaty.formats.jsonschema.compare.rules.value import TYPE_CHANGED
from treaty.formats.jsonschema.compare.shape import COMBINED, EMPTY, LOST, NEVER, Shape, shape
from treaty.formats.jsonschema.compare.view import UNRESOLVED, View
from treaty.formats.jsonschema.compare.walk.arrays import arrays
from treaty.formats.jsonschema.compare.walk.combined import combined
from treaty.formats.jsonschema.compare.walk.objects import objects
from treaty.formats.jsonschema.compare.walk.scalar import annotated, consts, enums, numbers, strings

_SIMPLE: Mapping[str, Callable[[Found, Shape, Shape], None]] = {
    "string": strings,
    "number": numbers,
    "enum": enums,
    "const": consts,
}


def walked(writer: View, reader: View, policy: str) -> Found:
    """Everything that differs, in a stable order; raises `StepsError` past the limits."""

    def begin(pair: Hashable) -> Task:
        assert isinstance(pair, tuple)
        return _pair(Found(policy), *pair)

    return Fixpoint(begin, Found(policy), Found(policy)).answer((shape(writer), shape(reader)))


def _pair(found: Found, writer: Shape, reader: Shape) -> Task:
    if writer is reader:
        return found
    if (writer.kind == COMBINED) != (reader.kind == COMBINED):
        done = yield from _chosen(found, writer, reader)
        if done.harms or done.notes:
            return done
        if done is not found:
            return found
    if writer.kind != reader.kind:
        if not (writer.kind == NEVER or reader.kind == EMPTY or _both_bytes(writer, reader)):
            found.tell(TYPE_CHANGED, writer=(_word(writer),), reader=(_word(reader),))
        return found
    if not (writer.inner or reader.inner):
        annotated(found, writer, reader)
    if writer.kind in _SIMPLE:
        _SIMPLE[writer.kind](found, writer, reader)
    elif writer.kind == "object":
        return (yield from objects(found, writer, reader))
    elif writer.kind == "array":
        return (yield from arrays(found, writer, reader))
    elif writer.kind == COMBINED:
        return (yield from combined(found, writer, reader))
    elif writer.kind == "not":
        return (yield from _excluded(found, writer.view, reader.view))
    elif writer.kind == LOST and writer.view.words != reader.view.words:
        sides = ((one.view.words[UNRESOLVED],) for one in (writer, reader))
        found.tell(REFERENCE_UNRESOLVED, writer=next(sides), reader=next(sides))
    return found


def _chosen(found: Found, writer: Shape, reader: Shape) -> Task:
    """A combination against something else: by its only branch, or by the first one that fits.

    Returns `found` untouched where none fits, and something else where one fits without any difference.
    """
    side = reader if reader.kind == COMBINED else writer
    branches = side.branches
    if len(branches) == 1:
        pair = (writer, branches[0]) if side is reader else (branches[0], reader)
        return (yield Question(pair))
    if (side is reader and reader.criterion == "allOf") or (side is writer and writer.criterion != "allOf"):
        return found
    rule = SUM_TYPE_EXTENDED if side is reader else PRODUCT_TYPE_NARROWED
    other = writer if side is reader else reader
    akin: list[Found] = []
    for branch in branches:
        pair = (writer, branch) if side is reader else (branch, reader)
        answer = yield Question(pair)
        if not answer.harms:
            found.take(answer)
            found.tell(rule, writer=(_word(writer),), reader=(_word(reader),))
            return found
        if branch.kind == other.kind:
            akin.append(answer)
    if len(akin) == 1 and not _both_bytes(writer, reader):
        # That the type changed says little to a person who only made it nullable and changed something inside.
        found.tell(TYPE_CHANGED, writer=(_word(writer),), reader=(_word(reader),))
        found.take(akin[0])
    return found


def _excluded(found: Found, old: View, new: View) -> Task:
    """What is excluded, compared the other way round: excluding less allows more."""
    was, now = old.part("not"), new.part("not")
    assert was is not None
    assert now is not None
    answer = yield Question((shape(now), shape(was)))
    values = (was.node.value,), (now.node.value,)
    if answer.harms:
        found.tell(NOT_TYPE_EXTENDED, "not", writer=values[0], reader=values[1])
    elif answer.notes:
        found.tell(NOT_TYPE_NARROWED, "not", writer=values[0], reader=values[1])
    return found


def _both_bytes(writer: Shape, reader: Shape) -> bool:
    """Whether Kafka Connect wrote both for bytes, which it may describe by several types."""
    return writer.view.raw("connect.type") == "bytes" == reader.view.raw("connect.type")


def _word(one: Shape) -> str:
    if one.kind == COMBINED:
        return " and ".join(dict.fromkeys(map(_word, one.branches[:4]))) if one.made else one.criterion
    return one.type or one.kind

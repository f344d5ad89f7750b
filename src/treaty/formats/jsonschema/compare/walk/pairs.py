"""The established comparison of two schemas: what differs, and which of it a policy refuses."""

from collections.abc import Callable, Hashable, Mapping

from treaty.formats.jsonschema.compare.differences import DifferenceReport
from treaty.formats.jsonschema.compare.fixpoint import FixpointSolver, PairQuestion, Task
from treaty.formats.jsonschema.compare.rules.combination import (
    NOT_TYPE_EXTENDED,
    NOT_TYPE_NARROWED,
    PRODUCT_TYPE_NARROWED,
    SUM_TYPE_EXTENDED,
)
from treaty.formats.jsonschema.compare.rules.treaty import REFERENCE_UNRESOLVED
from treaty.formats.jsonschema.compare.rules.value import TYPE_CHANGED
from treaty.formats.jsonschema.compare.shape import COMBINED, EMPTY, LOST, NEVER, SchemaShape, get_shape
from treaty.formats.jsonschema.compare.view import UNRESOLVED, SchemaView
from treaty.formats.jsonschema.compare.walk.arrays import compare_arrays
from treaty.formats.jsonschema.compare.walk.combinations import compare_combinations
from treaty.formats.jsonschema.compare.walk.objects import compare_objects
from treaty.formats.jsonschema.compare.walk.scalars import (
    compare_annotations,
    compare_consts,
    compare_enums,
    compare_numbers,
    compare_strings,
)

_SIMPLE: Mapping[str, Callable[[DifferenceReport, SchemaShape, SchemaShape], None]] = {
    "string": compare_strings,
    "number": compare_numbers,
    "enum": compare_enums,
    "const": compare_consts,
}


def compare_views(writer: SchemaView, reader: SchemaView, policy: str) -> DifferenceReport:
    """Everything that differs, in a stable order; raises `StepsError` past the limits."""

    def begin(pair: Hashable) -> Task:
        assert isinstance(pair, tuple)
        return _pair(DifferenceReport(policy), *pair)

    return FixpointSolver(begin, DifferenceReport(policy), DifferenceReport(policy)).answer(
        (get_shape(writer), get_shape(reader))
    )


def _pair(report: DifferenceReport, writer: SchemaShape, reader: SchemaShape) -> Task:
    if writer is reader:
        return report
    if (writer.kind == COMBINED) != (reader.kind == COMBINED):
        choice = yield from _compare_choice(report, writer, reader)
        if choice.harms or choice.notes:
            return choice
        if choice is not report:
            return report
    if writer.kind != reader.kind:
        if not (writer.kind == NEVER or reader.kind == EMPTY or _both_bytes(writer, reader)):
            report.add(TYPE_CHANGED, writer=(_word(writer),), reader=(_word(reader),))
        return report
    if not (writer.inner or reader.inner):
        compare_annotations(report, writer, reader)
    if writer.kind in _SIMPLE:
        _SIMPLE[writer.kind](report, writer, reader)
    elif writer.kind == "object":
        return (yield from compare_objects(report, writer, reader))
    elif writer.kind == "array":
        return (yield from compare_arrays(report, writer, reader))
    elif writer.kind == COMBINED:
        return (yield from compare_combinations(report, writer, reader))
    elif writer.kind == "not":
        return (yield from _compare_excluded(report, writer.view, reader.view))
    elif writer.kind == LOST and writer.view.words != reader.view.words:
        sides = ((one.view.words[UNRESOLVED],) for one in (writer, reader))
        report.add(REFERENCE_UNRESOLVED, writer=next(sides), reader=next(sides))
    return report


def _compare_choice(report: DifferenceReport, writer: SchemaShape, reader: SchemaShape) -> Task:
    """A combination against something else: by its only branch, or by the first one that fits.

    Returns `report` untouched where none fits, and something else where one fits without any difference.
    """
    side = reader if reader.kind == COMBINED else writer
    branches = side.branches
    if len(branches) == 1:
        pair = (writer, branches[0]) if side is reader else (branches[0], reader)
        return (yield PairQuestion(pair))
    if (side is reader and reader.criterion == "allOf") or (side is writer and writer.criterion != "allOf"):
        return report
    rule = SUM_TYPE_EXTENDED if side is reader else PRODUCT_TYPE_NARROWED
    other = writer if side is reader else reader
    akin: list[DifferenceReport] = []
    for branch in branches:
        pair = (writer, branch) if side is reader else (branch, reader)
        answer = yield PairQuestion(pair)
        if not answer.harms:
            report.add_nested(answer)
            report.add(rule, writer=(_word(writer),), reader=(_word(reader),))
            return report
        if branch.kind == other.kind:
            akin.append(answer)
    if len(akin) == 1 and not _both_bytes(writer, reader):
        # That the type changed says little to a person who only made it nullable and changed something inside.
        report.add(TYPE_CHANGED, writer=(_word(writer),), reader=(_word(reader),))
        report.add_nested(akin[0])
    return report


def _compare_excluded(report: DifferenceReport, old: SchemaView, new: SchemaView) -> Task:
    """What is excluded, compared the other way round: excluding less allows more."""
    was, now = old.get_part("not"), new.get_part("not")
    assert was is not None
    assert now is not None
    answer = yield PairQuestion((get_shape(now), get_shape(was)))
    values = (was.node.value,), (now.node.value,)
    if answer.harms:
        report.add(NOT_TYPE_EXTENDED, "not", writer=values[0], reader=values[1])
    elif answer.notes:
        report.add(NOT_TYPE_NARROWED, "not", writer=values[0], reader=values[1])
    return report


def _both_bytes(writer: SchemaShape, reader: SchemaShape) -> bool:
    """Whether Kafka Connect wrote both for bytes, which it may describe by several types."""
    return writer.view.get_annotation("connect.type") == "bytes" == reader.view.get_annotation("connect.type")


def _word(shape: SchemaShape) -> str:
    if shape.kind == COMBINED:
        return " and ".join(dict.fromkeys(map(_word, shape.branches[:4]))) if shape.made else shape.criterion
    return shape.type or shape.kind

"""Differences of two combinations: which schema of the one is the partner of which of the other."""

from collections.abc import Generator, Hashable, Sequence

from treaty.core.limits import COMBINATION_BRANCHES
from treaty.formats.budget import StepsError
from treaty.formats.jsonschema.compare.differences import DifferenceReport
from treaty.formats.jsonschema.compare.discriminator import BranchTable, list_constants
from treaty.formats.jsonschema.compare.fixpoint import PairQuestion, Task
from treaty.formats.jsonschema.compare.rules import combination as rules
from treaty.formats.jsonschema.compare.shape import SchemaShape
from treaty.formats.jsonschema.compare.walk.bipartite import match_bipartite

_SMALL = 32
"""Up to here every schema is compared with every other one; beyond, those that are written alike are partners first."""


def compare_combinations(report: DifferenceReport, writer: SchemaShape, reader: SchemaShape) -> Task:
    """All differences of two combinations."""
    if writer.criterion != reader.criterion:
        words = (writer.criterion,), (reader.criterion,)
        if not _extends(writer, reader):
            report.add(rules.COMBINED_TYPE_CHANGED, writer=words[0], reader=words[1])
            return report
        report.add(rules.COMBINED_TYPE_EXTENDED, writer=words[0], reader=words[1])
    old, new = _list_distinct(writer.branches), _list_distinct(reader.branches)
    counts = (len(old),), (len(new),)
    step = () if reader.made else (reader.criterion,)
    if len(new) > len(old):
        rule = rules.PRODUCT_TYPE_EXTENDED if reader.criterion == "allOf" else rules.SUM_TYPE_EXTENDED
        report.add(rule, *step, writer=counts[0], reader=counts[1])
    elif len(new) < len(old):
        rule = rules.PRODUCT_TYPE_NARROWED if writer.criterion == "allOf" else rules.SUM_TYPE_NARROWED
        report.add(rule, *step, writer=counts[0], reader=counts[1])
    yield from _partners(report, old, new, step)
    if reader.made and writer.made:
        yield from _families(report, old, new)
    return report


def _extends(writer: SchemaShape, reader: SchemaShape) -> bool:
    """Whether another way to combine allows more."""
    single = len(writer.branches) == 1, len(reader.branches) == 1
    return (
        reader.criterion == "anyOf"
        or (single[0] and single[1])
        or (single[0] and reader.criterion == "oneOf")
        or (writer.criterion == "allOf" and single[1])
    )


def _list_distinct(branches: Sequence[SchemaShape]) -> list[SchemaShape]:
    """The branches without those that are written like an earlier one."""
    by_form: dict[Hashable, SchemaShape] = {}
    for branch in branches:
        node = branch.view.node
        key = (branch.view.written_form, node.text_number, node.base, branch.kind, branch.type, branch.criterion)
        by_form.setdefault(key, branch)
    return list(by_form.values())


def _partners(
    report: DifferenceReport, old: list[SchemaShape], new: list[SchemaShape], step: tuple[str, ...]
) -> Generator[PairQuestion, DifferenceReport, None]:
    """Give as many schemas as possible a partner of their own, and report what differs between partners."""
    partner_of: dict[int, int] = {}
    if len(old) * len(new) > _SMALL * _SMALL:
        partner_of = yield from _match_equal(old, new)
    free = [at for at in range(len(new)) if at not in set(partner_of.values())]
    left = [at for at in range(len(old)) if at not in partner_of]
    near = _list_near(old, new, left, free)
    pairs = sum(map(len, near))
    if min(len(free), len(left)) > COMBINATION_BRANCHES and pairs > COMBINATION_BRANCHES * COMBINATION_BRANCHES:
        limit = f"{COMBINATION_BRANCHES} changed schemas in a combination, the limit COMBINATION_BRANCHES"
        raise StepsError("COMBINATION_BRANCHES", limit)
    answers: dict[tuple[int, int], DifferenceReport] = {}
    edges: list[list[int]] = []
    for at, candidates in zip(left, near, strict=True):
        options = []
        for to in candidates:
            other = free[to]
            answer = yield PairQuestion((old[at], new[other]))
            if not answer.harms:
                answers[at, other] = answer
                options.append(to)
        edges.append(options)
    partner = match_bipartite(edges, len(free))
    for at, found_at in zip(left, partner, strict=True):
        if found_at is not None:
            partner_of[at] = free[found_at]
    for at, other in sorted(partner_of.items()):
        if (at, other) in answers:
            report.add_nested(answers[at, other], *step, *((at,) if step else ()))
    if len(partner_of) < min(len(old), len(new)):
        sides = f"{len(old)} schemas", f"partners for {len(partner_of)} of them"
        report.add(rules.COMBINED_TYPE_SUBSCHEMAS_CHANGED, *step, writer=(sides[0],), reader=(sides[1],))


def _list_near(old: list[SchemaShape], new: list[SchemaShape], left: list[int], free: list[int]) -> list[Sequence[int]]:
    """For each of the left old schemas, which of the free new ones may be its partner, by their places in `free`.

    Objects that allow other constants for a property of one name never fit each other.
    """
    if len(free) * len(left) <= _SMALL * _SMALL:
        return [range(len(free))] * len(left)
    branches = [new[at] for at in free]
    table = BranchTable([one.view for one in branches], usable=[one.kind == "object" for one in branches])
    near: list[Sequence[int]] = []
    for at in left:
        constants = list_constants(old[at].view) if old[at].kind == "object" else {}
        candidates = table.find_near(constants, constants)
        near.append(range(len(free)) if candidates is None else candidates)
    return near


def _match_equal(
    old: list[SchemaShape], new: list[SchemaShape]
) -> Generator[PairQuestion, DifferenceReport, dict[int, int]]:
    """Partners that are written alike and do fit."""
    places = {(branch.view.written_form, branch.kind, branch.criterion): at for at, branch in enumerate(new)}
    partner_of: dict[int, int] = {}
    for at, branch in enumerate(old):
        other = places.get((branch.view.written_form, branch.kind, branch.criterion))
        if other is not None:
            answer = yield PairQuestion((branch, new[other]))
            if not answer.harms:
                partner_of[at] = other
    return partner_of


def _families(
    report: DifferenceReport, old: list[SchemaShape], new: list[SchemaShape]
) -> Generator[PairQuestion, DifferenceReport, None]:
    """Report what differs inside families of keywords too: that a made combination changed says little to a person."""
    kinds = {branch.kind: branch for branch in new}
    if len(kinds) < len(new) or len({branch.kind for branch in old}) < len(old):
        return
    for branch in old:
        partner = kinds.get(branch.kind)
        if partner is not None:
            answer = yield PairQuestion((branch, partner))
            if answer.harms:
                report.add_nested(answer)

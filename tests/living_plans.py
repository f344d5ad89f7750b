"""Plans while their registry changes, and the law that what a plan reads is read alike by the plans that follow it."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from tests.plan_worlds import NOBODY, SHAPES, PlanWorld, RowAnswer, read_rows, shows
from treaty.core.refusals import NotFound
from treaty.plan.decode_plans import extend, make_plan
from treaty.plan.errors import PlanError
from treaty.plan.strictness import find_case_twins
from treaty.plan.value import DecodePlan

READERS = ("union", "latest", "number", "text", "no subject")
STEPS = ("register", "register", "other", "soft", "purge", "import", "make", "extend", "extend", "twice")


@dataclass(slots=True)
class LivingPlan:
    """A plan while its registry changes: how it was asked for, and what it says of a frame of each id."""

    reader: str
    plan: DecodePlan
    answers: Mapping[int, RowAnswer]


Step = tuple[str, int, int]
BEGINNING: tuple[Step, ...] = (("register", 0, 0), ("register", 1, 0), ("make", 0, 1))
"""Two versions, and a plan of both as a union."""


def begin(world: PlanWorld, first: int, second: int) -> LivingPlan | None:
    """A plan with some reader, further ids, and a case that counts or not."""
    versions = world.versions(world.subject)
    reader = READERS[first % len(READERS)]
    ids = (NOBODY, *list(world.sent)[: second % 4])
    wanted: dict[str, Any] = {"union": "union", "latest": "latest", "number": min(versions, default=1)}
    try:
        plan = make_plan(
            world.registry,
            None if reader == "no subject" else str(world.subject),
            reader=wanted.get(reader, SHAPES[world.format][2].text),
            ids=ids,
            schema_type=world.format if reader == "no subject" else "",
            case_sensitive=second % 3 > 0,
        )
    except (PlanError, NotFound):
        return None
    check_known(world, reader, plan, frozenset(ids))
    return LivingPlan(reader, plan, read_rows(plan, world.sent))


def check_known(world: PlanWorld, reader: str, plan: DecodePlan, ids: frozenset[int]) -> None:
    """Hold what a plan knows against the registry: all versions, and of other ids those that there are."""
    mine = set() if reader == "no subject" else set(world.versions(world.subject).values())
    assert plan.known == mine | {one for one in ids if world.has(one)}
    assert not {one.schema_id for one in plan.rejected if one.code == "WRONG_SUBJECT"} & mine
    assert plan.case_sensitive or not find_case_twins(plan.engine_type)
    assert DecodePlan.from_json(plan.to_json()) == plan


def check_extended(world: PlanWorld, living: LivingPlan, ids: frozenset[int]) -> None:
    """Hold a longer plan against the one before, a fresh one, and the one that comes by other steps."""
    before, reader = living.plan, living.reader
    mine = set() if reader == "no subject" else set(world.versions(world.subject).values())
    there = {
        one.schema_id for one in before.writers if one.schema_id in mine or (not mine and world.has(one.schema_id))
    }
    try:
        longer = extend(before, world.registry, ids)
    except (PlanError, NotFound):
        assert not there or reader == "latest", "what can be read is still there"
        return
    if not any(world.has(one) for one in ids - before.known):
        assert longer is before
        return
    check_known(world, reader, longer, before.known | ids)
    assert extend(DecodePlan.from_json(before.to_json()), world.registry, ids) == longer
    for some in (sorted(ids), sorted(ids, reverse=True)) if there else ():  # else a step may have nothing to read
        by_steps = before
        for one in some:
            by_steps = extend(by_steps, world.registry, [one])
        assert without_words(by_steps) == without_words(longer), "the order of extending matters"
    answers = read_rows(longer, world.sent)
    if reader != "latest":
        for schema_id in there:
            own = world.sent[schema_id].fields if reader == "union" else None
            check_answer(schema_id, living.answers[schema_id], answers[schema_id], own)
    for bad in before.rejected:
        if bad.code == "WRONG_SUBJECT" and world.has(bad.schema_id) and bad.schema_id not in mine:
            assert answers[bad.schema_id].code == "WRONG_SUBJECT"
    living.plan, living.answers = longer, answers


def without_words(plan: DecodePlan) -> DecodePlan:
    """The plan without the sentences of rejected ids, which say what the plan was by then, and in a fixed order."""
    return replace(plan, rejected=tuple(sorted((replace(one, message="") for one in plan.rejected), key=str)))


def check_answer(schema_id: int, old: RowAnswer, new: RowAnswer, own: AbstractSet[str] | None) -> None:
    """A row stays what it was; of a union (`own` are the fields of its writer) it may get further columns and newer defaults."""
    if old.columns is None or own is None:
        assert old == new, schema_id
        return
    assert new.columns is not None, (schema_id, old, new)
    kept = {name: value for name, value in old.columns.items() if not own or name in own}
    assert shows(kept, new.columns), (schema_id, old, new)


def live(world: PlanWorld, steps: Iterable[Step]) -> list[LivingPlan]:
    """Take the steps, and hold every plan that is extended against the law; the plans as they are in the end."""
    plans: list[LivingPlan] = []
    for kind, first, second in (*BEGINNING, *steps, ("extend", 0, 0), ("extend", 1, 1)):
        place = world.other if second % 4 == 3 else world.subject
        numbers = [*world.versions(place)] or [1]
        match kind:
            case "register" | "other":
                world.register(world.subject if kind == "register" else world.other, first)
            case "soft" | "purge":
                world.delete(place, numbers[second % len(numbers)], permanent=kind == "purge")
            case "import":
                world.register(world.subject, first, number=1 + second, schema_id=100 - 7 * second)
            case "make":
                made = begin(world, first, second)
                plans += [made] if made else []
            case _:
                some = list(world.sent)
                ids = frozenset((NOBODY, *(some if first % 2 else some[-1 - second % 3 :])))
                for one in plans:
                    one.answers = read_rows(one.plan, world.sent)
                    check_extended(world, one, ids)
    return plans

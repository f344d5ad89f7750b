"""Which schema is the reader of a plan: a version, a text, or the union of all, which continues that of the plan before."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from treaty.core.names import Subject
from treaty.core.refusals import NotFound
from treaty.core.registry import Registry
from treaty.core.state.columns import ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.formats.format import InvalidSchemaError
from treaty.plan import registry_queries
from treaty.plan.ddl import parse_type, type_ddl
from treaty.plan.errors import PlanError, reject_schema
from treaty.plan.options import DecodeOptions
from treaty.plan.planners import FormatPlanner
from treaty.plan.registered_schema import RegisteredSchema
from treaty.plan.strictness import is_word, reader_error
from treaty.plan.value import DecodePlan, RejectedSchema

_WIDER = frozenset((("int32", "int64"), ("float32", "float64"), ("int32", "float64"), ("int64", "float64")))
"""Types of numbers, and those that hold the same ones. A `long` becomes a `double` only where the format or the caller allows it."""


@dataclass(frozen=True, slots=True)
class ReaderChoice:
    """What a reader is chosen by: its name, the subject, the format and options, and the plan that is followed."""

    registry: Registry
    place: Subject | None
    reader: str | int
    planner: FormatPlanner
    options: DecodeOptions
    before: DecodePlan | None = None


def choose_reader(chosen: ReaderChoice, versions: Sequence[RegisteredSchema]) -> tuple[object, list[RejectedSchema]]:
    """Return the reader schema, and the versions left out of a union. `versions` are the schemas of the format."""
    reader, planner, place, before = chosen.reader, chosen.planner, chosen.place, chosen.before
    if isinstance(reader, str) and reader not in {"latest", "union"}:
        return _parse_reader(planner.format, reader), []
    if place is None:
        raise PlanError("without a subject there is no 'latest' and no 'union': give the reader's schema as text")
    if isinstance(reader, int):
        return _find_version(chosen, place, reader), []
    live = [one for one in versions if one.live or reader == "union"]
    if not live:
        if before is not None and before.reader:
            return _parse_reader(planner.format, before.reader), []
        raise PlanError(f"{place} has no {planner.format} version that could be the reader")
    return (live[-1].schema, []) if reader == "latest" else _unite(chosen, live)


def _find_version(chosen: ReaderChoice, place: Subject, number: int) -> object:
    """The schema of a version by number; that of the plan before where the version was deleted since, or is another schema by now."""
    before, planner = chosen.before, chosen.planner
    try:
        version = registry_queries.find_version(chosen.registry, place, number, deleted=before is not None)
    except NotFound:
        if before is None:
            raise
        return _parse_reader(planner.format, before.reader)
    if before is not None and (version.format != planner.format or planner.show(version.schema) != before.reader):
        return _parse_reader(planner.format, before.reader)
    if version.format != planner.format:
        raise PlanError(f"version {number} of {place} is {version.format}, and the rows to read are {planner.format}")
    return version.schema


def _parse_reader(format_: str, text: str) -> object:
    """The reader whose text was given; a single word that is no schema was meant as a name."""
    try:
        return registry_queries.parse_text(format_, text)
    except InvalidSchemaError as error:
        if is_word(text):
            raise reader_error(text) from error
        raise


def _unite(chosen: ReaderChoice, versions: Sequence[RegisteredSchema]) -> tuple[object, list[RejectedSchema]]:
    """The union of these versions. After a plan it keeps the columns, and a newer version that would change what the plan reads has no part."""
    planner, options, before = chosen.planner, chosen.options, chosen.before
    if before is None or before.format != planner.format or before.reader_name != "union":
        return planner.union(versions, options)
    writer_ids = {one.schema_id for one in before.writers}
    olds = [one for one in versions if one.schema_id in writer_ids]
    news = [one for one in versions if one.schema_id not in writer_ids]
    start = planner.base(before, olds, options)
    if not start and not olds:
        return planner.union(versions, options)
    order = versions if planner.is_newest_first else [*olds, *news]

    def unite(schema_ids: AbstractSet[int]) -> tuple[object, list[RejectedSchema], str]:
        some = [one for one in order if one.schema_id in schema_ids]
        reader, losers = planner.union([*start, *some], options)
        lost = {one.schema_id for one in losers}
        readable = [one for one in some if one.schema_id not in lost]
        return reader, losers, _find_change(before, olds, lambda: planner.compose(readable, reader, options))

    reader, losers, why = unite({one.schema_id for one in versions})
    if not why:
        return reader, losers
    kept_ids, left_out = {*writer_ids}, list[RejectedSchema]()
    for version in news:
        why = unite({*kept_ids, version.schema_id})[2]
        if why:
            left_out.append(reject_schema(version, why))
        else:
            kept_ids.add(version.schema_id)
    reader, losers, _ = unite(kept_ids)
    return reader, [*losers, *left_out]


def _find_change(before: DecodePlan, olds: Sequence[RegisteredSchema], compose: Callable[[], DecodePlan]) -> str:
    """What a plan would read in another way than the one before it, as a sentence; "" where that is nothing."""
    try:
        plan = compose()
    except PlanError as error:
        return str(error)
    lost = {one.schema_id for one in olds} - {one.schema_id for one in plan.writers}
    if lost:
        return f"rows of id {min(lost)}, which are read by now, could not be read beside it"
    return _find_other_type(parse_type(before.type), parse_type(plan.type), "")


def _find_other_type(old: ColumnType, new: ColumnType, path: str) -> str:
    """Where a column of the old type would be of one that does not show its values alike, as a sentence."""
    match old, new:
        case Struct(), Struct():
            now = {one.name: one.type for one in new.columns}
            pairs = ((one.type, now[one.name], f"{path}/{one.name}") for one in old.columns if one.name in now)
            return next((found for pair in pairs if (found := _find_other_type(*pair))), "")
        case List(), List():
            return _find_other_type(old.element, new.element, f"{path}/[]")
        case Map(), Map():
            return _find_other_type(old.key, new.key, path) or _find_other_type(old.value, new.value, f"{path}/{{}}")
        case Decimal(), Decimal():
            is_same = new.scale >= old.scale and new.precision - new.scale >= old.precision - old.scale
        case Scalar(), Scalar():
            is_same = old.name in {new.name, "null"} or (old.name, new.name) in _WIDER
        case _:
            is_same = old == Scalar("null")
    return "" if is_same else f"{path or 'the value'} is {_name_type(old)} by now, and would be {_name_type(new)}"


def _name_type(kind: ColumnType) -> str:
    return type_ddl(kind).partition("<")[0]

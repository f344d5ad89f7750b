"""Rows that development builds may have read wrongly: types of unions in the column of another, and wrong defaults."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from treaty.formats.avro.model import AbsentDefault, AvroArray, AvroMap, AvroRecord, AvroSchema, AvroType, AvroUnion
from treaty.formats.avro.resolution import AvroSide, pair_fields
from treaty.plan.avro.defaults import UncarriedError, choose_branch, drop_wrong_defaults
from treaty.plan.avro.flat import parse_avro
from treaty.plan.avro.java_defaults import find_java_choice, is_made_alike
from treaty.plan.avro.merge import MergeError, merge, merge_by_structure
from treaty.plan.avro.union_pairs import list_read_unions
from treaty.plan.ddl import quote_name
from treaty.plan.format_plans import AvroFormatPlan
from treaty.plan.value import DecodePlan

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SuspectRows:
    """Rows of some schema ids that may be wrong in a table, or stand among the bad ones: why, and a condition in SQL.

    `bad` says that the condition is on the table of bad rows, where a replay makes them good.
    """

    ids: tuple[int, ...]
    sentence: str
    condition: str
    bad: bool = False

    def print_query(self, table: str, id_column: str = "") -> str:
        """A query in SQL that counts the rows of a table; without a column for the schema id it counts those of other
        ids with such a value too.
        """
        ids = f"{quote_name(id_column)} IN ({', '.join(map(str, self.ids))}) AND " if id_column else ""
        return f"SELECT count(*) FROM {table} WHERE {ids}{self.condition}"  # noqa: S608 - it is printed for people


def find_suspect_rows(plan: DecodePlan) -> tuple[SuspectRows, ...]:
    """The rows that development builds read in another way than this one, by the versions of a plan of the reader ``union``.

    None where the versions leave no doubt.
    """
    if (
        plan.format != "AVRO"
        or plan.reader_name != "union"
        or plan.types
        or not isinstance(plan.recipe, AvroFormatPlan)
    ):
        return ()
    writers = sorted(plan.writers, key=lambda one: one.version)
    versions = [parse_avro(one.text) for one in writers]
    ids = [one.schema_id for one in writers]
    try:
        before, after = merge_by_structure(versions, plan.recipe.lossy), merge(versions, plan.recipe.lossy)
    except MergeError:
        return ()
    return (*_find_moved(ids, versions, before, after), *_find_defaults(ids, versions, before))


def _find_moved(
    ids: Sequence[int], versions: Sequence[AvroSchema], before: AvroSchema, after: AvroSchema
) -> Iterator[SuspectRows]:
    """Types of unions that had another member."""
    for schema_id, version in zip(ids, versions, strict=True):
        now = list_read_unions(version, after)
        for key, had in list_read_unions(version, before).items():
            has = now.get(key)
            for name, old, new in zip(had.branches, had.members, has.members if has else (), strict=has is not None):
                if old is not None and new is not None and old != new:
                    place = "/".join(had.path) or "the value"
                    sentence = (
                        f"id {schema_id}: values of {name} at {place} may stand in member{old} instead of member{new}"
                    )
                    yield SuspectRows(
                        (schema_id,), sentence, print_condition((*had.path, f"member{old}"), "{} IS NOT NULL")
                    )


def _find_defaults(ids: Sequence[int], versions: Sequence[AvroSchema], before: AvroSchema) -> Iterator[SuspectRows]:
    """Defaults that Avro's reader for Java made of another type, or failed at."""
    before = drop_wrong_defaults(before)[0]
    lacking = _Lacking(before, list(zip(ids, versions, strict=True)))
    for path, record in _list_records(before, before.root, (), frozenset()):
        for field in record.fields:
            side = AvroSide(before, field.type)
            if isinstance(field.default, AbsentDefault) or is_made_alike(field.default, side):
                continue
            some = lacking.find(record.full, field.name)
            if not some:
                continue
            empty = find_empty(field.default, side)
            place = "/".join((*path, field.name))
            if empty is None:
                sentence = f"every row may have become bad, because ids {_join(some)} lack {place}, whose default is of another type"
                yield SuspectRows(tuple(ids), sentence, "code = 'MALFORMED'", bad=True)
            else:
                sentence = f"ids {_join(some)}: {'/'.join((*path, field.name, *empty))} may be empty instead of null"
                yield SuspectRows(some, sentence, print_condition((*path, field.name, *empty), "size({}) = 0"))


def _join(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids))


def find_empty(default: Any, side: AvroSide) -> Path | None:
    """The path inside a default to a null of which Avro's reader for Java made an empty list or map; empty where the default is that null.

    None where Java's reader could not read the default at all, so that rows of versions without the field became bad rows.
    """
    node = side.resolved
    try:
        if isinstance(node, AvroUnion):
            own_branch = choose_branch(side, default)
            java_branch = find_java_choice(side, node, default)
            if java_branch == own_branch:
                return find_empty(default, side.at(own_branch))
            return () if default is None and isinstance(java_branch, AvroArray | AvroMap) else None
    except UncarriedError:
        return None
    if isinstance(node, AvroRecord) and isinstance(default, dict):
        members = [(field.name, default.get(field.name, field.default), side.at(field.type)) for field in node.fields]
        differing = [member for member in members if not is_made_alike(*member[1:])]
        if len(differing) == 1:
            name, member_default, member_side = differing[0]
            inner_path = find_empty(member_default, member_side)
            return None if inner_path is None else (name, *inner_path)
    return None


@dataclass(frozen=True, slots=True)
class _Lacking:
    """Which versions lack a field of a record of the reader."""

    reader: AvroSchema
    versions: Sequence[tuple[int, AvroSchema]]

    def find(self, full: str, name: str) -> tuple[int, ...]:
        """The ids of the versions whose record of this kind has no such field."""
        return tuple(schema_id for schema_id, version in self.versions if self._lacks(version, full, name))

    def _lacks(self, version: AvroSchema, full: str, name: str) -> bool:
        target = self.reader.names[full]
        assert isinstance(target, AvroRecord)
        names = {full, *target.aliases}
        records = [one for one in version.names.values() if isinstance(one, AvroRecord) and one.full in names]
        return any(name not in {each.name for each in pair_fields(one, target).values()} for one in records)


def _list_records(
    schema: AvroSchema, node: AvroType, path: Path, around: frozenset[str]
) -> Iterator[tuple[Path, AvroRecord]]:
    """Every record of a schema once on each way, with its path; a recursive one where it is met first."""
    resolved = schema.resolve(node)
    match resolved:
        case AvroRecord() if resolved.full not in around:
            yield path, resolved
            for field in resolved.fields:
                yield from _list_records(schema, field.type, (*path, field.name), around | {resolved.full})
        case AvroArray():
            yield from _list_records(schema, resolved.items, (*path, "[]"), around)
        case AvroMap():
            yield from _list_records(schema, resolved.values, (*path, "{}"), around)
        case AvroUnion():
            parts = [one for one in resolved.branches if schema.resolve(one).kind != "null"]
            for place, part in enumerate(parts):
                step = () if len(parts) == 1 else (f"member{place}",)
                yield from _list_records(schema, part, (*path, *step), around)


def print_condition(path: Path, test: str) -> str:
    """A condition in SQL on what lies at a path of a row: ``{}`` in the test is the value there."""
    columns = list(path)
    return _print_test("value" if columns and columns[0].startswith("member") else "", columns, test, 0)


def _print_test(base: str, steps: Sequence[str], test: str, depth: int) -> str:
    for position, step in enumerate(steps):
        if step in {"[]", "{}"}:
            name = f"x{depth}"
            items = base if step == "[]" else f"map_values({base})"
            return f"exists({items}, {name} -> {_print_test(name, steps[position + 1 :], test, depth + 1)})"
        base = f"{base}.{quote_name(step)}" if base else quote_name(step)
    return test.replace("{}", base)

"""Columns and a schema, side by side: what becomes of each column, or why the frame can't be encoded at all."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from treaty.core.state.columns import Column, ColumnType, Decimal, List, Map, Scalar, Struct
from treaty.plan.ddl import quote_name, type_ddl
from treaty.plan.encoding.casts import cast
from treaty.plan.encoding.fit import LOSSY, ColumnConversion, ConversionPart, LossCheck
from treaty.plan.encoding.target import (
    FieldTarget,
    FindTarget,
    Handle,
    LeafTarget,
    ListTarget,
    MapTarget,
    RecordTarget,
    UnionTarget,
    pair_names,
)
from treaty.plan.errors import PlanError

NANOS = {"nanos": Scalar("timestamp"), "wall_nanos": Scalar("timestamp_ntz")}
"""What is counted in nanoseconds; the other one is another time in each time zone, so it has to be cast first."""
NAMED_FIELDS = 3
"""The most problems in one refusal."""


def pair_columns(
    columns: Sequence[Column], find_target: FindTarget, root: Handle, lossy: Sequence[str] = ()
) -> ColumnConversion:
    """How rows of these columns become values of a schema. Raises `PlanError` with what does not go together.

    A schema that is no record takes the one column that there is. Values at the paths in `lossy` may lose something.
    """
    walk = _ColumnPairing(find_target, lossy=frozenset(lossy))
    if isinstance(find_target(root), RecordTarget):
        conversion = walk.place(Struct(tuple(columns)), root, "", nullable=False)
    elif len(columns) == 1:
        conversion = walk.place(columns[0].type, root, "", nullable=False)  # a null is a delete marker
    else:
        raise PlanError(f"the schema is no record, so it takes one column, and {len(columns)} are there: name it")
    if conversion is None or walk.problems:
        more = f" (and {len(walk.problems) - NAMED_FIELDS} more)" if len(walk.problems) > NAMED_FIELDS else ""
        raise PlanError("; ".join(walk.problems[:NAMED_FIELDS]) + more)
    if idle := sorted(walk.lossy - walk.used):
        raise PlanError(f"lossy names {', '.join(idle)}, where nothing is there to be lost: leave it out")
    return conversion


@dataclass(slots=True)
class _ColumnPairing:
    find_target: FindTarget
    problems: list[str] = field(default_factory=list)
    lossy: frozenset[str] = frozenset()
    used: set[str] = field(default_factory=set)

    def place(self, have: ColumnType, handle: Handle, path: str, *, nullable: bool) -> ColumnConversion | None:
        """A column that may be null (`nullable`) and must not be as one place of the schema; None after a problem."""
        target = self.find_target(handle)
        if isinstance(target, UnionTarget):
            conversion = self._pair_choice(have, target, path)
            return replace(conversion, required=nullable) if conversion else None
        match target, have:
            case LeafTarget(), _:
                conversion = self._pair_leaf(have, target, path)
            case RecordTarget(), Struct():
                conversion = self._pair_fields(have, target, path)
            case ListTarget(), List():
                conversion = self._pair_items(have, target, path)
            case MapTarget(), Map():
                conversion = self._pair_entries(have, target, path)
            case _, Scalar("null"):
                conversion = ColumnConversion(path, "constant", "VOID", constant="null")
            case _:
                conversion = None
                word = {RecordTarget: "record", ListTarget: "list", MapTarget: "map"}[type(target)]
                self.problems.append(f"{path or 'the value'} is {type_ddl(have)}, which cannot be a {word}")
        return replace(conversion, required=nullable) if conversion else None

    def _pair_leaf(self, have: ColumnType, leaf: LeafTarget, path: str) -> ColumnConversion | None:
        """How a column becomes a value without parts: as it is, by a cast, or by what carries a logical type."""
        word = have.name if isinstance(have, Scalar) else "decimal" if isinstance(have, Decimal) else ""
        is_taken = word in leaf.takes
        way = ("keep", ()) if is_taken else cast(have, leaf.type)
        if leaf.carrier in NANOS and have in NANOS.values():
            way = (leaf.carrier, (LossCheck("fits"),)) if have == NANOS[leaf.carrier] else None
        if leaf.carrier == "base64" and have == Scalar("binary"):
            way = ("base64", ())
        if way is None:
            self.problems.append(f"{path or 'the value'} is {type_ddl(have)}, which cannot be {type_ddl(leaf.type)}")
            return None
        kind = type_ddl(have if is_taken else leaf.type)
        checks = self._checks((*way[1], *leaf.checks), way[0], path)
        conversion = ColumnConversion(path, way[0], kind, type_ddl(have), same=way[0] == "keep", checks=checks)
        if not leaf.carried:
            return conversion
        return ColumnConversion(
            path,
            leaf.carrier,
            leaf.carried,
            kind,
            parts=(ConversionPart("", "", conversion),),
            checks=_conversion_checks(leaf),
        )

    def _checks(self, checks: tuple[LossCheck, ...], way: str, path: str) -> tuple[LossCheck, ...]:
        """The checks of a place without those that were asked not to count."""
        checks = tuple(one for one in checks if one.name != "wide" or way != "cast")  # booleans and whole numbers
        if path not in self.lossy or LOSSY.isdisjoint(one.name for one in checks):
            return checks
        self.used.add(path)
        return tuple(one for one in checks if one.name not in LOSSY)

    def _pair_fields(self, have: Struct, target: RecordTarget, path: str) -> ColumnConversion:
        by_name = {one.name: one for one in have.columns}
        sources = pair_names(by_name, [(member.name, member.aliases) for member in target.members])
        for strange in sorted(by_name.keys() - {*sources.values()}):
            self.problems.append(f"the schema has no field for {path}/{strange}: drop it first")
        columns = {name: by_name[source] for name, source in sources.items()}
        paired = (self._pair_member(columns.get(member.name), member, path) for member in target.members)
        parts = [part for part in paired if part is not None]
        kinds = ", ".join(f"{quote_name(part.name)}: {part.fit.type}" for part in parts)
        same = [part.source for part in parts] == [one.name for one in have.columns] and all(
            part.fit.same and part.name == part.source for part in parts
        )
        oneofs = tuple(
            LossCheck("oneof", group) for oneof in target.oneofs if len(group := _list_paired(oneof, parts)) > 1
        )
        return ColumnConversion(
            path, "record", f"STRUCT<{kinds}>", type_ddl(have), same=same, parts=tuple(parts), checks=oneofs
        )

    def _pair_member(self, column: Column | None, member: FieldTarget, path: str) -> ConversionPart | None:
        member_path = f"{path}/{member.name}"
        if column is not None:
            free = column.nullable and not member.nullable
            conversion = self.place(column.type, member.handle, member_path, nullable=free)
            if conversion is not None and member.present:
                conversion = ColumnConversion(
                    member_path, "present", "VARIANT", conversion.type, parts=(ConversionPart("", "", conversion),)
                )
            return ConversionPart(member.name, column.name, conversion) if conversion else None
        if member.default is not None:
            return ConversionPart(member.name, "", replace(member.default, path=member_path))
        if not member.nullable:
            self.problems.append(f"there is no column for {member_path}, and the field has neither a default nor null")
        return None

    def _pair_items(self, have: List, target: ListTarget, path: str) -> ColumnConversion | None:
        free = have.nullable and not target.nullable
        inside = self.place(have.element, target.item, f"{path}/[]", nullable=free)
        if inside is None:
            return None
        kind = f"ARRAY<{inside.type}>"
        return ColumnConversion(
            path, "items", kind, type_ddl(have), same=inside.same, parts=(ConversionPart("", "", inside),)
        )

    def _pair_entries(self, have: Map, target: MapTarget, path: str) -> ColumnConversion | None:
        key = self._pair_leaf(have.key, target.key, f"{path}/{{key}}")
        free = have.nullable and not target.nullable
        value = self.place(have.value, target.value, f"{path}/{{}}", nullable=free)
        if key is None or value is None:
            return None
        checks = () if key.same else (LossCheck("keys"),)
        kind = f"MAP<{key.type}, {value.type}>"
        parts = (ConversionPart("key", "", key), ConversionPart("value", "", value))
        return ColumnConversion(
            path, "entries", kind, type_ddl(have), same=key.same and value.same, checks=checks, parts=parts
        )

    def _pair_choice(self, have: ColumnType, target: UnionTarget, path: str) -> ColumnConversion | None:
        names = [f"member{at}" for at in range(len(target.branches))]
        if isinstance(have, Struct) and have.columns and {column.name for column in have.columns} <= set(names):
            members = tuple(
                FieldTarget(name, branch, nullable=True, default=_null(kind))
                for name, (branch, kind) in zip(names, target.branches, strict=True)
            )
            conversion = self._pair_fields(have, RecordTarget("", members), path)
            return replace(conversion, way="choose", checks=(LossCheck("one"),))
        problems_before = len(self.problems)
        fitting: list[tuple[int, ColumnConversion]] = []
        for at, (branch, _) in enumerate(target.branches):
            tried = self.place(have, branch, path, nullable=False)
            fitting += [(at, tried)] if tried is not None and len(self.problems) == problems_before else []
            del self.problems[problems_before:]
        if not fitting:
            self.problems.append(f"{path or 'the value'} is {type_ddl(have)}, which is no branch of the union")
            return None
        best_place, best = min(fitting, key=_rank_branch)
        parts = tuple(
            ConversionPart(name, "", best if at == best_place else _null(target.branches[at][1]))
            for at, name in enumerate(names)
        )
        kinds = ", ".join(f"`{part.name}`: {part.fit.type}" for part in parts)
        return ColumnConversion(path, "branch", f"STRUCT<{kinds}>", best.have, parts=parts, constant=names[best_place])


def _rank_branch(fitting: tuple[int, ColumnConversion]) -> tuple[bool, int, bool, int]:
    """How good a branch is for a value, the least first: a number goes to a number that holds it and not to a text, else the later one counts."""
    place, conversion = fitting
    is_spelled = conversion.type == "STRING" and conversion.have != "STRING"
    return not conversion.same, len(conversion.checks), is_spelled, -place


def _null(kind: str) -> ColumnConversion:
    return ColumnConversion("", "constant", kind, constant="null")


def _list_paired(group: tuple[str, ...], parts: Sequence[ConversionPart]) -> tuple[str, ...]:
    return tuple(name for name in group if any(part.name == name for part in parts))


def _conversion_checks(leaf: LeafTarget) -> tuple[LossCheck, ...]:
    return (LossCheck("json"),) if leaf.carrier == "embed" else ()


def pair_column(column: Column, find_target: FindTarget, handle: Handle) -> ColumnConversion:
    """How one column becomes one place of a schema. Raises `PlanError`."""
    walk = _ColumnPairing(find_target)
    conversion = walk.place(column.type, handle, f"/{column.name}", nullable=column.nullable)
    if conversion is None or walk.problems:
        raise PlanError("; ".join(walk.problems[:NAMED_FIELDS]))
    return conversion

"""Columns of tables that grow: what differs, what may be done about it, and the statements that do it. No Spark runs here."""

import random
from collections.abc import Sequence
from itertools import product

import pytest
from pyspark.sql.types import ArrayType, DataType, MapType, StringType, StructField, StructType

from tests.spark_columns import read_columns, read_type
from treaty.spark.lake.changes import ColumnChange, EvolutionError, list_changes, list_differences, merge_columns
from treaty.spark.lake.comments import add_comments
from treaty.spark.lake.ddl import needs_column_mapping, print_alter, print_create
from treaty.spark.lake.projection import drop_void_columns, strip_nullability
from treaty.spark.lake.table import FORMATS, LakeTable
from treaty.spark.lake.tables import EVOLUTIONS, plan_evolution

CHAINS = (("smallint", "int", "bigint"), ("float", "double"), ("decimal(5,2)", "decimal(9,2)"), ("string",))
"""Types from the smallest to the largest: what is further to the right holds what is further to the left."""
LONERS = ("boolean", "decimal(9,3)", "binary", "array<int>", "struct<a:int>", "map<string,int>")
ORDERS = LakeTable("/lake/orders")


# ---------------------------------------------------------------------------------------------------- two types of a leaf


def name_difference(table: str, rows: str) -> str:
    """What two types of a column are to each other, by `CHAINS`."""
    for chain in CHAINS:
        if table in chain and rows in chain:
            places = chain.index(table), chain.index(rows)
            return "" if places[0] == places[1] else "widen" if places[0] < places[1] else "narrow"
    return "" if rows in (table, "void") else "clash"


LEAVES = [one for chain in CHAINS for one in chain] + [*LONERS]
PLACES = {"": "{}", "element": "array<{}>", "key": "map<{},int>", "value": "map<string,{}>", "x": "struct<x:{}>"}


@pytest.mark.parametrize("step", PLACES)
def test_types_at_every_place_widen_narrow_or_clash(step: str) -> None:
    for table, rows in product(LEAVES, [*LEAVES, "void"]):
        have, wish = (read_columns(f"c {PLACES[step].format(kind)}") for kind in (table, rows))
        changes = list_differences(have, wish)
        kind = name_difference(table, rows)
        told = (kind, ("c", step) if step else ("c",), table, rows)
        assert [(one.kind, one.path, one.old, one.new) for one in changes] == ([told] if kind else []), (table, rows)
        if kind == "widen":
            assert [one.field.dataType for one in changes if one.field] == [read_type(rows)]


# ------------------------------------------------------------------------------------------ statements come to the columns


def draw_column(dice: random.Random, depth: int) -> tuple[DataType, DataType]:
    """A type of a table and one of its rows that have no clash."""
    deep = dice.randrange(6) if depth else 9
    if deep < 2:
        return draw_columns(dice, depth - 1)
    if deep == 2:
        table, rows = draw_column(dice, depth - 1)
        return ArrayType(table), ArrayType(rows)
    if deep == 3:
        keys, values = draw_column(dice, 0), draw_column(dice, depth - 1)
        return MapType(keys[0], values[0]), MapType(keys[1], values[1])
    chain = dice.choice(CHAINS)
    return read_type(dice.choice(chain)), read_type(dice.choice(chain))


def draw_columns(dice: random.Random, depth: int = 3) -> tuple[StructType, StructType]:
    """Columns of a table and of rows: some are in one of them alone, are spelled otherwise or have other comments."""
    table: list[StructField] = []
    rows: list[StructField] = []
    for name in dice.sample(["a", "b", "two words", "d", "`", "f.g"], dice.randrange(1, 4)):
        kinds = draw_column(dice, depth)
        said = [
            {"comment": one} if one else {} for one in (dice.choice(["", "x", "it's"]), dice.choice(["", "x", "y"]))
        ]
        where = dice.randrange(5)
        if where:
            table.append(StructField(name, kinds[0], True, {**said[0], **dice.choice([{}, {"of a format": 1}])}))
        if where != 1:
            rows.append(StructField(dice.choice([name, name.upper()]), kinds[1], True, said[1]))
    return StructType(table), StructType(rows)


def alter(kind: DataType, path: Sequence[str], change: ColumnChange) -> DataType:
    """A type after the statement for a change."""
    if not path:
        assert change.field is not None
        return change.field.dataType
    match kind:
        case ArrayType():
            assert path[0] == "element"
            return ArrayType(alter(kind.elementType, path[1:], change))
        case MapType():
            key = alter(kind.keyType, path[1:], change) if path[0] == "key" else kind.keyType
            value = alter(kind.valueType, path[1:], change) if path[0] == "value" else kind.valueType
            return MapType(key, value)
        case StructType():
            return alter_column(kind, path, change)
    raise AssertionError(f"{change} leads into {kind}")


def alter_column(kind: StructType, path: Sequence[str], change: ColumnChange) -> StructType:
    own, rest = path[0], path[1:]
    if not rest and change.kind == "add":
        assert change.field is not None
        assert own.lower() not in {one.lower() for one in kind.names}
        return StructType([*kind.fields, change.field])
    assert own in kind.names, "a change names a column as the table spells it"
    fields = []
    for one in kind.fields:
        if one.name != own:
            fields.append(one)
        elif change.kind == "comment" and not rest:
            fields.append(StructField(own, one.dataType, True, {**one.metadata, "comment": change.new}))
        else:
            fields.append(StructField(own, alter(one.dataType, rest, change), True, one.metadata))
    return StructType(fields)


def holds(wide: DataType, narrow: DataType) -> bool:
    """Whether a column of one type takes every value of another."""
    match wide, narrow:
        case StructType(), StructType():
            known = {one.name.lower(): one.dataType for one in wide.fields}
            return all(
                one.name.lower() in known and holds(known[one.name.lower()], one.dataType) for one in narrow.fields
            )
        case ArrayType(), ArrayType():
            return holds(wide.elementType, narrow.elementType)
        case MapType(), MapType():
            return holds(wide.keyType, narrow.keyType) and holds(wide.valueType, narrow.valueType)
    return name_difference(wide.simpleString(), narrow.simpleString()) in {"", "narrow"}


def test_the_changes_of_a_table_come_to_columns_that_hold_what_it_has_and_its_new_rows() -> None:
    dice = random.Random(11)
    kinds = set[str]()
    for _ in range(150):
        table, rows = draw_columns(dice)
        changes, target = plan_evolution(ORDERS, table, rows, "widen")
        kinds |= {one.kind for one in changes}
        altered: DataType = table
        for change in changes:
            altered = alter(altered, change.path, change)
        assert altered == target, (table, rows)
        assert holds(target, table)
        assert holds(target, rows)
        assert merge_columns(target, rows) == target
        assert {one.kind for one in list_changes(target, rows)} <= {"narrow"}
        assert {one.kind for one in list_changes(target, table)} <= {"narrow", "comment"}
    assert kinds == {"add", "widen", "comment"}


def test_columns_of_the_table_alone_are_differences_and_no_changes() -> None:
    table, rows = read_columns("a INT, B STRUCT<x: INT, y: INT>, c STRING"), read_columns("A INT, b STRUCT<X: INT>")
    assert list_changes(table, rows) == ()
    assert [(one.kind, one.path, one.old, one.new) for one in list_differences(table, rows)] == [
        ("extra", ("B", "y"), "int", ""), ("extra", ("c",), "string", ""),
    ]  # fmt: skip
    twins = list_differences(table, read_columns("a INT, A BIGINT, b STRUCT<x: INT, X: STRING, y: INT>, c STRING"))
    assert [(one.kind, one.path, one.old, one.new) for one in twins] == [
        ("twin", ("A",), "a", "A"), ("twin", ("B", "X"), "x", "X"),
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------- how far a table may grow

SMALL = "n INT COMMENT 'old', m BIGINT"
WISHES = {
    "the same": ("n INT", {}),
    "a column is new": ("n INT, k INT", {"fail": "k int is new"}),
    "a field is new": ("n INT, s STRUCT<x: INT>", {"fail": "s struct<x:int> is new"}),
    "a wider type": ("n BIGINT, k INT", {"fail": "n grows from int to bigint; k int is new", "none": "n grows from int to bigint. "}),
    "a smaller type": ("m INT", {}),
    "another comment": ("n INT COMMENT 'new'", {}),
    "a clash": ("n STRING, k INT", dict.fromkeys(EVOLUTIONS, "n is int in the table and string in the rows. ")),
    "twins": ("k INT, K INT", dict.fromkeys(EVOLUTIONS, "k and K differ in nothing but upper and lower case. ")),
}  # fmt: skip


@pytest.mark.parametrize("wish", WISHES)
def test_a_table_grows_as_far_as_its_evolution_says(wish: str) -> None:
    have, (rows, refused) = read_columns(SMALL), WISHES[wish]
    for evolution in EVOLUTIONS:
        if evolution in refused:
            with pytest.raises(EvolutionError) as error:
                plan_evolution(ORDERS, have, read_columns(rows), evolution)
            assert f"/lake/orders cannot hold these rows: {refused[evolution]}" in str(error.value)
            continue
        changes, target = plan_evolution(ORDERS, have, read_columns(rows), evolution)
        if evolution == "widen":
            assert (changes != ()) == (target != have) == (wish not in {"the same", "a smaller type"})
        else:
            assert (changes, target) == ((), have)


# ------------------------------------------------------------------------------------------------------------- statements


def test_statements_set_properties_first_and_then_change_columns_from_the_outside_in() -> None:
    table = read_columns("n INT, s STRUCT<x: INT, z: FLOAT>, many ARRAY<STRUCT<i: SMALLINT>>, m FLOAT COMMENT 'old'")
    rows = read_columns(
        "n BIGINT COMMENT 'it\\'s', s STRUCT<x: BIGINT COMMENT 'deep', y: ARRAY<STRUCT<`a b`: INT COMMENT 'c'>>, z: FLOAT>, "
        "many ARRAY<STRUCT<i: INT>>, m DOUBLE COMMENT 'new', k MAP<STRING, INT> COMMENT 'more'"
    )
    changes = plan_evolution(ORDERS, table, rows, "widen")[0]
    grown = [
        "ALTER TABLE t ADD COLUMNS (`s`.`y` ARRAY<STRUCT<`a b`: INT COMMENT 'c'>>, `k` MAP<STRING, INT> COMMENT 'more')",
        "ALTER TABLE t ALTER COLUMN `n` TYPE BIGINT, `m` TYPE DOUBLE",
        "ALTER TABLE t ALTER COLUMN `n` COMMENT 'it\\'s', `m` COMMENT 'new'",
        "ALTER TABLE t ALTER COLUMN `s`.`x` TYPE BIGINT",
        "ALTER TABLE t ALTER COLUMN `s`.`x` COMMENT 'deep'",
        "ALTER TABLE t ALTER COLUMN `many`.`element`.`i` TYPE INT",
    ]
    both = "'delta.enableTypeWidening' = 'true', 'delta.columnMapping.mode' = 'name'"
    assert [*print_alter("t", ORDERS, changes)] == [f"ALTER TABLE t SET TBLPROPERTIES ({both})", *grown]
    assert [*print_alter("t", LakeTable("/x", "iceberg"), changes)] == grown
    for kind, properties in {
        "widen": ["ALTER TABLE t SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"],
        "add": ["ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"],
        "comment": [],
    }.items():
        told = [*print_alter("t", ORDERS, [one for one in changes if one.kind == kind])]
        assert [one for one in told if "TBLPROPERTIES" in one] == properties
        assert len(told) > len(properties)
    assert [*print_alter("t", ORDERS, [])] == []


@pytest.mark.parametrize("format_", FORMATS)
def test_a_table_is_made_with_all_that_was_said_of_it(format_: str) -> None:
    rows = read_columns("`a b` INT COMMENT 'x', by MAP<STRING, ARRAY<STRUCT<y: INT COMMENT 'deep'>>>, d DATE")
    table = LakeTable("/lake/o/", format_, ("d", "a b"))
    lines = print_create("t", table, rows, "it's\\").splitlines()
    assert lines[:9] == [
        "CREATE TABLE IF NOT EXISTS t (", "  `a b` INT COMMENT 'x',",
        "  `by` MAP<STRING, ARRAY<STRUCT<`y`: INT COMMENT 'deep'>>>,", "  `d` DATE", ")", f"USING {format_}",
        "PARTITIONED BY (`d`, `a b`)", "COMMENT 'it\\'s\\\\'",
        *{"parquet": ["LOCATION '/lake/o/rows'"], "iceberg": [],
          "delta": ["TBLPROPERTIES ('delta.enableTypeWidening' = 'true', 'delta.columnMapping.mode' = 'name')"]}[format_],
    ]  # fmt: skip
    bare = print_create("t", LakeTable("/lake/o", format_), read_columns("a INT"))
    assert "PARTITIONED" not in bare
    assert "COMMENT" not in bare
    assert "columnMapping" not in bare


def test_names_that_delta_does_not_take_as_they_are_are_seen_at_every_depth() -> None:
    for step, place in PLACES.items():
        for name in ("a b", "a,b", "a;b", "a{", "a}", "a(", "a)", "a\tb", "a\nb", "a=b"):
            inside = StructType([StructField(name, StringType())])
            kind = {
                "": inside, "element": ArrayType(inside), "key": MapType(StringType(), ArrayType(inside)),
                "value": MapType(StringType(), inside), "x": StructType([StructField("x", inside)]),
            }[step]  # fmt: skip
            assert needs_column_mapping(StructType([StructField("c", kind)])), (step, name)
        assert not needs_column_mapping(read_columns(f"c {place.format('struct<`a.b-c`:int>')}"))


# ---------------------------------------------------------------------------------------------------- what is left of types


def test_columns_that_hold_nothing_are_left_out_at_every_depth() -> None:
    some = StructType([
        StructField("a", read_type("int"), False, {"comment": "x"}), StructField("b", read_type("void")),
        StructField("c", ArrayType(read_type("void"))), StructField("d", read_type("map<string, struct<x: void>>")),
        StructField("e", MapType(read_type("string"), read_type("struct<x: void, y: int>"), valueContainsNull=False)),
        StructField("f", ArrayType(read_type("struct<x: int, y: void>"), containsNull=False), True, {"comment": "y"}),
        StructField("g", read_type("struct<x: struct<y: void>>")), StructField("h", MapType(read_type("void"), read_type("int"))),
    ])  # fmt: skip
    assert drop_void_columns(some) == StructType([
        StructField("a", read_type("int"), False, {"comment": "x"}),
        StructField("e", MapType(read_type("string"), read_type("struct<y: int>"), valueContainsNull=False)),
        StructField("f", ArrayType(read_type("struct<x: int>"), containsNull=False), True, {"comment": "y"}),
    ])  # fmt: skip


def test_types_that_differ_in_nulls_and_comments_alone_are_one_type() -> None:
    inner = [StructType([StructField("x", StringType(), *rest)]) for rest in ((True, {}), (False, {"comment": "c"}))]
    one, other = (
        StructType([
            StructField("a", ArrayType(item, null)), StructField("m", MapType(item, item, null), null), StructField("s", item, null),
        ])
        for item, null in zip(inner, (True, False), strict=True)
    )  # fmt: skip
    assert one != other
    assert strip_nullability(one) == strip_nullability(other) == one
    for field, kind in zip(one.fields, ("array<int>", "map<int, string>", "struct<y: string>"), strict=True):
        changed = [StructField(field.name, read_type(kind)) if each is field else each for each in one.fields]
        assert strip_nullability(StructType(changed)) != one


def test_comments_are_added_and_all_else_stays() -> None:
    line = StructType([StructField("n", StringType(), False, {"comment": "old", "k": 1})])
    table = StructType([
        StructField("a", ArrayType(line, containsNull=False), False, {"k": 2}),
        StructField("m", MapType(StringType(), ArrayType(line), valueContainsNull=False)),
        StructField("s", line, False),
    ])  # fmt: skip
    ways = (("a", "[]", "n"), ("m", "{}", "[]", "n"), ("s", "n"))
    for way in ways:
        told = add_comments(table, ((way, "new"), (("nowhere",), "x"), (way[:1], "")))
        for other, field, before in zip(ways, told.fields, table.fields, strict=True):
            text = field.json()
            assert text == (before.json().replace('"old"', '"new"') if other == way else before.json())

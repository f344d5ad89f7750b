"""What a hand may change in the database of a SQL log, as a table: statements that both databases understand."""

from dataclasses import dataclass

from tests.behaviours.logs.hands import Hand, Value

NEXT = "(select max(last) + 1 from log_append)"
"""The sequence of the next append: what has it is read by who follows."""


@dataclass(frozen=True)
class Tamper:
    """One change by hand. `tables` are those whose rows do not fit what the log says of them afterwards."""

    statement: str
    values: tuple[Value, ...] = ()
    tables: frozenset[str] = frozenset()
    followed: str = ""
    """Where the changed row is found; empty where none is that a follower could read."""
    unreadable: int = 0
    """Rows that no version can read afterwards."""

    async def by(self, hand: Hand) -> None:
        """Make the change, of one row."""
        assert await hand.run(self.statement, *self.values) == 1

    async def seen(self, hand: Hand) -> None:
        """Let who follows read the row."""
        assert await hand.run(f"update state_row set sequence = {NEXT} where {self.followed}") == 1


def _row(statement: str, where: str, *values: Value, tables: str, followed: bool = True, unreadable: int = 0) -> Tamper:
    found = where if followed else ""
    return Tamper(f"{statement} where {where}", values, frozenset(tables.split()), found, unreadable)


_SCHEMA = "state_table = 'schema' and key = '[\".\",1]'"
_CONFIG = 'state_table = \'config\' and key = \'["subject",".","s1"]\''
_IDS = "state_table = 'counter' and key like '[\"ids\"%'"
_ORDINALS = "state_table = 'counter' and key like '[\"ordinals\"%\"s2\"%'"
_VERSION = "state_table = 'version' and key like '%\"s2\"%'"

ROWS = {
    "a text is that of another row": _row(
        "update state_row set value = (select value from state_row where state_table = 'schema' and key = '[\".\",2]')",
        _SCHEMA,
        tables="schema",
    ),
    "a member of a value": _row(
        "update state_row set value = $1", _CONFIG, '{"normalize":true,"v":1}', tables="config"
    ),
    "a blank in a text": _row("update state_row set value = value || $1", _CONFIG, " ", tables="config"),
    "the counter of ids": _row(  # the next schema puts it right again
        "update state_row set value = $1", _IDS, '{"highest":1,"v":1}', tables="counter", followed=False
    ),
    "a counter": _row("update state_row set value = $1", _ORDINALS, '{"highest":7,"v":1}', tables="counter"),
    "a row is gone": _row("delete from state_row", _VERSION, tables="version", followed=False),
    "a row is a tombstone": _row("update state_row set value = null", _VERSION, tables="version"),
    "a row is added": Tamper(
        "insert into state_row (state_table, key, value, sequence) values ('mode', $1, $2, 1)",
        ('["subject",".","s1"]', '{"mode":"READONLY","v":1}'),
        frozenset({"mode"}),
        "state_table = 'mode'",
    ),
    "a row of a table that nobody knows is added": Tamper(
        "insert into state_row (state_table, key, value, sequence) values ('planet', $1, $2, 1)",
        ('["mars"]', "{}"),
        frozenset({"planet"}),
        "state_table = 'planet'",
        unreadable=1,
    ),
    "a key": _row("update state_row set key = $1", _SCHEMA, '[".",9]', tables="schema", followed=False),
    "a row's table": _row(
        "update state_row set state_table = 'mode'", _CONFIG, tables="config mode", followed=False, unreadable=1
    ),
    "a text is no JSON": _row("update state_row set value = $1", _CONFIG, "{", tables="config", unreadable=1),
    "a flipped bit": _row(
        "update state_row set value = text($1)", _CONFIG, b'{"normalize":tr\xf5e,"v":1}', tables="config", unreadable=1
    ),
}
"""Rows that are not those that the log's last root was taken of."""

TIP_ROOT = Tamper("update log_append set root = $1 where last = (select max(last) from log_append)", (bytes(32),))
ROOTS = {
    "the root of the last append": TIP_ROOT,
    "the root of the last append is none": Tamper(
        "update log_append set root = $1 where last = (select max(last) from log_append)", (b"short",)
    ),
}
"""What the last append says of its rows."""

TABLE_ROOTS = {
    "a table's root": Tamper(
        "update table_root set root = $1 where state_table = 'config'", (bytes(32),), frozenset({"config"})
    ),
    "a table's root is none": Tamper(
        "update table_root set root = $1 where state_table = 'config'", (b"short",), frozenset({"config"})
    ),
    "a table's root is gone": Tamper("delete from table_root where state_table = 'schema'", (), frozenset({"schema"})),
    "a root is added": Tamper(
        "insert into table_root (state_table, root) values ('planet', $1)", (b"1" * 32,), frozenset({"planet"})
    ),
}
"""What the store says of each table beside the rows: rows and the last append agree."""

"""Calls of functions on rows, codecs, commits, tables and views, over the state of a world and over damaged ones."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

from tests.answers.calls.printing import digest, each, print_call, print_result
from tests.answers.recorded import ACCESSES
from tests.answers.shop import SHOP
from tests.answers.texts import print_value
from tests.answers.worlds import bench_of, read_commits
from treaty.core.access.authorized_view import readable_view
from treaty.core.access.private_subjects import writable_view
from treaty.core.invariants import find_violations
from treaty.core.state import codec, commit, log_origin, portable, reserved, rows
from treaty.core.state import values as w
from treaty.core.state.indexes import wrong_indexes
from treaty.core.state.ordered import SortedKeys
from treaty.core.state.rows import EncodedRow, Row
from treaty.core.state.state_tables import INDEXES, ORDERS, TABLES
from treaty.core.state.tables import DictTables
from treaty.core.state.view import ALL_KEYS, Overlay, View, after, count_group, index_entries, past, span, subject_span

EXAMPLES = 1
"""Rows of each table that are damaged."""


def world_rows() -> list[EncodedRow]:
    """The rows of the world, by table and key."""
    return sorted(bench_of(SHOP).tables.rows(), key=lambda row: (row.table, row.key))


def fresh_tables(changes: Iterable[EncodedRow] = ()) -> DictTables:
    """Tables of their own with the rows of the world, and changes behind them."""
    tables = DictTables()
    tables.load(world_rows(), bench_of(SHOP).tables.position)
    tables.apply(changes, tables.position)
    return tables


# ------------------------------------------------------------------------------------------------------ rows and codecs

STRANGE = (
    ("subject", '[".","a"]', '{"generation":1,"v":1}'), ("subject", '[".","a"]', '{"generation":1,"v":2}'), ("subject", '[".","a"]', '{"generation":"1","v":1}'), ("subject", '[".","a"]', '{"v":1}'), ("subject", '[".","a"]', "[]"),
    ("subject", '[".","a"]', "{"), ("subject", '[".","a"]', '{"generation":1,"new":[1,2],"v":1}'), ("subject", '[".","a"]', None), ("subject", '["."]', '{"generation":1}'), ("subject", '[".",1]', '{"generation":1}'), ("subject", "x", '{"generation":1}'),
    ("subject", '[ ".","a"]', '{"generation":1}'), ("subject", "[]", "{}"), ("subject", "[1]", "{}"), ("subject", '[".",1.0]', "{}"), ("subject", '[".",true]', "{}"), ("other", '["a"]', "{}"), ("other", '["a"]', None), ("counter", '["ids",".","",0,""]', '{"highest":3,"reserved":[[5,6]],"v":1}'),
    ("counter", '["ids",".","",0,""]', '{"highest":3,"reserved":[[5]],"v":1}'), ("counter", '["ids",".","",0,""]', '{"highest":true,"v":1}'), ("config", '["subject",".","a"]', '{"level":{"backward":{"kind":"all"}},"v":1}'), ("config", '["subject",".","a"]', '{"level":{"backward":{"kind":1}},"v":1}'),
    ("version", '[".","a",1,0]', '{"format":"AVRO","number":1,"properties":{"a":"b"},"schema_id":1}'), ("version", '[".","a",1,0]', '{"format":"AVRO","number":1,"properties":{"a":1},"schema_id":1}'), ("content", '["x"]', '{"data":"YQ=="}'), ("content", '["x"]', '{"data":"Y"}'), ("content", '["x"]', '{"data":1}'),
)  # fmt: skip


def call_rows() -> Iterator[str]:
    encoded = [EncodedRow(*row) for row in STRANGE]
    for row in encoded:
        decoded = rows.decode_row(row)
        yield f"{row.table} {row.key} {row.value}: {print_value(decoded.key)} {print_value(decoded.value)} {rows.gives_back(decoded, row.value)} {row.digest % 997} {rows.encode_row(decoded) == row}"
    for row in world_rows()[::9]:
        decoded = rows.decode_row(row)
        yield f"{row.table} {row.key}: {rows.encode_row(decoded) == row} {row.digest % 9973} {index_entries(decoded)} {count_group(decoded)}"
    yield from each(
        rows.decode_key,
        ['["a"]', '["a",1]', "[1]", "[]", "a", '["a",1.5]', '["a", 1]', '["a",null]', '["\\u00e4"]', '["ä"]'],
    )
    yield from each(rows.key_text, [(("a", 1),), ((0, "x"),), ((0,),)])
    tables = fresh_tables(encoded)
    yield f"{sorted(tables.quarantine.items(), key=str)} {tables.size} {tables.total(TABLES['subject'])} {sorted(map(str, tables.keys(TABLES['subject'])))[-3:]}"
    yield from each(
        lambda order: [*tables.walk(ORDERS[order], *ALL_KEYS)],
        ["subject", "config", "version.listed"] if "version.listed" in ORDERS else ["subject"],
    )
    yield from (str(violation) for violation in find_violations(tables))


def call_codecs() -> Iterator[str]:
    yield from each(
        codec.dumps_in_steps,
        [
            "a" * 65_537,
            "a\\" * 40_000,
            [],
            {},
            [1, "x" * 70_000],
            {"b": [None, True], "a": "\x00" * 65_536},
            1.5,
            {"a": {}},
        ],
    )
    yield from each(codec.dumps, [{"b": 1, "a": "ä\ud800"}, [], "", 1e300])
    values: list[Any] = [[1, {"b": "x" * 70_000, "a": []}], "", {"z": {}, "y": [[], {}]}]
    yield f"{[codec.dumps(value) == codec.dumps_in_steps(value) for value in values]}"
    members: list[tuple[Any, Any]] = [
        (w.SubjectValue, {"generation": 1}), (w.SubjectValue, {"generation": 1, "schemes": "x"}), (w.SubjectValue, {"generation": 1, "schemes": ["a", 1]}), (w.SubjectValue, {"generation": 1, "properties": {"b": "1", "a": "2"}}), (w.SubjectValue, {"generation": 1, "properties": [["a", "b"]]}),
        (w.SubjectValue, {"generation": 1, "x": 2, "b": 3}), (w.SubjectValue, []), (w.SubjectValue, {"origin": "x"}), (w.ConfigValue, {"normalize": None, "level": None}), (w.ConfigValue, {"normalize": 1}), (w.Counter, {"highest": 1, "reserved": [[1, 2], [3, 4]]}), (w.Counter, {"highest": 1, "reserved": [[1, 2, 3]]}),
        (w.Counter, {"highest": 1, "reserved": {}}), (w.Version, {"number": 1, "schema_id": 2, "format": "A", "forced": {"who": "a", "why": "b"}}), (w.Version, {"number": 1, "schema_id": 2, "format": "A", "forced": {"who": "a"}}), (w.Content, {"data": "YQ=="}), (w.Content, {"data": 5}), (w.Content, {}),
    ]  # fmt: skip
    for function in (codec.decode, codec.decode_message):
        yield from each(function, members)
    yield from (print_call(codec.decode, kind, given, ignore=True) for kind, given in members[5:7])
    for request in SHOP.commands()[::9]:
        told = codec.encode_message(request)
        yield f"{print_value(told)[:200]} {codec.decode_message(type(request), json.loads(json.dumps(told))) == request}"
    for name, schema in portable.row_schemas()["$defs"].items():
        yield f"{name} {digest(json.dumps(schema, sort_keys=True))} {json.dumps(schema['properties']['key'])}"
    yield json.dumps({key: value for key, value in portable.row_schemas().items() if key != "$defs"})


# ------------------------------------------------------------------------------------------------------------- commits


def _read_first(envelope: bytes) -> int:
    return commit.read_append(envelope).first


def call_commits() -> Iterator[str]:
    commits = [
        commit.Commit(number, tuple(part), f"c{number}", number * 7)
        for number, part in enumerate([*read_commits(SHOP.file.read_text("utf-8"))][:5], 1)
    ]
    tables, position = DictTables(), commit.START
    for chain in (commits[:1], commits[1:3], commits[3:]):
        after_them = commit.roots_after(tables, [row for each_commit in chain for row in each_commit.rows])
        append = commit.make_append(position, bytes([len(chain)]) * 16, tuple(chain), after_them)
        envelope = append.envelope
        yield f"{append.first} {append.last} {append.digest.hex()[:12]} {append.root.hex()[:12]} {digest(envelope.hex())} {len(append.rows)} {print_value(append.prefix)[:200]}"
        read = commit.read_append(envelope)
        yield f"{read == append} {read.commits == append.commits} {read.position == append.position} {read.position.agrees(append.position)} {commit.read_prefix(envelope).last}"
        for cut in (0, 3, 40, 109, 110, 142, 173, 174, len(envelope) - 1):
            yield f"cut at {cut}: {print_result(_read_first, envelope[:cut])}"
        for place in (0, 5, 20, 45, 60, 100, 115, 150, 180):
            damaged = envelope[:place] + bytes([envelope[place] ^ 1]) + envelope[place + 1 :]
            yield f"damaged at {place}: {print_result(_read_first, damaged)} {print_result(commit.read_prefix, damaged)[:99]}"
        yield f"{tables.advance(append.rows, replace(append.position, root=b'x' * 32))} {tables.advance(append.rows, append.position)} {tables.position.token}"
        position = append.position
    for wrong, base in (((), commit.START), (commits[:1], position), ([commits[1], commits[1]], commit.START)):
        yield print_result(commit.make_append, base, b"a" * 16, tuple(wrong), {})
    yield print_result(commit.make_append, commit.START, b"a" * 16, tuple(commits[:1]), None)
    yield print_result(commit.make_append, position, b"a" * 16, (commit.Commit(6, ()),), None)
    yield from each(
        commit.PositionToken.parse,
        [
            str(position.token),
            "",
            "a.1",
            "a.1.b",
            "a.x.b",
            "a.-1.b",
            "a.٣.b",
            f"a.{'9' * 18}.b",
            f"a.{'9' * 19}.b",
            "a.1.b.c",
            ".0.",
        ],
    )
    digests = commit.RowDigests()
    digests.put(world_rows()[:9])
    digests.put([replace(world_rows()[0], value=None)])
    yield f"{sorted(digests.roots)} {commit.as_root(digests.roots).hex()[:12]} {commit.as_root(commit.roots_of(world_rows())).hex()[:12]} {print_value(commit.START.token)}"


# ---------------------------------------------------------------------------------------------------- tables and views


def _print_view(name: str, view: View, base: DictTables) -> Iterator[str]:
    """What a view shows of each table, index and order: how much, and a digest of it."""
    for table in TABLES.values():
        keys = sorted(view.keys(table), key=str)
        got = [print_result(view.get, table, key) for key in sorted(base.keys(table), key=str)[::9]]
        groups = sorted(
            {group for row in base.rows() if row.table == table.name and (group := count_group(rows.decode_row(row)))}
        )
        counts = [view.count(table, group) for _, group in groups][:40]
        if keys or got:
            yield f"{name} {table.name}: {len(keys)} {digest(str(keys))} {digest(str(got))} {counts}"
    for index in INDEXES.values():
        if index.key_of is None and (entries := sorted(base.entries(index), key=str)):
            found = [[*view.find(index, entry)] for entry in entries]
            yield f"{name} {index.name}: {sum(map(len, found))} of {len(entries)} {digest(str(found))}"
    spans = (
        ALL_KEYS,
        span((".",)),
        span((".",), "o"),
        span((".away",)),
        subject_span("."),
        ((".", "a"), (".", "orders")),
        (("subject", "."), ("subject", ".", "p")),
        (("b",), ("a",)),
    )
    for order in ORDERS.values():
        walks = [[*view.walk(order, low, high, reverse=reverse)] for low, high in spans for reverse in (False, True)]
        if any(walks):
            yield f"{name} walk {order.name}: {[len(walk) for walk in walks]} {digest(str(walks))}"


def call_views() -> Iterator[str]:
    base = fresh_tables()
    yield from _print_view("tables", base, base)
    for name in ("reader", "bumper", "private"):
        yield from _print_view(f"{name} reads", readable_view(base, ACCESSES[name]), base)
    yield from _print_view("bumper writes", writable_view(base, ACCESSES["bumper"]), base)
    overlay, changes = Overlay(base), [rows.decode_row(row) for row in world_rows()]
    overlay.put([replace(row, value=None) for row in changes[::3]], 0)
    overlay.put(
        [
            Row(row.table, row.key, changes[(at + 1) % len(changes)].value)
            for at, row in enumerate(changes)
            if changes[(at + 1) % len(changes)].table == row.table and at % 5 == 0
        ]
    )
    yield f"overlay {overlay.sequence}"
    yield from _print_view("overlay", overlay, base)
    written = fresh_tables(rows.encode_row(row) for row in changes[::3] for row in [replace(row, value=None)])
    yield from _print_view("without", written, base)
    yield f"{min(written.roots.items())} {[str(violation) for violation in wrong_indexes(written)]} {written.size}"
    written.apply(world_rows(), base.position)
    yield f"{written.roots == base.roots} {[*wrong_indexes(written)]}"
    yield from each(past, ["", "a", chr(0x10FFFF), f"a{chr(0x10FFFF)}", "a\ud7ff"])
    yield from each(after, [((".", "a"),), ((".", 1),)])
    yield from each(span, [((".",),), ((".",), "a"), ((), "x"), ((".", 1),)])


def call_orders() -> Iterator[str]:
    keys, numbers = SortedKeys(), [number * 7_919 % 5_003 for number in range(1_500)]
    for number in numbers:
        keys.add((number,))
    for number in numbers[::2]:
        keys.remove((number,))
    for low, high in (
        (0, 6_000),
        (0, 0),
        (5, 5),
        (100, 130),
        (4_990, 9_999),
        (-5, 3),
        (2_000, 2_400),
        (7_000, 8_000),
        (9, 1),
    ):
        up, down = [*keys.ascend((low,), (high,))], [*keys.descend((low,), (high,))]
        yield f"{low} to {high}: {len(up)} {up[:2]} {up[-2:]} {digest(str(up))} {down == up[::-1]}"
    for number in numbers[1::2]:
        keys.remove((number,))
    yield f"{[*keys.ascend((0,), (9_999,))]} {[*keys.descend((0,), (9_999,))]}"


# ------------------------------------------------------------------------------------------------------------- damages


def _damages(value: Any) -> Iterator[tuple[str, Any]]:
    """Values like one, each with one member that is another."""
    for member in fields(value):
        own = getattr(value, member.name)
        others: list[Any] = []
        if type(own) is bool:
            others = [not own]
        elif type(own) is int:
            others = [own + 1, own - 1, 2**31]
        elif type(own) is str:
            others = ["x", ""]
        elif isinstance(own, tuple) and own and member.name != "extra":
            others = [(), own[1:], own * 2]
        elif is_dataclass(own):
            others = [None]
        elif isinstance(own, bytes):
            others = [own + b"x"]
        yield from (
            (f"{member.name}={print_value(other)[:40]}", replace(value, **{member.name: other}))
            for other in others
            if other != own
        )


def call_invariants() -> Iterator[str]:
    """Rows are taken away or changed, and the violations that are found then."""
    by_table: dict[str, list[Row]] = {}
    for encoded in world_rows():
        by_table.setdefault(encoded.table, []).append(rows.decode_row(encoded))
    tables = fresh_tables()
    yield from (str(violation) for violation in find_violations(tables))
    for table, found in sorted(by_table.items()):
        for row in found[:: max(1, len(found) // EXAMPLES)][: EXAMPLES + 1]:
            for label, value in [("gone", None), *_damages(row.value)]:
                changed = Overlay(tables)
                changed.put([replace(row, value=value)])
                violations = sorted({str(one) for one in _check(changed)})
                if violations:
                    yield f"{table} {list(row.key)} {label}: {len(violations)}"
                    yield from (f"  {violation}" for violation in violations[:4])


def _check(view: View) -> Iterator[Any]:
    from treaty.core.invariants import check_rows  # noqa: PLC0415

    return check_rows(view, lambda table: sorted(view.keys(table), key=str))


def call_origins() -> Iterator[str]:
    ids = (("ids", ".", "", 0, ""), {"highest": 5_000_000, "v": 1})
    base = fresh_tables()
    schema = next(row for row in world_rows() if row.table == "schema")
    far = [replace(schema, key=f'[".",{number}]') for number in (4_999_999, 5_000_000, 2_000_000, 1_000_026)]
    for count in range(5):
        tables = fresh_tables(
            [
                EncodedRow(
                    "counter", json.dumps(ids[0], separators=(",", ":")), json.dumps(ids[1], separators=(",", ":"))
                ),
                *far[:count],
            ]
        )
        for found in reserved.reserved_ids(tables):
            yield f"{found} {print_value(found)} {print_value(reserved.healing_row(tables, found))}"
    origin = w.LogOrigin("ab", 7, "cd", 5, 1_000, "http://x")
    for key in ("origin", "successor", "restore", "unfinished"):
        view = Overlay(base)
        view.put([Row("log_origin", (key,), origin)])
        yield f"{key}: {print_result(log_origin.explain_sealed_log, view)} {print_result(log_origin.explain_unfinished_restore, view)}"
        yield f"{[*reserved.reserved_ids(view)]} {len([*_check(view)])}"


CALLS = {
    "rows": call_rows, "codecs": call_codecs, "commits": call_commits, "views": call_views, "orders": call_orders, "invariants": call_invariants,
    "origins": call_origins,
}  # fmt: skip

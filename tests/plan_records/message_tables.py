"""Versions of Protobuf files at the corners, and random ones, read as each of their messages with every option."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from google.protobuf.message_factory import GetMessageClass

from tests import messages
from tests.frames import header
from tests.plan_records.record import PlanRecord
from treaty.core.names import subject_of
from treaty.core.schema import Reference
from treaty.formats.protobuf.runtime import build_pool
from treaty.plan.encoding.options import DeriveOptions
from treaty.plan.registry_queries import find_version

PlanCase = Callable[[PlanRecord], None]
P2, P3 = 'syntax = "proto2"; package shop; ', 'syntax = "proto3"; package shop; '
KNOWN = "".join(
    f'import "google/{name}.proto"; '
    for name in ("protobuf/timestamp", "protobuf/wrappers", "protobuf/struct", "type/date")
)
SEEDS = range(9)


def order(fields: str, head: str = P3, more: str = "") -> str:
    return f"{head}message Order {{ {fields} }} {more}"


Choices = Sequence[Mapping[str, Any]]
TABLE: Mapping[str, tuple[Sequence[str], Sequence[str], Choices]] = {
    "widths": ((order("int32 a = 1; uint32 b = 2; sint32 c = 3; int64 d = 4; bool e = 5; fixed32 f = 6;"), order("int64 a = 1; uint64 b = 2; sint64 c = 3; int32 d = 4; int32 e = 5; fixed64 f = 6;"), order("uint32 a = 1; int32 b = 2; sint32 c = 3; uint32 d = 4; bool e = 5; fixed32 f = 6;")),
        ("0008ffffffff0f10ffffffff0f", "00208080808010", "002801", "0008ffffffffffffffffff01"), ()),
    "fields-come-and-go": ((order("int32 a = 1; string b = 2;"), order("int32 a = 1; reserved 2; string c = 3; optional int32 b = 4;"), order("string c = 3; repeated int32 a = 5; bytes d = 6;")), ("00080510", "0008051a0163", "002a020102", "00120162", "00"), ({"defaults": True}, {"unknown": True})),
    "clashes": ((order("int32 a = 1;"), order("string a = 1;"), order("repeated int32 a = 1;"), order("Line a = 1;", more="message Line { int32 x = 1; }"), order("bytes a = 1;")), ("000805", "000a0161", "000a03080505"), ()),
    "lists": ((order("repeated int32 a = 1; repeated string b = 2; map<string, int32> c = 3; repeated Line d = 4; message Line { repeated int64 x = 1; oneof one { int32 y = 2; int32 z = 3; } }"), order("int32 a = 1; string b = 2; map<string, int64> c = 3; Line d = 4; message Line { int64 x = 1; }"), order("repeated int64 a = 1 [packed = false]; map<int32, int32> c = 3;")), ("000a020102", "0008051202" + "6162", "001a050a016b1007", "0022020a00"), ({"defaults": True},)),
    "oneofs": ((order("oneof pick { int32 a = 1; string b = 2; } oneof other { bool c = 3; Line d = 4; } message Line { int32 x = 1; }"), order("oneof pick { int32 a = 1; } string b = 2; optional bool c = 3;"), order("int32 a = 1; oneof late { string b = 2; int64 e = 5; }")), ("000805", "0012016218012202" + "0805", "0028" + "01"), ({"defaults": True}, {"unknown": True})),
    "enums": ((order("E e = 1; repeated E l = 2;", more="enum E { NONE = 0; ONE = 1; }"), order("E e = 1; F f = 3; enum F { X = 0; Y = 1; }", more="enum E { NONE = 0; ONE = 1; TWO = 2; }"), order("E e = 1; F f = 3; enum F { X = 0; Z = 1; W = 2; }", more='enum E { NONE = 0; UN = 1; ONE = 3; reserved 5; reserved "FIVE"; }')), ("000801", "00080212020105", "001802"), ({"defaults": True},)),
    "older-syntax": ((order('required int32 a = 1; optional string b = 2 [default = "x"]; optional E e = 3 [default = ONE]; optional group G = 4 { optional int32 x = 1; } extensions 100 to 200;', P2, "enum E { NONE = 0; ONE = 1; }"), order("optional int32 a = 1 [default = 7]; repeated string b = 2; optional bytes c = 100; optional double d = 6 [default = -inf];", P2), order("int32 a = 1; string b = 2;")), ("000805", "00", "0012016223080524", "001801"), ({"defaults": True}, {"unknown": True})),
    "editions": (('edition = "2023"; package shop; message Order { int32 a = 1 [features.field_presence = IMPLICIT]; string b = 2; Line c = 3 [features.message_encoding = DELIMITED]; message Line { int32 x = 1; } }', 'edition = "2023"; package shop; option features.field_presence = IMPLICIT; message Order { int64 a = 1; repeated int32 d = 4 [features.repeated_field_encoding = EXPANDED]; }'), ("000805", "001b08051c", "0020052006"), ({"defaults": True},)),
    "known-types": ((f'syntax = "proto3"; package shop; {KNOWN} message Order {{ google.protobuf.Timestamp t = 1; google.type.Date d = 2; google.protobuf.Int64Value w = 3; google.protobuf.Struct s = 4; repeated google.protobuf.StringValue l = 5; map<string, google.protobuf.Timestamp> m = 6; }}', f'syntax = "proto3"; package shop; {KNOWN} message Order {{ google.protobuf.Timestamp t = 1; google.type.Date d = 2; google.protobuf.UInt64Value w = 3; google.protobuf.Value s = 4; }}'), ("000a0208051204" + "08e40f10", "001a020805", "00"), ({"defaults": True},)),
    "recursion": ((order("int32 v = 1; Order next = 2; repeated Order more = 3; map<string, Order> named = 4; Other other = 5;", more="message Other { Order order = 1; int32 x = 2; }"),), ("0008011207080212030803" + "1200", "0008011a020805"), ({"depth": 1}, {"depth": 5}, {"message": "shop.Other", "depth": 2}, {"message": "shop.Nobody"})),
    "several-messages": ((P3 + "message A { int32 x = 1; } message B { string y = 1; A a = 2; message C { int32 z = 1; } }", P3 + "message B { string y = 1; } message A { int64 x = 1; } message D { int32 w = 1; }", P3 + "message Z { int32 x = 1; }"), ("000805", "02020a0179", "0405" + "0805", "0202000805", "040200" + "0805", "020200"), ({"message": "shop.A"}, {"message": ".shop.B"}, {"message": "shop.B.C"}, {"message": "A"}, {"message": "shop.D"})),
    "docs": ((P3 + "// of all\nmessage Order {\n// a number\nint32 a = 1;\n/* a part */ Line l = 2; message Line { // deep\n int32 x = 1; } }",), (), ()),
    "no-message": ((P3 + "enum E { Z = 0; }", order("int32 a = 1;")), ("000805",), ()),
    "names-in-use": ((order("int32 unknown_fields = 1; int32 UNKNOWN_FIELDS_ = 2; int32 a = 3; int32 A = 4;"), order("int32 a = 3; int32 b_4 = 5;"), order("int32 x = 3; int32 a = 6; string b = 7; int32 b_7 = 8;"), order("string b = 9; bool a = 3;")), ("0018052006",), ({"unknown": True}, {"case_sensitive": False})),
}  # fmt: skip


def run_table(name: str) -> PlanCase:
    """The case of a row of the table: each payload in the frames of each version."""
    versions, payloads, more = TABLE[name]

    def run(case: PlanRecord) -> None:
        ids = [one for one in case.put(*versions, format_="PROTOBUF") if one > 0]
        rows = [header(one) + bytes.fromhex(payload) for one in ids for payload in payloads]
        case.decode(rows=rows, reader="latest")
        case.decode(reader=1)
        plan = case.decode(rows=rows, reader="union")
        for choices in more:
            case.decode(rows=rows, **{"reader": "union", **choices})
        case.decode(rows=rows[:6], reader="types")
        case.decode(reader="wide")
        case.put(order("int64 late = 77; int32 a = 1;"), format_="PROTOBUF")
        case.extend(plan, [max(case.texts, default=1)], rows[:2])
        for text in versions[:2]:
            case.columns(text, "PROTOBUF")
            case.columns(text, "PROTOBUF", message="shop.Order", depth=1)
            case.columns(text, "PROTOBUF", message="Nobody")

    return run


def run_long_defaults(case: PlanRecord) -> None:
    """Defaults that are too long to be in each row."""
    line = f'optional Line l = 2; message Line {{ optional string b = 1 [default = "{"b" * 60_000}"]; }}'
    case.put(order(f'optional string a = 1 [default = "{"a" * 70_000}"]; {line}', P2), format_="PROTOBUF")
    for message in ("shop.Order", "shop.Order.Line"):
        for defaults in (True, False):
            case.decode(reader="latest", message=message, defaults=defaults)


def run_references(case: PlanRecord) -> None:
    """Files that import one another, and one that came without its import."""
    line = 'syntax = "proto3"; package part; message Line { int32 x = 1; Kind kind = 2; enum Kind { NONE = 0; } }'
    case.put(line, format_="PROTOBUF", subject="line")
    bound = (Reference("line.proto", "line", 1),)
    for fields in ("part.Line l = 1;", "part.Line l = 1; int64 n = 2;", "repeated part.Line l = 1; int32 n = 2;"):
        case.put(f'{P3}import "line.proto"; message Order {{ {fields} }}', format_="PROTOBUF", references=bound)
    rows = [header(2) + bytes.fromhex("000a020805"), header(4) + bytes.fromhex("000a02080510" + "07")]
    for reader in ("union", "latest", "types"):
        case.decode(reader=reader, rows=rows)
    plan = case.decode(reader="union", subject="line")
    case.extend(plan, [2, 3, 99])
    case.encode("l [(x int32, kind string)], n int32", version=3)
    case.encode("l (x int32), n int32", version=1)
    case.derive("more", (), DeriveOptions())


class FileChanges:
    """A random file whose fields come, go, widen and clash; the same for the same seed."""

    KINDS = (
        "int32",
        "int64",
        "uint32",
        "uint64",
        "sint32",
        "sint64",
        "bool",
        "string",
        "bytes",
        "double",
        "E",
        "Line",
        "fixed32",
    )
    WIDER: Mapping[str, str] = {
        "int32": "int64",
        "uint32": "uint64",
        "sint32": "sint64",
        "string": "bytes",
        "int64": "uint32",
        "bool": "int32",
    }

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.head = P2 if seed % 4 == 3 else P3
        self.order = {number: self.field() for number in self.dice.sample(range(1, 12), 5)}
        self.line = {number: self.field("Line") for number in self.dice.sample(range(1, 6), 2)}
        self.symbols = ["NONE = 0", "ONE = 1"]

    def field(self, *excluded: str) -> list[str]:
        """The label, the type and the beginning of the name of a field."""
        kind = self.dice.choice([kind for kind in self.KINDS if kind not in excluded])
        label = self.dice.choice(("", "optional", "repeated", "map", "oneof", ""))
        return [label, kind, self.dice.choice("fgh")]

    def change(self) -> None:
        """Change the fields of one message."""
        fields = self.order if self.dice.random() < 0.7 else self.line
        number = self.dice.choice([*fields])
        match self.dice.randrange(6):
            case 0 | 1:
                fields[self.dice.randrange(1, 14)] = self.field("Line")
            case 2 if len(fields) > 1:
                del fields[number]
            case 3:
                fields[number][1] = self.WIDER.get(fields[number][1], fields[number][1])
            case 4:
                fields[number][0] = self.dice.choice(("", "optional", "repeated"))
            case _:
                self.symbols.append(f"S{len(self.symbols)} = {len(self.symbols) + self.dice.randrange(2)}")

    def text(self) -> str:
        """The file."""
        inside = f"message Line {{ {self.members(self.line)} }}"
        return order(
            f"{self.members(self.order)} {inside}", self.head, f"enum E {{ {'; '.join(dict.fromkeys(self.symbols))}; }}"
        )

    def members(self, fields: Mapping[int, Sequence[str]]) -> str:
        """The fields of a message."""
        parts, single = [], []
        for number, (label, kind, name) in fields.items():
            if label == "oneof":
                single.append(f"{kind} {name}{number} = {number};")
            elif label == "map":
                parts.append(f"map<string, {kind}> {name}{number} = {number};")
            else:
                word = label or ("optional" if self.head == P2 else "")
                parts.append(f"{word} {kind} {name}{number} = {number};")
        return " ".join(parts) + (f" oneof pick {{ {' '.join(single)} }}" if single else "")


def make_frames(case: PlanRecord, number: int, schema_id: int, dice: random.Random) -> list[bytes]:
    """Two frames of a version's first message, filled at random."""
    schema = find_version(case.registry, subject_of("s"), number).schema
    descriptor = build_pool(schema).FindMessageTypeByName("shop.Order")
    filled = [messages.filled(dice, GetMessageClass(descriptor)()) for _ in range(2)]
    return [header(schema_id) + b"\0" + one.SerializeToString(deterministic=True) for one in filled]


def run_seed(seed: int) -> PlanCase:
    """A random history, read in each way."""

    def run(case: PlanRecord) -> None:
        changes, rows = FileChanges(seed), list[bytes]()
        for number in range(1, 5):
            (schema_id,) = case.put(changes.text(), format_="PROTOBUF")
            if schema_id == number:
                rows += make_frames(case, number, schema_id, changes.dice)
            for _ in range(1 + seed % 2):
                changes.change()
        for choices in (
            {"reader": "union"},
            {"reader": "latest", "defaults": True},
            {"reader": "union", "unknown": True},
        ):
            case.decode(rows=rows, **choices)

    return run


CASES: Mapping[str, PlanCase] = {
    **{name: run_table(name) for name in TABLE},
    "references": run_references,
    "long-defaults": run_long_defaults,
    **{f"seed-{seed}": run_seed(seed) for seed in SEEDS},
}

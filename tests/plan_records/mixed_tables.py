"""Plans beyond one subject and its versions: several record types, groups with codecs, framings, contexts, deletions, plans that follow one another, and
what is refused."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from tests.frames import frame, header, record
from tests.plan_records.avro_tables import inner, listed
from tests.plan_records.record import PlanRecord
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import subject_of
from treaty.core.refusals import Refusal
from treaty.core.schema import Draft
from treaty.core.schema_engine import ResolvedSchema
from treaty.plan.decode_plans import find_union_conflict
from treaty.plan.encoding.encode_plans import make_encode_plan
from treaty.plan.encoding.options import DERIVED
from treaty.plan.frame_format import PlannedEncoding
from treaty.plan.planners import find_planner

PlanCase = Callable[[PlanRecord], None]
X = ("x", "int")
ORDER = record(X, ("r", inner("R", ("p", "int"))), ("amount", "int"), doc="an order")
ORDER_2 = record(
    {"name": "x", "type": "long", "doc": "a number"},
    ("r", inner("R", ("p", "int"), ("q", "int", 1))),
    ("amount", "int"),
    ("note", ["null", "string"], None),
)
PAY = record(("x", "long"), ("amount", "string"), ("record_type", "int"), ("r", inner("R", ("z", "int"))), name="Pay")
REFUND = record(("X", "float"), ("amount", "double"), ("amount_Pay", "int"), name="Refund", aliases=["Pay"])
SHAPES = ("types", "wide", "variant")
THREE = 'syntax = "proto3"; package shop; message Order { int32 x = 1; message In { int32 y = 1; } } message Pay { string x = 1; Order order = 2; }'


def run_types(case: PlanRecord) -> None:
    """Record types of Avro in one subject and in several."""
    ids = case.put(ORDER, ORDER_2, PAY, '"int"', '["null", "string"]', REFUND)
    rows = [
        frame(ids[0], ORDER, {"x": 1, "r": {"p": 2}, "amount": 3}),
        frame(ids[2], PAY, {"x": 1, "amount": "a", "record_type": 4, "r": {"z": 5}}),
        header(ids[3]) + b"\x0a",
        header(ids[4]) + b"\x02\x02a",
    ]
    for shape in SHAPES:
        case.decode(reader=shape, rows=() if shape == "variant" else rows)
        case.decode(reader=shape, depth=1, lossy="allow")
    case.put(record(("x", "int"), name="other.Order"), subject="t-b")
    case.put(record(("x", "string"), name="other.order"), subject="t-a")
    for pattern in ("t-*", "*", "t-*-z", "*s"):
        case.decode(pattern, reader="types")
    plan = case.decode("t-*", reader="wide", case_sensitive=False)
    late = case.put(record(("y", "int"), ("X", "int"), name="Late"), subject="t-c")
    case.extend(plan, late)


def run_message_types(case: PlanRecord) -> None:
    """Messages of several subjects, some of one name."""
    case.put(THREE, THREE.replace("int32 x", "int64 x"), format_="PROTOBUF", subject="m-a")
    case.put('syntax = "proto3"; package shop; message Pay { int64 z = 1; }', format_="PROTOBUF", subject="m-b")
    case.put(
        'syntax = "proto3"; package stock; message Item { string x = 1; }',
        'syntax = "proto3"; package stock; message Item { int32 x = 1; }',
        format_="PROTOBUF",
        subject="m-c",
    )
    rows = [
        header(one) + bytes.fromhex(payload)
        for one in (1, 2, 4)
        for payload in ("000805", "02020a0161", "0400000805", "0206")
    ]
    for shape in SHAPES[:2]:
        case.decode("m-*", reader=shape, rows=rows)
        case.decode("m-*", reader=shape, message="shop.Pay, .shop.Order.In", defaults=True, rows=rows)
    case.decode("m-*", reader="types", message="shop.Nobody")
    case.decode("m-*", reader="types", unknown=True)
    plan = case.decode("m-a", reader="types", message="shop.Pay")
    case.put(THREE.replace("string x", "bytes x"), format_="PROTOBUF", subject="m-a")
    case.extend(plan, [6])


def run_formats(case: PlanRecord) -> None:
    """Versions of several formats in one subject."""
    case.put(record(X), record(("x", "long")))
    case.put('{"type": "object", "properties": {"x": {"type": "integer"}}}', format_="JSON")
    case.put(THREE, format_="PROTOBUF")
    choices: Mapping[str, Any]
    for choices in (
        {"reader": "latest"},
        {"reader": "union"},
        {"reader": 1},
        {"reader": 1, "schema_type": "AVRO"},
        {"reader": record(X)},
        {"reader": "types"},
    ):
        case.decode(**choices)
    with suppress(Refusal):
        case.registry.ask(DeleteVersion(subject_of("s"), 4))
    for choices in (
        {"reader": "latest"},
        {"reader": "latest", "validate": True},
        {"reader": 4},
        {"reader": "union", "lossy": "allow"},
    ):
        case.decode(**choices)
    case.decode(None, ids=[1, 2, 3, 4, 5], reader=record(("x", "double")))
    case.decode(
        None, ids=[3, 1], reader='{"type": "object", "properties": {"x": {"type": "number"}}}', schema_type="JSON"
    )


def run_lines(case: PlanRecord) -> None:
    """The format of a plug-in."""
    ids = case.put("columns\na int", "columns\na int\nb text", "columns\nb text", "columns\na text", format_="CSV")
    rows = [
        header(ids[0]) + b"5",
        header(ids[1]) + b"5,x",
        header(ids[1]) + b"x,5",
        header(ids[1]) + b"1,2,3",
        header(ids[2]) + b"t",
        header(ids[3]) + b"",
    ]
    choices: Mapping[str, Any]
    for choices in (
        {"reader": "latest"},
        {"reader": "union"},
        {"reader": 2, "encoding": "tab"},
        {"reader": "columns\na int\nz text"},
        {"reader": "types"},
        {"reader": "wide"},
        {"encoding": "semicolon"},
        {"lossy": "allow"},
        {"message": "M"},
        {"engine": "rows"},
        {"engine": "spark"},
        {"depth": 2},
    ):
        case.decode(rows=rows, **choices)
    case.columns("columns\na int\nb text", "CSV")
    plan = case.decode(reader="union")
    case.put("columns\nq int", format_="CSV")
    case.extend(plan, [5], rows)
    case.decode(rows=rows, before=plan, reader="union")
    case.derive("it", (), DERIVED)


def run_groups(case: PlanRecord) -> None:
    """Pravega's framing: encodings of a group, by codec."""
    ids = case.put(record(X), record(X, ("y", "int", 1)))
    group = subject_of("s")
    case.ask(AddCodec(group, CodecType("gzip", (("level", "1"),))))
    case.ask(AddCodec(group, CodecType("mine")))
    for ordinal, codec in ((0, ""), (1, "gzip"), (0, "gzip"), (1, "mine")):
        case.ask(AssignEncoding(group, ordinal, codec))
    rows = [b"\1" + number.to_bytes(4, "big") + payload for number in (0, 9) for payload in (b"\x0a", b"")] + [
        b"\0\0",
        b"",
    ]
    choices: Mapping[str, Any]
    for choices in (
        {},
        {"reader": "union"},
        {"ids": [9, 0]},
        {"framing": {0: (ids[0], ""), 5: (ids[1], "none"), 6: (99, "")}},
        {"framing": {0: (ids[0], "mine")}},
        {"framing": {0: PlannedEncoding(ids[0], "mine", (("a", "b"),), "00")}},
    ):
        asked: dict[str, Any] = {"framing": "pravega", **choices}
        case.decode(rows=rows, **asked)
    case.decode(None, framing="pravega", ids=[1], reader=record(X))
    case.decode("gone", framing="pravega")
    for codec in ("", "gzip", "mine", "snappy"):
        case.encode("x int32!", framing="pravega", codec=codec, version=1)
    plan = case.decode(framing="pravega", reader="union")
    case.ask(AssignEncoding(group, 1, ""))
    for some in ([4], [4, 9], [0]):
        case.extend(plan, some, rows)


def run_message_groups(case: PlanRecord) -> None:
    """Encodings of messages, which their frames do not name."""
    for name in ("shop.Pay", "shop.Order", "shop.Nobody"):
        with suppress(Refusal):
            case.registry.ask(Register(subject_of("g"), Draft(THREE, "PROTOBUF", type_name=name)))
    for ordinal in (0, 1):
        case.ask(AssignEncoding(subject_of("g"), ordinal, ""))
    rows = [b"\1\0\0\0\0\x0a\1a", b"\1\0\0\0\1\x08\5"]
    for message in ("shop.Pay", "shop.Order"):
        case.decode("g", rows, framing="pravega", message=message)
    case.decode("g", rows, framing="pravega", reader="types")


def run_framings(case: PlanRecord) -> None:
    """Frames of every framing, good and damaged ones."""
    (first, second) = case.put(record(X), record(X, ("y", "int", 1)))
    good = frame(first, record(X), {"x": 5})
    rows = [
        good,
        good + b"\0",
        good[:3],
        b"",
        None,
        b"\7" + good[1:],
        good[:5],
        header(77) + b"\x0a",
        b"\0\xff\xff\xff\xff\x0a",
        header(second) + b"\x0a\x0c",
        header(second) + b"\x0a",
    ]
    for framing in ("prefix", "single-object", "md5", "version", "none", "strange"):
        plan = case.decode(framing=framing, rows=rows)
        case.decode(framing=framing, reader="union")
        heads = [bytes.fromhex(head) + b"\x0a\x0c" for head, _ in plan.framing.heads] if plan else []
        if plan and heads:
            case.read(plan, heads)
    case.decode(framing="none", reader=1, rows=[b"\x0a", b"\x0a\x0a", b""])
    case.decode(framing="none", reader="types")
    plan = case.decode(framing="header")
    (late,) = case.put(record(X, ("y", "int", 1), ("z", "string", "d")))
    case.extend(plan, [late])


def run_ids(case: PlanRecord) -> None:
    """Ids of other subjects, of other contexts, and of none."""
    own, other = case.put(record(X)), case.put(record(("x", "long")), subject="other")
    case.put(record(("x", "long")), subject="third")
    case.put(record(("c", "int")), record(("c", "string")), subject=":.c:s")
    choices: Mapping[str, Any]
    for choices in (
        {"ids": [*other, 99, *own]},
        {"ids": [99]},
        {"reader": 7},
        {"reader": "newest"},
        {"reader": "{"},
        {"reader": ""},
        {"schema_type": "JSON"},
        {"lossy": "some"},
        {"engine": "fastavro"},
        {"engine": "upb"},
        {"validate": True},
        {"rest": "map"},
        {"defaults": True},
        {"depth": 0},
        {"encoding": "e"},
    ):
        case.decode(**choices)
    case.decode(None, ids=[1, 2, 3, 99], reader=record(("x", "double")))
    for choices in (
        {"ids": [99], "reader": record(X)},
        {"ids": [1]},
        {"ids": [1], "reader": "union"},
        {"ids": [1], "reader": 1},
        {"ids": [1], "reader": "types"},
        {"ids": [1], "schema_type": "YAML", "reader": "x"},
    ):
        case.decode(None, **choices)
    case.decode("nobody")
    case.decode("nobody-*", reader="types")
    case.decode(":.c:s", ids=[1, 2], reader="union")
    plan = case.decode(reader="latest")
    case.registry.ask(DeleteSubject(subject_of("other")))
    for some in ([1], [2], [3], [2, 3, 99]):
        case.extend(plan, some)
    case.extend(case.decode(None, ids=[1], reader=record(("x", "double"))), [2])


def run_deleted(case: PlanRecord) -> None:
    """Versions that were deleted softly and for good, and plans that were made before."""
    texts = (
        record(X),
        record(X, ("y", "int", 1)),
        record(("x", "long"), ("z", "string", "d")),
        record(("x", "string")),
    )
    ids = case.put(*texts)
    rows = [
        frame(ids[0], texts[0], {"x": 1}),
        frame(ids[1], texts[1], {"x": 2, "y": 3}),
        frame(ids[2], texts[2], {"x": 2**40, "z": "s"}),
    ]
    before = {reader: case.decode(reader=reader, rows=rows) for reader in ("union", "latest", 2)}
    for number, is_permanent in ((4, False), (2, False), (2, True), (1, False), (1, True), (3, False)):
        case.ask(DeleteVersion(subject_of("s"), number, permanent=is_permanent))
        for reader, plan in before.items():
            case.decode(rows=rows, reader=reader, before=plan)
        case.decode(reader="latest", rows=rows)
    case.put(record(("x", "float"), ("w", listed("int"), [])), subject="s")
    for plan in before.values():
        case.extend(plan, [*ids, 5], rows)


def run_twins(case: PlanRecord) -> None:
    """Names that differ in case alone, version by version."""
    texts = (
        record(("a", "int"), ("b", "int")),
        record(("a", "int"), ("B", "int", 1)),
        record(("a", "int"), ("b", "int"), ("c", "int", 2)),
        record(("A", "int"), ("d", inner("D", ("e", "int"), ("E", "int", 3)), {"e": 1})),
        record(("a", "int"), ("l", listed(inner("L", ("m", "int"), ("M", "int"))), [])),
    )
    before = None
    for text in texts:
        case.put(text)
        for reader in ("union", "latest"):
            case.decode(reader=reader, case_sensitive=False)
        before = case.decode(reader="union", case_sensitive=False, before=before)
    case.decode(reader="types", case_sensitive=False)
    case.put(record(("q", "int"), ("Q", "int")), subject="twin")
    for reader in ("union", "latest", "wide"):
        case.decode("twin", reader=reader, case_sensitive=False)


def run_conflicts(case: PlanRecord) -> None:
    """Whether the last of some versions has no part in their union."""
    texts = {
        "int": '"int"',
        "string": '"string"',
        "long": '"long"',
        "double": '"double"',
        "X": record(X),
        "Y": record(("x", "string")),
        "Z": record(("x", ["int", "string"])),
        "bad": "{",
    }
    for names in ("int string", "int long", "long double", "X Y", "X Y X", "Y Z", "X", "X Z", "X bad"):
        case.show(
            f"conflict of {names}", find_union_conflict, [ResolvedSchema("AVRO", texts[name]) for name in names.split()]
        )
    case.show(
        "of two formats",
        find_union_conflict,
        [ResolvedSchema("AVRO", '"int"'), ResolvedSchema("JSON", '{"type": "integer"}')],
    )
    case.show(
        "of JSON",
        find_union_conflict,
        [ResolvedSchema("JSON", one) for one in ('{"type": "string"}', '{"type": "integer"}')],
    )
    for name in ("AVRO", "JSON", "PROTOBUF"):
        planner = find_planner(name)
        case.lines.append(f"{planner.format} {planner.divides} {planner.is_newest_first}")


def run_registering(case: PlanRecord) -> None:
    """Texts that a subject takes or not, as a dry run says it and as registering does."""
    case.registry.ask(SetConfig(Scope(".", "s"), Config(level="BACKWARD")))
    case.put(record(X))
    texts = (
        record(X),
        record(X, ("y", "int")),
        record(X, ("y", "int", 1)),
        record(("x", "string")),
        "{",
        '{"type": "object"}',
        record(("y", "int", 1)),
    )
    for text in texts:
        for register in (False, True):
            case.encode("x int32!", schema=text, register=register, check=True)
    case.encode(
        "x int32!",
        schema='{"type": "object", "properties": {"x": {"type": "integer"}}}',
        schema_type="JSON",
        register=True,
        check=True,
    )
    case.registry.ask(SetMode(Scope(".", "s"), "READONLY"))
    case.encode("x int32!, z int32", schema=record(X, ("z", ["null", "int"], None)), register=True, check=True)
    case.encode("x int32!", subject="new", schema='"int"', check=True)
    case.encode("x int32!", subject="new", schema='"int"', register=True, check=True)
    case.encode("x int32!", subject="nobody", check=True)
    case.show("at an address", make_encode_plan, "sqlite:x", "s", ())


CASES: Mapping[str, PlanCase] = {
    "types": run_types, "message-types": run_message_types, "formats": run_formats, "csv": run_lines, "groups": run_groups, "message-groups": run_message_groups,
    "framings": run_framings, "ids": run_ids, "deleted": run_deleted, "twins": run_twins, "conflicts": run_conflicts, "registering": run_registering,
}  # fmt: skip

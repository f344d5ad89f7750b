"""Each typed call of the metastore with each of its options: the request that it makes has them all."""

import inspect
from typing import Any

import pytest

from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.sources import ChangeSource, CreateType, DropSource, DropType, SetSourceState
from treaty.core.refusals import SourceNotFound
from treaty.core.sources import SourceColumn
from treaty.metastore import calls
from treaty.metastore.execution.results import InvalidStatementError

X = m.SourceColumnChange("add", SourceColumn("x", "INT"))
REQUESTS: dict[str, dict[str, tuple[Any, Any, Any]]] = {
    "create_type": {
        "comment": ("c", "comment", "c"),
        "label": ("p", "label", "p"),
        "if_not_exists": (True, "if_not_exists", True),
    },
    "add_columns": {"dry_run": (True, "dry_run", True)},
    "rename": {"dry_run": (True, "dry_run", True)},
    "set_properties": {
        "dry_run": (True, "dry_run", True),
        "retention_ms": (5, "properties", (("RETENTION_MS", "5"),)),
        "cleanup_policy": ("Compact", "properties", (("CLEANUP_POLICY", "compact"),)),
    },
    "set_comment": {},
    "protect": {"is_protected": (False, "protect", False)},
    "drop": {
        "if_exists": (True, "if_exists", True),
        "cascade": (True, "cascade", True),
        "delete_topic": (True, "delete_topic", True),
    },
    "undrop": {},
    "drop_type": {"if_exists": (True, "if_exists", True)},
    "pause": {},
    "resume": {},
    "rollback": {"cascade": (True, "cascade", True), "dry_run": (True, "dry_run", True)},
    "reset_checkpoint": {"cascade": (True, "cascade", True), "dry_run": (True, "dry_run", True)},
    "refresh": {"cascade": (True, "cascade", True), "dry_run": (True, "dry_run", True)},
    "describe": {},
    "describe_type": {},
    "queries": {},
    "types": {},
    "sources": {"kind": ("table", "kind", "TABLE")},
    "dependencies": {"recursive": (True, "recursive", True)},
}
"""By call and option: a value, the member of the request, and what it is then."""
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "create_type": ("s", "INT"),
    "add_columns": ("s", {"x": "INT"}),
    "rename": ("s", "t"),
    "set_properties": ("s",),
    "set_comment": ("s", "c"),
    "queries": (),
    "types": (),
    "sources": (),
}
PLAIN: dict[str, Any] = {
    "create_type": CreateType("s", "INT"),
    "add_columns": ChangeSource("s", "ALTER STREAM s ADD COLUMN x INT", (X,)),
    "rename": ChangeSource("s", rename="t"),
    "set_comment": ChangeSource("s", comment="c"),
    "protect": ChangeSource("s", protect=True),
    "drop": DropSource("s", dry_run=True),
    "undrop": m.UndropSource("s"),
    "drop_type": DropType("s"),
    "pause": SetSourceState("s", "PAUSED"),
    "resume": SetSourceState("s", "RUNNING"),
    "rollback": ChangeSource("s", restart="ROLLBACK"),
    "reset_checkpoint": ChangeSource("s", restart="RESET"),
    "refresh": ChangeSource("s", restart="REFRESH"),
    "describe": m.DescribeSource("s"),
    "describe_type": m.DescribeType("s"),
    "queries": m.ListSources("", queries=True),
    "types": m.ListTypes(),
    "sources": m.ListSources(),
    "dependencies": m.ListDependents("s"),
}


def first_request(name: str, **options: Any) -> Any:
    return next(getattr(calls, name)(*ARGUMENTS.get(name, ("s",)), **options))


@pytest.mark.parametrize("name", PLAIN)
def test_a_call_without_options_makes_the_plain_request(name: str) -> None:
    assert first_request(name) == PLAIN[name]


@pytest.mark.parametrize(("name", "option"), [(name, option) for name, options in REQUESTS.items() for option in options])  # fmt: skip
def test_an_option_of_a_call_is_in_its_request(name: str, option: str) -> None:
    value, member, expected = REQUESTS[name][option]
    named = {} if option != "dry_run" or name != "set_properties" else {"retention_ms": 5}
    request = first_request(name, **{option: value}, **named)
    assert getattr(request, member) == expected
    others = {one for one in PLAIN[name].__dataclass_fields__ if name in PLAIN} if name in PLAIN else set()
    assert all(getattr(request, one) == getattr(PLAIN[name], one) for one in others - {member})


def test_every_call_and_option_is_in_these_tables() -> None:
    elsewhere = {"create_stream", "create_table", "refresh_schema", "read_columns"}
    for name, call in vars(calls).items():
        is_call = inspect.isfunction(call) and call.__module__ == calls.__name__ and not name.startswith("_")
        if not is_call or name in elsewhere:
            continue
        options = {one.name for one in inspect.signature(call).parameters.values() if one.default is not one.empty}
        options -= {"dry_run"} if name == "drop" else set()
        assert options <= REQUESTS[name].keys(), name


@pytest.mark.parametrize("cascade", [False, True])
@pytest.mark.parametrize("delete_topic", [False, True])
def test_a_drop_confirms_what_goes_along_where_something_may(*, cascade: bool, delete_topic: bool) -> None:
    exchange = calls.drop("s", cascade=cascade, delete_topic=delete_topic)
    assert next(exchange) == DropSource("s", cascade=cascade, delete_topic=delete_topic, dry_run=True)
    again = exchange.send(m.SourcesDropped(("s", "t"), digest="abc"))
    assert again == DropSource("s", cascade=cascade, delete_topic=delete_topic, digest="abc" if cascade else "")


@pytest.mark.parametrize("kind", ["STREAM", "TABLE"])
@pytest.mark.parametrize("option", ["comment", "or_replace", "if_not_exists", "dry_run"])
def test_an_option_of_a_create_is_in_its_request(kind: str, option: str) -> None:
    create = getattr(calls, f"create_{kind.lower()}")
    value: Any = "c" if option == "comment" else True
    lake: dict[str, Any] = {"connector": "delta", "path": "s", option: value}
    exchange = create("s", {"k": "INT", "V": "INT NOT NULL"}, key=["K"], **lake)
    request = next(exchange)
    if isinstance(request, m.DescribeSource):  # IF NOT EXISTS asks first
        assert option == "if_not_exists"
        request = exchange.throw(SourceNotFound.of("SOURCE_NOT_FOUND", "no s"))
    defined = request.definition
    assert (defined.kind, defined.name, defined.connector, defined.place) == (kind, "s", "delta", "s")
    assert [(one.name, one.role, one.nullable) for one in defined.columns] == [("k", "key", True), ("V", "value", False)]  # fmt: skip
    given = {"comment": defined.comment, "or_replace": request.replace, "if_not_exists": request.if_not_exists, "dry_run": request.dry_run}  # fmt: skip
    assert given == {"comment": "", "or_replace": False, "if_not_exists": False, "dry_run": False} | {option: value}


@pytest.mark.parametrize(("key", "missing"), [(["a", "x", "B"], "x"), (["A", "b"], ""), (["c"], "c")])
def test_the_names_of_a_key_are_columns_in_any_case(key: list[str], missing: str) -> None:
    if missing:
        with pytest.raises(InvalidStatementError, match=f"no column {missing}"):
            calls.read_columns({"a": "INT", "B": "INT"}, key)
    else:
        assert [one.role for one in calls.read_columns({"a": "INT", "B": "INT"}, key)] == ["key", "key"]


@pytest.mark.parametrize("name", ["a", "`", "select", "a b", "x`y"])
def test_an_error_in_a_type_has_its_place_in_the_text_of_the_type(name: str) -> None:
    with pytest.raises(InvalidStatementError) as refused:
        calls.read_columns({"first": "INT", name: "ARRAY<\n?>"})
    (wrong,) = refused.value.diagnostics
    assert (wrong.start, wrong.line, wrong.column) == (7, 2, 1)

"""Desired state: where a name is looked for, what a plan says of each subject, and which version a reference means."""

import json
from typing import Any

import pytest

from tests.laws.test_group_transfers import filled
from treaty.assemble import connect
from treaty.client.connection import Connection
from treaty.client.transfer.apply import ApplyResult, apply
from treaty.client.transfer.desired import DesiredState, DesiredSubject, order_subjects
from treaty.core.messages.registration import Register
from treaty.core.messages.request import Request
from treaty.core.messages.settings import Config, Scope, SetConfig
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Incompatible
from treaty.core.schema import Draft, Reference
from treaty.formats.registry import find_formats

MONEY = json.dumps({"type": "record", "name": "org.acme.Money", "fields": [{"name": "cents", "type": "long"}]})
ORDER = json.dumps(
    {"type": "record", "name": "org.acme.Order", "fields": [{"name": "price", "type": "org.acme.Money"}]}
)


def proto(name: str, *imports: str) -> str:
    lines = [f'import "{one}";' for one in imports]
    return "\n".join(['syntax = "proto3";', *lines, f"message {name} {{}}"])


def desire(subject: str, path: str, text: str, format_: str = "PROTOBUF", **more: Any) -> DesiredSubject:
    return DesiredSubject(subject_of(subject), path, text, format_, **more)


def order(*desired: DesiredSubject) -> DesiredState:
    return order_subjects(desired, find_formats())


def run(state: DesiredState, registry: Connection, *, dry_run: bool = False) -> ApplyResult:
    with connect("memory:") as trial:
        return apply(state, registry, trial, dry_run=dry_run)


PLACES: dict[str, tuple[str, list[str], str | None]] = {
    "the whole path": ("a/m.proto", ["a/m.proto", "b/m.proto"], "a/m.proto"),
    "the end of a path": ("m.proto", ["a/m.proto", "a/mm.proto"], "a/m.proto"),
    "two ends": ("m.proto", ["a/m.proto", "b/m.proto"], None),
    "no end, only the same letters": ("m.proto", ["a/mm.proto"], None),
    "the end of a longer path": ("a/m.proto", ["x/a/m.proto", "x/b/m.proto"], "x/a/m.proto"),
    "never the file itself": ("x.proto", ["b/x.proto"], "b/x.proto"),
    "a path before an end": ("m.proto", ["m.proto", "b/m.proto"], "m.proto"),
}
"""By name: what a file imports, the files that are there, and the one that is meant."""


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("turn", [1, -1], ids=["in order", "in reverse"])
def test_an_import_means_the_file_of_that_path_or_of_the_only_path_that_ends_so(name: str, turn: int) -> None:
    imported, paths, expected = PLACES[name]
    files = [desire(f"s{at}", path, proto(f"M{at}")) for at, path in enumerate(paths)]
    state = order(*[desire("using", "x.proto", proto("X", imported)), *files][::turn])
    uses = {
        one.desired.path: [use.path for _, use in one.uses if isinstance(use, DesiredSubject)] for one in state.ordered
    }
    if expected is None:
        assert [one.where for one in state.problems] == ["x.proto"]
        assert "no file here has that name" in state.problems[0].why
    else:
        assert state.problems == ()
        assert uses["x.proto"] == [expected]


def test_what_a_subject_says_of_a_name_goes_before_the_file_of_that_name() -> None:
    stated = desire("using", "x.proto", proto("X", "m.proto"), references=(("m.proto", ":.base:m:3"),))
    state = order(desire("m", "m.proto", proto("M")), stated)
    assert {one.desired.path: one.uses for one in state.ordered}["x.proto"] == (("m.proto", ":.base:m:3"),)


CIRCLES: dict[str, tuple[dict[str, list[str]], dict[str, str]]] = {
    "of two": ({"a": ["b"], "b": ["a"]}, {"a": "waits", "b": "waits"}),
    "of itself": ({"a": ["a"]}, {"a": "needs 'a.proto'"}),
    "of itself by the end of its path": ({"x/a": ["a"]}, {"x/a": "needs 'a.proto'"}),
    "behind one that is missing": ({"a": ["b"], "b": ["none"]}, {"a": "waits", "b": "needs 'none.proto'"}),
    "two that are missing": ({"a": ["none", "nil"], "b": []}, {"a": "needs 'none.proto', 'nil.proto'"}),
    "one of two that is missing": ({"a": ["b", "none"], "b": []}, {"a": "needs 'none.proto'"}),
}


@pytest.mark.parametrize("name", CIRCLES)
def test_a_file_that_cannot_be_ordered_says_which_name_is_not_there_and_which_only_waits(name: str) -> None:
    files, expected = CIRCLES[name]
    state = order(
        *(
            desire(one[-1], f"{one}.proto", proto(one[-1], *(f"{at}.proto" for at in used)))
            for one, used in files.items()
        )
    )
    assert {one.where.removesuffix(".proto"): one.what for one in state.problems} == expected
    assert [one.desired.path for one in state.ordered] == [f"{one}.proto" for one, used in files.items() if not used]


def avro(name: str, *types: str) -> str:
    fields = [{"name": f"f{at}", "type": kind} for at, kind in enumerate(types)]
    return json.dumps({"type": "record", "name": name, "namespace": "org.acme", "fields": fields})


PARTS = {
    "order": avro("Order", "org.acme.Money", "org.acme.Tax"),
    "cart": avro("Cart", "org.acme.Order", "org.acme.Money"),
    "money": avro("Money", "long"),
    "tax": avro("Tax", "org.acme.Money"),
}


@pytest.mark.parametrize("turn", [1, -1], ids=["in order", "in reverse"])
def test_types_are_found_by_their_names_and_come_after_what_they_need(turn: int) -> None:
    state = order(*[desire(name, f"{name}.avsc", text, "AVRO") for name, text in PARTS.items()][::turn])
    assert state.problems == ()
    assert [str(one.desired.subject) for one in state.ordered] == ["money", "tax", "order", "cart"]
    with connect("memory:") as registry:
        assert run(state, registry).fine
        assert {one.subject for one in registry.version("cart").references} == {"order", "money"}


def test_a_text_that_needs_a_subject_outside_of_the_folder_is_left_to_the_registry() -> None:
    """It can't be parsed here, also where another type that it needs is in the folder."""
    outside = desire("order", "order.avsc", PARTS["order"], "AVRO", references=(("org.acme.Tax", "tax"),))
    state = order(desire("money", "money.avsc", PARTS["money"], "AVRO"), outside)
    assert state.problems == ()
    with filled([Register(Subject(".", "tax"), Draft(avro("Tax", "long")))]) as registry:
        assert run(state, registry).fine


@pytest.mark.parametrize(
    "text",
    [
        avro("R", "org.acme.Money").replace('"org.acme.Money"}', '"int", "default": "x"}'),
        json.dumps({"type": "enum", "name": "E", "symbols": ["A"], "default": "B"}),
    ],
    ids=["a default", "a symbol"],
)
def test_a_text_that_a_registry_would_refuse_is_a_problem_before_it_is_asked(text: str) -> None:
    state = order(desire("s", "s.avsc", text, "AVRO"))
    assert [(one.where, one.what) for one in state.problems] == [("s.avsc", "not a valid schema")]


def test_each_fault_of_a_text_is_a_problem_and_nothing_of_a_folder_with_one_is_written() -> None:
    bad = json.dumps(
        {"type": "record", "name": "R", "fields": [{"name": "a b", "type": "int"}, {"name": "c", "type": "none"}]}
    )
    state = order(desire("bad", "bad.avsc", bad, "AVRO"), desire("good", "good.avsc", '"int"', "AVRO"))
    with connect("memory:") as registry:
        result = run(state, registry)
        assert registry.subjects() == ()
    assert result.problems == state.problems
    assert not result.fine
    assert {one.where for one in result.problems} == {"bad.avsc"}


@pytest.mark.parametrize(
    ("words", "subject", "number"),
    [
        ("money", ":.prod:money", 2),
        ("money:1", ":.prod:money", 1),
        (":.base:money", ":.base:money", 3),
        (":.base:money:2", ":.base:money", 2),
        ("money:new", ":.prod:money:new", 1),
        ("12", ":.prod:12", 1),
        (":12", ":.prod::12", 1),
    ],
)
def test_words_lead_to_a_subject_of_the_same_context_and_to_its_latest_version(
    words: str, subject: str, number: int
) -> None:
    texts = [MONEY.replace("cents", name) for name in ("cents", "pence", "euros")]
    script: list[Request[Any]] = [SetConfig(Scope(context), Config(level="NONE")) for context in (".prod", ".base")]
    script += [
        Register(Subject(context, "money"), Draft(one))
        for context, count in ((".prod", 2), (".base", 3))
        for one in texts[:count]
    ]
    script += [Register(Subject(".prod", name), Draft(MONEY)) for name in ("money:new", "12", ":12")]
    wanted = desire(":.prod:order", "o.avsc", ORDER, "AVRO", references=(("org.acme.Money", words),))
    with filled(script) as registry:
        assert run(order(wanted), registry).fine
        (reference,) = registry.version(":.prod:order").references
        assert (subject_of(reference.subject, ".prod"), reference.version) == (subject_of(subject), number)
        home = subject_of(subject)
        assert reference == Reference("org.acme.Money", home.name if home.context == ".prod" else subject, number)


@pytest.mark.parametrize(
    "wish", [("", None), ("FULL", None), ("", True), ("", False), ("NONE", True), ("BACKWARD", None)]
)
@pytest.mark.parametrize(
    "own",
    [None, Config(level="NONE"), Config(level="FULL", normalize=True), Config(normalize=False)],
    ids=["none", "a level", "both", "no level"],
)
def test_a_plan_names_the_settings_that_change_and_a_run_changes_these(
    wish: tuple[str, bool | None], own: Config | None
) -> None:
    level, normalize = wish
    wanted = order(desire("s", "s.avsc", '"long"', "AVRO", level=level, normalize=normalize))
    script: list[Request[Any]] = [] if own is None else [SetConfig(Scope(".", "s"), own)]
    with filled([*script, SetConfig(Scope("."), Config(level="FULL", normalize=True))]) as registry:
        before = own or Config()
        planned, done = run(wanted, registry, dry_run=True), run(wanted, registry)
        pairs = {"level": (before.level, level or None), "normalize": (before.normalize, normalize)}
        changes = tuple(
            (name, None if old is None else str(old), str(new))
            for name, (old, new) in pairs.items()
            if new is not None and old != new
        )
        assert planned == done
        assert done.changes[0].settings == changes
        after = registry.config("s", resolve=True)
        assert (after.level, after.normalize) == (
            level or before.level or "FULL",
            (True if before.normalize is None else before.normalize) if normalize is None else normalize,
        )


@pytest.mark.parametrize("first", ["a", "b"], ids=["the refused one first", "the refused one last"])
def test_a_refused_subject_is_told_beside_the_others_and_nothing_is_written(first: str) -> None:
    names = [first, "ab".replace(first, "")]
    wanted = order(*(desire(name, f"{name}.avsc", '"string"', "AVRO", level="FULL") for name in names))
    with filled([Register(Subject(".", "a"), Draft('"int"'))]) as registry:
        for dry_run in (True, False):
            result = run(wanted, registry, dry_run=dry_run)
            kinds = {str(one.desired.subject): one for one in result.changes}
            assert {name: one.kind for name, one in kinds.items()} == {"a": "refused", "b": "new subject"}
            assert not result.fine
            assert isinstance(kinds["a"].refusal, Incompatible)
            assert kinds["a"].why == str(kinds["a"].refusal)
            assert kinds["a"].settings == kinds["b"].settings == (("level", None, "FULL"),)
            assert (kinds["b"].number, kinds["a"].number) == (1, 0)
        assert registry.subjects() == ("a",)


def test_a_change_says_the_number_of_the_version() -> None:
    script = [
        Register(Subject(".", f"other{at}"), Draft(f'{{"type":"fixed","name":"F","size":{at + 1}}}')) for at in range(3)
    ]
    with filled([*script, Register(Subject(".", "s"), Draft('"int"'))]) as registry:
        (change,) = run(order(desire("s", "s.avsc", '"long"', "AVRO")), registry).changes
        assert (change.kind, change.number) == ("new version", 2)

"""What nodes say to each other: every command, answer and error comes out as it went in, and nothing unknown gets in."""

import json
from dataclasses import replace
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treaty.core import refusals
from treaty.core.command import Command
from treaty.core.decide import LAWS
from treaty.core.finding import Fault, Finding
from treaty.core.names import Subject
from treaty.core.refusals import (
    Incompatible,
    InvalidSchema,
    OutcomeUnknown,
    Reason,
    Refusal,
    Unauthenticated,
    Unavailable,
)
from treaty.core.registry import Reply, Token
from treaty.core.requests import DeleteSubject, Register
from treaty.core.rights import Access, Rule
from treaty.core.schema import Draft
from treaty.wire.peer.errors import KINDS
from treaty.wire.peer.forms import FormError
from treaty.wire.peer.message import (
    VERSION,
    Classes,
    Done,
    Failed,
    Handed,
    Late,
    Moved,
    Refused,
    Told,
    VersionError,
    answer_of,
    handed_bytes,
    handed_from,
    told_bytes,
    told_from,
)

COMMANDS = sorted((kind for kind, law in LAWS.items() if law.writes), key=lambda kind: kind.__name__)
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=12)
"""Halves of surrogate pairs too: the law refuses them with a sentence of its own, and must see them for that."""
TOKENS = st.builds(Token, st.text("0123456789abcdef"), st.integers(0, 10**17), st.text("0123456789abcdef"))
QUICK = settings(max_examples=60, deadline=None)


def of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type, as its hints say."""
    origin, inside = get_origin(hint), get_args(hint)
    if hint is str:
        return ANYTHING
    if origin in {Union, UnionType}:
        return st.one_of(*map(of, inside))
    if origin is frozenset:
        return st.frozensets(of(inside[0]), max_size=3)
    if origin is tuple and inside[-1] is Ellipsis:
        return st.lists(of(inside[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(of, inside))
    if isinstance(hint, type) and get_type_hints(hint):
        return st.builds(hint, **{name: of(each) for name, each in get_type_hints(hint).items()})
    return st.from_type(hint)


@st.composite
def handed_over(draw: st.DrawFn) -> Handed:
    request = draw(st.sampled_from(COMMANDS).flatmap(of))
    rules = draw(st.none() | st.lists(of(Rule), max_size=3).map(tuple))
    command = Command(
        request, draw(ANYTHING), draw(st.integers(0, 2**60)), draw(ANYTHING), None if rules is None else Access(rules)
    )
    seconds = draw(st.floats(0, 1e6))
    return Handed(command, seconds, draw(st.integers(0)), draw(st.integers(0)), draw(TOKENS))


def same_command(one: Handed, other: Handed) -> bool:
    """Equal; a class of rights is told by its rules."""
    rules = [each.command.access and each.command.access.rules for each in (one, other)]
    bare = [replace(each, command=replace(each.command, access=None)) for each in (one, other)]
    return rules[0] == rules[1] and bare[0] == bare[1]


@QUICK
@given(handed_over())
def test_a_command_travels_exactly(handed: Handed) -> None:
    assert same_command(handed_from(handed_bytes(handed), Classes()), handed)


@pytest.mark.parametrize("kind", COMMANDS)
def test_every_kind_of_command_travels_exactly(kind: type) -> None:
    @settings(max_examples=25, deadline=None)
    @given(of(kind))
    def each(request: Any) -> None:
        handed = Handed(Command(request, "id", 7, "user:ada"), 1.5, 9)
        assert same_command(handed_from(handed_bytes(handed), Classes()), handed)

    each()


@pytest.mark.parametrize("kind", COMMANDS)
def test_every_kind_of_answer_travels_exactly(kind: type) -> None:
    request: Any = object.__new__(kind)  # only its class counts

    @settings(max_examples=25, deadline=None)
    @given(of(answer_of(kind)), TOKENS)
    def each(answer: Any, token: Token) -> None:
        assert told_from(told_bytes(Done(Reply(answer, token))), request) == Done(Reply(answer, token))

    each()


def errors() -> st.SearchStrategy[Any]:
    reasons, texts = of(Reason), ANYTHING
    special: dict[type, st.SearchStrategy[Any]] = {
        InvalidSchema: st.builds(InvalidSchema, reasons, st.lists(of(Fault), max_size=2).map(tuple)),
        Incompatible: st.builds(Incompatible, reasons, st.lists(of(Finding), max_size=2).map(tuple)),
        Unauthenticated: st.builds(Unauthenticated, reasons, st.lists(texts, max_size=2).map(tuple)),
        OutcomeUnknown: st.builds(OutcomeUnknown, texts),
    }
    plain: dict[type, st.SearchStrategy[Any]] = {
        kind: st.builds(kind, texts, st.floats(0, 1e6)) if issubclass(kind, Unavailable) else st.builds(kind, reasons)
        for kind in KINDS.values()
    }
    return st.one_of(*(plain | special).values())


@settings(max_examples=300, deadline=None)
@given(errors(), TOKENS)
def test_an_error_is_the_same_class_with_the_same_members(error: Any, token: Token) -> None:
    told = told_from(told_bytes(Refused(error, token)), DeleteSubject(Subject(".", "s")))
    assert isinstance(told, Refused)
    assert told.token == token
    assert type(told.error) is type(error)
    assert vars(told.error) == vars(error)
    assert str(told.error) == str(error)


def test_all_errors_of_a_registry_travel() -> None:
    assert set(KINDS.values()) >= {
        kind for kind in vars(refusals).values() if isinstance(kind, type) and issubclass(kind, Refusal)
    }


@pytest.mark.parametrize("told", [Moved(), Moved("http://b:1"), Late(), Failed("KeyError")], ids=str)
def test_what_else_is_said_travels(told: Told) -> None:
    assert told_from(told_bytes(told), DeleteSubject(Subject(".", "s"))) == told


# ------------------------------------------------------------------------------------------------------- refused

PLAIN = Handed(Command(Register(Subject(".", "s"), Draft("{}")), "id", 7, "user:ada", Access(())), 1.5, 9)


def changed(**members: Any) -> bytes:
    return json.dumps({**json.loads(handed_bytes(PLAIN)), **members}).encode()


@pytest.mark.parametrize(
    "members",
    [
        {"kind": "GetSchema"},
        {"kind": "Nonsense"},
        {"more": 1},
        {"request": {"subject": [".", "s"], "draft": {"text": "{}"}, "later": 1}},
        {"request": {"subject": [".", "s"], "draft": {"text": "{}", "later": 1}}},
        {"request": {"subject": ["."], "draft": {"text": "{}"}}},
        {"request": {"subject": [".", "s"]}},
        {"request": {"subject": [".", "s"], "draft": {"text": "{}"}, "number": True}},
        {"request": {"subject": [".", "s"], "draft": {"text": "{}"}, "expected": {"by": "magic", "value": 1}}},
        {"request": []},
        {"rules": {}},
        {"rules": [{"who": [], "may": ["everything"]}]},
        {"seconds": 1},
        {"seconds": float("inf")},
        {"place": "nowhere"},
        {"last": "9"},
    ],
    ids=str,
)
def test_what_is_not_known_is_refused_and_not_passed_over(members: dict[str, Any]) -> None:
    with pytest.raises(FormError) as refused:
        handed_from(changed(**members), Classes())
    assert not isinstance(refused.value, VersionError)


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"[" * 100_000, b"null"])
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(FormError):
        handed_from(data, Classes())
    with pytest.raises(FormError):
        told_from(data, PLAIN.command.request)


def test_another_version_is_refused_by_its_number() -> None:
    with pytest.raises(VersionError, match=f"version 2 .* speaks {VERSION}"):
        handed_from(changed(version=2), Classes())
    with pytest.raises(VersionError):
        told_from(b'{"late": true}', PLAIN.command.request)


def test_members_at_their_default_do_not_travel_so_that_an_older_node_can_read_a_newer_ones() -> None:
    assert json.loads(handed_bytes(PLAIN))["request"] == {"subject": [".", "s"], "draft": {"text": "{}"}}


def test_what_is_too_large_is_refused_where_it_begins() -> None:
    large = Handed(Command(Register(Subject(".", "s"), Draft("x" * 2**24)), "id", 7), 1.5, 9)
    with pytest.raises(FormError, match="PEER_BYTES"):
        handed_bytes(large)


def test_the_same_rules_are_the_same_class_of_rights_and_few_are_kept() -> None:
    known = Classes(most=2)

    def of(name: str) -> Access | None:
        access = Access((Rule((name,), frozenset({"read"})),))
        command = replace(PLAIN.command, access=access)
        return handed_from(handed_bytes(replace(PLAIN, command=command)), known).command.access

    assert of("a") is of("a")
    assert of("a") is not of("b")
    of("c")
    assert len(known.known) == 2

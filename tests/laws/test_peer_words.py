"""What nodes say to each other: every command, answer and error comes out as it went in, and nothing unknown gets in."""

import json
from dataclasses import replace
from types import UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from treaty.core import refusals
from treaty.core.access.rights import Access, AccessRule
from treaty.core.command import Command
from treaty.core.finding import Diagnostic, Finding
from treaty.core.limits import PEER_BATCH
from treaty.core.messages.registration import Register
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import Subject
from treaty.core.operations import OPERATIONS
from treaty.core.refusals import (
    ERROR_CLASSES,
    Incompatible,
    InvalidSchema,
    OutcomeUnknown,
    Reason,
    Refusal,
    Unauthenticated,
    Unavailable,
)
from treaty.core.registry import Reply
from treaty.core.schema import Draft
from treaty.core.state.codec import DecodeError
from treaty.core.state.commit import PositionToken
from treaty.wire.peer import batch
from treaty.wire.peer.batch import (
    VERSION,
    KnownAccess,
    VersionError,
    decode_batch,
    decode_replies,
    encode_batch,
    encode_command,
    encode_replies,
)
from treaty.wire.peer.message import (
    DecidedReply,
    DeclinedReply,
    FailedReply,
    ForwardedCommand,
    ForwardReply,
    NotLeaderReply,
    RefusedReply,
    SequenceExceededReply,
)

COMMANDS = sorted((kind for kind, operation in OPERATIONS.items() if operation.writes), key=lambda kind: kind.__name__)
ANYTHING = st.text(st.characters(exclude_categories=()), max_size=12)
"""Halves of surrogate pairs too: the law refuses them with a sentence of its own, and must see them for that."""
TOKENS = st.builds(PositionToken, st.text("0123456789abcdef"), st.integers(0, 10**17), st.text("0123456789abcdef"))
QUICK = examples(60)


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
        hints = {name: each for name, each in get_type_hints(hint).items() if get_origin(each) is not ClassVar}
        # What this version does not know of a row stays in the log.
        return st.builds(hint, **{name: of(each) for name, each in hints.items() if name != "extra"})
    return st.from_type(hint)


@st.composite
def handed_over(draw: st.DrawFn) -> ForwardedCommand:
    request = draw(st.sampled_from(COMMANDS).flatmap(of))
    rules = draw(st.none() | st.lists(of(AccessRule), max_size=3).map(tuple))
    command = Command(
        request,
        draw(ANYTHING),
        draw(st.integers(0, 2**60)),
        draw(ANYTHING),
        None if rules is None else Access(rules),
        draw(st.booleans()),
    )
    seconds = draw(st.floats(0, 1e6))
    return ForwardedCommand(command, seconds, draw(st.integers(0)), draw(st.integers(0)), draw(TOKENS), draw(ANYTHING))


def same_command(one: ForwardedCommand, other: ForwardedCommand) -> bool:
    """Equal; a class of rights is told by its rules."""
    rules = [each.command.access and each.command.access.rules for each in (one, other)]
    bare = [replace(each, command=replace(each.command, access=None)) for each in (one, other)]
    return rules[0] == rules[1] and bare[0] == bare[1]


def travelled(handed: ForwardedCommand, known: KnownAccess | None = None) -> ForwardedCommand:
    """A command at the other end, alone in its batch."""
    (found,) = decode_batch(encode_batch([encode_command(handed)]), known or KnownAccess())
    assert isinstance(found, ForwardedCommand), found
    return found


def heard(told: ForwardReply, request: Any) -> ForwardReply:
    """What is said of a command, at the other end, alone in its line."""
    ((place, said),) = decode_replies(encode_replies([(7, told)]).removesuffix(b"\n"))
    assert place == 7
    return batch.decode_reply(said, request)


@QUICK
@given(st.lists(handed_over(), max_size=5))
def test_commands_travel_exactly(some: list[ForwardedCommand]) -> None:
    found = decode_batch(encode_batch(map(encode_command, some)), KnownAccess())
    assert len(found) == len(some)
    for one, other in zip(found, some, strict=True):
        assert isinstance(one, ForwardedCommand)
        assert same_command(one, other)
        assert one.request_id == other.request_id


@pytest.mark.parametrize("kind", COMMANDS)
def test_every_kind_of_command_travels_exactly(kind: type) -> None:
    @examples(25)
    @given(of(kind))
    def each(request: Any) -> None:
        handed = ForwardedCommand(Command(request, "id", 7, "user:ada"), 1.5, 9)
        assert same_command(travelled(handed), handed)

    each()


@pytest.mark.parametrize("kind", COMMANDS)
def test_every_kind_of_answer_travels_exactly(kind: type) -> None:
    request: Any = object.__new__(kind)  # only its class counts

    @examples(25)
    @given(of(OPERATIONS[kind].answer), TOKENS)
    def each(answer: Any, token: PositionToken) -> None:
        assert heard(DecidedReply(Reply(answer, token)), request) == DecidedReply(Reply(answer, token))

    each()


def errors() -> st.SearchStrategy[Any]:
    reasons, texts = of(Reason), ANYTHING
    special: dict[type, st.SearchStrategy[Any]] = {
        InvalidSchema: st.builds(InvalidSchema, reasons, st.lists(of(Diagnostic), max_size=2).map(tuple)),
        Incompatible: st.builds(Incompatible, reasons, st.lists(of(Finding), max_size=2).map(tuple)),
        Unauthenticated: st.builds(Unauthenticated, reasons, st.lists(texts, max_size=2).map(tuple)),
        OutcomeUnknown: st.builds(OutcomeUnknown, texts),
    }
    plain: dict[type, st.SearchStrategy[Any]] = {
        kind: st.builds(kind, texts, st.floats(0, 1e6)) if issubclass(kind, Unavailable) else st.builds(kind, reasons)
        for kind in ERROR_CLASSES.values()
    }
    return st.one_of(*(plain | special).values())


@examples(300)
@given(errors(), TOKENS)
def test_an_error_is_the_same_class_with_the_same_members(error: Any, token: PositionToken) -> None:
    told = heard(RefusedReply(error, token), DeleteSubject(Subject(".", "s")))
    assert isinstance(told, RefusedReply)
    assert told.token == token
    assert type(told.error) is type(error)
    assert vars(told.error) == vars(error)
    assert str(told.error) == str(error)


def test_all_errors_of_a_registry_travel() -> None:
    assert set(ERROR_CLASSES.values()) >= {
        kind for kind in vars(refusals).values() if isinstance(kind, type) and issubclass(kind, Refusal)
    }


@pytest.mark.parametrize(
    "told",
    [
        NotLeaderReply(),
        NotLeaderReply("http://b:1"),
        SequenceExceededReply(),
        FailedReply("KeyError"),
        DeclinedReply("full"),
    ],
    ids=str,
)
def test_what_else_is_said_travels(told: ForwardReply) -> None:
    assert heard(told, DeleteSubject(Subject(".", "s"))) == told


# ------------------------------------------------------------------------------------------------------- refused

PLAIN = ForwardedCommand(Command(Register(Subject(".", "s"), Draft("{}")), "id", 7, "user:ada", Access(())), 1.5, 9)


def changed(**members: Any) -> bytes:
    """A batch whose middle command has other members."""
    plain = encode_command(PLAIN)
    return encode_batch([plain, json.dumps({**json.loads(plain), **members}).encode(), plain])


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
        {"asked": None},
    ],
    ids=str,
)
def test_what_is_not_known_is_declined_and_not_passed_over_and_others_are_taken(members: dict[str, Any]) -> None:
    before, declined, after = decode_batch(changed(**members), KnownAccess())
    assert isinstance(declined, DeclinedReply)
    assert declined.message
    assert all(isinstance(one, ForwardedCommand) and same_command(one, PLAIN) for one in (before, after))


@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"\xff", b"[" * 100_000, b"null", b'{"version":3}', b'{"version":3,"commands":{},"told":{}}'],
    ids=range(7),
)
def test_what_is_no_message_is_refused(data: bytes) -> None:
    with pytest.raises(DecodeError) as refused:
        decode_batch(data, KnownAccess())
    assert not isinstance(refused.value, VersionError)
    with pytest.raises(DecodeError):
        decode_replies(data)


@pytest.mark.parametrize("told", [b"7", b"[7]", b'["7",{}]', b"[7,{},1]", b"[true,{}]"])
def test_an_answer_has_a_place(told: bytes) -> None:
    with pytest.raises(DecodeError, match="a place and what is said"):
        decode_replies(b'{"version":3,"told":[' + told + b"]}")


@pytest.mark.parametrize("said", [None, [], {}, {"done": 1}, {"late": False}, {"moved": "a", "more": 1}], ids=str)
def test_what_says_nothing_is_refused(said: Any) -> None:
    with pytest.raises(DecodeError):
        batch.decode_reply(said, PLAIN.command.request)


def test_a_command_that_is_none_is_declined() -> None:
    plain = encode_command(PLAIN)
    found = decode_batch(encode_batch([b"7", plain, b"null", b"{}"]), KnownAccess())
    assert [isinstance(one, ForwardedCommand) for one in found] == [False, True, False, False]


def test_half_characters_in_one_command_touch_no_other() -> None:
    strange = replace(PLAIN, command=replace(PLAIN.command, command_id="\ud800"))
    found = decode_batch(encode_batch(map(encode_command, [PLAIN, strange])), KnownAccess())
    assert all(same_command(one, other) for one, other in zip(found, [PLAIN, strange], strict=True))  # type: ignore[arg-type]  # see the id


def test_no_more_commands_than_a_batch_may_have() -> None:
    plain = encode_command(PLAIN)
    assert len(decode_batch(encode_batch([plain] * PEER_BATCH), KnownAccess())) == PEER_BATCH
    with pytest.raises(DecodeError, match="PEER_BATCH"):
        decode_batch(encode_batch([plain] * (PEER_BATCH + 1)), KnownAccess())


def test_an_answer_that_is_too_long_is_left_out_and_long_ones_have_lines_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batch, "PEER_BYTES", 1_000)
    told = [
        (0, NotLeaderReply("a" * 600)),
        (1, NotLeaderReply("b" * 600)),
        (2, NotLeaderReply("c" * 2_000)),
        (3, NotLeaderReply("d")),
    ]
    lines = encode_replies(told).splitlines()
    assert [[place for place, _ in decode_replies(line)] for line in lines] == [[0], [1, 3]]


def test_another_version_is_refused_by_its_number() -> None:
    with pytest.raises(VersionError, match=f"version 4 .* speaks {VERSION}"):
        decode_batch(b'{"version":4,"commands":[]}', KnownAccess())
    with pytest.raises(VersionError):
        decode_replies(b'{"told":[]}')


def test_members_at_their_default_do_not_travel_so_that_an_older_node_can_read_a_newer_ones() -> None:
    assert json.loads(encode_command(PLAIN))["request"] == {"subject": [".", "s"], "draft": {"text": "{}"}}


def test_what_is_too_large_is_refused_where_it_begins() -> None:
    large = ForwardedCommand(Command(Register(Subject(".", "s"), Draft("x" * 2**24)), "id", 7), 1.5, 9)
    with pytest.raises(DecodeError, match="PEER_BYTES"):
        encode_command(large)


def test_the_same_rules_are_the_same_class_of_rights_and_few_are_kept() -> None:
    known = KnownAccess(most=2)

    def of(name: str) -> Access | None:
        access = Access((AccessRule((name,), frozenset({"read"})),))
        command = replace(PLAIN.command, access=access)
        return travelled(replace(PLAIN, command=command), known).command.access

    assert of("a") is of("a")
    assert of("a") is not of("b")
    of("c")
    assert len(known.known) == 2

"""The codec as a law: what travels comes out equal, for every operation, and nothing that is not known gets in."""

import base64
import json
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.laws.test_peer_words import of
from treaty.core import schema
from treaty.core.limits import OPAQUE_BYTES
from treaty.core.messages.associations import ListAssociations, OfId, OfName, OfSubject
from treaty.core.names import Subject
from treaty.core.operations import OPERATIONS, Operation
from treaty.core.schema import decode_base64, encode_base64
from treaty.core.state import codec
from treaty.core.state.codec import DecodeError, decode_message, dumps, dumps_in_steps, encode_message

QUICK = examples(40)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_requests_and_answers_of_every_operation_travel_exactly(operation: Operation[Any, Any]) -> None:
    @QUICK
    @given(of(operation.request))
    def asked(request: Any) -> None:
        assert decode_message(operation.request, travelled(request)) == request

    @QUICK
    @given(of(operation.answer))
    def answered(answer: Any) -> None:
        assert decode_message(operation.answer, travelled(answer)) == answer

    asked()
    answered()


def other_than(default: Any) -> Any:
    """A value that is equal to a default and of its type, and another object where Python can make one."""
    if is_dataclass(default) and not isinstance(default, type):
        return replace(default)
    if isinstance(default, str):
        return "".join([*default])
    return int(str(default)) if type(default) is int else default


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_a_member_that_is_equal_to_its_default_is_not_written(operation: Operation[Any, Any]) -> None:
    """Equal requests have one text, whoever made them: rows, digests and roots hang on it."""
    equal = {one.name: other_than(one.default) for one in fields(operation.request) if one.default is not MISSING}
    others = {
        name for name, value in equal.items() if value is not operation.request.__dataclass_fields__[name].default
    }
    if not others:
        return

    @examples(1)
    @given(of(operation.request))
    def written(request: Any) -> None:
        assert not {*encode_message(replace(request, **equal))} & equal.keys()

    written()


@pytest.mark.parametrize("one", [OfSubject(Subject(".", "s")), OfName("n"), OfName("n", "-x"), OfId("i")])
def test_classes_in_one_place_are_told_apart_by_their_members(one: OfSubject | OfName | OfId) -> None:
    request = ListAssociations(one)
    assert decode_message(ListAssociations, travelled(request)) == request


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([], "expected an object for ListAssociations, got list"),
        ({}, "lacks its member 'of'"),
        ({"of": {"id": "i"}, "strange": 1}, "has a member 'strange' that this version does not know"),
        ({"of": {"id": "i", "name": "n"}}, "of has not the members of one of OfSubject, OfName, OfId"),
        ({"of": {"subject": ["."]}}, "OfSubject.subject has 1 parts, and 2 are expected"),
        ({"of": {"id": "i"}, "limit": True}, "ListAssociations.limit must be int, got bool"),
        ({"of": {"id": "i"}, "kinds": "key"}, "ListAssociations.kinds must be an array"),
    ],
)
def test_what_is_not_known_is_refused_with_its_place(members: Any, message: str) -> None:
    with pytest.raises(DecodeError, match=message):
        decode_message(ListAssociations, members)


TEXTS = st.text(max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(TEXTS, inside, max_size=4),
    max_leaves=12,
)


@QUICK
@given(VALUES, st.integers(1, 4))
def test_a_value_encoded_in_steps_has_the_same_text(value: Any, step: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(codec, "STEP_CHARACTERS", step)
        assert dumps_in_steps(value) == dumps(value)


def test_half_characters_and_escapes_at_the_end_of_a_step_have_the_same_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "STEP_CHARACTERS", 2)
    text = '"\\\n\ud83d\ude00\ud83d"' + "\U0001f600\u2028\x00\x7f"
    assert dumps_in_steps([text, {text: text}]) == dumps([text, {text: text}])


def travelled(value: Any) -> Any:
    return json.loads(json.dumps(encode_message(value)))


@given(st.binary(max_size=40))
def test_base64_in_steps_is_base64(data: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "STEP_BYTES", 6)
        text = encode_base64(data)
        assert text == base64.b64encode(data).decode()
        assert decode_base64(text) == data
        for wrong in (
            text + text if text.endswith("=") else text + "=",
            text[:5],
            f"{text[:8]}==={text[8:]}",
            text + "é",
        ):
            plain = None if len(wrong) % 4 else _decode(base64.b64decode, wrong, validate=True)
            assert _decode(decode_base64, wrong) == plain


def _decode(decode: Callable[..., bytes], text: str, **more: bool) -> bytes | None:
    """The bytes of a text; None where it is refused."""
    try:
        return decode(text, **more)
    except ValueError:
        return None


def test_no_step_of_base64_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    def note(data: bytes | str, **more: bool) -> bytes:
        steps.append(len(data))
        return b"AAAA"

    monkeypatch.setattr(base64, "b64encode", note)
    monkeypatch.setattr(base64, "b64decode", note)
    encode_base64(bytes(OPAQUE_BYTES))
    decode_base64("A" * OPAQUE_BYTES)
    assert sum(steps) == 2 * OPAQUE_BYTES
    assert max(steps) <= schema.STEP_BYTES // 3 * 4

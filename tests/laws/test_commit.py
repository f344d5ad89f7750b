"""Appends and their envelope: damage is seen, the prefix is fixed, identity comes from the first attempt."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treaty.core.state.commit import (
    START,
    Append,
    Commit,
    EnvelopeError,
    Position,
    PositionToken,
    make_append,
    read_append,
    roots_of,
)
from treaty.core.state.rows import EncodedRow

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
encoded = st.builds(EncodedRow, texts, texts, st.none() | texts)
chains = st.lists(st.lists(encoded, max_size=3).map(tuple), min_size=1, max_size=4)
attempts = st.binary(min_size=16, max_size=16)


def append(base: Position, attempt: bytes, rows: list[tuple[EncodedRow, ...]]) -> Append:
    commits = tuple(
        Commit(base.sequence + place, commit_rows, f"c{place}", place) for place, commit_rows in enumerate(rows, 1)
    )
    return make_append(base, attempt, commits, roots_of(row for commit_rows in rows for row in commit_rows))


@given(attempts, chains)
def test_an_append_reads_back(attempt: bytes, rows: list[tuple[EncodedRow, ...]]) -> None:
    commits = append(START, attempt, rows)

    assert read_append(commits.envelope) == commits


@given(attempts, chains, chains, attempts)
def test_the_first_attempt_is_the_identity_and_digests_chain(
    first: bytes, rows: list[tuple[EncodedRow, ...]], more: list[tuple[EncodedRow, ...]], second: bytes
) -> None:
    commits = append(START, first, rows)
    two = append(commits.position, second, more)

    assert commits.identity == two.identity == first
    assert two.parent == commits.digest
    assert two.first == commits.last + 1


@given(attempts, chains, st.data())
def test_damage_is_seen(attempt: bytes, rows: list[tuple[EncodedRow, ...]], data: st.DataObject) -> None:
    envelope = append(START, attempt, rows).envelope
    place = data.draw(st.integers(0, len(envelope) - 1))
    bit = data.draw(st.integers(0, 7))
    damaged = envelope[:place] + bytes([envelope[place] ^ (1 << bit)]) + envelope[place + 1 :]

    with pytest.raises(EnvelopeError):
        read_append(damaged)
    with pytest.raises(EnvelopeError):
        read_append(envelope[:place])


def test_the_prefix_never_changes() -> None:
    commits = append(Position(b"i" * 16, 41, b"p" * 32), b"a" * 16, [(), ()])

    head = struct.pack(">4sH16s16s32sQI", b"TRTY", 1, b"i" * 16, b"a" * 16, b"p" * 32, 42, 2)
    assert commits.envelope.startswith(head)
    assert commits.envelope[len(head) :].startswith(commits.digest + commits.root + commits.body)


def test_a_newer_envelope_is_told_from_something_else() -> None:
    envelope = append(START, b"a" * 16, [()]).envelope

    with pytest.raises(EnvelopeError, match="format 3") as newer:
        read_append(envelope[:4] + b"\x00\x03" + envelope[6:])
    with pytest.raises(EnvelopeError) as other:
        read_append(b"{}")
    assert (newer.value.magic, other.value.magic) == (True, False)


def test_a_chain_without_a_gap() -> None:
    for bad in ((), (Commit(2, ()),), (Commit(1, ()), Commit(3, ()))):
        with pytest.raises(ValueError, match="chain"):
            make_append(START, b"a" * 16, bad, {})


@given(st.builds(Position, attempts, st.integers(1, 2**53), st.binary(min_size=32, max_size=32)))
def test_a_token_says_the_place_in_words(position: Position) -> None:
    assert PositionToken.parse(str(position.token)) == position.token


@pytest.mark.parametrize("text", ["", "a.b", "a.-1.c", "a.1_0.c", "a.¹.c", "a." + "9" * 30 + ".c"])
def test_what_is_no_token(text: str) -> None:
    assert PositionToken.parse(text) is None

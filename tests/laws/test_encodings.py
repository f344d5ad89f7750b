"""Encodings: an id stands for one version and one codec for good, and nothing that a payload needs goes without force."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.laws.toy import Bench, put, toy
from tests.worlds.world import World, worlds
from treaty.core import limits
from treaty.core.invariants import find_violations
from treaty.core.messages.encodings import AddCodec, AssignEncoding, CodecType, GetEncoding, ListCodecs, ListEncodings
from treaty.core.messages.registration import Register
from treaty.core.messages.settings import Config, Scope, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion
from treaty.core.names import Subject
from treaty.core.refusals import (
    CodecExists,
    CodecNotFound,
    Conflicting,
    Encoded,
    EncodingNotFound,
    InvalidCodec,
    SubjectNotFound,
    TooLarge,
    VersionNotFound,
)
from treaty.core.state.rows import Row, encode_row
from treaty.core.state.state_tables import COUNTER, ENCODING, IDS_SPARED, encodings_key
from treaty.core.state.values import Counter

S = Subject(".", "s")
GZIP = CodecType("gzip", (("level", "6"),))


def assign(bench: Bench, ordinal: int, codec: str = "") -> int:
    return bench.do(AssignEncoding(S, ordinal, codec)).encoding_id


@pytest.fixture
def bench() -> Bench:
    made = Bench()
    put(made, S, "a")
    made.do(AddCodec(S, GZIP))
    return made


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["", "gzip", "zip"])), max_size=25))
def test_each_pair_has_one_id_and_ids_have_no_gaps(pairs: list[tuple[int, str]]) -> None:
    bench = Bench()
    for count in range(1, 5):
        put(bench, S, *("a", "b?", "c?", "d?")[:count])
    for name in ("gzip", "zip"):
        bench.do(AddCodec(S, CodecType(name)))
    given_: dict[tuple[int, str], int] = {}
    for pair in pairs:
        told = bench.do(AssignEncoding(S, *pair))
        assert told.created is (pair not in given_)
        assert told.encoding_id == given_.setdefault(pair, len(given_))
    for (ordinal, codec), encoding_id in given_.items():
        found = bench.do(GetEncoding(S, encoding_id))
        assert (found.version.ordinal, found.codec.name, found.encoding_id) == (ordinal, codec, encoding_id)
    for last in range(-1, len(given_) + 1):
        assert bench.do(ListEncodings(S, last)).ids == tuple(range(last + 1, len(given_)))
    assert [*find_violations(bench.tables)] == []


@given(
    worlds(1),
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["", "gzip", "zip"])), min_size=4, max_size=18),
    st.sets(st.integers(1, 3), max_size=2),
    st.sets(st.integers(1, 3), max_size=2),
)
def test_pages_of_encodings_have_all_of_them_once(
    world: World, pairs: list[tuple[int, str]], softly: set[int], purged: set[int]
) -> None:
    """Whatever the order in which they were assigned, behind gaps, and of versions that are deleted."""
    bench = Bench()
    world.begin(bench.do, S)
    bench.do(SetConfig(Scope(*S), Config(level="NONE")))
    there = [put(bench, S, "a", *("b?", "c?", "d?", "e?")[:count]) for count in range(4)]
    for name in ("gzip", "zip"):
        bench.do(AddCodec(S, CodecType(name)))
    given_: dict[tuple[int, str], int] = {}
    for at, codec in pairs:
        version = there[at]
        given_[version.ordinal, codec] = assign(bench, version.ordinal, codec)
    for at in softly | purged:
        bench.do(DeleteVersion(S, there[at].number))
    for at in purged:
        bench.do(DeleteVersion(S, there[at].number, permanent=True, force=True))
    gone = {there[at].ordinal for at in purged}
    given_ = {pair: encoding for pair, encoding in given_.items() if pair[0] not in gone}
    with world.paged():
        listed: list[int] = []
        while page := bench.do(ListEncodings(S, listed[-1] if listed else -1)).ids:
            assert len(page) <= limits.ENCODINGS_PAGE
            listed += page
    assert listed == sorted(given_.values())
    for (ordinal, codec), encoding_id in given_.items():
        found = bench.do(GetEncoding(S, encoding_id))
        assert (found.version.ordinal, found.codec.name) == (ordinal, codec)


def test_codecs_keep_their_properties(bench: Bench) -> None:
    assert not bench.do(AddCodec(S, GZIP)).created
    with pytest.raises(CodecExists) as refused:
        bench.do(AddCodec(S, replace(GZIP, properties=(("level", "9"),))))
    assert (refused.value.reason.old, refused.value.reason.new) == ("level", "level"), "values may be secrets"
    several = CodecType("several", (("a", "1"), ("b", "2")))
    assert bench.do(AddCodec(S, several)).created
    assert not bench.do(AddCodec(S, replace(several, properties=several.properties[::-1]))).created
    assert bench.do(AddCodec(S, CodecType("a"))).created
    assert bench.do(ListCodecs(S)).codecs == (CodecType("a"), GZIP, several)
    assert bench.do(GetEncoding(S, assign(bench, 0, "gzip"))).codec == GZIP


@pytest.mark.parametrize(
    ("codec", "refusal"),
    [
        (CodecType(""), InvalidCodec),
        (CodecType("a\nb"), InvalidCodec),
        (CodecType("c", (("a", "1"), ("a", "2"))), InvalidCodec),
        (CodecType("c" * (limits.NAME_LENGTH + 1)), TooLarge),
        (CodecType("c", (("a", "x" * limits.CODEC_CHARACTERS),)), TooLarge),
    ],
)
def test_codecs_that_can_not_be(bench: Bench, codec: CodecType, refusal: type[Exception]) -> None:
    with pytest.raises(refusal):
        bench.do(AddCodec(S, codec))


def test_a_subject_has_so_many_codecs_and_no_more(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CODECS_PER_SUBJECT", 2)
    bench.do(AddCodec(S, CodecType("a")))
    with pytest.raises(TooLarge, match="2 codecs"):
        bench.do(AddCodec(S, CodecType("b")))


def test_what_is_not_there_has_no_encoding(bench: Bench) -> None:
    nobody = Subject(".", "nobody")
    for request in (
        AddCodec(nobody, GZIP),
        ListCodecs(nobody),
        AssignEncoding(nobody, 0),
        GetEncoding(nobody, 0),
        ListEncodings(nobody),
    ):
        with pytest.raises(SubjectNotFound):
            bench.do(request)
    with pytest.raises(VersionNotFound):
        assign(bench, 7, "unknown")  # the version is asked for first
    with pytest.raises(CodecNotFound):
        assign(bench, 0, "unknown")
    with pytest.raises(EncodingNotFound):
        bench.do(GetEncoding(S, 0))


def test_a_deleted_version_keeps_its_encodings_and_gets_no_new_one(bench: Bench) -> None:
    put(bench, S, "a", "b?")
    kept = assign(bench, 0)
    bench.do(DeleteVersion(S, 1))
    assert assign(bench, 0) == kept
    assert bench.do(GetEncoding(S, kept)).version.deleted
    with pytest.raises(VersionNotFound, match="ordinal 0"):
        assign(bench, 0, "gzip")
    put(bench, S, "a")  # the same schema again hides the old version, whose payloads can still be read
    assert bench.do(GetEncoding(S, kept)).version.ordinal == 0
    assert assign(bench, 2) == kept + 1


def test_what_payloads_need_goes_by_force_alone(bench: Bench) -> None:
    put(bench, S, "a", "b?")
    assign(bench, 0)
    bench.do(DeleteVersion(S, 1))
    with pytest.raises(Encoded) as refused:
        bench.do(DeleteVersion(S, 1, permanent=True))
    assert "force=true" in refused.value.reason.allowed
    bench.do(DeleteVersion(S, 1, permanent=True, force=True))
    with pytest.raises(EncodingNotFound):
        bench.do(GetEncoding(S, 0))
    assert assign(bench, 1) == 1, "an id is given once"
    bench.do(DeleteSubject(S))
    with pytest.raises(Encoded):
        bench.do(DeleteSubject(S, permanent=True))
    bench.do(DeleteSubject(S, permanent=True, force=True))
    assert [*bench.tables.keys(ENCODING)] == []


def test_no_other_way_takes_what_payloads_need(bench: Bench) -> None:
    assign(bench, 0)
    bench.do(DeleteVersion(S, 1))
    with pytest.raises(Encoded):
        bench.do(DeleteVersion(S, 1, permanent=True))  # the last version, with which the subject goes
    with pytest.raises(Encoded):
        bench.do(SetMode(Scope(*S), "IMPORT"))
    bench.do(SetMode(Scope(*S), "IMPORT", force=True))
    with pytest.raises(Encoded):
        bench.do(Register(S, toy("z"), number=1, schema_id=9))


def test_a_hidden_version_that_goes_along_is_asked_for_too(bench: Bench) -> None:
    """An old version of the same schema goes with the one that is removed."""
    assign(bench, 0)
    put(bench, S, "a", "b?")
    bench.do(DeleteVersion(S, 1))
    again = put(bench, S, "a")
    bench.do(DeleteVersion(S, again.number))
    with pytest.raises(Encoded):
        bench.do(DeleteVersion(S, again.number, permanent=True))


def test_a_subject_made_anew_has_nothing_of_its_predecessor(bench: Bench) -> None:
    assign(bench, 0, "gzip")
    bench.do(DeleteSubject(S))
    bench.do(DeleteSubject(S, permanent=True, force=True))
    assert [*bench.tables.keys(ENCODING)] == []
    put(bench, S, "z")
    assert bench.do(ListCodecs(S)).codecs == ()
    with pytest.raises(EncodingNotFound):
        bench.do(GetEncoding(S, 0))
    assert assign(bench, 0) == 1


def test_ids_of_a_log_that_was_restored_begin_behind_the_gap(bench: Bench) -> None:
    """They may have been given after the dump was taken, to subjects that had none in it."""
    spared = encode_row(Row("counter", IDS_SPARED, Counter(1_000)))
    bench.tables.apply((spared,), bench.tables.position)
    assert assign(bench, 0) == 1_001
    assert bench.tables.get(COUNTER, encodings_key(S)) == Counter(1_001)


def test_a_subject_that_may_only_be_read_gets_neither(bench: Bench) -> None:
    known = assign(bench, 0)
    bench.do(SetMode(Scope(*S), "READONLY"))
    assert assign(bench, 0) == known
    for request in (AddCodec(S, CodecType("new")), AssignEncoding(S, 0, "gzip")):
        with pytest.raises(Conflicting):
            bench.do(request)

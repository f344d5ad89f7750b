"""Identity of groups: which texts and bytes are the same version, and what is kept of them."""

import pytest

from tests.laws.grouped import SPELLINGS, S, add, group, spelled
from tests.laws.toy import Bench, put, toy
from treaty.core import limits
from treaty.core.handlers.versions import stored_versions
from treaty.core.invariants import find_violations
from treaty.core.messages.groups import (
    FORMAT,
    CheckReading,
    DeleteOrdinal,
    FindSameVersion,
    GetOrdinal,
    ListGroupVersions,
)
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.schemas import GetSchema
from treaty.core.messages.settings import Config, Scope, SetMode
from treaty.core.messages.versions import GetVersion, Lookup, VersionFound
from treaty.core.policy import Level
from treaty.core.refusals import InvalidSchema, Refusal, SchemaNotFound, TooLarge
from treaty.core.schema import Draft, Metadata
from treaty.core.state.values import Version


@pytest.mark.parametrize(
    ("identity", "ordinals", "ids"),
    [("canonical", [0, 0, 1], 2), ("normalised", [0, 0, 0], 1), ("exact", [0, 1, 2], 2)],
)
def test_the_identity_of_a_subject_says_what_is_the_same(identity: str, ordinals: list[int], ids: int) -> None:
    bench = group(identity=identity)
    for _ in range(2):
        assert [add(bench, spelled(text)).ordinal for text in SPELLINGS] == ordinals
        assert [bench.do(FindSameVersion(S, spelled(text))).ordinal for text in SPELLINGS] == ordinals
        assert [bench.do(Lookup(S, spelled(text))).ordinal for text in SPELLINGS] == ordinals
    live = bench.do(ListGroupVersions(S)).versions
    assert len({one.schema_id for one in live}) == ids
    assert [*find_violations(bench.tables)] == []


def test_a_normalised_version_keeps_its_text_and_guid() -> None:
    """The guid is over the canonical text as sent, as if the subject were any other."""
    bench, plain = group(identity="normalised"), Bench()
    sent = add(bench, spelled(SPELLINGS[2]))
    assert (sent.text, sent.guid) == (SPELLINGS[2], put(plain, S, "b", "a").guid)


def test_properties_of_versions_are_not_compared_and_metadata_is() -> None:
    bench = group(identity="normalised")
    add(bench, toy("a"))
    assert not bench.do(Register(S, toy("a"), properties=(("p", "1"),))).created
    assert bench.do(Register(S, toy("a", metadata=Metadata(properties=(("p", "1"),))))).created


def test_a_subject_is_created_with_its_identity_by_a_registration() -> None:
    bench = Bench()
    made = SubjectCreation("pravega", identity="normalised")
    assert [bench.do(Register(S, spelled(text), create_with=made)).version.ordinal for text in SPELLINGS] == [0, 0, 0]


def test_bytes_are_kept_as_they_were_sent() -> None:
    bench = group(identity="exact")
    sent = [*(spelled(text) for text in SPELLINGS), spelled(SPELLINGS[0], data=b"\x00proto")]
    for draft in sent:
        add(bench, draft)
    datas = [bench.do(GetOrdinal(S, ordinal)).data for ordinal in range(4)]
    assert datas == [None, SPELLINGS[1].encode(), None, b"\x00proto"]
    assert bench.do(GetOrdinal(S, 3)).text == SPELLINGS[0]
    assert add(bench, sent[3]).ordinal == 3
    assert bench.do(GetVersion(S, 2)).data is None, "Confluent's versions have a text alone"


def test_a_deleted_version_comes_back_as_another_one() -> None:
    bench = group(identity="exact", types="many")
    for text in SPELLINGS[:2]:
        for kind in ("T", "U"):
            add(bench, spelled(text, type_name=kind))
    for ordinal in range(4):
        bench.do(DeleteOrdinal(S, ordinal))
    with pytest.raises(SchemaNotFound):
        bench.do(FindSameVersion(S, spelled(SPELLINGS[0], type_name="T")))
    again = add(bench, spelled(SPELLINGS[0], type_name="T"))
    assert (again.ordinal, again.type_version, again.schema_id) == (4, 2, 1)
    assert bench.do(GetOrdinal(S, 0)).deleted
    states = [one[1].state for one in stored(bench)]
    assert states == ["hidden", "soft", "soft", "soft", "live"], "only what is the same again makes room"


def stored(bench: Bench) -> list[tuple[object, Version]]:
    return [*stored_versions(bench.tables, S)]


# ------------------------------------------------------------------------------------------------------------ opaque

BYTES = (b"<a/>", b"\xff\x00", b"data:;base64,AAAA", "ключ".encode())


def test_a_deleted_version_of_another_type_is_not_hidden() -> None:
    """A draft without a type has the only type of its subject: it is no version without a type that comes back."""
    bench = group(types="one")
    add(bench, toy("a"))
    bench.do(DeleteOrdinal(S, 0))
    add(bench, toy("b", type_name="R"))
    again = add(bench, toy("a"))
    assert (again.ordinal, again.type_name) == (2, "R")
    assert [one[1].state for one in stored_versions(bench.tables, S)] == ["soft", "live", "live"]


def test_opaque_bytes_have_a_text_that_stands_for_them() -> None:
    bench = group()
    found = [add(bench, Draft("", "THRIFT", data=data)) for data in BYTES]
    assert [one.text for one in found] == ["<a/>", "data:;base64,/wA=", "data:;base64,ZGF0YTo7YmFzZTY0LEFBQUE=", "ключ"]
    assert [bench.do(GetOrdinal(S, at)).data for at in range(4)] == [None, *BYTES[1:3], None]
    assert [add(bench, Draft(one.text, "THRIFT")).ordinal for one in found] == [0, 1, 2, 3]
    assert [bench.do(FindSameVersion(S, Draft("", "THRIFT", data=data))).ordinal for data in BYTES] == [0, 1, 2, 3]
    assert bench.do(GetSchema(found[1].schema_id)).text == found[1].text
    assert [*find_violations(bench.tables)] == []


def test_the_same_bytes_in_two_formats_are_two_schemas() -> None:
    bench = group()
    one, other = (add(bench, Draft("", format_, data=b"<a/>")) for format_ in ("THRIFT", "XML"))
    assert one.guid != other.guid
    assert one.schema_id != other.schema_id


def test_opaque_bytes_that_can_not_be(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = group()
    with pytest.raises(InvalidSchema):
        add(bench, Draft("data:;base64,no", "THRIFT"))
    with pytest.raises(InvalidSchema):
        add(bench, Draft("", "THRIFT", data=b""))
    add(bench, Draft("", "THRIFT", data=b"x" * (limits.SCHEMA_BYTES + 1)))
    monkeypatch.setattr("treaty.core.handlers.drafts.schemas.OPAQUE_BYTES", 10)
    with pytest.raises(TooLarge, match="too large"):
        add(bench, Draft("", "THRIFT", data=b"\xff" * 11))
    with pytest.raises(TooLarge):
        add(bench, spelled("[]", data=b" " * (limits.SCHEMA_BYTES + 1)))


def test_an_opaque_schema_reads_what_it_writes() -> None:
    bench = group(policy=Config(exact_level=Level(deny=True)))
    add(bench, Draft("", "THRIFT", data=b"a"))
    assert bench.do(CheckReading(S, Draft("", "THRIFT", data=b"a"))).compatible
    assert not bench.do(CheckReading(S, Draft("", "THRIFT", data=b"b"))).compatible


def test_an_import_has_the_type_and_identity_of_its_subject() -> None:
    bench = group(types="many", identity="normalised")
    bench.do(SetMode(Scope(*S), "IMPORT"))

    def put_there(draft: Draft, number: int, schema_id: int) -> VersionFound:
        return bench.do(Register(S, draft, number=number, schema_id=schema_id)).version

    first = put_there(toy("a", type_name="T"), 1, 7)
    assert put_there(toy("a", type_name="T"), 1, 7) == first
    assert put_there(toy("a", type_name="U"), 2, 7).type_version == 0
    assert [one.type_name for one in bench.do(ListGroupVersions(S)).versions] == ["T", "U"]
    assert [*find_violations(bench.tables)] == []


@pytest.mark.parametrize(
    ("creation", "rule"),
    [
        (SubjectCreation(types="several"), "SUBJECT_SETTING"),
        (SubjectCreation(properties=(("treaty.secret", "1"),)), "PROPERTY_RESERVED"),
        (SubjectCreation(properties=((FORMAT, "AVRO"),)), "SUBJECT_FORMAT"),
    ],
)
def test_a_registration_creates_no_subject_that_can_not_be(creation: SubjectCreation, rule: str) -> None:
    bench = Bench()
    with pytest.raises(Refusal) as refused:
        bench.do(Register(S, toy("a"), create_with=creation))
    assert refused.value.reason.rule == rule
    put(bench, S, "a")
    assert bench.do(Register(S, toy("b?"), create_with=creation)).created, "a subject that is there keeps its own"

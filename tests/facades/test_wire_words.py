"""Words of requests and answers at their limits and in all their spellings: sides of a comparison, hits, keys, settings, policies, errors, records."""

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from treaty.core import refusals as r
from treaty.core.limits import COUNTER, SEARCH_PAGE
from treaty.core.messages.differences import ComparedSchema, CompareVersions, ComparisonSide, SchemasCompared
from treaty.core.messages.groups import FORMAT, AdmittedVersion, GroupFound
from treaty.core.messages.listings import ListSchemas
from treaty.core.messages.registration import SubjectCreation
from treaty.core.messages.search import SearchHit, SearchResults
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import VersionFound
from treaty.core.names import subject_of
from treaty.core.policy import ALL, LATEST, NONE, Level, VersionRange
from treaty.core.sources import SchemaPin, SourcePart
from treaty.core.state.values import PolicyValue
from treaty.wire import metastore as w
from treaty.wire.confluent.drafts import CreationBody, refuse_members_of_apis
from treaty.wire.confluent.errors import ErrorBody, error_of
from treaty.wire.confluent.headers import CONSISTENCY, V1, call_of, negotiate, wants_page
from treaty.wire.confluent.policies import ConfigDetails, PolicyBody, exact_policy_body, policy_of
from treaty.wire.confluent.records import AssociationRecord, OtherRecord, record_of
from treaty.wire.confluent.settings import ConfigBody, config_of, scope_of
from treaty.wire.differences import CompareBody, compare_request, compared_body, side_of
from treaty.wire.iglu.api_keys import digest_of, read_api_key
from treaty.wire.iglu.documents import IgluBodyError, _with_members, media_of
from treaty.wire.pravega import groups as pravega
from treaty.wire.pravega.bodies import (
    BackwardAndForwardBody,
    BackwardPolicyBody,
    ForwardPolicyBody,
    GroupPolicyBody,
    PolicyRangeBody,
    VersionInfoBody,
)
from treaty.wire.pravega.formats import FULL_NAME, shown_properties
from treaty.wire.pravega.policies import compatibility_body, level_of
from treaty.wire.schemarepo import requests as repo
from treaty.wire.schemarepo.texts import JSON, TEXT, SchemaEntry, print_entries
from treaty.wire.search import read_limit, search_body
from treaty.wire.statements import DiagnosticBody

GUID = "ec7e7a4f-3a77-4fdc-8b0b-6b2f7a2ec7d1"
KEY = UUID(GUID)
OUTSIDE = ("0", "-2", "+1", " 1", "1.0", "", str(COUNTER + 1), "9" * 11, "٣")
"""What is no number of a version."""


# ------------------------------------------------------------------------------------------------- comparisons and search


@pytest.mark.parametrize(
    ("text", "side"),
    [
        *((word, ComparisonSide(guid=GUID)) for word in (GUID, GUID.upper(), GUID.replace("-", ""), f" {GUID} ")),
        ("s", ComparisonSide(subject_of("s"))), ("s@latest", ComparisonSide(subject_of("s"))), ("s@-1", ComparisonSide(subject_of("s"))),
        ("s@1", ComparisonSide(subject_of("s"), 1)), (f"s@{COUNTER}", ComparisonSide(subject_of("s"), COUNTER)),
        ("a@b@2", ComparisonSide(subject_of("a@b"), 2)), (":.x:s@2", ComparisonSide(subject_of(":.x:s"), 2)),
        *((f"s@{word}", None) for word in OUTSIDE), ("", None), ("@1", None), (" ", None),
    ],
)  # fmt: skip
def test_a_side_is_a_version_or_a_guid(text: str, side: ComparisonSide | None) -> None:
    if side is not None:
        assert side_of(text) == side
        return
    with pytest.raises(r.Invalid) as refusal:
        side_of(text, "/to")
    assert refusal.value.reason.path == "/to"


@pytest.mark.parametrize("normalize", [None, True, False])
@pytest.mark.parametrize("subject", [None, "s"])
def test_each_member_of_a_comparison_is_read(*, normalize: bool | None, subject: str | None) -> None:
    sides = ComparisonSide(subject_of("a"), 2), ComparisonSide(subject_of("b"), 1)
    expected = CompareVersions(*sides, None if subject is None else subject_of(subject), normalize)
    assert compare_request(CompareBody("a@2", "b@1", subject, normalize)) == expected


def test_schemas_are_equal_where_both_texts_are_the_same() -> None:
    new = ComparedSchema("AVRO", '"int"', GUID)
    for old, equal in ((new, True), (None, False), (replace(new, text='"long"'), False)):
        assert compared_body(SchemasCompared(new, old)).equal is equal


def test_a_limit_of_hits_is_taken_up_to_that_of_a_page() -> None:
    assert [read_limit(word) for word in ("1", f"{SEARCH_PAGE - 1}", f"{SEARCH_PAGE}")] == [
        1,
        SEARCH_PAGE - 1,
        SEARCH_PAGE,
    ]
    for word in ("0", "-1", f"{SEARCH_PAGE + 1}", "1.0", " 1", "00001", "٣"):
        with pytest.raises(r.Invalid):
            read_limit(word)


@pytest.mark.parametrize(("schema_id", "shown"), [(-1, None), (0, 0), (1, 1)])
@pytest.mark.parametrize(("number", "version"), [(0, None), (1, 1)])
def test_a_hit_has_the_id_that_its_version_has_also_the_first_of_all(
    schema_id: int, shown: int | None, number: int, version: int | None
) -> None:
    (hit,) = search_body(SearchResults((SearchHit("SUBJECT", "s", number, schema_id),), 1)).hits
    assert (hit.id, hit.version) == (shown, version)


# --------------------------------------------------------------------------------------------------- headers of Confluent's


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        (f"application/json, {V1};q=0.5, application/json;q=0.1", "application/json"), (f"{V1};q=0, */*", "application/vnd.schemaregistry+json"),
        ("application/*;q=0.5", V1), ("*;q=0.1", V1), ("*/*;q=0", None), ("APPLICATION/JSON", "application/json"),
        ("application/json;q=x", None), ("application/json;charset=utf-8;q=0.3", "application/json"), ("application/json;q=7, */*;q=2", V1),
    ],
)  # fmt: skip
def test_the_best_quality_of_a_type_counts_however_often_it_is_named(accept: str, media: str | None) -> None:
    assert negotiate(accept) == media


@pytest.mark.parametrize(("accept", "page"), [("text/html", True), ("text/html, */*", True), ("text/html, application/json", False),
                                              (f"text/html, {V1}", False), ("text/html,application/vnd.schemaregistry+json", False), ("*/*", False), ("", False)])  # fmt: skip
def test_a_page_is_for_who_names_html_and_none_of_the_registrys_types(accept: str, *, page: bool) -> None:
    assert wants_page(accept) is page


@pytest.mark.parametrize("header", ["", "eventual", "STRICT"])
@pytest.mark.parametrize("query", ["", "latest", "Eventual"])
def test_the_consistency_of_the_query_wins_over_that_of_the_header(query: str, header: str) -> None:
    assert call_of({CONSISTENCY: header}.get, query).consistency == (query or header).lower()


# ------------------------------------------------------------------------------------------------ settings and policies


@pytest.mark.parametrize(
    ("text", "scope"),
    [(None, Scope()), ("", Scope()), (":.:", Scope()), ("s", Scope(".", "s")), (":.x:", Scope(".x")), (":.x:s", Scope(".x", "s")),
     (":.__GLOBAL:", Scope("*")), (":.__GLOBAL:s", Scope("*")), ("__GLOBAL", Scope(".", "__GLOBAL")), (":.x:__GLOBAL", Scope(".x", "__GLOBAL"))],
)  # fmt: skip
def test_a_scope_is_everywhere_a_context_or_a_subject(text: str | None, scope: Scope) -> None:
    assert scope_of(text) == scope


POLICY_MEMBERS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "level": ({"compatibility": "full"}, {"level": "FULL"}, {"level": "NONE"}),
    "strictness": ({"compatibility_policy": "lenient"}, {"strictness": "LENIENT"}, {"strictness": "STRICT"}),
    "validators": ({"validators": ["a"]}, {"validators": ["a"]}, {"validators": ["b"]}),
}
"""By member of a policy: the config's own word for it, the same inside, and another."""


@pytest.mark.parametrize("member", POLICY_MEMBERS)
def test_a_policy_says_the_same_as_the_members_beside_it(member: str) -> None:
    beside, same, other = POLICY_MEMBERS[member]

    def read(outer: dict[str, Any], inner: dict[str, Any]) -> Config:
        return config_of(ConfigBody(**outer, treaty=ConfigDetails(PolicyBody(**inner))))

    assert read(beside, {}) == read({}, same) == read(beside, same)
    with pytest.raises(r.Invalid) as refusal:
        read(beside, other)
    assert refusal.value.reason.path == f"/treaty/policy/{member}"


@pytest.mark.parametrize("deny", [True, False])
def test_a_policy_that_says_of_new_versions_whether_they_are_denied_is_a_level(*, deny: bool) -> None:
    assert policy_of(PolicyBody(deny=deny)).exact_level == Level(deny=deny)
    assert policy_of(PolicyBody()).exact_level is None


@pytest.mark.parametrize(
    "config", [Config(exact_level=Level(deny=True)), Config(partition="type"), Config(follows="gold")]
)
def test_what_no_word_says_of_a_policy_is_printed_by_itself(config: Config) -> None:
    body = exact_policy_body(config)
    assert body is not None
    assert policy_of(body) == config
    assert exact_policy_body(Config(level="FULL", group="g", policy="LENIENT", validators=("a",))) is None


@pytest.mark.parametrize("member", ["origin", "types", "order", "identity"])
def test_no_client_says_of_a_subject_what_follows_from_an_api(member: str) -> None:
    word: dict[str, Any] = {member: "zz"}
    for creation in (CreationBody(**word), replace(SubjectCreation(), **word)):
        with pytest.raises(r.Invalid) as refusal:
            refuse_members_of_apis(creation)
        assert refusal.value.reason.path == f"/treaty/createWith/{member}"
    refuse_members_of_apis(SubjectCreation())


@pytest.mark.parametrize(
    ("code", "kind"),
    [(404, r.Unavailable), (-1, r.Unavailable), (408, r.Unavailable), (429, r.Unavailable), (500, r.Unavailable), (50001, r.Unavailable),
     (40499, r.NotFound), (401, r.Unauthenticated), (403, r.Forbidden), (409, r.Incompatible), (413, r.TooLarge), (422, r.Invalid), (400, r.Invalid)],
)  # fmt: skip
def test_a_code_that_is_not_in_the_table_is_read_by_its_status(code: int, kind: type[r.RegistryError]) -> None:
    assert type(error_of(ErrorBody(code, "m"), ListSchemas())) is kind


# ------------------------------------------------------------------------------------------------------ records of a topic

ASSOCIATION = {
    "keytype": "ASSOC",
    "resourceName": "n",
    "resourceNamespace": "c",
    "associationType": "key",
    "subject": "s",
}


@pytest.mark.parametrize("value", [None, b"null"])
@pytest.mark.parametrize(
    "kind", ["SCHEMA", "CONFIG", "MODE", "DELETE_SUBJECT", "CLEAR_SUBJECT", "CONTEXT", "NOOP", "ASSOC"]
)
def test_null_as_a_value_is_a_tombstone(kind: str, value: bytes | None) -> None:
    key = json.dumps({**ASSOCIATION, "keytype": kind, "version": 1, "context": ".x"}).encode()
    record = record_of(key, value)
    assert record == record_of(key, None)
    assert not isinstance(record, OtherRecord) or record.tombstone


@pytest.mark.parametrize(("type_", "expected"), [(None, "topic"), ("", "topic"), ("table", "table")])
def test_the_resource_of_an_association_is_the_one_in_its_key(type_: str | None, expected: str) -> None:
    key = json.dumps({**ASSOCIATION, "resourceType": type_}).encode()
    record = record_of(key, b'{"resourceId":"i","resourceName":"other","resourceType":"other"}')
    assert isinstance(record, AssociationRecord)
    assert record.found is not None
    assert (record.found.resource.name, record.found.resource.type) == ("n", expected)


# -------------------------------------------------------------------------------------------------------------------- Iglu


@pytest.mark.parametrize(
    ("text", "members"),
    [("{}", {}), ("{ }", {}), ("{\n}\n", {}), ("{\t\n }", {}), ('{"a":1}', {"a": 1}), (' {\n "a": {}}', {"a": {}})],
)
def test_members_are_put_before_those_of_any_object(text: str, members: dict[str, Any]) -> None:
    assert json.loads(_with_members(text, {"b": ["ü"]})) == {"b": ["ü"], **members}
    assert _with_members(text, {"b": 1}).endswith(text.partition("{")[2])


@pytest.mark.parametrize(("format_", "data", "media"), [("avro", b"{}", "application/json"), ("avro", b"\xff", "application/json"), ("thrift", b"{}", "text/plain; charset=utf-8"),
                                                        ("thrift", b"\xff", "application/octet-stream"), ("thrift", b"", "text/plain; charset=utf-8")])  # fmt: skip
def test_a_schema_of_another_format_has_its_type_of_content(format_: str, data: bytes, media: str) -> None:
    assert media_of(format_, data) == media


API, OTHER = (b"apikey", GUID.encode()), (b"authorization", b"Basic eDp5")


@pytest.mark.parametrize(
    "headers", [(API, OTHER), (OTHER, API), (API, API), (API, OTHER, OTHER), ((b"apikey", b"x"),), ((b"apikey", b""),)]
)
def test_a_key_comes_alone_and_is_a_uuid(headers: tuple[tuple[bytes, bytes], ...]) -> None:
    with pytest.raises(IgluBodyError) as refusal:
        read_api_key(headers)
    assert refusal.value.status == 400


@pytest.mark.parametrize("word", [GUID, GUID.upper(), f" {GUID} "])
def test_a_key_is_known_by_its_digest_and_credentials_without_one_are_none(word: str) -> None:
    assert read_api_key([(b"accept", b"*/*"), (b"apikey", word.encode())]) == digest_of(KEY)
    assert read_api_key([OTHER]) == ""
    assert read_api_key([(b"apikey", b"1-2-3-4-5")]) == digest_of(UUID("00000001-0002-0003-0004-000000000005"))


# ----------------------------------------------------------------------------------------------------------------- Pravega


def till(direction: str, version_id: int) -> PolicyRangeBody:
    return PolicyRangeBody(f"{direction}Till", VersionInfoBody(version_id))


@pytest.mark.parametrize("ordinal", [0, 1, 7])
def test_a_range_begins_at_any_version_also_the_first(ordinal: int) -> None:
    back = BackwardPolicyBody(till("Backward", ordinal))
    forth = ForwardPolicyBody(till("Forward", ordinal))
    start = VersionRange("till", ordinal)
    for halves, level in (
        (BackwardAndForwardBody(back), Level(start)), (BackwardAndForwardBody(None, forth), Level(NONE, start)),
        (BackwardAndForwardBody(back, forth), Level(start, start)),
    ):  # fmt: skip
        body = GroupPolicyBody("Advanced", halves)
        assert level_of(body) == level
        assert compatibility_body(level, {}) == body
    with pytest.raises(r.Invalid):
        level_of(GroupPolicyBody("Advanced", BackwardAndForwardBody(BackwardPolicyBody(till("Backward", -1)))))


@pytest.mark.parametrize(("types", "several"), [("across", True), ("many", True), ("one", False)])
def test_a_group_takes_several_types_unless_it_has_one(types: str, *, several: bool) -> None:
    group = GroupFound("s", "treaty", types, "registration", "canonical", "any", Level(), Config())
    assert pravega.group_body(group, {}).allow_multiple_types is several


@pytest.mark.parametrize("level", [Level(), Level(deny=True), Level(LATEST), Level(NONE, ALL), Level(LATEST, LATEST)])
def test_a_policy_of_a_custom_format_compares_nothing(level: Level) -> None:
    compares = level not in {Level(), Level(deny=True)}
    pravega.refuse_comparing(level, "AVRO")
    if compares:
        with pytest.raises(r.Invalid):
            pravega.refuse_comparing(level, "CUSTOM.NAME")
    else:
        pravega.refuse_comparing(level, "CUSTOM.NAME")
    version = VersionFound("s", 1, 0, 1, GUID, "AVRO", "{}")
    stored = PolicyValue(level.backward, level.forward, level.deny)
    assert pravega.policy_at(AdmittedVersion(version, stored)) == level
    assert pravega.policy_at(AdmittedVersion(version, None)) == Level()


def test_properties_that_keep_a_format_are_not_shown() -> None:
    assert shown_properties(((FORMAT, "AVRO"), (FULL_NAME, "Custom.Name"), ("a", "b"))) == {"a": "b"}


# --------------------------------------------------------------------------------------------- schema-repo and the metastore


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_a_line_break_in_any_schema_keeps_a_list_of_lines_from_being_printed(place: int, end: str) -> None:
    entries = [SchemaEntry(str(at), f"a{end}b" if at == place else "ab") for at in range(3)]
    assert json.loads(print_entries(entries, JSON))[place]["schema"] == f"a{end}b"
    with pytest.raises(ValueError, match=f"id {place} "):
        print_entries(entries, TEXT)


@pytest.mark.parametrize(
    ("word", "forced"),
    [
        ("true", True),
        (" TRUE ", True),
        ("True", True),
        ("false", False),
        (" False", False),
        ("", False),
        (" ", False),
        ("1", None),
        ("yes", None),
    ],
)
def test_a_check_is_skipped_by_the_word_true_alone(word: str, *, forced: bool | None) -> None:
    if forced is None:
        with pytest.raises(r.InvalidSetting):
            repo.force_of(word)
    else:
        assert (repo.force_of(word) is not None) is forced


@pytest.mark.parametrize("first", [0, 1])
def test_an_id_is_a_number_as_it_is_printed(first: int) -> None:
    assert [repo.ordinal_of(str(first + at), first) for at in (0, 1, COUNTER - first)] == [0, 1, COUNTER - first]
    for word in (str(first - 1), "00", "01", "+1", " 1", "1.0", "", "٣", "9" * 11):
        assert repo.ordinal_of(word, first) is None


@pytest.mark.parametrize(("context", "subject"), [(".", "s"), (".x", ":.x:s")])
def test_a_pin_names_its_subject_with_the_context(context: str, subject: str) -> None:
    body = w._part(SourcePart("AVRO", pin=SchemaPin(context, "s", 1, 0, 7)))
    assert body is not None
    assert (body.subject, body.ordinal, body.schema_id) == (subject, 0, 7)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_details_of_a_metastores_error_are_there_where_no_diagnostics_are(count: int) -> None:
    error = r.Invalid(r.Reason("R", "m", details=("a", "b")))
    body = w.error_body(error, [DiagnosticBody("C", f"d{at}") for at in range(count)])
    assert (len(body.diagnostics), body.details) == (count, [] if count else ["a", "b"])

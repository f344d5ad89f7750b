"""Parameters of schema-repo and AVRO-1124 in all spellings, of two with one name the first, and what the answer says of a policy without effect."""

from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from tests.facades.twin import Fixed
from treaty.core import refusals as r
from treaty.core.messages import groups as g
from treaty.core.messages.policies import GetPolicy, PolicyFound
from treaty.core.messages.registration import Register, RegisteredVersion
from treaty.core.messages.settings import Config, ConfigStored, GetConfig
from treaty.core.messages.versions import VersionFound
from treaty.core.policy import LEVELS
from treaty.core.state.values import PolicyValue

VERSION = VersionFound("s", 3, 2, 7, "guid", "AVRO", '"string"')
GROUP = g.GroupFound(
    "s", "avro-1124", "across", "registration", "exact", "AVRO", LEVELS["FULL"], Config(level="FULL"), latest=2
)
FORM = {"content-type": "application/x-www-form-urlencoded"}
TEXT = {"content-type": "text/plain"}


@pytest.fixture
def member() -> Fixed:
    member = Fixed()
    member.answers |= {
        g.GetSubject: GROUP, g.GetOrdinal: VERSION, g.CreateSubject: g.GroupCreated(GROUP, created=True),
        GetPolicy: PolicyFound("gold", PolicyValue()), GetConfig: ConfigStored(Config(level="FULL")),
        Register: RegisteredVersion(VERSION, created=True),
    }  # fmt: skip
    return member


@pytest.mark.parametrize("own", [Config(level="FULL"), Config(follows="gold"), Config(follows="silver")])
@pytest.mark.parametrize("word", ["", "full", "FULL", "none", "gold", "silver"])
def test_an_answer_names_the_policy_of_a_group_where_the_request_names_another(
    http: TestClient, member: Fixed, own: Config, word: str
) -> None:
    member.answers[g.GetSubject] = replace(GROUP, config=own)
    answer = http.post("/avro-1124/schemas/s", data={"schema": '"int"', "compatibility_model": word})
    theirs = own.follows or "FULL"
    is_same = not word or word.upper() == theirs.upper()
    assert (answer.status_code, answer.headers.get("treaty-compatibility-model")) == (200, None if is_same else theirs)


@pytest.mark.parametrize(
    ("word", "status"), [("", 200), ("sequence", 200), (" SEQUENCE ", 200), ("md5", 400), ("sequence2", 400)]
)
def test_the_scheme_of_a_group_is_named_in_any_letter_case(http: TestClient, word: str, status: int) -> None:
    assert http.post("/avro-1124/schemas/s", data={"schema": '"int"', "id_scheme": word}).status_code == status


@pytest.mark.parametrize("word", ["true", "TRUE", "True"])
def test_limits_of_the_server_are_shown_where_they_are_asked_for(http: TestClient, word: str) -> None:
    def config(query: str) -> str:
        return http.get(f"/config{query}", headers={"accept": "text/plain"}).text

    assert "treaty.limits." in config(f"?includeDefaults={word}")
    assert [
        query for query in ("", "?includeDefaults=false", "?includeDefaults=") if "treaty.limits." in config(query)
    ] == []


@pytest.mark.parametrize(
    ("body", "query", "value"),
    [("a=1&a=2", "", "1"), ("a=1", "a=2", "1"), ("", "a=2&a=3", "2"), ("b=0", "a=2", "2"), ("a=", "a=2", "")],
)
def test_of_parameters_with_one_name_the_first_counts_and_those_of_the_body_come_first(
    http: TestClient, member: Fixed, body: str, query: str, value: str
) -> None:
    assert http.put(f"/schema-repo/s?{query}", content=body, headers=FORM if body else {}).status_code == 200
    (request,) = member.asked
    assert isinstance(request, g.CreateSubject)
    assert dict(request.settings.properties)["a"] == value


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [
        ("", "utf-8"),
        ("UTF-8", "utf-8"),
        ('"utf-8"', "utf-8"),
        ("ISO-8859-1", "latin-1"),
        (' "Latin1" ', "latin-1"),
        ("utf-16", "utf-16"),
    ],
)
def test_a_schema_is_read_in_the_encoding_that_its_type_names(
    http: TestClient, member: Fixed, charset: str, encoding: str
) -> None:
    media = f"text/plain; a=b; charset={charset}" if charset else "text/plain"
    text = '{"type":"enum","name":"E","doc":"é","symbols":["A"]}'
    assert (
        http.put("/schema-repo/s/register", content=text.encode(encoding), headers={"content-type": media}).status_code
        == 200
    )
    (request,) = member.asked
    assert isinstance(request, Register)
    assert request.draft.text == text
    assert (
        http.put(
            "/schema-repo/s/register", content=b"a", headers={"content-type": "text/plain; charset=ebcdic"}
        ).status_code
        == 415
    )


@pytest.mark.parametrize(("latest", "place"), [("", None), ("/0", 0), ("/1", 1), ("/7", 7)])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_latest_schema_that_is_not_the_one_is_a_conflict_and_an_id_that_none_has_is_unknown(
    http: TestClient, member: Fixed, latest: str, place: int | None, *, is_there: bool
) -> None:
    member.answers[Register] = r.NotLatest.of("NOT_LATEST", "another one")
    if not is_there:
        member.answers[g.GetOrdinal] = r.VersionNotFound.of("VERSION", "none")
    answer = http.put(f"/schema-repo/s/register_if_latest{latest}", content='"int"', headers=TEXT)
    assert answer.status_code == (409 if is_there or place is None else 404)
    assert [request.ordinal for request in member.asked if isinstance(request, g.GetOrdinal)] == (
        [] if place is None else [place]
    )


@pytest.mark.parametrize(
    "first",
    [r.SchemaNotFound.of("SCHEMA", "none"), r.InvalidSchema(r.Reason("SCHEMA", "no schema"))],
    ids=["unknown", "no schema"],
)
def test_a_text_is_looked_for_under_the_next_format_whatever_the_first_says(
    http: TestClient, member: Fixed, first: Exception
) -> None:
    member.answers[g.GetSubject] = replace(GROUP, origin="schema-repo", format="any")
    member.answers[g.FindSameVersion] = first
    assert http.post("/schema-repo/s/schema", content="text", headers=TEXT).status_code == 404
    formats = [request.draft.format for request in member.asked if isinstance(request, g.FindSameVersion)]
    assert len(formats) == 2
    assert formats[0] == "AVRO"

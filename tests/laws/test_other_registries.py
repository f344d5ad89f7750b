"""What a client makes of registries of another kind, which lack requests and members: no answer is cut, and nothing is ignored without a word."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.laws.test_talk import Net, Node, said
from treaty.client.effects import SendRequest
from treaty.core.limits import COUNTER
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import ListContexts
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.registration import ExpectedVersion, Register, SubjectCreation
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.schemas import GetSchema, UsesOf
from treaty.core.messages.settings import Config, GetConfig, GetMode, Scope, SetConfig
from treaty.core.names import EVERYWHERE, Subject
from treaty.core.policy import Level
from treaty.core.refusals import NotOffered, SchemaNotFound, SettingNotFound, SubjectNotFound
from treaty.core.registry import CALL
from treaty.core.schema import Draft, Metadata, Reference, Rule, RuleSet

SUBJECT = Subject(".", "s")
Answer = tuple[int, Any]
MISSING: Answer = (404, b"<html>nothing here</html>")
NO_SUBJECT: Answer = (404, {"error_code": 40401, "message": "Subject not found."})
NO_LEVEL: Answer = (
    404,
    {"error_code": 40408, "message": "Subject does not have subject-level compatibility configured"},
)
NO_SCHEMA: Answer = (404, {"error_code": 40403, "message": "Schema not found"})


def server(routes: Mapping[str, Any]) -> Node:
    """A server that answers paths by method and path; an answer may be a function of the query and the body."""

    def answer(step: SendRequest) -> tuple[float, Any]:
        parts = urlsplit(step.url)
        reply = routes.get(f"{step.method} {unquote(parts.path)}", MISSING)
        if callable(reply):
            reply = reply(
                {name: values[0] for name, values in parse_qs(parts.query).items()}, json.loads(step.body or b"{}")
            )
        status, body = reply if isinstance(reply, tuple) else (200, reply)
        return 0.001, said(status, body if isinstance(body, bytes) else json.dumps(body).encode())

    return answer


def net_of(routes: Mapping[str, Any]) -> Net:
    return Net([server({"GET /mode": {"mode": "READWRITE"}, **routes})])


def list_paths(net: Net, method: str) -> list[str]:
    return [unquote(urlsplit(step.url).path) for _, _, step in net.asked if step.method == method]


# ----------------------------------------------------------------------------------------- what only Treaty understands

PLAIN = Register(SUBJECT, Draft('"int"'))
TREATY_ONLY: dict[str, Request[Any]] = {
    "expected": replace(PLAIN, expected=ExpectedVersion("number", -1)),
    "names": replace(PLAIN, names=(("a", "b"),)),
    "properties": replace(PLAIN, properties=(("a", "b"),)),
    "a private subject": replace(PLAIN, create_with=SubjectCreation(private=True)),
    "properties of a subject": replace(PLAIN, create_with=SubjectCreation(properties=(("a", "b"),))),
    "an unknown time": replace(PLAIN, time=0),
    "a time": replace(PLAIN, time=5),
    "require_subject": replace(PLAIN, require_subject=True),
    "exact_level": SetConfig(Scope(*SUBJECT), Config(exact_level=Level())),
    "partition": SetConfig(Scope(*SUBJECT), Config(partition="type")),
    "follows": SetConfig(Scope(*SUBJECT), Config(follows="p")),
    "validators": SetConfig(Scope(*SUBJECT), Config(validators=("v",))),
    "no validators": SetConfig(Scope(*SUBJECT), Config(validators=())),
}
EVERYBODY: dict[str, Request[Any]] = {
    "a schema": PLAIN,
    "normalize": replace(PLAIN, normalize=True),
    "number": replace(PLAIN, number=3),
    "schema_id": replace(PLAIN, schema_id=7),
    "level": SetConfig(Scope(*SUBJECT), Config(level="FULL")),
    "group": SetConfig(Scope(*SUBJECT), Config(group="g")),
    "alias": SetConfig(Scope(*SUBJECT), Config(alias="g")),
}
WRITES = {
    "POST /subjects/s/versions": {"id": 7, "guid": "g", "version": 3, "schema": '"int"'},
    "PUT /config/s": {"compatibility": "FULL"},
}


@pytest.mark.parametrize("what", TREATY_ONLY)
def test_what_only_treaty_understands_is_never_sent_to_others(what: str) -> None:
    net = net_of(WRITES)
    for _ in range(2):
        with pytest.raises(NotOffered):
            net.ask(TREATY_ONLY[what])
    assert list_paths(net, "POST") == list_paths(net, "PUT") == []


@pytest.mark.parametrize("what", EVERYBODY)
def test_what_all_understand_is_sent_at_once(what: str) -> None:
    net = net_of(WRITES)
    net.ask(EVERYBODY[what])
    assert len(net.asked) == 1


# --------------------------------------------------------------------------------------------------------- registration

FULL_DRAFT = Draft(
    '"int"',
    "AVRO",
    (Reference("R", "r", 2),),
    Metadata(properties=(("a", "b"),)),
    RuleSet(domain=(Rule("n", "CONDITION", "WRITE"),)),
)
STORED = {"subject": "s", "version": 3, "id": 9, "schema": '"stored"'}


@pytest.mark.parametrize("number", [0, 3, 4])
@pytest.mark.parametrize("look_up", ["found", "not found", "not offered"])
def test_an_answer_with_an_id_alone_is_completed(number: int, look_up: str) -> None:
    """The look-up counts where it is the version of the answer; else the draft does, with all of its members."""
    look_ups: list[dict[str, str]] = []

    def answer(query: dict[str, str], _: Any) -> Any:
        look_ups.append(query)
        return {"found": STORED, "not found": NO_SCHEMA, "not offered": MISSING}[look_up]

    written = {"id": 7, **({"version": number} if number else {})}
    net = net_of({"POST /subjects/s/versions": written, "POST /subjects/s": answer})
    version = net.ask(Register(SUBJECT, FULL_DRAFT, normalize=True)).version
    assert (version.schema_id, [query["normalize"] for query in look_ups]) == (7, ["true"])
    is_found = look_up == "found" and number != 4
    assert version.text == ('"stored"' if is_found else '"int"')
    assert version.number == (3 if is_found else number)
    if not is_found:
        drafted = Draft(version.text, version.format, version.references, version.metadata, version.rules)
        assert drafted == FULL_DRAFT


# ------------------------------------------------------------------------------------------------------ numbers and ids


@pytest.mark.parametrize("make", [GetSchema, UsesOf])
@pytest.mark.parametrize("beyond", [False, True])
def test_only_ids_that_no_registry_gives_are_not_asked_for(
    make: Callable[[int], Request[Any]], *, beyond: bool
) -> None:
    net = net_of(dict.fromkeys((f"GET /schemas/ids/{COUNTER}", f"GET /schemas/ids/{COUNTER}/versions"), NO_SCHEMA))
    with pytest.raises(SchemaNotFound):
        net.ask(make(COUNTER + beyond))
    assert len(net.asked) == (not beyond)


# ------------------------------------------------------------------------------------------------------------- settings


@pytest.mark.parametrize("answer", [NO_SUBJECT, NO_LEVEL])
@pytest.mark.parametrize(
    ("scope", "places"),
    [
        (Scope(".", "s"), ["s", ""]),
        (Scope(".x", "s"), [":.x:s", ":.x:", ""]),
        (Scope(".x"), [":.x:", ""]),
        (Scope(EVERYWHERE), [":.__GLOBAL:"]),
        (Scope("."), [""]),
    ],
)
@pytest.mark.parametrize("levels", range(3))
def test_a_setting_is_looked_for_further_out_until_there_is_none(
    answer: Answer, scope: Scope, places: list[str], levels: int
) -> None:
    """Each scope is asked in turn, and the first that has a setting answers."""
    paths = [f"/config/{place}".rstrip("/") for place in places]
    routes = dict.fromkeys((f"GET {path}" for path in paths), answer)
    if levels < len(paths):
        routes[f"GET {paths[levels]}"] = {"compatibilityLevel": "FULL"}  # type: ignore[assignment]
    net = net_of(routes)
    paths_in_turn = [path for path in paths[: levels + 1] if path]
    if levels < len(paths):
        assert net.ask(GetConfig(scope, resolve=True)).config.level == "FULL"
    else:
        with pytest.raises((SettingNotFound, SubjectNotFound)):
            net.ask(GetConfig(scope, resolve=True))
    assert list_paths(net, "GET") == paths_in_turn
    bare = net_of(dict.fromkeys((f"GET {path}" for path in paths), answer))
    with pytest.raises((SettingNotFound, SubjectNotFound)):
        bare.ask(GetConfig(scope, resolve=False))
    assert len(bare.asked) == 1


# -------------------------------------------------------------------------------------------------------------- checks


@pytest.mark.parametrize("level", ["BACKWARD", "FULL", "BACKWARD_TRANSITIVE", "FULL_TRANSITIVE"])
@pytest.mark.parametrize("bad", [0, 1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_check_asks_for_each_version_that_the_level_compares(level: str, bad: int, count: int) -> None:
    """A server that checks against one version only; `bad` is the number of the version that does not fit."""
    numbers = list(range(1, count + 1))
    routes: dict[str, Any] = {
        f"POST /compatibility/subjects/s/versions/{number}": {"is_compatible": number != bad} for number in numbers
    }
    routes |= {"GET /config/s": {"compatibilityLevel": level}, "GET /subjects/s/versions": numbers or NO_SUBJECT}
    net = net_of(routes)
    compared = numbers if level.endswith("_TRANSITIVE") else numbers[-1:]
    assert net.ask(Check(SUBJECT, Draft('"int"'))).compatible == (bad not in compared)
    paths_in_turn = [int(path.rpartition("/")[2]) for path in list_paths(net, "POST") if path[-1].isdigit()]
    assert paths_in_turn == [number for number in reversed(compared) if bad not in compared or number >= bad]


@pytest.mark.parametrize("version", [None, LATEST, 3])
@pytest.mark.parametrize("there", [False, True])
def test_nothing_is_compatible_with_a_version_that_is_missing(version: int | None, *, there: bool) -> None:
    """All fits a subject without versions, unless one of them is asked for by its number."""
    routes = {f"POST /compatibility/subjects/s/versions{place}": NO_SUBJECT for place in ("", "/latest", "/3")}
    net = net_of({**routes, "GET /subjects/s/versions": [1] if there else NO_SUBJECT, "GET /subjects": []})
    if version == 3 or there:
        with pytest.raises(SubjectNotFound):
            net.ask(Check(SUBJECT, Draft('"int"'), version))
    else:
        assert net.ask(Check(SUBJECT, Draft('"int"'), version)).compatible


# --------------------------------------------------------------------------------------------------------------- lists

NAMES = ["a", "b", "c", "d", "e", "f", "p1", "p2"]
DEAD = {"b", "c", "e", "p2"}
NUMBERS = (1, 2)


def show(name: str, number: int) -> dict[str, Any]:
    return {"subject": name, "version": number, "id": NAMES.index(name) * 10 + number, "schema": '"int"'}


def is_visible(name: str, number: int, query: Mapping[str, str]) -> bool:
    """Of the subject ``d`` the first version is deleted."""
    return query.get("deleted") == "true" or (name not in DEAD and (name, number) != ("d", 1))


def versions_of(name: str, query: Mapping[str, str]) -> list[int]:
    return [number for number in NUMBERS if is_visible(name, number, query)]


def page_of(query: Mapping[str, str]) -> list[dict[str, Any]]:
    prefix = query.get("subjectPrefix", "").removeprefix(":*:")
    everything = [
        show(name, number) for name in NAMES for number in versions_of(name, query) if name.startswith(prefix)
    ]
    start, size = int(query.get("offset", 0)), int(query.get("limit", -1))
    return everything[start : start + size] if size >= 0 else everything[start:]


def list_routes(kind: str) -> dict[str, Any]:
    """A server with pages, one that knows no pages and no prefix, and one that has no list of schemas."""
    routes: dict[str, Any] = {
        "GET /subjects": lambda query, _: [name for name in NAMES if versions_of(name, query)],
        "GET /schemas": {
            "pages": lambda query, _: page_of(query),
            "at once": lambda query, _: page_of({name: value for name, value in query.items() if name == "deleted"}),
            "none": MISSING,
        }[kind],
    }
    for name in NAMES:
        routes[f"GET /subjects/{name}/versions"] = lambda query, _, name=name: versions_of(name, query) or NO_SUBJECT
        for number in NUMBERS:
            routes[f"GET /subjects/{name}/versions/{number}"] = lambda query, _, name=name, number=number: (
                show(name, number) if is_visible(name, number, query) else NO_SUBJECT
            )
    return routes


def expect(visible: str, prefix: str) -> list[tuple[str, int]]:
    places = [(name, number) for name in NAMES for number in NUMBERS if name.startswith(prefix)]
    live = [place for place in places if is_visible(*place, {})]
    return {"all": places, "live": live, "deleted": [place for place in places if place not in live]}[visible]


@pytest.mark.parametrize("kind", ["pages", "at once", "none"])
@pytest.mark.parametrize("visible", ["live", "all", "deleted"])
@pytest.mark.parametrize("prefix", ["", "p"])
def test_a_list_of_schemas_is_whole_by_offset_and_limit(kind: str, visible: Any, prefix: str) -> None:
    places = expect(visible, prefix)
    net = net_of(list_routes(kind))
    for offset in range(len(places) + 1):
        for limit in (1, 2, 3, len(places), COUNTER):
            request = ListSchemas(Subject(EVERYWHERE, prefix), visible, offset=offset, limit=limit)
            places_listed = [(one.subject, one.number) for one in net.ask(request).versions]
            assert places_listed == places[offset : offset + limit], (offset, limit)


@pytest.mark.parametrize("kind", ["pages", "at once", "none"])
@pytest.mark.parametrize("prefix", ["", "p"])
def test_a_list_of_deleted_schemas_goes_on_behind_a_place(kind: str, prefix: str) -> None:
    """The offset is no part of it then; with `latest` the last deleted version of each subject is listed."""
    places = expect("deleted", prefix)
    last = [place for place in places if place == max(one for one in places if one[0] == place[0])]
    net = net_of(list_routes(kind))
    for at, place in enumerate(places):
        request = ListSchemas(Subject(EVERYWHERE, prefix), "deleted", offset=at + 1, limit=2, after=place)
        places_listed = [(one.subject, one.number) for one in net.ask(request).versions]
        assert places_listed == places[at + 1 : at + 3]
    latest = ListSchemas(Subject(EVERYWHERE, prefix), "deleted", latest=True)
    assert [(one.subject, one.number) for one in net.ask(latest).versions] == last


@pytest.mark.parametrize("prefix", ["", "p"])
def test_a_list_of_the_latest_schemas_has_each_subject_once(prefix: str) -> None:
    net = net_of(list_routes("none"))
    places_listed = net.ask(ListSchemas(Subject(EVERYWHERE, prefix), latest=True)).versions
    assert [one.subject for one in places_listed] == sorted({name for name, _ in expect("live", prefix)})


def test_subjects_and_versions_that_go_while_they_are_listed_are_left_out() -> None:
    for path in ("GET /subjects/a/versions", "GET /subjects/d/versions/2"):
        net = net_of(list_routes("none") | {path: NO_SUBJECT})
        gone = path.split("/")[2]
        places_listed = [(one.subject, one.number) for one in net.ask(ListSchemas(Subject(EVERYWHERE, ""))).versions]
        assert places_listed == [place for place in expect("live", "") if place[0] != gone]


@pytest.mark.parametrize("visible", ["live", "all", "deleted"])
@pytest.mark.parametrize("prefix", ["", "p"])
@pytest.mark.parametrize("context", [".", EVERYWHERE, ".x"])
def test_a_list_of_subjects_has_those_with_the_prefix(visible: Any, prefix: str, context: str) -> None:
    net = net_of(list_routes("pages"))
    live = {name for name, _ in expect("live", "")}
    named = [name for name in NAMES if name.startswith(prefix) and context != ".x"]
    names = {
        "all": named,
        "live": [one for one in named if one in live],
        "deleted": [one for one in named if one not in live],
    }
    assert [*net.ask(ListSubjects(Subject(context, prefix), visible)).names] == names[visible]


@pytest.mark.parametrize("prefix", ["", "p"])
def test_a_list_of_deleted_subjects_is_whole_page_by_page(prefix: str) -> None:
    names = sorted(name for name in DEAD if name.startswith(prefix))
    net = net_of(list_routes("pages"))
    for at in range(len(names) + 1):
        for limit in (1, 2, COUNTER):
            request = ListSubjects(Subject(EVERYWHERE, prefix), "deleted", offset=at, limit=limit)
            assert [*net.ask(request).names] == names[at : at + limit]
            behind = replace(request, offset=at + 1, after=names[at] if at < len(names) else "z")
            assert [*net.ask(behind).names] == names[at + 1 :][:limit]


@pytest.mark.parametrize(("name", "numbers"), [("a", None), ("b", (1, 2)), ("d", (1,))])
def test_a_list_of_deleted_versions_has_no_live_ones(name: str, numbers: tuple[int, ...] | None) -> None:
    net = net_of(list_routes("pages"))
    if numbers is None:
        with pytest.raises(SubjectNotFound, match="has no deleted version"):
            net.ask(ListVersions(Subject(".", name), "deleted"))
    else:
        assert net.ask(ListVersions(Subject(".", name), "deleted")).numbers == numbers


@pytest.mark.parametrize("names", [[".", ".x"], [":.:", ":.x:"], [":.", ".x:"]])
def test_names_of_contexts_have_no_colons(names: list[str]) -> None:
    assert net_of({"GET /contexts": names}).ask(ListContexts()).names == (".", ".x")


# ------------------------------------------------------------------------------------------------------ time and tokens


def test_all_requests_of_a_list_are_within_the_time_of_one() -> None:
    net = Net([lambda step: (0.4, server(list_routes("none"))(step)[1])])
    net.ask(ListSchemas(Subject(EVERYWHERE, "")), replace(CALL, timeout=60.0))
    for at, _, step in net.asked:
        assert step.timeout <= 60.0 - at + 1e-9


@pytest.mark.parametrize("request_", [GetMode(Scope()), GetConfig(Scope()), ListSubjects(), GetSchema(7)])
def test_no_query_has_the_id_of_a_command(request_: Request[Any]) -> None:
    net = net_of(
        {"GET /config": {"compatibilityLevel": "FULL"}, "GET /subjects": [], "GET /schemas/ids/7": {"schema": '"int"'}}
    )
    net.ask(request_, replace(CALL, command_id="c"))
    assert not [name for _, _, step in net.asked for name in step.headers if "command" in name.lower()]

"""What a route of Confluent's API makes of options that few clients send, for all their values: details, dry runs, numbers at their limits."""

import asyncio
import json
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.facades.peers import PLAIN, running
from tests.facades.twin import SCHEMA, VERSION, Fixed
from treaty.api.confluent import schemas
from treaty.api.confluent.routes import TABLE
from treaty.core import refusals as r
from treaty.core.limits import ASSOCIATIONS_LISTED, COUNTER, SETTINGS_PAGE
from treaty.core.messages import associations as t
from treaty.core.messages.compatibility import Check
from treaty.core.messages.contexts import Contexts, ListContexts
from treaty.core.messages.listings import ListSchemas, ListVersions, VersionNumbers
from treaty.core.messages.request import LATEST
from treaty.core.messages.schemas import GetSchema, ReferencedBy, SchemaIds, Uses, UsesOf
from treaty.core.messages.versions import FindVersion, GetVersion

POSTED = {"schema": '"string"'}
BODY = {"resourceName": "orders", "resourceNamespace": "lkc-1", "resourceId": "r1"}
BOUND = t.ResourceBound(t.Resource("orders", "lkc-1", "r1"), (t.AssociatedSubject("s", "value"),))
VALUES: Mapping[str, str] = {"id": "7", "guid": VERSION.guid, "subject": "s", "context": ".x", "command": "c1"}
"""What stands in open segments of paths; of others the name itself."""
READS = sorted(path for path, operations in TABLE.items() if "GET" in operations)
OF_VERSIONS = [path for path in READS if "/versions/{}" in path]
KEPT = frozenset(
    {"/schemas/ids/{}", "/schemas/ids/{}/schema", "/schemas/guids/{}", "/subjects/{}/versions/{}", "/subjects/{}/versions/{}/schema"}
)  # fmt: skip
"""Reads whose answers stay the same until something is written."""


def details(*, has_details: bool) -> dict[str, str]:
    return {"Treaty-Details": "true"} if has_details else {}


def fill(path: str, version: str) -> str:
    """Return a path of the table with a value in each open segment."""
    for parameter in TABLE[path]["GET"].path:
        path = path.replace(
            "{}", version if parameter.name == "version" else VALUES.get(parameter.name, parameter.name), 1
        )
    return path


# ---------------------------------------------------------------------------------------------------------- from memory


@pytest.mark.parametrize("version", ["3", "latest", "LATEST", "-1"])
def test_answers_of_versions_by_number_of_ids_and_of_guids_are_kept_and_no_others(version: str) -> None:
    async def story() -> None:
        async with running() as server:
            peer = await server.connect()
            for path in READS if version == "3" else OF_VERSIONS:
                server.app.cache.empty()
                await peer.ask(fill(path, version).encode(), PLAIN)
                assert bool(server.app.cache.size) == (path in KEPT and version == "3"), path
            await peer.close()

    asyncio.run(story())


VARIANTS = [
    accept + packed + more
    for accept in (
        b"Accept: */*\r\n",
        b"Accept: application/json\r\n",
        b"Accept: application/vnd.schemaregistry+json\r\n",
    )
    for packed in (b"", b"Accept-Encoding: gzip\r\n")
    for more in (b"", b"Treaty-Details: true\r\n")
]


@pytest.mark.parametrize("target", [b"/subjects/s/versions/3", b"/schemas/ids/7"])
def test_each_kind_of_request_has_an_answer_of_its_own_from_memory(target: bytes) -> None:
    """Of a text that is long enough to be packed."""

    async def story() -> None:
        async with running() as server:
            long_text = json.dumps({"type": "enum", "name": "E", "symbols": [f"S{at}" for at in range(2_000)]})
            for kind, answer in ((GetVersion, VERSION), (GetSchema, SCHEMA)):
                server.member.answers[kind] = type(answer)(**{**as_members(answer), "text": long_text})
            peer = await server.connect()
            slow = [await peer.ask(target, b"Host: h\r\n" + variant) for variant in VARIANTS]
            hits = server.app.cache.hits
            assert [await peer.ask(target, b"Host: h\r\n" + variant) for variant in VARIANTS] == slow
            assert (hits, len(server.member.asked)) == (0, len(VARIANTS))
            assert server.app.cache.hits == len(VARIANTS)
            await peer.close()

    asyncio.run(story())


def as_members(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).__dataclass_fields__}


# ------------------------------------------------------------------------------------------------------- options of routes


@pytest.mark.parametrize(("verbose", "has_details"), [*product([False, True], repeat=2)])
@pytest.mark.parametrize("path", ["versions", "versions/1", "versions/latest"])
def test_an_invalid_schema_is_an_error_unless_the_reasons_are_asked_for_without_details(
    http: TestClient, member: Fixed, path: str, *, verbose: bool, has_details: bool
) -> None:
    member.answers[Check] = r.InvalidSchema(r.Reason("R", "m"))
    target = f"/compatibility/subjects/s/{path}?verbose={verbose}"
    answer = http.post(target, json=POSTED, headers=details(has_details=has_details))
    assert answer.status_code == (200 if verbose and not has_details else 422)


@pytest.mark.parametrize(("dry", "has_details"), [*product([False, True], repeat=2)])
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/associations"), ("PUT", "/associations/resources/r1"), ("POST", "/associations:batchMutate")],
)
def test_associations_of_a_dry_run_are_in_its_answer_with_details_alone(
    http: TestClient, member: Fixed, method: str, path: str, *, dry: bool, has_details: bool
) -> None:
    member.answers |= {
        t.Associate: BOUND,
        t.ChangeAssociations: t.AssociationResults((t.AssociationResult(BOUND),) * 2),
    }
    body = {"requests": [BODY]} if path.endswith("Mutate") else BODY
    answer = http.request(method, f"{path}?dryRun={dry}", json=body, headers=details(has_details=has_details)).json()
    results = [one["result"] for one in answer["results"]] if "results" in answer else [answer]
    assert ["associations" in one for one in results] == [has_details or not dry] * len(results)


@pytest.mark.parametrize("sent", ["", "r1"])
def test_the_id_in_the_path_is_that_of_the_resource_whether_or_not_the_body_has_it(
    http: TestClient, member: Fixed, sent: str
) -> None:
    http.put("/associations/resources/r1", json={**BODY, "resourceId": sent})
    (request,) = member.asked
    assert isinstance(request, t.Associate)
    assert request.resource == t.Resource("orders", "lkc-1", "r1")


@pytest.mark.parametrize("deleted", [False, True])
@pytest.mark.parametrize(("key", "value"), [("a%2520b", "c"), ("a", "b%2520c"), ("a%2520b", "c%2520d")])
def test_what_is_encoded_twice_is_looked_for_again_among_the_same_versions(
    http: TestClient, member: Fixed, key: str, value: str, *, deleted: bool
) -> None:
    member.answers[FindVersion] = r.SchemaNotFound.of("SCHEMA", "none")
    http.get(f"/subjects/s/metadata?key={key}&value={value}&deleted={deleted}")
    first, second = member.asked
    assert isinstance(first, FindVersion)
    assert isinstance(second, FindVersion)
    assert (first.deleted, second.deleted) == (deleted, deleted)
    assert ["%" in text for text in (*first.properties[0], *second.properties[0])] == [
        "%" in key, "%" in value, False, False,
    ]  # fmt: skip


# ----------------------------------------------------------------------------------------------------- numbers and words


@pytest.mark.parametrize("path", [path for path in OF_VERSIONS if TABLE[path]["GET"].path[1].name == "version"])
@pytest.mark.parametrize(
    ("word", "number"),
    [("1", 1), ("+1", 1), ("%201%20", 1), (str(COUNTER), COUNTER), ("latest", LATEST), ("LaTest", LATEST), ("-1", LATEST),
     ("0", None), ("-2", None), (str(COUNTER + 1), None), ("99999999999", None), ("1.0", None), ("last", None)],
)  # fmt: skip
def test_a_version_in_a_path_is_a_number_up_to_the_last_or_the_latest(
    http: TestClient, member: Fixed, path: str, word: str, number: int | None
) -> None:
    answer = http.get(fill(path, word))
    assert answer.status_code == (422 if number is None else 200)
    assert [getattr(request, "version", None) for request in member.asked] == ([] if number is None else [number])


@pytest.mark.parametrize(
    "path", ["/schemas/ids/{}", "/schemas/ids/{}/schema", "/schemas/ids/{}/subjects", "/schemas/ids/{}/versions"]
)
@pytest.mark.parametrize(
    ("word", "is_number"),
    [("0", True), (str(COUNTER), True), (str(-COUNTER - 1), True), (str(COUNTER + 1), False), (str(-COUNTER - 2), False), ("1.0", False)],
)  # fmt: skip
def test_an_id_in_a_path_is_a_number_of_32_bits(
    http: TestClient, member: Fixed, path: str, word: str, *, is_number: bool
) -> None:
    answer = http.get(path.replace("{}", word))
    assert (answer.status_code, [getattr(request, "schema_id", None) for request in member.asked]) == (
        (200, [int(word)]) if is_number else (404, [])
    )


@pytest.mark.parametrize("path", ["/schemas/guids/{}", "/schemas/guids/{}/ids"])
@pytest.mark.parametrize("dashes", [True, False])
@pytest.mark.parametrize("upper", [True, False])
def test_a_guid_is_read_with_and_without_dashes_in_any_letter_case(
    http: TestClient, member: Fixed, path: str, *, dashes: bool, upper: bool
) -> None:
    word = VERSION.guid if dashes else VERSION.guid.replace("-", "")
    assert http.get(path.replace("{}", word.upper() if upper else word)).status_code == 200
    assert [getattr(request, "guid", None) for request in member.asked] == [VERSION.guid]


@pytest.mark.parametrize(
    ("word", "offset"), [("", 0), ("0", 0), ("-1", 0), (str(-COUNTER - 1), 0), ("1", 1), (str(COUNTER), COUNTER)]
)
@pytest.mark.parametrize("path", ["/subjects", "/schemas", "/treaty/settings", "/associations/subjects/s"])
def test_a_list_begins_at_its_beginning_for_any_offset_below_one(
    http: TestClient, member: Fixed, path: str, word: str, offset: int
) -> None:
    assert http.get(f"{path}?offset={word}").status_code == 200
    assert [getattr(request, "offset", None) for request in member.asked] == [offset]


MOST = {"/subjects": COUNTER, "/schemas": schemas.LISTED, "/treaty/settings": SETTINGS_PAGE, "/associations/subjects/s": ASSOCIATIONS_LISTED,
        "/associations/resources/r1": ASSOCIATIONS_LISTED, "/associations/resources/-/orders": ASSOCIATIONS_LISTED}  # fmt: skip


@pytest.mark.parametrize("path", MOST)
def test_a_limit_out_of_its_range_is_that_of_the_server(http: TestClient, member: Fixed, path: str) -> None:
    most = MOST[path]
    cases = {
        "": most,
        "-1": most,
        "0": most,
        "1": 1,
        f"{most - 1}": most - 1,
        f"{most}": most,
        f"{COUNTER}": most,
        f"{-COUNTER}": most,
    }
    if most < COUNTER:
        cases[f"{most + 1}"] = most
    for word in cases:
        assert http.get(f"{path}?limit={word}").status_code == 200
    assert [getattr(request, "limit", None) for request in member.asked] == [*cases.values()]


@pytest.mark.parametrize("path", [path for path in MOST if path.startswith(("/schemas", "/associations"))])
@pytest.mark.parametrize("word", ["strong", "Weak", "WEAK", ""])
def test_associations_are_chosen_by_words_in_any_letter_case_and_empty_ones_are_none(
    http: TestClient, member: Fixed, path: str, word: str
) -> None:
    assert http.get(f"{path}?lifecycle={word}&associationType=&associationType=key&associationType=").status_code == 200
    (request,) = member.asked
    assert isinstance(request, t.ListAssociations | ListSchemas)
    lifecycle = request.lifecycle if isinstance(request, t.ListAssociations) else "".join(request.lifecycles)
    assert (lifecycle, request.kinds) == (word.upper(), ("key",))


LISTS: Mapping[str, list[Any]] = {
    "/subjects/s/versions": [1, 2, 3], "/subjects/s/versions/1/referencedby": [4, 9, 11], "/schemas/ids/7/subjects": ["s", "t", "u"],
    "/schemas/ids/7/versions": [{"subject": "s", "version": 1}, {"subject": "t", "version": 3}, {"subject": "u", "version": 1}],
    "/contexts": [".", ".x", ".y"],
}  # fmt: skip
"""Lists of which a page is cut by the route itself."""


@pytest.mark.parametrize("path", LISTS)
def test_a_page_of_a_list_is_that_part_of_it(http: TestClient, member: Fixed, path: str) -> None:
    """A limit below one is none."""
    member.answers |= {
        ListVersions: VersionNumbers((1, 2, 3)), ReferencedBy: SchemaIds((4, 9, 11)), ListContexts: Contexts((".", ".x", ".y")),
        UsesOf: Uses((("s", 1), ("t", 3), ("u", 1))),
    }  # fmt: skip
    for offset, limit in product((-1, 0, 1, 3), (-1, 0, 1, 2, 3, 4)):
        start = max(0, offset)
        end = start + limit if limit > 0 else None
        assert http.get(f"{path}?offset={offset}&limit={limit}").json() == LISTS[path][start:end]


@pytest.mark.parametrize("path", ["/subjects/s/versions/3", "/schemas/ids/7"])
def test_each_tag_is_looked_for_once(http: TestClient, member: Fixed, path: str) -> None:
    cases: dict[str, tuple[str, ...]] = {"": (), ",": (), "a": ("a",), "b,a,b": ("b", "a"), ",a,": ("a",)}
    for words in cases:
        http.get(f"{path}?{'&'.join(f'findTags={word}' for word in words.split(','))}")
    assert [getattr(request, "find_tags", None) for request in member.asked] == [*cases.values()]

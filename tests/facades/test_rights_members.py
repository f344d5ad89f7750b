"""Members, query parameters and headers that are Treaty's own: which right each needs, and that the page on rights has them all."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from tests.facades.doors import ROOT, STRING, Door, basic, play
from treaty.api import confluent
from treaty.api.confluent.routes import TABLE
from treaty.api.native import TABLE as NATIVE
from treaty.api.openapi.table import COMMANDS, CONSISTENCY, HEADERS
from treaty.wire.peer.message import SECRET
from treaty.wire.schemarepo.texts import MODEL

# ------------------------------------------------------------------------------------------- how a subject is made


def posted(name: str, **more: Any) -> dict[str, Any]:
    return {"schema": json.dumps({"type": "record", "name": name, "fields": []}), **more}


def made_with(**members: Any) -> dict[str, Any]:
    return {"treaty": {"createWith": members}}


def test_who_may_only_register_does_not_choose_the_policy(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        path = "/subjects/open-a/versions"
        body = posted("A", **made_with(policy="NONE"))
        assert await it.code("POST", path, basic("writer"), body) == 40301
        assert await it.code("POST", path, basic("configurer"), body) == 40301
        _, told = await it.ask("POST", path, basic("writer"), body)
        assert "permission config on subject 'open-a'" in told["message"]
        assert await it.code("POST", path, basic("writer"), posted("A", **made_with(properties={"a": "b"}))) == 200
        assert await it.code("PUT", "/config/open-a", ROOT, {"compatibility": "FULL_TRANSITIVE"}) == 200
        assert await it.code("POST", path, basic("writer"), posted("B")) == 40901
        assert await it.code("POST", path, basic("writer"), posted("B", **made_with(policy="NONE"))) == 40301
        assert await it.code("POST", "/subjects/open-b/versions", basic("chief"), body) == 200

    play(tmp_path, story)


def test_a_policy_that_no_word_names_needs_the_right_to_the_config(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        path, denied = "/subjects/open-a/versions", made_with(policy={"deny": True})
        for member in (denied, made_with(policy={"validators": []}), made_with(policy={"level": "FULL"})):
            assert await it.code("POST", path, basic("writer"), posted("A", **member)) == 40301
        assert await it.code("POST", path, basic("chief"), posted("A", **denied)) == 200
        body = {"treaty": {"policy": {"backward": {"range": "all"}}}}
        assert await it.code("PUT", "/config/open-a", basic("writer"), body) == 40301
        assert await it.code("POST", path, basic("writer"), posted("B")) == 40901
        assert await it.code("PUT", "/config/open-a", basic("configurer"), body) == 200

    play(tmp_path, story)


def test_a_subject_that_is_there_keeps_its_policy(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        path = "/subjects/open-a/versions"
        assert await it.code("POST", path, ROOT, posted("A", **made_with(policy="FULL"))) == 200
        details = ROOT | {"Treaty-Details": "true"}
        status, told = await it.ask("POST", path, details, posted("B", **made_with(policy="NONE")))
        assert (status, told["error_code"]) == (422, 42205)
        facts = {name: told["treaty"][name] for name in ("rule", "path", "old", "new")}
        assert facts == {
            "rule": "CREATE_WITH_POLICY", "path": "/treaty/createWith/policy", "old": "level FULL", "new": "level NONE"
        }  # fmt: skip
        assert "leave createWith.policy out" in told["treaty"]["allowed"]
        assert await it.code("POST", path, ROOT, posted("A", **made_with(policy="FULL"))) == 42205, "nor with the same"
        assert await it.code("DELETE", "/subjects/open-a", ROOT) == 200
        assert await it.code("POST", path, ROOT, posted("A", **made_with(policy="NONE"))) == 42205, "it is there still"

    play(tmp_path, story)


def test_a_schema_inside_an_association_needs_the_same_rights(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        resource = {"resourceName": "open-orders", "resourceNamespace": "lkc-1", "resourceId": "t-1"}
        bound = {"subject": "open-v", "associationType": "value", "schema": posted("A", **made_with(policy="NONE"))}
        body = {**resource, "associations": [bound]}
        assert await it.code("POST", "/associations", basic("writer"), body) == 40301
        assert await it.code("PUT", "/associations/resources/t-1", basic("writer"), body) == 40301
        batch = {"requests": [{**resource, "associations": [{**bound, "opType": "CREATE"}]}]}
        status, told = await it.ask("POST", "/associations:batchMutate", basic("writer"), batch)
        assert (status, told["results"][0]["error"]["error_code"]) == (207, 40301)
        assert await it.code("GET", "/subjects/open-v/versions", ROOT) == 40401
        bound["schema"] = posted("A", **made_with(origin="pravega"))
        assert await it.code("POST", "/associations", ROOT, body) == 400
        bound["schema"] = posted("A", **made_with(policy="NONE"))
        assert await it.code("POST", "/associations", basic("chief"), body) == 200

    play(tmp_path, story)


@pytest.mark.parametrize(
    ("member", "value"), [("origin", "x"), ("origin", "confluent"), ("types", "many"), ("order", "schemaver"), ("identity", "exact")]
)  # fmt: skip
def test_what_an_api_says_of_its_subjects_no_body_says(tmp_path: Path, member: str, value: str) -> None:
    async def story(it: Door) -> None:
        body = {"schema": "no schema of any format", "schemaType": "MADEUP", **made_with(**{member: value})}
        for who in (basic("writer"), ROOT):
            status, told = await it.ask("POST", "/subjects/open-a/versions", who, body)
            assert (status, told["error_code"]) == (400, 400)
            assert f"createWith.{member}" in told["message"]
            assert "allowed: policy, properties and schemes" in told["message"]
        assert await it.ask("GET", "/subjects", ROOT) == (200, [])
        assert (
            await it.code("POST", "/subjects/open-a/versions", ROOT, {"schema": STRING, **made_with(origin=None)})
            == 200
        )

    play(tmp_path, story)


# --------------------------------------------------------------------------------------------- what importers say

IMPORTERS = """
[[rule]]
who = "user:writer"
may = ["register", "mode", "delete"]
subjects = ["open-*"]

[[rule]]
who = "user:nobody"
may = ["register", "mode"]
"""
"""Writer has all rights to some subjects, nobody those that an import needs to the whole default context."""


def test_ids_of_a_context_are_not_used_up_by_who_has_rights_to_some_subjects(tmp_path: Path) -> None:
    """The steps of an audit: one id, and nobody could register anything new in the context, for ever."""

    async def story(it: Door) -> None:
        writer, last = basic("writer"), 2**31 - 1
        assert await it.code("PUT", "/mode/open-i?force=true", writer, {"mode": "IMPORT"}) == 200
        for schema_id in (last, 1):
            body = {"schema": STRING, "id": schema_id, "version": 1}
            status, told = await it.ask("POST", "/subjects/open-i/versions", writer, body)
            assert (status, told["error_code"]) == (403, 40301)
            assert "the permission mode on all of context '.'" in told["message"]
        assert await it.code("POST", "/subjects/new/versions", ROOT, posted("F")) == 200

    play(tmp_path, story, IMPORTERS)


def test_an_importer_gives_ids_near_the_highest_one(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        importer, path = basic("nobody"), "/subjects/i/versions"
        assert await it.code("PUT", "/mode?force=true", importer, {"mode": "IMPORT"}) == 200
        status, told = await it.ask("POST", path, importer, {"schema": STRING, "id": 2**31 - 1, "version": 1})
        assert (status, told["error_code"]) == (422, 42209)
        assert "above 0, the highest one of context ." in told["message"]
        assert "allowed: at most 1000000" in told["message"]
        assert await it.code("POST", path, importer, {"schema": STRING, "id": 100_001, "version": 1}) == 200
        far = {"schema": '"int"', "id": 7_000_001, "version": 1, "treaty": {"time": 1}}
        assert await it.code("POST", "/subjects/j/versions", importer, far) == 42209
        assert await it.code("PUT", "/treaty/contexts/:.:", importer, {"highestId": 7_000_000}) == 200
        assert await it.code("POST", "/subjects/j/versions", importer, far) == 200

    play(tmp_path, story, IMPORTERS)


def test_what_comes_from_elsewhere_with_an_association_needs_the_mode_too(tmp_path: Path) -> None:
    async def story(it: Door) -> None:
        assert await it.code("POST", "/subjects/open-a/versions", ROOT, posted("A")) == 200
        assert await it.code("PUT", "/mode?force=true", ROOT, {"mode": "IMPORT"}) == 200
        bound = {"subject": "open-a", "treaty": {"guid": "b040db4b-fdae-23ea-4a07-95f3973b98c8"}}
        body = {"resourceName": "o", "resourceNamespace": "n", "resourceId": "r", "associations": [bound]}
        assert await it.code("POST", "/associations", basic("writer"), body) == 40301
        bound["schema"] = posted("B", id=7)
        assert await it.code("POST", "/associations", basic("nobody"), body) == 200

    play(tmp_path, story, IMPORTERS)


# --------------------------------------------------------------------------------------------- every member of ours

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "rights.md"
CONFLUENTS: dict[str, str] = {
    "DraftBody": "version id schemaType references metadata ruleSet schema schemaTagsToAdd schemaTagsToRemove "
    "propagateSchemaTags",
    "ReferenceBody": "name subject version",
    "MetadataBody": "tags properties sensitive",
    "RuleSetBody": "migrationRules domainRules encodingRules enableAt",
    "RuleBody": "name doc kind mode type tags params expr onSuccess onFailure disabled",
    "TagsBody": "schemaEntity tags",
    "EntityBody": "entityPath entityType",
    "DeriveBody": "newVersion tagsToAdd tagsToRemove metadata ruleSet rulesToMerge rulesToRemove",
    "ConfigBody": "alias aliasForDeks normalize validateFields validateNewSchemas validateRules compatibility "
    "compatibilityLevel compatibilityPolicy compatibilityGroup defaultMetadata overrideMetadata defaultRuleSet "
    "overrideRuleSet",
    "ModeBody": "mode",
    "AssociateBody": "resourceName resourceNamespace resourceId resourceType associations",
    "AssociationSpecBody": "subject associationType lifecycle frozen schema normalize",
    "ChangesBody": "requests",
    "ChangeBody": "resourceName resourceNamespace resourceId resourceType associations",
    "OperationBody": "opType subject associationType lifecycle frozen schema normalize cascadeLifecycle",
    "GetsBody": "requests",
    "GetBody": "resourceName resourceNamespace resourceId resourceType associationTypes lifecycle",
}
"""Members of bodies as Confluent's registry 8.x reads them. A body that is not here is Treaty's own."""
CONFLUENTS_QUERY = frozenset(
    {"subjectPrefix", "subject", "deleted", "deletedOnly", "deleted_only", "offset", "limit", "normalize", "format",
     "permanent", "key", "value", "deletedAsNegative", "force", "findTags", "referenceFormat", "reference_format",
     "latestOnly", "aliases", "ruleType", "resourceType", "associationType", "lifecycle", "fetchMaxId", "verbose",
     "defaultToGlobal", "recursive", "contextPrefix", "includeSchemas", "context", "dryRun", "cascadeLifecycle"}
)  # fmt: skip
"""Parameters of queries as Confluent's registry 8.x reads them."""


def structs(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """Return the bodies that an annotation names."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for part in get_args(kind):
        yield from structs(part)


def own_members(kind: type[msgspec.Struct], inside: str = "") -> Iterator[str]:
    """Return the members of a body that are not Confluent's, by their path from the first one that is not."""
    established = CONFLUENTS.get(kind.__name__, "").split()
    for member in msgspec.structs.fields(kind):
        below = list(structs(member.type))
        own = bool(inside) or member.encode_name not in established
        path = f"{inside}.{member.encode_name}" if inside else member.encode_name
        if own and (not below or str in get_args(member.type)):
            yield path
        for one in below:
            yield from own_members(one, path if own else "")


def own_names() -> set[str]:
    """Return every name of Treaty's own that the API reads."""
    operations = [one for methods in TABLE.values() for one in methods.values()]
    bodies = {one.sent for one in operations if one.sent is not None}
    query = {name for one in operations for each in one.query for name in (each.name, *each.also)} | {CONSISTENCY.name}
    headers = {each.name for each in (*HEADERS, *COMMANDS)} | {SECRET}
    return {path for body in bodies for path in own_members(body)} | (query - CONFLUENTS_QUERY) | headers


def entries() -> set[str]:
    """Return the names in the first column of the page's table."""
    text = PAGE.read_text("utf-8").partition("## Members and headers of Treaty\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return {name.removesuffix("=false") for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_the_page_says_of_each_who_may_send_it() -> None:
    own, listed = own_names(), entries()
    assert {"treaty.force.who", "treaty.createWith.policy", "treaty.guid", "validators", "Treaty-Retry", "alias"} <= own
    assert own - listed == set(), (
        "say in docs/reference/rights_page.py who may send these, and see to it that nobody else may"
    )
    known = own | CONFLUENTS_QUERY | {"id"}
    assert {one for one in listed if not one.startswith("/treaty/")} - known == set(), "nothing of the API is called so"


def test_the_page_has_every_path_of_treatys_own() -> None:
    paths = {path for path in {**TABLE, **NATIVE} if path.startswith("/treaty/")} | {"/treaty/peer/commands"}
    assert {re.sub(r"\{\w+\}", "{}", one) for one in entries() if one.startswith("/treaty/")} == paths


def test_every_parameter_that_is_read_is_described() -> None:
    """So that the test above sees it: names that the endpoints take out of a query stand in the description."""
    described = {name for methods in TABLE.values() for one in methods.values() for each in one.query
                 for name in (each.name, *each.also)} | {CONSISTENCY.name}  # fmt: skip
    read = set()
    for path in Path(next(iter(confluent.__path__))).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                on, args = ast.unparse(node.func.value), [one for one in node.args if isinstance(one, ast.Constant)]
                if on.endswith("query") or (on == "self" and path.name == "query.py"):
                    read |= {str(one.value) for one in args if isinstance(one.value, str) and one.value}
    words = {"0", "-1", "false"}
    assert {"alias", "afterVersion", "force"} <= read
    assert read - described - words == set(), "describe them in src/treaty/api/openapi/"


def test_every_header_of_ours_is_described() -> None:
    source = Path(next(iter(confluent.__path__))).parents[1]
    named = {
        name for path in source.rglob("*.py") for name in re.findall(r'"(Treaty-[A-Z][\w-]*)"', path.read_text("utf-8"))
    }
    assert named == {each.name for each in (*HEADERS, *COMMANDS) if each.name != "X-Request-ID"} | {
        SECRET,
        MODEL,
        "Treaty-Warning",
    }

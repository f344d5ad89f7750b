"""Identities as other registries compute them, over the texts that the formats print."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.avro_treaty import described
from treaty.core.schema import Metadata, Reference, Rule, RuleSet, guid

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "data" / "guid-vectors.json").read_text("utf-8"))


def metadata(members: dict[str, Any] | None) -> Metadata | None:
    if members is None:
        return None
    tags = tuple((path, tuple(words)) for path, words in members.get("tags", {}).items())
    return Metadata(tags, tuple(members.get("properties", {}).items()), tuple(members.get("sensitive", ())))


def rule(members: dict[str, Any]) -> Rule:
    words = ("name", "kind", "mode", "type", "doc", "expr")
    return Rule(
        **{word: members.get(word, "") for word in words},
        tags=tuple(members.get("tags", ())),
        params=tuple(members.get("params", {}).items()),
        on_success=members.get("onSuccess", ""),
        on_failure=members.get("onFailure", ""),
        disabled=members.get("disabled", False),
    )


def rules(members: dict[str, Any] | None) -> RuleSet | None:
    if members is None:
        return None
    migration, domain, encoding = (
        tuple(map(rule, members.get(f"{group}Rules", ()))) for group in ("migration", "domain", "encoding")
    )
    return RuleSet(migration, domain, encoding, members.get("enableAt", ""))


@pytest.mark.parametrize("vector", [pytest.param(vector, id=vector["case"]) for vector in VECTORS])
def test_a_schema_has_the_guid_of_the_recipe(vector: dict[str, Any]) -> None:
    references = tuple(Reference(one["name"], one["subject"], one["version"]) for one in vector["references"])

    assert guid(vector["text"], references, metadata(vector["metadata"]), rules(vector["ruleSet"])) == vector["guid"]


@pytest.mark.parametrize("case", ["avro primitive", "avro record", "unicode"])
def test_the_texts_of_the_vectors_are_canonical(case: str) -> None:
    text = next(vector["text"] for vector in VECTORS if vector["case"] == case)

    assert described(text)["canonical"] == text
    assert described(json.dumps(json.loads(text), indent=1))["canonical"] == text

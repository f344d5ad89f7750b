"""Questions that an older registry has answered, asked again of the one that it was upgraded to."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from treaty.client.connection import Connection
from treaty.core import requests as asked
from treaty.core.answers import VersionFound
from treaty.core.messages import associations as tied
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import Refusal
from treaty.core.requests import Request, Scope
from treaty.core.state.codec import encode
from treaty.log.upgrade.old_format import OldState

PAGE = 1_000


def own_policies(state: OldState) -> Iterator[str]:
    """Subjects that followed a policy of their own, or had validators of their own."""
    for row in state.rows:
        members = json.loads(row.value or "")
        if row.table == "subject" and (members.get("policy") or members.get("validators")):
            context, name = json.loads(row.key)
            yield name if context == "." else f":{context}:{name}"


def answered(registry: Connection, one: dict[str, Any], followers: set[str]) -> Any:
    """What the new registry says to a question."""

    def told(request: Request[Any]) -> Any:
        try:
            return json.loads(json.dumps(encode(registry.ask(request).answer)))
        except Refusal as refusal:
            return {"refused": type(refusal).__name__}

    match one["question"]:
        case "contexts":
            return [*registry.ask(asked.ListContexts()).answer.names]
        case "subjects":
            return [*registry.ask(asked.ListSubjects(visible=one["visible"])).answer.names]
        case "schemas":
            found = [replace(version, type_name="", type_version=0) for version in _versions(registry, one["context"])]
            return [json.loads(json.dumps(encode(version))) for version in found]  # format 1 told no types
        case "guid":
            return told(asked.GetGuidIds(one["guid"]))
        case "config":
            config = told(asked.GetConfig(Scope(*subject_of(one["subject"])), resolve=True))
            return _without_policy(config) if one["subject"] in followers else config
        case "mode":
            return told(asked.GetMode(Scope(*subject_of(one["subject"])), resolve=True))
        case "associations":
            return told(tied.ListAssociations(tied.OfSubject(subject_of(one["subject"]))))
    return _settings(registry, followers)


def _versions(registry: Connection, context: str) -> Iterator[VersionFound]:
    after: tuple[str, int] | None = None
    while True:
        wanted = asked.ListSchemas(Subject(context, ""), visible="all", limit=PAGE, after=after)
        page = registry.ask(wanted).answer.versions
        yield from page
        if not page:
            return
        after = page[-1].subject, page[-1].number


def _settings(registry: Connection, followers: set[str]) -> Any:
    found: list[Any] = []
    page = registry.ask(asked.ListSettings()).answer.settings
    while page:
        found += page
        page = registry.ask(asked.ListSettings(after=Scope(page[-1].context, page[-1].name))).answer.settings
    return _plain_settings(json.loads(json.dumps([encode(one) for one in found])), followers)


def _plain_settings(found: list[dict[str, Any]], followers: set[str]) -> list[dict[str, Any]]:
    """Settings without the configs of subjects whose own policy came into them, and without ids that a gap has raised."""
    plain = []
    for one in found:
        name, context = one.get("name"), one["context"]
        qualified = name if context == "." else f":{context}:{name}"
        kept = {key: value for key, value in one.items() if key != "highest_id"}
        if name is not None and qualified in followers:
            kept.pop("config", None)
        if {"config", "mode"} & kept.keys() or name is None:
            plain.append(kept)
    return plain


def _without_policy(answer: dict[str, Any]) -> dict[str, Any]:
    gone = ("level", "exact_level", "policy", "group", "partition", "validators")
    return {name: value for name, value in answer.get("config", {}).items() if name not in gone and value}


def expected(one: dict[str, Any], followers: set[str]) -> Any:
    answer = one["answer"]
    if one["question"] == "settings":
        return _plain_settings(answer, followers)
    if one["question"] == "config" and one["subject"] in followers:
        return _without_policy(answer)
    return answer

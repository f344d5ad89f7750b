"""A server of another kind, on loopback: it answers as a data file in `peers/` says, from memory of its own."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import NAMESPACE_URL, uuid5

from tests.behaviours.scripted import Say, Seen

PEERS = Path(__file__).parent / "peers"
REFUSED = "must"
"""A schema with this word in it is incompatible with every other, unless the level is NONE."""
ELDER = "elder"
"""A schema with this word in it is incompatible with the first version of a subject alone."""
NO_SCHEMA = "nope"
"""A text with this word in it is no schema."""


class Told(Exception):
    """An error answer."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.say = Say(int(str(code)[:3]), {"error_code": code, "message": message})


@dataclass
class Peer:
    """What a file says, and what was registered."""

    rules: dict[str, Any]
    versions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    ids: dict[str, int] = field(default_factory=dict)
    levels: dict[str, str] = field(default_factory=dict)
    modes: dict[str, str] = field(default_factory=dict)

    def answer(self, seen: Seen) -> Say:
        """Answer one request."""
        assert not [name for name in seen.headers if name == "treaty-position"], "it has given no token"
        parts = urlsplit(seen.target)
        query = {name: value for name, value in parse_qsl(parts.query) if name not in self.rules["passed_over"]}
        given = [unquote(part) for part in parts.path.split("/")]
        for route, methods in self.rules["routes"].items():
            wanted = route.split("/")
            if len(wanted) == len(given) and all(w == g or w[:1] == "{" for w, g in zip(wanted, given, strict=True)):
                if seen.method not in methods.split():
                    return Say(*self.rules["forbidden_method"])
                names = {w.strip("{}"): g for w, g in zip(wanted, given, strict=True) if w[:1] == "{"}
                method = getattr(
                    self, f"{seen.method.lower()}_{re.sub(r'[{}]', '', route.strip('/')).replace('/', '_')}"
                )
                try:
                    return Say(200, method(query=query, body=json.loads(seen.body or b"{}"), **names))
                except Told as told:
                    return told.say
        return Say(*self.rules["absent"])

    # ------------------------------------------------------------------------------------------------ what is there

    def shown(self, one: dict[str, Any], members: str) -> dict[str, Any]:
        told = {name: one[name] for name in self.rules[members] if name in one}
        if not self.rules["names_avro"] and one["schemaType"] == "AVRO":
            told.pop("schemaType", None)
        elif "schemaType" not in told and one["schemaType"] != "AVRO":
            told["schemaType"] = one["schemaType"]
        return told | dict.fromkeys(self.rules["nulls"])

    def living(self, s: str, query: dict[str, str]) -> list[dict[str, Any]]:
        everything = query.get("deleted") == "true"
        return [one for one in self.versions.get(s, []) if everything or not one["deleted"]]

    def one(self, s: str, v: str, query: dict[str, str]) -> dict[str, Any]:
        there = self.living(s, query)
        if not there:
            raise Told(40401, f"Subject '{s}' not found.")
        found = [one for one in there if v in {"latest", str(one["version"])}]
        if not found:
            raise Told(40402, f"Version {v} not found.")
        return found[-1]

    def level(self, s: str) -> str:
        return self.levels.get(s) or self.levels.get("", "BACKWARD")

    def fits(self, s: str, text: str, version: int | None = None) -> bool:
        """Whether a text fits a version, or (None) those that the level compares."""
        living = self.living(s, {})
        if self.level(s) == "NONE" or not living:
            return True
        every = self.level(s).endswith("_TRANSITIVE")
        compared = [one["version"] for one in (living if every else living[-1:])] if version is None else [version]
        return REFUSED not in text and not (ELDER in text and 1 in compared)

    def by_id(self, number: str) -> dict[str, Any]:
        for ones in self.versions.values():
            for one in ones:
                if str(one["id"]) == number:
                    return one
        raise Told(40403, f"Schema {number} not found")

    # ----------------------------------------------------------------------------------------------------- subjects

    def get_subjects(self, query: dict[str, str], **_: Any) -> list[str]:
        prefix = query.get("subjectPrefix", ":*:").removeprefix(":*:")
        return sorted(s for s in self.versions if self.living(s, query) and s.startswith(prefix))

    def post_subjects_s(self, s: str, body: dict[str, Any], query: dict[str, str], **_: Any) -> dict[str, Any]:
        if not self.living(s, query):
            raise Told(40401, f"Subject '{s}' not found.")
        for one in self.living(s, query):
            if one["schema"] == body["schema"]:
                return self.shown(one, "version")
        raise Told(40403, "Schema not found")

    def delete_subjects_s(self, s: str, query: dict[str, str], **_: Any) -> list[int]:
        if s not in self.versions:
            raise Told(40401, f"Subject '{s}' not found.")
        living = [one for one in self.versions[s] if not one["deleted"]]
        if query.get("permanent") == "true":
            if living:
                raise Told(40405, f"Subject '{s}' was not deleted first before being permanently deleted")
            return [one["version"] for one in self.versions.pop(s)]
        if not living:
            raise Told(40404, f"Subject '{s}' was soft deleted.Set permanent=true to delete permanently")
        for one in living:
            one["deleted"] = True
        return [one["version"] for one in living]

    def get_subjects_s_versions(self, s: str, query: dict[str, str], **_: Any) -> list[int]:
        there = self.living(s, query)
        if not there:
            raise Told(40401, f"Subject '{s}' not found.")
        negative = query.get("deletedAsNegative") == "true"
        return [-one["version"] if negative and one["deleted"] else one["version"] for one in there]

    def post_subjects_s_versions(self, s: str, body: dict[str, Any], **_: Any) -> dict[str, Any]:
        text = body["schema"]
        if NO_SCHEMA in text:
            status, told = self.rules["invalid"]
            raise Told(told["error_code"], told["message"]) if status else AssertionError
        for one in self.living(s, {}):
            if one["schema"] == text:
                return self.shown(one, "registered")
        if self.modes.get(s, self.modes.get("")) == "READONLY":
            raise Told(42205, f"Subject {s} is in read-only mode")
        if not self.fits(s, text):
            raise Told(self.rules["incompatible"], "Schema being registered is incompatible with an earlier schema")
        ones = self.versions.setdefault(s, [])
        one = {
            "subject": s, "version": max((one["version"] for one in ones), default=0) + 1, "schema": text,
            "id": self.ids.setdefault(text, len(self.ids) + 1), "guid": str(uuid5(NAMESPACE_URL, text)),
            "schemaType": body.get("schemaType", "AVRO"), "ts": 1_700_000_000_000, "deleted": False,
            "metadata": body.get("metadata"),
        }  # fmt: skip
        ones.append(one)
        return self.shown(one, "registered")

    def get_subjects_s_versions_v(self, s: str, v: str, query: dict[str, str], **_: Any) -> dict[str, Any]:
        return self.shown(self.one(s, v, query), "version")

    def delete_subjects_s_versions_v(self, s: str, v: str, query: dict[str, str], **_: Any) -> int:
        one = self.one(s, v, {"deleted": "true"})
        if query.get("permanent") == "true":
            if not one["deleted"]:
                raise Told(40407, f"Subject '{s}' Version {v} was not deleted first before being permanently deleted")
            self.versions[s].remove(one)
        elif one["deleted"]:
            raise Told(40406, f"Subject '{s}' Version {v} was soft deleted.Set permanent=true to delete permanently")
        one["deleted"] = True
        return int(one["version"])

    def get_subjects_s_versions_v_referencedby(self, **_: Any) -> list[int]:
        return []

    def get_subjects_s_metadata(self, s: str, query: dict[str, str], **_: Any) -> dict[str, Any]:
        for one in reversed(self.living(s, query)):
            if ((one["metadata"] or {}).get("properties") or {}).get(query["key"]) == query["value"]:
                return self.shown(one, "version")
        raise Told(40403, "Schema not found")

    # ------------------------------------------------------------------------------------------------------ schemas

    def get_schemas(self, query: dict[str, str], **_: Any) -> list[dict[str, Any]]:
        prefix = query.get("subjectPrefix", "")
        every = [one for s in sorted(self.versions) for one in self.living(s, query) if s.startswith(prefix)]
        start, count = int(query.get("offset", 0)), int(query.get("limit", 10**9))
        return [self.shown(one, "version") for one in every[start : start + count]]

    def get_schemas_ids_id(self, id: str, **_: Any) -> dict[str, Any]:  # noqa: A002 (the word of the route)
        return self.shown(self.by_id(id), "schema")

    def get_schemas_ids_id_versions(self, id: str, query: dict[str, str], **_: Any) -> list[dict[str, Any]]:  # noqa: A002
        text = self.by_id(id)["schema"]
        uses = [one for s in sorted(self.versions) for one in self.living(s, query) if one["schema"] == text]
        return [{"subject": one["subject"], "version": one["version"]} for one in uses]

    def get_schemas_guids_guid(self, guid: str, **_: Any) -> dict[str, Any]:
        for ones in self.versions.values():
            for one in ones:
                if one["guid"] == guid:
                    return {name: value for name, value in self.shown(one, "schema").items() if name != "subject"}
        raise Told(40403, f"Schema {guid} not found")

    def get_schemas_guids_guid_ids(self, guid: str, **_: Any) -> list[dict[str, Any]]:
        found = {one["id"] for ones in self.versions.values() for one in ones if one["guid"] == guid}
        return [{"context": ".", "id": number} for number in sorted(found)]

    def post_compatibility_subjects_s_versions(self, s: str, body: dict[str, Any], **_: Any) -> dict[str, Any]:
        return {"is_compatible": self.fits(s, body["schema"]), "messages": []}

    def post_compatibility_subjects_s_versions_v(
        self, s: str, v: str, body: dict[str, Any], **_: Any
    ) -> dict[str, Any]:
        if not self.living(s, {}):
            if self.rules["check_needs_subject"]:
                raise Told(40402, "Version -1 not found." if v == "latest" else f"Version {v} not found.")
            return {"is_compatible": True}
        return {"is_compatible": self.fits(s, body["schema"], self.one(s, v, {})["version"])}

    # ----------------------------------------------------------------------------------------------------- settings

    def get_config(self, **_: Any) -> dict[str, Any]:
        return {"compatibilityLevel": self.levels.get("", "BACKWARD")}

    def get_config_s(self, s: str, query: dict[str, str], **_: Any) -> dict[str, Any]:
        if s not in self.levels and query.get("defaultToGlobal") != "true":
            raise Told(40408, f"Subject '{s}' does not have subject-level compatibility configured")
        return {"compatibilityLevel": self.level(s)}

    def put_config(self, body: dict[str, Any], s: str = "", **_: Any) -> dict[str, Any]:
        self.levels[s] = body["compatibility"]
        return {"compatibility": self.levels[s]}

    put_config_s = put_config

    def delete_config(self, s: str = "", **_: Any) -> dict[str, Any]:
        if s and s not in self.levels:
            raise Told(40401, f"Subject '{s}' not found.")
        return {"compatibilityLevel": self.levels.pop(s, "BACKWARD")}

    delete_config_s = delete_config

    def get_mode(self, **_: Any) -> dict[str, Any]:
        return {"mode": self.modes.get("", "READWRITE")}

    def get_mode_s(self, s: str, query: dict[str, str], **_: Any) -> dict[str, Any]:
        if s not in self.modes and query.get("defaultToGlobal") != "true" and "PUT" in self.rules["routes"]["/mode"]:
            raise Told(40409, f"Subject '{s}' does not have subject-level mode configured")
        return {"mode": self.modes.get(s) or self.modes.get("", "READWRITE")}

    def put_mode(self, body: dict[str, Any], s: str = "", **_: Any) -> dict[str, Any]:
        self.modes[s] = body["mode"]
        return body

    put_mode_s = put_mode

    def delete_mode(self, s: str = "", **_: Any) -> dict[str, Any]:
        return {"mode": self.modes.pop(s, "READWRITE")}

    delete_mode_s = delete_mode

    def get_contexts(self, **_: Any) -> list[str]:
        return ["."]


def peer(name: str) -> Peer:
    """A server as a file says, with nothing in it."""
    return Peer(json.loads((PEERS / f"{name}.json").read_text("utf-8")))

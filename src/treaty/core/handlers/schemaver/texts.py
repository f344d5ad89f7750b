"""Texts of Iglu: `self`, which says what a text is called, and the members that say what supersedes what."""

import json
from dataclasses import dataclass, replace

from treaty.core.handlers.schemaver.labels import IgluName
from treaty.core.iglu_key import SELF_DESCRIBING, SchemaVer
from treaty.core.messages.schemaver import JSON_SCHEMA
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSchema
from treaty.core.schema import Draft

DRAFT_4 = ("http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-04/schema")
"""What `$schema` of a text without `self` may say instead."""
SUPERSEDES, SUPERSEDED_BY = "$supersedes", "$supersededBy"
_BLANKS = " \t\r\n"
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class SelfDescribing:
    """A draft with `self` in its text, and the labels that the text says it supersedes."""

    draft: Draft
    supersedes: tuple[str, ...] = ()


def describes(name: IgluName) -> bool:
    """Return whether texts of a subject hold `self`."""
    return name.format == JSON_SCHEMA


def with_self(draft: Draft, subject: Subject, name: IgluName, label: SchemaVer) -> SelfDescribing:
    """Return a draft whose text says its name and label, whatever spelling the rest has.

    Raises `InvalidSchema` where the text says another name, label or meta-schema. A text that is no object of JSON
    stays as it is, and its parser refuses it.
    """
    if not describes(name):
        return SelfDescribing(draft)
    if draft.format != "JSON":
        raise InvalidSchema.of(
            "SCHEMA_TYPE",
            f"Invalid schema type {draft.format}",
            path="/schemaType",
            subject=str(subject),
            new=draft.format,
            allowed=f"JSON: texts of {subject} are of the format {JSON_SCHEMA}",
        )
    members = _members(draft.text)
    if members is None:
        return SelfDescribing(draft)
    described = {**name._asdict(), "version": str(label)}
    bare = "self" not in members
    if not bare:
        _refuse_other_self(json.loads(members["self"]), described, subject)
    _refuse_other_meta_schema(members, subject, bare=bare)
    supersedes = _labels_in(members.pop(SUPERSEDES, "[]"), subject)
    members.pop(SUPERSEDED_BY, None)
    head = {
        "$schema": json.dumps(SELF_DESCRIBING),
        "self": members.get("self", json.dumps(described, separators=(",", ":"))),
    }
    parts = {**head, **{member: raw for member, raw in members.items() if member not in head}}
    text = "{" + ",".join(f"{json.dumps(member, ensure_ascii=False)}:{raw}" for member, raw in parts.items()) + "}"
    return SelfDescribing(replace(draft, text=text, data=None), supersedes)


def said_label(text: str, name: IgluName) -> str | None:
    """Return the label that `self` of a text says; None where it says none, or another name."""
    members = _members(text)
    if members is None or "self" not in members:
        return None
    described = json.loads(members["self"])
    if not isinstance(described, dict) or any(described.get(part) != value for part, value in name._asdict().items()):
        return None
    label = described.get("version")
    return label if isinstance(label, str) else None


def _members(text: str) -> dict[str, str] | None:
    """Return the members of a JSON object as they are written; None where the text is none."""
    at = _skip(text, 0)
    members: dict[str, str] = {}
    try:
        if text[at : at + 1] != "{":
            return None
        at = _skip(text, at + 1)
        if text[at : at + 1] == "}":
            return members if _skip(text, at + 1) == len(text) else None
        while True:
            if text[at : at + 1] != '"':
                return None
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if text[at : at + 1] != ":" or key in members:
                return None
            begin = _skip(text, at + 1)
            _, at = _DECODER.raw_decode(text, begin)
            members[key] = text[begin:at]
            at = _skip(text, at)
            end = text[at : at + 1]
            if end == "}":
                return members if _skip(text, at + 1) == len(text) else None
            if end != ",":
                return None
            at = _skip(text, at + 1)
    except (ValueError, RecursionError):
        return None


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANKS:
        at += 1
    return at


def _uri(described: object) -> str:
    """Return a name and label as Iglu writes them."""
    if not isinstance(described, dict):
        return str(described)[:100]
    return "iglu:" + "/".join(str(described.get(part, ""))[:100] for part in ("vendor", "name", "format", "version"))


def _refuse_other_self(described: object, published: dict[str, str], subject: Subject) -> None:
    if described != published:
        raise InvalidSchema.of(
            "SELF_DIFFERS",
            f"Invalid schema of type JSON, details: self says {_uri(described)}, and it is published as {_uri(published)}",
            path="/self",
            subject=str(subject),
            old=_uri(described),
            new=_uri(published),
            allowed=f"no self, or {json.dumps(published)}",
        )


def _refuse_other_meta_schema(members: dict[str, str], subject: Subject, *, bare: bool) -> None:
    meta_schema = json.loads(members.get("$schema", "null"))
    if meta_schema == SELF_DESCRIBING or (bare and (meta_schema is None or meta_schema in DRAFT_4)):
        return
    raise InvalidSchema.of(
        "META_SCHEMA",
        f"Invalid schema of type JSON, details: $schema is {json.dumps(meta_schema)[:200]}, not Iglu's",
        path="/$schema",
        subject=str(subject),
        new=json.dumps(meta_schema)[:200],
        allowed=SELF_DESCRIBING + ("" if not bare else f", {DRAFT_4[0]}, or no $schema"),
    )


def _labels_in(raw: str, subject: Subject) -> tuple[str, ...]:
    labels = json.loads(raw)
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise InvalidSchema.of(
            "SUPERSEDES",
            f"Invalid schema of type JSON, details: {SUPERSEDES} is no list of labels",
            path=f"/{SUPERSEDES}",
            subject=str(subject),
            new=raw[:200],
            allowed='a list such as ["1-0-0", "1-0-1"]',
        )
    return tuple(labels)

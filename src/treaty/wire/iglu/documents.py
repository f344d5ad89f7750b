"""Schemas and data of Iglu as bodies of requests and answers: how large and how deep they may be, and what `self` must say."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from treaty.core.iglu_key import SELF_DESCRIBING, IgluKey, IgluKeyError, SchemaVer
from treaty.core.limits import IGLU_BODY_BYTES, IGLU_DEPTH
from treaty.core.messages.schemaver import JSON_SCHEMA, Publish, PublishedSchema
from treaty.core.messages.versions import VersionFound
from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.schema import Draft

Representation = Literal["canonical", "meta", "uri"]
REPRESENTATIONS: tuple[Representation, ...] = get_args(Representation)
MALFORMED = "The request body was malformed."
TOO_DEEP = "Maximum allowed JSON depth exceeded"


@dataclass(frozen=True, slots=True)
class IgluSettings:
    """Limits of the API, and whether a schema may be replaced and deleted."""

    body_bytes: int = IGLU_BODY_BYTES
    depth: int = IGLU_DEPTH
    patches_allowed: bool = False


DEFAULT_IGLU = IgluSettings()


class IgluBodyError(Exception):
    """A request that can't be read: its status, and the members of the answer beside the message."""

    def __init__(self, status: int, message: str, **members: Any) -> None:
        """Keep the status."""
        super().__init__(message)
        self.status = status
        self.members = members


@dataclass(frozen=True, slots=True)
class IgluDocument:
    """A body that is JSON: its text as sent, and its value."""

    text: str
    value: Any

    @property
    def key(self) -> IgluKey | None:
        """The key of a self-describing schema; None for another document. Raises `IgluBodyError` for a bad one."""
        own = self.value.get("self") if isinstance(self.value, Mapping) else None
        if own is None:
            return None
        words = ("vendor", "name", "format", "version")
        if not isinstance(own, Mapping) or not all(isinstance(own.get(word), str) for word in words):
            raise IgluBodyError(400, f"Cannot decode JSON schema: self needs the members {', '.join(words)}")
        try:
            return IgluKey.parse_path("/".join(own[word] for word in words))
        except IgluKeyError as error:
            raise IgluBodyError(400, f"Cannot decode JSON schema: {error}") from None


# ------------------------------------------------------------------------------------------------------ what is sent


def read_document(data: bytes, depth: int) -> IgluDocument:
    """Read a body. Raises `IgluBodyError` where it is no JSON (400), or nested more deeply than `depth` (422)."""
    try:
        text = data.decode()
        value = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise _too_deep(depth) from None
    except ValueError:
        raise IgluBodyError(400, MALFORMED) from None
    if _is_deeper(value, depth):
        raise _too_deep(depth)
    return IgluDocument(text, value)


def _refuse_constant(word: str) -> None:
    raise ValueError(word)


def _too_deep(depth: int) -> IgluBodyError:
    return IgluBodyError(422, f"{TOO_DEEP}: allowed are {depth} levels (limit IGLU_DEPTH)")


def _is_deeper(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)


def read_version(text: str) -> SchemaVer:
    """Read the version in a path; raises `IgluBodyError` 400."""
    try:
        return SchemaVer.parse(text)
    except IgluKeyError:
        short_text = text[:100]
        raise IgluBodyError(400, f"Cannot parse version part '{short_text}' as SchemaVer, INVALID_SCHEMAVER") from None


def read_key(vendor: str, name: str, format_: str, version: str) -> IgluKey:
    """Read the key in a path; raises `IgluBodyError` 400."""
    read_version(version)
    try:
        return IgluKey.parse_path(f"{vendor}/{name}/{format_}/{version}")
    except IgluKeyError as error:
        raise IgluBodyError(400, str(error)) from None


def subject_of_key(key: IgluKey) -> Subject:
    """Return the subject of a schema."""
    return Subject(DEFAULT_CONTEXT, f"{key.vendor}/{key.name}/{key.format}")


def publication_of(key: IgluKey, document: IgluDocument, *, public: bool, patch: bool) -> Publish:
    """Return the request to publish a JSON schema under a key. Raises `IgluBodyError` 400 where `self` differs."""
    own = document.key
    if own is not None and own != key:
        raise IgluBodyError(
            400,
            "Mismatch: the schema metadata in the payload and the URI do not match",
            uriSchemaKey=str(key),
            payloadSchemaKey=str(own),
        )
    if not isinstance(document.value, Mapping):
        raise IgluBodyError(400, "Cannot decode JSON schema: a schema is a JSON object")
    draft = Draft(document.text, "JSON")
    return Publish(subject_of_key(key), str(key.version), draft, not public, patch=patch)


def publication_of_bytes(key: IgluKey, data: bytes, *, public: bool, patch: bool) -> Publish:
    """Return the request to publish a schema of another format, which is stored as it is."""
    draft = Draft("", f"IGLU-{key.format.upper()}", data=data)
    return Publish(subject_of_key(key), str(key.version), draft, not public, patch=patch)


# ----------------------------------------------------------------------------------------------------- what is shown


def uri_of(published: PublishedSchema) -> str:
    """Return the URI of a published schema."""
    return f"iglu:{published.version.subject}/{published.label}"


def canonical_text(published: PublishedSchema) -> str:
    """Return the text of a JSON schema as Iglu shows it: with what it supersedes, and what supersedes it."""
    beside: dict[str, Any] = {}
    if published.supersedes:
        beside["$supersedes"] = list(published.supersedes)
    if published.superseded_by:
        beside["$supersededBy"] = published.superseded_by
    return _with_members(published.version.text, beside) if beside else published.version.text


def schema_text(published: PublishedSchema, representation: Representation) -> str:
    """Return a schema as JSON text in a representation. One that is no JSON schema is a JSON string."""
    if representation == "uri":
        return json.dumps(uri_of(published))
    is_json = published.version.subject.endswith(f"/{JSON_SCHEMA}")
    text = canonical_text(published) if is_json else json.dumps(raw_bytes(published.version).decode("utf-8", "replace"))
    if representation == "canonical":
        return text
    created = datetime.fromtimestamp(published.version.time / 1000, UTC).isoformat(timespec="milliseconds")
    created = created.replace("+00:00", "Z")
    metadata = {"createdAt": created, "updatedAt": created, "isPublic": not published.private}
    if not is_json:
        return json.dumps({"text": json.loads(text), "metadata": metadata})
    return _with_members(text, {"metadata": metadata})


def raw_bytes(version: VersionFound) -> bytes:
    """Return the bytes of a schema as they were sent."""
    return version.data if version.data is not None else version.text.encode()


def media_of(format_: str, data: bytes) -> str:
    """Return the media type of a schema that is no JSON schema."""
    if format_ == "avro":
        return "application/json"
    try:
        data.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "text/plain; charset=utf-8"


def _with_members(text: str, members: Mapping[str, Any]) -> str:
    """Return the text of an object with members before its own, which stay letter by letter."""
    head, brace, rest = text.partition("{")
    inside = json.dumps(members, ensure_ascii=False)[1:-1]
    return f"{head}{brace}{inside}{'' if rest.lstrip().startswith('}') else ','}{rest}"


def bare_schema(document: IgluDocument, key: IgluKey) -> dict[str, Any]:
    """Return the self-describing schema that a document becomes under a key, for checks."""
    own = {"vendor": key.vendor, "name": key.name, "format": key.format, "version": str(key.version)}
    return {"$schema": SELF_DESCRIBING, "self": own, **document.value}

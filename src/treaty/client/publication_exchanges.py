"""Methods of a connection for versions with labels of SchemaVer, for drafts, and for API keys of vendors; exchanges as in
`exchanges`.
"""

from collections.abc import Mapping

from treaty.core.limits import API_KEYS_PAGE, PUBLISHED_PAGE
from treaty.core.messages.api_keys import AddApiKeys, ApiKeyFound, KeyAction, ListApiKeys, NewApiKey, RemoveApiKey
from treaty.core.messages.schemaver import (
    DeletePublished,
    DraftFound,
    GetDraft,
    GetPublished,
    ListPublished,
    Publish,
    PublishedSchema,
    PublishedVersion,
    PutDraft,
)
from treaty.core.names import subject_of
from treaty.core.registry import Exchange, request_answer
from treaty.core.schema import Draft


def publish(
    subject: str,
    label: str,
    schema: Draft | str,
    *,
    private: bool | None = None,
    supersedes: tuple[str, ...] = (),
    patch: bool = False,
) -> Exchange[PublishedVersion]:
    """Publish a schema of a subject ``vendor/name/format`` under a label ``MODEL-REVISION-ADDITION``; a text is JSON Schema.

    With `patch` the text of a version that exists is replaced.
    """
    draft = schema if isinstance(schema, Draft) else Draft(schema, "JSON")
    return (yield from request_answer(Publish(subject_of(subject), label, draft, private, supersedes, patch)))


def get_published(subject: str, label: str) -> Exchange[PublishedSchema]:
    """Return the live version with a label."""
    return (yield from request_answer(GetPublished(subject_of(subject), label)))


def list_published(
    vendor: str = "", name: str = "", format_: str = "", model: int = 0
) -> Exchange[tuple[PublishedSchema, ...]]:
    """Return live versions by vendor, name, format and label."""
    schemas: list[PublishedSchema] = []
    while True:
        after = (schemas[-1].version.subject, schemas[-1].label) if schemas else None
        page = (yield from request_answer(ListPublished(vendor, name, format_, model, after, PUBLISHED_PAGE))).schemas
        schemas += page
        if len(page) < PUBLISHED_PAGE:
            return tuple(schemas)


def delete_published(subject: str, label: str) -> Exchange[bool]:
    """Soft-delete the version with a label; returns False where there was none."""
    return (yield from request_answer(DeletePublished(subject_of(subject), label))).deleted


def put_draft(subject: str, number: int, text: str, *, private: bool = False) -> Exchange[DraftFound]:
    """Store a draft under a number; one that is there is replaced."""
    return (yield from request_answer(PutDraft(subject_of(subject), number, text, private)))


def draft(subject: str, number: int) -> Exchange[DraftFound]:
    """Return the draft with a number."""
    return (yield from request_answer(GetDraft(subject_of(subject), number)))


def add_api_keys(vendor: str, keys: Mapping[str, KeyAction]) -> Exchange[tuple[ApiKeyFound, ...]]:
    """Add keys of a vendor, by their digests (SHA-256 in hex), with what each one may do."""
    added = tuple(NewApiKey(digest, action) for digest, action in keys.items())
    return (yield from request_answer(AddApiKeys(vendor, added))).keys


def remove_api_key(digest: str) -> Exchange[bool]:
    """Remove the key with a digest; returns False where there was none."""
    return (yield from request_answer(RemoveApiKey(digest))).removed


def api_keys() -> Exchange[tuple[ApiKeyFound, ...]]:
    """Return all keys of vendors that the caller administers, by digest."""
    keys: list[ApiKeyFound] = []
    while True:
        page = (yield from request_answer(ListApiKeys(after=keys[-1].digest if keys else ""))).keys
        keys += page
        if len(page) < API_KEYS_PAGE:
            return tuple(keys)

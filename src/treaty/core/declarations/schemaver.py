"""Operations on versions with labels of SchemaVer are declared: handler, permissions and limits of each."""

from typing import Any

from treaty.core.access import permissions, request_permissions
from treaty.core.handlers.registration import publication
from treaty.core.handlers.schemaver import queries
from treaty.core.messages import schemaver as s
from treaty.core.messages.request import Request
from treaty.core.operations import REGISTER_LIMITS, SUBJECT, Operation, is_always


def _version_before(request: s.Publish | s.DeletePublished) -> Request[Any]:
    return s.GetPublished(request.subject, request.label)


DECLARED: tuple[Operation[Any, Any], ...] = (
    Operation(
        "publish", s.Publish, s.PublishedVersion, publication.publish, request_permissions.of_publish, (*REGISTER_LIMITS, "WARNINGS"),
        writes=True, answer_name="published-version", alias=SUBJECT, query_before=_version_before,
    ),
    Operation(
        "delete-published", s.DeletePublished, s.PublishedDeleted, queries.delete_published, permissions.of_subject("delete"),
        writes=True, answer_name="published-deleted", alias=SUBJECT, query_before=_version_before,
    ),
    Operation(
        "put-draft", s.PutDraft, s.DraftFound, queries.put_draft, permissions.of_subject("create"), ("SCHEMA_BYTES", "DRAFTS"),
        writes=True, answer_name="draft-found", is_idempotent=is_always,
        query_before=lambda request: s.GetDraft(request.subject, request.number),
    ),
    Operation(
        "get-published", s.GetPublished, s.PublishedSchema, queries.get_published, permissions.of_subject("read"), alias=SUBJECT
    ),
    Operation(
        "list-published", s.ListPublished, s.PublishedSchemas, queries.list_published, permissions.anywhere("read"),
        ("PUBLISHED_PAGE",), pauses=True,
    ),
    Operation(
        "get-draft", s.GetDraft, s.DraftFound, queries.get_draft, permissions.of_subject("read"),
    ),
)  # fmt: skip

"""Operations: one declaration for each kind of request.

`treaty.core.decide`, forwarding, `POST /treaty/v1/ask`, clients, stored outcomes, the audit log and the simulation all
use these declarations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from treaty.core import answers as a
from treaty.core import associations as t
from treaty.core import encodings as e
from treaty.core import groups as g
from treaty.core import requests as q
from treaty.core.access import permissions
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision, PausingWork
from treaty.core.handlers import (
    association_changes,
    association_queries,
    contexts,
    deletion,
    encodings,
    listings,
    lookup,
    queries,
    register,
    settings_changes,
)
from treaty.core.handlers.groups import changes as group_changes
from treaty.core.handlers.groups import queries as group_queries
from treaty.core.handlers.groups import versions as group_versions
from treaty.core.names import Subject
from treaty.core.refusals import Forbidden
from treaty.core.requests import Request
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.view import View

R = TypeVar("R", bound=Request[Any])
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class SubjectMember(Generic[R]):
    """The subject of a request that may be an alias, and a function that replaces it."""

    find: Callable[[R], Subject | None]
    replace: Callable[[R, Subject], R]


@dataclass(frozen=True, slots=True)
class Operation(Generic[R, A]):
    """The declaration of a kind of request: name, handler, permissions, and the storage of its outcome."""

    name: str
    """The name in logs, between nodes and in the audit log. A class may be renamed, a name never."""
    request: type[R]
    answer: type[A]
    handler: Callable[[View, Command[R], SchemaEngine], Decision[A] | PausingWork[Decision[A]]]
    permissions: Callable[[R], permissions.Required]
    limits: tuple[str, ...] = ()
    """Names of limits (`treaty.core.limits`) that it may exceed."""
    writes: bool = False
    answer_name: str = ""
    """The kind of the answer in the stored outcome of one that writes. It never changes."""
    immutable: bool = False
    """Whether its answer is immutable, so that it needs no read barrier: a schema by id or guid. A version number may
    mean another schema later, by an alias or after a permanent deletion. "Not found" always needs a read barrier.
    """
    alias: SubjectMember[R] | None = None
    """The subject that is resolved if it is an alias. None for settings, which apply to the alias itself."""
    is_idempotent: Callable[[R], bool] = lambda _request: False
    """Whether a repeated write has the same answer; others are refused the second time."""
    pauses: bool = False
    """Whether its handler is a generator that pauses, because it may read very many rows."""
    query_before: Callable[[R], Request[Any]] | None = None
    """The query for the value that it changes."""
    sign: Callable[[R, str], R] | None = None
    """Returns the request with this principal as the one who skips the policy."""


# ----------------------------------------------------------------------------------------------------------- aliases


def _subject_unless_exact(request: Any) -> Subject | None:
    subject: Subject | None = None if request.exact else request.subject
    return subject


def _with_subject(request: Any, subject: Subject) -> Any:
    return replace(request, subject=subject)


SUBJECT: SubjectMember[Any] = SubjectMember(lambda request: request.subject, _with_subject)
SUBJECT_UNLESS_EXACT: SubjectMember[Any] = SubjectMember(_subject_unless_exact, _with_subject)
ASSOCIATED_SUBJECT: SubjectMember[t.ListAssociations] = SubjectMember(
    lambda request: request.of.subject if isinstance(request.of, t.OfSubject) else None,
    lambda request, subject: replace(request, of=t.OfSubject(subject)),
)


# ------------------------------------------------------------------------------------------------ what stands before


def _version_before(request: q.Register | q.Derive | q.DeleteSubject) -> Request[Any]:
    return q.GetVersion(request.subject, q.LATEST, deleted=True)


def _group_before(request: g.CreateSubject | g.ChangeSubject | g.RemoveSubject) -> Request[Any]:
    return g.GetSubject(request.subject)


def _config_before(request: q.SetConfig | q.DeleteConfig) -> Request[Any]:
    return q.GetConfig(request.scope)


def _mode_before(request: q.SetMode | q.DeleteMode) -> Request[Any]:
    return q.GetMode(request.scope)


# ----------------------------------------------------------------------------------------------- who forces something


def _sign_register(request: q.Register, principal: str) -> q.Register:
    return request if request.force is None else replace(request, force=replace(request.force, who=principal))


def _sign_spec(spec: t.AssociationSpec, principal: str) -> t.AssociationSpec:
    return spec if spec.schema is None else replace(spec, schema=_sign_register(spec.schema, principal))


def _sign_associate(request: t.Associate, principal: str) -> t.Associate:
    return replace(request, wishes=tuple(_sign_spec(one, principal) for one in request.wishes))


def _sign_changes(request: t.ChangeAssociations, principal: str) -> t.ChangeAssociations:
    def sign(change: t.ResourceChange) -> t.ResourceChange:
        signed = tuple(replace(one, wish=_sign_spec(one.wish, principal)) for one in change.operations)
        return replace(change, operations=signed)

    return replace(request, changes=tuple(sign(one) for one in request.changes))


# ------------------------------------------------------------------------------------------------------ declarations


def _is_always(_request: object) -> bool:
    return True


_DRAFT_LIMITS = ("SCHEMA_BYTES", "OPAQUE_BYTES", "REFERENCES", "REFERENCE_DEPTH")
_VERSION_LIMITS = (
    *_DRAFT_LIMITS, "RULES", "RULE_NAME", "TAGGED", "NAME_LENGTH", "SCHEMAS_PER_CONTEXT", "VERSIONS_PER_SUBJECT",
    "VERSIONS_KEPT_PER_SUBJECT", "COUNTER",
)  # fmt: skip
_REGISTER_LIMITS = (
    *_VERSION_LIMITS, "CONTEXTS", "SUBJECTS_PER_CONTEXT", "ID_GAP", "TIME_AHEAD", "GROUP_PROPERTIES", "GROUP_PROPERTY_CHARACTERS",
)  # fmt: skip
_TIE_LIMITS = ("ASSOCIATIONS_PER_RESOURCE", "ASSOCIATIONS_PER_SUBJECT", *_REGISTER_LIMITS)

_DECLARED: tuple[Operation[Any, Any], ...] = (
    Operation(
        "register", q.Register, a.RegisteredVersion, register.register, permissions.of_register, _REGISTER_LIMITS,
        writes=True, answer_name="registered", alias=SUBJECT_UNLESS_EXACT, query_before=_version_before, sign=_sign_register,
        is_idempotent=lambda request: not request.number and request.expected is None,
    ),
    Operation(
        "derive", q.Derive, a.RegisteredVersion, register.derive, permissions.of_subject("register", "read"), _VERSION_LIMITS,
        writes=True, answer_name="registered", alias=SUBJECT, query_before=_version_before,
    ),
    Operation(
        "delete-version", q.DeleteVersion, a.DeletedVersions, deletion.delete_version, permissions.of_delete,
        writes=True, answer_name="deleted", alias=SUBJECT_UNLESS_EXACT,
        query_before=lambda request: q.GetVersion(request.subject, request.version, deleted=True),
    ),
    Operation(
        "delete-subject", q.DeleteSubject, a.DeletedVersions, deletion.delete_subject, permissions.of_delete,
        writes=True, answer_name="deleted", alias=SUBJECT, query_before=_version_before,
    ),
    Operation(
        "make-context", q.MakeContext, a.ContextMade, contexts.make_context, permissions.of_make_context,
        ("CONTEXTS", "NAME_LENGTH", "COUNTER", "ID_GAP"), writes=True, answer_name="context-made", is_idempotent=_is_always,
    ),
    Operation(
        "delete-context", q.DeleteContext, a.DeletedVersions, contexts.delete_context, permissions.of_context("admin"),
        writes=True, answer_name="deleted",
    ),
    Operation(
        "set-config", q.SetConfig, a.ConfigStored, settings_changes.set_config, permissions.of_set_config,
        ("NAME_LENGTH", "RULES", "RULE_NAME"), writes=True, answer_name="config-stored", is_idempotent=_is_always,
        query_before=_config_before,
    ),
    Operation(
        "delete-config", q.DeleteConfig, a.ConfigStored, settings_changes.delete_config, permissions.of_scope("config"),
        writes=True, answer_name="config-stored", query_before=_config_before,
    ),
    Operation(
        "set-mode", q.SetMode, a.ModeStored, settings_changes.set_mode, permissions.of_set_mode, ("NAME_LENGTH",),
        writes=True, answer_name="mode-stored", is_idempotent=_is_always, query_before=_mode_before,
    ),
    Operation(
        "delete-mode", q.DeleteMode, a.ModeStored, settings_changes.delete_mode, permissions.of_scope("mode"),
        writes=True, answer_name="mode-stored", query_before=_mode_before,
    ),
    Operation(
        "associate", t.Associate, t.ResourceBound, association_changes.associate, permissions.of_associate, _TIE_LIMITS,
        writes=True, answer_name="resource-bound", is_idempotent=_is_always, sign=_sign_associate,
        query_before=lambda request: t.ListAssociations(t.OfId(request.resource.id)),
    ),
    Operation(
        "dissociate", t.Dissociate, a.DeletedVersions, association_changes.dissociate, permissions.anywhere("register"),
        writes=True, answer_name="deleted",
        query_before=lambda request: t.ListAssociations(t.OfId(request.resource_id)),
    ),
    Operation(
        "change-associations", t.ChangeAssociations, t.AssociationResults, association_changes.change_associations,
        permissions.anywhere("register"), ("ASSOCIATION_BATCH", *_TIE_LIMITS),
        writes=True, answer_name="association-results", sign=_sign_changes,
    ),
    Operation(
        "add-codec", e.AddCodec, e.CodecAdded, encodings.add_codec, permissions.of_subject("register"),
        ("NAME_LENGTH", "CODEC_CHARACTERS", "CODECS_PER_SUBJECT"), writes=True, answer_name="codec-added", alias=SUBJECT,
        is_idempotent=_is_always, query_before=lambda request: e.ListCodecs(request.subject),
    ),
    Operation(
        "assign-encoding", e.AssignEncoding, e.EncodingAssigned, encodings.assign_encoding, permissions.of_subject("register"),
        ("COUNTER",), writes=True, answer_name="encoding-assigned", alias=SUBJECT, is_idempotent=_is_always,
    ),
    Operation("list-codecs", e.ListCodecs, e.CodecTypes, encodings.list_codecs, permissions.of_subject("read"), alias=SUBJECT),
    Operation("get-encoding", e.GetEncoding, e.EncodingFound, encodings.get_encoding, permissions.of_subject("read"), alias=SUBJECT),
    Operation(
        "create-subject", g.CreateSubject, g.GroupCreated, group_changes.create_subject, permissions.of_create_subject,
        ("NAME_LENGTH", "GROUP_PROPERTIES", "GROUP_PROPERTY_CHARACTERS", "ORIGIN_LENGTH", "CONTEXTS", "SUBJECTS_PER_CONTEXT"),
        writes=True, answer_name="group-created", alias=SUBJECT, is_idempotent=_is_always, query_before=_group_before,
    ),
    Operation(
        "change-subject", g.ChangeSubject, g.GroupCreated, group_changes.change_subject, permissions.of_change_subject,
        ("GROUP_PROPERTIES", "GROUP_PROPERTY_CHARACTERS"), writes=True, answer_name="group-created", alias=SUBJECT,
        is_idempotent=lambda request: request.previous is None, query_before=_group_before,
    ),
    Operation(
        "remove-subject", g.RemoveSubject, g.GroupRemoved, group_changes.remove_subject, permissions.of_subject("delete"),
        writes=True, answer_name="group-removed", alias=SUBJECT, query_before=_group_before,
    ),
    Operation(
        "delete-ordinal", g.DeleteOrdinal, a.VersionFound, deletion.delete_ordinal, permissions.of_subject("delete"),
        writes=True, answer_name="version-found", alias=SUBJECT,
        query_before=lambda request: g.GetOrdinal(request.subject, request.ordinal),
    ),
    Operation(
        "get-subject", g.GetSubject, g.GroupFound, group_queries.get_subject, permissions.of_subject("read"), alias=SUBJECT,
        pauses=True,
    ),
    Operation(
        "list-groups", g.ListGroups, g.Groups, group_queries.list_groups, permissions.anywhere("read"), ("GROUPS_PAGE",),
        pauses=True,
    ),
    Operation(
        "get-ordinal", g.GetOrdinal, a.VersionFound, group_versions.get_ordinal, permissions.of_subject("read"), alias=SUBJECT
    ),
    Operation(
        "get-typed-version", g.GetTypedVersion, a.VersionFound, group_versions.get_typed_version,
        permissions.of_subject("read"), alias=SUBJECT, pauses=True,
    ),
    Operation(
        "list-group-versions", g.ListGroupVersions, g.GroupVersions, group_versions.list_group_versions,
        permissions.of_subject("read"), alias=SUBJECT, pauses=True,
    ),
    Operation(
        "get-history", g.GetHistory, g.History, group_versions.get_history, permissions.of_subject("read"), alias=SUBJECT,
        pauses=True,
    ),
    Operation(
        "find-same-version", g.FindSameVersion, a.VersionFound, group_versions.find_same_version, permissions.of_check,
        _DRAFT_LIMITS, alias=SUBJECT,
    ),
    Operation(
        "find-same-schema", g.FindSameSchema, g.GroupVersions, group_versions.find_same_schema,
        permissions.of_find_same_schema, _DRAFT_LIMITS, pauses=True,
    ),
    Operation(
        "check-reading", g.CheckReading, a.CompatibilityResult, group_versions.check_reading, permissions.of_check,
        _DRAFT_LIMITS, alias=SUBJECT,
    ),
    Operation("get-config", q.GetConfig, a.ConfigStored, settings_changes.get_config, permissions.of_shown_scope("read", "config")),
    Operation("get-mode", q.GetMode, a.ModeStored, settings_changes.get_mode, permissions.of_shown_scope("read", "mode")),
    Operation("lookup", q.Lookup, a.VersionFound, lookup.lookup, permissions.of_lookup, _DRAFT_LIMITS, alias=SUBJECT),
    Operation("check", q.Check, a.CompatibilityResult, lookup.check_draft, permissions.of_check, _DRAFT_LIMITS, alias=SUBJECT),
    Operation(
        "get-schema", q.GetSchema, a.SchemaFound, queries.get_schema, permissions.anywhere("read"),
        immutable=True, alias=SUBJECT,
    ),
    Operation("get-guid", q.GetGuid, a.SchemaFound, queries.get_guid, permissions.anywhere("read"), immutable=True),
    Operation("get-guid-ids", q.GetGuidIds, a.GuidIds, queries.get_guid_ids, permissions.anywhere("read")),
    Operation(
        "get-version", q.GetVersion, a.VersionFound, queries.get_version, permissions.of_subject_in_any_context("read"),
        alias=SUBJECT_UNLESS_EXACT,
    ),
    Operation(
        "find-version", q.FindVersion, a.VersionFound, queries.find_version, permissions.of_subject("read"), alias=SUBJECT,
        pauses=True,
    ),
    Operation(
        "list-subjects", q.ListSubjects, a.Subjects, listings.list_subjects, permissions.anywhere("read"), pauses=True
    ),
    Operation(
        "list-versions", q.ListVersions, a.VersionNumbers, queries.list_versions, permissions.of_subject_in_any_context("read"),
        alias=SUBJECT,
    ),
    Operation(
        "list-schemas", q.ListSchemas, a.Versions, listings.list_schemas, permissions.anywhere("read"), pauses=True
    ),
    Operation(
        "list-settings", q.ListSettings, a.ScopeSettings, listings.list_settings, permissions.anywhere("read"),
        ("SETTINGS_PAGE",),
    ),
    Operation(
        "uses-of", q.UsesOf, a.Uses, queries.uses_of, permissions.anywhere("read"), alias=SUBJECT, pauses=True
    ),
    Operation(
        "referenced-by", q.ReferencedBy, a.SchemaIds, queries.referenced_by, permissions.of_subject("read"), alias=SUBJECT
    ),
    Operation("list-contexts", q.ListContexts, a.Contexts, contexts.list_contexts, permissions.anywhere("read")),
    Operation(
        "list-associations", t.ListAssociations, t.Associations, association_queries.list_associations,
        permissions.of_list_associations, ("ASSOCIATIONS_LISTED",), alias=ASSOCIATED_SUBJECT,
    ),
    Operation(
        "get-associations", t.GetAssociations, t.AssociationResults, association_queries.get_associations,
        permissions.anywhere("read"), ("ASSOCIATION_BATCH", "ASSOCIATIONS_LISTED"),
    ),
    Operation("get-outcome", q.GetOutcome, a.CommandOutcome, queries.get_outcome, permissions.of_get_outcome),
)  # fmt: skip

OPERATIONS: Mapping[type, Operation[Any, Any]] = {one.request: one for one in _DECLARED}
"""Operations by class of request."""
NAMED_OPERATIONS: Mapping[str, Operation[Any, Any]] = {one.name: one for one in _DECLARED}
"""Every operation, by its name."""


# -------------------------------------------------------------------------------------------- questions about requests


def operation_name(request: object) -> str:
    """Return the name of a request's operation; for an unknown one, which is refused, the name of its class."""
    known = OPERATIONS.get(type(request))
    return type(request).__name__ if known is None else known.name


def is_command(request: Request[Any]) -> bool:
    """Return whether a request may write."""
    return OPERATIONS[type(request)].writes


def is_idempotent(request: Request[Any]) -> bool:
    """Return whether a repeated request has the same answer; all queries do."""
    operation = OPERATIONS[type(request)]
    return not operation.writes or operation.is_idempotent(request)


def is_pausing(request: Request[Any]) -> bool:
    """Return whether a query may read very many rows and pauses."""
    return OPERATIONS[type(request)].pauses


def needs_read_barrier(request: Request[Any]) -> bool:
    """Return whether a query needs a read barrier before it is answered. "Not found" always does."""
    return not OPERATIONS[type(request)].immutable


def refuse_unless_allowed(access: Access, principal: str, request: Request[Any]) -> None:
    """Raise `Forbidden` if a permission is missing. The state is not read, so nothing of it leaks."""
    operation = OPERATIONS.get(type(request))
    if operation is None:
        name = operation_name(request)
        raise Forbidden.of("RIGHTS_UNKNOWN", f"no rights are known for {name}, so no principal has them", new=name)
    permissions.refuse_unless_met(access, principal, operation.permissions(request), operation.name)

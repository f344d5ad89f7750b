"""Operations that write versions, settings and associations are declared: handler, permissions and limits of each."""

from dataclasses import replace
from typing import Any

from treaty.core.access import permissions, request_permissions
from treaty.core.handlers import association_changes, contexts, deletion, settings_changes
from treaty.core.handlers.registration import derivation
from treaty.core.handlers.registration.register import register_any
from treaty.core.messages import associations as t
from treaty.core.messages.contexts import ContextMade, DeleteContext, MakeContext
from treaty.core.messages.registration import Derive, Register, RegisteredVersion
from treaty.core.messages.request import LATEST, Request
from treaty.core.messages.settings import (
    ConfigStored,
    DeleteConfig,
    DeleteMode,
    GetConfig,
    GetMode,
    ModeStored,
    SetConfig,
    SetMode,
)
from treaty.core.messages.versions import DeletedVersions, DeleteSubject, DeleteVersion, GetVersion
from treaty.core.operations import REGISTER_LIMITS, SUBJECT, SUBJECT_UNLESS_EXACT, VERSION_LIMITS, Operation, is_always

# ------------------------------------------------------------------------------------------------ what stands before


def _version_before(request: Register | Derive | DeleteSubject) -> Request[Any]:
    return GetVersion(request.subject, LATEST, deleted=True)


def _config_before(request: SetConfig | DeleteConfig) -> Request[Any]:
    return GetConfig(request.scope)


def _mode_before(request: SetMode | DeleteMode) -> Request[Any]:
    return GetMode(request.scope)


# ----------------------------------------------------------------------------------------------- who forces something


def _sign_register(request: Register, principal: str) -> Register:
    return request if request.force is None else replace(request, force=replace(request.force, who=principal))


def _sign_spec(spec: t.AssociationSpec, principal: str) -> t.AssociationSpec:
    return spec if spec.schema is None else replace(spec, schema=_sign_register(spec.schema, principal))


def _sign_associate(request: t.Associate, principal: str) -> t.Associate:
    return replace(request, wishes=tuple(_sign_spec(wish, principal) for wish in request.wishes))


def _sign_changes(request: t.ChangeAssociations, principal: str) -> t.ChangeAssociations:
    def sign(change: t.ResourceChange) -> t.ResourceChange:
        signed = tuple(
            replace(operation, wish=_sign_spec(operation.wish, principal)) for operation in change.operations
        )
        return replace(change, operations=signed)

    return replace(request, changes=tuple(sign(change) for change in request.changes))


# ------------------------------------------------------------------------------------------------------ declarations


_TIE_LIMITS = ("ASSOCIATIONS_PER_RESOURCE", "ASSOCIATIONS_PER_SUBJECT", *REGISTER_LIMITS)

DECLARED: tuple[Operation[Any, Any], ...] = (
    Operation(
        "register", Register, RegisteredVersion, register_any, request_permissions.of_register, REGISTER_LIMITS,
        writes=True, answer_name="registered", alias=SUBJECT_UNLESS_EXACT, query_before=_version_before, sign=_sign_register,
        is_idempotent=lambda request: not request.number and request.expected is None,
    ),
    Operation(
        "derive", Derive, RegisteredVersion, derivation.derive, permissions.of_subject("bump", "read"), VERSION_LIMITS,
        writes=True, answer_name="registered", alias=SUBJECT, query_before=_version_before,
    ),
    Operation(
        "delete-version", DeleteVersion, DeletedVersions, deletion.delete_version, request_permissions.of_delete,
        writes=True, answer_name="deleted", alias=SUBJECT_UNLESS_EXACT,
        query_before=lambda request: GetVersion(request.subject, request.version, deleted=True),
    ),
    Operation(
        "delete-subject", DeleteSubject, DeletedVersions, deletion.delete_subject, request_permissions.of_delete,
        writes=True, answer_name="deleted", alias=SUBJECT, query_before=_version_before,
    ),
    Operation(
        "make-context", MakeContext, ContextMade, contexts.make_context, request_permissions.of_make_context,
        ("CONTEXTS", "NAME_LENGTH", "COUNTER", "ID_GAP"), writes=True, answer_name="context-made", is_idempotent=is_always,
    ),
    Operation(
        "delete-context", DeleteContext, DeletedVersions, contexts.delete_context, permissions.of_context("admin"),
        writes=True, answer_name="deleted",
    ),
    Operation(
        "set-config", SetConfig, ConfigStored, settings_changes.set_config, request_permissions.of_set_config,
        ("NAME_LENGTH", "RULES", "RULE_NAME"), writes=True, answer_name="config-stored", is_idempotent=is_always,
        query_before=_config_before,
    ),
    Operation(
        "delete-config", DeleteConfig, ConfigStored, settings_changes.delete_config, permissions.of_scope("config"),
        writes=True, answer_name="config-stored", query_before=_config_before,
    ),
    Operation(
        "set-mode", SetMode, ModeStored, settings_changes.set_mode, request_permissions.of_set_mode, ("NAME_LENGTH",),
        writes=True, answer_name="mode-stored", is_idempotent=is_always, query_before=_mode_before,
    ),
    Operation(
        "delete-mode", DeleteMode, ModeStored, settings_changes.delete_mode, permissions.of_scope("mode"),
        writes=True, answer_name="mode-stored", query_before=_mode_before,
    ),
    Operation(
        "associate", t.Associate, t.ResourceBound, association_changes.associate, request_permissions.of_associate, _TIE_LIMITS,
        writes=True, answer_name="resource-bound", is_idempotent=is_always, sign=_sign_associate,
        query_before=lambda request: t.ListAssociations(t.OfId(request.resource.id)),
    ),
    Operation(
        "dissociate", t.Dissociate, DeletedVersions, association_changes.dissociate, permissions.anywhere("register"),
        writes=True, answer_name="deleted",
        query_before=lambda request: t.ListAssociations(t.OfId(request.resource_id)),
    ),
    Operation(
        "change-associations", t.ChangeAssociations, t.AssociationResults, association_changes.change_associations,
        permissions.anywhere("register"), ("ASSOCIATION_BATCH", *_TIE_LIMITS),
        writes=True, answer_name="association-results", sign=_sign_changes,
    ),
)  # fmt: skip

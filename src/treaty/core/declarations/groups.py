"""Operations on groups, codecs, encodings, named policies and API keys."""

from typing import Any

from treaty.core.access import permissions, request_permissions
from treaty.core.handlers import api_keys, deletion, encodings, named_policies
from treaty.core.handlers.drafts import names
from treaty.core.handlers.groups import changes as group_changes
from treaty.core.handlers.groups import queries as group_queries
from treaty.core.handlers.groups import versions as group_versions
from treaty.core.messages import api_keys as k
from treaty.core.messages import encodings as e
from treaty.core.messages import groups as g
from treaty.core.messages import names as n
from treaty.core.messages import policies as p
from treaty.core.messages.compatibility import CompatibilityResult
from treaty.core.messages.request import Request
from treaty.core.messages.versions import VersionFound
from treaty.core.operations import DRAFT_LIMITS, SUBJECT, Operation, is_always


def _group_before(request: g.CreateSubject | g.ChangeSubject | g.RemoveSubject) -> Request[Any]:
    return g.GetSubject(request.subject)


def _policy_before(request: p.CreatePolicy | p.ChangePolicy | p.DeletePolicy) -> Request[Any]:
    return p.GetPolicy(request.name)


_POLICY_LIMITS = ("POLICIES", "POLICY_NAME", "VALIDATORS", "VALIDATOR_CHARACTERS")

DECLARED: tuple[Operation[Any, Any], ...] = (
    Operation(
        "add-codec", e.AddCodec, e.CodecAdded, encodings.add_codec, permissions.of_subject("register"),
        ("NAME_LENGTH", "CODEC_CHARACTERS", "CODECS_PER_SUBJECT"), writes=True, answer_name="codec-added", alias=SUBJECT,
        is_idempotent=is_always, query_before=lambda request: e.ListCodecs(request.subject),
    ),
    Operation(
        "assign-encoding", e.AssignEncoding, e.EncodingAssigned, encodings.assign_encoding, permissions.of_subject("register"),
        ("COUNTER",), writes=True, answer_name="encoding-assigned", alias=SUBJECT, is_idempotent=is_always,
    ),
    Operation("list-codecs", e.ListCodecs, e.CodecTypes, encodings.list_codecs, permissions.of_subject("read"), alias=SUBJECT),
    Operation("get-encoding", e.GetEncoding, e.EncodingFound, encodings.get_encoding, permissions.of_subject("read"), alias=SUBJECT),
    Operation(
        "list-encodings", e.ListEncodings, e.EncodingIds, encodings.list_encodings, permissions.of_subject("read"),
        ("ENCODINGS_PAGE",), alias=SUBJECT, pauses=True,
    ),
    Operation(
        "create-subject", g.CreateSubject, g.GroupCreated, group_changes.create_subject, request_permissions.of_create_subject,
        ("NAME_LENGTH", "GROUP_PROPERTIES", "GROUP_PROPERTY_CHARACTERS", "ORIGIN_LENGTH", "CONTEXTS", "SUBJECTS_PER_CONTEXT", "ID_SCHEMES"),
        writes=True, answer_name="group-created", alias=SUBJECT, is_idempotent=is_always, query_before=_group_before,
    ),
    Operation(
        "change-subject", g.ChangeSubject, g.GroupCreated, group_changes.change_subject, request_permissions.of_change_subject,
        ("GROUP_PROPERTIES", "GROUP_PROPERTY_CHARACTERS"), writes=True, answer_name="group-created", alias=SUBJECT,
        is_idempotent=lambda request: request.previous is None, query_before=_group_before,
    ),
    Operation(
        "remove-subject", g.RemoveSubject, g.GroupRemoved, group_changes.remove_subject, permissions.of_subject("delete"),
        writes=True, answer_name="group-removed", alias=SUBJECT, query_before=_group_before,
    ),
    Operation(
        "delete-ordinal", g.DeleteOrdinal, VersionFound, deletion.delete_ordinal, permissions.of_subject("delete"),
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
        "get-ordinal", g.GetOrdinal, VersionFound, group_versions.get_ordinal, permissions.of_subject("read"), alias=SUBJECT
    ),
    Operation(
        "get-named-version", n.GetNamedVersion, VersionFound, names.get_named_version, permissions.of_subject("read"),
        alias=SUBJECT,
    ),
    Operation(
        "get-typed-version", g.GetTypedVersion, VersionFound, group_versions.get_typed_version,
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
        "find-same-version", g.FindSameVersion, VersionFound, group_versions.find_same_version, request_permissions.of_check,
        DRAFT_LIMITS, alias=SUBJECT,
    ),
    Operation(
        "find-same-schema", g.FindSameSchema, g.GroupVersions, group_versions.find_same_schema,
        request_permissions.of_find_same_schema, DRAFT_LIMITS, pauses=True,
    ),
    Operation(
        "check-reading", g.CheckReading, CompatibilityResult, group_versions.check_reading, request_permissions.of_check,
        DRAFT_LIMITS, alias=SUBJECT,
    ),
    Operation(
        "create-policy", p.CreatePolicy, p.PolicyStored, named_policies.create_policy, permissions.everywhere("config"), _POLICY_LIMITS,
        writes=True, answer_name="policy-stored", query_before=_policy_before,
    ),
    Operation(
        "change-policy", p.ChangePolicy, p.PolicyStored, named_policies.change_policy, permissions.everywhere("config"), _POLICY_LIMITS,
        writes=True, answer_name="policy-stored", is_idempotent=lambda request: request.previous is None,
        query_before=_policy_before,
    ),
    Operation(
        "delete-policy", p.DeletePolicy, p.PolicyDeleted, named_policies.delete_policy, permissions.everywhere("config"),
        writes=True, answer_name="policy-deleted", query_before=_policy_before,
    ),
    Operation(
        "get-policy", p.GetPolicy, p.PolicyFound, named_policies.get_policy, permissions.anywhere("read", "register", "config"),
    ),
    Operation(
        "list-policies", p.ListPolicies, p.Policies, named_policies.list_policies,
        permissions.anywhere("read", "register", "config"), ("POLICIES_PAGE",),
    ),
    Operation(
        "add-api-keys", k.AddApiKeys, k.ApiKeys, api_keys.add_api_keys, permissions.of_vendor("admin"),
        ("NAME_LENGTH", "API_KEYS", "API_KEYS_AT_ONCE"), writes=True, answer_name="api-keys", is_idempotent=is_always,
    ),
    Operation(
        "remove-api-key", k.RemoveApiKey, k.ApiKeyRemoved, api_keys.remove_api_key, permissions.anywhere("admin"),
        writes=True, answer_name="api-key-removed",
    ),
    Operation(
        "list-api-keys", k.ListApiKeys, k.ApiKeys, api_keys.list_api_keys, permissions.anywhere("admin"), ("API_KEYS_PAGE",),
    ),
)  # fmt: skip

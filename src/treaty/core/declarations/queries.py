"""Operations that only read schemas, subjects, settings, associations and outcomes."""

from dataclasses import replace
from typing import Any

from treaty.core.access import permissions, request_permissions
from treaty.core.handlers import association_queries, contexts, listings, lookup, queries, settings_changes
from treaty.core.handlers.comparison import differences, search
from treaty.core.messages import associations as t
from treaty.core.messages import differences as d
from treaty.core.messages import names as n
from treaty.core.messages import search as find
from treaty.core.messages.compatibility import Check, CompatibilityResult
from treaty.core.messages.contexts import Contexts, ListContexts
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions, Subjects, VersionNumbers, Versions
from treaty.core.messages.outcomes import CommandOutcome, GetOutcome
from treaty.core.messages.schemas import (
    GetGuid,
    GetGuidIds,
    GetSchema,
    GuidIds,
    ReferencedBy,
    SchemaFound,
    SchemaIds,
    Uses,
    UsesOf,
)
from treaty.core.messages.settings import ConfigStored, GetConfig, GetMode, ListSettings, ModeStored, ScopeSettings
from treaty.core.messages.versions import FindVersion, GetVersion, Lookup, VersionFound
from treaty.core.operations import DRAFT_LIMITS, SUBJECT, SUBJECT_UNLESS_EXACT, Operation, SubjectMember

ASSOCIATED_SUBJECT: SubjectMember[t.ListAssociations] = SubjectMember(
    lambda request: request.of.subject if isinstance(request.of, t.OfSubject) else None,
    lambda request, subject: replace(request, of=t.OfSubject(subject)),
)

TRIED_SUBJECT: SubjectMember[d.CompareVersions] = SubjectMember(
    lambda request: request.subject, lambda request, subject: replace(request, subject=subject)
)

DECLARED: tuple[Operation[Any, Any], ...] = (
    Operation("get-config", GetConfig, ConfigStored, settings_changes.get_config, permissions.of_shown_scope("read", "config")),
    Operation("get-mode", GetMode, ModeStored, settings_changes.get_mode, permissions.of_shown_scope("read", "mode")),
    Operation("lookup", Lookup, VersionFound, lookup.lookup, request_permissions.of_lookup, DRAFT_LIMITS, alias=SUBJECT),
    Operation("check", Check, CompatibilityResult, lookup.check_draft, request_permissions.of_check, DRAFT_LIMITS, alias=SUBJECT),
    Operation(
        "compare-versions", d.CompareVersions, d.SchemasCompared, differences.compare_versions, request_permissions.of_compare,
        (*DRAFT_LIMITS, "FINDINGS", "FINDINGS_CHARACTERS", "SHOWN_CHARACTERS", "TOUCHED"),
        alias=TRIED_SUBJECT,
    ),
    Operation(
        "search", find.Search, find.SearchResults, search.search, permissions.anything_at_all("read"),
        ("NAME_LENGTH", "SEARCH_TERMS", "SEARCH_PAGE", "SEARCH_COUNTED"),
    ),
    Operation(
        "get-schema", GetSchema, SchemaFound, queries.get_schema, permissions.anywhere("read"),
        immutable=True, alias=SUBJECT,
    ),
    Operation("get-guid", GetGuid, SchemaFound, queries.get_guid, permissions.anywhere("read"), immutable=True),
    Operation("get-guid-ids", GetGuidIds, GuidIds, queries.get_guid_ids, permissions.anywhere("read")),
    Operation(
        "get-version", GetVersion, VersionFound, queries.get_version, permissions.of_subject_in_any_context("read"),
        alias=SUBJECT_UNLESS_EXACT,
    ),
    Operation(
        "find-version", FindVersion, VersionFound, queries.find_version, permissions.of_subject("read"), alias=SUBJECT,
        pauses=True,
    ),
    Operation(
        "get-pin", n.GetPin, n.PinFound, queries.get_pin, permissions.of_subject_in_any_context("read"), alias=SUBJECT
    ),
    Operation(
        "list-subjects", ListSubjects, Subjects, listings.list_subjects, permissions.anywhere("read"), pauses=True
    ),
    Operation(
        "list-versions", ListVersions, VersionNumbers, queries.list_versions, permissions.of_subject_in_any_context("read"),
        alias=SUBJECT,
    ),
    Operation(
        "list-schemas", ListSchemas, Versions, listings.list_schemas, permissions.anywhere("read"), pauses=True
    ),
    Operation(
        "list-settings", ListSettings, ScopeSettings, listings.list_settings, permissions.anywhere("read"),
        ("SETTINGS_PAGE",),
    ),
    Operation(
        "uses-of", UsesOf, Uses, queries.uses_of, permissions.anywhere("read"), alias=SUBJECT, pauses=True
    ),
    Operation(
        "referenced-by", ReferencedBy, SchemaIds, queries.referenced_by, permissions.of_subject("read"), alias=SUBJECT
    ),
    Operation("list-contexts", ListContexts, Contexts, contexts.list_contexts, permissions.anywhere("read")),
    Operation(
        "list-associations", t.ListAssociations, t.Associations, association_queries.list_associations,
        request_permissions.of_list_associations, ("ASSOCIATIONS_LISTED",), alias=ASSOCIATED_SUBJECT,
    ),
    Operation(
        "get-associations", t.GetAssociations, t.AssociationResults, association_queries.get_associations,
        permissions.anywhere("read"), ("ASSOCIATION_BATCH", "ASSOCIATIONS_LISTED"),
    ),
    Operation("get-outcome", GetOutcome, CommandOutcome, queries.get_outcome, request_permissions.of_get_outcome),
)  # fmt: skip

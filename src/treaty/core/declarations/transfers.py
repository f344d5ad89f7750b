"""Operations that carry subjects from one registry to another."""

from typing import Any

from treaty.core.access import permissions, request_permissions
from treaty.core.handlers.groups import exports, imports
from treaty.core.messages import encodings as e
from treaty.core.messages import groups as g
from treaty.core.messages import transfers as x
from treaty.core.messages.registration import RegisteredVersion
from treaty.core.operations import DRAFT_LIMITS, REGISTER_LIMITS, Operation, is_always

DECLARED: tuple[Operation[Any, Any], ...] = (
    Operation(
        "export-subjects",
        x.ExportSubjects,
        x.ExportedSubjects,
        exports.export_subjects,
        permissions.anywhere("read"),
        ("EXPORT_PAGE",),
        pauses=True,
    ),
    Operation(
        "export-versions", x.ExportVersions, x.ExportedVersions, exports.export_versions, permissions.anywhere("read"),
        ("EXPORT_PAGE", "EXPORT_CHARACTERS"), pauses=True,
    ),
    Operation(
        "import-subject", x.ImportSubject, g.GroupCreated, imports.import_subject, request_permissions.of_import,
        ("NAME_LENGTH", "GROUP_PROPERTIES", "GROUP_PROPERTY_CHARACTERS", "ORIGIN_LENGTH", "CONTEXTS", "SUBJECTS_PER_CONTEXT",
         "COUNTER", "ID_GAP"),
        writes=True, answer_name="group-created", is_idempotent=is_always,
        query_before=lambda request: g.GetSubject(request.subject),
    ),
    Operation(
        "import-version", x.ImportVersion, RegisteredVersion, imports.import_version, request_permissions.of_import,
        tuple(dict.fromkeys((*REGISTER_LIMITS, *DRAFT_LIMITS, "ID_GAP"))), writes=True, answer_name="registered",
        is_idempotent=is_always, query_before=lambda request: g.GetOrdinal(request.subject, request.ordinal),
    ),
    Operation(
        "import-encoding", x.ImportEncoding, e.EncodingAssigned, imports.import_encoding, request_permissions.of_import,
        ("COUNTER", "ID_GAP"), writes=True, answer_name="encoding-assigned", is_idempotent=is_always,
    ),
)  # fmt: skip

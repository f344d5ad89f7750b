"""Patches: a version gets another text at its ordinal and number. The former text stays, hidden, at an ordinal of its own."""

from dataclasses import replace

from treaty.core.command import Command
from treaty.core.handlers.capacity import make_room
from treaty.core.handlers.drafts.schemas import ParsedDraft
from treaty.core.handlers.schema_ids import next_count, schema_of
from treaty.core.handlers.uses import remove_versions
from treaty.core.handlers.versions import StoredVersion
from treaty.core.messages.names import SEQUENCE
from treaty.core.messages.registration import Register
from treaty.core.refusals import LabelRefused
from treaty.core.state.rows import Row, make_row
from treaty.core.state.state_tables import (
    CONTENT,
    COUNTER,
    ENCODING,
    ENCODING_BY_VERSION,
    SUBJECT,
    VERSION,
    ContentKey,
    ordinals_key,
    types_key,
)
from treaty.core.state.values import Content, Counter, PolicyValue, Version
from treaty.core.state.view import View


def patch_rows(
    view: View,
    command: Command[Register],
    stored: StoredVersion,
    new: ParsedDraft,
    *,
    policy: PolicyValue,
    imported: bool,
) -> tuple[tuple[Row, ...], Version]:
    """Return the rows with which a version gets a new text, and its row then.

    Encodings stay with the former text, so that payloads are read as they were written. Raises `LabelRefused` for a
    version whose names are computed from its text.
    """
    subject, (key, old) = command.request.subject, stored
    _refuse_computed_names(view, command.request, old)
    schema_id, schema_rows = schema_of(view, command, new)
    ordinals = ordinals_key(subject, key.generation)
    ordinal = next_count(view, ordinals)
    former = key._replace(ordinal=ordinal)
    types = types_key(subject, key.generation, new.draft.format, new.type_name)
    is_same_type = (old.format, old.type_name) == (new.draft.format, new.type_name)
    type_version = old.type_version if is_same_type else next_count(view, types)
    version = replace(
        old,
        schema_id=schema_id,
        format=new.draft.format,
        type_name=new.type_name,
        type_version=type_version,
        revision=old.revision + 1,
        content=new.content,
        forced=None,
        imported=imported,
        policy=policy,
        identity=new.identity,
    )
    encodings = (
        (encoding_key, view.get(ENCODING, encoding_key)) for encoding_key in view.find(ENCODING_BY_VERSION, key)
    )
    sent = new.sent
    rows = (
        *schema_rows,
        *remove_versions(view, make_room(view, subject, [], ordinal, live=False), spare_schema=schema_id),
        *((make_row(CONTENT, ContentKey(version.content), Content(sent)),) if sent is not None else ()),
        make_row(VERSION, key, version),
        make_row(VERSION, former, replace(old, state="hidden", revision_of=key.ordinal)),
        make_row(COUNTER, ordinals, Counter(ordinal)),
        *(() if is_same_type else (make_row(COUNTER, types, Counter(type_version)),)),
        *(
            make_row(ENCODING, encoding_key, replace(value, ordinal=ordinal))
            for encoding_key, value in encodings
            if value is not None
        ),
    )
    return rows, version


def _refuse_computed_names(view: View, request: Register, old: Version) -> None:
    row = view.get(SUBJECT, request.subject)
    schemes = [] if row is None else [scheme for scheme in row.schemes if scheme != SEQUENCE]
    if schemes:
        raise LabelRefused.of(
            "PATCH_NAMED",
            f"Version {old.number} of {request.subject} has names that are computed from its text, so it keeps its text",
            path="/patch",
            subject=str(request.subject),
            version=str(old.number),
            old=", ".join(schemes),
            allowed="a label of its own",
        )

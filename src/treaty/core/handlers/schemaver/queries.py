"""Published versions are read by label, listed and deleted; drafts are put and read."""

from collections.abc import Iterator

from treaty.core import limits
from treaty.core.access.authorized_view import without_filter
from treaty.core.access.private_subjects import refuse_unless_private_creator
from treaty.core.command import Command, Decision, PausingWork
from treaty.core.handlers.deletion import delete_live, warned_sources
from treaty.core.handlers.schemaver.labels import find_label, iglu_name, live_labels, parse_label, parse_name
from treaty.core.handlers.schemaver.supersession import superseded_labels, superseding_label
from treaty.core.handlers.settings import refuse_if_readonly
from treaty.core.handlers.versions import StoredVersion, describe_version, no_subject, subject_of_key
from treaty.core.iglu_key import SchemaVer
from treaty.core.messages.schemaver import (
    SCHEMAVER,
    DeletePublished,
    DraftFound,
    GetDraft,
    GetPublished,
    ListPublished,
    PublishedDeleted,
    PublishedSchema,
    PublishedSchemas,
    PutDraft,
)
from treaty.core.messages.settings import Scope
from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.refusals import InvalidVersion, NotFound, TooLarge, VersionNotFound
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.rows import make_row
from treaty.core.state.schemaver_tables import DRAFT, DraftKey
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.values import StoredDraft
from treaty.core.state.view import View, span


def describe_published(view: View, stored: StoredVersion, label: SchemaVer) -> PublishedSchema:
    """Return the answer about a version with its label."""
    key, version = stored
    home = view.get(SUBJECT, subject_of_key(key))
    by = superseding_label(view, key)
    return PublishedSchema(
        describe_version(view, stored, data=True),
        str(label),
        home is not None and home.private,
        tuple(map(str, superseded_labels(view, key))),
        "" if by is None else str(by),
        version.revision,
    )


def _find_published(view: View, subject: Subject, text: str) -> tuple[SchemaVer, StoredVersion]:
    label = parse_label(text, subject)
    home = view.get(SUBJECT, subject)
    if home is None or home.order != SCHEMAVER:
        raise no_subject(subject)
    live = live_labels(view, subject)
    if label not in live:
        raise VersionNotFound.of(
            "VERSION_NOT_FOUND",
            f"Version {label} not found.",
            path="/label",
            subject=str(subject),
            version=str(label),
            new=str(label),
            allowed=", ".join(map(str, [*live][-10:])),
        )
    return label, live[label]


def get_published(view: View, command: Command[GetPublished], engine: SchemaEngine) -> Decision[PublishedSchema]:
    """Return the live version with a label."""
    label, stored = _find_published(view, command.request.subject, command.request.label)
    return Decision((), describe_published(view, stored, label))


def delete_published(view: View, command: Command[DeletePublished], engine: SchemaEngine) -> Decision[PublishedDeleted]:
    """Soft-delete the version with a label; nothing happens where there is none."""
    try:
        _, stored = _find_published(view, command.request.subject, command.request.label)
    except NotFound:
        return Decision((), PublishedDeleted(deleted=False))
    warnings = warned_sources(view, command.access, [stored])
    return Decision((delete_live(view, stored),), PublishedDeleted(deleted=True, warnings=warnings))


def list_published(
    view: View, command: Command[ListPublished], engine: SchemaEngine
) -> PausingWork[Decision[PublishedSchemas]]:
    """List live versions by subject and label; a pause follows each subject that was looked at."""
    request = command.request
    base, reads = without_filter(view)
    limit = max(0, min(request.limit, limits.PUBLISHED_PAGE))
    page: list[PublishedSchema] = []
    for subject in _subjects(base, request):
        if len(page) >= limit:
            break
        home = base.get(SUBJECT, subject) if _fits(subject, request) and reads(subject) else None
        if home is not None and home.order == SCHEMAVER:
            for label, stored in live_labels(base, subject).items():
                if len(page) < limit and request.model in {0, label.model} and _is_after(subject, label, request):
                    page.append(describe_published(base, stored, label))
        yield
    return Decision((), PublishedSchemas(tuple(page)))


def _subjects(view: View, request: ListPublished) -> Iterator[Subject]:
    """Subjects whose names begin as the request says, from that of the last version of the page before on."""
    parts = [request.vendor, request.name, request.format]
    named_parts = parts[: parts.index("")] if "" in parts else parts
    prefix = "/".join(named_parts) + ("/" if named_parts and len(named_parts) < len(parts) else "")
    low, high = span((DEFAULT_CONTEXT,), prefix)
    if request.after is not None and request.after[0] > prefix:
        low = (DEFAULT_CONTEXT, request.after[0])
    return view.walk(SUBJECT, low, high)


def _fits(subject: Subject, request: ListPublished) -> bool:
    name = iglu_name(subject)
    parts = (request.vendor, request.name, request.format)
    return name is not None and all(want in {"", part} for want, part in zip(parts, name, strict=True))


def _is_after(subject: Subject, label: SchemaVer, request: ListPublished) -> bool:
    if request.after is None or subject.name != request.after[0]:
        return True
    last = find_label(request.after[1])
    return last is None or label > last


# ---------------------------------------------------------------------------------------------------------- drafts


def put_draft(view: View, command: Command[PutDraft], engine: SchemaEngine) -> Decision[DraftFound]:
    """Store a draft; nothing is asked of its text but its size."""
    request = command.request
    parse_name(request.subject)
    key = _draft_key(request.subject, request.number)
    size = len(request.text.encode("utf-8", "surrogatepass"))
    if size > limits.SCHEMA_BYTES:
        raise TooLarge.of(
            "SCHEMA_BYTES",
            "The draft is too large",
            new=f"{size} bytes",
            allowed=f"at most {limits.SCHEMA_BYTES} bytes",
        )
    refuse_if_readonly(view, Scope(*request.subject))
    stored = view.get(DRAFT, key)
    if request.private or (stored is not None and stored.private):
        refuse_unless_private_creator(command.access, command.principal, request.subject, "put-draft")
    if stored is None and view.count(DRAFT, key[:1]) >= limits.DRAFTS:
        raise TooLarge.of("DRAFTS", f"There are {limits.DRAFTS} drafts", allowed=f"at most {limits.DRAFTS} drafts")
    value = StoredDraft(request.text, request.private, command.time)
    return Decision((make_row(DRAFT, key, value),), _describe_draft(key, value))


def get_draft(view: View, command: Command[GetDraft], engine: SchemaEngine) -> Decision[DraftFound]:
    """Return a draft."""
    request = command.request
    key = _draft_key(request.subject, request.number)
    value, access = view.get(DRAFT, key), command.access
    is_visible = access is None or access.may("read", request.subject, private=value is not None and value.private)
    if value is None or not is_visible:
        raise VersionNotFound.of(
            "DRAFT_NOT_FOUND",
            f"Draft {request.number} of {request.subject} not found.",
            path="/number",
            subject=str(request.subject),
            version=str(request.number),
            new=str(request.number),
            allowed="the number of a draft that was stored",
        )
    return Decision((), _describe_draft(key, value))


def _draft_key(subject: Subject, number: int) -> DraftKey:
    if not 1 <= number <= limits.COUNTER:
        raise InvalidVersion.of(
            "DRAFT_NUMBER",
            f"'{number}' is no number of a draft",
            path="/number",
            subject=str(subject),
            version=str(number),
            new=str(number),
            allowed=f"1 to {limits.COUNTER}",
        )
    return DraftKey(*subject, number)


def _describe_draft(key: DraftKey, value: StoredDraft) -> DraftFound:
    return DraftFound(str(Subject(key.context, key.subject)), key.number, value.text, value.private, value.time)

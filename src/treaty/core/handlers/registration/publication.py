"""Publication: a schema becomes the version of a label, or the new text of one that is there."""

from dataclasses import replace

from treaty.core.command import Command, Decision
from treaty.core.finding import Finding
from treaty.core.handlers.contexts import refuse_bad_subject
from treaty.core.handlers.drafts.rules import refuse_bad_rules
from treaty.core.handlers.drafts.schemas import ParsedDraft, with_extras, with_text
from treaty.core.handlers.drafts.versions import has_schema
from treaty.core.handlers.groups.properties import refuse_other_format
from treaty.core.handlers.policies import created_config
from treaty.core.handlers.registration.patches import patch_rows
from treaty.core.handlers.registration.register import (
    admit_draft,
    label_findings,
    read_new,
    refuse_foreign,
    refuse_unfit,
)
from treaty.core.handlers.registration.state import RegistrationState, case_of
from treaty.core.handlers.schemaver.label_order import label_exists
from treaty.core.handlers.schemaver.labels import live_labels, parse_label, parse_name
from treaty.core.handlers.schemaver.queries import describe_published
from treaty.core.handlers.schemaver.supersession import refuse_bad_targets, superseding_rows
from treaty.core.handlers.schemaver.texts import with_self
from treaty.core.handlers.settings import own_value, refuse_if_readonly
from treaty.core.handlers.versions import StoredVersion, as_sent, schema_row
from treaty.core.iglu_key import SchemaVer
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.schemaver import IGLU, SCHEMAVER, Publish, PublishedSchema, PublishedVersion
from treaty.core.messages.settings import Config, Scope
from treaty.core.names import Subject
from treaty.core.refusals import LabelRefused
from treaty.core.schema import Draft
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.state_tables import SUBJECT, VersionKey
from treaty.core.state.values import SubjectValue
from treaty.core.state.view import View

POLICY = Config(level="NONE")
"""The policy of a new subject: the policy `schemaver` compares, and no other."""


def publish(view: View, command: Command[Publish], engine: SchemaEngine) -> Decision[PublishedVersion]:
    """Decide a publication."""
    request = command.request
    subject = request.subject
    refuse_bad_subject(subject)
    refuse_bad_rules(request.draft.rules)
    name, label = parse_name(subject), parse_label(request.label, subject)
    described = with_self(request.draft, subject, name, label)
    labels = (*request.supersedes, *described.supersedes)
    supersedes = tuple(dict.fromkeys(parse_label(label, subject, "/supersedes") for label in labels))
    row = view.get(SUBJECT, subject)
    _refuse_other_subject(subject, row, request)
    live = {} if row is None else live_labels(view, subject)
    if label in live and not request.patch:
        raise label_exists(subject, label, live)
    refuse_if_readonly(view, Scope(*subject))
    chosen = POLICY if row is None and own_value(view, Scope(*subject)) is None else None
    creation = SubjectCreation(IGLU, order=SCHEMAVER, policy=chosen, private=bool(request.private))
    draft = with_text(described.draft, engine)
    registered = Register(subject, draft, names=((SCHEMAVER, str(label)),), create_with=creation)
    case = case_of(view, registered, row, created_config(view, subject, chosen, engine))
    as_register = Command(
        registered, command.command_id, command.time, command.principal, command.access, command.again
    )
    if label in live:
        return _patch(view, as_register, case, (live[label], label), engine)
    refuse_bad_targets(subject, label, supersedes, live)
    decision = admit_draft(view, as_register, case, draft, engine, inherited=(None, None), label=label)
    generation = view.sequence + 1 if row is None else row.generation
    key = VersionKey(*subject, generation, decision.answer.version.ordinal)
    rows, superseded = superseding_rows(view, key, label, supersedes, live)
    private = creation.private if row is None else row.private
    published_schema = PublishedSchema(decision.answer.version, str(label), private, tuple(map(str, superseded)))
    return Decision(
        (*decision.rows, *rows), PublishedVersion(published_schema, created=True, warnings=decision.answer.warnings)
    )


def _refuse_other_subject(subject: Subject, row: SubjectValue | None, request: Publish) -> None:
    if row is None:
        return
    if row.order != SCHEMAVER:
        raise LabelRefused.of(
            "SUBJECT_ORDER",
            f"Versions of subject '{subject}' have no labels of SchemaVer",
            path="/subject",
            subject=str(subject),
            version=request.label,
            old=row.order,
            new=SCHEMAVER,
            allowed="a subject that was created with the order schemaver, or that does not exist",
        )
    if request.private not in {None, row.private}:
        words = ("public", "private")
        raise LabelRefused.of(
            "VISIBILITY_DIFFERS",
            f"Subject '{subject}' is {words[row.private]}, and so are all its versions",
            path="/private",
            subject=str(subject),
            version=request.label,
            old=words[row.private],
            new=words[not row.private],
            allowed=words[row.private],
        )


def _patch(
    view: View,
    command: Command[Register],
    case: RegistrationState,
    published: tuple[StoredVersion, SchemaVer],
    engine: SchemaEngine,
) -> Decision[PublishedVersion]:
    """Give a version a new text, if it is another one."""
    stored, label = published
    refuse_other_format(case.request.subject, command.request.draft.format, case.home.properties)
    new = _read_patch(view, case, command.request.draft, stored, engine)
    before = describe_published(view, stored, label)
    if has_schema(view, stored, new):
        return Decision((), PublishedVersion(before, created=False))
    warnings: tuple[Finding, ...] = ()
    refuse_foreign(view, case, new)
    if not case.importing:
        refuse_unfit(view, case, new, engine)
        warnings = label_findings(view, case.request.subject, label, new, engine)
    rows, version = patch_rows(view, command, stored, new, policy=case.policy, imported=case.importing)
    version_found = replace(
        before.version,
        schema_id=version.schema_id,
        guid=new.guid,
        format=version.format,
        text=new.parsed.canonical,
        metadata=new.draft.metadata,
        rules=new.draft.rules,
        type_name=version.type_name,
        type_version=version.type_version,
        forced=None,
        imported=version.imported,
        references=as_sent(new.used),
        data=new.sent,
    )
    schema = replace(before, version=version_found, revision=version.revision)
    return Decision(rows, PublishedVersion(schema, created=False, patched=True, warnings=warnings))


def _read_patch(
    view: View, case: RegistrationState, draft: Draft, stored: StoredVersion, engine: SchemaEngine
) -> ParsedDraft:
    new = read_new(view, case, draft, engine)
    old = schema_row(view, stored[0].context, stored[1].schema_id)
    return with_extras(new, draft.metadata or old.metadata, draft.rules or old.rules)

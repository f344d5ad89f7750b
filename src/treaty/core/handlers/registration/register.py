"""Registration: a schema becomes a version of a subject, or turns out to be one already.

The order in which things are asked is what clients can observe: rules and names; is it there already
(before the mode, so that re-registering works in every mode); mode; strictness; identity; policy; number; id.
"""

from dataclasses import replace
from functools import partial

from treaty.core.command import Command, Decision
from treaty.core.finding import Finding
from treaty.core.handlers.association_queries import refuse_strong_targets
from treaty.core.handlers.compatibility import CompatibilityRequirements, refuse_incompatible
from treaty.core.handlers.contexts import refuse_bad_subject, refuse_invisible_name
from treaty.core.handlers.drafts.names import (
    NewNames,
    internal_names,
    name_rows,
    new_names,
    packages_of,
    refuse_bad_names,
)
from treaty.core.handlers.drafts.rules import refuse_bad_rules
from treaty.core.handlers.drafts.schemas import ParsedDraft, read, refuse, refuse_unknown_format, with_text
from treaty.core.handlers.drafts.versions import (
    complete,
    extras_of,
    find_version,
    first_version,
    forms_of,
    has_schema,
    has_type,
    is_completing,
    is_version,
    retag_draft,
    tags_in,
    type_not_allowed,
    with_number,
)
from treaty.core.handlers.groups.properties import refuse_bad_settings, refuse_other_format
from treaty.core.handlers.policies import created_config
from treaty.core.handlers.registration.state import (
    NEXT,
    RegistrationState,
    case_of,
    may_be_opaque,
    refuse_by_mode,
    refuse_far_time,
    refuse_private_targets,
    refuse_unexpected,
)
from treaty.core.handlers.schema_ids import new_version, next_number
from treaty.core.handlers.schemaver.label_order import check_order, is_same_label, label_of_draft
from treaty.core.handlers.schemaver.label_policy import check_label
from treaty.core.handlers.schemaver.labels import live_labels
from treaty.core.handlers.validators import inspect, refuse_faults
from treaty.core.handlers.versions import (
    StoredVersion,
    as_sent,
    describe_version,
    has_other_formats,
    latest_version,
    no_subject,
    version_with_number,
)
from treaty.core.iglu_key import SchemaVer
from treaty.core.messages.groups import ANY_FORMAT, AVRO_1124, FORMAT, SCHEMA_REPO, TEXT_FORMAT
from treaty.core.messages.registration import Register, RegisteredVersion
from treaty.core.messages.request import Visible
from treaty.core.messages.schemaver import SCHEMAVER
from treaty.core.names import Subject
from treaty.core.refusals import (
    FormatNotAllowed,
    Incompatible,
    InvalidSchema,
    LabelRefused,
    NotPermitted,
    Reason,
    Refusal,
)
from treaty.core.schema import Draft, Extras
from treaty.core.schema_engine import InvalidText, SchemaEngine
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.view import View

CREATION = "/treaty/createWith"
"""The path of the settings that a subject is created with."""


def register(view: View, command: Command[Register], engine: SchemaEngine) -> Decision[RegisteredVersion]:
    """Decide a registration."""
    request = command.request
    refuse_bad_rules(request.draft.rules)
    refuse_bad_subject(request.subject)
    refuse_bad_names(request.names, engine)
    home = view.get(SUBJECT, request.subject)
    if not may_be_opaque(request, home):
        refuse_unknown_format(request.draft, engine)
    if home is None:
        if request.require_subject:
            raise no_subject(request.subject)
        refuse_bad_settings(request.create_with, engine, CREATION)
    draft = with_text(request.draft, engine)
    if draft is not request.draft:
        request = replace(request, draft=draft)
    if (request.add_tags or request.remove_tags) and not request.number:
        request = replace(request, number=NEXT)  # a version with other tags says which number it is
    config = created_config(view, request.subject, request.create_with.policy, engine)
    case = case_of(view, request, home, config)
    refuse_unexpected(case)
    refuse_invisible_name(view, request.subject, imported=case.importing)
    existing, parsed = _already_there(view, case, engine)
    if existing is not None and is_same_label(view, request, existing):
        return _answer_existing(view, case, existing)
    refuse_by_mode(case)
    refuse_far_time(case, command)
    draft = _with_tags(view, case, _complete_draft(case), engine)
    return admit_draft(view, command, case, draft, engine, inherited=extras_of(view, case.latest), parsed=parsed)


def admit_draft(
    view: View,
    command: Command[Register],
    case: RegistrationState,
    draft: Draft,
    engine: SchemaEngine,
    *,
    inherited: Extras,
    label: SchemaVer | None = None,
    parsed: ParsedDraft | None = None,
) -> Decision[RegisteredVersion]:
    """Decide the registration of a draft that the mode allows: a version of it that is there already, or a new one.

    `inherited` are metadata and rules of a draft that comes without, `label` is that of a publication, `parsed` is the
    draft of the request as it was read strictly, which no version is.
    """
    request = case.request
    refuse_other_format(request.subject, draft.format, case.home.properties)
    is_known = parsed is not None and parsed.draft is draft and not (case.importing or draft.references)
    new = read_new(view, case, draft, engine, parsed if is_known else None)
    refuse_foreign(view, case, new)
    completed = new if case.importing else complete(new, inherited, case.config)
    forms = forms_of(new, completed, case.config, registering=True)
    if request.number == 0 and request.schema_id < 0 and label is None and not is_known and case.latest is not None:
        match = first_version(view, request.subject, forms)
        if match is not None and is_same_label(view, request, match):
            return _answer_existing(view, case, match)
    if not case.importing:
        new = with_number(completed, partial(next_number, view, request.subject), requested=bool(request.number))
    chosen = label or label_of_draft(request, case.home, new.draft.text)
    warnings = () if chosen is None else _check_order(view, case, chosen, published=label is not None)
    if not case.importing and request.force is None:
        refuse_unfit(view, case, new, engine)
    if chosen is not None and not case.importing:
        warnings = label_findings(view, request.subject, chosen, new, engine, forced=request.force is not None)
    if request.number == NEXT and label is None and _is_latest(view, case, forms):
        assert case.latest is not None
        return _answer_existing(view, case, case.latest)
    names = NewNames(
        new_names(request.subject, case.home, new, engine),
        request.names if chosen is None else tuple(sorted({*request.names, (SCHEMAVER, str(chosen))})),
        packages_of(request.create_with.schemes, engine),
    )
    decision = new_version(
        view,
        command,
        new,
        home=case.home,
        imported=case.importing,
        policy=case.policy,
        config=case.new_config,
        names=names,
    )
    return replace(decision, answer=replace(decision.answer, warnings=warnings)) if warnings else decision


def refuse_foreign(view: View, case: RegistrationState, new: ParsedDraft) -> None:
    """Raise the refusal of a type that the subject does not take, or of a reference to what no schema may refer to."""
    other = type_not_allowed(case.request.subject, case.rules, new.type_name)
    if other is not None:
        raise other
    if new.used and not case.importing:
        refuse_strong_targets(view, case.request.subject, new.used)
        refuse_private_targets(view, case, new.used)


def refuse_unfit(view: View, case: RegistrationState, new: ParsedDraft, engine: SchemaEngine) -> None:
    """Raise the refusal of a validator, or of a version that the policy in force compares with."""
    subject = case.request.subject
    refuse_faults(subject, new, inspect(view, engine, subject, new, case.policy))
    refuse_incompatible(view, engine, new, subject, CompatibilityRequirements(case.policy, case.config))


def _check_order(view: View, case: RegistrationState, label: SchemaVer, *, published: bool) -> tuple[Finding, ...]:
    """Ask whether a label follows. Where no label was asked for a refusal is one of the text, which says it."""
    subject = case.request.subject
    try:
        return check_order(subject, label, live_labels(view, subject), importing=case.importing)
    except LabelRefused as refused:
        if published:
            raise
        raise InvalidSchema(refused.reason) from None


def label_findings(
    view: View, subject: Subject, label: SchemaVer, new: ParsedDraft, engine: SchemaEngine, *, forced: bool = False
) -> tuple[Finding, ...]:
    """Return what the policy `schemaver` says of a label. Raises `Incompatible` where it refuses what is proven."""
    row = view.get(SUBJECT, subject)
    if row is None:
        return ()
    checked = check_label(view, engine, new, label, live_labels(view, subject))
    if not checked.breaks or forced or row.label_policy != "refuse":
        return checked.findings
    first = next(finding for finding in checked.findings if finding.rule == "SCHEMAVER_ADDITION")
    reason = Reason(
        first.rule,
        first.sentence,
        path=first.path,
        old=first.writer,
        new=first.reader,
        allowed=first.remedy,
        subject=str(subject),
        version=str(label),
        details=tuple(finding.sentence for finding in checked.findings),
    )
    raise Incompatible(reason, checked.findings)


def _answer_existing(view: View, case: RegistrationState, stored: StoredVersion) -> Decision[RegisteredVersion]:
    """Decide that a version is there already: it is the answer, and gets the names of the request that it lacks."""
    rows = name_rows(view, *stored, NewNames(given=case.request.names))
    if rows:
        refuse_by_mode(case)
    described = describe_version(view, stored, names=True)
    names = tuple(sorted({*described.names, *case.request.names}))
    return Decision(rows, RegisteredVersion(replace(described, names=names), created=False))


def _is_latest(view: View, case: RegistrationState, forms: tuple[ParsedDraft, ...]) -> bool:
    """Whether the latest version is the draft, in one of its forms: then it is the one that was asked for as the latest."""
    latest, schema_id = case.latest, case.request.schema_id
    if latest is None or 0 <= schema_id != latest[1].schema_id or not is_same_label(view, case.request, latest):
        return False
    return any(is_version(view, latest, form) for form in forms)


def _already_there(
    view: View, case: RegistrationState, engine: SchemaEngine
) -> tuple[StoredVersion | None, ParsedDraft | None]:
    """The live version that the draft is; only asked where the config changes nothing of it. And the draft as it was read
    for that, strictly.

    This comes before the mode: what is there already is no change. A number is a condition: it is met by the version that
    has it, and only who says the id too may mean that one; all others mean the version that they want to make.
    """
    request = case.request
    tags = request.add_tags or request.remove_tags or request.propagate_tags
    if case.latest is None or not request.draft.text or tags or is_completing(case.config) or request.number < 0:
        return None, None
    if request.number > 0 and (
        request.schema_id < 0 or version_with_number(view, request.subject, request.number) is None
    ):
        return None, None  # nothing has the number that is given; the text need not be read for that
    # Asked strictly first: for a new schema the same question comes again, and is answered already.
    for strict in (True, False):
        draft = read(
            view,
            request.subject,
            request.draft,
            engine,
            visible="all",
            strict=strict,
            normalize=case.normalize and request.schema_id < 0,
            rules=case.rules,
        )
        if not isinstance(draft, InvalidText):
            return _find_same(view, case, draft), draft if strict else None
    return None, None


def _find_same(view: View, case: RegistrationState, draft: ParsedDraft) -> StoredVersion | None:
    """The live version that is this schema and that the request speaks of: of the number and the id that it gives."""
    request = case.request
    if request.number > 0:
        match = version_with_number(view, request.subject, request.number)
        if match is not None and not (has_schema(view, match, draft) and has_type(view, match, draft)):
            return None
    else:
        match = find_version(view, request.subject, draft, case.config)
    if match is None or 0 <= request.schema_id != match[1].schema_id:
        return None
    return match


def _with_tags(view: View, case: RegistrationState, draft: Draft, engine: SchemaEngine) -> Draft:
    """The draft with the latest version's tags, as far as what they belong to is there, and those of the request."""
    request, subject = case.request, case.request.subject
    if request.propagate_tags and case.last is not None and not case.importing:
        before = tags_in(view, subject.context, case.last, engine)
        draft = retag_draft(view, subject, draft, engine, add=before, lenient=True)
    visible: Visible = "all" if case.importing else "live"
    add, remove = request.add_tags, request.remove_tags
    return retag_draft(view, subject, draft, engine, add=add, remove=remove, visible=visible)


def _complete_draft(case: RegistrationState) -> Draft:
    """An empty text with metadata, rules or other tags means the latest version's text."""
    draft, request = case.request.draft, case.request
    if draft.text:
        return draft
    changed = draft.metadata is not None or draft.rules is not None or request.add_tags or request.remove_tags
    if case.last is None or case.importing or not changed:
        raise InvalidSchema.of("SCHEMA_EMPTY", "Empty schema", path="/schema", allowed="a schema text")
    assert case.latest is not None
    return replace(
        draft,
        text=case.last.text,
        format=case.last.format,
        references=as_sent(case.last.references),
        type_name=draft.type_name or case.latest[1].type_name,
        data=None,
        imports=case.last.imports,
    )


def read_new(
    view: View, case: RegistrationState, draft: Draft, engine: SchemaEngine, parsed: ParsedDraft | None = None
) -> ParsedDraft:
    """Return a draft as it would be stored; one that is `parsed` is read already. Raises `InvalidSchema`."""
    strict = not case.importing and case.config.validate_new_schemas is not False
    new = parsed or read(
        view,
        case.request.subject,
        draft,
        engine,
        visible="all" if case.importing else "live",
        strict=strict,
        normalize=case.normalize and not case.importing,
        rules=case.rules,
    )
    if isinstance(new, InvalidText):
        raise refuse(new, draft)
    invalid = internal_names(new) if case.config.validate_fields and not case.importing else None
    if invalid is not None:
        raise refuse(invalid, draft)
    return new


# -------------------------------------------------------------------------------------------------- texts of any format


EITHER = ("AVRO", TEXT_FORMAT)
"""What a text is where its subject takes every format: the first of these that it can be."""


def register_any(view: View, command: Command[Register], engine: SchemaEngine) -> Decision[RegisteredVersion]:
    """Decide a registration; a draft of `ANY_FORMAT` is of the first format that it can be read in and its subject takes.

    Raises the refusal of Avro where the subject takes no opaque text.
    """
    request = command.request
    if request.draft.format != ANY_FORMAT:
        return register(view, command, engine)
    first: Refusal | None = None
    for format_ in _formats(view, request):
        attempt = replace(request, draft=replace(request.draft, format=format_))
        try:
            return register(view, replace(command, request=attempt), engine)
        except InvalidSchema as error:
            first = first or error
        except (FormatNotAllowed, NotPermitted) as refused:
            if first is None or refused.reason.rule == "MODE":
                raise
            break
    assert first is not None, "there is a format"
    raise first


def _formats(view: View, request: Register) -> tuple[str, ...]:
    """Return the formats that a text may be of, in the order in which they are tried.

    That is the one which the subject names, or the only one that versions of a subject of another dialect ever had.
    """
    row = view.get(SUBJECT, request.subject)
    home = row or request.create_with
    named = dict(home.properties).get(FORMAT)
    if named is not None:
        return EITHER if named == ANY_FORMAT else (named,)
    latest = None if home.origin in {SCHEMA_REPO, AVRO_1124} else latest_version(view, request.subject)
    if latest is None or has_other_formats(view, request.subject, latest[1].format):
        return EITHER
    return (latest[1].format,)

"""Registration: a schema becomes a version of a subject, or turns out to be one already.

The order in which things are asked is what clients can observe: rules and names; is it there already
(before the mode, so that re-registering works in every mode); mode; strictness; identity; policy; number; id.
"""

from dataclasses import dataclass, replace
from functools import partial

from treaty.core.answers import Config, RegisteredVersion
from treaty.core.command import Command, Decision
from treaty.core.finding import format_list
from treaty.core.handlers.association_queries import refuse_strong_targets
from treaty.core.handlers.compatibility import CompatibilityRequirements, check_compatibility
from treaty.core.handlers.contexts import refuse_bad_subject, refuse_invisible_name
from treaty.core.handlers.drafts.extras import (
    metadata_for,
    refuse_bad_rules,
    retag_draft,
    rules_for,
    rules_over,
    tags_in,
)
from treaty.core.handlers.drafts.same_versions import has_schema, has_type, matching, same_version
from treaty.core.handlers.drafts.schemas import ParsedDraft, read, refuse, refuse_unknown_format, with_extras
from treaty.core.handlers.drafts.validation import inspect, internal_names, refuse_faults
from treaty.core.handlers.drafts.version_identity import (
    VersionRules,
    policy_for,
    type_not_allowed,
    version_rules,
    with_text,
)
from treaty.core.handlers.groups.properties import refuse_bad_settings, refuse_other_format
from treaty.core.handlers.policies import created_config
from treaty.core.handlers.schema_ids import new_version, next_number
from treaty.core.handlers.settings import IMPORTING, config_in_force, mode_in_force
from treaty.core.handlers.versions import (
    Kept,
    as_sent,
    describe_version,
    latest_version,
    no_subject,
    schema_row,
    select,
    version_with_number,
)
from treaty.core.limits import TIME_AHEAD
from treaty.core.refusals import Incompatible, InvalidRules, InvalidSchema, NotLatest, NotPermitted, Reason
from treaty.core.requests import Derive, Register, Scope, Visible
from treaty.core.schema import Draft, Metadata, Rule, RuleSet
from treaty.core.schema_engine import InvalidText, SchemaEngine
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.values import ConfigValue, PolicyValue, Schema
from treaty.core.state.view import View

CREATION = "/treaty/createWith"
"""The path of the settings that a subject is created with."""
NEXT = -1
"""The number of a version that takes the next one, and is to say so in its metadata."""


@dataclass(frozen=True, slots=True)
class RegistrationState:
    """What is known of a registration while it is decided."""

    request: Register
    config: Config
    mode: str
    policy: PolicyValue
    latest: Kept | None
    """The latest live version."""
    last: Schema | None
    """The schema of the latest live version."""
    rules: VersionRules
    """What the subject says of its versions."""
    made: ConfigValue | None = None
    """The config row that the subject is made with."""

    @property
    def importing(self) -> bool:
        """Whether the sender says ids and numbers."""
        return self.mode in IMPORTING

    @property
    def normalize(self) -> bool:
        """Whether texts are normalised."""
        return bool(self.request.normalize) or bool(self.config.normalize)


def register(view: View, command: Command[Register], engine: SchemaEngine) -> Decision[RegisteredVersion]:
    """Decide a registration."""
    request = command.request
    refuse_bad_rules(request.draft.rules)
    refuse_bad_subject(request.subject)
    home = view.get(SUBJECT, request.subject)
    if {request.create_with.origin, home.origin if home and request.require_subject else "confluent"} == {"confluent"}:
        refuse_unknown_format(request.draft, engine)
    if home is None:
        if request.require_subject:
            raise no_subject(request.subject)
        refuse_bad_settings(request.create_with, CREATION)
    request = replace(request, draft=with_text(request.draft, engine))
    if (request.add_tags or request.remove_tags) and not request.number:
        request = replace(request, number=NEXT)  # a version with other tags says which number it is
    made = created_config(view, request.subject, request.create_with.policy, engine)
    case = case_of(view, request, made)
    _refuse_unexpected(case)
    refuse_invisible_name(view, request.subject, imported=case.importing)
    there = _already_there(view, case, engine)
    if there is not None:
        return Decision((), RegisteredVersion(describe_version(view, there), created=False))
    refuse_by_mode(case)
    _refuse_far_time(case, command)
    draft = _with_tags(view, case, _complete_draft(case), engine)
    last = (case.last.metadata, case.last.rules) if case.last else (None, None)
    return admit_draft(view, command, case, draft, engine, inherited=last)


def _refuse_far_time(case: RegistrationState, command: Command[Register]) -> None:
    """Only who imports says when a version was registered, and it lies in the past, as far as clocks agree."""
    time = case.request.time
    if time < 0:
        return
    if not case.importing:
        raise NotPermitted.of(
            "TIME_NOT_IMPORTED",
            f"Subject {case.request.subject} is not in import mode, so the time of registration is now",
            path="time",
            subject=str(case.request.subject),
            old=case.mode,
            new=str(time),
            allowed="leave the time out, or set the mode to IMPORT first",
        )
    if time > command.time + TIME_AHEAD:
        raise NotPermitted.of(
            "TIME_AHEAD",
            f"The time of registration {time} lies in the future",
            path="time",
            subject=str(case.request.subject),
            new=str(time),
            allowed=f"at most {command.time + TIME_AHEAD}",
        )


def admit_draft(
    view: View,
    command: Command[Register],
    case: RegistrationState,
    draft: Draft,
    engine: SchemaEngine,
    *,
    inherited: tuple[Metadata | None, RuleSet | None],
) -> Decision[RegisteredVersion]:
    """Decide the registration of a draft that the mode allows: a version of it that is there already, or a new one.

    `inherited` are metadata and rules of a draft that comes without.
    """
    request = case.request
    refuse_other_format(view, request.subject, draft.format, request.create_with)
    new = _read_new(view, case, draft, engine)
    other = type_not_allowed(request.subject, case.rules, new.type_name)
    if other is not None:
        raise other
    if not case.importing:
        refuse_strong_targets(view, request.subject, new.used)
        number = partial(next_number, view, request.subject)
        metadata = metadata_for(draft.metadata, inherited[0], case.config, number, asked=bool(request.number))
        new = with_extras(new, metadata, rules_for(draft.rules, inherited[1], case.config))
    if request.number <= 0 and request.schema_id < 0:
        match = same_version(view, request.subject, new, "live")
        if match is not None:
            return Decision((), RegisteredVersion(describe_version(view, match), created=False))
    if not case.importing and request.force is None:
        refuse_faults(request.subject, new, inspect(engine, request.subject, new, case.policy))
        _refuse_incompatible(view, case, new, engine)
    return new_version(view, command, new, imported=case.importing, policy=case.policy, made=case.made)


def case_of(view: View, request: Register, made: ConfigValue | None = None) -> RegistrationState:
    """Return what is known of a registration; `made` is the config row that the subject is made with."""
    scope = Scope(*request.subject)
    config = config_in_force(view, scope, made)
    rules = version_rules(view, request.subject, request.create_with)
    latest = latest_version(view, request.subject)
    return RegistrationState(
        request,
        config,
        mode_in_force(view, scope),
        policy_for(config, rules),
        latest,
        schema_row(view, request.subject.context, latest[1].schema_id) if latest else None,
        rules,
        made,
    )


def _refuse_unexpected(case: RegistrationState) -> None:
    """The sender says what the latest version was when it made up its mind; if it is another, nothing happens."""
    expected = case.request.expected
    if expected is None:
        return
    actual = -1
    if case.latest is not None:
        key, version = case.latest
        actual = {"number": version.number, "ordinal": key.ordinal, "schema_id": version.schema_id}[expected.by]
    if actual != expected.value:
        raise NotLatest.of(
            "EXPECTED_LATEST",
            f"The latest version of subject '{case.request.subject}' is not the expected one",
            subject=str(case.request.subject),
            old=f"{expected.by} {actual}",
            new=f"{expected.by} {expected.value}",
            allowed="read the latest version and decide again",
        )


def _already_there(view: View, case: RegistrationState, engine: SchemaEngine) -> Kept | None:
    """The live version that the draft is, just as sent; only asked where the config changes nothing of it.

    This comes before the mode, and before a number that guards: what is there already is no change.
    """
    request = case.request
    extras = (case.config.default_metadata, case.config.override_metadata)
    rules = (case.config.default_rules, case.config.override_rules)
    tags = request.add_tags or request.remove_tags or request.propagate_tags
    if case.latest is None or not request.draft.text or tags or any((*extras, *rules)):
        return None
    if case.importing and request.number > 0 and version_with_number(view, request.subject, request.number) is None:
        return None  # nothing has the number that is given; the text need not be read for that
    # Asked strictly first: for a new schema the same question comes again, and is answered already.
    for strict in (True, False):
        one = read(
            view,
            request.subject,
            request.draft,
            engine,
            visible="all",
            strict=strict,
            normalize=case.normalize and request.schema_id < 0,
            rules=case.rules,
        )
        if not isinstance(one, InvalidText):
            return _find_same(view, case, one)
    return None


def _find_same(view: View, case: RegistrationState, one: ParsedDraft) -> Kept | None:
    """The live version that is this schema and that the request speaks of: of the id that it gives, if it gives one, and
    where ids are given also of the number.
    """
    request = case.request
    if case.importing and request.number > 0:
        match = version_with_number(view, request.subject, request.number)
        if match is not None and not (has_schema(view, match, one) and has_type(view, match, one)):
            return None
    else:
        match = matching(view, request.subject, one, "live")
    if match is None or 0 <= request.schema_id != match[1].schema_id:
        return None
    return match


def refuse_by_mode(case: RegistrationState) -> None:
    """Raise `NotPermitted` where the mode in force forbids this registration."""
    subject, mode = case.request.subject, case.mode
    words = f"Subject {subject} in context {subject.context} is"
    if mode.startswith("READONLY"):
        text, allowed = f"{words} in read-only mode", "set the mode to READWRITE first"
    elif case.request.schema_id >= 0 and not case.importing:
        text, allowed = f"{words} not in import mode", "leave the id out, or set the mode to IMPORT first"
    elif case.request.schema_id < 0 and case.importing:
        text, allowed = f"{words} not in read-write mode", "give the id, or set the mode to READWRITE first"
    else:
        return
    raise NotPermitted.of("MODE", text, subject=str(subject), old=mode, allowed=allowed)


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


def _read_new(view: View, case: RegistrationState, draft: Draft, engine: SchemaEngine) -> ParsedDraft:
    strict = not case.importing and case.config.validate_new_schemas is not False
    new = read(
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
    wrong = internal_names(new) if case.config.validate_fields and not case.importing else None
    if wrong is not None:
        raise refuse(wrong, draft)
    return new


def _refuse_incompatible(view: View, case: RegistrationState, new: ParsedDraft, engine: SchemaEngine) -> None:
    verdict = check_compatibility(
        view, engine, new, case.request.subject, bar=CompatibilityRequirements(case.policy, case.config)
    )
    if verdict.compatible:
        return
    subject = case.request.subject
    first = verdict.findings[0] if verdict.findings else None
    raise Incompatible(
        Reason(
            first.rule if first else "INCOMPATIBLE",
            "Schema being registered is incompatible with an earlier schema for subject "
            f'"{subject}", details: {format_list(verdict.messages)}',
            path=first.path if first else "",
            old=first.writer if first else "",
            new=first.reader if first else "",
            allowed=first.remedy if first else "",
            subject=str(subject),
            details=verdict.messages,
        ),
        verdict.findings,
    )


def derive(view: View, command: Command[Derive], engine: SchemaEngine) -> Decision[RegisteredVersion]:
    """Decide a derivation: all that a registration of the new schema would be asked, in one decision."""
    request = command.request
    _refuse_both(request)
    refuse_bad_rules(request.rules)
    refuse_bad_rules(request.merge_rules)
    refuse_bad_subject(request.subject)
    key, version = select(view, request.subject, request.version)
    schema = schema_row(view, key.context, version.schema_id)
    rules = request.rules or _merge_rules(schema.rules, request.merge_rules, request.remove_rules)
    refuse_bad_rules(rules)
    metadata = schema.metadata if request.metadata is None else request.metadata
    draft = Draft(schema.text, schema.format, as_sent(schema.references), metadata, rules, version.type_name)
    draft = replace(draft, imports=schema.imports)
    case = case_of(view, Register(request.subject, draft, number=request.number or NEXT))
    refuse_by_mode(case)
    draft = retag_draft(view, request.subject, draft, engine, add=request.add_tags, remove=request.remove_tags)
    about = (command.command_id, command.time, command.principal, command.access, command.again)
    as_register = Command(case.request, *about)
    return admit_draft(view, as_register, case, draft, engine, inherited=(None, None))


def _refuse_both(request: Derive) -> None:
    """Rules are given as a whole or changed one by one, not both."""
    if request.rules is not None and (request.merge_rules is not None or request.remove_rules):
        raise InvalidRules.of(
            "RULES_TWICE",
            "ruleSet should be omitted if specifying rulesToMerge or rulesToRemove",
            path="/ruleSet",
            allowed="ruleSet alone, or rulesToMerge and rulesToRemove",
        )


def _merge_rules(old: RuleSet | None, merge: RuleSet | None, remove: tuple[str, ...]) -> RuleSet | None:
    """The old rules without those that are removed, then the new ones in place of those of the same names."""
    if old is not None and remove:
        old = RuleSet(
            _drop_rules(old.migration, remove),
            _drop_rules(old.domain, remove),
            _drop_rules(old.encoding, remove),
            old.enable_at,
        )
    merged = rules_over(old, merge)
    return None if merged == RuleSet() else merged


def _drop_rules(rules: tuple[Rule, ...], names: tuple[str, ...]) -> tuple[Rule, ...]:
    return tuple(rule for rule in rules if rule.name not in names)

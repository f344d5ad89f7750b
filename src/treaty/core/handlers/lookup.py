"""Lookup and compatibility check: questions about a draft that write nothing."""

from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from treaty.core.command import Command, Decision
from treaty.core.finding import Finding
from treaty.core.handlers.compatibility import CompatibilityRequirements, check_compatibility
from treaty.core.handlers.drafts.names import internal_names
from treaty.core.handlers.drafts.schemas import (
    ParsedDraft,
    VersionRules,
    policy_for,
    read,
    refuse,
    refuse_unknown_format,
    version_rules,
    with_text,
)
from treaty.core.handlers.drafts.versions import complete, extras_of, find_version, type_not_allowed, with_number
from treaty.core.handlers.policies import refuse_bad_level
from treaty.core.handlers.schema_ids import next_number
from treaty.core.handlers.settings import config_in_force
from treaty.core.handlers.validators import as_finding, inspect
from treaty.core.handlers.versions import (
    StoredVersion,
    describe_version,
    has_version,
    latest_version,
    no_subject,
    same_name_elsewhere,
    select,
)
from treaty.core.messages.compatibility import Check, CompatibilityResult
from treaty.core.messages.request import LATEST, Visible
from treaty.core.messages.settings import Config, Scope
from treaty.core.messages.versions import Lookup, VersionFound
from treaty.core.names import Subject
from treaty.core.policy import in_words
from treaty.core.refusals import Invalid, InvalidSchema, NotFound, SchemaNotFound, VersionNotFound
from treaty.core.schema import Draft
from treaty.core.schema_engine import InvalidText, SchemaEngine
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.values import PolicyValue
from treaty.core.state.view import View


def lookup(view: View, command: Command[Lookup], engine: SchemaEngine) -> Decision[VersionFound]:
    """Find the version that a draft is; an unqualified subject is looked for in the other contexts too."""
    request = command.request
    visible: Visible = "all" if request.deleted else "live"
    if not request.draft.text and not request.draft.data:
        raise _make_not_found(view, request.subject, visible)
    draft = with_text(request.draft, engine)
    type_name = ""
    for subject in chain((request.subject,), same_name_elsewhere(view, request.subject)):
        if not has_version(view, subject, visible):
            continue
        refuse_other_formats(view, subject, request.draft, engine)
        config = config_in_force(view, Scope(*subject))
        parsed = read(
            view,
            subject,
            draft,
            engine,
            visible="all",
            strict=False,
            normalize=bool(request.normalize) or bool(config.normalize),
            rules=version_rules(view, subject),
        )
        if isinstance(parsed, InvalidText):
            raise refuse(parsed, request.draft)
        type_name = parsed.type_name
        match = find_version(view, subject, parsed, config, visible, any_type=not request.draft.type_name)
        if match is not None:
            return Decision((), describe_version(view, match))
    raise _make_not_found(view, request.subject, visible, draft.format, type_name)


def _make_not_found(view: View, subject: Subject, visible: Visible, format_: str = "", type_name: str = "") -> NotFound:
    if has_version(view, subject, visible):
        return SchemaNotFound.not_registered(str(subject), format_, type_name)
    return no_subject(subject)


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """A draft read as a registration would read it: as sent, and with what it inherits; what it has to pass, and the one
    version to compare it with.
    """

    sent: ParsedDraft
    draft: ParsedDraft
    bar: CompatibilityRequirements
    only: StoredVersion | None = None


def check_draft(view: View, command: Command[Check], engine: SchemaEngine) -> Decision[CompatibilityResult]:
    """Would this draft pass the subject's policy: against one version, or those that the policy compares?"""
    checked = read_checked(view, command.request, engine)
    subject = command.request.subject
    result = check_compatibility(view, engine, checked.draft, subject, bar=checked.bar, only=checked.only)
    return Decision((), result)


def read_checked(view: View, request: Check, engine: SchemaEngine) -> CheckedDraft:
    """Read a draft, and ask the validators about it. Raises `InvalidSchema` for one that no version could have."""
    subject = request.subject
    config = config_in_force(view, Scope(*subject))
    home = version_rules(view, subject)
    policy = _checked_policy(view, request, policy_for(config, home))
    latest = latest_version(view, subject)
    only = _find_named(view, request, latest)
    refuse_other_formats(view, subject, request.draft, engine)
    sent = _read_strictly(view, request, config, engine, home)
    completed = with_number(complete(sent, extras_of(view, latest), config), partial(next_number, view, subject))
    faults = map(as_finding, inspect(view, engine, subject, completed, policy))
    bar = CompatibilityRequirements(policy, config, (*_other_type(subject, home, completed.type_name), *faults))
    return CheckedDraft(sent, completed, bar, only)


def _checked_policy(view: View, request: Check, policy: PolicyValue) -> PolicyValue:
    """The policy to check by: the subject's with the level of the request, if it has one."""
    level = request.level
    if level is None:
        return policy
    if request.version is not None:
        raise Invalid.of(
            "CHECK_LEVEL",
            "A check has either a level or a version to compare with",
            path="/level",
            old=str(request.version),
            new=in_words(level),
            allowed="one of the two",
        )
    refuse_bad_level(view, Scope(*request.subject), level, "/level")
    return replace(policy, backward=level.backward, forward=level.forward, deny=level.deny)


def _other_type(subject: Subject, home: VersionRules, type_name: str) -> tuple[Finding, ...]:
    not_allowed = type_not_allowed(subject, home, type_name)
    if not_allowed is None:
        return ()
    reason = not_allowed.reason
    return (
        Finding(reason.rule, reason.path, reason.message, writer=reason.old, reader=reason.new, remedy=reason.allowed),
    )


def _find_named(view: View, request: Check, latest: StoredVersion | None) -> StoredVersion | None:
    """The one version to compare with; None where the policy says with which."""
    if request.version is None or (request.version == LATEST and latest is None):
        return None
    try:
        return select(view, request.subject, request.version)
    except NotFound as absent:
        # A missing number is told as such even where the whole subject is missing.
        raise VersionNotFound(replace(absent.reason, rule="VERSION_NOT_FOUND", version=str(request.version))) from None


def refuse_other_formats(view: View, subject: Subject, draft: Draft, engine: SchemaEngine) -> None:
    """Raise `InvalidSchema` for an unknown format, which only a subject of another dialect may have."""
    row = view.get(SUBJECT, subject)
    if row is None or row.origin == "confluent":
        refuse_unknown_format(draft, engine)


def _read_strictly(view: View, request: Check, config: Config, engine: SchemaEngine, home: VersionRules) -> ParsedDraft:
    """Read a draft as a registration would."""
    draft = with_text(request.draft, engine)
    if not draft.text:
        raise InvalidSchema.of("SCHEMA_EMPTY", "Empty schema", allowed="a schema text")
    strict, normalize = config.validate_new_schemas is not False, bool(request.normalize) or bool(config.normalize)
    parsed = read(view, request.subject, draft, engine, visible="live", strict=strict, normalize=normalize, rules=home)
    if isinstance(parsed, InvalidText):
        raise refuse(parsed, draft)
    invalid = internal_names(parsed) if config.validate_fields else None
    if invalid is not None:
        raise refuse(invalid, draft)
    return parsed

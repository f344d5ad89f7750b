"""Registration and derivation: a schema becomes a version, or turns out to be one."""

from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.comparing import Bar, inspect, refuse_faults, verdict
from tests.simulation.judging.model.drafts import (
    VERSION_PROPERTY,
    ReadDraft,
    change_tags,
    no_schema,
    only_type,
    read_draft,
    refuse_other_formats,
    tags_in,
    written,
)
from tests.simulation.judging.model.events import ConfigChanged, VersionNamed
from tests.simulation.judging.model.founding import (
    chosen_config,
    refuse_bad_settings,
    refuse_other_format,
    refuse_other_members,
)
from tests.simulation.judging.model.labelling import SCHEMAVER, label_findings, labelled, refuse_bad_order
from tests.simulation.judging.model.labelling import label as to_label
from tests.simulation.judging.model.making import Case, new_version, next_number
from tests.simulation.judging.model.naming import refuse_bad_names, refuse_many, refuse_taken
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.rulesets import merge_rules, refuse_bad_rules, without_rules
from tests.simulation.judging.model.sameness import (
    adds_something,
    carried,
    found_version,
    home_of,
    is_of_type,
    is_same_in,
    is_version,
    same_version,
    wanted_forms,
)
from tests.simulation.judging.model.selecting import as_sent, describe, no_subject, select
from tests.simulation.judging.model.settings import config_in_force, mode_in_force, policy_in_force, refuse_bad_policy
from tests.simulation.judging.model.subjects import refuse_bad_subject
from treaty.core import limits
from treaty.core.finding import Finding
from treaty.core.messages.registration import Derive, Register, RegisteredVersion
from treaty.core.messages.settings import Scope
from treaty.core.names import Subject, subject_of
from treaty.core.refusals import (
    Incompatible,
    Invalid,
    InvalidRules,
    InvalidSchema,
    NotLatest,
    NotPermitted,
    TypeNotAllowed,
)
from treaty.core.schema import Draft, Metadata, RuleSet
from treaty.core.schema_engine import InvalidText
from treaty.core.state.values import ConfigValue, Schema


def case_of(past: Past, request: Register, time: int) -> Case:
    scope = Scope(*request.subject)
    chosen = _chosen_config(past, request)
    if chosen is not None:
        past = past.then([chosen])
    config, live = config_in_force(past, scope), past.shown(request.subject)
    home = home_of(past, request.subject, request.create_with)
    policy = policy_in_force(config, home.types)
    return Case(past, request, config, mode_in_force(past, scope), policy, live, time, chosen=chosen)


def _chosen_config(past: Past, request: Register) -> ConfigChanged | None:
    """The policy of a new subject has its home in the config of the subject, which may say nothing else of it."""
    change = request.create_with.policy
    if change is None:
        return None
    if request.subject in past.subjects:
        raise No(NotPermitted, "CREATE_WITH_POLICY", subject=str(request.subject))
    refuse_other_members(change)
    refuse_bad_policy(past, Scope(*request.subject), change)
    return chosen_config(past, request.subject, change)


def register(past: Past, asking: Asking, request: Register) -> Yes:
    """In the order that clients can observe: rules, name, is it there already, mode, text, policy, number, id."""
    refuse_bad_rules(request.draft.rules)
    refuse_bad_subject(request.subject)
    refuse_bad_names(request.names)
    there_already = past.subjects.get(request.subject)
    of_another_api = there_already is not None and there_already.origin != "confluent"
    if request.create_with.origin == "confluent" and not (request.require_subject and of_another_api):
        refuse_other_formats(request.draft)
    if there_already is None:
        if request.require_subject:
            raise no_subject(request.subject)
        refuse_bad_settings(request.create_with)
    if (request.add_tags or request.remove_tags) and request.number == 0:
        request = replace(request, number=-1)
    case = case_of(past, request, asking.time)
    _refuse_unexpected(case)
    there = _already_there(case)
    if there is not None and _has_given_label(case, there):
        return _name(case, there)
    _refuse_by_mode(case)
    if request.time >= 0:
        if not case.gives_ids:
            raise No(NotPermitted, "TIME_NOT_IMPORTED", subject=str(request.subject))
        if request.time > asking.time + limits.TIME_AHEAD:
            raise No(NotPermitted, "TIME_AHEAD", subject=str(request.subject))
    draft = _tagged(case, _completed(case))
    latest = case.live[-1].schema if case.live else None
    return admit(case, draft, latest.metadata if latest else None, latest.rules if latest else None)


def _name(case: Case, there: VersionNow) -> Yes:
    """A version that is there gets the names that it has not."""
    missing = tuple(one for one in case.request.names if one not in there.names)
    if missing:
        computed = case.past.subjects[there.subject].schemes
        refuse_many({*missing, *(one for one in there.names if one[0] not in computed)})
    refuse_taken(case.past, there.subject, there.ordinal, missing, there.schema_id, [])
    if missing:
        _refuse_by_mode(case)
    told = replace(describe(there, names=True), names=tuple(sorted({*there.names, *missing})))
    events = (VersionNamed(there.subject, there.ordinal, missing),) if missing else ()
    return Yes(events, RegisteredVersion(told, created=False))


def derive(past: Past, asking: Asking, request: Derive) -> Yes:
    """A new version out of one that is there; from there on as a registration."""
    if request.rules is not None and (request.merge_rules is not None or request.remove_rules):
        raise No(InvalidRules, "RULES_TWICE")
    refuse_bad_rules(request.rules)
    refuse_bad_rules(request.merge_rules)
    refuse_bad_subject(request.subject)
    origin = select(past, request.subject, request.version)
    old = origin.schema
    rules = request.rules
    if rules is None:
        rules = merge_rules(without_rules(old.rules, request.remove_rules), request.merge_rules)
        rules = None if rules == RuleSet() else rules
    refuse_bad_rules(rules)
    metadata = old.metadata if request.metadata is None else request.metadata
    kind = origin.version.type_name
    draft = Draft(old.text, old.format, as_sent(old.references), metadata, rules, kind)
    case = case_of(past, Register(request.subject, draft, number=request.number or -1), asking.time)
    _refuse_by_mode(case)
    draft = change_tags(past, request.subject, draft, request.add_tags, request.remove_tags)
    return admit(case, draft, None, None)


# ---------------------------------------------------------------------------------------------------- conditions


def _refuse_unexpected(case: Case) -> None:
    expected = case.request.expected
    if expected is None:
        return
    actual = -1
    if case.live:
        last = case.live[-1]
        actual = {"number": last.number, "ordinal": last.ordinal, "schema_id": last.schema_id}[expected.by]
    if actual != expected.value:
        raise No(
            NotLatest,
            "EXPECTED_LATEST",
            subject=str(case.request.subject),
            old=f"{expected.by} {actual}",
            new=f"{expected.by} {expected.value}",
        )


def _refuse_by_mode(case: Case) -> None:
    given = case.request.schema_id >= 0
    if case.mode.startswith("READONLY") or given != case.gives_ids:
        raise No(NotPermitted, "MODE", subject=str(case.request.subject), old=case.mode)


def _already_there(case: Case) -> VersionNow | None:
    """The live version that the draft is just as it was sent, where the config changes nothing of it. Who names a number means
    a version that is there only with its id.
    """
    request, config = case.request, case.config
    if not case.live or not written(request.draft).text or adds_something(config) or request.number < 0:
        return None
    if request.add_tags or request.remove_tags or request.propagate_tags:
        return None
    numbered_one = [one for one in case.live if one.number == request.number]
    if request.number > 0 and (request.schema_id < 0 or not numbered_one):
        return None
    normalize = case.normalize and request.schema_id < 0
    new: ReadDraft | InvalidText = InvalidText(())
    for strict in (True, False):
        new = read_draft(
            case.past, request.subject, request.draft, "all", strict=strict, normalize=normalize, home=case.home
        )
        if not isinstance(new, InvalidText):
            break
    if isinstance(new, InvalidText):
        return None
    if request.number > 0:
        (match,) = numbered_one
        if not is_of_type(match, new) or not is_same_in(case.home, match, new):
            return None
    else:
        found = found_version(case.past, request.subject, case.live, new, config)
        if found is None:
            return None
        match = found
    return match if request.schema_id in (-1, match.schema_id) else None


def _completed(case: Case) -> Draft:
    """An empty text means the latest version's, where something else about it changes."""
    draft, request = written(case.request.draft), case.request
    if draft.text:
        return draft
    changes = draft.metadata is not None or draft.rules is not None or request.add_tags or request.remove_tags
    if not case.live or case.gives_ids or not changes:
        raise No(InvalidSchema, "SCHEMA_EMPTY")
    latest = case.live[-1]
    last, kind = latest.schema, latest.version.type_name
    return replace(
        draft,
        text=last.text,
        format=last.format,
        references=as_sent(last.references),
        type_name=draft.type_name or kind,
        data=None,
        imports=last.imports,
    )


def _tagged(case: Case, draft: Draft) -> Draft:
    past, request = case.past, case.request
    if request.propagate_tags and case.live and not case.gives_ids:
        before = tags_in(past, request.subject.context, case.live[-1].schema)
        draft = change_tags(past, request.subject, draft, before, lenient=True)
    visible = "all" if case.gives_ids else "live"
    return change_tags(past, request.subject, draft, request.add_tags, request.remove_tags, visible=visible)


# ----------------------------------------------------------------------------------------------------- admission


def numbered(new: ReadDraft, number: int, *, asked: bool) -> ReadDraft:
    """A draft whose metadata say the number of its version, where one was asked for or a property says one already."""
    metadata = new.draft.metadata
    if not asked and (metadata is None or VERSION_PROPERTY not in dict(metadata.properties)):
        return new
    metadata = metadata or Metadata()
    properties = {**dict(metadata.properties), VERSION_PROPERTY: str(number)}
    return new.carrying(replace(metadata, properties=tuple(sorted(properties.items()))), new.draft.rules)


def refuse_internal_names(case_config: ConfigValue, new: ReadDraft) -> None:
    internal = any(name.startswith("$$") for name in new.parsed.fields)
    if case_config.validate_fields and new.draft.format == "JSON" and internal:
        raise No(InvalidSchema, "FIELD_NAME_INTERNAL")


def refuse_foreign(case: Case, new: ReadDraft) -> None:
    """A type that the subject does not take, and references to what no schema may refer to."""
    subject = case.request.subject
    for only in only_type(case.past, subject, case.home):
        if new.type_name != only:
            raise No(TypeNotAllowed, "TYPE_NOT_ALLOWED", subject=str(subject), old=only, new=new.type_name)
    if not case.gives_ids:
        _refuse_strong_targets(case, new)
        _refuse_private_targets(case, new)


def admit(
    case: Case, draft: Draft, metadata: Metadata | None, rules: RuleSet | None, *, label: str | None = None
) -> Yes:
    """A version of the draft that is there, or a new one; `metadata` and `rules` are those of the version before it."""
    past, request, config = case.past, case.request, case.config
    refuse_other_format(request.subject, case.home.properties, draft.format)
    strict = not case.gives_ids and config.validate_new_schemas is not False
    visible = "all" if case.gives_ids else "live"
    normalize = case.normalize and not case.gives_ids
    new = read_draft(past, request.subject, draft, visible, strict=strict, normalize=normalize, home=case.home)
    if isinstance(new, InvalidText):
        raise no_schema(new)
    if not case.gives_ids:
        refuse_internal_names(config, new)
    refuse_foreign(case, new)
    last = Schema("", "", "", "", metadata=metadata, rules=rules)
    forms = [new] if case.gives_ids else wanted_forms(new, config, last, registering=True)
    there = _version_meant(case, forms) if label is None else None
    if there is not None:
        return _name(case, there)
    if not case.gives_ids:
        new = numbered(carried(new, config, last), next_number(past, request.subject), asked=request.number != 0)
    chosen = label or _said_label(case)
    warnings: list[Finding] = []
    if chosen is not None:
        live = labelled(past, request.subject)
        try:
            warnings = refuse_bad_order(request.subject, to_label(chosen), live, importing=case.gives_ids)
        except No as no:
            if label is not None:
                raise
            raise No(InvalidSchema, no.rule, subject=str(request.subject)) from None
    if not case.gives_ids and request.force is None:
        refuse_faults(request.subject, inspect(past, new, case.live, case.policy, case.home.types))
        checked = verdict(past, new, case.live, Bar(case.policy, config))
        if not checked.compatible:
            first = checked.findings[0]
            raise No(Incompatible, first.rule, path=first.path, subject=str(request.subject))
    if chosen is not None and not case.gives_ids and request.subject in past.subjects:
        warnings = label_findings(past, new, to_label(chosen), labelled(past, request.subject))
        if request.force is None:
            refuse_broken_label(past, request.subject, warnings)
    if request.number == -1 and label is None and case.live and _is_asked_for(case, case.live[-1], forms):
        return _name(case, case.live[-1])
    done = new_version(replace(case, label=chosen), new)
    assert isinstance(done.answer, RegisteredVersion)
    return Yes(done.events, replace(done.answer, warnings=tuple(warnings)))


def _version_meant(case: Case, forms: list[ReadDraft]) -> VersionNow | None:
    """The version that is the first of these forms, where the request says neither a number nor an id."""
    if case.request.number != 0 or case.request.schema_id >= 0:
        return None
    found = (same_version(case.home, case.live, form) for form in forms)
    there = next((one for one in found if one is not None), None)
    return there if there is not None and _has_given_label(case, there) else None


def _is_asked_for(case: Case, latest: VersionNow, forms: list[ReadDraft]) -> bool:
    """Whether the latest version is what was asked for as the latest."""
    if case.request.schema_id not in (-1, latest.schema_id) or not _has_given_label(case, latest):
        return False
    return any(is_of_type(latest, form) and is_version(case.home, latest, form) for form in forms)


def _has_given_label(case: Case, there: VersionNow) -> bool:
    given = dict(case.request.names).get(SCHEMAVER)
    return given is None or given == dict(there.names).get(SCHEMAVER)


def _said_label(case: Case) -> str | None:
    """The label that a registration gives. Texts that say one are no part of the workload."""
    given = dict(case.request.names).get(SCHEMAVER)
    if case.home.order != SCHEMAVER:
        if given is not None:
            raise No(Invalid, "NAME_COMPUTED")
        return None
    if given is None:
        raise No(InvalidSchema, "SELF_DIFFERS", subject=str(case.request.subject))
    return str(to_label(given))


def refuse_broken_label(past: Past, subject: Subject, found: list[Finding]) -> None:
    """The policy of the subject refuses what is shown to break."""
    there = past.subjects.get(subject)
    broken = any(one.rule == "SCHEMAVER_ADDITION" for one in found)
    if there is not None and there.label_policy == "refuse" and broken:
        raise No(Incompatible, "SCHEMAVER_ADDITION", subject=str(subject))


def _refuse_private_targets(case: Case, new: ReadDraft) -> None:
    """What everybody may read refers to nothing that is private."""
    home = case.past.subjects.get(case.request.subject) or case.request.create_with
    for one in new.used if not home.private else ():
        target = case.past.subjects.get(subject_of(one.subject, case.request.subject.context))
        if target is not None and target.private:
            raise No(NotPermitted, "REFERENCE_PRIVATE", path=f"/references/{one.name}")


def _refuse_strong_targets(case: Case, new: ReadDraft) -> None:
    """A subject that belongs to one resource may go with it, so nobody may refer to it."""
    for one in new.used:
        target = subject_of(one.subject, case.request.subject.context)
        if any(
            subject_of(tie.subject) == target and tie.lifecycle == "STRONG" for tie in case.past.associations.values()
        ):
            raise No(NotPermitted, "REFERENCE_STRONG", path=f"/references/{one.name}")

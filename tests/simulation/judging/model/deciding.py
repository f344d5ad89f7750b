"""The model of the rules: what a request comes to after a past. Everything is decided here anew but what a text means
and whether two fit, which the real formats are asked.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.simulation.judging.broken import Broken
from tests.simulation.judging.model import (
    associating,
    changing,
    differing,
    encodings,
    formats_left_open,
    grouping,
    importing,
    keys,
    listing,
    named_policies,
    outcomes,
    publishing,
    reading,
    registering,
    rights,
    seeing,
    versions_of_groups,
)
from tests.simulation.judging.model.aliases import follow_alias, named_subject
from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.associating import Entries
from tests.simulation.judging.model.events import Answered
from tests.simulation.judging.model.metastore import changing as source_changing
from tests.simulation.judging.model.metastore import comparing as source_comparing
from tests.simulation.judging.model.metastore import (
    creating,
    deleting_topics,
    dropping,
    leasing,
    planning,
    restoring,
    scripting,
    telling,
    typing_names,
)
from tests.simulation.judging.model.past import Past
from tests.simulation.judging.model.refusing import No, tag_of
from treaty.core.messages import api_keys as k
from treaty.core.messages import associations as t
from treaty.core.messages import differences as d
from treaty.core.messages import encodings as e
from treaty.core.messages import groups as g
from treaty.core.messages import names as n
from treaty.core.messages import policies as p
from treaty.core.messages import schemaver as s
from treaty.core.messages import search as find
from treaty.core.messages import transfers as x
from treaty.core.messages.compatibility import Check, CompatibilityResult
from treaty.core.messages.contexts import DeleteContext, ListContexts, MakeContext
from treaty.core.messages.listings import ListSchemas, ListSubjects, ListVersions
from treaty.core.messages.metastore import deleted_topics as t_topics
from treaty.core.messages.metastore import plans as w
from treaty.core.messages.metastore import runners as r
from treaty.core.messages.metastore import scripts
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.kept_files import ListKeptFiles
from treaty.core.messages.metastore.query_feed import ListQueries
from treaty.core.messages.outcomes import CommandOutcome, GetOutcome
from treaty.core.messages.registration import Derive, Register, RegisteredVersion
from treaty.core.messages.request import Request
from treaty.core.messages.schemas import GetGuid, GetGuidIds, GetSchema, ReferencedBy, UsesOf
from treaty.core.messages.settings import DeleteConfig, DeleteMode, GetConfig, GetMode, ListSettings, SetConfig, SetMode
from treaty.core.messages.versions import DeleteSubject, DeleteVersion, FindVersion, GetVersion, Lookup
from treaty.core.refusals import Refusal


@dataclass(frozen=True, slots=True)
class Rule:
    """How a kind of request is decided, what it needs, whether it may write, whether memory alone may answer it, and whether an
    alias stands for what it names.
    """

    decide: Callable[[Past, Asking, Any], Yes]
    needs: Callable[[Any], list[rights.Need]]
    writes: bool = False
    from_memory: bool = False
    follows_alias: bool = False


RULES: Mapping[type, Rule] = {
    Register: Rule(formats_left_open.register_any, rights.of_register, writes=True, follows_alias=True),
    Derive: Rule(registering.derive, rights.of_derive, writes=True, follows_alias=True),
    DeleteVersion: Rule(changing.delete_version, rights.of_delete, writes=True, follows_alias=True),
    DeleteSubject: Rule(changing.delete_subject, rights.of_delete, writes=True, follows_alias=True),
    SetConfig: Rule(changing.set_config, rights.of_set_config, writes=True),
    DeleteConfig: Rule(changing.delete_config, rights.of_scope("config"), writes=True),
    SetMode: Rule(changing.set_mode, rights.of_set_mode, writes=True),
    DeleteMode: Rule(changing.delete_mode, rights.of_scope("mode"), writes=True),
    MakeContext: Rule(changing.make_context, rights.of_make_context, writes=True),
    DeleteContext: Rule(changing.delete_context, rights.of_delete_context, writes=True),
    t.Associate: Rule(associating.associate, rights.of_associate, writes=True),
    t.Dissociate: Rule(associating.dissociate, rights.somewhere("register"), writes=True),
    t.ChangeAssociations: Rule(associating.change_associations, rights.somewhere("register"), writes=True),
    e.AddCodec: Rule(encodings.add_codec, rights.on_subject("register"), writes=True, follows_alias=True),
    e.AssignEncoding: Rule(encodings.assign_encoding, rights.on_subject("register"), writes=True, follows_alias=True),
    e.ListCodecs: Rule(encodings.list_codecs, rights.on_subject("read"), follows_alias=True),
    e.GetEncoding: Rule(encodings.get_encoding, rights.on_subject("read"), follows_alias=True),
    e.ListEncodings: Rule(encodings.list_encodings, rights.on_subject("read"), follows_alias=True),
    g.CreateSubject: Rule(grouping.create_subject, rights.of_create_subject, writes=True, follows_alias=True),
    g.ChangeSubject: Rule(grouping.change_subject, rights.of_change_subject, writes=True, follows_alias=True),
    g.RemoveSubject: Rule(grouping.remove_subject, rights.on_subject("delete"), writes=True, follows_alias=True),
    g.DeleteOrdinal: Rule(changing.delete_ordinal, rights.on_subject("delete"), writes=True, follows_alias=True),
    g.GetSubject: Rule(grouping.get_subject, rights.on_subject("read"), follows_alias=True),
    g.ListGroups: Rule(grouping.list_groups, rights.somewhere("read")),
    g.GetOrdinal: Rule(versions_of_groups.get_ordinal, rights.on_subject("read"), follows_alias=True),
    n.GetNamedVersion: Rule(versions_of_groups.get_named_version, rights.on_subject("read"), follows_alias=True),
    g.GetTypedVersion: Rule(versions_of_groups.get_typed_version, rights.on_subject("read"), follows_alias=True),
    g.ListGroupVersions: Rule(versions_of_groups.list_group_versions, rights.on_subject("read"), follows_alias=True),
    g.GetHistory: Rule(versions_of_groups.get_history, rights.on_subject("read"), follows_alias=True),
    g.FindSameVersion: Rule(versions_of_groups.find_same_version, rights.of_drafted, follows_alias=True),
    g.FindSameSchema: Rule(versions_of_groups.find_same_schema, rights.of_find_same_schema),
    g.CheckReading: Rule(versions_of_groups.check_reading, rights.of_drafted, follows_alias=True),
    p.CreatePolicy: Rule(named_policies.create_policy, rights.everywhere("config"), writes=True),
    p.ChangePolicy: Rule(named_policies.change_policy, rights.everywhere("config"), writes=True),
    p.DeletePolicy: Rule(named_policies.delete_policy, rights.everywhere("config"), writes=True),
    p.GetPolicy: Rule(named_policies.get_policy, rights.somewhere("read", "register", "config")),
    p.ListPolicies: Rule(named_policies.list_policies, rights.somewhere("read", "register", "config")),
    s.Publish: Rule(publishing.publish, rights.of_published, writes=True, follows_alias=True),
    s.DeletePublished: Rule(publishing.delete_published, rights.on_subject("delete"), writes=True, follows_alias=True),
    s.PutDraft: Rule(publishing.put_draft, rights.on_subject("create"), writes=True),
    s.GetPublished: Rule(publishing.get_published, rights.on_subject("read"), follows_alias=True),
    s.ListPublished: Rule(publishing.list_published, rights.somewhere("read")),
    s.GetDraft: Rule(publishing.get_draft, rights.on_subject("read")),
    x.ExportSubjects: Rule(importing.export_subjects, rights.somewhere("read")),
    x.ExportVersions: Rule(importing.export_versions, rights.somewhere("read")),
    x.ImportSubject: Rule(importing.import_subject, rights.of_import, writes=True),
    x.ImportVersion: Rule(importing.import_version, rights.of_import, writes=True),
    x.ImportEncoding: Rule(importing.import_encoding, rights.of_import, writes=True),
    GetSchema: Rule(reading.get_schema, rights.somewhere("read"), from_memory=True, follows_alias=True),
    GetGuid: Rule(reading.get_guid, rights.somewhere("read"), from_memory=True),
    n.GetPin: Rule(reading.get_pin, rights.on_subject("read", anywhere=True), follows_alias=True),
    GetVersion: Rule(reading.get_version, rights.on_subject("read", anywhere=True), follows_alias=True),
    GetConfig: Rule(changing.get_config, rights.of_shown_scope("config")),
    GetMode: Rule(changing.get_mode, rights.of_shown_scope("mode")),
    Lookup: Rule(reading.lookup, rights.of_drafted, follows_alias=True),
    Check: Rule(reading.check, rights.of_drafted, follows_alias=True),
    d.CompareVersions: Rule(differing.compare_versions, rights.of_compare, follows_alias=True),
    find.Search: Rule(differing.search, lambda _request: [rights.Need(("read",), anything=True)]),
    GetGuidIds: Rule(reading.get_guid_ids, rights.somewhere("read")),
    FindVersion: Rule(reading.find_version, rights.on_subject("read"), follows_alias=True),
    ListSubjects: Rule(listing.list_subjects, rights.somewhere("read")),
    ListVersions: Rule(reading.list_versions, rights.on_subject("read", anywhere=True), follows_alias=True),
    ListSchemas: Rule(listing.list_schemas, rights.somewhere("read")),
    ListSettings: Rule(listing.list_settings, rights.somewhere("read")),
    ListContexts: Rule(listing.list_contexts, rights.somewhere("read")),
    UsesOf: Rule(reading.uses_of, rights.somewhere("read"), follows_alias=True),
    ReferencedBy: Rule(reading.referenced_by, rights.on_subject("read"), follows_alias=True),
    k.AddApiKeys: Rule(keys.add_api_keys, rights.of_vendor, writes=True),
    k.RemoveApiKey: Rule(keys.remove_api_key, rights.somewhere("admin"), writes=True),
    k.ListApiKeys: Rule(keys.list_api_keys, rights.somewhere("admin")),
    GetOutcome: Rule(outcomes.get_outcome, rights.of_get_outcome),
    t.ListAssociations: Rule(associating.list_associations, rights.of_list_associations, follows_alias=True),
    m.CreateSource: Rule(creating.create_source, creating.importable(rights.of_create_source), writes=True),
    m.ChangeSource: Rule(source_changing.change_source, rights.of_change_source, writes=True),
    m.SetSourceState: Rule(source_changing.set_source_state, rights.on_source("pause"), writes=True),
    m.DropSource: Rule(dropping.drop_source, creating.importable(rights.on_source("delete")), writes=True),
    m.UndropSource: Rule(restoring.undrop_source, rights.on_source("register"), writes=True),
    m.CreateType: Rule(typing_names.create_type, creating.importable(rights.on_source("register")), writes=True),
    m.DropType: Rule(typing_names.drop_type, creating.importable(rights.on_source("delete")), writes=True),
    scripts.RunScript: Rule(scripting.run_script, scripting.needs_of, writes=True),
    scripts.PreviewScript: Rule(scripting.preview_script, scripting.needs_of),
    w.RequestPlan: Rule(planning.request_plan, rights.of_request_plan, writes=True),
    w.TakePlanningJob: Rule(planning.take_planning_job, rights.on_source("plan"), writes=True),
    w.FinishPlanningJob: Rule(planning.finish_planning_job, rights.on_source("plan"), writes=True),
    w.WithdrawPlan: Rule(planning.withdraw_plan, rights.on_source("register"), writes=True),
    w.GetPlan: Rule(planning.get_plan, rights.on_source("register")),
    w.ListPlanningJobs: Rule(planning.list_planning_jobs, rights.some_source("plan")),
    r.AcquireRunner: Rule(leasing.acquire_runner, rights.some_source("plan"), writes=True),
    r.ReleaseRunner: Rule(leasing.release_runner, rights.some_source("plan"), writes=True),
    r.AssignQueries: Rule(leasing.assign_queries, leasing.needs_of_assigning, writes=True),
    m.DescribeSource: Rule(telling.describe_source, rights.on_source("read")),
    m.GetDestination: Rule(telling.get_destination, rights.on_source("insert")),
    m.ListSources: Rule(telling.list_sources, rights.some_source("read")),
    t_topics.LeaseTopics: Rule(deleting_topics.lease_topics, deleting_topics.of_lease_topics, writes=True),
    t_topics.ListDeletedTopics: Rule(deleting_topics.list_deleted_topics, rights.some_source("read")),
    ListQueries: Rule(telling.list_queries, rights.some_source("read")),
    ListKeptFiles: Rule(leasing.list_kept_files, rights.some_source("plan")),
    m.ListDropped: Rule(telling.list_dropped, rights.some_source("read")),
    m.DescribeType: Rule(telling.describe_type, rights.some_source("read")),
    m.ListTypes: Rule(telling.list_types, rights.some_source("read")),
    m.ListDependents: Rule(telling.list_dependents, rights.of_list_dependents),
    t.GetAssociations: Rule(associating.get_associations, rights.somewhere("read")),
}
"""Every kind of request. One that is not here fails the run: what nobody has written down nobody can judge."""


NO_RULE = "the model of the rules does not know {0}: write down what it does and needs as a Rule of {0} in RULES (judging/model/deciding.py)"


def rule_of(request: Request[Any]) -> Rule:
    rule = RULES.get(type(request))
    if rule is None:
        raise Broken("log", NO_RULE.format(type(request).__name__))
    return rule


def is_command(request: Request[Any]) -> bool:
    return rule_of(request).writes


def has_to_look(request: Request[Any], consistency: str) -> bool:
    """Whether an answer has to be of a state at or after all that was acknowledged before the request came."""
    if consistency:
        return consistency in {"latest", "strict"}
    return not rule_of(request).from_memory


def decide(past: Past, asking: Asking) -> Yes | No:
    """What a request comes to."""
    rule = rule_of(asking.request)
    try:
        shown = (seeing.decided_on if rule.writes else seeing.seen)(past, asking.access)
        if rule.writes and asking.name in past.outcomes:
            return outcomes.recall(shown, asking)
        request = follow_alias(shown, asking) if rule.follows_alias else asking.request
        rights.refuse_unless_allowed(asking, request, rule.needs(request))
        if rule.writes:
            rights.refuse_unless_publisher(shown, asking, request, rule.needs(request))
        done = rule.decide(shown, replace(asking, request=request), request)
        seeing.refuse_hidden(past, asking, (*done.events, *done.rehearsed))
    except No as no:
        return no
    if not rule.writes:
        return done
    named = named_subject(request) if rule.follows_alias else None
    private = seeing.is_about_private(past, named, (*done.events, *done.rehearsed))
    return replace(done, events=seeing.with_kept_aliases(past, asking, done.events), private=private)


# ---------------------------------------------------------------------------------------------------- comparisons


def same_answer(mine: Any, told: Any) -> bool:
    """Whether an answer is the model's, in all that the model is sure of."""
    if isinstance(mine, Entries):
        if not isinstance(told, t.AssociationResults) or len(told.results) != len(mine.results):
            return False
        return all(map(_same_entry, mine.results, told.results))
    if isinstance(mine, CompatibilityResult):
        return _same_check(mine, told)
    if isinstance(mine, d.SchemasCompared):
        return differing.same_comparison(mine, told)
    if isinstance(mine, Answered):
        kind = "association-results" if isinstance(mine.answer, Entries) else tag_of(type(mine.answer))
        return bool(told == CommandOutcome(mine.name[1], mine.sequence, kind, mine.members))
    if isinstance(mine, s.PublishedVersion | RegisteredVersion):
        return type(mine) is type(told) and _said(mine) == _said(told) and _unsaid(mine) == _unsaid(told)
    return bool(source_comparing.as_compared(mine) == source_comparing.as_compared(told))


def _said(one: Any) -> list[tuple[str, str, str]]:
    """What an answer says of a label: rules, versions, and labels that would do; the words are not the model's."""
    known = [(each.rule, each.writer, each.remedy) for each in one.warnings]
    return sorted(each if each[0] in COMPARED else (each[0], "", "") for each in known)


def _unsaid(one: Any) -> Any:
    return replace(one, warnings=())


COMPARED = {"SCHEMAVER_ADDITION", "SCHEMAVER_UNPROVEN", "SCHEMAVER_SMALLER"}
"""Rules whose label that would do the model knows."""


def _same_entry(mine: associating.Entry, told: t.AssociationResult) -> bool:
    if mine.no is None:
        return told.refused is None and told.done == mine.done
    refused = told.refused
    return refused is not None and (refused.kind, refused.reason.rule) == (tag_of(mine.no.kind), mine.no.rule)


def _same_check(mine: CompatibilityResult, told: Any) -> bool:
    if not isinstance(told, CompatibilityResult) or told.compatible != mine.compatible:
        return False
    places = [[(one.rule, one.path) for one in each.findings] for each in (mine, told)]
    return places[0] == places[1] and (not mine.messages or mine.messages == told.messages)


def same_verdict(mine: Yes | No, told: Any) -> bool:
    """Whether a verdict that writes nothing is what was told: an answer, or a refusal."""
    if isinstance(told, Refusal):
        return isinstance(mine, No) and mine.fits(told)
    return isinstance(mine, Yes) and not mine.events and same_answer(mine.answer, told)

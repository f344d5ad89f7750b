"""`decide`: one pure function that holds all the law.

A request and what the log said so far go in; out come the rows that make it true, or the reason why not, or the
questions that a format must answer first. Nobody else decides: dialects translate, nodes append, tables store.

    view, command, grammar  ->  Decision(rows, answer) | Refusal | Needs(questions)
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from treaty.core import associating, requests
from treaty.core.command import Command, Decision, Needs
from treaty.core.grammar import Grammar
from treaty.core.law import (
    associations,
    binding,
    contexts,
    deletion,
    derivation,
    listings,
    lookup,
    parting,
    queries,
    register,
    tuning,
)
from treaty.core.law.aliases import meant
from treaty.core.law.memory import recall, remember
from treaty.core.law.schemas import Unanswered
from treaty.core.refusals import Refusal
from treaty.core.seen import Seen
from treaty.core.values import Outcome
from treaty.core.view import View

Decide = Callable[[View, Command[Any], Grammar], Decision[Any]]


@dataclass(frozen=True, slots=True)
class Law:
    """How a kind of request is decided: whether it may write, and whether memory alone may answer it.

    What `immutable` kinds find never changes, so it needs no look at the tip: a schema by its id or guid. A version's
    number may mean another schema later, by an alias or after the version was removed for good.
    """

    decide: Decide
    writes: bool = False
    immutable: bool = False


LAWS: Mapping[type, Law] = {
    requests.Register: Law(register.register, writes=True),
    requests.Derive: Law(derivation.derive, writes=True),
    requests.DeleteVersion: Law(deletion.delete_version, writes=True),
    requests.DeleteSubject: Law(deletion.delete_subject, writes=True),
    requests.MakeContext: Law(contexts.make_context, writes=True),
    requests.DeleteContext: Law(contexts.delete_context, writes=True),
    requests.SetConfig: Law(tuning.set_config, writes=True),
    requests.DeleteConfig: Law(tuning.delete_config, writes=True),
    requests.SetMode: Law(tuning.set_mode, writes=True),
    requests.DeleteMode: Law(tuning.delete_mode, writes=True),
    requests.GetConfig: Law(tuning.get_config),
    requests.GetMode: Law(tuning.get_mode),
    requests.Lookup: Law(lookup.lookup),
    requests.Check: Law(lookup.check_draft),
    requests.GetSchema: Law(queries.get_schema, immutable=True),
    requests.GetGuid: Law(queries.get_guid, immutable=True),
    requests.GetGuidIds: Law(queries.get_guid_ids),
    requests.GetVersion: Law(queries.get_version),
    requests.FindVersion: Law(queries.find_version),
    requests.ListSubjects: Law(listings.list_subjects),
    requests.ListVersions: Law(queries.list_versions),
    requests.ListSchemas: Law(listings.list_schemas),
    requests.ListSettings: Law(listings.list_settings),
    requests.UsesOf: Law(queries.uses_of),
    requests.ReferencedBy: Law(queries.referenced_by),
    requests.ListContexts: Law(contexts.list_contexts),
    associating.ListAssociations: Law(associations.list_associations),
    associating.GetAssociations: Law(associations.get_associations),
    associating.Associate: Law(binding.associate, writes=True),
    associating.Dissociate: Law(parting.dissociate, writes=True),
    associating.ChangeAssociations: Law(binding.change_associations, writes=True),
    requests.GetOutcome: Law(queries.get_outcome),
}
"""Every kind of request, and its law."""


def is_command(request: requests.Request[Any]) -> bool:
    """Tell whether a request may write."""
    return LAWS[type(request)].writes


def looks(request: requests.Request[Any]) -> bool:
    """Tell whether a query wants a look at the tip before it is answered. Not finding something always does."""
    return not LAWS[type(request)].immutable


def decide(view: View, command: Command[Any], grammar: Grammar) -> Decision[Any] | Refusal | Needs:
    """Decide a request on what a view shows. Pure: the same three give the same answer, for ever.

    A command that was decided before is answered from its outcome and writes nothing. Rows of a decision hold only on
    the view it was made on: the log's append sees to that.
    """
    law = LAWS[type(command.request)]
    try:
        outcome = view.get("outcome", command.outcome_key) if law.writes else None
        if isinstance(outcome, Outcome):
            return Decision((), recall(view, command, outcome), repeated=True)
        request = meant(view, command)
        access = command.access
        shown = view if law.writes or access is None or access.sees_all else Seen(view, access)
        decision = law.decide(
            shown, command if request is command.request else replace(command, request=request), grammar
        )
    except Unanswered as open_:
        return Needs(open_.questions)
    except Refusal as refusal:
        return refusal
    return remember(view, command, decision) if law.writes else decision

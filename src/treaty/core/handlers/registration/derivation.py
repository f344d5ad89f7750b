"""Derivation: a copy of a version with other tags, metadata or rules becomes a version."""

from dataclasses import replace

from treaty.core.command import Command, Decision
from treaty.core.handlers.contexts import refuse_bad_subject
from treaty.core.handlers.drafts.rules import refuse_bad_rules
from treaty.core.handlers.drafts.versions import retag_draft, rules_over
from treaty.core.handlers.registration.register import admit_draft
from treaty.core.handlers.registration.state import NEXT, case_of, refuse_by_mode
from treaty.core.handlers.versions import as_sent, schema_row, select
from treaty.core.messages.registration import Derive, Register, RegisteredVersion
from treaty.core.refusals import InvalidRules
from treaty.core.schema import Draft, Rule, RuleSet
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.view import View


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
    as_sent_again = Register(request.subject, draft, number=request.number or NEXT)
    case = case_of(view, as_sent_again, view.get(SUBJECT, request.subject))
    refuse_by_mode(case)
    draft = retag_draft(view, request.subject, draft, engine, add=request.add_tags, remove=request.remove_tags)
    as_register = Command(
        case.request, command.command_id, command.time, command.principal, command.access, command.again
    )
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

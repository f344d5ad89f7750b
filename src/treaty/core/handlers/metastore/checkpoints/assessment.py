"""Assessments: what a new definition of a source changes, as data, without a change."""

from dataclasses import replace
from itertools import islice

from treaty.core import limits
from treaty.core.command import Command
from treaty.core.handlers.metastore.checkpoints.continuation import compare_queries, list_ways, replaced_query
from treaty.core.handlers.metastore.checkpoints.followers import describe_followers, follow_exchange
from treaty.core.handlers.metastore.replacement import describe_column_changes, list_lost_columns
from treaty.core.messages.metastore.assessments import ChangeAssessment
from treaty.core.messages.metastore.sources import CreateSource
from treaty.core.refusals import Refusal
from treaty.core.sources import CASCADE, Source, SourcePart
from treaty.core.state.metastore.keys import SourceKey
from treaty.core.state.view import View


def assess_change(
    view: View, command: Command[CreateSource], key: SourceKey, stored: Source, source: Source, *, same: bool
) -> ChangeAssessment:
    """Return what a definition changes of the source that is there; the policies of schemas are not looked at."""
    losses = list_lost_columns(view, command.access, key, stored.columns, source.columns)
    lost = tuple(islice(losses, limits.CHANGE_REASONS))
    if stored.query is None or source.query is None:
        assessment = ChangeAssessment("compatible", ("no query fills it, so its definition alone changes",))
    else:
        assessment = ChangeAssessment(*compare_queries(stored, source))
    if same:
        return ChangeAssessment("same")
    if assessment.kind == "same":
        assessment = ChangeAssessment("compatible", ("the query stays, and other parts of the definition change",))
    columns = describe_column_changes(stored, source)
    assessment = replace(assessment, reasons=(*assessment.reasons, *columns)[: limits.CHANGE_REASONS])
    stops = assessment.kind in {"source change", "stateful change"}
    ways = list_ways(stored, source) if stops else ()
    try:
        replaced_query(view, command, key, stored, source)
        if stops and command.request.on_change == CASCADE:
            along = describe_followers(follow_exchange(view, command, key, "create-source", "/on_change"))
            reasons = (*assessment.reasons, *along)[: limits.CHANGE_REASONS]
            assessment = replace(assessment, reasons=reasons)
    except Refusal as refused:
        more = () if not command.request.on_change else (refused.reason.message,)
        return replace(assessment, reasons=(*assessment.reasons, *more), lost=lost, ways=ways, refused=True)
    return replace(assessment, lost=lost, ways=ways, refused=bool(lost))


def describe_policy(stored: Source | None, source: Source, request: CreateSource, refusal: Refusal | None) -> str:
    """Return what the policies of the schemas of a definition say, in words; empty where it has none."""
    if refusal is not None:
        reason = refusal.reason
        details = "; ".join(reason.details[: limits.CHANGE_REASONS])
        return f"refused: {reason.message}{f' ({details})' if details else ''}"
    schemas = ((request.key_schema, source.key), (request.value_schema, source.value))
    before = () if stored is None else (_pin(stored.key), _pin(stored.value))
    texts = [
        f"{schema.subject}: {'as it is' if _pin(part) in before else 'a new version, which its policy accepts'}"
        for schema, part in schemas
        if schema is not None
    ]
    return "; ".join(texts)


def _pin(part: SourcePart | None) -> object:
    return None if part is None else part.pin

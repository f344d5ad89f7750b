"""Answers about sources, in the form in which they are compared: the model knows sets, and no words for people."""

from dataclasses import replace
from typing import Any

from treaty.core.messages.metastore import plans as p
from treaty.core.messages.metastore import scripts as t
from treaty.core.messages.metastore import sources as m
from treaty.core.messages.metastore.query_feed import QueryFeed


def as_compared(answer: Any) -> Any:
    """An answer without what the model does not say: the order of names, and notes."""
    if isinstance(answer, m.SourcesDropped):
        digest = answer.digest if answer.names else ""
        return replace(answer, names=tuple(sorted(answer.names)), digest=digest, closure=(), notes=())
    if isinstance(answer, m.Sources):
        return replace(answer, upstreams=()), sorted({(one.kind, one.name) for one in answer.upstreams})
    if isinstance(answer, m.SourceStored):
        return replace(answer, notes=(), statement="")
    if isinstance(answer, t.ScriptDone):
        return answer.statement, [as_compared(one.answer) for one in answer.answers]
    if isinstance(answer, t.ScriptPreview):
        asked = (
            _untimed(answer.source),
            answer.type and replace(answer.type, type=replace(answer.type.type, time=0)),
            answer.pin,
            answer.version,
            answer.schema,
        )
        return [as_compared(one) for one in asked], answer.created
    if isinstance(answer, p.PlanOutcome):
        refused = answer.refusal and (answer.refusal.kind, answer.refusal.reason.rule)
        stored = answer.stored and as_compared(answer.stored)
        return replace(answer, refusal=None, stored=None), refused, stored
    if isinstance(answer, QueryFeed):
        return replace(answer, token="")
    if isinstance(answer, m.SourceFound):
        return replace(answer, readers=tuple(sorted(answer.readers)))
    if isinstance(answer, m.TypeFound):
        return replace(answer, users=tuple(sorted(answer.users)))
    if isinstance(answer, m.Dependents):
        needed = sorted({(one.kind, one.name) for one in answer.dependents})
        upstreams = sorted({(one.kind, one.name) for one in answer.upstreams})
        return needed, upstreams, answer.hidden
    return answer


def _untimed(answer: m.SourceFound | None) -> m.SourceFound | None:
    """A source without its times: those of one that a preview makes are of the clock of a node."""
    return answer and replace(answer, source=replace(answer.source, time=0, changed=0))

"""Rules as rows: one for every difference of two schemas, and one for every lint."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from treaty.core.finding import Diagnostic, Finding

Model = TypeVar("Model")

Harm = Literal["backward", "both", "none"]
POLICIES = ("STRICT", "LENIENT", "LOGICAL")
"""Confluent's compatibility policies: how strictly differences are checked (spec of its API, 2.8)."""


@dataclass(frozen=True, slots=True)
class CompatibilityRule:
    """One kind of difference between the schema that data was written with and the one that reads it.

    `id` is a sentence in capitals, `purpose` says the rule in one sentence. `harm` is what the change that the rule
    names does when it leads from an old schema to a new one: ``backward``, the new one can't read old data (the same
    change the other way round is harmless or has a rule of its own); ``both``, the change is harmful both ways;
    ``none``, it is reported and does no harm. `policies` are those of `POLICIES` under which it is a refusal.

    `sentence` may hold the words ``{path}`` and ``{detail}``; what stays in braces after that are the sides
    ``{reader}`` and ``{writer}``, which only the caller can name. `remedy` says what would be allowed.
    """

    id: str
    purpose: str
    sentence: str
    remedy: str
    harm: Harm = "both"
    policies: tuple[str, ...] = POLICIES

    def finding(self, path: str, detail: str = "", *, writer: str, reader: str) -> Finding:
        """What breaks this rule at `path`: `writer` and `reader` are what stands there on the two sides."""
        sentence = self.sentence.replace("{path}", path).replace("{detail}", detail)
        return Finding(self.id, path, sentence, detail, writer, reader, self.remedy)


@dataclass(frozen=True, slots=True)
class LintRule(Generic[Model]):
    """One piece of advice about a schema: `find` returns a fault for every place that does not follow it.

    The id is also the name under which a policy can demand it as a validator.
    """

    id: str
    purpose: str
    find: Callable[[Model], tuple[Diagnostic, ...]]

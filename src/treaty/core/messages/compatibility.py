"""The request that checks whether a schema is compatible with versions: its members, defaults and answer; decided in `core/handlers/lookup.py`."""

from treaty.core.finding import Finding
from treaty.core.messages.request import Request, Selector
from treaty.core.names import Subject
from treaty.core.policy import Level
from treaty.core.schema import Draft
from treaty.light_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CompatibilityResult:
    """Whether a schema is compatible: the findings about the first incompatible version, and their messages in
    Confluent's form.
    """

    compatible: bool
    messages: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Check(Request[CompatibilityResult]):
    """Whether this schema is compatible with one version, or (None) with those that the subject's policy compares."""

    subject: Subject
    draft: Draft
    version: Selector | None = None
    normalize: bool | None = None
    level: Level | None = None
    """Check by this level, not by the subject's; with `version` None alone."""

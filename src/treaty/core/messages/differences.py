"""The request that compares two schemas, or tries a change on a subject: its members, defaults and answers; decided in `differences.py` and
`changes.py` of `core/handlers/comparison`.

A page, a command or a program shows why a change breaks, at the line that breaks it, before anything is written.
"""

from dataclasses import dataclass

from treaty.core.finding import ExplainedDifference, Finding, LevelResult
from treaty.core.messages.request import LATEST, Request, Selector
from treaty.core.names import Subject
from treaty.core.schema import Draft

SUBJECT_TOUCHED, SOURCE_TOUCHED, QUERY_TOUCHED = "SUBJECT", "SOURCE", "QUERY"
"""Kinds of what a change touches: a subject whose schemas refer to it, a source that pins it, a source with a query."""


@dataclass(frozen=True, slots=True)
class ComparedSchema:
    """One side of a comparison. `text` is its canonical text as shown, a JSON text with a line for each value.

    `subject` is the qualified name of a version, `number` its number; a draft and a schema by its guid have neither.
    `schema_id` is -1 for a draft.
    """

    format: str
    text: str
    guid: str
    subject: str = ""
    number: int = 0
    schema_id: int = -1


@dataclass(frozen=True, slots=True)
class ChangeLevel:
    """What a level says of a change: how many findings refuse it, and the number of the first version that it fails
    against; 0 for both: it passes.
    """

    level: str
    findings: int = 0
    against: int = 0


@dataclass(frozen=True, slots=True)
class TouchedResource:
    """Somebody who uses a subject: a subject, a source or a query (`kind`), what it needs, and how far it is from the subject."""

    kind: str
    name: str
    needs: str
    depth: int = 1


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """What would happen if the new schema were registered in a subject.

    `level` and `policy` (strictness) are in force there; `findings` are the reasons of a refusal, validators' included,
    against the version `against`. `same` is the number of the live version that has this schema already, else 0. `levels`
    are the results of Confluent's seven levels with everything else unchanged. `touched` are the users of the subject that the
    caller may see, the nearest first; `hidden` counts sources that they may not see, `more` says that there are further
    ones.
    """

    subject: str
    level: str
    policy: str
    compatible: bool
    findings: tuple[Finding, ...] = ()
    against: int = 0
    same: int = 0
    levels: tuple[ChangeLevel, ...] = ()
    touched: tuple[TouchedResource, ...] = ()
    hidden: int = 0
    more: bool = False


@dataclass(frozen=True, slots=True)
class SchemasCompared:
    """Two schemas, all differences with their places, and the results of the levels on them.

    Harmful differences come first; `left_out` counts those past FINDINGS and FINDINGS_CHARACTERS. `old` is None where a
    subject has no version yet. `change` is there if the new schema was tried on a subject.
    """

    new: ComparedSchema
    old: ComparedSchema | None = None
    differences: tuple[ExplainedDifference, ...] = ()
    left_out: int = 0
    levels: tuple[LevelResult, ...] = ()
    change: ChangeResult | None = None


@dataclass(frozen=True, slots=True)
class ComparisonSide:
    """One of two schemas: a version of a subject, the schema with a guid, or a draft, whose references are resolved in the
    context of `subject` (without one: the default context).
    """

    subject: Subject | None = None
    version: Selector = LATEST
    guid: str = ""
    draft: Draft | None = None


@dataclass(frozen=True, slots=True)
class CompareVersions(Request[SchemasCompared]):
    """All differences of two schemas; nothing is written.

    With `subject` the new schema, a draft, is tried as the next version of that subject. Without `old` it is compared
    with the version that refuses it, else with the latest one.
    """

    new: ComparisonSide
    old: ComparisonSide | None = None
    subject: Subject | None = None
    normalize: bool | None = None
    """Normalize the draft first; None: as configured."""

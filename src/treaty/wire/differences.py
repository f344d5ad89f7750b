"""The bodies of `/treaty/v1/diff`: two schemas, all their differences with places, and what would come of a change.

A side is written ``subject@version`` (a number or ``latest``; without a version the latest), or as a guid.
"""

import re
from uuid import UUID

from msgspec import Struct

from treaty.core.finding import ExplainedDifference, Finding, LevelResult, TextPlace
from treaty.core.limits import COUNTER
from treaty.core.messages.differences import (
    ChangeResult,
    ComparedSchema,
    CompareVersions,
    ComparisonSide,
    SchemasCompared,
)
from treaty.core.messages.request import LATEST, NO_VERSION_ID
from treaty.core.names import subject_of
from treaty.core.refusals import Invalid, InvalidVersion
from treaty.core.schema import Draft, refuse_many_references
from treaty.wire.confluent.bodies import ReferenceBody, references_of

PATH = "/treaty/v1/diff"
_GUID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_ALLOWED = "subject@version, such as orders-value@2 or orders-value@latest, or a guid"


class SchemaTextBody(Struct, rename="camel", forbid_unknown_fields=True):
    """A schema as text, with its references."""

    schema: str
    schema_type: str = "AVRO"
    references: list[ReferenceBody | None] | None = None


class CompareBody(Struct, rename={"old": "from", "new": "to"}, forbid_unknown_fields=True):
    """Two schemas, each ``subject@version``, a guid or a text. With `subject` the new one, a text, is tried as its next
    version; `from` may then be left out.
    """

    new: str | SchemaTextBody
    old: str | SchemaTextBody | None = None
    subject: str | None = None
    normalize: bool | None = None


class TextPlaceBody(Struct):
    """A place in a text: line and column from 1, offset in characters from 0. `exact` is false for what would hold it."""

    line: int
    column: int
    offset: int
    exact: bool


class DifferenceBody(Struct, rename={"old_place": "from", "new_place": "to", "sent_place": "sent"}):
    """A difference: its rule, where it is, its harm (backward, forward, both, none), the parts of both sides, the remedy.

    `reader` says into which text `path` leads (new, old). `from` and `to` are places in the texts of the answer, `sent`
    one in the new text as it was sent; null: none. `policy` is the only compatibility policy with this finding, else empty.
    """

    rule: str
    harm: str
    sentence: str
    path: str
    reader: str
    detail: str
    old: str
    new: str
    remedy: str
    policy: str
    old_place: TextPlaceBody | None = None
    new_place: TextPlaceBody | None = None
    sent_place: TextPlaceBody | None = None


class SideBody(Struct, rename="camel"):
    """A schema that was compared; `text` is its canonical text as shown. A text that was sent has no subject, version or id."""

    schema_type: str
    guid: str
    text: str
    subject: str | None = None
    version: int | None = None
    id: int | None = None


class LevelBody(Struct):
    """Whether a level lets the change pass under a compatibility policy, and how many findings refuse it."""

    level: str
    policy: str
    compatible: bool
    findings: int


class ChangeLevelBody(Struct):
    """Whether a level of the subject would let the change pass; `against` is the version that it fails against, else null."""

    level: str
    compatible: bool
    findings: int
    against: int | None = None


class ReasonBody(Struct):
    """Why the policy in force refuses the change."""

    rule: str
    path: str
    sentence: str
    detail: str
    old: str
    new: str
    remedy: str


class TouchedBody(Struct):
    """Who uses the subject: SUBJECT, SOURCE or QUERY, its name, what it needs, and how far it is."""

    kind: str
    name: str
    needs: str
    depth: int


class ChangeResultBody(Struct):
    """What would come of a change of a subject. `level` and `policy` are in force; `allowed` are the levels that would let it pass.

    `same` is the version that has this schema already. `hidden` counts sources that the caller may not see; `more`: there
    are further users.
    """

    subject: str
    level: str
    policy: str
    compatible: bool
    reasons: list[ReasonBody]
    levels: list[ChangeLevelBody]
    allowed: list[str]
    touched: list[TouchedBody]
    hidden: int
    more: bool
    against: int | None = None
    same: int | None = None


class ComparedBody(Struct, rename={"old": "from", "new": "to", "left_out": "leftOut"}):
    """Two schemas and their differences, harmful ones first; `from` is null where the subject has no version yet."""

    old: SideBody | None
    new: SideBody
    equal: bool
    differences: list[DifferenceBody]
    left_out: int
    levels: list[LevelBody]
    change: ChangeResultBody | None = None


# --------------------------------------------------------------------------------------------------------- requests


def side_of(text: str, path: str = "") -> ComparisonSide:
    """Read a side. Raises `Invalid` for an empty one, `InvalidVersion` for what is no version."""
    word = text.strip()
    if _GUID.fullmatch(word.lower()):
        return ComparisonSide(guid=str(UUID(word)))
    name, mark, version = word.rpartition("@")
    if not mark:
        name, version = word, "latest"
    if not name:
        raise Invalid.of("SIDE", f"{text[:100]!r} names no schema", path=path, new=text[:100], allowed=_ALLOWED)
    if version in {"latest", str(LATEST)}:
        return ComparisonSide(subject_of(name))
    if not (version.isascii() and version.isdecimal() and len(version) <= 10 and 0 < int(version) <= COUNTER):
        message = NO_VERSION_ID.format(version=version[:100])
        raise InvalidVersion.of("VERSION_ID", message, path=path, version=version[:100], allowed=_ALLOWED)
    return ComparisonSide(subject_of(name), int(version))


def as_side(schema: str | Draft) -> ComparisonSide:
    """Return an argument as a side: a draft, or what `side_of` reads."""
    return side_of(schema) if isinstance(schema, str) else ComparisonSide(draft=schema)


def side_text(side: ComparisonSide) -> str:
    """Print a version or a guid."""
    if side.guid:
        return side.guid
    return f"{side.subject}@{'latest' if side.version == LATEST else side.version}"


def compare_request(body: CompareBody) -> CompareVersions:
    """Read a body. Raises `Invalid`."""
    return CompareVersions(
        _side(body.new, "/to"),
        None if body.old is None else _side(body.old, "/from"),
        None if body.subject is None else subject_of(body.subject),
        body.normalize,
    )


def _side(body: str | SchemaTextBody, path: str) -> ComparisonSide:
    if isinstance(body, str):
        return side_of(body, path)
    refuse_many_references(len(body.references or ()))
    return ComparisonSide(draft=Draft(body.schema, body.schema_type, references_of(body.references)))


# ---------------------------------------------------------------------------------------------------------- answers


def compared_body(compared: SchemasCompared) -> ComparedBody:
    """Print an answer."""
    old, new = compared.old, compared.new
    return ComparedBody(
        new=_side_body(new),
        old=None if old is None else _side_body(old),
        equal=not compared.differences and old is not None and old.text == new.text,
        differences=[difference_body(each) for each in compared.differences],
        left_out=compared.left_out,
        levels=[_level_body(each) for each in compared.levels],
        change=None if compared.change is None else change_body(compared.change),
    )


def _side_body(side: ComparedSchema) -> SideBody:
    return SideBody(
        side.format,
        side.guid,
        side.text,
        side.subject or None,
        side.number or None,
        None if side.schema_id < 0 else side.schema_id,
    )


def difference_body(difference: ExplainedDifference) -> DifferenceBody:
    """Print a difference."""
    return DifferenceBody(
        rule=difference.rule,
        harm=difference.harm,
        sentence=difference.sentence,
        path=difference.path,
        reader=difference.reader,
        detail=difference.detail,
        old=difference.old,
        new=difference.new,
        remedy=difference.remedy,
        policy=difference.policy,
        old_place=_place_body(difference.old_place),
        new_place=_place_body(difference.new_place),
        sent_place=_place_body(difference.sent_place),
    )


def _place_body(place: TextPlace | None) -> TextPlaceBody | None:
    return None if place is None else TextPlaceBody(place.line, place.column, place.offset, place.exact)


def _level_body(result: LevelResult) -> LevelBody:
    return LevelBody(result.level, result.policy, not result.findings, result.findings)


def change_body(change: ChangeResult) -> ChangeResultBody:
    """Print what would come of a change."""
    return ChangeResultBody(
        subject=change.subject,
        level=change.level,
        policy=change.policy,
        compatible=change.compatible,
        reasons=[_reason_body(finding) for finding in change.findings],
        levels=[
            ChangeLevelBody(
                change_level.level, not change_level.findings, change_level.findings, change_level.against or None
            )
            for change_level in change.levels
        ],
        allowed=[change_level.level for change_level in change.levels if not change_level.findings],
        touched=[TouchedBody(entity.kind, entity.name, entity.needs, entity.depth) for entity in change.touched],
        hidden=change.hidden,
        more=change.more,
        against=change.against or None,
        same=change.same or None,
    )


def _reason_body(finding: Finding) -> ReasonBody:
    sentence = finding.message(reader="reading", writer="writing")
    facts = (finding.detail, finding.writer, finding.reader, finding.remedy)
    return ReasonBody(finding.rule, finding.path or "/", sentence, *facts)

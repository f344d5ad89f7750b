"""SchemaVer labels ``MODEL-REVISION-ADDITION``: their form, their order, and which may follow which."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from treaty.core.handlers.versions import StoredVersion, newest_first
from treaty.core.iglu_key import IgluKeyError, SchemaVer
from treaty.core.limits import COUNTER
from treaty.core.messages.schemaver import SCHEMAVER
from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.refusals import InvalidSubject, InvalidVersion
from treaty.core.state.state_tables import NAME_BY_VERSION, VersionKey
from treaty.core.state.view import View

_NAME = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_-]+/[A-Za-z0-9_-]+", re.ASCII)


FIRST = SchemaVer(1, 0, 0)


class IgluName(NamedTuple):
    """The parts of the name of a subject of Iglu."""

    vendor: str
    name: str
    format: str


def kind_of(label: SchemaVer) -> str:
    """Return what a label says of the change: MODEL, REVISION or ADDITION."""
    if label.addition:
        return "ADDITION"
    return "REVISION" if label.revision else "MODEL"


def find_label(text: str) -> SchemaVer | None:
    """Return the label that a text is; None where it is none."""
    try:
        return SchemaVer.parse(text)
    except IgluKeyError:
        return None


def parse_label(text: str, subject: Subject, path: str = "/label") -> SchemaVer:
    """Return the label that a text is. Raises `InvalidVersion`."""
    label = find_label(text)
    if label is None:
        raise InvalidVersion.of(
            "LABEL_INVALID",
            f"'{text[:100]}' is no label of SchemaVer",
            path=path,
            subject=str(subject),
            version=text[:100],
            new=text[:100],
            allowed=f"MODEL-REVISION-ADDITION, whole numbers up to {COUNTER} without leading zeros, the first one from 1 on",
        )
    return label


def iglu_name(subject: Subject) -> IgluName | None:
    """Return the parts of a subject's name; None for a subject that Iglu has no name for."""
    if subject.context != DEFAULT_CONTEXT or not _NAME.fullmatch(subject.name):
        return None
    return IgluName(*subject.name.split("/"))


def parse_name(subject: Subject) -> IgluName:
    """Return the parts of a subject's name. Raises `InvalidSubject`."""
    parts = iglu_name(subject)
    if parts is None:
        raise InvalidSubject.of(
            "SUBJECT_NOT_IGLU",
            f"'{subject}' is no name of a schema of Iglu",
            path="/subject",
            subject=str(subject),
            new=str(subject)[:100],
            allowed="vendor/name/format in the default context: letters, digits, _ and -, in the vendor dots too",
        )
    return parts


# ---------------------------------------------------------------------------------------------------- labels in force


def label_of(view: View, key: VersionKey) -> SchemaVer | None:
    """Return the label of a version; None where it has none."""
    names = (name_key.name for name_key in view.find(NAME_BY_VERSION, key) if name_key.scheme == SCHEMAVER)
    return next((label for label in map(find_label, names) if label is not None), None)


def live_labels(view: View, subject: Subject) -> dict[SchemaVer, StoredVersion]:
    """Return the live versions of a subject that have a label, by label."""
    labelled = ((label_of(view, stored[0]), stored) for stored in newest_first(view, subject))
    return dict(sorted((label, stored) for label, stored in labelled if label is not None))


# ---------------------------------------------------------------------------------------------------- what may follow


def gap_before(label: SchemaVer, labels: Iterable[SchemaVer]) -> str:
    """Return which label or kind of label is missing before one; empty where none is (Iglu Server's rules).

    1-0-0 needs nothing, another first of a model the model before it, the first of a revision the revision before it, an
    ADDITION the ADDITION before it.
    """
    if label == FIRST:
        return ""
    if kind_of(label) == "MODEL":
        has_model_before = any(live.model == label.model - 1 for live in labels)
        return "" if has_model_before else f"a version of model {label.model - 1}"
    if kind_of(label) == "REVISION":
        before = (label.model, label.revision - 1)
        has_revision_before = any((live.model, live.revision) == before for live in labels)
        return "" if has_revision_before else f"a version {before[0]}-{before[1]}-0"
    preceding = replace(label, addition=label.addition - 1)
    return "" if preceding in labels else f"the version {preceding}"


def overtaken_by(label: SchemaVer, labels: Iterable[SchemaVer]) -> SchemaVer | None:
    """Return a version of the next revision, after which an ADDITION to its own one comes too late; None where none is."""
    if kind_of(label) != "ADDITION":
        return None
    revision = (label.model, label.revision + 1)
    return min((live for live in labels if (live.model, live.revision) == revision), default=None)


def next_labels(labels: Mapping[SchemaVer, StoredVersion], model: int) -> tuple[SchemaVer, SchemaVer, SchemaVer]:
    """Return the next ADDITION and REVISION of a model that has versions, and the next MODEL of all."""
    last = max(label for label in labels if label.model == model)
    return (
        replace(last, addition=last.addition + 1),
        SchemaVer(model, last.revision + 1, 0),
        SchemaVer(max(label.model for label in labels) + 1, 0, 0),
    )

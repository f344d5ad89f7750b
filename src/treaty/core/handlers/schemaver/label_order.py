"""Admission of labels: which label a registration says, and whether it follows from those that are there."""

from collections.abc import Mapping

from treaty.core.finding import Finding
from treaty.core.handlers.schemaver.labels import (
    FIRST,
    find_label,
    gap_before,
    iglu_name,
    label_of,
    next_labels,
    overtaken_by,
    parse_label,
)
from treaty.core.handlers.schemaver.texts import describes, said_label
from treaty.core.handlers.versions import StoredVersion
from treaty.core.iglu_key import SchemaVer
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.schemaver import SCHEMAVER
from treaty.core.names import Subject
from treaty.core.refusals import Invalid, InvalidSchema, LabelRefused
from treaty.core.state.values import SubjectValue
from treaty.core.state.view import View


def _has_labels(request: Register, home: SubjectValue | SubjectCreation) -> bool:
    """Return whether the versions of a registration's subject have labels. Raises `Invalid` for a label in any other."""
    if home.order == SCHEMAVER:
        return True
    if SCHEMAVER in dict(request.names):
        raise Invalid.of(
            "NAME_COMPUTED",
            f"Versions of subject '{request.subject}' have no labels of SchemaVer",
            path="/names",
            subject=str(request.subject),
            old=home.order,
            new=dict(request.names)[SCHEMAVER][:100],
            allowed="a subject that was created with the order schemaver, or a name of another scheme",
        )
    return False


def label_of_draft(request: Register, home: SubjectValue | SubjectCreation, text: str) -> SchemaVer | None:
    """Return the label that a registration gives, or that `self` of its text says; None in a subject without labels. `home` is
    the row of the subject, or what it is created with.

    Raises `InvalidSchema` where neither says a label of this subject, or both say another.
    """
    if not _has_labels(request, home):
        return None
    subject, named = request.subject, dict(request.names).get(SCHEMAVER)
    name = iglu_name(subject)
    if name is None or not describes(name):
        if named is None:
            raise _no_label(subject, "", "a name of the scheme schemaver beside the schema")
        return parse_label(named, subject, "/names")
    described = said_label(text, name)
    label = None if described is None else find_label(described)
    if label is None or (named is not None and named != described):
        members = {**name._asdict(), "version": named or "MODEL-REVISION-ADDITION"}
        raise _no_label(subject, described or "", f"self in the text: {members}")
    return label


def _no_label(subject: Subject, described: str, allowed: str) -> InvalidSchema:
    return InvalidSchema.of(
        "SELF_DIFFERS",
        f"Invalid schema, details: it does not say which version of {subject} it is",
        path="/self",
        subject=str(subject),
        new=described[:100],
        allowed=allowed,
    )


def is_same_label(view: View, request: Register, stored: StoredVersion) -> bool:
    """Return whether a version that is there has the label that a registration gives, if it gives one."""
    label = dict(request.names).get(SCHEMAVER)
    return label is None or str(label_of(view, stored[0])) == label


# -------------------------------------------------------------------------------------------------------- refusals


def label_exists(subject: Subject, label: SchemaVer, live: Mapping[SchemaVer, StoredVersion]) -> LabelRefused:
    """Return the refusal of a label that a live version has."""
    return LabelRefused.of(
        "LABEL_EXISTS",
        f"Version {label} of {subject} exists",
        path="/label",
        subject=str(subject),
        version=str(label),
        old=f"ordinal {live[label][0].ordinal}",
        new=str(label),
        allowed=_allowed_labels(label, live),
    )


def check_order(
    subject: Subject, label: SchemaVer, live: Mapping[SchemaVer, StoredVersion], *, importing: bool
) -> tuple[Finding, ...]:
    """Raise `LabelRefused` for a label that exists, leaves a gap or comes too late; in mode IMPORT the last two are findings."""
    if label in live:
        raise label_exists(subject, label, live)
    problems = []
    missing, later = gap_before(label, live), overtaken_by(label, live)
    if missing:
        sentence = f"Version {label} of {subject} needs {missing} before it"
        problems.append(("LABEL_PRECEDING_MISSING", sentence, missing))
    if later is not None:
        sentence = f"Version {label} of {subject} comes after {later}, which is of the next revision"
        problems.append(("LABEL_NOT_SEQUENTIAL", sentence, str(later)))
    allowed = _allowed_labels(label, live)
    if problems and not importing:
        rule, sentence, old = problems[0]
        raise LabelRefused.of(
            rule,
            sentence,
            path="/label",
            subject=str(subject),
            version=str(label),
            old=old,
            new=str(label),
            allowed=allowed,
        )
    return tuple(
        Finding(rule, "", sentence, writer=old, reader=str(label), remedy=f"one of the labels {allowed}")
        for rule, sentence, old in problems
    )


def _allowed_labels(label: SchemaVer, live: Mapping[SchemaVer, StoredVersion]) -> str:
    if not live:
        return str(FIRST)
    models = {label.model for label in live}
    return ", ".join(map(str, next_labels(live, label.model if label.model in models else max(models))))

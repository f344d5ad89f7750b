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
from treaty.core.handlers.versions import Kept
from treaty.core.iglu_key import SchemaVer
from treaty.core.messages.schemaver import SCHEMAVER
from treaty.core.names import Subject
from treaty.core.refusals import Invalid, InvalidSchema, LabelRefused
from treaty.core.requests import Register
from treaty.core.state.state_tables import SUBJECT
from treaty.core.state.view import View


def has_labels(view: View, request: Register) -> bool:
    """Return whether the versions of a registration's subject have labels. Raises `Invalid` for a label in any other."""
    there = view.get(SUBJECT, request.subject) or request.create_with
    if there.order == SCHEMAVER:
        return True
    if SCHEMAVER in dict(request.names):
        raise Invalid.of(
            "NAME_COMPUTED",
            f"Versions of subject '{request.subject}' have no labels of SchemaVer",
            path="/names",
            subject=str(request.subject),
            old=there.order,
            new=dict(request.names)[SCHEMAVER][:100],
            allowed="a subject that was created with the order schemaver, or a name of another scheme",
        )
    return False


def label_of_draft(view: View, request: Register, text: str) -> SchemaVer | None:
    """Return the label that a registration gives, or that `self` of its text says; None in a subject without labels.

    Raises `InvalidSchema` where neither says a label of this subject, or both say another.
    """
    if not has_labels(view, request):
        return None
    subject, given = request.subject, dict(request.names).get(SCHEMAVER)
    name = iglu_name(subject)
    if name is None or not describes(name):
        if given is None:
            raise _no_label(subject, "", "a name of the scheme schemaver beside the schema")
        return parse_label(given, subject, "/names")
    said = said_label(text, name)
    label = None if said is None else find_label(said)
    if label is None or (given is not None and given != said):
        wanted = {**name._asdict(), "version": given or "MODEL-REVISION-ADDITION"}
        raise _no_label(subject, said or "", f"self in the text: {wanted}")
    return label


def _no_label(subject: Subject, said: str, allowed: str) -> InvalidSchema:
    return InvalidSchema.of(
        "SELF_DIFFERS",
        f"Invalid schema, details: it does not say which version of {subject} it is",
        path="/self",
        subject=str(subject),
        new=said[:100],
        allowed=allowed,
    )


def is_same_label(view: View, request: Register, there: Kept) -> bool:
    """Return whether a version that is there has the label that a registration gives, if it gives one."""
    given = dict(request.names).get(SCHEMAVER)
    return given is None or str(label_of(view, there[0])) == given


# -------------------------------------------------------------------------------------------------------- refusals


def label_exists(subject: Subject, label: SchemaVer, there: Mapping[SchemaVer, Kept]) -> LabelRefused:
    """Return the refusal of a label that a live version has."""
    return LabelRefused.of(
        "LABEL_EXISTS",
        f"Version {label} of {subject} exists",
        path="/label",
        subject=str(subject),
        version=str(label),
        old=f"ordinal {there[label][0].ordinal}",
        new=str(label),
        allowed=_allowed_labels(label, there),
    )


def check_order(
    subject: Subject, label: SchemaVer, there: Mapping[SchemaVer, Kept], *, importing: bool
) -> tuple[Finding, ...]:
    """Raise `LabelRefused` for a label that exists, leaves a gap or comes too late; in mode IMPORT the last two are findings."""
    if label in there:
        raise label_exists(subject, label, there)
    found = []
    missing, later = gap_before(label, there), overtaken_by(label, there)
    if missing:
        sentence = f"Version {label} of {subject} needs {missing} before it"
        found.append(("LABEL_PRECEDING_MISSING", sentence, missing))
    if later is not None:
        sentence = f"Version {label} of {subject} comes after {later}, which is of the next revision"
        found.append(("LABEL_NOT_SEQUENTIAL", sentence, str(later)))
    allowed = _allowed_labels(label, there)
    if found and not importing:
        rule, sentence, old = found[0]
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
        for rule, sentence, old in found
    )


def _allowed_labels(label: SchemaVer, there: Mapping[SchemaVer, Kept]) -> str:
    if not there:
        return str(FIRST)
    models = {one.model for one in there}
    return ", ".join(map(str, next_labels(there, label.model if label.model in models else max(models))))

"""Superseding: a version replaces earlier ones for readers. Chains are flattened: every row leads to the last of its chain."""

from collections.abc import Iterable, Mapping

from treaty.core.handlers.schemaver.labels import label_of
from treaty.core.handlers.versions import StoredVersion
from treaty.core.iglu_key import SchemaVer
from treaty.core.names import Subject
from treaty.core.refusals import LabelRefused
from treaty.core.state.rows import Row, make_row
from treaty.core.state.schemaver_tables import SUPERSEDED, SUPERSEDED_BY, SupersededKey
from treaty.core.state.state_tables import VERSION, VersionKey
from treaty.core.state.values import SupersededVersion
from treaty.core.state.view import View


def refuse_bad_targets(
    subject: Subject, label: SchemaVer, targets: Iterable[SchemaVer], live: Mapping[SchemaVer, StoredVersion]
) -> None:
    """Raise `LabelRefused` where a version would supersede one that is missing, or a later one."""
    for target in targets:
        if target > label:
            raise LabelRefused.of(
                "SUPERSEDED_HIGHER",
                f"Version {label} of {subject} can't supersede {target}, which is later",
                path="/supersedes",
                subject=str(subject),
                version=str(label),
                new=str(target),
                allowed=f"labels up to {label}",
            )
        if target != label and target not in live:
            raise LabelRefused.of(
                "SUPERSEDED_MISSING",
                f"Version {label} of {subject} can't supersede {target}, which does not exist",
                path="/supersedes",
                subject=str(subject),
                version=str(label),
                new=str(target),
                allowed=", ".join(map(str, [*live][-10:])) or "none; it is the first version",
            )


def superseding_rows(
    view: View, key: VersionKey, label: SchemaVer, targets: Iterable[SchemaVer], live: Mapping[SchemaVer, StoredVersion]
) -> tuple[tuple[Row, ...], tuple[SchemaVer, ...]]:
    """Return the rows with which a new version supersedes others and what they supersede, and the labels of all those.

    A version that a later one supersedes stays with that one.
    """
    chosen = {live[target][0].ordinal for target in targets if target != label}
    chosen |= {superseded.ordinal for target in chosen for superseded in view.find(SUPERSEDED_BY, (*key[:3], target))}
    rows: list[Row] = []
    labels: list[SchemaVer] = []
    for ordinal in sorted(chosen):
        place = SupersededKey(*key[:3], ordinal)
        before = superseding_label(view, VersionKey(*place))
        if before is None or before <= label:
            rows.append(make_row(SUPERSEDED, place, SupersededVersion(key.ordinal)))
            own = label_of(view, VersionKey(*place))
            labels += [] if own is None else [own]
    return tuple(rows), tuple(sorted(labels))


def superseding_label(view: View, key: VersionKey) -> SchemaVer | None:
    """Return the label of the live version that supersedes one; None where none does."""
    value = view.get(SUPERSEDED, SupersededKey(*key))
    if value is None:
        return None
    by = key._replace(ordinal=value.ordinal)
    version = view.get(VERSION, by)
    return label_of(view, by) if version is not None and version.state == "live" else None


def superseded_labels(view: View, key: VersionKey) -> tuple[SchemaVer, ...]:
    """Return the labels of the live versions that one supersedes, ascending."""
    places = (VersionKey(*entry) for entry in view.find(SUPERSEDED_BY, key))
    live = (place for place in places if (version := view.get(VERSION, place)) is not None and version.state == "live")
    return tuple(sorted(label for label in (label_of(view, place) for place in live) if label is not None))

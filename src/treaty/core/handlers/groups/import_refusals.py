"""What imports refuse, whatever is in them: numbers of versions that are far away or taken (ids: `schema_ids`), words that there are not, and a mode that forbids."""

from treaty.core import limits
from treaty.core.handlers.drafts.schemas import ParsedDraft
from treaty.core.handlers.drafts.versions import has_schema
from treaty.core.handlers.settings import IMPORTING, mode_in_force
from treaty.core.handlers.versions import StoredVersion, version_with_number
from treaty.core.messages.groups import ANY_FORMAT
from treaty.core.messages.settings import Scope
from treaty.core.messages.transfers import ImportVersion
from treaty.core.names import Subject
from treaty.core.refusals import InvalidSchema, InvalidVersion, NotPermitted, TooLarge
from treaty.core.state.state_tables import COUNTER, CounterKey
from treaty.core.state.view import View

STATES = ("live", "soft", "hidden")
"""States that a version may be imported with."""


def highest_of(view: View, key: CounterKey) -> int:
    """Return the highest number that a counter gave; -1 where it gave none."""
    counter = view.get(COUNTER, key)
    return -1 if counter is None else counter.highest


def refuse_far(subject: Subject, kind: str, highest: int, number: int, path: str) -> None:
    """Raise `TooLarge` for a number that no counter reaches, or one far above those that were given; `path` is where the request has it."""
    if number > limits.COUNTER:
        raise TooLarge.of(
            "COUNTER", f"counter {kind}: {number}", path=path, new=str(number), allowed=f"at most {limits.COUNTER}"
        )
    if number > highest + limits.ID_GAP:
        raise TooLarge.of(
            "ID_GAP",
            f"number {number} of counter {kind} lies more than {limits.ID_GAP} above {highest}, the highest one of subject "
            f"'{subject}'",
            path=path,
            subject=str(subject),
            old=str(highest),
            new=str(number),
            allowed=f"at most {highest + limits.ID_GAP}",
        )


def refuse_unless_importing(view: View, subject: Subject) -> None:
    """Raise `NotPermitted` for a subject that is not in mode IMPORT."""
    mode = mode_in_force(view, Scope(*subject))
    if mode not in IMPORTING:
        raise NotPermitted.of(
            "MODE",
            f"Subject {subject} in context {subject.context} is not in import mode",
            subject=str(subject),
            old=mode,
            allowed="set the mode of the context to IMPORT first",
        )


def refuse_bad_place(request: ImportVersion) -> None:
    """Raise `InvalidVersion` for numbers and states that no version has."""
    members = (
        ("ordinal", request.ordinal, 0, limits.COUNTER),
        ("number", request.number, 1, limits.COUNTER),
        ("schema_id", request.schema_id, -1, limits.COUNTER),
        ("type_version", request.type_version, -1, limits.COUNTER),
        ("time", request.time, 0, None),
        ("revision", request.revision, 0, limits.COUNTER),
        ("revision_of", request.revision_of, -1, limits.COUNTER),
        ("superseded_by", request.superseded_by, -1, limits.COUNTER),
    )
    for name, value, low, high in members:
        if value < low or (high is not None and value > high):
            raise InvalidVersion.of(
                "IMPORT_NUMBER",
                f"No version has the {name} {value}",
                path=f"/{name}",
                subject=str(request.subject),
                new=str(value),
                allowed=f"{low} or more" if high is None else f"{low} to {high}",
            )
    if request.state not in STATES:
        raise InvalidVersion.of(
            "IMPORT_STATE",
            f"No version is imported as '{request.state[:100]}'",
            path="/state",
            subject=str(request.subject),
            new=request.state[:100],
            allowed=", ".join(STATES),
        )


def refuse_any_format(request: ImportVersion) -> None:
    """Raise `InvalidSchema` for a format that the registry would have to find: a version elsewhere has one."""
    if request.draft.format == ANY_FORMAT:
        raise InvalidSchema.of(
            "FORMAT_UNKNOWN",
            "A version is imported with the format that it has",
            path="/schemaType",
            subject=str(request.subject),
            new=ANY_FORMAT,
            allowed="the name of a format, such as AVRO",
        )


def refuse_other_version(view: View, request: ImportVersion, stored: StoredVersion, new: ParsedDraft) -> None:
    """Raise `NotPermitted` where another version has the ordinal of the one that is imported."""
    version = stored[1]
    same = (version.number, version.format, version.type_name) == (request.number, new.draft.format, new.type_name)
    same = same and request.schema_id in {-1, version.schema_id} and request.type_version in {-1, version.type_version}
    if not same or version.content != new.content or not has_schema(view, stored, new):
        raise NotPermitted.of(
            "ORDINAL_TAKEN",
            f"Subject '{request.subject}' has another version with the ordinal {request.ordinal}",
            path="/ordinal",
            subject=str(request.subject),
            old=f"version {version.number}, id {version.schema_id}",
            new=f"version {request.number}",
            allowed="an ordinal that is free, or the version that has this one",
        )


def refuse_far_time(request: ImportVersion, now: int) -> None:
    """Raise `NotPermitted` for a time of registration in the future."""
    if request.time > now + limits.TIME_AHEAD:
        raise NotPermitted.of(
            "TIME_AHEAD",
            f"The time of registration {request.time} lies in the future",
            path="/time",
            subject=str(request.subject),
            new=str(request.time),
            allowed=f"at most {now + limits.TIME_AHEAD}",
        )


def refuse_taken_number(view: View, request: ImportVersion) -> None:
    """Raise `NotPermitted` where another version has the number of the one that is imported."""
    stored = None
    if request.state != "hidden":
        stored = version_with_number(view, request.subject, request.number, "all")
    if stored is not None:
        raise NotPermitted.of(
            "NUMBER_TAKEN",
            f"Subject '{request.subject}' has another version with the number {request.number}",
            path="/number",
            subject=str(request.subject),
            old=f"ordinal {stored[0].ordinal}",
            new=f"ordinal {request.ordinal}",
            allowed="a number that is free",
        )

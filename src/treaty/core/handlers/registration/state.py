"""What is known of a registration while it is decided, and what refuses it before its schema is read."""

from collections.abc import Iterable
from dataclasses import dataclass

from treaty.core.access.private_subjects import is_private
from treaty.core.command import Command
from treaty.core.handlers.drafts.schemas import VersionRules, policy_for, version_rules
from treaty.core.handlers.settings import IMPORTING, config_in_force, mode_in_force
from treaty.core.handlers.uses import CONFLUENT
from treaty.core.handlers.versions import StoredVersion, latest_version, schema_row
from treaty.core.limits import TIME_AHEAD
from treaty.core.messages.registration import Register, SubjectCreation
from treaty.core.messages.settings import Config, Scope
from treaty.core.refusals import NotLatest, NotPermitted
from treaty.core.state.values import ConfigValue, PolicyValue, Schema, StoredReference, SubjectValue
from treaty.core.state.view import View

NEXT = -1
"""The number of a version that takes the next one, and is to say so in its metadata."""


@dataclass(frozen=True, slots=True)
class RegistrationState:
    """What is known of a registration while it is decided."""

    request: Register
    home: SubjectValue | SubjectCreation
    """The row of the subject, or what it is to be created with."""
    config: Config
    mode: str
    importing: bool
    """Whether the sender says ids and numbers."""
    policy: PolicyValue
    latest: StoredVersion | None
    """The latest live version."""
    last: Schema | None
    """The schema of the latest live version."""
    rules: VersionRules
    """What the subject says of its versions."""
    new_config: ConfigValue | None = None
    """The config row that the subject is made with."""

    @property
    def normalize(self) -> bool:
        """Whether texts are normalised."""
        return bool(self.request.normalize) or bool(self.config.normalize)


def case_of(
    view: View, request: Register, row: SubjectValue | None, new_config: ConfigValue | None = None
) -> RegistrationState:
    """Return what is known of a registration; `row` is that of its subject, `new_config` the config row that the subject
    is made with.
    """
    scope, home = Scope(*request.subject), row or request.create_with
    config = config_in_force(view, scope, new_config)
    rules = version_rules(view, request.subject, home)
    latest = latest_version(view, request.subject)
    mode = mode_in_force(view, scope)
    return RegistrationState(
        request,
        home,
        config,
        mode,
        mode in IMPORTING,
        policy_for(config, rules),
        latest,
        schema_row(view, request.subject.context, latest[1].schema_id) if latest else None,
        rules,
        new_config,
    )


def may_be_opaque(request: Register, row: SubjectValue | None) -> bool:
    """Return whether a format without a plug-in is taken: in a registration by another API than Confluent's.

    Such a registration names its origin in `create_with`, or requires a subject that another API has created, whose row is `row`.
    """
    required = row if request.require_subject else None
    return request.create_with.origin != CONFLUENT or (required is not None and required.origin != CONFLUENT)


def refuse_unexpected(case: RegistrationState) -> None:
    """The sender says what the latest version was when it made up its mind; if it is another, nothing happens."""
    expected = case.request.expected
    if expected is None:
        return
    actual = -1
    if case.latest is not None:
        key, version = case.latest
        actual = {"number": version.number, "ordinal": key.ordinal, "schema_id": version.schema_id}[expected.by]
    if actual != expected.value:
        raise NotLatest.of(
            "EXPECTED_LATEST",
            f"The latest version of subject '{case.request.subject}' is not the expected one",
            subject=str(case.request.subject),
            old=f"{expected.by} {actual}",
            new=f"{expected.by} {expected.value}",
            allowed="read the latest version and decide again",
        )


def refuse_private_targets(view: View, case: RegistrationState, references: Iterable[StoredReference]) -> None:
    """Raise `NotPermitted` where a schema that everybody may read would refer to a private one, and so name it."""
    subject = case.request.subject
    for reference in () if case.home.private else references:
        target = subject.sibling(reference.subject)
        if is_private(view, target):
            raise NotPermitted.of(
                "REFERENCE_PRIVATE",
                f"Subject '{subject}' is public and cannot refer to the private subject '{target}'",
                path=f"/references/{reference.name}",
                subject=str(subject),
                old="private",
                new=f"{target} version {reference.version}",
                allowed="a public subject; or a private subject for the schema that refers to it",
            )


def refuse_far_time(case: RegistrationState, command: Command[Register]) -> None:
    """Only who imports says when a version was registered, and it lies in the past, as far as clocks agree."""
    time = case.request.time
    if time < 0:
        return
    if not case.importing:
        raise NotPermitted.of(
            "TIME_NOT_IMPORTED",
            f"Subject {case.request.subject} is not in import mode, so the time of registration is now",
            path="time",
            subject=str(case.request.subject),
            old=case.mode,
            new=str(time),
            allowed="leave the time out, or set the mode to IMPORT first",
        )
    if time > command.time + TIME_AHEAD:
        raise NotPermitted.of(
            "TIME_AHEAD",
            f"The time of registration {time} lies in the future",
            path="time",
            subject=str(case.request.subject),
            new=str(time),
            allowed=f"at most {command.time + TIME_AHEAD}",
        )


def refuse_by_mode(case: RegistrationState) -> None:
    """Raise `NotPermitted` where the mode in force forbids this registration."""
    subject, mode = case.request.subject, case.mode
    if mode.startswith("READONLY"):
        standing, allowed = "in read-only mode", "set the mode to READWRITE first"
    elif case.request.schema_id >= 0 and not case.importing:
        standing, allowed = "not in import mode", "leave the id out, or set the mode to IMPORT first"
    elif case.request.schema_id < 0 and case.importing:
        standing, allowed = "not in read-write mode", "give the id, or set the mode to READWRITE first"
    else:
        return
    text = f"Subject {subject} in context {subject.context} is {standing}"
    raise NotPermitted.of("MODE", text, subject=str(subject), old=mode, allowed=allowed)

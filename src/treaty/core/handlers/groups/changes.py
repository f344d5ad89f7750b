"""The life of a subject apart from its versions: it is created, changed and removed.

What is wrong in any state is refused first. Then comes whether the subject is there, then the level that a change
expects, then who uses what a removal takes, and the mode last.
"""

from dataclasses import replace
from itertools import chain, islice

from treaty.core.access.private_subjects import may_read
from treaty.core.access.rights import Access
from treaty.core.command import Command, Decision
from treaty.core.handlers.contexts import refuse_bad_subject, refuse_invisible_name
from treaty.core.handlers.deletion import whole_subject
from treaty.core.handlers.drafts.names import packages_of
from treaty.core.handlers.groups.properties import (
    refuse_bad_label_policy,
    refuse_bad_properties,
    refuse_bad_settings,
    refuse_format_in_use,
)
from treaty.core.handlers.groups.queries import describe_group, level_in_force, subject_row
from treaty.core.handlers.policies import changed_config, created_config, refuse_bad_creation, refuse_bad_policy
from treaty.core.handlers.schema_ids import make_home, own_config_rows
from treaty.core.handlers.settings import IMPORTING, config_row, mode_in_force, own_value, refuse_if_readonly
from treaty.core.handlers.uses import GoingRows, refuse_if_pinned, refuse_if_used, users_of
from treaty.core.handlers.versions import stored_versions, subject_of_key
from treaty.core.limits import USERS_NAMED
from treaty.core.messages.groups import ChangeSubject, CreateSubject, GroupCreated, GroupRemoved, RemoveSubject
from treaty.core.messages.registration import SubjectCreation
from treaty.core.messages.settings import Config, Scope
from treaty.core.names import Subject
from treaty.core.policy import in_words
from treaty.core.refusals import PreviousLevelDiffers, Referenced
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.rows import make_row
from treaty.core.state.state_tables import SUBJECT, VERSION, VersionKey
from treaty.core.state.values import SubjectValue
from treaty.core.state.view import View

POLICY = "/settings/policy"
"""Where a creation says which policy the subject is created with."""


def create_subject(view: View, command: Command[CreateSubject], engine: SchemaEngine) -> Decision[GroupCreated]:
    """Create a subject without versions; one that is there keeps its settings."""
    subject, settings = command.request.subject, command.request.settings
    refuse_bad_subject(subject)
    refuse_bad_settings(settings, engine)
    refuse_bad_label_policy(subject, command.request.label_policy)
    if settings.policy is not None:
        refuse_bad_creation(view, settings.policy, engine, POLICY)
    existing = view.get(SUBJECT, subject)
    if existing is not None:
        return Decision((), GroupCreated(describe_group(view, subject, existing, None), created=False))
    refuse_invisible_name(view, subject, imported=mode_in_force(view, Scope(*subject)) in IMPORTING)
    config = created_config(view, subject, settings.policy, engine, POLICY)
    refuse_if_readonly(view, Scope(*subject))
    request, packages = command.request, packages_of(settings.schemes, engine)
    home, _ = make_home(view, subject, _creation(request), packages, request.label_policy)
    new_value = next(row.value for row in home if row.table == SUBJECT.name)
    assert isinstance(new_value, SubjectValue)
    answer = GroupCreated(describe_group(view, subject, new_value, config), created=True)
    return Decision((*home, *own_config_rows(view, subject, config)), answer)


def _creation(request: CreateSubject) -> SubjectCreation:
    settings = request.settings
    return SubjectCreation(
        origin=settings.origin,
        types=settings.types,
        order=settings.order,
        identity=settings.identity,
        properties=settings.properties,
        schemes=settings.schemes,
        private=request.private,
    )


def change_subject(view: View, command: Command[ChangeSubject], engine: SchemaEngine) -> Decision[GroupCreated]:
    """Change the policy or the properties of a subject, if its level in force is the expected one."""
    request = command.request
    subject, scope = request.subject, Scope(*request.subject)
    if request.properties is not None:
        refuse_bad_properties(request.properties, "/properties")
    refuse_bad_label_policy(subject, request.label_policy)
    row = subject_row(view, subject)
    change = Config(exact_level=request.level, validators=request.validators, follows=request.follows)
    packages = refuse_bad_policy(view, scope, change, engine)
    if request.properties is not None and request.properties != row.properties:
        refuse_format_in_use(view, subject, request.properties)
    _refuse_other_level(view, request)
    refuse_if_readonly(view, scope)
    old = own_value(view, scope)
    new = old if change == Config() else changed_config(view, old, change, packages=packages)
    value = row if request.properties is None else replace(row, properties=request.properties)
    if request.label_policy is not None:
        value = replace(value, label_policy=request.label_policy)
    rows = () if value == row else (make_row(SUBJECT, subject, value),)
    if new is not None and new != old:
        rows = (*rows, config_row(scope, new))
    return Decision(rows, GroupCreated(describe_group(view, subject, value, new), created=False))


def _refuse_other_level(view: View, request: ChangeSubject) -> None:
    if request.previous is None:
        return
    subject = request.subject
    level = level_in_force(view, subject, own_value(view, Scope(*subject)))
    if level != request.previous:
        raise PreviousLevelDiffers.of(
            "PREVIOUS_LEVEL",
            f"The level of subject '{subject}' is not the expected one",
            path="/previous",
            subject=str(subject),
            old=in_words(level),
            new=in_words(request.previous),
            allowed="read the level and decide again",
        )


def remove_subject(view: View, command: Command[RemoveSubject], engine: SchemaEngine) -> Decision[GroupRemoved]:
    """Remove a subject with all that is its own; refused where an association or a schema of another subject needs it."""
    subject = command.request.subject
    if view.get(SUBJECT, subject) is None:
        return Decision((), GroupRemoved(removed=False))
    going = GoingRows(subjects=frozenset((subject,)))
    refuse_if_used(view, SUBJECT, subject, going)
    _refuse_if_referenced(view, subject, going, command.access)
    refuse_if_pinned(view, stored_versions(view, subject))
    refuse_if_readonly(view, Scope(*subject))
    return Decision(tuple(whole_subject(view, subject)), GroupRemoved(removed=True))


def _refuse_if_referenced(view: View, subject: Subject, going: GoingRows, access: Access | None) -> None:
    """Raise `Referenced` where schemas of other subjects refer to a version; it names those that the caller may read."""
    versions = (key for key, _ in stored_versions(view, subject))
    users_found = (users_of(view, VERSION, key, "refuses", going) for key in versions)
    first = [key for _, key in islice(chain.from_iterable(users_found), USERS_NAMED)]
    if not first:
        return
    named = [_format_user(view, key) for key in first if may_read(view, access, subject_of_key(key))]
    users = ", ".join(dict.fromkeys(named)) or "a schema of another subject"
    raise Referenced.of(
        "SUBJECT_REFERENCED",
        f"Subject '{subject}' can't be removed: others refer to it: {users}",
        subject=str(subject),
        old=users,
        allowed="delete what refers to it first",
    )


def _format_user(view: View, key: VersionKey) -> str:
    version = view.get(VERSION, key)
    assert version is not None, "a user of a version is there"
    return f"{subject_of_key(key)} version {version.number}"

"""A change tried on a subject: what its policy says, what each level would say, and who uses the subject."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from treaty.core.command import Command
from treaty.core.handlers.comparison.users import find_touched
from treaty.core.handlers.compatibility import CompatibilityRequirements, find_incompatible
from treaty.core.handlers.drafts.schemas import ParsedDraft
from treaty.core.handlers.drafts.versions import find_version
from treaty.core.handlers.lookup import read_checked
from treaty.core.handlers.versions import StoredVersion, latest_version, version_with_number
from treaty.core.messages.compatibility import Check
from treaty.core.messages.differences import ChangeLevel, ChangeResult, CompareVersions
from treaty.core.names import Subject
from treaty.core.policy import LEVELS, STRICTNESS, Level, in_words
from treaty.core.schema_engine import SchemaEngine
from treaty.core.state.view import View


@dataclass(frozen=True, slots=True)
class TriedChange:
    """A draft that was tried: what it is, what would come of it, and the version to compare it with, None where there is none."""

    draft: ParsedDraft
    result: ChangeResult
    against: StoredVersion | None


def try_change(view: View, command: Command[CompareVersions], engine: SchemaEngine) -> TriedChange:
    """Try a draft as the next version of a subject, as a registration would."""
    request, subject = command.request, command.request.subject
    assert subject is not None
    assert request.new.draft is not None
    checked = read_checked(view, Check(subject, request.new.draft, normalize=request.normalize), engine)
    draft, bar = checked.draft, checked.bar
    result, against = find_incompatible(view, engine, draft, subject, bar=bar)
    failing = version_with_number(view, subject, against) if against else None
    same = find_version(view, subject, checked.sent, bar.config, any_type=not request.new.draft.type_name)
    touched = find_touched(view, command.access, subject)
    policy = bar.policy
    change = ChangeResult(
        str(subject),
        in_words(Level(policy.backward, policy.forward, policy.deny)),
        policy.strictness or STRICTNESS[0],
        result.compatible,
        result.findings,
        against,
        0 if same is None else same[1].number,
        tuple(_check_levels(view, engine, draft, subject, bar)),
        touched.resources,
        touched.hidden,
        touched.more,
    )
    return TriedChange(checked.sent, change, failing or latest_version(view, subject))


def _check_levels(
    view: View, engine: SchemaEngine, draft: ParsedDraft, subject: Subject, bar: CompatibilityRequirements
) -> Iterator[ChangeLevel]:
    """Check a draft by each of Confluent's levels; partition, strictness and validators stay as they are in force."""
    for word, level in LEVELS.items():
        policy = replace(bar.policy, backward=level.backward, forward=level.forward, deny=level.deny)
        result, against = find_incompatible(view, engine, draft, subject, bar=replace(bar, policy=policy))
        yield ChangeLevel(word, 0 if result.compatible else max(1, len(result.findings)), against)

"""The differences of two schemas, each of which is a version, a stored schema or a draft."""

from dataclasses import dataclass, replace

from treaty.core.access.authorized_view import without_filter
from treaty.core.access.private_subjects import may_read
from treaty.core.command import Command, Decision
from treaty.core.handlers.comparison.changes import TriedChange, try_change
from treaty.core.handlers.drafts.schemas import (
    ParsedDraft,
    VersionRules,
    answers,
    read,
    refuse,
    refuse_unknown_format,
    resolve_schema,
)
from treaty.core.handlers.queries import at_home
from treaty.core.handlers.settings import own_alias
from treaty.core.handlers.versions import StoredVersion, schema_row, select, subject_of_key
from treaty.core.messages.differences import ComparedSchema, CompareVersions, ComparisonSide, SchemasCompared
from treaty.core.messages.settings import Scope
from treaty.core.names import DEFAULT_CONTEXT, Subject
from treaty.core.refusals import Forbidden, Invalid, InvalidSchema, SchemaNotFound
from treaty.core.schema_engine import (
    DescribeDifferences,
    DifferencesDescribed,
    InvalidText,
    ResolvedSchema,
    SchemaEngine,
)
from treaty.core.state.state_tables import SCHEMA_EVERYWHERE
from treaty.core.state.view import View


@dataclass(frozen=True, slots=True)
class ResolvedSide:
    """A side with its meaning, and its text as sent if that is a draft."""

    compared: ComparedSchema
    meaning: ResolvedSchema
    sent: str = ""


def compare_versions(view: View, command: Command[CompareVersions], engine: SchemaEngine) -> Decision[SchemasCompared]:
    """List the differences of two schemas, and try the new one on a subject if the request names one."""
    request = command.request
    _refuse_bad_sides(request)
    tried = None if request.subject is None else try_change(view, command, engine)
    new = _of_draft(tried.draft) if tried is not None else _resolve_side(view, command, request.new, engine, "/new")
    old = _old_side(view, command, tried, engine)
    change = None if tried is None else tried.result
    if old is None:
        description = _describe(engine, new, new)
        return Decision(
            (),
            SchemasCompared(replace(new.compared, text=description.new_text), levels=description.levels, change=change),
        )
    description = _describe(engine, old, new)
    texts = replace(new.compared, text=description.new_text), replace(old.compared, text=description.old_text)
    return Decision(
        (), SchemasCompared(*texts, description.differences, description.left_out, description.levels, change)
    )


def _old_side(
    view: View, command: Command[CompareVersions], tried: TriedChange | None, engine: SchemaEngine
) -> ResolvedSide | None:
    side = command.request.old
    if side is not None:
        return _resolve_side(view, command, side, engine, "/old")
    return None if tried is None or tried.against is None else _of_version(view, tried.against)


def _refuse_bad_sides(request: CompareVersions) -> None:
    """Raise `Invalid` for a side that is not one of three things, and for a change that is no draft."""
    for path, side in (("/new", request.new), ("/old", request.old)):
        if side is None:
            continue
        named = (side.draft is not None) + bool(side.guid) + (side.subject is not None and side.draft is None)
        if named != 1:
            allowed = "a version of a subject, a guid, or a schema"
            raise Invalid.of("SIDE", f"{path[1:]} names {named} schemas", path=path, allowed=allowed)
    if request.old is None and request.subject is None:
        raise Invalid.of(
            "SIDE_MISSING",
            "There is nothing to compare with",
            path="/old",
            allowed="an old side, or a subject to try it on",
        )
    if request.subject is not None and request.new.draft is None:
        message = "A change of a subject is tried with a text"
        raise Invalid.of("CHANGE_DRAFT", message, path="/new", allowed="a schema; or no subject")


def _resolve_side(
    view: View, command: Command[CompareVersions], side: ComparisonSide, engine: SchemaEngine, path: str
) -> ResolvedSide:
    if side.draft is not None:
        return _of_draft(_read_draft(view, command.request, side, engine))
    if side.guid:
        key = next(view.find(SCHEMA_EVERYWHERE, (side.guid,)), None)
        if key is None:
            raise SchemaNotFound.of("SCHEMA_NOT_FOUND", f"Schema {side.guid} not found", path=path, version=side.guid)
        row = schema_row(view, *key)
        compared = ComparedSchema(row.format, row.text, row.guid, schema_id=key.id)
        return ResolvedSide(compared, resolve_schema(view, key.context, row))
    assert side.subject is not None
    subject = _follow_alias(view, command, side.subject)
    return _of_version(view, select(view, at_home(view, subject, "live"), side.version))


def _follow_alias(view: View, command: Command[CompareVersions], named: Subject) -> Subject:
    """Return the subject that an alias stands for; an alias gives no right to it."""
    alias = own_alias(view, Scope(*named)) if named.name else None
    if not alias:
        return named
    target = named.sibling(alias)
    if not may_read(without_filter(view)[0], command.access, target):
        message = f"{command.principal} is not allowed to read the subject that '{named}' stands for"
        raise Forbidden.of("RIGHTS", message, subject=str(named), allowed="a rule that gives read on it")
    return target


def _of_version(view: View, stored: StoredVersion) -> ResolvedSide:
    key, version = stored
    row = schema_row(view, key.context, version.schema_id)
    subject = str(subject_of_key(key))
    compared = ComparedSchema(row.format, row.text, row.guid, subject, version.number, version.schema_id)
    return ResolvedSide(compared, resolve_schema(view, key.context, row))


def _of_draft(parsed: ParsedDraft) -> ResolvedSide:
    compared = ComparedSchema(parsed.draft.format, parsed.parsed.canonical, parsed.guid)
    return ResolvedSide(compared, parsed.meaning, parsed.draft.text)


def _read_draft(view: View, request: CompareVersions, side: ComparisonSide, engine: SchemaEngine) -> ParsedDraft:
    draft = side.draft
    assert draft is not None
    refuse_unknown_format(draft, engine)
    if not draft.text:
        raise InvalidSchema.of("SCHEMA_EMPTY", "Empty schema", allowed="a schema text")
    home = request.subject or side.subject or Subject(DEFAULT_CONTEXT, "")
    normalize = bool(request.normalize)
    parsed = read(view, home, draft, engine, visible="live", strict=True, normalize=normalize, rules=VersionRules())
    if isinstance(parsed, InvalidText):
        raise refuse(parsed, draft)
    return parsed


def _describe(engine: SchemaEngine, old: ResolvedSide, new: ResolvedSide) -> DifferencesDescribed:
    formats = {old.meaning.format, new.meaning.format}
    opaque = sorted(formats - {*engine.formats})
    if len(formats) == 1 and opaque:
        raise Invalid.of(
            "FORMAT_OPAQUE",
            f"Schemas of format {opaque[0]} can't be compared: no plug-in for it here",
            new=opaque[0],
            allowed="install the plug-in of the format",
        )
    (answer,) = answers(engine, (DescribeDifferences(old.meaning, new.meaning, new.sent),))
    if isinstance(answer, InvalidText):
        first = "; ".join(map(str, answer.faults))
        message = f"One of the schemas is not valid and can't be compared: {first}"
        raise Invalid.of("UNREADABLE", message, allowed="another version")
    assert isinstance(answer, DifferencesDescribed)
    return answer

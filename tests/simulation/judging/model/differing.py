"""Two schemas and their differences, and a change tried on a subject."""

from dataclasses import replace

from tests.simulation.judging.model.asking import Asking, Yes
from tests.simulation.judging.model.drafts import (
    ReadDraft,
    meaning_of,
    no_schema,
    read_draft,
    refuse_other_formats,
    written,
)
from tests.simulation.judging.model.levels import WORDS
from tests.simulation.judging.model.metastore.state import pinning, readers, sources, streams_of_bad_rows
from tests.simulation.judging.model.past import Past, VersionNow
from tests.simulation.judging.model.reading import at_home, checked, places_of_guid
from tests.simulation.judging.model.referring import referring_versions
from tests.simulation.judging.model.refusing import No
from tests.simulation.judging.model.resources import may, may_source
from tests.simulation.judging.model.sameness import found_version
from tests.simulation.judging.model.selecting import select
from tests.simulation.texts import FORMATS, answer
from treaty.core.finding import Finding
from treaty.core.limits import NAME_LENGTH
from treaty.core.messages import differences as d
from treaty.core.messages.compatibility import Check
from treaty.core.messages.search import Search
from treaty.core.messages.settings import Scope
from treaty.core.names import Subject, subject_of
from treaty.core.policy import Level
from treaty.core.refusals import Forbidden, Invalid, InvalidSchema, SchemaNotFound
from treaty.core.schema_engine import DescribeDifferences, DifferencesDescribed, InvalidText, ResolvedSchema

FINDABLE = ("field", "type", "tag", "doc", "owner", "subject", "format", "context", "origin", "state", "kind")
"""Terms of a search."""


def search(past: Past, asking: Asking, request: Search) -> Yes:
    """What a search without an index comes to: what is wrong with it; a good one is never answered."""
    words = [one for one in request.text.split() if one.strip('":*')]
    if len(request.text) > NAME_LENGTH:
        raise No(Invalid, "NAME_LENGTH")
    if any(one.partition(":")[0] not in FINDABLE for one in words if ":" in one):
        raise No(Invalid, "SEARCH_TERM", path="/text")
    if not words:
        raise No(Invalid, "SEARCH_EMPTY", path="/text")
    raise No(Invalid, "SEARCH_AFTER", path="/after")


Side = tuple[d.ComparedSchema, ResolvedSchema, str]
"""What is told of a side, what it means, and its text as it was sent."""


def compare_versions(past: Past, asking: Asking, request: d.CompareVersions) -> Yes:
    _refuse_bad_sides(request)
    change, old = None, None
    if request.subject is not None:
        change, new, before = _tried(past, asking, request)
        old = None if before is None else _of_version(past, before)
    else:
        new = _side(past, asking, request, request.new)
    if request.old is not None:
        old = _side(past, asking, request, request.old)
    told = _described(old or new, new)
    after = replace(new[0], text=told.new_text)
    if old is None:
        return Yes((), d.SchemasCompared(after, levels=told.levels, change=change))
    before_text = replace(old[0], text=told.old_text)
    return Yes((), d.SchemasCompared(after, before_text, told.differences, told.left_out, told.levels, change))


def _refuse_bad_sides(request: d.CompareVersions) -> None:
    for path, side in (("/new", request.new), ("/old", request.old)):
        kinds = [] if side is None else [side.draft, side.guid or None, None if side.draft else side.subject]
        if side is not None and sum(one is not None for one in kinds) != 1:
            raise No(Invalid, "SIDE", path=path)
    if request.old is None and request.subject is None:
        raise No(Invalid, "SIDE_MISSING", path="/old")
    if request.subject is not None and request.new.draft is None:
        raise No(Invalid, "CHANGE_DRAFT", path="/new")


def _side(past: Past, asking: Asking, request: d.CompareVersions, side: d.ComparisonSide) -> Side:
    if side.draft is not None:
        home = request.subject or side.subject or Subject(".", "")
        draft = written(side.draft)
        refuse_other_formats(draft)
        if not draft.text:
            raise No(InvalidSchema, "SCHEMA_EMPTY")
        new = read_draft(past, home, draft, "live", strict=True, normalize=bool(request.normalize))
        if isinstance(new, InvalidText):
            raise no_schema(new)
        return _of_draft(new)
    if side.guid:
        places = places_of_guid(past, side.guid)
        if not places:
            raise No(SchemaNotFound, "SCHEMA_NOT_FOUND", version=side.guid)
        context, schema_id = places[0]
        schema = past.schema(context, schema_id)
        assert schema is not None
        shown = d.ComparedSchema(schema.format, schema.text, schema.guid, schema_id=schema_id)
        return shown, meaning_of(past, context, schema), ""
    assert side.subject is not None
    subject = _meant(past, asking, side.subject)
    return _of_version(past, select(past, at_home(past, subject, "live"), side.version))


def _meant(past: Past, asking: Asking, named: Subject) -> Subject:
    config = past.configs.get(Scope(*named)) if named.name else None
    if config is None or not config.alias:
        return named
    target = subject_of(config.alias, named.context)
    if asking.access is not None and not may(asking.access, "read", *target):
        raise No(Forbidden, "RIGHTS", subject=str(named))
    return target


def _of_version(past: Past, one: VersionNow) -> Side:
    schema = one.schema
    shown = d.ComparedSchema(schema.format, schema.text, schema.guid, str(one.subject), one.number, one.schema_id)
    return shown, meaning_of(past, one.subject.context, schema), ""


def _of_draft(new: ReadDraft) -> Side:
    return d.ComparedSchema(new.draft.format, new.parsed.canonical, new.guid), new.meaning, new.draft.text


def _described(old: Side, new: Side) -> DifferencesDescribed:
    if old[1].format == new[1].format and new[1].format not in FORMATS:
        raise No(Invalid, "FORMAT_OPAQUE", new=new[1].format)
    told = answer(DescribeDifferences(old[1], new[1], new[2]))
    if isinstance(told, InvalidText):
        raise No(Invalid, "UNREADABLE")
    assert isinstance(told, DifferencesDescribed)
    return told


def _tried(past: Past, asking: Asking, request: d.CompareVersions) -> tuple[d.ChangeResult, Side, VersionNow | None]:
    subject, draft = request.subject, request.new.draft
    assert subject is not None
    assert draft is not None
    one = checked(past, Check(subject, draft, normalize=request.normalize))
    result, against = one.judged(past)
    policy = one.bar.policy
    levels = []
    for word, level in WORDS.items():
        other = replace(policy, backward=level.backward, forward=level.forward, deny=level.deny)
        each, failing = one.judged(past, other)
        levels.append(d.ChangeLevel(word, 0 if each.compatible else max(1, len(each.findings)), failing))
    same = found_version(past, subject, one.live, one.sent, one.bar.config, any_type=not draft.type_name)
    touched, hidden = _touched(past, asking, subject)
    change = d.ChangeResult(
        str(subject),
        _in_a_word(Level(policy.backward, policy.forward, policy.deny)),
        policy.strictness or "STRICT",
        result.compatible,
        result.findings,
        against,
        0 if same is None else same.number,
        tuple(levels),
        touched,
        hidden,
    )
    before = next((each for each in one.live if each.number == against), one.live[-1] if one.live else None)
    return change, _of_draft(one.sent), before


def _touched(past: Past, asking: Asking, subject: Subject) -> tuple[tuple[d.TouchedResource, ...], int]:
    """Who refers to the subject or pins it, directly or not, each at its shortest distance; needs are left open."""
    far, homes = {subject: 0}, [subject]
    distance: dict[str, int] = {}
    while homes:
        home = homes.pop(0)
        for one in past.shown(home):
            for key in pinning(past, one):
                distance[key] = min(far[home] + 1, distance.get(key, 1_000))
            for user in referring_versions(past, one, ("live",)):
                if user.subject not in far:
                    far[user.subject] = far[home] + 1
                    homes.append(user.subject)
    there = sources(past)
    waiting = sorted(distance, key=lambda key: distance[key])
    while waiting:
        key = min(waiting, key=lambda one: distance[one])
        waiting.remove(key)
        for reader in {*streams_of_bad_rows(past, key), *readers(past, key)}:
            if distance.get(reader, 1_000) > distance[key] + 1:
                distance[reader] = distance[key] + 1
                waiting.append(reader)
    seen = [key for key in distance if asking.access is None or may_source(asking.access, "read", key)]
    kinds = {key: "SOURCE" if there[key].query is None else "QUERY" for key in seen}
    told = [d.TouchedResource("SUBJECT", str(one), "", depth) for one, depth in far.items() if depth]
    told += [d.TouchedResource(kinds[key], there[key].name, "", distance[key]) for key in seen]
    return tuple(sorted(told, key=lambda one: (one.depth, one.kind, one.name))), len(distance) - len(seen)


def _in_a_word(level: Level) -> str:
    """The word of a level; empty where it has none."""
    return "deny" if level.deny else next((word for word, one in WORDS.items() if one == level), "")


def same_comparison(mine: d.SchemasCompared, told: object) -> bool:
    """Whether two answers are alike but for the words of reasons and of levels, and for what each user needs."""
    if not isinstance(told, d.SchemasCompared) or (mine.change is None) is not (told.change is None):
        return False
    if mine.change is None or told.change is None:
        return mine == told
    level = mine.change.level or told.change.level
    return _sure(mine, mine.change, level) == _sure(told, told.change, told.change.level)


def _sure(one: d.SchemasCompared, change: d.ChangeResult, level: str) -> d.SchemasCompared:
    reasons = tuple(Finding(each.rule, each.path, "") for each in change.findings)
    touched = tuple(replace(each, needs="") for each in change.touched)
    levels = tuple(sorted(change.levels, key=lambda each: each.level))
    return replace(one, change=replace(change, level=level, findings=reasons, touched=touched, levels=levels))

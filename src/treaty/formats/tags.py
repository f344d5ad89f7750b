"""Tags inside schema texts are found and changed, for every format."""

import difflib
from collections.abc import Hashable, Iterable
from itertools import islice
from typing import Any

from treaty.core.finding import Diagnostic
from treaty.core.limits import TAG_LENGTH
from treaty.core.schema import TaggedPath
from treaty.formats.format import Format, InvalidSchemaError, TaggableEntity

NEAR = 5
"""Paths that a fault shows where one leads nowhere."""
SEEN = 2_000
"""Paths that are looked at for near ones."""
COMPARED = 50
"""Those among them, with the longest common beginning, whose lookup_digest is measured, which takes time."""
LONGEST = 100
"""Characters of a path that is compared."""

FAULTS = {
    "TAGS_UNSUPPORTED": "a format that keeps tags in its texts",
    "TAG_ENTITY_UNKNOWN": "the path and kind of something inside the schema",
    "TAG_ENTITY_KIND": "sr_record or sr_field",
    "TAG_ENTITY_STUCK": "something that can have tags",
    "TAG_NAME": f"a name of 1 to {TAG_LENGTH} characters",
}
"""What can be wrong with a change of tags, and what is expected instead."""

KINDS = ("sr_record", "sr_field")


def list_tags(form: Format[Any], model: Any) -> tuple[TaggedPath, ...]:
    """What in a schema has tags, in the order of its text; nothing for a format without tags."""
    if form.tagging is None:
        return ()
    return tuple(TaggedPath(one.path, one.kind, one.tags) for one in form.tagging.entities(model) if one.tags)


def edit_tags(
    form: Format[Any], model: Any, *, add: Iterable[TaggedPath], remove: Iterable[TaggedPath], lenient: bool = False
) -> str:
    """The canonical text of a schema with tags added, then tags removed. Paths are taken with a leading point too.

    What an entity has already is not added again, what it does not have is not missed. Raises `InvalidSchemaError` for
    a path that leads nowhere (left out where `lenient`), for a name that no tag may have, and where the format has no
    tags.
    """
    if form.tagging is None:
        raise _fault("TAGS_UNSUPPORTED", "", f"a schema of format {form.name} has no place for tags")
    edits = [(one, True) for one in add] + [(one, False) for one in remove]
    for tagged, _ in edits:
        _check(tagged)
    entities = _find_entities(
        form.tagging.entities(model), {(place.kind, _strip_dot(place.path)) for place, _ in edits}
    )
    tags: dict[Hashable, tuple[str, ...]] = {}
    for tagged, adding in edits:
        target = entities.get((tagged.kind, _strip_dot(tagged.path)))
        if target is None or target.stuck:
            if lenient:
                continue
            raise (
                _make_missing_error(form, model, tagged)
                if target is None
                else _fault("TAG_ENTITY_STUCK", tagged.path, target.stuck)
            )
        before = tags.get(target.place, target.tags)
        tags[target.place] = (
            _add_names(before, tagged.tags) if adding else tuple(t for t in before if t not in tagged.tags)
        )
    return form.tagging.write(model, tags)


def _find_entities(
    entities: Iterable[TaggableEntity], keys: set[tuple[str, str]]
) -> dict[tuple[str, str], TaggableEntity]:
    """Entities by kind and path; another name of one counts only where nothing has it as its path."""
    by_path: dict[tuple[str, str], TaggableEntity] = {}
    called: dict[tuple[str, str], TaggableEntity] = {}
    for entity in entities:
        if (entity.kind, entity.path) in keys:
            by_path.setdefault((entity.kind, entity.path), entity)
        for path in entity.also:
            if (entity.kind, path) in keys:
                called.setdefault((entity.kind, path), entity)
    return {**called, **by_path}


def _strip_dot(path: str) -> str:
    return path.removeprefix(".")


def _add_names(before: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *names)))


def _check(tagged: TaggedPath) -> None:
    if tagged.kind not in KINDS:
        raise _fault("TAG_ENTITY_KIND", tagged.path, f"the entity type {tagged.kind[:100]!r} is none")
    for name in tagged.tags:
        if not name or len(name) > TAG_LENGTH or not name.isprintable():
            raise _fault("TAG_NAME", tagged.path, f"{name[:100]!r} is no name of a tag")


def _make_missing_error(form: Format[Any], model: Any, tagged: TaggedPath) -> InvalidSchemaError:
    assert form.tagging is not None
    entities = [each for each in islice(form.tagging.entities(model), SEEN) if not each.stuck]
    paths = list(dict.fromkeys(each.path for each in entities if each.kind == tagged.kind))
    path = _strip_dot(tagged.path)[:1_000]
    paths.sort(key=lambda each: _count_shared(path, each), reverse=True)
    short = [each for each in paths[:COMPARED] if len(each) <= LONGEST] if len(path) <= LONGEST else []
    near = difflib.get_close_matches(path, short, NEAR, 0.4) or paths[:NEAR]
    other = next((each.kind for each in entities if each.path == path), "")
    message = f"no {tagged.kind} of the schema has the path {path!r}" + (f", but a {other} has" if other else "")
    suggestions = ", ".join(each[: 2 * LONGEST] for each in near)
    return _fault("TAG_ENTITY_UNKNOWN", tagged.path, message, f"{FAULTS['TAG_ENTITY_UNKNOWN']}; near: {suggestions}")


def _count_shared(first: str, other: str) -> int:
    """Characters that two paths begin with alike."""
    return next(
        (at for at, (a, b) in enumerate(zip(first, other, strict=False)) if a != b), min(len(first), len(other))
    )


def _fault(rule: str, path: str, message: str, expected: str = "") -> InvalidSchemaError:
    return InvalidSchemaError((Diagnostic(rule, path[:1000], message, expected or FAULTS[rule]),))

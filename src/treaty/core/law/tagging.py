"""Tags inside a text: how a registration changes them, and what of them is told."""

from dataclasses import replace

from treaty.core.law.references import bindings, follow
from treaty.core.law.schemas import answers, refuse
from treaty.core.law.versions import schema_row
from treaty.core.limits import TAGGED
from treaty.core.names import Subject
from treaty.core.refusals import TooLarge
from treaty.core.requests import Visible
from treaty.core.schema import Draft, TaggedPath
from treaty.core.schema_engine import (
    Answer,
    FindTags,
    InvalidText,
    ResolvedSchema,
    RetaggedSchema,
    RetagSchema,
    SchemaEngine,
    TagsFound,
)
from treaty.core.values import Schema
from treaty.core.view import View

EVERY_TAG = "*"
"""Stands for all tags, where tags are asked for by name."""


def retagged(
    view: View,
    subject: Subject,
    draft: Draft,
    engine: SchemaEngine,
    *,
    add: tuple[TaggedPath, ...],
    remove: tuple[TaggedPath, ...] = (),
    visible: Visible = "live",
    lenient: bool = False,
) -> Draft:
    """Return a draft with tags added to its text, then removed from it.

    Raises `InvalidSchema` for a path that leads nowhere (left out where `lenient`), with near ones, or for a text that
    does not parse; `TooLarge` past the limit.
    """
    if not (add or remove):
        return draft
    if len(add) + len(remove) > TAGGED and not lenient:
        raise TooLarge.of(
            "TAGGED", "Too many tags", new=f"{len(add) + len(remove)} places", allowed=f"at most {TAGGED} at once"
        )
    used = follow(view, subject, draft.references, visible)
    meaning = ResolvedSchema(draft.format, draft.text, bindings(view, subject.context, used))
    (told,) = answers(engine, (RetagSchema(meaning, add, remove, lenient),))
    if isinstance(told, InvalidText):
        raise refuse(told, draft)
    assert isinstance(told, RetaggedSchema)
    return replace(draft, text=told.text)


def tags_in(view: View, context: str, schema: Schema, engine: SchemaEngine) -> tuple[TaggedPath, ...]:
    """Return what in a stored schema has tags; nothing for a format that nobody here can read."""
    if schema.format not in engine.formats:
        return ()
    meaning = ResolvedSchema(schema.format, schema.text, bindings(view, context, schema.references))
    told: Answer
    (told,) = answers(engine, (FindTags(meaning),))
    return told.tagged if isinstance(told, TagsFound) else ()


def tags_told(
    view: View, context: str, schema_id: int, engine: SchemaEngine, wanted: tuple[str, ...]
) -> tuple[TaggedPath, ...]:
    """Return what in a schema has one of the wanted tags, with all its tags; ``*`` wants every tag."""
    if not wanted:
        return ()
    found = tags_in(view, context, schema_row(view, context, schema_id), engine)
    return tuple(one for one in found if EVERY_TAG in wanted or not set(wanted).isdisjoint(one.tags))

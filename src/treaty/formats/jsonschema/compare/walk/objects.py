"""Differences of objects: what they require, name and leave open."""

from collections.abc import Generator, Mapping

from treaty.formats.budget import spend
from treaty.formats.jsonschema.compare.differences import DifferenceReport
from treaty.formats.jsonschema.compare.fixpoint import PairQuestion, Task
from treaty.formats.jsonschema.compare.rules import property as rules
from treaty.formats.jsonschema.compare.rules.bound import PROPERTIES
from treaty.formats.jsonschema.compare.shape import EMPTY, NEVER, SchemaShape, get_shape
from treaty.formats.jsonschema.compare.view import SchemaView, matches, written_alike
from treaty.formats.jsonschema.compare.walk.scalars import compare_bounds
from treaty.formats.jsonschema.model import Json
from treaty.formats.rule import CompatibilityRule

Steps = Generator[PairQuestion, DifferenceReport, None]


def open_part(view: SchemaView, word: str) -> bool:
    """Whether a keyword about what is left over asks nothing: absent, true or an empty schema."""
    part = view.get_part(word)
    return part is None or get_shape(part).kind == EMPTY


def is_open(view: SchemaView) -> bool:
    """Whether an object may have any property that it does not name."""
    return (
        open_part(view, "additionalProperties")
        and not view.words.get("patternProperties")
        and open_part(view, "unevaluatedProperties")
    )


def find_covering(view: SchemaView, name: str) -> SchemaView | None:
    """The schema of a property that an object does not name, None if it has none or is open."""
    for pattern, inner in view.map_schemas("patternProperties").items():
        if matches(pattern, name):
            return inner
    for word in ("additionalProperties", "unevaluatedProperties"):
        part = view.get_part(word)
        if part is not None and get_shape(part).kind not in (EMPTY, NEVER):
            return part
    return None


def list_required(view: SchemaView) -> Mapping[str, None]:
    """The names that an object requires, in order."""
    names = view.words.get("required", ())
    return dict.fromkeys(name for name in names if isinstance(name, str))  # type: ignore[union-attr]


def compare_objects(report: DifferenceReport, writer: SchemaShape, reader: SchemaShape) -> Task:
    """All differences of two objects."""
    old, new = writer.view, reader.view
    _compare_required(report, old, new)
    yield from _properties(report, old, new)
    _dependent_names(report, old, new)
    yield from _dependent_schemas(report, old, new)
    yield from left_over(report, old, new, "additionalProperties", _ADDITIONAL)
    yield from left_over(report, old, new, "unevaluatedProperties", _UNEVALUATED)
    compare_bounds(report, writer, reader, PROPERTIES)
    return report


def _compare_required(report: DifferenceReport, old: SchemaView, new: SchemaView) -> None:
    was, now = list_required(old), list_required(new)
    if was == now:
        return
    before, after = old.names("properties"), new.names("properties")
    for name in {**was, **now}:
        if (name in was) == (name in now) or name not in before or name not in after:
            continue
        if name in was:
            rule = rules.REQUIRED_ATTRIBUTE_REMOVED
        elif new.side.get_default(new, name):
            rule = rules.REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED
        else:
            rule = rules.REQUIRED_ATTRIBUTE_ADDED
        sides = ((name,) if name in was else None), ((name,) if name in now else None)
        report.add(rule, "required", name, writer=sides[0], reader=sides[1])


def _properties(report: DifferenceReport, old: SchemaView, new: SchemaView) -> Steps:
    before, after = old.names("properties"), new.names("properties")
    needed = list_required(new)
    spend(10 + len(before) + len(after) + len(needed))
    one_draft = old.node.draft.number == new.node.draft.number
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            yield from _compare_removed(report, old.get_schema("properties", name), new, name)
        elif name not in before:
            yield from _compare_added(report, old, new, name, needed=name in needed)
        elif not (one_draft and _is_written_alike(old, new, name)):
            inner = yield PairQuestion(
                (get_shape(old.get_schema("properties", name)), get_shape(new.get_schema("properties", name)))
            )
            report.add_nested(inner, "properties", name)


def _is_written_alike(old: SchemaView, new: SchemaView, name: str) -> bool:
    sides = old.get_written("properties", name), new.get_written("properties", name)
    return written_alike(*sides, noted=new.side.noted)


def _compare_removed(report: DifferenceReport, was: SchemaView, new: SchemaView, name: str) -> Steps:
    path = ("properties", name)
    value = (was.node.value,)
    if is_open(new):
        report.add(rules.PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL, *path, writer=value)
        return
    cover = find_covering(new, name)
    if cover is not None:
        inner = yield PairQuestion((get_shape(was), get_shape(cover)))
        rule = (
            rules.PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
            if inner.harms
            else rules.PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
        )
        report.add(rule, *path, writer=value, reader=(cover.node.value,))
        report.add_nested(inner, *path)
    elif was.never:
        report.add(rules.PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL, *path, writer=value)
    else:
        report.add(rules.PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL, *path, writer=value)


def _compare_added(report: DifferenceReport, old: SchemaView, new: SchemaView, name: str, *, needed: bool) -> Steps:
    path = ("properties", name)
    now = new.get_schema("properties", name)
    value = (now.node.value,)
    default = new.side.get_default(new, name)
    if is_open(old):
        report.add(_to_open(now, needed=needed, default=default is not None), *path, reader=value)
        return
    cover = find_covering(old, name)
    if cover is not None:
        inner = yield PairQuestion((get_shape(cover), get_shape(now)))
        rule = (
            rules.PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
            if inner.harms
            else rules.PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL
        )
        report.add(rule, *path, writer=(cover.node.value,), reader=value)
        report.add_nested(inner, *path)
    rule = rules.OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL
    if needed:
        rule = (
            rules.REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL
            if default is None
            else rules.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL
        )
    report.add(rule, *path, reader=value)


def _to_open(now: SchemaView, *, needed: bool, default: bool) -> CompatibilityRule:
    if get_shape(now).kind == EMPTY:
        return rules.PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL
    if not needed:
        return rules.OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL
    if default:
        return rules.REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL
    return rules.REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL


def _dependent_names(report: DifferenceReport, old: SchemaView, new: SchemaView) -> None:
    before, after = (one.words.get("dependentRequired", {}) for one in (old, new))
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    for name in {**before, **after}:
        was, now = (_as_set(schema.get(name)) for schema in (before, after))
        if was == now:
            continue
        if was is None:
            rule = rules.DEPENDENCY_ARRAY_ADDED
        elif now is None:
            rule = rules.DEPENDENCY_ARRAY_REMOVED
        elif was < now:
            rule = rules.DEPENDENCY_ARRAY_EXTENDED
        else:
            rule = rules.DEPENDENCY_ARRAY_NARROWED if now < was else rules.DEPENDENCY_ARRAY_CHANGED
        sides = tuple((one[name],) if name in one else None for one in (before, after))
        report.add(rule, "dependencies", name, writer=sides[0], reader=sides[1])


def _as_set(names: Json) -> set[str] | None:
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else None


def _dependent_schemas(report: DifferenceReport, old: SchemaView, new: SchemaView) -> Steps:
    before, after = (dict(one.dependent()) for one in (old, new))
    for name in {**before, **after}:
        path = ("dependencies", name)
        if name not in before:
            report.add(rules.DEPENDENCY_SCHEMA_ADDED, *path, reader=(after[name].node.value,))
        elif name not in after:
            report.add(rules.DEPENDENCY_SCHEMA_REMOVED, *path, writer=(before[name].node.value,))
        else:
            report.add_nested((yield PairQuestion((get_shape(before[name]), get_shape(after[name])))), *path)


_ADDITIONAL = (
    rules.ADDITIONAL_PROPERTIES_ADDED,
    rules.ADDITIONAL_PROPERTIES_REMOVED,
    rules.ADDITIONAL_PROPERTIES_NARROWED,
    rules.ADDITIONAL_PROPERTIES_EXTENDED,
)
_UNEVALUATED = (
    rules.UNEVALUATED_PROPERTIES_ADDED,
    rules.UNEVALUATED_PROPERTIES_REMOVED,
    rules.UNEVALUATED_PROPERTIES_NARROWED,
    rules.UNEVALUATED_PROPERTIES_EXTENDED,
)


def left_over(  # noqa: PLR0917 (two sides, the keyword, its rules and its name in paths)
    report: DifferenceReport,
    old: SchemaView,
    new: SchemaView,
    word: str,
    rows: tuple[CompatibilityRule, CompatibilityRule, CompatibilityRule, CompatibilityRule],
    step: str = "",
) -> Steps:
    """What is asked of properties or items that nothing else names: forbidden, of a schema, or anything.

    `rows` are the rules for: no longer forbidden, forbidden now, a schema now, no schema any more. `step` is the
    keyword's name in paths, if it is not `word`.
    """
    was, now = old.get_part(word), new.get_part(word)
    forbidden = was is not None and was.never, now is not None and now.never
    free = open_part(old, word), open_part(new, word)
    if (forbidden[0] and forbidden[1]) or (free[0] and free[1]):
        return
    values = tuple((part.node.value,) if part is not None else None for part in (was, now))
    if forbidden[0] != forbidden[1]:
        report.add(rows[0] if forbidden[0] else rows[1], step or word, writer=values[0], reader=values[1])
    elif free[0] != free[1]:
        report.add(rows[2] if free[0] else rows[3], step or word, writer=values[0], reader=values[1])
    elif was is not None and now is not None:
        report.add_nested((yield PairQuestion((get_shape(was), get_shape(now)))), step or word)

"""Differences of two Avro schemas that do no harm, or none by themselves: what readers of data do not look at."""

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from treaty.formats.avro.compatibility import describe_type
from treaty.formats.avro.model import (
    ABSENT,
    AvroArray,
    AvroEnum,
    AvroFixed,
    AvroMap,
    AvroRecord,
    AvroReference,
    AvroSchema,
    AvroType,
    AvroUnion,
    Field,
    NamedType,
    ResolvedType,
    simple_of,
)
from treaty.formats.budget import spend
from treaty.formats.format import HarmlessChange
from treaty.formats.json_pointer import ValuePath, format_pointer
from treaty.formats.json_text import Json, print_json
from treaty.formats.rule import CompatibilityRule


def _rule(id_: str, purpose: str, sentence: str) -> CompatibilityRule:
    return CompatibilityRule(id_, purpose, sentence, "", harm="none", policies=())


FIELD_ADDED = _rule("FIELD_ADDED", "A field was added.", "The field '{detail}' was added")
FIELD_REMOVED = _rule("FIELD_REMOVED", "A field was removed.", "The field '{detail}' was removed")
FIELD_RENAMED = _rule("FIELD_RENAMED", "A field has another name.", "The field '{detail}' was renamed")
FIELD_MOVED = _rule("FIELD_MOVED", "A field has another place among the others.", "The field '{detail}' was moved")
TYPE_CHANGED = _rule("TYPE_CHANGED", "A type is another one.", "The type of {detail} changed")
NAMESPACE_CHANGED = _rule(
    "NAMESPACE_CHANGED", "A named type has another namespace.", "The namespace of {detail} changed"
)
SYMBOLS_CHANGED = _rule("SYMBOLS_CHANGED", "An enum has other symbols.", "The symbols of {detail} changed")
DEFAULT_CHANGED = _rule("DEFAULT_CHANGED", "A default is another one.", "The default of {detail} changed")
DOC_CHANGED = _rule("DOC_CHANGED", "A documentation is another one.", "The documentation of {detail} changed")
ALIASES_CHANGED = _rule("ALIASES_CHANGED", "A type or field has other aliases.", "The aliases of {detail} changed")
ORDER_CHANGED = _rule("ORDER_CHANGED", "A field sorts in another way.", "The sort order of {detail} changed")
PROPERTY_CHANGED = _rule(
    "PROPERTY_CHANGED", "A member that Avro does not know is another one.", "The property {detail} changed"
)
HARMLESS: Mapping[str, CompatibilityRule] = {
    rule.id: rule
    for rule in (
        FIELD_ADDED, FIELD_REMOVED, FIELD_RENAMED, FIELD_MOVED, TYPE_CHANGED, NAMESPACE_CHANGED, SYMBOLS_CHANGED, DEFAULT_CHANGED,
        DOC_CHANGED, ALIASES_CHANGED, ORDER_CHANGED, PROPERTY_CHANGED,
    )
}  # fmt: skip
"""Differences that readers of data do not look at, by their identifiers."""

Paths = tuple[ValuePath, ValuePath]
"""A place in the reader's and in the writer's text."""
Pair = tuple[AvroType, AvroType, Paths, str]
"""Two types that stand for each other, where they stand, and of what they are the type, in words."""


def list_harmless(reader: AvroSchema, writer: AvroSchema) -> Iterator[HarmlessChange]:
    """Return the differences, the outermost first. Definitions that meet again are reported once.

    A change reported here may be what a finding is about: its place is then the same, or around it.
    """
    waiting: deque[Pair] = deque([(reader.root, writer.root, (None, None), "the schema")])
    visited: set[tuple[int, int]] = set()
    while waiting:
        new, old, paths, what = waiting.popleft()
        spend(12)
        new_type, other = reader.resolve(new), writer.resolve(old)
        if isinstance(new_type, NamedType) and isinstance(other, NamedType):
            if (id(new_type), id(other)) in visited:
                continue
            visited.add((id(new_type), id(other)))
        if new_type.kind != other.kind:
            yield from _compare_kinds(new_type, other, paths, what, waiting)
            continue
        if isinstance(new_type, NamedType) and isinstance(other, NamedType):
            yield from _compare_names(new_type, other, paths)
        if not isinstance(new_type, AvroUnion) and not isinstance(other, AvroUnion):
            yield from _compare_props(new_type.props, other.props, paths, what)
        match new_type, other:
            case AvroRecord(), AvroRecord():
                yield from _compare_fields(new_type, other, paths, waiting)
            case AvroArray(), AvroArray():
                waiting.append((new_type.items, other.items, _step(paths, "items"), f"the items of {what}"))
            case AvroMap(), AvroMap():
                waiting.append((new_type.values, other.values, _step(paths, "values"), f"the values of {what}"))
            case AvroUnion(), AvroUnion():
                yield from _compare_unions(new_type, other, paths, what, waiting)


def _step(paths: Paths, *steps: str | int) -> Paths:
    new, old = paths
    for step in steps:
        new, old = (new, step), (old, step)
    return new, old


def _change(rule: CompatibilityRule, what: str, values: tuple[str, str], paths: Paths) -> HarmlessChange:
    """A change from the first value to the second."""
    return HarmlessChange(rule, what, *values, format_pointer(paths[1]), format_pointer(paths[0]))


def _compare_kinds(
    new: ResolvedType, other: ResolvedType, paths: Paths, what: str, waiting: deque[Pair]
) -> Iterator[HarmlessChange]:
    """Report another type; where one is a union that has the other, look inside too."""
    yield _change(TYPE_CHANGED, what, (describe_type(other), describe_type(new)), paths)
    if isinstance(new, AvroUnion):
        at = next((at for at, each in enumerate(new.branches) if _word(each) == _word(other)), None)
        if at is not None:
            waiting.append((new.branches[at], other, ((paths[0], at), paths[1]), what))
    elif isinstance(other, AvroUnion):
        at = next((at for at, each in enumerate(other.branches) if _word(each) == _word(new)), None)
        if at is not None:
            waiting.append((new, other.branches[at], (paths[0], (paths[1], at)), what))


def _word(node: AvroType) -> str:
    """What distinguishes the branches of a union: a kind, or the simple name of a named type."""
    if isinstance(node, NamedType | AvroReference):
        return simple_of(node.full)
    return node.kind


def _compare_unions(
    new_union: AvroUnion, other: AvroUnion, paths: Paths, what: str, waiting: deque[Pair]
) -> Iterator[HarmlessChange]:
    before = {_word(each): at for at, each in enumerate(other.branches)}
    if [*map(_word, new_union.branches)] != [*before]:
        yield _change(TYPE_CHANGED, what, (describe_type(other), describe_type(new_union)), paths)
    for at, branch in enumerate(new_union.branches):
        was = before.get(_word(branch))
        if was is not None:
            waiting.append((branch, other.branches[was], ((paths[0], at), (paths[1], was)), what))


def _compare_names(new: NamedType, other: NamedType, paths: Paths) -> Iterator[HarmlessChange]:
    what = f"{new.kind} {new.full}"
    if new.full != other.full:
        yield _change(NAMESPACE_CHANGED, what, (other.full, new.full), _step(paths, "name"))
    yield from _compare_leaf(DOC_CHANGED, what, (other.doc or "", new.doc or ""), _step(paths, "doc"))
    yield from _compare_leaf(
        ALIASES_CHANGED, what, (", ".join(other.aliases), ", ".join(new.aliases)), _step(paths, "aliases")
    )
    if isinstance(new, AvroEnum) and isinstance(other, AvroEnum):
        symbols = ", ".join(other.symbols), ", ".join(new.symbols)
        yield from _compare_leaf(SYMBOLS_CHANGED, what, symbols, _step(paths, "symbols"))
        yield from _compare_leaf(
            DEFAULT_CHANGED, what, (other.default or "", new.default or ""), _step(paths, "default")
        )
    if isinstance(new, AvroFixed) and isinstance(other, AvroFixed) and new.size != other.size:
        yield from _compare_leaf(TYPE_CHANGED, what, (str(other.size), str(new.size)), _step(paths, "size"))


def _compare_leaf(
    rule: CompatibilityRule, what: str, values: tuple[str, str], paths: Paths
) -> Iterator[HarmlessChange]:
    if values[0] != values[1]:
        yield _change(rule, what, values, paths)


def _compare_props(
    new: tuple[tuple[str, Json], ...], old: tuple[tuple[str, Json], ...], paths: Paths, what: str
) -> Iterator[HarmlessChange]:
    if new == old:
        return
    after, before = dict(new), dict(old)
    for name in [*after, *(each for each in before if each not in after)]:
        values = tuple(print_json(side[name]) if name in side else "" for side in (before, after))
        yield from _compare_leaf(PROPERTY_CHANGED, f"'{name}' of {what}", (values[0], values[1]), _step(paths, name))


def _compare_fields(
    new_record: AvroRecord, other: AvroRecord, paths: Paths, waiting: deque[Pair]
) -> Iterator[HarmlessChange]:
    spend((len(new_record.fields) + len(other.fields)) >> 1)
    new, old = _step(paths, "fields")
    before = {each.name: (at, each) for at, each in enumerate(other.fields)}
    after = {each.name for each in new_record.fields}
    for at, field in enumerate(new_record.fields):
        names = (field.name, *(name for name in field.aliases if name not in after))
        was = next((before[name] for name in names if name in before), None)
        if was is None:
            yield HarmlessChange(FIELD_ADDED, field.name, "", field.name, None, format_pointer((new, at)))
            continue
        inside = (new, at), (old, was[0])
        yield from _compare_leaf(FIELD_RENAMED, field.name, (was[1].name, field.name), _step(inside, "name"))
        yield from _compare_field(field, was[1], inside)
        waiting.append((field.type, was[1].type, _step(inside, "type"), f"the field '{field.name}'"))
    renamed = {name for each in new_record.fields for name in each.aliases}
    for at, field in enumerate(other.fields):
        if field.name not in after and field.name not in renamed:
            yield HarmlessChange(FIELD_REMOVED, field.name, field.name, "", format_pointer((old, at)), None)
    yield from _find_moved([each.name for each in new_record.fields], [each.name for each in other.fields], (new, old))


def _find_moved(new: list[str], old: list[str], paths: Paths) -> Iterator[HarmlessChange]:
    """Report the first field that stands elsewhere among those of both schemas."""
    both = set(new) & set(old)
    pairs = zip_longest((one for one in new if one in both), (one for one in old if one in both))
    name = next((one for one, other in pairs if one != other), None)
    if name is not None:
        at, was = new.index(name), old.index(name)
        inside = (paths[0], at), (paths[1], was)
        yield _change(FIELD_MOVED, name, (f"place {was + 1}", f"place {at + 1}"), _step(inside, "name"))


def _compare_field(new: Field, other: Field, paths: Paths) -> Iterator[HarmlessChange]:
    what = f"the field '{new.name}'"
    yield from _compare_leaf(DOC_CHANGED, what, (other.doc or "", new.doc or ""), _step(paths, "doc"))
    defaults = tuple("" if each.default is ABSENT else print_json(each.default) for each in (other, new))
    yield from _compare_leaf(DEFAULT_CHANGED, what, (defaults[0], defaults[1]), _step(paths, "default"))
    yield from _compare_leaf(ORDER_CHANGED, what, (other.order, new.order), _step(paths, "order"))
    yield from _compare_leaf(
        ALIASES_CHANGED, what, (", ".join(other.aliases), ", ".join(new.aliases)), _step(paths, "aliases")
    )
    yield from _compare_props(new.props, other.props, paths, what)

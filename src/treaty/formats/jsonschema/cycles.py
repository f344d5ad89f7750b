"""Schemas that need themselves to check one and the same value: their meaning is not defined."""

from collections.abc import Iterator, Sequence

from treaty.core.finding import Diagnostic
from treaty.formats.jsonschema.drafts import HOLDING
from treaty.formats.jsonschema.model import JsonSchema, SchemaNode
from treaty.formats.jsonschema.references import REFERRING, get_child, get_reference, ignores_siblings, locate_schema

_CYCLE = "a way that passes a property, an item or another part of the value before it comes back"


def list_in_place_schemas(document: JsonSchema, node: SchemaNode) -> Iterator[SchemaNode]:
    """The schemas that check the same value as this one, as parts of it: references' targets and branches."""
    for word in REFERRING:
        to = get_reference(node, word)
        target = locate_schema(document, node, to) if to is not None else None
        if target is not None:
            yield target
    if not isinstance(node.value, dict) or ignores_siblings(node):
        return
    rows = HOLDING[node.draft.number]
    for word, held in node.value.items():
        row = rows.get(word)
        if row is None or not row.here:
            continue
        if row.holds == "schema":
            yield get_child(node, word)
        elif row.holds == "schemas" and isinstance(held, list):
            yield from (get_child(node, word, at) for at in range(len(held)))
        elif isinstance(held, dict):
            yield from (get_child(node, word, name) for name in held)


def find_cycles(document: JsonSchema, own: Sequence[SchemaNode]) -> Iterator[Diagnostic]:
    """A fault for every reference of the own text that closes a circle without looking into the value."""
    if not any(get_reference(node, word) is not None for node in own for word in REFERRING):
        return
    closed: set[tuple[int, str]] = set()
    for start in own:
        if start.key in closed:
            continue
        open_: set[tuple[int, str]] = {start.key}
        way = [(start, list_in_place_schemas(document, start))]
        while way:
            schema, rest = way[-1]
            inner = next(rest, None)
            if inner is None:
                way.pop()
                open_.discard(schema.key)
                closed.add(schema.key)
            elif inner.key in open_:
                if schema.text_number == 0:
                    yield _fault(schema)
            elif inner.key not in closed:
                open_.add(inner.key)
                way.append((inner, list_in_place_schemas(document, inner)))


def _fault(node: SchemaNode) -> Diagnostic:
    word = next((word for word in REFERRING if get_reference(node, word) is not None), "")
    path = f"{node.place}/{word}" if word else node.place
    message = "the reference leads back to a schema that it is a part of, and no part of the value is passed on the way"
    return Diagnostic("REF_CYCLE", path, message, _CYCLE)

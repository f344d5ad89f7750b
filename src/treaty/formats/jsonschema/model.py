"""The model of a JSON Schema: the document as it was written, and where its references lead.

Nothing is translated here: a `SchemaNode` is a piece of the JSON text together with what gives it its meaning, the
draft and the base URI. What the comparison needs beyond that it makes from nodes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

Json = bool | int | Decimal | str | list["Json"] | dict[str, "Json"] | None
"""A value inside a schema text: numbers are exact, objects keep their order. It is never changed."""


@dataclass(frozen=True, slots=True)
class JsonSchemaDraft:
    """One draft of the standard: its number (4, 6, 7, 2019, 2020) and the URI of its meta-schema without fragment."""

    number: int
    uri: str

    @property
    def identifier(self) -> str:
        """The keyword that names a schema resource: ``id`` in draft 4, ``$id`` later."""
        return "id" if self.number == 4 else "$id"

    @property
    def definitions(self) -> str:
        """The keyword under which schemas for later use stand."""
        return "definitions" if self.number < 2019 else "$defs"


@dataclass(frozen=True, slots=True)
class SchemaNode:
    """A schema at a place.

    `value` is an object or a boolean, `base` the absolute URI of its resource (made up where the text
    names none), `place` a JSON pointer from the root of the text that holds it. Two nodes are the same place when
    `key` is equal.
    """

    value: Json
    base: str
    place: str
    draft: JsonSchemaDraft
    text_number: int = 0
    """Of which text: 0 is the schema's own, the others are those that references lead to, in the order of `roots`."""

    @property
    def key(self) -> tuple[int, str]:
        """What distinguishes this place from all others of one document."""
        return (self.text_number, self.place)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class JsonSchema:
    """A parsed schema.

    `resources` maps absolute URIs without fragment to the schemas that they name; `text_resources` maps texts and the URIs
    and anchors that schemas inside them have. Both cover the own text, all texts that references lead to, and the
    meta-schemas.
    `blocked` lists the references that lead nowhere: they are never fetched.
    """

    root: SchemaNode
    resources: Mapping[str, SchemaNode]
    text_resources: Mapping[tuple[int, str], SchemaNode] = field(default_factory=dict)
    blocked: tuple[str, ...] = ()
    texts: tuple[Json, ...] = ()
    """The roots of all texts, the own one first, then each referenced one."""
    names: Mapping[str, int] = field(default_factory=dict)
    """Which text a reference's name leads to."""
    dynamic: frozenset[tuple[int, str]] = frozenset()
    """Texts and URIs of all places that a ``$dynamicRef`` (with their anchor) or a ``$recursiveRef`` (ending in ``#``) may mean
    instead of the one that it names, depending on where the evaluation comes from."""
    roots: tuple[SchemaNode, ...] = ()
    """The root of every text as a node, in the order of `texts`."""
    written: str = ""
    """The own text as it was given, to find lines and columns."""

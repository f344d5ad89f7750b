"""One side of a comparison: its schemas as views, made when they are looked at and only once."""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace
from functools import lru_cache

import jsonschema_rs

from treaty.formats.budget import spend
from treaty.formats.jsonschema.compare.exact import freeze
from treaty.formats.jsonschema.compare.keywords import Steps, normalize_keywords
from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode
from treaty.formats.jsonschema.references import follow_reference, get_child, is_ambiguous
from treaty.formats.jsonschema.regex import count_regexes

UNRESOLVED = "$unresolved"
"""The keyword that a schema gets instead of a reference that leads nowhere; it holds the reference."""
_REFERRING = ("$ref", "$recursiveRef", "$dynamicRef")


_VIEW, _PATTERN = 12, 150
"""Steps that it costs to look at a schema, and to compile each expression in it."""


class SchemaView:
    """A schema at a place: what it demands, and the schemas inside it. References alone are followed already."""

    __slots__ = ("_listed", "_one", "_several", "_steps", "_whole", "constants", "node", "shape", "side", "words")

    def __init__(
        self, side: "SchemaSide", node: SchemaNode, words: dict[str, Json], steps: Mapping[str, Steps]
    ) -> None:
        self.side = side
        self.node = node
        self.words: Mapping[str, Json] = words
        """Keywords in the words of draft 2020-12."""
        self._steps = steps
        self._listed: dict[str, tuple[SchemaView, ...]] = {}
        self._one: dict[str, SchemaView | None] = {}
        self._several: dict[str, dict[str, SchemaView]] = {}
        self._whole: Hashable = None
        self.constants: Mapping[str, frozenset[Hashable]] | None = None
        """The few values that properties may have, once somebody has looked."""
        self.shape: object = None
        """What the established comparison makes of this schema."""

    @property
    def never(self) -> bool:
        """Whether this is `false`, the schema that allows nothing."""
        return self.node.value is False

    @property
    def written_form(self) -> Hashable:
        """Equal for schemas that are written alike, in any order of members."""
        if self._whole is None:
            self._whole = (self.node.draft.number, freeze(self.node.value))
        return self._whole

    def get_annotation(self, name: str) -> Json:
        """What stands under a keyword that demands nothing, None if it is not there."""
        value = self.node.value
        return value.get(name) if isinstance(value, dict) else None

    def get_part(self, word: str) -> "SchemaView | None":
        """The schema under a keyword."""
        if word not in self.words:
            return None
        if word not in self._one:
            self._one[word] = self.side.view(get_child(self.node, *self._steps.get(word, (word,))))
        return self._one[word]

    def map_schemas(self, word: str) -> Mapping[str, "SchemaView"]:
        """The schemas under a keyword that holds a map of them; lists count as maps from indexes."""
        if word not in self.words:
            return {}
        return {name: self.get_schema(word, name) for name in self.names(word)}

    def names(self, word: str) -> Collection[str]:
        """The names, or the indexes, of the schemas under a keyword."""
        held = self.words.get(word, ())
        return held if isinstance(held, dict) else range(len(held))  # type: ignore[arg-type, return-value]

    def get_schema(self, word: str, name: str) -> "SchemaView":
        """One of the schemas under a keyword that holds several."""
        views = self._several.setdefault(word, {})
        if name not in views:
            if word == "dependentSchemas":
                node = get_child(self.node, *self._steps[f"dependentSchemas/{name}"])
            else:
                node = get_child(self.node, *self._steps.get(word, (word,)), name)
            views[name] = self.side.view(node)
        return views[name]

    def get_written(self, word: str, name: str) -> Json:
        """One of the schemas under a keyword that holds several, as it is written; raises `KeyError` without it."""
        held = self.words[word]
        assert isinstance(held, dict | list)
        return held[name]  # type: ignore[call-overload]

    def dependent(self) -> tuple[tuple[str, "SchemaView"], ...]:
        """The schemas that depend on properties, with the names of these."""
        return tuple((name.removesuffix("\0"), view) for name, view in self.map_schemas("dependentSchemas").items())

    def list_schemas(self, word: str) -> tuple["SchemaView", ...]:
        """The schemas under a keyword that holds a list of them."""
        if word not in self.words:
            return ()
        if word not in self._listed:
            self._listed[word] = tuple(self.map_schemas(word).values())
        return self._listed[word]

    def target(self) -> "SchemaView | None":
        """Where a reference leads that has other keywords beside it."""
        return self.side.target(self)


class SchemaSide:
    """All schemas of one document, as views."""

    __slots__ = ("_targets", "_views", "document", "noted")

    def __init__(self, document: JsonSchema, *, noted: bool = False) -> None:
        """`noted`: annotations are reported too."""
        self.document = document
        self.noted = noted
        self._views: dict[tuple[int, str], SchemaView] = {}
        self._targets: dict[tuple[int, str], SchemaView] = {}

    def view(self, node: SchemaNode) -> SchemaView:
        """The view of a place, or of where it leads if it is nothing but a reference."""
        view = self._views.get(node.key)
        if view is None:
            view = self._views[node.key] = self._view_node(node)
        return view

    def _view_node(self, node: SchemaNode) -> SchemaView:
        way = {node.key}
        current = node
        while True:
            words, steps = normalize_keywords(current)
            spend(_VIEW + len(words) + _PATTERN * count_regexes(current.value))
            referring = [word for word in _REFERRING if word in words]
            if not referring or len(words) > 1:
                break
            target = self._follow(current)
            if target is None or target.key in way:
                words = {UNRESOLVED: self._describe_unresolved(current, words[referring[0]])}
                break
            way.add(target.key)
            current = target
        if current is not node and current.key in self._views:
            return self._views[current.key]
        view = SchemaView(self, current, words, steps)
        self._views[current.key] = view
        return view

    def target(self, view: SchemaView) -> SchemaView | None:
        """Where the reference of a schema with several keywords leads."""
        key = view.node.key
        if key not in self._targets:
            if not any(word in view.words for word in _REFERRING):
                return None
            target = self._follow(view.node)
            if target is None:
                word = next(word for word in _REFERRING if word in view.words)
                lost = replace(view.node, place=f"{view.node.place}/{word}")
                self._targets[key] = SchemaView(
                    self, lost, {UNRESOLVED: self._describe_unresolved(view.node, view.words[word])}, {}
                )
            else:
                self._targets[key] = self.view(target)
        return self._targets[key]

    def _follow(self, node: SchemaNode) -> SchemaNode | None:
        return None if is_ambiguous(self.document, node) else follow_reference(self.document, node)

    def _describe_unresolved(self, node: SchemaNode, to: Json) -> Json:
        """What a reference that can't be followed is compared by: where it leads depends on the texts if it is dynamic."""
        return [to, *self.document.texts] if is_ambiguous(self.document, node) else to

    def get_default(self, outer: SchemaView, name: str) -> tuple[Json] | None:
        """The default of a property, from where it stands or where its reference leads; None if it has none."""
        for node in (get_child(outer.node, "properties", name), outer.get_schema("properties", name).node):
            if isinstance(node.value, dict) and "default" in node.value:
                return (node.value["default"],)
        return None


_NOTES = frozenset({"title", "description", "$comment", "examples"})
"""Keywords that say something to people and ask for nothing. A default stays: it may replace a missing value."""


def written_alike(first: Json, other: Json, *, noted: bool = False) -> bool:
    """Whether two schemas of one draft are the same text and refer to nothing, so that they mean the same.

    Annotations (`_NOTES`) count only if they are to be reported (`noted`).
    """
    if first == other:
        text = repr(first)  # where true is not 1
        spend(2 + (len(text) >> 4))
        return "ef'" not in text and text == repr(other)
    if noted or not (isinstance(first, dict) and isinstance(other, dict)):
        return False
    spend(2)
    bare = {word: value for word, value in first.items() if word not in _NOTES}
    if bare != {word: value for word, value in other.items() if word not in _NOTES}:
        return False
    text = repr(bare)
    spend(len(text) >> 4)
    return "ef'" not in text and text == repr({word: other[word] for word in bare})


@lru_cache(maxsize=4_096)
def _pattern(pattern: str) -> jsonschema_rs.Validator | None:
    try:
        return jsonschema_rs.Draft7Validator(
            {"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions(size_limit=1 << 20), offline=True
        )
    except (ValueError, jsonschema_rs.ValidationError):
        return None


def matches(pattern: str, text: str) -> bool | None:
    """Whether a regular expression finds something in a text, in linear time; None if that can't be decided so."""
    spend(2 + (len(text) >> 4))
    validator = _pattern(pattern)
    return None if validator is None else validator.is_valid(text)

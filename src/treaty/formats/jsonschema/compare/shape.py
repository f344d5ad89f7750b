"""Schemas as the established comparison sees them: of one kind each, and a combination where they say several things.

A type array is an anyOf. A schema with several families of keywords (a type and an enum, say) is an allOf of one shape
for each, which no text holds. Source: the object model of the reference's library, as its specification describes it.
"""

from collections.abc import Iterator, Mapping

from treaty.formats.jsonschema.compare.view import UNRESOLVED, SchemaView

EMPTY, NEVER, LOST, CONDITION = "empty", "never", "lost", "condition"
COMBINED = "combined"

_KINDS: Mapping[str, str] = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "array": "array",
    "object": "object",
    "boolean": "boolean",
    "null": "null",
}
_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "array": (
        "prefixItems",
        "items",
        "minItems",
        "maxItems",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        "unevaluatedItems",
    ),
    "object": (
        "properties",
        "required",
        "additionalProperties",
        "minProperties",
        "maxProperties",
        "dependentRequired",
        "dependentSchemas",
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
    ),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"),
}
_BY_WORD: Mapping[str, str] = {word: kind for kind, words in _FAMILIES.items() for word in words}


class SchemaShape:
    """One shape of a schema.

    `type` is the word that the schema uses for it, "" if it names none. `criterion` and `branches` belong to
    combinations; `made` says that no text holds this combination. `inner` is true for what is part of one.
    """

    __slots__ = ("_branches", "criterion", "inner", "kind", "made", "type", "view")

    def __init__(
        self,
        kind: str,
        view: SchemaView,
        *,
        type: str = "",  # noqa: A002 (the keyword's name)
        criterion: str = "",
        branches: "tuple[SchemaShape, ...] | None" = None,
    ) -> None:
        self.kind = kind
        self.view = view
        self.type = type
        self.criterion = criterion
        self.made = branches is not None
        self.inner = False
        self._branches = branches

    @property
    def branches(self) -> "tuple[SchemaShape, ...]":
        """The combined shapes."""
        if self._branches is None:
            self._branches = tuple(get_shape(view) for view in self.view.list_schemas(self.criterion))
        return self._branches


def get_shape(view: SchemaView) -> SchemaShape:
    """The shape of a schema, always the same one for the same view."""
    if view.shape is None:
        view.shape = _build_shape(view)
    assert isinstance(view.shape, SchemaShape)
    return view.shape


def _build_shape(view: SchemaView) -> SchemaShape:
    if view.never:
        return SchemaShape(NEVER, view)
    parts = list(_parts(view))
    if not parts:
        return SchemaShape(EMPTY, view)
    if len(parts) == 1:
        return parts[0]
    for part in parts:
        part.inner = part.view is view
    return SchemaShape(COMBINED, view, criterion="allOf", branches=tuple(parts))


def _parts(view: SchemaView) -> Iterator[SchemaShape]:
    words = view.words
    target = view.target()
    if target is not None:
        yield get_shape(target)
    if UNRESOLVED in words:
        yield SchemaShape(LOST, view)
    if "enum" in words:
        yield SchemaShape("enum", view)
    for criterion in ("allOf", "anyOf", "oneOf"):
        if criterion in words:
            yield SchemaShape(COMBINED, view, criterion=criterion)
    if "not" in words:
        yield SchemaShape("not", view)
    if "const" in words:
        yield SchemaShape("const", view)
    if "type" in words:
        yield _build_type_shape(view)
    else:
        for kind in dict.fromkeys(_BY_WORD[word] for word in words if word in _BY_WORD):
            yield SchemaShape(kind, view)
    if "if" in words:
        yield SchemaShape(CONDITION, view)


def _build_type_shape(view: SchemaView) -> SchemaShape:
    named = view.words["type"]
    types = [one for one in (named if isinstance(named, list) else [named]) if isinstance(one, str)]
    shapes = tuple(SchemaShape(_KINDS.get(one, one), view, type=one) for one in types)
    if len(shapes) == 1:
        return shapes[0]
    for shape in shapes:
        shape.inner = True
    return SchemaShape(COMBINED, view, criterion="anyOf", branches=shapes)

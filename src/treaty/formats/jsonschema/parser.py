"""Schema text to model: the text, the texts of its references, and where every reference leads."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from treaty.core.iglu_key import SELF_DESCRIBING
from treaty.core.limits import REFERENCE_DEPTH, REFERENCES, SCHEMA_BYTES, SUBSCHEMAS
from treaty.core.schema_engine import ResolvedReference, ResolvedSchema
from treaty.formats.budget import spend
from treaty.formats.format import InvalidSchemaError, ReferenceName
from treaty.formats.json_text import read_exact_json, text_error
from treaty.formats.jsonschema.drafts import DEFAULT, DRAFT_3, get_draft, meta_schema, meta_schemas
from treaty.formats.jsonschema.model import Json, JsonSchema, JsonSchemaDraft, SchemaNode
from treaty.formats.jsonschema.references import (
    REFERRING,
    get_reference,
    ignores_siblings,
    list_subschemas,
    locate_schema,
    own_uri,
)
from treaty.formats.jsonschema.uri import NOWHERE, join_uri, parse_pointer, split_uri
from treaty.formats.jsonschema.validity import check_document

_ROUNDS = 4
"""How often all references are followed at most, while schemas with new names are found."""
_STORED_BYTES = 4 * SCHEMA_BYTES
"""A canonical text may be longer than the text that was sent: an exponent gets a sign, an escape more letters."""


def parse_schema(resolved: ResolvedSchema, strict: bool) -> JsonSchema:  # noqa: FBT001 - the signature of `Format.parse`
    """The model of a text and its references.

    With `strict`, the text must be valid by its meta-schema, its regular expressions must compile and its references
    lead somewhere. References are never checked again. Raises `InvalidSchemaError` with all faults found, the first one
    first.
    """
    builder = DocumentBuilder()
    builder.add(_schema(resolved.text, SCHEMA_BYTES if strict else _STORED_BYTES), NOWHERE)
    for bound in _list_references(resolved.bindings, set(), 1):
        builder.bind(bound)
    builder.walk()
    document = JsonSchema(
        builder.roots[0],
        builder.resources,
        builder.text_resources,
        tuple(dict.fromkeys(to for _, to in builder.blocked)),
        tuple(root.value for root in builder.roots),
        builder.names,
        frozenset(builder.dynamic),
        tuple(builder.roots),
        resolved.text,
    )
    if strict:
        lost = [(node, to) for node, to in builder.blocked if node.text_number == 0 and DRAFT_3 not in to]
        check_document(document, builder.own, lost, builder.shared)
    return document


def find_references(text: str) -> tuple[ReferenceName, ...]:
    """The URIs of the other texts that a text needs, as they are written but without fragment, each where it is first.

    Raises `InvalidSchemaError` if the text is not JSON; anything else that is wrong with it is left to `parse`.
    """
    builder = DocumentBuilder()
    builder.add(_schema(text, _STORED_BYTES), NOWHERE)
    builder.walk()
    names: dict[str, str] = {}
    for node, to in builder.blocked:
        before = split_uri(to)[0]
        if before and DRAFT_3 not in before and join_uri(node.base, before) not in builder.resources:
            names.setdefault(before, f"{node.place}/$ref")
    return tuple(ReferenceName(name, path) for name, path in names.items())


def _schema(text: str, limit: int) -> Json:
    spend(len(text) >> 1)  # what reading and checking takes for a character, before it begins
    value = read_exact_json(text, limit)
    if not isinstance(value, dict | bool):
        message = f"a schema is an object or a boolean, not {_kind(value)}"
        raise text_error("SCHEMA_NOT_READABLE", message, "an object, true or false")
    return value


def _kind(value: Json) -> str:
    kinds = {str: "a string", list: "an array", type(None): "null"}
    return kinds.get(type(value), "a number")


def _list_references(
    bindings: tuple[ResolvedReference, ...], visited: set[str], depth: int
) -> Iterator[ResolvedReference]:
    """All bindings, each before those that it needs itself; of two under one name the first counts."""
    if bindings and depth > REFERENCE_DEPTH:
        limit = f"references nest deeper than the limit REFERENCE_DEPTH of {REFERENCE_DEPTH}"
        raise text_error("REFERENCES_TOO_DEEP", limit, f"at most {REFERENCE_DEPTH} links in a chain")
    fresh = []
    for bound in bindings:
        if bound.name not in visited:
            visited.add(bound.name)
            if len(visited) > REFERENCES:
                limit = f"more references than the limit REFERENCES of {REFERENCES}"
                raise text_error("TOO_MANY_REFERENCES", limit, f"at most {REFERENCES}, those of references included")
            fresh.append(bound)
            yield bound
    for bound in fresh:
        yield from _list_references(bound.meaning.bindings, visited, depth + 1)


@dataclass(slots=True)
class DocumentBuilder:
    """What a document is built in: texts, and what they name."""

    roots: list[SchemaNode] = field(default_factory=list)
    resources: dict[str, SchemaNode] = field(default_factory=dict)
    text_resources: dict[tuple[int, str], SchemaNode] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    dynamic: set[tuple[int, str]] = field(default_factory=set)
    blocked: list[tuple[SchemaNode, str]] = field(default_factory=list)
    empty: dict[str, SchemaNode] = field(default_factory=dict)
    """Empty schemas by the URIs of what is never fetched, in schemas of Iglu."""
    own: list[SchemaNode] = field(default_factory=list)
    shared: dict[tuple[int, str], list[SchemaNode]] = field(default_factory=dict)
    """Schemas of one text that have the same URI or anchor, by their text and that URI."""
    _referring: list[tuple[SchemaNode, str]] = field(default_factory=list)
    _texts: dict[bytes, int] = field(default_factory=dict)
    _seen: set[tuple[int, str]] = field(default_factory=set)
    _walked: int = 0

    def add(self, value: Json, uri: str, default: JsonSchemaDraft = DEFAULT) -> int:
        """Add a parsed text to `roots` and return its number there, which its nodes have as their `text`.

        It is known by `uri` and by the URI that its own identifier gives, such as ``$id``; of two texts with one URI the first
        counts. `default` is the draft of a text without ``$schema``.
        """
        draft = get_draft(value, default)
        base = join_uri(uri, own_uri(value, draft))
        root = SchemaNode(value, base, "", draft, len(self.roots))
        self.roots.append(root)
        self.text_resources[root.text_number, base] = root
        for name in (base, uri):
            self.resources.setdefault(name, root)
        return root.text_number

    def bind(self, bound: ResolvedReference) -> None:
        """Take in the text that a reference leads to, under its name as it is and as the own text may mean it."""
        text_number = self._texts.get(bound.meaning.digest)
        uri = join_uri(self.roots[0].base, bound.name)
        if text_number is None:
            try:
                value = _schema(bound.meaning.text, _STORED_BYTES)
            except InvalidSchemaError as error:
                first = error.faults[0]
                # Not where it stands: answers are remembered by meaning, and equal texts may stand in other subjects.
                message = f"the reference {bound.name!r}: {first.message}"
                raise InvalidSchemaError((replace(first, message=message, line=0, column=0),)) from None
            text_number = self._texts[bound.meaning.digest] = self.add(value, uri)
        for name in (uri, join_uri(NOWHERE, bound.name)):
            self.resources.setdefault(name, self.roots[text_number])
        for name in (bound.name, split_uri(bound.name)[0]):
            if name:
                self.names.setdefault(name, text_number)

    def walk(self) -> None:
        """Visit every schema of every text: first all names, then where all references lead.

        A schema that references alone lead to may have a URI that another one asked for before: then all are followed again,
        `_ROUNDS` times at most.
        """
        for root in self.roots:
            self._visit(root)
        lost: list[tuple[SchemaNode, str]] = []
        for _ in range(_ROUNDS):
            resources_before = len(self.resources) + len(self.text_resources)
            lost = self._follow_all()
            if len(self.resources) + len(self.text_resources) == resources_before:
                break
        for node, to in lost:
            if self._ignores(node, to):
                self._bind_empty(node, to)
            else:
                self.blocked.append((node, to))

    def _follow_all(self) -> list[tuple[SchemaNode, str]]:
        """Follow all references, those that are met on the way too; those that lead nowhere."""
        return [(node, to) for node, to in self._referring if not self._follow(node, to)]

    def _follow(self, node: SchemaNode, to: str) -> bool:
        """Visit where a reference leads; false where that is nowhere."""
        spend(5 + (len(to) >> 2))
        target = locate_schema(self, node, to) or self._meta(node, to)
        if target is not None and target.key not in self._seen:
            self._visit(target)
        return target is not None

    def _ignores(self, node: SchemaNode, to: str) -> bool:
        """Whether a reference leads out of a self-describing schema of Iglu, whose clients read it as the empty schema."""
        top = self.roots[node.text_number].value
        is_iglu = isinstance(top, dict) and top.get("$schema") == SELF_DESCRIBING and isinstance(top.get("self"), dict)
        uri = join_uri(node.base, split_uri(to)[0])
        return is_iglu and uri.startswith(("http://", "https://")) and (uri in self.empty or uri not in self.resources)

    def _bind_empty(self, node: SchemaNode, to: str) -> None:
        """Let a reference lead to an empty schema."""
        before, fragment = split_uri(to)
        uri = join_uri(node.base, before)
        root = self.empty[uri] = self.empty.get(uri) or self.roots[self.add({}, uri)]
        steps = parse_pointer(fragment)
        if steps is None:
            self.text_resources[root.text_number, f"{root.base}#{fragment}"] = root
            return
        value = root.value
        for step in steps:
            if isinstance(value, dict):
                value = value.setdefault(step, {})

    def _visit(self, start: SchemaNode) -> None:
        """Take in what a schema and all schemas inside it name, and note their references."""
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if node.key in self._seen:
                continue
            self._seen.add(node.key)
            self._walked += 1
            spend(4)
            if self._walked > SUBSCHEMAS:
                message = f"more schemas inside each other than the limit SUBSCHEMAS of {SUBSCHEMAS}"
                raise text_error("TOO_MANY", message, f"at most {SUBSCHEMAS}, those of references included")
            if isinstance(node.value, dict):
                self._name(node, node.value)
                for word in REFERRING:
                    to = get_reference(node, word)
                    if to is not None:
                        self._referring.append((node, to))
                waiting += reversed(list(list_subschemas(node, only_kept=ignores_siblings(node))))
            if node.text_number == 0:
                self.own.append(node)

    def _name(self, node: SchemaNode, value: Mapping[str, Json]) -> None:
        if node.place and own_uri(node.value, node.draft):
            self.resources.setdefault(node.base, node)
            if not split_uri(own_uri(node.value, node.draft))[1]:  # with a fragment it names an anchor alone
                self._share(node, node.base)
        if node.draft.number < 2019:
            named = value.get(node.draft.identifier)
            anchor = split_uri(named)[1] if isinstance(named, str) and "#" in named else ""
            if anchor and anchor[0] != "/" and "$ref" not in value:
                self._anchor(node, anchor)
            return
        for word in ("$anchor", "$dynamicAnchor") if node.draft.number > 2019 else ("$anchor",):
            named = value.get(word)
            if isinstance(named, str) and named:
                self._anchor(node, named)
                if word == "$dynamicAnchor":
                    self.dynamic.add((node.text_number, f"{node.base}#{named}"))
        if node.draft.number == 2019 and value.get("$recursiveAnchor") is True:
            self.dynamic.add((node.text_number, f"{node.base}#"))

    def _anchor(self, node: SchemaNode, anchor: str) -> None:
        self._share(node, f"{node.base}#{anchor}")

    def _share(self, node: SchemaNode, uri: str) -> None:
        first = self.text_resources.setdefault((node.text_number, uri), node)
        if first.key != node.key:
            self.shared.setdefault((node.text_number, uri), [first]).append(node)

    def _meta(self, node: SchemaNode, to: str) -> SchemaNode | None:
        """Take in the meta-schemas of a draft if the reference leads to one; then where it leads."""
        uri = join_uri(node.base, to)
        draft = meta_schema(uri)
        if draft is None:
            return None
        if draft.uri not in self.resources or uri not in self.resources:
            for name, value in meta_schemas(draft).items():
                self._visit(self.roots[self.add(value, name, draft)])
            self.resources.setdefault(uri, self.resources[draft.uri])
        return locate_schema(self, node, to)

"""A JSON Schema read as logical types."""

from treaty.core.limits import LOGICAL_DEPTH, LOGICAL_MEMBERS
from treaty.formats.jsonschema.logical.words import (
    BYTES,
    CLOCKS,
    CONNECT,
    DATE,
    DECIMAL,
    DIGITS,
    FLINK,
    INSTANT,
    LENGTHS,
    NUMBERS,
    PARAMETERS,
    PRECISION,
    TIME,
)
from treaty.formats.jsonschema.model import Json, JsonSchema, SchemaNode
from treaty.formats.jsonschema.resolve import child, follow
from treaty.formats.logical.defaults import default_of
from treaty.formats.logical.faults import fault
from treaty.formats.logical.model import LONGEST, Array, Enum, Map, Member, Scalar, Struct, Type
from treaty.formats.logical.printing import show

_OTHERS = ("allOf", "not", "if", "patternProperties", "prefixItems", "$dynamicRef", "$recursiveRef", "dependentSchemas")
"""Keywords that say more of a type than logical types can."""
_SIZES = {size: name for name, size in NUMBERS.items()}

Words = dict[str, Json]
Made = tuple[Type, bool]
"""A type, and whether it may be null."""


def logical_view(document: JsonSchema) -> str:
    """The text of the logical types of a schema; raises `InvalidSchemaError` for one that they can't say."""
    kind, nullable = _Reader(document).type(document.root, "")
    if not isinstance(kind, Struct) or nullable:
        raise fault("LOGICAL_UNSUPPORTED", "", "the schema is no object with properties", "an object with properties")
    return show(kind)


def _unsupported(path: str, message: str) -> Exception:
    return fault("LOGICAL_UNSUPPORTED", path, message)


class _Reader:
    """Reads types. `_open` are the places around one, `_count` the properties so far."""

    __slots__ = ("_count", "_document", "_open")

    def __init__(self, document: JsonSchema) -> None:
        self._document = document
        self._open: list[tuple[int, str]] = []
        self._count = 0

    def type(self, node: SchemaNode, path: str) -> Made:
        """The type of a place, and whether it may be null."""
        if node.key in self._open:
            raise fault("LOGICAL_RECURSIVE", path, "an object is used inside itself")
        if len(self._open) > 2 * LOGICAL_DEPTH + 2:  # null and the type are two places
            raise fault("LOGICAL_DEPTH", path, f"the types nest deeper than the limit LOGICAL_DEPTH of {LOGICAL_DEPTH}")
        self._open.append(node.key)
        made = self._place(node, path)
        self._open.pop()
        return made

    def _place(self, node: SchemaNode, path: str) -> Made:
        words = node.value
        if not isinstance(words, dict):
            raise _unsupported(path, "a place that takes any value, or none")
        if "$ref" in words:
            target = follow(self._document, node, "$ref")
            if target is None:
                raise _unsupported(path, "a reference that leads nowhere")
            return self.type(target, path)
        other = next((word for word in _OTHERS if word in words), None)
        if other is not None:
            raise _unsupported(path, f"a schema with {other}")
        for word in ("oneOf", "anyOf"):
            if word in words:
                return self._choice(node, word, path)
        kinds = words.get("type")
        if isinstance(kinds, list):
            rest = [one for one in kinds if one != "null"]
            if len(rest) != 1:
                raise _unsupported(path, f"a place of {len(rest)} types")
            return self._typed(node, words, str(rest[0]), path), len(rest) < len(kinds)
        return self._typed(node, words, str(kinds or ("object" if "properties" in words else "")), path), False

    def _choice(self, node: SchemaNode, word: str, path: str) -> Made:
        """One of two branches is null."""
        assert isinstance(node.value, dict)
        branches = node.value[word]
        if not isinstance(branches, list):  # a reference may lead to what is no schema
            raise _unsupported(path, f"a schema whose {word} is no list")
        nodes = [child(node, word, at) for at in range(len(branches))]
        rest = [one for one in nodes if not isinstance(one.value, dict) or one.value.get("type") != "null"]
        if len(rest) != 1 or "type" in node.value or "properties" in node.value:
            raise _unsupported(path, f"a choice of {len(rest)} types")
        kind, nullable = self.type(rest[0], path)
        return kind, nullable or len(nodes) > 1

    def _typed(self, node: SchemaNode, words: Words, kind: str, path: str) -> Type:
        title = words.get("title")
        name = title if isinstance(title, str) else ""
        match kind:
            case "object":
                return self._object(node, words, name, path)
            case "array":
                if not isinstance(words.get("items"), dict):
                    raise _unsupported(path, "an array without one schema for its items")
                return Array(*self.type(child(node, "items"), path))
            case "string":
                listed = words.get("enum")
                self._count += len(listed) if isinstance(listed, list) else 0
                return _text(words, name, path)
            case "boolean":
                return Scalar("BOOLEAN")
            case "integer" | "number":
                return _number(words, kind, name)
        raise _unsupported(path, "a place without a type, or of null alone")

    def _object(self, node: SchemaNode, words: Words, name: str, path: str) -> Type:
        properties = words.get("properties", {})
        if not isinstance(properties, dict):
            raise _unsupported(path, "a schema whose properties are no object")
        more = words.get("additionalProperties", True)
        if not properties and isinstance(more, dict):
            return Map(Scalar("STRING"), *self.type(child(node, "additionalProperties"), path))
        if not properties and more is not False:
            raise _unsupported(path, "an object without properties")
        required = words.get("required")
        needed = set(map(str, required)) if isinstance(required, list) else set()
        return Struct(name, tuple(self._member(node, one, needed, f"{path}/{one}") for one in properties))

    def _member(self, node: SchemaNode, name: str, needed: set[str], path: str) -> Member:
        self._count += 1
        if self._count > LOGICAL_MEMBERS:
            raise fault("LOGICAL_MEMBERS", path, f"more members than the limit LOGICAL_MEMBERS of {LOGICAL_MEMBERS}")
        if not name:
            raise fault("LOGICAL_NAME", path, "a property with an empty name")
        place = child(node, "properties", name)
        kind, nullable = self.type(place, path)
        nullable = nullable or name not in needed
        words = place.value if isinstance(place.value, dict) else {}
        default = default_of(kind, nullable=nullable, value=words["default"]) if "default" in words else None
        doc = words.get("description")
        return Member(name, kind, nullable, default, doc if isinstance(doc, str) else "")


def _length(words: Words, names: tuple[str, str], kinds: tuple[str, str, str]) -> Scalar:
    """Of exactly so many characters or bytes, of at most so many, or of any number."""
    least, most = (words.get(one) for one in names)
    if type(most) is int and 0 < most < LONGEST:
        return Scalar(kinds[0] if least == most else kinds[1], (most,))
    return Scalar(kinds[2])


def _text(words: Words, name: str, path: str) -> Type:
    if words.get(CONNECT) == "bytes":
        return _length(words, BYTES, ("BINARY", "VARBINARY", "BYTES"))
    listed = words.get("enum")
    if isinstance(listed, list):
        symbols = tuple(one for one in listed if isinstance(one, str))
        if len(symbols) < len(listed) or not symbols:
            raise _unsupported(path, "an enum with more than texts")
        return Enum(name, tuple(dict.fromkeys(symbols)))
    return _length(words, LENGTHS, ("CHAR", "VARCHAR", "STRING"))


def _number(words: Words, kind: str, title: str) -> Scalar:
    size = words.get(CONNECT)
    digits = words.get(PRECISION)
    clock = {TIME: "TIME", INSTANT: "TIMESTAMP_LTZ"}.get(title) or (
        "TIMESTAMP" if words.get(FLINK) == "timestamp" else ""
    )
    if clock:
        return Scalar(clock, (digits if type(digits) is int and 0 <= digits <= 9 else CLOCKS[clock],))
    if title == DATE:
        return Scalar("DATE")
    said = words.get(PARAMETERS)
    if title == DECIMAL and size == "bytes" and isinstance(said, dict):
        given = (str(said.get(DIGITS, "")), str(said.get("scale", "0")))
        if all(one.isascii() and one.isdigit() and len(one) < 3 for one in given) and 0 < int(given[0]) <= 38:
            return Scalar("DECIMAL", (int(given[0]), min(int(given[1]), int(given[0]))))
    return Scalar(_SIZES.get(str(size), "BIGINT" if kind == "integer" else "DOUBLE"))

"""What the index takes out of a schema text: fields with their types, tags, and documentation."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

TAGS = "confluent:tags"
_NOTED = frozenset({TAGS, "doc", "description", "title"})
PATH_CHARACTERS = 1_000
"""Characters of the path of a field; the index has no field with a longer one, and none inside it."""
PATHS_CHARACTERS = 4_000_000
"""Characters of paths and types of one schema that the index has; fields past it are left out."""
FIELD_TYPES = 100
"""Types of one field that the index has."""
Json = Any


@dataclass(slots=True)
class SchemaContents:
    """Fields as (path, types), tags, and documentation. A path is of names, with a dot between them."""

    fields: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    tags: set[str] = field(default_factory=set)
    docs: list[str] = field(default_factory=list)
    characters: int = 0
    """Characters of the paths, each counted once more with each of its types."""

    def put_field(self, path: str, types: tuple[str, ...]) -> bool:
        """Put a field; returns whether it was put: not one with too long a path, nor one past the characters of all."""
        size = 2 * len(path) + len(types[0]) if len(types) == 1 else len(path) * (1 + len(types)) + sum(map(len, types))
        if len(path) > PATH_CHARACTERS or self.characters + size > PATHS_CHARACTERS:
            return False
        self.characters += size
        self.fields.append((path, types))
        return True

    def note(self, node: dict[str, Json]) -> None:
        """Take tags and documentation of a part."""
        for name in _NOTED.intersection(node):
            value = node[name]
            if name == TAGS:
                self.tags.update(map(str, value if isinstance(value, list) else ()))
            elif isinstance(value, str):
                self.docs.append(value)


def list_type_words(node: Json) -> Iterator[str]:
    """Yield the types that an Avro field may have, without null: kinds, names of types, and logical types."""
    for branch in node[:FIELD_TYPES] if isinstance(node, list) else [node]:
        if isinstance(branch, str) and branch != "null":
            yield branch
            if "." in branch:
                yield branch.rpartition(".")[2]
        elif isinstance(branch, dict):
            words = (branch.get(member) for member in ("type", "logicalType", "name"))
            yield from (word for word in words if isinstance(word, str))

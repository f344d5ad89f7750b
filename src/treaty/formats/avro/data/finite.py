"""Which named types have a finite value, and which of several is the shallowest."""

from collections import deque
from collections.abc import Mapping

from treaty.formats.avro.model import AvroEnum, AvroRecord, AvroReference, AvroSchema, AvroType, AvroUnion, NamedType

Heights = Mapping[str, int]
"""By full name the levels of records that the shallowest value has; types without a finite value are not in it."""


def heights(schema: AvroSchema) -> Heights:
    """The heights of all named types, in linear time.

    Arrays and maps may be empty, so they have a value whatever they hold; an enum without symbols has none.
    """
    known: dict[str, int] = {}
    open_fields: dict[str, int] = {}
    users: dict[str, list[tuple[str, int]]] = {}
    ready: deque[tuple[str, int]] = deque()
    for full, node in schema.names.items():
        if isinstance(node, AvroRecord):
            needs = [names for names in (_needed(field.type) for field in node.fields) if names is not None]
            open_fields[full] = len(needs)
            for at, names in enumerate(needs):
                for name in names:
                    users.setdefault(name, []).append((full, at))
        if _is_ready(node, open_fields.get(full, 0)):
            ready.append((full, 0))
    met: set[tuple[str, int]] = set()
    while ready:  # in the order of heights, so the first word on a field is the lowest one
        full, height = ready.popleft()
        known[full] = height
        for user in users.get(full, ()):
            if user not in met:
                met.add(user)
                open_fields[user[0]] -= 1
                if not open_fields[user[0]]:
                    ready.append((user[0], height + 1))
    return known


def _is_ready(node: NamedType, needs: int) -> bool:
    return bool(node.symbols) if isinstance(node, AvroEnum) else not needs


def _needed(node: AvroType) -> frozenset[str] | None:
    """Names of which one must have a value for a type to have one; None where none is needed."""
    branches = node.branches if isinstance(node, AvroUnion) else (node,)
    names = [branch.full for branch in branches if isinstance(branch, AvroReference | AvroRecord | AvroEnum)]
    return None if len(names) < len(branches) else frozenset(names)


def height_of(node: AvroType, known: Heights) -> int | None:
    """The height of a type, None where it has no finite value."""
    if isinstance(node, AvroUnion):
        found = [one for one in (height_of(branch, known) for branch in node.branches) if one is not None]
        return min(found, default=None)
    return known.get(node.full) if isinstance(node, AvroReference | AvroRecord | AvroEnum) else 0

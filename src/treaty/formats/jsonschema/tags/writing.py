"""A JSON Schema with other tags."""

from collections.abc import Hashable, Mapping
from typing import cast

from treaty.formats.json_pointer import ValuePath
from treaty.formats.jsonschema.canonical import print_value
from treaty.formats.jsonschema.model import Json, JsonSchema
from treaty.formats.jsonschema.tags.reading import MEMBER


def write(document: JsonSchema, tags: Mapping[Hashable, tuple[str, ...]]) -> str:
    """The canonical text in which these places have these tags: where the member stood, else as the last one."""
    root = _copied(document.root.value)
    for place, names in tags.items():
        node = _at(root, cast("ValuePath", place))
        if names:
            node[MEMBER] = cast("list[Json]", list(names))
        else:
            node.pop(MEMBER, None)
    return print_value(root)


def _copied(value: Json) -> Json:
    if isinstance(value, dict):
        return {name: _copied(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_copied(inner) for inner in value]
    return value


def _at(root: Json, place: ValuePath) -> dict[str, Json]:
    steps: list[str | int] = []
    while place is not None:
        place, step = place
        steps.append(step)
    node = root
    for step in reversed(steps):
        node = node[step]  # type: ignore[index]  # the place was found in this very text
    assert isinstance(node, dict)
    return node

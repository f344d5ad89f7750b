"""Texts of draft 3 as texts of draft 4, by which they are compared and become columns."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from treaty.core.finding import Diagnostic
from treaty.core.limits import SCHEMA_BYTES
from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_reader import read_exact_json
from treaty.formats.jsonschema.canonical import print_value
from treaty.formats.jsonschema.drafts import DRAFTS, find_draft
from treaty.formats.jsonschema.model import Json

NAME = "json-schema.org/draft-03/schema"
"""What the URI of draft 3 has in it, however it begins and ends."""
_SIGNS = re.compile(r'draft-03|"required"\s*:\s*(?:true|false)|"any"|"(?:type|disallow)"\s*:\s*[\[{]|"dependencies"')
"""What a text has that may be of draft 3 alone."""
_MOVED = frozenset({"extends", "disallow", "type"})
"""Members that hold schemas in draft 3 and have another name or another shape in draft 4."""
_MAPS = frozenset({"properties", "patternProperties", "dependencies", "definitions", "$defs"})
"""Members that hold schemas by names."""


def translate_draft3(text: str) -> str | None:
    """Return the text of draft 4 that means what a text of draft 3 means; None for a text that is not of draft 3 alone.

    That is one which names draft 3, or which names no draft that is known and has what no later draft allows. Raises
    `InvalidSchemaError` for a reference that draft 4 can't have.
    """
    if _SIGNS.search(text) is None:
        return None
    try:
        value = read_exact_json(text, SCHEMA_BYTES)
    except InvalidSchemaError:
        return None  # the registry says what is wrong with it
    if not isinstance(value, dict) or find_draft(value.get("$schema")) is not None:
        return None
    work = _Translation()
    made = work.schema(value, "")
    if not work.is_draft3 and NAME not in str(value.get("$schema")):
        return None
    return print_value({"$schema": f"{DRAFTS[4].uri}#", **made})


@dataclass(slots=True)
class _Translation:
    """One translation. `is_draft3` says whether anything was met that no later draft allows."""

    is_draft3: bool = False

    def schema(self, node: dict[str, Json], path: str) -> dict[str, Json]:
        """Return a schema in draft 4."""
        made: dict[str, Json] = {}
        every: list[Json] = []
        for name, value in node.items():
            here = f"{path}/{name}"
            match name:
                case "$schema":
                    continue
                case "$ref":
                    _refuse_lost_reference(value, here)
                    made[name] = value
                case "required" if isinstance(value, bool):
                    self.is_draft3 = True  # the schema around the property says it
                case "type":
                    self._type(value, here, made, every)
                case "disallow":
                    every.append({"not": {"anyOf": self._types(value, here)}})
                case "extends":
                    every += self._schemas(value if isinstance(value, list) else [value], here)
                case "divisibleBy":
                    made["multipleOf"] = value
                case "properties" if isinstance(value, dict):
                    made[name] = self._map(value, here)
                    needed: list[Json] = [key for key, one in value.items() if _is_required(one)]
                    made |= {"required": needed} if needed else {}
                case "patternProperties" | "definitions" | "$defs" if isinstance(value, dict):
                    made[name] = self._map(value, here)
                case "dependencies" if isinstance(value, dict):
                    self.is_draft3 |= any(isinstance(one, str) for one in value.values())
                    listed: dict[str, Json] = {
                        key: [one] if isinstance(one, str) else one for key, one in value.items()
                    }
                    made[name] = self._map(listed, here)
                case "items" if isinstance(value, list):
                    made[name] = self._schemas(value, here)
                case "items" | "additionalItems" | "additionalProperties":
                    made[name] = self._one(value, here)
                case _:
                    made[name] = value
        return made | ({"allOf": every} if every else {})

    def _one(self, value: Json, path: str) -> Json:
        return self.schema(value, path) if isinstance(value, dict) else value

    def _map(self, value: dict[str, Json], path: str) -> dict[str, Json]:
        return {key: self._one(one, f"{path}/{key}") for key, one in value.items()}

    def _schemas(self, values: Iterable[Json], path: str) -> list[Json]:
        return [self._one(one, f"{path}/{at}") for at, one in enumerate(values)]

    def _type(self, value: Json, path: str, made: dict[str, Json], every: list[Json]) -> None:
        """Add what a type says: nothing for any value, a choice where some types are schemas."""
        words = value if isinstance(value, list) else [value]
        if "any" in words:
            self.is_draft3 = True
        elif any(isinstance(one, dict) for one in words):
            self.is_draft3 = True
            every.append({"anyOf": self._types(value, path)})
        else:
            made["type"] = value

    def _types(self, value: Json, path: str) -> list[Json]:
        """Return the schemas of one or several types, each a word or a schema."""
        words = value if isinstance(value, list) else [value]
        return [
            {} if one == "any" else self._one(one, f"{path}/{at}") if isinstance(one, dict) else {"type": one}
            for at, one in enumerate(words)
        ]


def _is_required(value: Json) -> bool:
    return isinstance(value, dict) and value.get("required") is True


def _leads_into_moved(pointer: str) -> bool:
    """Return whether a pointer leads through a member that is elsewhere in draft 4; names of properties are none."""
    words = iter(pointer.split("/"))
    for word in words:
        if word in _MOVED:
            return True
        if word in _MAPS:
            next(words, None)
    return False


def _refuse_lost_reference(value: Json, path: str) -> None:
    """Raise `InvalidSchemaError` for a reference into a member that is elsewhere in draft 4, or to draft 3 itself."""
    if isinstance(value, str) and (NAME in value or _leads_into_moved(value.partition("#")[2])):
        message = f"the reference {value[:100]!r} of draft 3 has no translation into draft 4"
        expected = "a reference to a schema under definitions, properties or items, or a text of a later draft"
        raise InvalidSchemaError((Diagnostic("DRAFT_3_REFERENCE", path, message, expected),))

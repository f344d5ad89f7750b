"""Texts of draft 3 as texts of draft 4, by which they are compared and become columns."""

import re
from dataclasses import dataclass, field
from urllib.parse import quote

from treaty.core.limits import SCHEMA_BYTES
from treaty.formats.format import InvalidSchemaError
from treaty.formats.json_pointer import escape_step
from treaty.formats.json_text import read_exact_json
from treaty.formats.jsonschema.canonical import print_value
from treaty.formats.jsonschema.drafts import DRAFT_3, DRAFTS, find_draft
from treaty.formats.jsonschema.model import Json
from treaty.formats.jsonschema.uri import parse_pointer

_SIGNS = re.compile(r'draft-03|"required"\s*:\s*(?:true|false)|"any"|"(?:type|disallow)"\s*:\s*[\[{]|"dependencies"')
"""What a text has that may be of draft 3 alone."""
Place = tuple[str, ...]
"""The steps of a JSON pointer."""


def translate_draft3(text: str) -> str | None:
    """Return the text of draft 4 that means what a text of draft 3 means; None for a text that is not of draft 3 alone.

    That is one which names draft 3, or which names no draft that is known and has what no later draft allows. References follow
    the schemas that they lead to; one to the meta-schema of draft 3 stays, and a comparison says that it leads nowhere.
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
    translated = work.schema(value, (), ())
    if not work.is_draft3 and DRAFT_3 not in str(value.get("$schema")):
        return None
    work.move_references()
    return print_value({"$schema": f"{DRAFTS[4].uri}#", **translated})


@dataclass(slots=True)
class _Translation:
    """One translation. `is_draft3` says whether anything was met that no later draft allows, `places` where the schemas of draft 3
    are in draft 4, and `referring` has the schemas of draft 4 with a reference.
    """

    is_draft3: bool = False
    places: dict[Place, Place] = field(default_factory=dict)
    referring: list[dict[str, Json]] = field(default_factory=list)
    has_resources: bool = False
    """Whether a schema inside has a URI of its own: pointers may begin there, so references stay as they are."""

    def schema(self, node: dict[str, Json], old: Place, new: Place) -> dict[str, Json]:
        """Return a schema in draft 4; `old` and `new` are its places in both."""
        self.places[old] = new
        self.has_resources |= bool(old) and not str(node.get("id", "#")).startswith("#")
        translated: dict[str, Json] = {}
        every: list[Json] = []
        for name, value in node.items():
            old_place, new_place = (*old, name), (*new, name)
            branch = (*new, "allOf", str(len(every)))
            match name:
                case "$schema":
                    continue
                case "required" if isinstance(value, bool):
                    self.is_draft3 = True  # the schema around the property says it
                case "type":
                    self._type(value, old_place, branch, translated, every)
                case "disallow":
                    every.append({"not": {"anyOf": self._types(value, old_place, (*branch, "not", "anyOf"))}})
                case "extends":
                    self._extends(value, old_place, new, every)
                case "divisibleBy":
                    translated["multipleOf"] = value
                case "properties" if isinstance(value, dict):
                    translated[name] = self._map(value, old_place, new_place)
                    needed: list[Json] = [key for key, schema in value.items() if _is_required(schema)]
                    translated |= {"required": needed} if needed else {}
                case "patternProperties" | "definitions" | "$defs" if isinstance(value, dict):
                    translated[name] = self._map(value, old_place, new_place)
                case "dependencies" if isinstance(value, dict):
                    self.is_draft3 |= any(isinstance(dependency, str) for dependency in value.values())
                    listed: dict[str, Json] = {
                        key: [dependency] if isinstance(dependency, str) else dependency
                        for key, dependency in value.items()
                    }
                    translated[name] = self._map(listed, old_place, new_place)
                case "items" | "additionalItems" | "additionalProperties":
                    translated[name] = self._translate_each(value, old_place, new_place)
                case _:
                    translated[name] = value
        return self._close(translated, every)

    def move_references(self) -> None:
        """Let references lead to where their schemas are now."""
        for schema in () if self.has_resources else self.referring:
            to = schema["$ref"]
            steps = parse_pointer(to[1:]) if isinstance(to, str) and to.startswith("#") else None
            new = None if steps is None else self.places.get(tuple(steps))
            if new is not None and new != tuple(steps or ()):
                schema["$ref"] = "#" + "".join(f"/{quote(escape_step(one), safe='$')}" for one in new)

    def _close(self, translated: dict[str, Json], every: list[Json]) -> dict[str, Json]:
        """Put what came in other words behind the rest of a schema, which stays the same object."""
        if every:
            translated["allOf"] = every
        if "$ref" in translated:
            self.referring.append(translated)
        return translated

    def _translate(self, value: Json, old: Place, new: Place) -> Json:
        return self.schema(value, old, new) if isinstance(value, dict) else value

    def _map(self, value: dict[str, Json], old: Place, new: Place) -> dict[str, Json]:
        return {key: self._translate(child, (*old, key), (*new, key)) for key, child in value.items()}

    def _translate_each(self, value: Json, old: Place, new: Place) -> Json:
        """Return a schema, or each of a list."""
        if not isinstance(value, list):
            return self._translate(value, old, new)
        return [self._translate(child, (*old, str(at)), (*new, str(at))) for at, child in enumerate(value)]

    def _extends(self, value: Json, old: Place, new: Place, every: list[Json]) -> None:
        for at, schema in enumerate(value if isinstance(value, list) else [value]):
            place = (*old, str(at)) if isinstance(value, list) else old
            every.append(self._translate(schema, place, (*new, "allOf", str(len(every)))))

    def _type(self, value: Json, old: Place, new: Place, translated: dict[str, Json], every: list[Json]) -> None:
        """Add what a type says: a choice where some types are schemas, else nothing for any value."""
        words = value if isinstance(value, list) else [value]
        if any(isinstance(one, dict) for one in words):
            self.is_draft3 = True
            every.append({"anyOf": self._types(value, old, (*new, "anyOf"))})
        elif "any" in words:
            self.is_draft3 = True
        else:
            translated["type"] = value

    def _types(self, value: Json, old: Place, new: Place) -> list[Json]:
        """Return the schemas of one or several types, each a word or a schema."""
        words = value if isinstance(value, list) else [value]
        return [
            {} if word == "any"
            else self._translate(word, (*old, str(at)) if isinstance(value, list) else old, (*new, str(at))) if isinstance(word, dict)
            else {"type": word}
            for at, word in enumerate(words)
        ]  # fmt: skip


def _is_required(value: Json) -> bool:
    return isinstance(value, dict) and value.get("required") is True

"""What a text of unknown format contains, valid or not: where it begins, and the members of a JSON object."""

import json
import re
from collections.abc import Mapping
from typing import Any

_COMMENT = re.compile(r"\s+|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_JSON_WORDS = frozenset({"properties", "required", "definitions", "oneOf", "anyOf", "allOf", "additionalProperties"})


def skip_comments(text: str) -> int:
    """Where a text begins, after spaces and comments."""
    at = 0
    while comment := _COMMENT.match(text, at):
        at = comment.end()
    return at


def list_members(text: str) -> Mapping[str, Any]:
    """The members of a JSON object; of a text that is none, names that look like members, with the first type."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = dict.fromkeys(re.findall(r'"([^"\\]*)"\s*:', text))
        value["type"] = next(iter(re.findall(r'"type"\s*:\s*"([^"\\]*)"', text)), None)
    return value if isinstance(value, dict) else {}


def has_json_schema_words(members: Mapping[str, Any]) -> bool:
    """Whether an object has members that only JSON Schema gives a meaning."""
    return any(word.startswith("$") for word in members) or bool(members.keys() & _JSON_WORDS)

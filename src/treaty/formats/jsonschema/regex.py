"""Regular expressions of ECMA-262, as the validator library runs them: in linear time, or with bounded steps."""

from functools import lru_cache
from typing import Any

import jsonschema_rs

from treaty.core.limits import REGEXES
from treaty.formats.jsonschema.model import Json

BACKTRACKING = 100_000
"""Steps back that one expression may take where a linear search can't do it."""

ENGINES = (jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACKING))
"""Ways to run expressions, the one in linear time first; it knows no looks around and no backward references."""


@lru_cache(maxsize=REGEXES)
def _compile_regex(regex: str) -> Any:
    for engine in ENGINES:
        try:
            return jsonschema_rs.Draft7Validator({"pattern": regex}, offline=True, pattern_options=engine)
        except ValueError:
            continue
    return None


def count_regexes(value: Json) -> int:
    """The number of expressions in one schema itself."""
    if not isinstance(value, dict):
        return 0
    held = value.get("patternProperties")
    return isinstance(value.get("pattern"), str) + (len(held) if isinstance(held, dict) else 0)


@lru_cache(maxsize=REGEXES)
def is_linear(regex: str) -> bool:
    """Whether the expression can be searched in linear time; an invalid one can't."""
    try:
        jsonschema_rs.Draft7Validator({"pattern": regex}, offline=True, pattern_options=ENGINES[0])
    except ValueError:
        return False
    return True


def is_regex(regex: str) -> bool:
    """Whether any of the ways to run expressions takes this one."""
    return _compile_regex(regex) is not None


def is_match(regex: str, text: str) -> bool:
    """Whether the expression is found in the text; False if it can't be compiled."""
    validator = _compile_regex(regex)
    return validator is not None and bool(validator.is_valid(text))

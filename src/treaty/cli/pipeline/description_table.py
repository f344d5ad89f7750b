"""Reading a TOML file by keys: the error for a missing, unknown or wrong member has the key, the value and what is
allowed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from treaty.client.suggestions import find_similar, suggest

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
KEY_CHARACTERS = 100
"""Characters of a key that a message shows."""
KINDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list of texts",
}


class DescriptionError(ValueError):
    """The description of a pipeline is invalid; the message has the key, the value and what is allowed."""


@dataclass(slots=True)
class DescriptionTable:
    """One table of a file; `path` is its dotted name. Call `refuse_unknown_keys` after all members were read."""

    values: Mapping[str, Any]
    path: str = ""
    known_keys: dict[str, None] = field(default_factory=dict)

    def text(self, name: str, usual: str | None = None, allowed: Sequence[str] = ()) -> str:
        """Return a string, one of `allowed` if given; it is required if `usual` is None."""
        value = self._get(name, str, usual)
        if allowed and value not in allowed:
            raise self.value_error(name, f"allowed are {', '.join(allowed)}")
        assert isinstance(value, str)
        return value

    def text_with_variables(self, name: str, environment: Mapping[str, str], usual: str | None = None) -> str:
        """Return a string in which ``${NAME}`` is replaced by the environment variable, for addresses and secrets."""
        return substitute_variables(self.key(name), self.text(name, usual), environment)

    def number(self, name: str, usual: float | None, minimum: float = 0, maximum: float | None = None) -> float | None:
        """Return a number of at least `minimum`, or None."""
        value = self._get(name, float, usual, needed=False)
        if value is not None and (value < minimum or (maximum is not None and value > maximum)):
            raise self.value_error(
                name, f"allowed is {minimum:g} or more" if maximum is None else f"allowed is {minimum:g} to {maximum:g}"
            )
        return None if value is None else float(value)

    def integer(self, name: str, usual: int | None, minimum: int = 1) -> int | None:
        """Return an integer of at least `minimum`, or None."""
        value = self._get(name, int, usual, needed=False)
        if value is not None and value < minimum:
            raise self.value_error(name, f"allowed is {minimum} or more")
        return None if value is None else int(value)

    def boolean(self, name: str, *, usual: bool) -> bool:
        """Return a boolean."""
        return bool(self._get(name, bool, usual))

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of strings; empty if missing."""
        value = self._get(name, list, [])
        assert isinstance(value, list)
        if not all(isinstance(one, str) and one for one in value):
            raise self.value_error(name, f"allowed is {KINDS[list]}, none of them empty")
        return tuple(value)

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        """Return a table of strings; empty if missing."""
        inside = self.table(name)
        if inside is None:
            return ()
        return tuple((one, inside.text(one)) for one in inside.values)

    def table(self, name: str) -> "DescriptionTable | None":
        """Return a nested table; None if missing."""
        value = self._get(name, dict, None, needed=False)
        return None if value is None else DescriptionTable(value, self.key(name))

    def has(self, name: str) -> bool:
        """Return whether a member exists."""
        return name in self.values

    def raw(self, name: str) -> Any:
        """Return a member of any type; None if missing."""
        self.known_keys[name] = None
        return self.values.get(name)

    def refuse_unknown_keys(self) -> None:
        """Raise `DescriptionError` if the table has a member that was never read."""
        for name in self.values:
            if name not in self.known_keys:
                hint = suggest(name, [one for one in self.known_keys if one not in self.values])
                allowed = f"{f'{hint} ' if hint else ''}allowed are {', '.join(self.known_keys)}"
                raise DescriptionError(f"{self.key(name)}: unknown key; {allowed}")

    def key(self, name: str) -> str:
        """Return the dotted name of a member."""
        return f"{self.path}.{name}" if self.path else name

    def value_error(self, name: str, allowed: str) -> DescriptionError:
        """Return the error for an unusable value of a member."""
        return DescriptionError(f"{self.key(name)} = {self.values.get(name)!r}: {allowed}")

    def find_misspelt(self, name: str) -> str:
        """Return a hint at a key that is like a missing one, and that nothing has read."""
        near = find_similar(name, [one for one in self.values if one not in self.known_keys])
        return f"did you mean it where {near[0][:KEY_CHARACTERS]} stands? " if near else ""

    def _get(self, name: str, kind: type, usual: Any, *, needed: bool = True) -> Any:
        self.known_keys[name] = None
        if name not in self.values:
            if usual is None and needed:
                hint = self.find_misspelt(name)
                raise DescriptionError(f"{self.key(name)} is missing; {hint}allowed is {KINDS[kind]}")
            return usual
        value = self.values[name]
        fits = isinstance(value, (int, float)) if kind is float else isinstance(value, kind)
        if not fits or (isinstance(value, bool) and kind is not bool):
            raise self.value_error(name, f"allowed is {KINDS[kind]}")
        return value


def substitute_variables(key: str, text: str, environment: Mapping[str, str]) -> str:
    """Replace the variables of a string. Raises `DescriptionError` for an unset one; the message never contains a value."""
    for name in _VARIABLE.findall(text):
        if name not in environment:
            raise DescriptionError(
                f"{key}: the environment variable {name} is not set; set it, or write the value into the file"
            )
    return _VARIABLE.sub(lambda found: environment[found[1]], text)

"""Members of a TOML file, read by name: what is missing, of another type or unknown is reported with its key, its value and what is allowed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
KINDS = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list of texts",
}


class DescriptionError(ValueError):
    """A file that describes no pipeline; the sentence names the key, its value, and what is allowed."""


@dataclass(slots=True)
class DescriptionTable:
    """One table of a file; `path` is its dotted name. Read every member, then call `refuse_unknown_keys`."""

    values: Mapping[str, Any]
    path: str = ""
    known_keys: dict[str, None] = field(default_factory=dict)

    def text(self, name: str, usual: str | None = None, allowed: Sequence[str] = ()) -> str:
        """A text, one of `allowed` if there are any; it is needed where `usual` is None."""
        found = self._get(name, str, usual)
        if allowed and found not in allowed:
            raise self.value_error(name, f"allowed are {', '.join(allowed)}")
        assert isinstance(found, str)
        return found

    def text_with_variables(self, name: str, known: Mapping[str, str], usual: str | None = None) -> str:
        """A text in which ``${NAME}`` is the variable of that name: for addresses and secrets."""
        return substitute_variables(self.key(name), self.text(name, usual), known)

    def number(self, name: str, usual: float | None, least: float = 0, most: float | None = None) -> float | None:
        """A number of at least `least`; None stands for none."""
        found = self._get(name, float, usual, needed=False)
        if found is not None and (found < least or (most is not None and found > most)):
            raise self.value_error(
                name, f"allowed is {least:g} or more" if most is None else f"allowed is {least:g} to {most:g}"
            )
        return None if found is None else float(found)

    def integer(self, name: str, usual: int | None, least: int = 1) -> int | None:
        """A whole number of at least `least`; None stands for none."""
        found = self._get(name, int, usual, needed=False)
        if found is not None and found < least:
            raise self.value_error(name, f"allowed is {least} or more")
        return None if found is None else int(found)

    def boolean(self, name: str, *, usual: bool) -> bool:
        """True or false."""
        return bool(self._get(name, bool, usual))

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty where it is left out."""
        found = self._get(name, list, [])
        assert isinstance(found, list)
        if not all(isinstance(one, str) and one for one in found):
            raise self.value_error(name, f"allowed is {KINDS[list]}, none of them empty")
        return tuple(found)

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        """A table of texts by name; empty where it is left out."""
        inside = self.table(name)
        if inside is None:
            return ()
        return tuple((one, inside.text(one)) for one in inside.values)

    def table(self, name: str) -> "DescriptionTable | None":
        """A table inside this one; None where it is left out."""
        found = self._get(name, dict, None, needed=False)
        return None if found is None else DescriptionTable(found, self.key(name))

    def has(self, name: str) -> bool:
        """Whether a member is there."""
        return name in self.values

    def raw(self, name: str) -> Any:
        """A member of any type; None where it is left out."""
        self.known_keys[name] = None
        return self.values.get(name)

    def refuse_unknown_keys(self) -> None:
        """Refuse members that nobody asked for. Raises `DescriptionError`."""
        for name in self.values:
            if name not in self.known_keys:
                raise DescriptionError(
                    f"{self.key(name)}: there is no such key; allowed are {', '.join(self.known_keys)}"
                )

    def key(self, name: str) -> str:
        """The dotted name of a member."""
        return f"{self.path}.{name}" if self.path else name

    def value_error(self, name: str, allowed: str) -> DescriptionError:
        """The error of a member whose value can't be used."""
        return DescriptionError(f"{self.key(name)} = {self.values.get(name)!r}: {allowed}")

    def _get(self, name: str, kind: type, usual: Any, *, needed: bool = True) -> Any:
        self.known_keys[name] = None
        if name not in self.values:
            if usual is None and needed:
                raise DescriptionError(f"{self.key(name)} is missing; allowed is {KINDS[kind]}")
            return usual
        value = self.values[name]
        fits = isinstance(value, (int, float)) if kind is float else isinstance(value, kind)
        if not fits or (isinstance(value, bool) and kind is not bool):
            raise self.value_error(name, f"allowed is {KINDS[kind]}")
        return value


def substitute_variables(key: str, text: str, known: Mapping[str, str]) -> str:
    """A text with its variables. Raises `DescriptionError` for one that is not set; the message never holds a value."""
    for name in _VARIABLE.findall(text):
        if name not in known:
            raise DescriptionError(f"{key}: the variable {name} is not set; set it, or write the value into the file")
    return _VARIABLE.sub(lambda found: known[found[1]], text)

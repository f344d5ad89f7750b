"""Reading tables of a TOML file with types; errors have the line and a remedy."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from treaty.api.auth.watched_file import AuthFileError

Places = dict[tuple[str, int, str], int]
_HEADER = re.compile(r"\[\[?\s*([\w-]+)\s*\]\]?\s*(#.*)?")
_MEMBER = re.compile(r"\"?([\w-]+)\"?\s*=")


@dataclass(slots=True)
class TomlTable:
    """One table of a file: its name (empty: the top), which of several it is, and its members. Take them, then `end`."""

    path: Path
    members: dict[str, Any]
    places: Places
    name: str = ""
    index: int = 0
    used: set[str] = field(default_factory=set)

    def make_error(self, what: str, remedy: str, member: str = "") -> AuthFileError:
        """Return the error for a member, or for the whole table."""
        line = self.places.get((self.name, self.index, member)) or self.places.get((self.name, self.index, ""), 0)
        return AuthFileError(self.path, line, what, remedy)

    def table(self, name: str) -> "TomlTable | None":
        """Return a table inside; None where it is not there."""
        self.used.add(name)
        members = self.members.get(name)
        if members is None:
            return None
        if not isinstance(members, dict):
            raise self.make_error(f"{name} is no table", f"write [{name}]", name)
        return TomlTable(self.path, members, self.places, name)

    def tables(self, name: str) -> list["TomlTable"]:
        """Return all tables of this name."""
        self.used.add(name)
        tables = self.members.get(name, [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise self.make_error(f"{name} is no list of tables", f"write [[{name}]] before each", name)
        return [TomlTable(self.path, table, self.places, name, index) for index, table in enumerate(tables)]

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text that is not empty; without a default it has to be there."""
        value = self._take_member(name, default)
        if not isinstance(value, str) or not (value or default == ""):
            raise self.make_error(f"{name} is no text", f'write {name} = "…"', name)
        return value

    def texts(self, name: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Return a list of texts; one alone may stand without its list."""
        value = self._take_member(name, default)
        listed = [value] if isinstance(value, str) else value
        if (
            not isinstance(listed, list | tuple)
            or not listed
            or not all(isinstance(text, str) and text for text in listed)
        ):
            raise self.make_error(f"{name} is no list of texts", f'write {name} = ["…"]', name)
        return tuple(listed)

    def number(self, name: str, default: float, minimum: float, maximum: float) -> float:
        """Return a number within bounds."""
        value = self._take_member(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not minimum <= value <= maximum:
            raise self.make_error(
                f"{name} is no number of seconds that may be", f"take {minimum:g} to {maximum:g}", name
            )
        return float(value)

    def flag(self, name: str) -> bool:
        """Return true or false; false where it is not there."""
        value = self._take_member(name, default=False)
        if not isinstance(value, bool):
            raise self.make_error(f"{name} is neither true nor false", f"write {name} = true", name)
        return value

    def path_of(self, name: str, default: str | None = None) -> Path:
        """Return a path; one that is not absolute lies beside the file."""
        return self.path.parent / self.text(name, default)

    def end(self) -> None:
        """Raise `AuthFileError` for an unknown member."""
        for name in self.members:
            if name not in self.used:
                raise self._make_unknown_error(name, sorted(self.used))

    def _make_unknown_error(self, name: str, members: Iterable[str]) -> AuthFileError:
        """Return the error for a member that is not known, with the one that is spelled like it."""
        where = f" in [{self.name}]" if self.name else ""
        listed = list(members)
        near = get_close_matches(name, listed, n=1)
        remedy = f"did you mean {near[0]}?" if near else f"known: {', '.join(listed)}"
        return self.make_error(f"the member {name}{where} is unknown", remedy, name)

    def _take_member(self, name: str, default: Any) -> Any:
        self.used.add(name)
        value = self.members.get(name, default)
        if value is None:
            for other in get_close_matches(name, self.members, n=1):
                raise self._make_unknown_error(other, [name])
            raise self.make_error(f"{name} is missing in [{self.name}]", f"write {name} = …")
        return value


def read_tables(data: bytes, path: Path) -> TomlTable:
    """Read a TOML file; raises `AuthFileError`."""
    try:
        text = data.decode()
        members = tomllib.loads(text)
    except UnicodeDecodeError:
        raise AuthFileError(path, 0, "it is not UTF-8", "save the file as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        position = re.search(r"\(at line (\d+), column \d+\)", str(error))
        raise AuthFileError(
            path, int(position[1]) if position else 0, f"it is not TOML: {error}", "mend the line"
        ) from None
    except RecursionError:
        raise AuthFileError(path, 0, "it is nested too deeply", "no table is deeper than two levels") from None
    return TomlTable(path, members, _places(text))


def _places(text: str) -> Places:
    """Find the lines of tables and of their members."""
    places: Places = {}
    counts: Counter[str] = Counter()
    name, index = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        word = line.strip()
        if header := _HEADER.fullmatch(word):
            name, index = header[1], counts[header[1]]
            counts[name] += 1
            places[name, index, ""] = number
        elif member := _MEMBER.match(word):
            places.setdefault((name, index, member[1]), number)
    return places

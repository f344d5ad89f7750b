"""Conversations as data: what stands in a file, read into turns, and an answer compared with what is expected."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
V1 = "application/vnd.schemaregistry.v1+json"

HEADING = frozenset({"title", "cites", "note", "let", "own", "options", "files", "passwords"})
TURN = frozenset({"ask", "headers", "send", "raw", "status", "answer", "error", "text", "told", "cites", "note"})

_NAME = re.compile(r"\$([a-z][a-z0-9_]*)")
_INSIDE = re.compile(r"\$\{([a-z][a-z0-9_]*)\}")


class FormError(ValueError):
    """A file that breaks the form; the message says where."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One request and what has to come back; `line` is its place in the file."""

    line: int
    method: str
    target: str
    members: Mapping[str, Any]

    @property
    def status(self) -> int:
        """The status that is expected."""
        if "error" in self.members:
            code = int(self.members["error"][0])
            return code // 100 if code > 999 else code
        return int(self.members.get("status", 200))


@dataclass(frozen=True, slots=True)
class Conversation:
    """A file. `name` is its path below the data, without its suffix."""

    name: str
    heading: Mapping[str, Any]
    turns: tuple[Turn, ...]

    @property
    def own(self) -> bool:
        """Whether it needs a server that nobody has spoken to before, or one with options."""
        return bool(self.heading.get("own")) or "options" in self.heading

    @property
    def cited(self) -> set[str]:
        """The sections that it cites, in its heading or in a turn."""
        return {*self.heading["cites"], *(one for turn in self.turns for one in turn.members.get("cites", []))}


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def conversations(folder: Path | None = None) -> list[Conversation]:
    """Read all files of a folder, which is that of Confluent's dialect if none is given, in the order of their names."""
    return [read(path, folder) for path in sorted((folder or DATA).rglob("*.jsonl"))]


def read(path: Path, folder: Path | None = None) -> Conversation:
    """Read one file; raises `FormError` where it breaks the form."""
    lines = path.read_text(encoding="utf-8").splitlines()
    where = str(path.relative_to(folder or DATA))
    told = [(at, _line(line, f"{where}, line {at}")) for at, line in enumerate(lines, start=1) if line.strip()]
    (_, heading), *rest = told
    for member, wanted in (("title", str), ("cites", list)):
        if not isinstance(heading.get(member), wanted):
            raise FormError(f"{where}: the first line has no {member}")
    _refuse_unknown(heading, HEADING, f"{where}, line 1")
    turns = []
    for at, members in rest:
        _refuse_unknown(members, TURN, f"{where}, line {at}")
        method, _, target = members["ask"].partition(" ")
        turns.append(Turn(at, method, target, members))
    return Conversation(where.removesuffix(".jsonl"), heading, tuple(turns))


def _line(text: str, where: str) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except ValueError as wrong:
        raise FormError(f"{where}: {wrong}") from None
    if not isinstance(told, dict):
        raise FormError(f"{where}: not an object")
    return told


def _refuse_unknown(members: Mapping[str, Any], known: frozenset[str], where: str) -> None:
    unknown = members.keys() - known
    if unknown:
        raise FormError(f"{where}: {', '.join(sorted(unknown))} is not a member of this form")


@dataclass(slots=True)
class Names:
    """Values by name: those that the heading gives, and those that answers have bound."""

    values: dict[str, Any] = field(default_factory=dict)
    bound: set[str] = field(default_factory=set)

    def bind(self, name: str, value: Any) -> None:
        """Give a name the value that an answer has."""
        self.values[name] = value
        self.bound.add(name)

    @classmethod
    def of(cls, conversation: Conversation) -> "Names":
        """Begin with what the heading gives; a later one may use earlier ones."""
        names = cls()
        for name, value in conversation.heading.get("let", {}).items():
            names.values[name] = names.filled(value)
        return names

    def filled(self, value: Any) -> Any:
        """Return a value with every name and every form replaced."""
        if isinstance(value, str):
            whole = _NAME.fullmatch(value)
            return self._value(whole[1]) if whole else self.inside(value)
        if isinstance(value, list):
            return [self.filled(each) for each in value]
        if isinstance(value, dict):
            name = next(iter(value)) if len(value) == 1 else ""
            return self._formed(name, value[name]) if name in FORMS else {k: self.filled(v) for k, v in value.items()}
        return value

    def inside(self, text: str) -> str:
        """Return a text with ``${name}`` replaced."""
        return _INSIDE.sub(lambda found: str(self._value(found[1])), text)

    def _value(self, name: str) -> Any:
        if name not in self.values:
            raise FormError(f"${name} has no value yet")
        return self.values[name]

    def _formed(self, name: str, value: Any) -> Any:
        if name == "$is":
            return value
        given = self.filled(value)
        if name == "$text":
            return json.dumps(given, ensure_ascii=False, separators=(",", ":"))
        if name == "$lines":
            return "".join(f"{line}\n" for line in given)
        if name == "$base64":
            return base64.b64encode(given.encode()).decode()
        return given[0] * int(given[1])


FORMS = frozenset({"$is", "$text", "$lines", "$base64", "$repeat"})
"""Objects with this one member stand for a value that is easier to read so."""


def difference(expected: Any, got: Any, names: Names, at: str = "") -> str:
    """Return where an answer is not the expected one; empty where it is. Names without a value are bound."""
    if isinstance(expected, str):
        return _text_difference(expected, got, names, at)
    if isinstance(expected, dict):
        name = next(iter(expected)) if len(expected) == 1 else ""
        if name == "$any_order":
            return _unordered(expected[name], got, names, at)
        if name in FORMS:
            return _plain(names.filled(expected), got, at)
        return "".join(_object_differences(expected, got, names, at))
    if isinstance(expected, list):
        if not isinstance(got, list) or len(got) != len(expected):
            return f"{at or '/'}: expected {expected!r}, got {got!r}"
        pairs = enumerate(zip(expected, got, strict=True))
        return next(filter(None, (difference(a, b, names, f"{at}/{place}") for place, (a, b) in pairs)), "")
    return _plain(expected, got, at)


def _plain(expected: Any, got: Any, at: str) -> str:
    same = expected == got and type(expected) is type(got)
    return "" if same else f"{at or '/'}: expected {expected!r}, got {got!r}"


def _text_difference(expected: str, got: Any, names: Names, at: str) -> str:
    if expected == "...":
        return "" if got is not None else f"{at or '/'}: expected anything, got null"
    name = _NAME.fullmatch(expected)
    if name is not None and name[1] not in names.values:
        names.bind(name[1], got)
        return "" if got is not None else f"{at or '/'}: expected anything, got null"
    if name is not None and name[1] not in names.bound and isinstance(names.values[name[1]], str):
        return _text_difference(names.values[name[1]], got, names, at)
    if expected.startswith("~"):
        pattern = _INSIDE.sub(lambda found: re.escape(names.inside(found[0])), expected[1:])
        fits = isinstance(got, str) and re.fullmatch(pattern, got, re.DOTALL)
        return "" if fits else f"{at or '/'}: expected a text like {pattern!r}, got {got!r}"
    return _plain(names.filled(expected), got, at)


def _object_differences(expected: dict[str, Any], got: Any, names: Names, at: str) -> Iterator[str]:
    """Members have to come in this order, and no others; a last member ``"..."`` lets others come."""
    wanted = [member for member in expected if member != "..."]
    members = list(got) if isinstance(got, dict) else []
    if "..." in expected:
        members = [member for member in members if member in expected]
    if not isinstance(got, dict) or wanted != members:
        yield f"{at or '/'}: expected the members {wanted}, got {got!r}"
        return
    yield next(filter(None, (difference(expected[one], got[one], names, f"{at}/{one}") for one in wanted)), "")


def _unordered(expected: list[Any], got: Any, names: Names, at: str) -> str:
    wanted = names.filled(expected)
    same = isinstance(got, list) and sorted(map(repr, got)) == sorted(map(repr, wanted))
    return "" if same else f"{at or '/'}: expected {wanted!r} in any order, got {got!r}"

"""Example texts that match a `pattern`, a regular expression, for the plain kind of expressions; looks around are passed over."""

import re
import string
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from treaty.core.limits import REGEX_LENGTH
from treaty.formats.jsonschema.regex import is_match, is_regex
from treaty.formats.seeded_random import SeededRandom

_DEPTH = 40
_LENGTH = 2_000
_SETS = {
    "d": string.digits,
    "w": string.ascii_letters + string.digits + "_",
    "s": " \t",
    "D": string.ascii_letters + "-",
    "W": " -.",
    "S": string.ascii_letters + string.digits,
}
_PRINTED = "".join(map(chr, range(32, 127)))
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_REPEAT = re.compile(r"([?*+])|\{(\d{1,4})(,(\d{0,4}))?\}")

Part = Callable[[SeededRandom], str]
"""Makes one text of those that a part of an expression matches."""


def generate_match(regex: str, draw: SeededRandom, tries: int = 4) -> str:
    """A text in which the expression is found; raises `ValueError` if none was made in so many tries."""
    if len(regex) > REGEX_LENGTH or not is_regex(regex):
        raise ValueError(f"the expression {regex[:60]!r} is too large")
    make = _part(regex)
    for _ in range(tries):
        text = make(draw)
        if is_match(regex, text):
            return text
    raise ValueError(f"no text was found that matches {regex[:60]!r}")


@lru_cache(maxsize=512)
def _part(regex: str) -> Part:
    reader = _RegexParser(regex)
    return reader.choice()


def _literal(text: str) -> Part:
    return lambda draw: text


def _one_of(chars: str) -> Part:
    return lambda draw: draw.pick(chars)


def _repeat(part: Part, minimum: int, maximum: int) -> Part:
    def make(draw: SeededRandom) -> str:
        count = minimum if draw.chance(30) else minimum + draw.below(maximum - minimum + 1)
        text = ""
        for _ in range(count):
            if len(text) > _LENGTH:
                break
            text += part(draw)
        return text

    return make


@dataclass(slots=True)
class _RegexParser:
    """Reads an expression from left to right."""

    text: str
    at: int = 0
    depth: int = 0
    _groups: list[Part] = field(default_factory=list)

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def choice(self) -> Part:
        self.depth += 1
        if self.depth > _DEPTH:
            raise ValueError("the expression nests too deep to make texts for it")
        branches = [self.sequence()]
        while self.peek() == "|":
            self.at += 1
            branches.append(self.sequence())
        self.depth -= 1
        return branches[0] if len(branches) == 1 else lambda draw: draw.pick(branches)(draw)

    def sequence(self) -> Part:
        parts: list[Part] = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.repeats(self.atom()))

        def make(draw: SeededRandom) -> str:
            text = ""
            for part in parts:
                if len(text) > _LENGTH:
                    break
                text += part(draw)
            return text

        return make

    def repeats(self, part: Part) -> Part:
        match = _REPEAT.match(self.text, self.at)
        if not match:
            return part
        self.at = match.end()
        if self.peek() == "?":
            self.at += 1
        if match[1]:
            minimum, maximum = {"?": (0, 1), "*": (0, 4), "+": (1, 5)}[match[1]]
        else:
            minimum = int(match[2])
            maximum = minimum if not match[3] else int(match[4] or minimum + 3)
        return _repeat(part, minimum, max(minimum, min(maximum, minimum + 40)))

    def atom(self) -> Part:
        char = self.peek()
        self.at += 1
        if char == "(":
            return self.group()
        if char == "[":
            return self.set_()
        if char == ".":
            return _one_of(_PRINTED)
        if char in "^$":
            return _literal("")
        return self.escape() if char == "\\" else _literal(char)

    def group(self) -> Part:
        aside = self.text.startswith(("?=", "?!", "?<=", "?<!"), self.at)
        named = re.compile(r"\?(:|<?[=!]|<\w+>)").match(self.text, self.at)
        if named:
            self.at = named.end()
        inner = self.choice()
        if self.peek() != ")":
            raise ValueError("a group is not closed")
        self.at += 1
        return _literal("") if aside else inner

    def escape(self) -> Part:
        char = self.peek()
        self.at += 1
        if char in _SETS:
            return _one_of(_SETS[char])
        if char in "bB":
            return _literal("")
        if char in "pP":
            match = re.compile(r"\{(\^?)(\w+)(?:=\w+)?\}").match(self.text, self.at)
            if match:
                self.at = match.end()
            return _one_of(string.digits if match and match[2].startswith("N") else string.ascii_letters)
        return _literal(self.code(char))

    def code(self, char: str) -> str:
        """The character that an escape stands for."""
        match = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}").match(self.text, self.at - 1)
        if match:
            self.at = match.end()
            return chr(min(int(match[1] or match[2] or match[3], 16), 0x10FFFF))
        if char == "c":
            self.at += 1
            return chr(ord(self.text[self.at - 1 : self.at] or "A") % 32)
        return _ESCAPES.get(char, char)

    def set_(self) -> Part:
        negative = self.peek() == "^"
        self.at += negative
        chars: list[str] = []
        while self.peek() not in ("]", ""):
            first = self.member()
            if self.peek() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", "") and len(first) == 1:
                self.at += 1
                last = self.member()
                span = range(ord(first), min(ord(last[0]), ord(first) + 300) + 1)
                chars += map(chr, span)
            else:
                chars += first
        self.at += 1
        if negative:
            chars = [char for char in _PRINTED if char not in chars] or ["\u00e9"]
        if not chars:
            raise ValueError("a set has no characters")
        return _one_of("".join(char for char in chars if not "\ud800" <= char <= "\udfff") or "a")

    def member(self) -> str:
        char = self.peek()
        self.at += 1
        if char != "\\":
            return char
        char = self.peek()
        self.at += 1
        return _SETS[char] if char in _SETS else "\b" if char == "b" else self.code(char)

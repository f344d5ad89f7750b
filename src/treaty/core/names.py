"""Names of subjects and contexts, and the qualified form ``:.context:subject``."""

import re
from typing import NamedTuple

DEFAULT_CONTEXT = "."
EVERYWHERE = "*"
"""The context word of listings that span all contexts, ``:*:``."""

_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Invisible characters, and those that change the direction of text; with them different names look equal."""
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters as in Java, and lone surrogates."""


class Subject(NamedTuple):
    """A subject in its context. The default context is ``.``, every other one begins with a dot."""

    context: str
    name: str

    def __str__(self) -> str:
        return self.name if self.context == DEFAULT_CONTEXT else f":{self.context}:{self.name}"

    def sibling(self, text: str) -> "Subject":
        """Parse a name inside this subject's schemas: an unqualified name is in this context."""
        return subject_of(text, self.context)


def subject_of(text: str, context: str = DEFAULT_CONTEXT) -> Subject:
    """Split a qualified name; an unqualified one belongs to `context` (Confluent's form, one to one).

    ``:.ctx:name`` names a subject of ``.ctx``, ``:.:name`` one of the default context, ``:.ctx`` and ``:.ctx:`` the
    context itself (an empty name).
    """
    if not text.startswith(":."):
        return Subject(EVERYWHERE, text[3:]) if text.startswith(":*:") else Subject(context, text)
    head, _, name = text[1:].partition(":")
    return Subject(head, name)


def context_of(text: str) -> str:
    """Return the context of a word: ``foo`` and ``.foo`` are equal."""
    word = text.removeprefix(":").removesuffix(":")
    return word if word.startswith(".") or word == EVERYWHERE else f".{word}"


def is_subject_name(name: str) -> bool:
    """Return whether a subject name is allowed: no control characters, no reserved word."""
    return name not in {"__GLOBAL", "__EMPTY"} and _CONTROL.search(name) is None


def is_visible(name: str) -> bool:
    """Return whether every character of a name is visible and in reading order."""
    return _INVISIBLE.search(name) is None

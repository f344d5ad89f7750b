"""A text of statements as clients of ksqlDB send it, as statements of the metastore.

Words without quotes are in upper case there, a backslash in a string is a backslash, and names may stand between double quotes.
"""

import re
from dataclasses import dataclass

_PART = re.compile(
    r"""(?P<comment>--[^\r\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?)
    |(?P<text>'(?:[^']++|'')*+'?)
    |(?P<quoted>`(?:[^`]++|``)*+`?)
    |(?P<double>"(?:[^"]++|"")*+"?)
    |(?P<variable>\$\{[A-Za-z0-9_]*+\})
    |(?P<word>[^\W\d]\w*+)
    |(?P<blank>\s++)
    |(?P<sign>.)""",
    re.VERBOSE | re.DOTALL,
)
_BLANKED = re.compile(r"[^\r\n]")


@dataclass(frozen=True, slots=True)
class SentStatement:
    """A statement as it was sent, without the semicolon."""

    sent: str
    parts: tuple[tuple[str, str], ...]
    """Kind and text of what it is made of, without blanks and comments; words are in upper case."""

    @property
    def first_word(self) -> str:
        """The word that it begins with; empty where it begins with none."""
        kind, text = self.parts[0]
        return text if kind == "word" else ""


def translate_text(text: str) -> tuple[str, list[SentStatement]]:
    """Return a text in the words of the metastore, and its statements, those without words left out.

    Never fails; its time is linear. Lines are those of the text, columns too where it has no backslash and no double quote.
    """
    translated, statements, sent, parts = list[str](), list[SentStatement](), list[str](), list[tuple[str, str]]()
    for match in (*_PART.finditer(text), None):
        kind, part = ("", ";") if match is None else (match.lastgroup or "", match[0])
        if match is not None:
            translated.append(_translate(kind, part))
        if part != ";":
            sent.append(part)
            if kind not in {"blank", "comment"}:
                parts.append((kind, translated[-1]))
            continue
        if parts:
            statements.append(SentStatement("".join(sent).strip(), tuple(parts)))
        sent, parts = [], []
    return "".join(translated), statements


def _translate(kind: str, part: str) -> str:
    match kind:
        case "comment":
            return _BLANKED.sub(" ", part)
        case "word":
            return part.upper() if part.isascii() else part
        case "text":
            return part.replace("\\", "\\\\")
        case "double" if len(part) > 1 and part.endswith('"'):
            name = part[1:-1].replace('""', '"').replace("`", "``")
            return f"`{name}`"
        case _:
            return part

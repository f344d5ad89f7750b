"""Schema texts as they are shown: a JSON text of one line gets a line for each value, every other text stays as it is."""

import re
from collections.abc import Iterator

from treaty.core.limits import SHOWN_CHARACTERS

TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^\s\[\]{},:"]+|[\[\]{},:]')
"""A string, a word or a mark of JSON."""


def lay_out(text: str) -> str:
    """Return a text for people; one that would be longer than SHOWN_CHARACTERS is returned as it is."""
    lines: list[str] = []
    size = 0
    for line in lay_out_lines(text):
        size += len(line) + 1
        if size > SHOWN_CHARACTERS:
            return text
        lines.append(line)
    return "\n".join(lines)


def lay_out_lines(text: str) -> Iterator[str]:
    """Return the lines of a text; a JSON text of one line is formatted, its numbers and strings unchanged."""
    if "\n" in text or text[:1] not in {"{", "["}:
        yield from text.splitlines()
        return
    line, depth = "", 0
    for token in TOKEN.finditer(text):
        word = token[0]
        if word in ("]", "}"):
            depth -= 1
            if line.endswith(("[", "{")):  # an empty one stays on its line
                line += word
                continue
            if line.strip():
                yield line
            line = "  " * depth + word
        elif word in ("[", "{"):
            depth += 1
            line += word
            if text[token.end()] not in "]}":
                yield line
                line = "  " * depth
        elif word == ",":
            yield line + word
            line = "  " * depth
        else:
            line += word if word != ":" else ": "
    yield line

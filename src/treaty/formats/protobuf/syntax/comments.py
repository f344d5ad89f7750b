"""Comments as documentation: which one belongs to the definition after it."""

import re

_COMMENT = re.compile(r"//[^\n]*+\n?|/\*.*?\*/", re.DOTALL)
_STAR = re.compile(r"^[ \t]*\*[ ]?", re.MULTILINE)


def attached(gap: str, *, first: bool) -> str:
    """The comment that ends directly above a definition, taken from what stands between two tokens.

    A comment on the line of the token before belongs to that one, unless the gap is the `first` of its text. A blank
    line ends a comment.
    """
    if "/" not in gap:
        return ""
    found: list[str] = []
    end = len(gap)
    newline = -1 if first else gap.find("\n")
    for comment in reversed(list(_COMMENT.finditer(gap))):
        between = gap[comment.end() : end]
        line = comment[0].startswith("//")
        if between.count("\n") > (0 if line else 1) or (not first and not 0 <= newline < comment.start()):
            break
        if found and not line:
            break
        found.append(comment[0][2:].rstrip() if line else _block(comment[0]))
        end = comment.start()
        if not line:
            break
    return "\n".join(text.removeprefix(" ") for text in reversed(found)).strip()


def _block(comment: str) -> str:
    return _STAR.sub("", comment[2:-2]).strip()

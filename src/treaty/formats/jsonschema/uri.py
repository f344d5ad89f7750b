"""URIs: the few operations of RFC 3986 that references need; nothing is fetched, ever."""

import re
from urllib.parse import unquote

NOWHERE = "json-schema:///"
"""The base of a text that names none."""

_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?", re.DOTALL)


def split_uri(reference: str) -> tuple[str, str]:
    """A reference without its fragment, and the fragment as it is written."""
    before, _, fragment = reference.partition("#")
    return before, fragment


def join_uri(base: str, reference: str) -> str:
    """The absolute form of a reference (RFC 3986, 5.2) without its fragment."""
    reference = reference.partition("#")[0]
    if not reference:
        return base
    scheme, authority, path, query = _parts(reference)
    if scheme is None:
        scheme, above, way, base_query = _parts(base)
        if authority is None:
            authority = above
            if not path:
                path, query = way, base_query if query is None else query
            elif path[0] != "/":
                path = f"{way.rpartition('/')[0]}/{path}" if way or above is not None else path
    if "." in path:
        path = _without_dots(path)
    return "".join(
        (
            f"{scheme}:" if scheme is not None else "",
            f"//{authority}" if authority is not None else "",
            path,
            f"?{query}" if query is not None else "",
        )
    )


def number_uri(uri: str, number: int) -> str:
    """Another URI, from which relative paths lead to the same places."""
    _, authority, path, query = _parts(uri)
    bare = authority is not None and not path and query is None
    return f"{uri}{'/' if bare else ''}_{number}"


def parse_pointer(fragment: str) -> list[str] | None:
    """The steps of a fragment that is a JSON pointer; None if it is an anchor's name."""
    if not fragment:
        return []
    way = unquote(fragment) if "%" in fragment else fragment
    if way[0] != "/":
        return None
    steps = way[1:].split("/")
    return [step.replace("~1", "/").replace("~0", "~") for step in steps] if "~" in way else steps


def _parts(text: str) -> tuple[str | None, str | None, str, str | None]:
    match = _PARTS.match(text)
    assert match, "the pattern matches every text"
    return match[1], match[2], match[3], match[4]


def _without_dots(path: str) -> str:
    segments: list[str] = []
    steps = path.split("/")
    for step in steps:
        if step == "..":
            if segments and segments != [""]:
                segments.pop()
        elif step != ".":
            segments.append(step)
    if steps[-1] in (".", ".."):
        segments.append("")
    return "/".join(segments)

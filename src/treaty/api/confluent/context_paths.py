"""Paths with a context: ``/contexts/{ctx}/…`` becomes the path without it, and the names in it, or in its query, are qualified."""

from treaty.api.confluent.query import Query
from treaty.core.names import DEFAULT_CONTEXT, context_of
from treaty.core.refusals import Invalid

Segments = tuple[str, ...]


def in_context(segments: Segments, query: Query) -> tuple[Segments, Query]:
    """Take a context prefix off a path and qualify with it what the rest names.

    Names that are qualified already stay as they are. Raises `Invalid` for a context with a colon.
    """
    if len(segments) < 3 or segments[0] != "contexts":
        return segments, query
    word, rest = segments[1], segments[2:]
    bare = word.removeprefix(":").removesuffix(":") if word.startswith(":.") else word
    if ":" in bare:
        raise Invalid.of("CONTEXT_NAME", f"Context name '{word}' cannot contain a colon", new=word, allowed="no colon")
    context = context_of(bare) if bare else DEFAULT_CONTEXT
    prefix = f":{context}:"
    if rest[0] in {"config", "mode"}:
        return (rest[0], _qualify_name(prefix, rest[1] if len(rest) > 1 else ""), *rest[2:]), query
    if rest in {("schemas",), ("subjects",), ("treaty", "settings")}:
        return rest, query.with_member("subjectPrefix", _qualify_name(prefix, query.get("subjectPrefix") or ""))
    if rest[:2] == ("schemas", "ids"):
        return rest, query.with_member("subject", _qualify_name(prefix, query.get("subject") or ""))
    if rest[0] in {"associations", "associations:batchMutate"}:
        query = query.with_member("context", context)
    at = _subject_place(rest)
    return (rest if at is None else (*rest[:at], _qualify_name(prefix, rest[at]), *rest[at + 1 :])), query


def _qualify_name(prefix: str, name: str) -> str:
    return name if name.startswith((":.", ":*:")) else prefix + name


def _subject_place(segments: Segments) -> int | None:
    """The index of the subject in a path with one; config and mode are left out."""
    for at in (0, 1):
        if (
            len(segments) > at + 1
            and segments[at] == "subjects"
            and (at == 0 or segments[0] in {"compatibility", "associations"})
        ):
            return at + 1
    return None

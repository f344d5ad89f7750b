"""Identity of a schema: the guid, and the digest by which a lookup finds it (Confluent's rules)."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from treaty.core.schema import Metadata, Pairs, Reference, Rule, RuleSet

VERSION_PROPERTY = "confluent:version"
"""The metadata property with a requested version number; not part of the lookup digest."""


def guid(
    text: str,
    references: Sequence[Reference],
    metadata: Metadata | None,
    rules: RuleSet | None,
    opaque: str = "",
    *,
    imports: Pairs = (),
) -> str:
    """Return the guid: an MD5 over canonical text, references, metadata and rules, written as a UUID.

    Equal for the same schema in every context and in every registry that computes it so. `opaque` is the name of a
    format without a plug-in: a zero byte and the name follow the text, because the same bytes may mean something else
    in another format. `imports` are files that came with the text: a zero byte and the path stand before each.
    """
    state = hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False)
    if opaque:
        state.update(b"\0" + opaque.encode("utf-8", "surrogatepass"))
    for one in references:
        state.update(one.name.encode() + one.subject.encode() + one.version.to_bytes(4, "big", signed=True))
    for path, file in imports:
        state.update(b"\0" + path.encode("utf-8", "surrogatepass") + b"\0" + file.encode("utf-8", "surrogatepass"))
    if metadata is not None or rules is not None:
        for part in (*_metadata(metadata), *_rules(rules)):
            state.update(part)
    word = state.hexdigest()
    return f"{word[:8]}-{word[8:12]}-{word[12:16]}-{word[16:20]}-{word[20:]}"


def lookup_digest(format_: str, resolved: str, metadata: Metadata | None, rules: RuleSet | None) -> str:
    """Return the lookup digest: equal for schemas that differ only in how they are split into references, or in the
    version property of their metadata.
    """
    if metadata is None and rules is None:
        return hashlib.sha256(f"{format_}\0{resolved}\0\0".encode()).hexdigest()
    state = hashlib.sha256(f"{format_}\0{resolved}\0".encode())
    if metadata is not None:
        kept = tuple(pair for pair in metadata.properties if pair[0] != VERSION_PROPERTY)
        metadata = replace(metadata, properties=kept)
        metadata = None if metadata == Metadata() else metadata
    for part in (*_metadata(metadata), b"\0", *_rules(rules)):
        state.update(part)
    return state.hexdigest()


def _metadata(metadata: Metadata | None) -> Iterator[bytes]:
    if metadata is None:
        return
    yield b"\1"
    for path, tags in sorted(metadata.tags):
        yield path.encode()
        yield from _texts(sorted(tags))
    for name, value in sorted(metadata.properties):
        yield from _texts((name, value))
    yield from _texts(sorted(metadata.sensitive))


def _rules(rules: RuleSet | None) -> Iterator[bytes]:
    if rules is None:
        return
    yield b"\1"
    for rule in (*rules.migration, *rules.domain, *rules.encoding):
        yield from _rule(rule)
    yield rules.enable_at.encode()


def _rule(rule: Rule) -> Iterator[bytes]:
    yield from _texts((rule.name, rule.doc, rule.kind, rule.mode, rule.type, *sorted(rule.tags)))
    for name, value in sorted(rule.params):
        yield from _texts((name, value))
    yield from _texts((rule.expr, rule.on_success, rule.on_failure))
    if rule.disabled:
        yield b"\1"


def _texts(texts: Iterable[str]) -> Iterator[bytes]:
    return (text.encode("utf-8", "surrogatepass") for text in texts)

"""Identity of a schema: the guid, and the digest by which a lookup finds it (Confluent's rules)."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from treaty.core.schema import Metadata, Pairs, Reference, Rule, RuleSet

VERSION_PROPERTY = "confluent:version"
"""The metadata property with a version's number."""
_NUMBER = re.compile(r"[+-]?[0-9]{1,20}")
_LARGEST_NUMBER = 2**31


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
    for reference in references:
        state.update(
            reference.name.encode() + reference.subject.encode() + reference.version.to_bytes(4, "big", signed=True)
        )
    for path, file in imports:
        state.update(b"\0" + path.encode("utf-8", "surrogatepass") + b"\0" + file.encode("utf-8", "surrogatepass"))
    if metadata is not None or rules is not None:
        for part in (*_metadata(metadata), *_rules(rules)):
            state.update(part)
    word = state.hexdigest()
    return f"{word[:8]}-{word[8:12]}-{word[12:16]}-{word[16:20]}-{word[20:]}"


def lookup_digest(format_: str, resolved: str) -> str:
    """Return the lookup digest: equal for texts that their format calls equal, however they are split into references.

    `resolved` is that of `core.schema_engine.ParsedSchema`. Metadata and rules are no part of it: see `has_same_extras`.
    """
    return hashlib.sha256(f"{format_}\0{resolved}".encode()).hexdigest()


def plain_lookup_digest(format_: str, text: str) -> str:
    """Return the lookup digest of a schema without references whose canonical text is the one by which equal schemas are
    found.
    """
    return lookup_digest(format_, hashlib.sha256(text.encode()).hexdigest())


Extras = tuple[Metadata | None, RuleSet | None]
"""The metadata and rules of a version."""


def has_same_extras(sent: Extras, stored: Extras, number: int) -> bool:
    """Return whether metadata and rules that are sent are those of the version with this number.

    A number that is sent in the version property means a version whose property says it, or one without the property if it
    is that version's number. Without a number versions with and without the property are meant, so long as all else is equal
    (Confluent's ``canLookup``).
    """
    (metadata, rules), (other_metadata, other_rules) = sent, stored
    if (metadata, rules) == stored:
        return True
    if [*_rules(rules)] != [*_rules(other_rules)] or [*_without_number(metadata)] != [*_without_number(other_metadata)]:
        return False
    text, other_text = (None if one is None else one.get(VERSION_PROPERTY) for one in (metadata, other_metadata))
    sent_number, has = _number_in(text), _number_in(other_text)
    if sent_number is not None and has is None:
        return other_text is None and sent_number == number
    if sent_number is None and has is not None:
        return text is None
    return text == other_text and (metadata is None) == (other_metadata is None)


def _without_number(metadata: Metadata | None) -> Iterator[bytes]:
    """The parts of metadata without the version property; none for metadata that say nothing else."""
    if metadata is not None:
        properties = tuple(pair for pair in metadata.properties if pair[0] != VERSION_PROPERTY)
        metadata = replace(metadata, properties=properties)
    return _metadata(None if metadata == Metadata() else metadata)


def _number_in(text: str | None) -> int | None:
    """Return the number that a property says; None for a text that says none to Java's ``Integer.parseInt``."""
    if text is None or not _NUMBER.fullmatch(text):
        return None
    number = int(text)
    return number if -_LARGEST_NUMBER <= number < _LARGEST_NUMBER else None


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

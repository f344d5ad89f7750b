"""Schema text to model: the text's references first, then the text itself."""

from collections.abc import Iterator

from treaty.core.finding import Fault
from treaty.core.limits import REFERENCE_DEPTH, REFERENCES
from treaty.core.meaning import Binding, Meaning
from treaty.formats.avro.canonical import print_schema
from treaty.formats.avro.model import Enum, Fixed, Named, Record, Reference, Schema
from treaty.formats.avro.reader import Reader
from treaty.formats.format import InvalidSchemaError
from treaty.formats.text import fault, read


def parse(meaning: Meaning, strict: bool) -> Schema:  # noqa: FBT001 - the signature of `Format.parse`
    """The model of a text and its references.

    With `strict`, illegal names and defaults are faults; without it they are kept, as stored schemas may have
    them. References are never judged again. Raises `InvalidSchemaError` with all faults found, the first one first.
    """
    names: dict[str, Named] = {}
    outside = frozenset(_outside(meaning, names))
    reader = Reader(names, strict)
    root = reader.whole(read(meaning.text))
    schema = Schema(root, names, outside)
    if reader.forward:
        print_schema(schema, outside)  # a chain of forward references may print deeper than the text is
    return schema


def _outside(meaning: Meaning, names: dict[str, Named]) -> Iterator[str]:
    seen: set[str] = set()
    for bound in _bindings(meaning.bindings, 1):
        if bound.name not in seen:  # of two schemas under one name the first counts
            seen.add(bound.name)
            if len(seen) > REFERENCES:
                raise fault("TOO_MANY_REFERENCES", f"more references than the limit REFERENCES of {REFERENCES}")
            try:
                root = Reader(names, strict=False).whole(read(bound.meaning.text))
            except InvalidSchemaError as wrong:
                first = wrong.faults[0]
                message = f"the reference {bound.name!r} ({bound.subject} version {bound.version}): {first.message}"
                raise InvalidSchemaError((Fault(first.rule, first.path, message, first.expected),)) from None
            if isinstance(root, Record | Enum | Fixed | Reference):
                yield root.full


def _bindings(bindings: tuple[Binding, ...], depth: int) -> Iterator[Binding]:
    """All bindings, those that another one needs before it."""
    if bindings and depth > REFERENCE_DEPTH:
        raise fault(
            "REFERENCES_TOO_DEEP", f"references nest deeper than the limit REFERENCE_DEPTH of {REFERENCE_DEPTH}"
        )
    for bound in bindings:
        yield from _bindings(bound.meaning.bindings, depth + 1)
        yield bound

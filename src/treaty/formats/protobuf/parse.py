"""Protobuf text or descriptor to a linked schema."""

from treaty.core.meaning import Meaning
from treaty.formats.protobuf.judging.check import check
from treaty.formats.protobuf.linking.faults import Faults
from treaty.formats.protobuf.linking.link import gathered, link
from treaty.formats.protobuf.linking.rules import EXPECTED
from treaty.formats.protobuf.model import Schema
from treaty.formats.protobuf.syntax.file import read


def parse(meaning: Meaning, strict: bool) -> Schema:  # noqa: FBT001 - the signature of `Format.parse`
    """The linked schema of a text and its references.

    With `strict` it is judged by all rules of its syntax or edition; without it only its grammar and imports are.
    References are never judged again. Raises `InvalidSchemaError` with the faults found, the first one first.
    """
    faults = Faults(EXPECTED)
    file = read(meaning.text)
    schema = link(file, gathered(meaning.bindings), read, faults)
    if strict and not faults.found:
        check(schema, faults)
    faults.stop()
    return schema

"""Planted: answers are remembered by what a guid covers: a text, and names and numbers of its references."""

from treaty.core.grammar import Parse, Question
from treaty.core.meaning import Meaning
from treaty.node import grammar

LAWS = {"1", "3", "5"}
PLACE, NAME = grammar, "key_of"


def guid(meaning: Meaning) -> bytes:
    named = [(one.name, one.subject, one.version) for one in meaning.bindings]
    return f"{meaning.format} {meaning.text} {named}".encode()


def planted(question: Question) -> tuple[bytes, bytes, bool, bool]:
    if isinstance(question, Parse):
        return (guid(question.meaning), b"", question.strict, question.normalize)
    return (guid(question.reader), guid(question.writer), False, False)

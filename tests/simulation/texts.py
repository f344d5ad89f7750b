"""Schemas that collide: a toy format and real Avro, with some that fit each other and some that never do."""

import json
from collections.abc import Mapping

from tests.laws.toy import toy_answer
from treaty.core.schema_engine import Answer, CompareSchemas, Question
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import BUILT_IN, FormatRegistry

FORMATS = ("AVRO", "TOY")
SCHEMES = {"md5": "", "crc-64-avro": "", "sha-256": ""}
"""Id schemes of the nodes, with their packages."""
_PARSER = FormatEngine(FormatRegistry(BUILT_IN))
_ANSWERS: dict[Question, Answer] = {}


def answer(question: Question) -> Answer:
    """The true answer; kept by the whole question, so that no shortcut of a node can bend it."""
    found = _ANSWERS.get(question)
    if found is None:
        meaning = question.reader if isinstance(question, CompareSchemas) else question.meaning
        found = toy_answer(question) if meaning.format == "TOY" else _PARSER.answer(question)
        _ANSWERS[question] = found
    return found


class Truth:
    """The engine of the judge: answers everything at once, remembers nothing of a node."""

    formats = FORMATS
    validators: frozenset[str] = frozenset()
    id_schemes: Mapping[str, str] = SCHEMES

    def ask(self, question: Question) -> Answer | None:
        return answer(question)


def _record(*fields: str) -> str:
    """An Avro record; a field that ends in ``?`` may be null and has a default."""
    listed = [
        {"name": name[:-1], "type": ["null", "int"], "default": None}
        if name.endswith("?")
        else {"name": name, "type": "int"}
        for name in fields
    ]
    return json.dumps({"type": "record", "name": "R", "fields": listed})


TOY = tuple(
    json.dumps(names)
    for names in ([], ["a"], ["b"], ["a", "b?"], ["b?", "a"], ["a", "c"], ["a", "b?", "d?"], ["-bad"], ["c", "d"])
)
AVRO = (
    _record("a"),
    _record("a", "b?"),
    _record("a", "b?", "c?"),
    _record("a", "x"),
    _record("a", "y"),
    _record("b?"),
    '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]}',
    '{"type": "enum", "name": "E", "symbols": ["A", "B"]}',
    '{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}',
    '{"type": "record"',
)
OUTER = ('{"type": "record", "name": "O", "fields": [{"name": "r", "type": "R"}]}', "AVRO", "R")
"""A schema that refers to another one: text, format, name of the reference."""

"""Schemas that collide: a toy format and real Avro, with some that fit each other and some that never do."""

import json
from collections.abc import Mapping
from typing import Any

from tests.laws.toy import fields_of, inspect_toy, toy_answer
from treaty.core.schema_engine import (
    Answer,
    CompareSchemas,
    DescribeDifferences,
    DescribeValidators,
    InspectSchema,
    Question,
    ResolvedSchema,
)
from treaty.formats.engine import FormatEngine
from treaty.formats.format import Format, SchemaElement, SchemaTexts
from treaty.formats.registry import BUILT_IN, FormatRegistry
from treaty.formats.rule import LintRule

FORMATS = ("AVRO", "TOY")
SCHEMES = {"md5": "", "crc-64-avro": "", "sha-256": ""}
"""Id schemes of the nodes, with their packages."""
TOY_FORMAT: Format[ResolvedSchema] = Format(
    name="TOY",
    parse=lambda meaning, _strict: meaning,
    show=lambda meaning, _normalize: SchemaTexts(meaning.text, meaning.text, ""),
    references=lambda _text: (),
    compare=lambda _reader, _writer, _policy: (),
    lints={"NAME_SHORT": LintRule("NAME_SHORT", "Names are short.", inspect_toy)},
    elements=lambda meaning: [
        SchemaElement("field", "name", name, f"/{at}", name.rstrip("?!^")) for at, name in enumerate(fields_of(meaning))
    ],
)
"""Toys as validators see them; everything else is asked of `toy_answer`."""
_PARSER = FormatEngine(FormatRegistry.of({**BUILT_IN, "TOY": "tests.simulation.texts:TOY_FORMAT"}))
_ANSWERS: dict[Question, Answer] = {}


def answer(question: Question) -> Answer:
    """The true answer; kept by the whole question, so that no shortcut of a node can bend it."""
    found = _ANSWERS.get(question)
    if found is None:
        found = _ANSWERS[question] = _find_answer(question)
    return found


def _find_answer(question: Question) -> Answer:
    if isinstance(question, InspectSchema | DescribeValidators):
        return _PARSER.answer(question)
    meaning = _read_schema(question)
    return toy_answer(question) if meaning.format == "TOY" else _PARSER.answer(question)


def _read_schema(question: Any) -> ResolvedSchema:
    if isinstance(question, CompareSchemas):
        return question.reader
    if isinstance(question, DescribeDifferences):
        return question.new
    meaning: ResolvedSchema = question.meaning
    return meaning


def resolved_text(meaning: ResolvedSchema) -> str:
    """The text of a schema with its references inlined, in the order in which it was written."""
    form, model = _PARSER.model(meaning, strict=False)
    return form.show(model, False).resolved


class Truth:
    """The engine of the judge: answers everything at once, remembers nothing of a node."""

    formats = FORMATS
    validators = frozenset(("NAME_SHORT", "required-metadata", "no-removed-fields", "repo.reject"))
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
NOTED = (
    ({"x": 1, "y": {"a": [1, 2], "b": 2}}, ["A", "B"]),
    ({"y": {"b": 2, "a": [1, 2]}, "x": 1}, ["B", "A"]),
    ({"y": {"b": 2, "a": [2, 1]}, "x": 1}, ["B", "A"]),
    ({"y": {"a": [1, 2], "b": 2}, "x": 1.0}, ["A", "B"]),
)
"""Properties and aliases: the first two mean the same to Avro, the others do not."""


def noted(text: str, at: int) -> str:
    """The text of an Avro record with some of these properties and aliases; any other text as it is."""
    if not text.startswith('{"type": "record", "name": "R"') or not text.endswith("}"):
        return text
    properties, aliases = NOTED[at]
    return json.dumps({**json.loads(text), **properties, "aliases": aliases})


OUTER = ('{"type": "record", "name": "O", "fields": [{"name": "r", "type": "R"}]}', "AVRO", "R")
"""A schema that refers to another one: text, format, name of the reference."""

"""Registries that change at random, their search index, and what a search of it has to find."""

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.laws.toy import Bench
from treaty.core.access.rights import Access
from treaty.core.messages.registration import ForceReason, Register
from treaty.core.messages.search import parse_terms
from treaty.core.messages.versions import DeleteSubject
from treaty.core.names import Subject
from treaty.core.schema import Draft, Metadata
from treaty.core.schema_engine import Answer, EntriesFound, FindEntries, Question
from treaty.formats.engine import FormatEngine
from treaty.formats.registry import find_formats
from treaty.web.index.lookup import IndexFile
from treaty.web.index.storage import open_for_writing
from treaty.web.index.update import IndexUpdate, Steps

NAMES = ("id", "carrier", "e-mail", "mail_to", "größe", "zip")
TYPES = ("string", "int", "long")
WORDS = ("address", "customer", "unused")


class RealEngine:
    """The real formats, which answer everything at once."""

    formats = ("AVRO", "JSON")
    validators: frozenset[str] = frozenset()
    id_schemes: Mapping[str, str] = {}
    _engine = FormatEngine(find_formats())

    def ask(self, question: Question) -> Answer | None:
        return self._engine.answer(question)


def new_bench() -> Bench:
    it = Bench()
    it.engine = RealEngine()
    return it


def bring_up_to_date(path: Path, it: Bench) -> int:
    """Bring an index up to date; returns how many schemas were read for it."""
    connection = open_for_writing(path)
    try:
        return run_steps(IndexUpdate(connection, it.tables).run())
    finally:
        connection.close()


def run_steps(steps: Steps) -> int:
    """Do all the work of an update; returns how many schemas were read for it."""
    read, contents = 0, None
    try:
        while True:
            work = next(steps) if contents is None else steps.send(contents)
            contents, read = work.do(), read + 1
    except StopIteration:
        return read


def find(path: Path, text: str, access: Access | None = None, after: int = -1, limit: int = 100) -> EntriesFound:
    file = IndexFile(path)
    try:
        return file.find(FindEntries(parse_terms(text), access, after, limit))
    finally:
        file.close()


Fields = dict[str, str]


def as_draft(fields: Fields, word: str, tag: str, format_: str) -> Draft:
    metadata = Metadata(tags=(("a", (tag,)),), properties=(("owner", tag.lower()),))
    if format_ == "JSON":
        kinds = {"string": "string", "int": "integer", "long": "number"}
        properties = {name: {"type": kinds[kind]} for name, kind in fields.items()}
        text = {
            "type": "object",
            "description": word,
            "properties": {"inner": {"type": "object", "properties": properties}},
        }
        return Draft(json.dumps(text), "JSON", metadata=metadata)
    inner = [{"name": as_avro(name), "type": kind} for name, kind in fields.items()]
    nested: Any = {"type": "record", "name": "Inner", "doc": word, "fields": inner}
    outer = {"type": "record", "name": "Outer", "fields": [{"name": "inner", "type": [nested]}]}
    return Draft(json.dumps(outer), metadata=metadata)


def as_avro(name: str) -> str:
    return name.replace("-", "_")


Life = tuple[Bench, dict[Subject, tuple[Fields, str, str, str]]]


def grow(it: Bench, there: dict[Subject, tuple[Fields, str, str, str]], chance: random.Random, steps: int) -> None:
    """Register and delete at random; `there` has the latest live version of each subject."""
    for _ in range(steps):
        subject = Subject(chance.choice([".", ".team"]), chance.choice(["orders-value", "users", "open-a", "shut_b"]))
        if subject in there and chance.random() < 0.2:
            it.do(DeleteSubject(subject))
            del there[subject]
            continue
        fields = {name: chance.choice(TYPES) for name in chance.sample(NAMES, chance.randint(1, 4))}
        facts = fields, chance.choice(WORDS), chance.choice(["PII", "Public"]), chance.choice(["AVRO", "JSON"])
        it.do(Register(subject, as_draft(*facts), force=ForceReason("", "")))
        there[subject] = facts


def fits(subject: Subject, facts: tuple[Fields, str, str, str], name: str, kind: str) -> bool:
    fields, _, _, format_ = facts
    kinds = {"string": "string", "int": "integer", "long": "number"}
    told = {
        as_avro(name) if format_ == "AVRO" else name: kinds[each] if format_ == "JSON" else each
        for name, each in fields.items()
    }
    return name in told and (not kind or told[name] == kind)
